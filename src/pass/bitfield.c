/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Bit-fields share a storage unit, and an access covers the unit. Which field
 * the source means is in the shifts and masks that clang wraps around it.
 */
#include "pass/pass.h"

static bool is(LLVMValueRef v, LLVMOpcode opcode)
{
	return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == opcode;
}

/* The constant operand of a shift or mask. */
static bool constant(LLVMValueRef v, uint64_t *n)
{
	LLVMValueRef operand = LLVMGetOperand(v, 1);

	if (!LLVMIsAConstantInt(operand) || LLVMGetIntTypeWidth(LLVMTypeOf(operand)) > 64)
		return false;
	*n = LLVMConstIntGetZExtValue(operand);
	return true;
}

/* A mask that makes room for a new value: its zeros are the field. */
static int room(LLVMValueRef v)
{
	uint64_t mask;

	if (!is(v, LLVMAnd) || !constant(v, &mask) || !~mask)
		return -1;
	return __builtin_ctzll(~mask);
}

static LLVMValueRef only_user(LLVMValueRef v)
{
	LLVMUseRef use = LLVMGetFirstUse(v);

	return use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;
}

static int written(LLVMValueRef value)
{
	int bit;

	if (!is(value, LLVMOr))
		return room(value);
	bit = room(LLVMGetOperand(value, 0));
	return bit >= 0 ? bit : room(LLVMGetOperand(value, 1));
}

static int read(LLVMValueRef load)
{
	LLVMValueRef user = only_user(load), next;
	uint64_t n, up;

	if (!user)
		return -1;
	next = only_user(user);
	if (is(user, LLVMAnd)) {
		/* The first half of a write, or the lowest field. */
		if (next && (is(next, LLVMOr) || is(next, LLVMStore)) && room(user) > 0)
			return room(user);
		return next && is(next, LLVMOr) && constant(user, &n) && !(n & 1) ? 0 : -1;
	}
	if ((is(user, LLVMLShr) || is(user, LLVMAShr)) && constant(user, &n))
		return (int)n;
	if (is(user, LLVMShl) && constant(user, &up) && next && is(next, LLVMAShr) && constant(next, &n))
		return n >= up ? (int)(n - up) : -1;
	return -1;
}

int bitfield_first_bit(LLVMValueRef access)
{
	if (is(access, LLVMLoad) && LLVMGetTypeKind(LLVMTypeOf(access)) == LLVMIntegerTypeKind)
		return read(access);
	if (is(access, LLVMStore) &&
	    LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(access, 0))) == LLVMIntegerTypeKind)
		return written(LLVMGetOperand(access, 0));
	return -1;
}
