/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses that the optimiser made up. What the program does not access must not
 * be told of: another thread may be writing it, with every right.
 *
 * Loads above the condition that they stand under in the source: an attribute
 * that LLVM has for race detectors keeps it from making them, and is taken off
 * again when accesses have been instrumented, since it hinders others as well.
 *
 * Loads wider than what is used: a loop over one member of an array's structs
 * becomes one load of some structs and a shuffle that picks the member's lanes.
 */
#include "pass/pass.h"

#include <string.h>

static const char attribute[] = "sanitize_thread", mark[] = "atomsan-no-speculation";

static unsigned attribute_kind(void)
{
	return LLVMGetEnumAttributeKindForName(attribute, sizeof attribute - 1);
}

void lanes_forbid_speculation(LLVMValueRef function)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));

	if (LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute_kind()))
		return;
	util_add_attribute(function, attribute);
	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
				LLVMCreateStringAttribute(context, mark, sizeof mark - 1, "", 0));
}

void lanes_allow_speculation(LLVMValueRef function)
{
	if (!LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, mark, sizeof mark - 1))
		return;
	LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, mark, sizeof mark - 1);
	LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute_kind());
}

/* The lanes that a shuffle takes from one of its operands, which both may be the load. */
static uint64_t taken_by_shuffle(LLVMValueRef shuffle, LLVMValueRef load, unsigned lanes)
{
	unsigned count = LLVMGetNumMaskElements(shuffle);
	uint64_t taken = 0;

	for (unsigned i = 0; i < count; i++) {
		int from = LLVMGetMaskValue(shuffle, i);

		if (from < 0)
			continue;
		if ((unsigned)from < lanes && LLVMGetOperand(shuffle, 0) == load)
			taken |= 1ull << from;
		else if ((unsigned)from >= lanes && LLVMGetOperand(shuffle, 1) == load)
			taken |= 1ull << ((unsigned)from - lanes);
	}
	return taken;
}

bool lanes_partly_used(LLVMValueRef load, uint64_t *used)
{
	LLVMTypeRef type = LLVMTypeOf(load);
	unsigned lanes;
	uint64_t all;

	if (!LLVMIsALoadInst(load) || LLVMGetTypeKind(type) != LLVMVectorTypeKind || LLVMGetVolatile(load))
		return false;
	lanes = LLVMGetVectorSize(type);
	if (lanes > 64)
		return false;
	all = ~0ull >> (64 - lanes);
	*used = 0;
	for (LLVMUseRef use = LLVMGetFirstUse(load); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use), index;

		if (LLVMIsAShuffleVectorInst(user)) {
			*used |= taken_by_shuffle(user, load, lanes);
		} else if (LLVMIsAExtractElementInst(user)) {
			index = LLVMGetOperand(user, 1);
			if (!LLVMIsAConstantInt(index) || LLVMConstIntGetZExtValue(index) >= lanes)
				return false;
			*used |= 1ull << LLVMConstIntGetZExtValue(index);
		} else {
			return false;
		}
	}
	return *used && *used != all;
}
