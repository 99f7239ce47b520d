/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Elements of the containers of the C++ library. What a function of a container
 * returns a pointer or reference to (operator[], at, front), and what an iterator leads to that such
 * a function gave (find, begin), belongs to the container. Asked of unoptimised
 * code, where these are calls and iterators are locals.
 */
#include "pass/pass.h"

#include <string.h>

enum { MOST_DEPTH = 4 };

/* What follows _ZN or _ZNK. */
static const char *const containers[] = {"St6vectorI",
					 "St5dequeI",
					 "St7__cxx114listI",
					 "St12forward_listI",
					 "St3mapI",
					 "St8multimapI",
					 "St3setI",
					 "St8multisetI",
					 "St13unordered_mapI",
					 "St18unordered_multimapI",
					 "St13unordered_setI",
					 "St18unordered_multisetI",
					 "St5stackI",
					 "St5queueI",
					 "St14priority_queueI"};
static const char *const iterators[] = {
	"9__gnu_cxx17__normal_iteratorI", "St17_Rb_tree_iteratorI",
	"St23_Rb_tree_const_iteratorI",   "St14_List_iteratorI",
	"St20_List_const_iteratorI",      "St15_Deque_iteratorI",
	"St8__detail14_Node_iteratorI",   "St8__detail20_Node_const_iteratorI",
	"St18_Fwd_list_iteratorI",        "St24_Fwd_list_const_iteratorI"};

static bool is_of(LLVMValueRef callee, const char *const *classes, size_t count)
{
	size_t length;
	const char *name = callee ? LLVMGetValueName2(callee, &length) : "";

	if (strncmp(name, "_ZN", 3) != 0)
		return false;
	name += name[3] == 'K' ? 4 : 3;
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, classes[i], strlen(classes[i])))
			return true;
	return false;
}
#define IS_OF(callee, classes) is_of(callee, classes, sizeof(classes) / sizeof *(classes))

/* operator* and operator->. */
static bool leads_on(LLVMValueRef callee)
{
	size_t length;
	const char *name = LLVMGetValueName2(callee, &length);

	return length > 5 && (!strcmp(name + length - 5, "EdeEv") || !strcmp(name + length - 5, "EptEv"));
}

/* The container whose function makes what lies in a local iterator, or NULL. */
static LLVMValueRef iterated(LLVMValueRef iterator, int depth);

/* A user of the iterator's place, or of a part of it. */
static LLVMValueRef made_by(LLVMValueRef user, LLVMValueRef place, int depth)
{
	if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == place) {
		LLVMValueRef value = LLVMGetOperand(user, 0);

		return util_is_call(value) && IS_OF(util_callee(value), containers) ? LLVMGetOperand(value, 0)
										    : NULL;
	}
	if (LLVMIsAGetElementPtrInst(user))
		return iterated(user, depth + 1);
	if (!util_is_call(user) || LLVMGetOperand(user, 0) != place || LLVMGetNumArgOperands(user) < 2)
		return NULL;
	/* Returned in memory; or a copy. */
	if (IS_OF(util_callee(user), containers))
		return LLVMGetOperand(user, 1);
	if (IS_OF(util_callee(user), iterators) || util_is_intrinsic(user, "llvm.memcpy"))
		return LLVMIsAAllocaInst(LLVMGetOperand(user, 1))
			       ? iterated(LLVMGetOperand(user, 1), depth + 1)
			       : NULL;
	return NULL;
}

static LLVMValueRef iterated(LLVMValueRef iterator, int depth)
{
	LLVMValueRef found = NULL;

	for (LLVMUseRef use = LLVMGetFirstUse(iterator); use && !found && depth < MOST_DEPTH;
	     use = LLVMGetNextUse(use))
		found = made_by(LLVMGetUser(use), iterator, depth);
	return found;
}

LLVMValueRef container_of(LLVMValueRef element)
{
	LLVMValueRef callee;

	if (!util_is_call(element) || !LLVMGetNumArgOperands(element) ||
	    LLVMGetTypeKind(LLVMTypeOf(element)) != LLVMPointerTypeKind)
		return NULL;
	callee = util_callee(element);
	if (IS_OF(callee, containers))
		return LLVMGetOperand(element, 0);
	if (!IS_OF(callee, iterators) || !leads_on(callee))
		return NULL;
	return iterated(LLVMGetOperand(element, 0), 0);
}
