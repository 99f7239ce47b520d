/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An address that is made a number may get away as one. Mostly it does not: end - begin,
 * a comparison, whether it is aligned. So it is counted how often the object's address is in
 * a number that is made by adding, subtracting, choosing and cutting off. Where that is not at all, as
 * in a difference of two pointers to it, the number is a distance and may go anywhere;
 * elsewhere it may only be compared.
 */
#include "pass/pass.h"

enum {
	MOST_DEPTH = 5,
	MOST_WAYS = 4,
	MOST_ORIGINS = 32,
	SMALL = 4095 /* bytes: of an address, where in its page */
};

static bool has(LLVMValueRef const *values, unsigned count, LLVMValueRef value)
{
	for (unsigned i = 0; i < count; i++)
		if (values[i] == value)
			return true;
	return false;
}

/* Does a pointer lead to the object whatever happens? One that may as well be null would leave the whole
 * address when it is subtracted. */
static bool leads_there(LLVMValueRef object, LLVMValueRef pointer)
{
	LLVMValueRef origins[MOST_ORIGINS] = {private_base(pointer)};
	unsigned count = 1;

	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef origin = origins[i];
		unsigned phi = LLVMIsAPHINode(origin) ? LLVMCountIncoming(origin) : 0;
		unsigned from = phi ? phi : LLVMIsASelectInst(origin) ? 2 : 0;

		/* Nobody comes by a value that is undefined. */
		if (origin == object || LLVMIsUndef(origin))
			continue;
		for (unsigned n = 0; n < from; n++) {
			LLVMValueRef next = private_base(phi ? LLVMGetIncomingValue(origin, n)
							     : LLVMGetOperand(origin, n + 1));

			if (has(origins, count, next))
				continue;
			if (count == MOST_ORIGINS)
				return false;
			origins[count++] = next;
		}
		if (!from)
			return false;
	}
	return true;
}

/* How often the address is in the number; false if that is not certain. */
static bool times_of(const struct distance *distance, LLVMValueRef number, int *times, int depth)
{
	LLVMValueRef pointer;
	int left, right;
	unsigned count;

	*times = 0;
	if (!LLVMIsAInstruction(number))
		return true;
	switch (LLVMGetInstructionOpcode(number)) {
	case LLVMPtrToInt:
	case LLVMPtrToAddr:
		pointer = LLVMGetOperand(number, 0);
		*times = has(distance->pointers, distance->count, pointer);
		return !*times || leads_there(distance->pointers[0], pointer);
	case LLVMTrunc:
		return depth < MOST_DEPTH && times_of(distance, LLVMGetOperand(number, 0), times, depth + 1);
	case LLVMAdd:
	case LLVMSub:
		if (depth == MOST_DEPTH || !times_of(distance, LLVMGetOperand(number, 0), &left, depth + 1) ||
		    !times_of(distance, LLVMGetOperand(number, 1), &right, depth + 1))
			return false;
		*times = LLVMGetInstructionOpcode(number) == LLVMAdd ? left + right : left - right;
		return true;
	case LLVMPHI:
		/* As often, whichever way it came. */
		count = LLVMCountIncoming(number);
		if (depth == MOST_DEPTH || count > MOST_WAYS)
			return false;
		for (unsigned i = 0; i < count; i++) {
			if (!times_of(distance, LLVMGetIncomingValue(number, i), i ? &right : &left,
				      depth + 1) ||
			    (i && left != right))
				return false;
		}
		*times = count ? left : 0;
		return true;
	default:
		/* If the address were in there, what it was made from would have got away. */
		return true;
	}
}

static bool is_small(LLVMValueRef value)
{
	return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) <= SMALL;
}

/* A number with the address in it: does it get away? */
static bool gets_away(const struct distance *distance, LLVMValueRef number, int depth)
{
	for (LLVMUseRef use = LLVMGetFirstUse(number); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		int times;

		switch (LLVMIsAInstruction(user) ? LLVMGetInstructionOpcode(user) : 0) {
		case LLVMICmp:
			break;
		case LLVMAnd:
			if (!is_small(LLVMGetOperand(user, 1)))
				return true;
			break;
		case LLVMTrunc:
		case LLVMAdd:
		case LLVMSub:
		case LLVMPHI:
			if (depth == MOST_DEPTH || !times_of(distance, user, &times, 0) ||
			    (times && gets_away(distance, user, depth + 1)))
				return true;
			break;
		default:
			return true;
		}
	}
	return false;
}

bool distance_is_number(LLVMValueRef user)
{
	return LLVMGetInstructionOpcode(user) == LLVMPtrToInt ||
	       LLVMGetInstructionOpcode(user) == LLVMPtrToAddr;
}

bool distance_only(const struct distance *distance)
{
	for (unsigned i = 0; i < distance->count; i++)
		for (LLVMUseRef use = LLVMGetFirstUse(distance->pointers[i]); use; use = LLVMGetNextUse(use))
			if (LLVMIsAInstruction(LLVMGetUser(use)) && distance_is_number(LLVMGetUser(use)) &&
			    gets_away(distance, LLVMGetUser(use), 0))
				return false;
	return true;
}
