/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

bool util_is_call(LLVMValueRef value)
{
	return LLVMIsACallInst(value) || LLVMIsAInvokeInst(value);
}

LLVMValueRef util_callee(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return callee && LLVMIsAFunction(callee) ? callee : NULL;
}

bool util_is_coroutine(LLVMValueRef function)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("presplitcoroutine", 17);

	return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
}

bool util_is_mark(LLVMValueRef call)
{
	static const char prefix[] = "__atomsan_mark_";
	LLVMValueRef callee = util_callee(call);
	size_t length;

	return callee && !strncmp(LLVMGetValueName2(callee, &length), prefix, sizeof prefix - 1);
}

bool util_is_intrinsic(LLVMValueRef call, const char *prefix)
{
	LLVMValueRef callee = util_callee(call);
	size_t length;

	return callee && LLVMGetIntrinsicID(callee) &&
	       !strncmp(LLVMGetValueName2(callee, &length), prefix, strlen(prefix));
}

bool util_named_like(LLVMValueRef function, const char *const *prefixes)
{
	size_t length;
	const char *name = LLVMGetValueName2(function, &length);

	for (const char *const *p = prefixes; *p; p++)
		if (!strncmp(name, *p, strlen(*p)))
			return true;
	return false;
}

LLVMAttributeRef util_attribute(LLVMModuleRef module, const char *name, uint64_t value)
{
	return LLVMCreateEnumAttribute(LLVMGetModuleContext(module),
				       LLVMGetEnumAttributeKindForName(name, strlen(name)), value);
}

void util_add_attribute(LLVMValueRef function, const char *name)
{
	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
				util_attribute(LLVMGetGlobalParent(function), name, 0));
}

void util_keep(LLVMModuleRef module, const char *list, LLVMValueRef *globals, unsigned count)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0);
	LLVMValueRef old = LLVMGetNamedGlobal(module, list), used;
	unsigned before = 0;
	LLVMValueRef *all;

	if (!count)
		return;
	if (old && LLVMGetInitializer(old))
		before = (unsigned)LLVMGetNumOperands(LLVMGetInitializer(old));
	all = malloc((before + count) * sizeof *all);
	for (unsigned i = 0; i < before; i++)
		all[i] = LLVMGetOperand(LLVMGetInitializer(old), i);
	memcpy(all + before, globals, count * sizeof *all);
	if (old)
		LLVMDeleteGlobal(old);
	used = LLVMAddGlobal(module, LLVMArrayType2(pointer, before + count), list);
	LLVMSetInitializer(used, LLVMConstArray2(pointer, all, before + count));
	LLVMSetLinkage(used, LLVMAppendingLinkage);
	LLVMSetSection(used, "llvm.metadata");
	free(all);
}

LLVMAttributeRef util_call_attribute(LLVMValueRef call, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMAttributeRef at = LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind);
	LLVMValueRef callee = util_callee(call);

	return at || !callee ? at : LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind);
}

#define FAR_USES 1000 /* uses of values that are looked at, lest a getter with many callers take long */

static bool guards(LLVMValueRef value, unsigned depth, unsigned *far);

/* A local variable that is only loaded and stored: what unoptimised code keeps all values in. */
static bool is_slot(LLVMValueRef pointer)
{
	if (!LLVMIsAAllocaInst(pointer))
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsALoadInst(user) && !util_is_intrinsic(user, "llvm.lifetime.") &&
		    (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 1) != pointer))
			return false;
	}
	return true;
}

static bool guards_from_slot(LLVMValueRef store, LLVMValueRef value, unsigned depth, unsigned *far)
{
	LLVMValueRef slot = LLVMGetOperand(store, 1);

	if (LLVMGetOperand(store, 0) != value || !is_slot(slot))
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(slot); use; use = LLVMGetNextUse(use))
		if (LLVMIsALoadInst(LLVMGetUser(use)) && guards(LLVMGetUser(use), depth, far))
			return true;
	return false;
}

static bool guards_in_callers(LLVMValueRef back, unsigned depth, unsigned *far)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(back));

	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef call = LLVMGetUser(use);

		if ((LLVMIsACallInst(call) || LLVMIsAInvokeInst(call)) && util_callee(call) == function &&
		    guards(call, depth, far))
			return true;
	}
	return false;
}

/* `far`: uses that may still be looked at; NULL: values do not leave registers. */
static bool guards(LLVMValueRef value, unsigned depth, unsigned *far)
{
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (far && !(*far)--) {
			*far = 0;
			return false;
		}
		if (!LLVMIsAInstruction(user))
			continue;
		switch (LLVMGetInstructionOpcode(user)) {
		case LLVMBr:
		case LLVMSwitch:
			return true;
		case LLVMICmp:
		case LLVMTrunc:
		case LLVMZExt:
		case LLVMSExt:
		case LLVMAnd:
		case LLVMOr:
		case LLVMXor:
		case LLVMFreeze:
		case LLVMPHI:
			if (depth && guards(user, depth - 1, far))
				return true;
			break;
		case LLVMStore:
			if (far && depth && guards_from_slot(user, value, depth - 1, far))
				return true;
			break;
		case LLVMRet:
			if (far && depth && guards_in_callers(user, depth - 1, far))
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

bool util_guards(LLVMValueRef value, unsigned depth)
{
	return guards(value, depth, NULL);
}

bool util_guards_far(LLVMValueRef value, unsigned depth)
{
	unsigned far = FAR_USES;

	return guards(value, depth, &far);
}

bool util_alike(LLVMValueRef a, LLVMValueRef b, unsigned steps)
{
	LLVMOpcode code;
	int count;

	if (a == b)
		return true;
	if (!steps || !LLVMIsAInstruction(a) || !LLVMIsAInstruction(b) || LLVMTypeOf(a) != LLVMTypeOf(b))
		return false;
	code = LLVMGetInstructionOpcode(a);
	count = LLVMGetNumOperands(a);
	if (code != LLVMGetInstructionOpcode(b) || count != LLVMGetNumOperands(b))
		return false;
	if (code == LLVMGetElementPtr ? LLVMGetGEPSourceElementType(a) != LLVMGetGEPSourceElementType(b)
				      : code != LLVMLoad && !LLVMIsACastInst(a) && !LLVMIsABinaryOperator(a))
		return false;
	for (int i = 0; i < count; i++)
		if (!util_alike(LLVMGetOperand(a, (unsigned)i), LLVMGetOperand(b, (unsigned)i), steps - 1))
			return false;
	return true;
}

bool util_has_room_behind(LLVMValueRef call)
{
	LLVMUseRef use;

	if (!LLVMIsAInvokeInst(call))
		return true;
	use = LLVMGetFirstUse(LLVMBasicBlockAsValue(LLVMGetNormalDest(call)));
	return use && !LLVMGetNextUse(use) &&
	       !LLVMIsAPHINode(LLVMGetFirstInstruction(LLVMGetNormalDest(call)));
}
