/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An address that is made a number may get away as one. Mostly it does not: end - begin,
 * a comparison, whether it is aligned. So it is counted how often the object's address is in
 * a number that is made by adding, subtracting, choosing and cutting off. Where that is not at all, as
 * in a difference of two pointers to it, the number is a distance and may go anywhere;
 * elsewhere it may only be compared.
 *
 * A pointer that was loaded may as well be null, and what is left when null is subtracted is
 * an address. Such a number may be used to count and to measure, and what it is when it is divided
 * without a remainder by the size of what lies between two pointers is a number of these,
 * for the language has no other differences of pointers.
 */
#include "pass/pass.h"

enum {
	MOST_DEPTH = 5,
	MOST_WAYS = 4,
	MOST_ORIGINS = 32,
	MOST_NUMBERS = 64,
	SMALL = 4095 /* bytes: of an address, where in its page */
};

static bool has(LLVMValueRef const *values, unsigned count, LLVMValueRef value)
{
	for (unsigned i = 0; i < count; i++)
		if (values[i] == value)
			return true;
	return false;
}

/* Does a pointer lead to an object whatever happens? One that may as well be null would leave the whole
 * address when it is subtracted. */
static bool leads_there(const struct distance *distance, LLVMValueRef pointer)
{
	LLVMValueRef origins[MOST_ORIGINS] = {private_base(pointer)};
	unsigned count = 1;

	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef origin = origins[i];
		unsigned phi = LLVMIsAPHINode(origin) ? LLVMCountIncoming(origin) : 0;
		unsigned from = phi ? phi : LLVMIsASelectInst(origin) ? 2 : 0;

		/* Nobody comes by a value that is undefined. */
		if (has(distance->pointers, distance->objects, origin) || LLVMIsUndef(origin))
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

static bool is_all_ones(LLVMValueRef value)
{
	return LLVMIsAConstantInt(value) && LLVMConstIntGetSExtValue(value) == -1;
}

/* How often the address is in the number; false if that is not certain. `null`: pointers may be it. */
static bool times_of(const struct distance *distance, LLVMValueRef number, bool null, int *times, int depth)
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
		return !*times || null || leads_there(distance, pointer);
	case LLVMTrunc:
		return depth < MOST_DEPTH &&
		       times_of(distance, LLVMGetOperand(number, 0), null, times, depth + 1);
	case LLVMAdd:
	case LLVMSub:
		if (depth == MOST_DEPTH ||
		    !times_of(distance, LLVMGetOperand(number, 0), null, &left, depth + 1) ||
		    !times_of(distance, LLVMGetOperand(number, 1), null, &right, depth + 1))
			return false;
		*times = LLVMGetInstructionOpcode(number) == LLVMAdd ? left + right : left - right;
		return true;
	case LLVMXor:
		/* ~x is -x - 1. */
		if (depth == MOST_DEPTH || !is_all_ones(LLVMGetOperand(number, 1)) ||
		    !times_of(distance, LLVMGetOperand(number, 0), null, times, depth + 1))
			return false;
		*times = -*times;
		return true;
	case LLVMPHI:
		/* As often, whichever way it came. */
		count = LLVMCountIncoming(number);
		if (depth == MOST_DEPTH || count > MOST_WAYS)
			return false;
		for (unsigned i = 0; i < count; i++) {
			if (!times_of(distance, LLVMGetIncomingValue(number, i), null, i ? &right : &left,
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

static bool is_division(LLVMValueRef i)
{
	LLVMOpcode code = LLVMGetInstructionOpcode(i);

	return (code == LLVMSDiv || code == LLVMUDiv || code == LLVMAShr || code == LLVMLShr) &&
	       LLVMGetExact(i) && LLVMIsAConstantInt(LLVMGetOperand(i, 1));
}

/* Who copies, fills, gets or gives back so many bytes. */
static bool takes_length(LLVMValueRef call)
{
	static const char *const names[] = {"_ZdlPv", "_ZdaPv", NULL};
	LLVMValueRef callee = util_callee(call);

	return callee && (util_is_intrinsic(call, "llvm.mem") || private_allocation(call) ||
			  (LLVMIsDeclaration(callee) && util_named_like(callee, names)));
}

static bool chooses(LLVMValueRef call)
{
	return util_is_intrinsic(call, "llvm.umin") || util_is_intrinsic(call, "llvm.umax") ||
	       util_is_intrinsic(call, "llvm.smin") || util_is_intrinsic(call, "llvm.smax");
}

/* May a number that is a distance, or an address where null was subtracted, be seen elsewhere? Those that are
 * made of it are followed. */
static bool is_seen(LLVMValueRef distance)
{
	LLVMValueRef numbers[MOST_NUMBERS] = {distance}, user;
	unsigned count = 1;

	for (unsigned i = 0; i < count; i++) {
		for (LLVMUseRef use = LLVMGetFirstUse(numbers[i]); use; use = LLVMGetNextUse(use)) {
			user = LLVMGetUser(use);
			if (!LLVMIsAInstruction(user))
				return true;
			if (LLVMIsAICmpInst(user) || LLVMIsASwitchInst(user) || is_division(user) ||
			    (util_is_call(user) && takes_length(user)) ||
			    (LLVMIsAGetElementPtrInst(user) && !LLVMIsAConstant(LLVMGetOperand(user, 0))))
				continue;
			if (!LLVMIsABinaryOperator(user) && !LLVMIsAPHINode(user) &&
			    !LLVMIsASelectInst(user) && !LLVMIsATruncInst(user) && !LLVMIsAZExtInst(user) &&
			    !LLVMIsASExtInst(user) && !LLVMIsAFreezeInst(user) &&
			    !(LLVMIsACallInst(user) && chooses(user)))
				return true;
			if (has(numbers, count, user))
				continue;
			if (count == MOST_NUMBERS)
				return true;
			numbers[count++] = user;
		}
	}
	return false;
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
		case LLVMGetElementPtr:
			/* Only null leads from one object to a place in the other. */
			if (!distance->null || !LLVMIsInBounds(user) ||
			    !has(distance->pointers, distance->count, LLVMGetOperand(user, 0)))
				return true;
			break;
		case LLVMXor:
			if (!is_all_ones(LLVMGetOperand(user, 1)))
				return true;
			__attribute__((fallthrough));
		case LLVMTrunc:
		case LLVMAdd:
		case LLVMSub:
		case LLVMPHI:
			if (depth == MOST_DEPTH)
				return true;
			if (times_of(distance, user, false, &times, 0)) {
				if (times && gets_away(distance, user, depth + 1))
					return true;
			} else if (!distance->null || !times_of(distance, user, true, &times, 0) ||
				   (times ? gets_away(distance, user, depth + 1) : is_seen(user))) {
				return true;
			}
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
