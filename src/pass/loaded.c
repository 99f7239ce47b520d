/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which member of a struct a pointer was loaded from: `table->first` in `table->first->count`.
 * A local pointer that is filled from members alone (c = table->first, and later
 * c = c->next) stands for them, and so do a smart pointer, an element of a container and what a
 * function of the same file returns: `find(table, key)->count` is as good as `table->slots[i]->count`.
 */
#include "pass/pass.h"

#include <stdio.h>
#include <string.h>

/* On a function: the member that what it returns was loaded from. */
#define RETURNS "atomsan-returns"

enum { MOST_DEPTH = 5, MOST_ROUNDS = 4 };

struct search {
	const char *type;  /* of what the pointer leads to */
	const char *found; /* "type.member"; of several one of another struct than that */
};

static bool add(struct search *s, const char *name)
{
	size_t length = strlen(s->type);

	if (!s->found || strncmp(name, s->type, length) != 0 || name[length] != '.')
		s->found = name;
	return true;
}

/* A pointer that lies there: in a member? */
static bool from_member(LLVMValueRef place, struct search *s)
{
	struct note through = {"", "", "", 0, 0, 0, 0};
	struct cursor c;
	bool member;
	char text[2600];
	const char *elements;

	follow(place, &c, &member, 0);
	cursor_end(&c, 8, SHAPE_POINTER);
	describe_member(&c, member, &through);
	/* A pointer in a container is a pointer of who has the container. */
	if ((!(through.flags & ATOMSAN_SITE_MEMBER) || elements_librarys(through.type)) &&
	    (elements = elements_of(place)))
		return add(s, elements);
	if (!(through.flags & ATOMSAN_SITE_MEMBER))
		return false;
	snprintf(text, sizeof text, "%s.%s", through.type, through.member);
	return add(s, note_text(text));
}

/* operator->, operator* and get() of std::unique_ptr and std::shared_ptr: as good as a plain pointer. */
static bool is_smart_pointer(LLVMValueRef callee)
{
	static const char *const kinds[] = {"_ZNKSt10unique_ptrI", "_ZNKSt19__shared_ptr_accessI",
					    "_ZNKSt12__shared_ptrI"};
	static const char *const names[] = {"EptEv", "EdeEv", "E3getEv"};
	size_t length;
	const char *name = LLVMGetValueName2(callee, &length);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (size_t j = 0; j < sizeof names / sizeof *names; j++)
			if (!strncmp(name, kinds[i], strlen(kinds[i])) && length > strlen(names[j]) &&
			    !strcmp(name + length - strlen(names[j]), names[j]))
				return true;
	return false;
}

static bool from_call(LLVMValueRef call, struct search *s)
{
	LLVMValueRef callee = util_callee(call);
	LLVMAttributeRef returns;
	const char *member;
	unsigned length;

	if (!callee)
		return false;
	if (is_smart_pointer(callee))
		return from_member(LLVMGetOperand(call, 0), s);
	if ((member = elements_of(call)))
		return add(s, member);
	returns = LLVMGetStringAttributeAtIndex(callee, LLVMAttributeFunctionIndex, RETURNS, strlen(RETURNS));
	if (!returns)
		return false;
	member = LLVMGetStringAttributeValue(returns, &length);
	return add(s, note_text(member));
}

static bool from(LLVMValueRef pointer, struct search *s, int depth);

/* All that is stored to it. */
static bool from_local(LLVMValueRef local, struct search *s, int depth)
{
	bool stored = false;

	for (LLVMUseRef use = LLVMGetFirstUse(local); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef store = LLVMGetUser(use);

		if (!LLVMIsAStoreInst(store) || LLVMGetOperand(store, 1) != local)
			continue;
		stored = true;
		if (!from(LLVMGetOperand(store, 0), s, depth + 1))
			return false;
	}
	return stored;
}

/* False: from none, or not from members alone. */
static bool from(LLVMValueRef pointer, struct search *s, int depth)
{
	if (LLVMIsAConstantPointerNull(pointer) || LLVMIsUndef(pointer))
		return true;
	if (depth > MOST_DEPTH)
		return false;
	if (LLVMIsALoadInst(pointer)) {
		LLVMValueRef place = LLVMGetOperand(pointer, 0);

		return LLVMIsAAllocaInst(place) ? from_local(place, s, depth) : from_member(place, s);
	}
	if (util_is_call(pointer))
		return from_call(pointer, s);
	/* An element of what the pointer leads to, or a part of it. */
	if (LLVMIsAGetElementPtrInst(pointer)) {
		struct cursor c;
		bool member;
		LLVMValueRef base = follow(pointer, &c, &member, 0);

		return base != pointer && from(base, s, depth + 1);
	}
	/* Optimisation makes these of locals. */
	if (LLVMIsASelectInst(pointer))
		return from(LLVMGetOperand(pointer, 1), s, depth + 1) &&
		       from(LLVMGetOperand(pointer, 2), s, depth + 1);
	if (!LLVMIsAPHINode(pointer))
		return false;
	for (unsigned i = 0; i < LLVMCountIncoming(pointer); i++)
		if (LLVMGetIncomingValue(pointer, i) != pointer &&
		    !from(LLVMGetIncomingValue(pointer, i), s, depth + 1))
			return false;
	return true;
}

const char *loaded_from(LLVMValueRef pointer, const char *type)
{
	struct search s = {type, NULL};

	return from(pointer, &s, 0) ? s.found : NULL;
}

/* ---- what functions return ---- */

static const char *returned_from(LLVMValueRef function, LLVMMetadataRef subprogram)
{
	LLVMMetadataRef pointee = di_pointee(di_result(subprogram));
	struct search s = {di_is_struct(pointee) ? types_name(pointee) : "", NULL};

	if (!*s.type)
		return NULL;
	follow_begin(function);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (LLVMIsAReturnInst(end) && !from(LLVMGetOperand(end, 0), &s, 0))
			return NULL;
	}
	return s.found;
}

static bool learn(LLVMValueRef function)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
	const char *member;

	if (LLVMIsDeclaration(function) || !subprogram || LLVMGetTypeKind(result) != LLVMPointerTypeKind ||
	    LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, RETURNS, strlen(RETURNS)))
		return false;
	member = returned_from(function, subprogram);
	/* What a container returns is told by where the container lies (elements.c). */
	if (!member || elements_librarys(member))
		return false;
	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
				LLVMCreateStringAttribute(LLVMGetTypeContext(LLVMTypeOf(function)), RETURNS,
							  strlen(RETURNS), member, (unsigned)strlen(member)));
	return true;
}

void loaded_learn(LLVMModuleRef module)
{
	bool more = true;

	/* What one returns may be what another returned. */
	for (int round = 0; more && round < MOST_ROUNDS; round++) {
		more = false;
		for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
			more |= learn(f);
	}
	follow_forget();
}
