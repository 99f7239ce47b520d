/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What no other thread can reach: locals whose address stays in the function,
 * thread-local variables, constants; memory that was allocated here and whose
 * address stays here, too, be it in such a local (owned.c); and what the
 * parameters of a function point to that is called in this module alone and
 * given nothing else by all who call it.
 *
 * LLVM has found out which parameters a function keeps no copy of
 * ("captures(none)"), so a call need not be followed to see whether a pointer
 * gets away in it.
 */
#include "pass/pass.h"
#include "pass/strings.h"

#include <stdlib.h>
#include <string.h>

LLVMValueRef private_base(LLVMValueRef pointer)
{
	for (int depth = 0; depth < 64; depth++) {
		bool step =
			LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer) ||
			LLVMIsAAddrSpaceCastInst(pointer) ||
			(LLVMIsAConstantExpr(pointer) && (LLVMGetConstOpcode(pointer) == LLVMGetElementPtr ||
							  LLVMGetConstOpcode(pointer) == LLVMBitCast));

		if (!step)
			break;
		pointer = LLVMGetOperand(pointer, 0);
	}
	return pointer;
}

bool private_captured(LLVMValueRef call, LLVMValueRef pointer)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("captures", 8);
	LLVMValueRef callee = util_callee(call);
	unsigned count = LLVMGetNumArgOperands(call);

	if (LLVMGetCalledValue(call) == pointer)
		return false;
	if (callee && LLVMGetIntrinsicID(callee))
		return !(util_is_intrinsic(call, "llvm.lifetime") || util_is_intrinsic(call, "llvm.mem") ||
			 util_is_intrinsic(call, "llvm.va_") || util_is_intrinsic(call, "llvm.masked") ||
			 util_is_intrinsic(call, "llvm.dbg") || util_is_intrinsic(call, "llvm.invariant") ||
			 util_is_intrinsic(call, "llvm.stackrestore"));
	for (unsigned i = 0; i < count; i++) {
		LLVMAttributeRef attribute;

		if (LLVMGetOperand(call, i) != pointer)
			continue;
		attribute = LLVMGetCallSiteEnumAttribute(call, i + 1, kind);
		if (!attribute && callee && i < LLVMCountParams(callee))
			attribute = LLVMGetEnumAttributeAtIndex(callee, i + 1, kind);
		if (!attribute || LLVMGetEnumAttributeValue(attribute))
			return true;
	}
	return false;
}

/* Values that lead to an object, each looked at once: pointers that walk lead back to themselves. What is
 * spread further than this is not followed. */
enum { MOST_VALUES = 256 };

struct ways {
	LLVMValueRef values[MOST_VALUES];
	unsigned count;
	bool numbers; /* the object holds nothing else */
};

/* False if there is no room. */
static bool ways_add(struct ways *ways, LLVMValueRef value)
{
	for (unsigned i = 0; i < ways->count; i++)
		if (ways->values[i] == value)
			return true;
	if (ways->count == MOST_VALUES)
		return false;
	ways->values[ways->count++] = value;
	return true;
}

/* May nothing in it lead to something else? */
bool private_numbers(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
			if (!private_numbers(LLVMStructGetTypeAtIndex(type, i)))
				return false;
		return true;
	case LLVMArrayTypeKind:
		return private_numbers(LLVMGetElementType(type));
	case LLVMIntegerTypeKind:
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
		return true;
	default:
		return false;
	}
}

/* A frame only notes its receiver down. But what that leads to, a cursor to its list, may be the frame's
 * object all the same, and is known by the accesses. */
static bool is_receiver(LLVMValueRef call)
{
	static const char *const marks[] = {"__atomsan_inl_", NULL};

	return LLVMIsACallInst(call) && util_callee(call) && util_named_like(util_callee(call), marks);
}

/* What holds numbers alone and is given to a function of strings stays where it is, an allocator
 * also where the string is told its text. */
static bool is_of_string(LLVMValueRef call, LLVMValueRef pointer)
{
	LLVMValueRef callee = util_callee(call);
	const char *name;
	size_t length;

	if (!callee)
		return false;
	name = LLVMGetValueName2(callee, &length);
	return strings_keeps_nothing(name) || (strings_sets_text(name) && LLVMGetNumArgOperands(call) == 3 &&
					       LLVMGetOperand(call, 1) != pointer);
}

/* Does this use let the pointer get away? Values that hold it as well are added. */
static bool gets_away(LLVMValueRef user, LLVMValueRef pointer, struct ways *ways)
{
	if (!LLVMIsAInstruction(user))
		return true;
	switch (LLVMGetInstructionOpcode(user)) {
	case LLVMLoad:
	case LLVMICmp:
		return false;
	case LLVMStore:
		return LLVMGetOperand(user, 0) == pointer;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		return LLVMGetOperand(user, 0) != pointer;
	case LLVMGetElementPtr:
	case LLVMBitCast:
	case LLVMPHI:
	case LLVMSelect:
		return !ways_add(ways, user);
	case LLVMCall:
	case LLVMInvoke:
		return !(ways->numbers && (is_receiver(user) || is_of_string(user, pointer))) &&
		       private_captured(user, pointer);
	default:
		return !distance_is_number(user); /* of which more when all pointers are known */
	}
}

static bool escapes(LLVMValueRef object)
{
	struct ways ways = {.values = {object}, .count = 1};

	ways.numbers = LLVMIsAAllocaInst(object) && private_numbers(LLVMGetAllocatedType(object));
	for (unsigned i = 0; i < ways.count; i++)
		for (LLVMUseRef use = LLVMGetFirstUse(ways.values[i]); use; use = LLVMGetNextUse(use))
			if (gets_away(LLVMGetUser(use), ways.values[i], &ways))
				return true;
	return !distance_only(&(struct distance){.pointers = ways.values, .objects = 1, .count = ways.count});
}

/* Allocations, parameters, locals that own memory and pointers into that, in a hash table: what they lead to
 * is private. */
static struct {
	LLVMValueRef *slots;
	size_t size, count; /* size is a power of two */
} known;

static size_t known_slot(LLVMValueRef value)
{
	size_t at = ((size_t)value >> 4) * 0x9e3779b97f4a7c15ull >> 20;

	for (at &= known.size - 1; known.slots[at] && known.slots[at] != value;)
		at = (at + 1) & (known.size - 1);
	return at;
}

static bool known_has(LLVMValueRef value)
{
	return known.size && known.slots[known_slot(value)] == value;
}

static void known_add(LLVMValueRef value)
{
	if (2 * known.count >= known.size) {
		LLVMValueRef *old = known.slots;
		size_t size = known.size;

		known.size = size ? 2 * size : 64;
		known.slots = calloc(known.size, sizeof *known.slots);
		for (size_t i = 0; i < size; i++)
			if (old[i])
				known.slots[known_slot(old[i])] = old[i];
		free(old);
	}
	size_t at = known_slot(value);

	known.count += !known.slots[at];
	known.slots[at] = value;
}

/* Those behind it that had to make way for it move up. */
static void known_take_out(LLVMValueRef value)
{
	size_t at = known_slot(value);

	if (!known.slots[at])
		return;
	known.slots[at] = NULL;
	known.count--;
	for (at = (at + 1) & (known.size - 1); known.slots[at]; at = (at + 1) & (known.size - 1)) {
		LLVMValueRef moved = known.slots[at];

		known.slots[at] = NULL;
		known.slots[known_slot(moved)] = moved;
	}
}

/* Asked for every access of the same local: the last answers are kept. */
static struct {
	LLVMValueRef object;
	bool escapes;
	bool text; /* it is a string, and its text does not, either */
} answers[256];

void private_forget(void)
{
	memset(answers, 0, sizeof answers);
}

static size_t answer(LLVMValueRef object)
{
	size_t at = ((size_t)object >> 4) % 256;

	if (answers[at].object != object) {
		enum strings_fate fate = strings_is_local(object) ? strings_fate(object) : STRINGS_GETS_AWAY;

		answers[at].object = object;
		answers[at].escapes = fate == STRINGS_GETS_AWAY && !known_has(object) && escapes(object);
		answers[at].text = fate == STRINGS_STAYS_WITH_TEXT;
	}
	return at;
}

bool private_escapes(LLVMValueRef object)
{
	return answers[answer(object)].escapes;
}

/* What a local string leads to: loaded from it, or given by one of its functions. */
static bool is_private_text(LLVMValueRef value)
{
	LLVMValueRef callee = LLVMIsALoadInst(value) ? NULL : util_callee(value), string;
	size_t length;

	if (!LLVMIsALoadInst(value) && (!callee || !LLVMGetNumArgOperands(value) ||
					!strings_gives_text(LLVMGetValueName2(callee, &length))))
		return false;
	string = LLVMGetOperand(value, 0);
	return LLVMIsAAllocaInst(string) && answers[answer(string)].text;
}

/* ---- of a whole module ---- */

/* Those that it may be one of are added; a pointer that walks is where it began, or further on. */
static bool unreachable(LLVMValueRef base, struct ways *ways)
{
	if (LLVMIsAAllocaInst(base))
		return !private_escapes(base);
	if (LLVMIsAGlobalVariable(base))
		return LLVMIsGlobalConstant(base) || LLVMIsThreadLocal(base) || select_global_ignored(base);
	if (LLVMIsACallInst(base) && util_is_intrinsic(base, "llvm.threadlocal.address"))
		return true;
	if (LLVMIsAArgument(base))
		return known_has(base);
	if (util_is_call(base))
		return known_has(base) || is_private_text(base);
	if (LLVMIsALoadInst(base))
		return known_has(base) || is_private_text(base);
	if (LLVMIsAConstantPointerNull(base) || LLVMIsUndef(base))
		return true; /* leads nowhere */
	if (LLVMIsASelectInst(base))
		return ways_add(ways, private_base(LLVMGetOperand(base, 1))) &&
		       ways_add(ways, private_base(LLVMGetOperand(base, 2)));
	if (LLVMIsAPHINode(base)) {
		unsigned count = LLVMCountIncoming(base);

		for (unsigned i = 0; i < count; i++)
			if (!ways_add(ways, private_base(LLVMGetIncomingValue(base, i))))
				return false;
		return count != 0;
	}
	return known_has(base);
}

bool private_pointer(LLVMValueRef pointer)
{
	struct ways ways = {.count = 0};

	if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) != 0)
		return true;
	ways_add(&ways, private_base(pointer));
	for (unsigned i = 0; i < ways.count; i++)
		if (!unreachable(ways.values[i], &ways))
			return false;
	return true;
}

/* Fresh memory that only the caller knows of. */
bool private_allocation(LLVMValueRef call)
{
	static const char *const names[] = {
		"malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "valloc",
		"strdup", "strndup",
		/* operator new and new[], with an alignment, and without exceptions */
		"_Znwm", "_Znam", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "_ZnwmRKSt9nothrow_t",
		"_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
		"_ZnamSt11align_val_tRKSt9nothrow_t"};
	LLVMValueRef callee = util_callee(call);
	size_t length;

	if (!callee || !LLVMIsDeclaration(callee))
		return false;
	const char *name = LLVMGetValueName2(callee, &length);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Is it called by this module alone, and never by way of a pointer? */
static bool callers_known(LLVMValueRef function)
{
	LLVMLinkage linkage = LLVMGetLinkage(function);

	if (LLVMIsDeclaration(function) || (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage))
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if ((!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user)) ||
		    LLVMGetCalledValue(user) != function ||
		    LLVMGetNumArgOperands(user) != LLVMCountParams(function))
			return false;
		for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
			if (LLVMGetOperand(user, i) == function)
				return false;
	}
	return true;
}

static bool all_give_private(LLVMValueRef function, unsigned parameter)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
		if (!private_pointer(LLVMGetOperand(LLVMGetUser(use), parameter)))
			return false;
	return true;
}

/* Functions that call each other hand on what they were given: all parameters are taken for private, and
 * those of which it is not true are taken out until no more are. */
static void parameters(LLVMModuleRef module)
{
	struct parameter {
		LLVMValueRef function, value;
		unsigned number;
	} *left = NULL;
	size_t count = 0, before;

	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		if (!callers_known(f))
			continue;
		for (unsigned i = 0; i < LLVMCountParams(f); i++) {
			LLVMValueRef value = LLVMGetParam(f, i);

			if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind)
				continue;
			left = realloc(left, (count + 1) * sizeof *left);
			left[count++] = (struct parameter){f, value, i};
			known_add(value);
		}
	}
	do {
		before = count;
		for (size_t i = 0; i < count; i++) {
			if (all_give_private(left[i].function, left[i].number))
				continue;
			known_take_out(left[i].value);
			left[i--] = left[--count];
		}
	} while (count < before);
	free(left);
}

void private_begin(LLVMModuleRef module)
{
	private_end();
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
				if (util_is_call(i) && private_allocation(i) && !escapes(i))
					known_add(i);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		owned_by_locals(f, known_has, known_add);
	private_forget();
	parameters(module);
	private_forget();
}

void private_end(void)
{
	free(known.slots);
	known.slots = NULL;
	known.size = known.count = 0;
}
