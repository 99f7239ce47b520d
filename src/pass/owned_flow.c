/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What each use of a value that leads to own objects does: it makes another such
 * value, puts a pointer into an object or takes one from there, hands it to a
 * function, or lets it get away. What is not known here lets it get away.
 */
#include "pass/owned.h"

#include <string.h>

static bool holds_pointers(LLVMTypeRef type)
{
	if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
		type = LLVMGetElementType(type);
	return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

static uint64_t size_of(const struct owned *look, LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMScalableVectorTypeKind ? UINT64_MAX
								   : LLVMStoreSizeOfType(look->layout, type);
}

static uint64_t length_of(LLVMValueRef length)
{
	return LLVMIsAConstantInt(length) ? LLVMConstIntGetZExtValue(length) : UINT64_MAX;
}

static void set_foreign(struct owned *look, unsigned context, LLVMValueRef value, bool foreign)
{
	struct owned_value *found = owned_find(look, context, value);

	if (!found || !foreign || found->foreign)
		return;
	found->foreign = true;
	look->changed = true;
}

/* ---- values that are made from it ---- */

/* Is one of the values that this one is made of foreign? */
static bool made_of_foreign(struct owned *look, unsigned context, LLVMValueRef made)
{
	unsigned first = 0, end = 1;

	switch (LLVMGetInstructionOpcode(made)) {
	case LLVMPHI:
		for (unsigned i = 0; i < LLVMCountIncoming(made); i++)
			if (owned_is_foreign(look, context, LLVMGetIncomingValue(made, i)))
				return true;
		return false;
	case LLVMSelect:
		first = 1;
		end = 3;
		break;
	case LLVMInsertValue:
	case LLVMInsertElement:
	case LLVMShuffleVector:
		end = 2;
		break;
	default:
		break;
	}
	for (unsigned i = first; i < end; i++)
		if (owned_is_foreign(look, context, LLVMGetOperand(made, i)))
			return true;
	return false;
}

static void derive(struct owned *look, const struct owned_value *value, LLVMValueRef made, int64_t offset)
{
	if (look->pass == OWNED_LEADS)
		owned_add(look, value->context, made, value->objects, offset);
	else if (look->pass == OWNED_FOREIGN)
		set_foreign(look, value->context, made, made_of_foreign(look, value->context, made));
}

/* Further than this nobody needs to know where it leads. */
enum { FAR = 1 << 20 };

/* A step of a known number of bytes. */
static bool constant_step(const struct owned *look, LLVMValueRef gep, int64_t *bytes)
{
	LLVMValueRef index = LLVMGetOperand(gep, 1);

	*bytes = 0;
	if (LLVMGetNumOperands(gep) != 2 || !LLVMIsAConstantInt(index) ||
	    LLVMGetTypeKind(LLVMGetGEPSourceElementType(gep)) == LLVMScalableVectorTypeKind ||
	    LLVMConstIntGetSExtValue(index) > FAR || LLVMConstIntGetSExtValue(index) < -FAR)
		return false;
	*bytes = LLVMConstIntGetSExtValue(index) *
		 (int64_t)LLVMABISizeOfType(look->layout, LLVMGetGEPSourceElementType(gep));
	return *bytes < FAR && *bytes > -FAR;
}

static void step(struct owned *look, struct owned_value *value, LLVMValueRef gep)
{
	int64_t bytes;

	for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++)
		look->failed |= LLVMGetOperand(gep, i) == value->value;
	look->failed |= LLVMGetTypeKind(LLVMTypeOf(gep)) != LLVMPointerTypeKind;
	derive(look, value, gep,
	       value->offset != OWNED_ANYWHERE && constant_step(look, gep, &bytes) ? value->offset + bytes
										   : OWNED_ANYWHERE);
}

/* ---- objects ---- */

static void load(struct owned *look, const struct owned_value *address, LLVMValueRef load)
{
	LLVMTypeRef type = LLVMTypeOf(load);
	uint64_t size = size_of(look, type);
	struct owned_word all = owned_contents(look, address, size);

	if (look->pass == OWNED_LEADS && all.objects)
		owned_add(look, address->context, load, all.objects, size == 8 ? all.offset : OWNED_ANYWHERE);
	if (look->pass != OWNED_FOREIGN)
		return;
	if (holds_pointers(type))
		owned_follow(look, address, size);
	set_foreign(look, address->context, load, address->foreign || all.foreign);
}

static void store_into(struct owned *look, const struct owned_value *address, LLVMValueRef what)
{
	LLVMTypeRef type = LLVMTypeOf(what);
	uint64_t size = size_of(look, type);
	const struct owned_value *own = owned_find(look, address->context, what);

	if (look->pass == OWNED_LEADS && own)
		owned_put(look, address, size, own);
	else if (look->pass == OWNED_LEADS && holds_pointers(type))
		owned_join(look, address->context, what);
	else if (look->pass == OWNED_FOREIGN && owned_is_foreign(look, address->context, what))
		owned_spoil(look, address, size, holds_pointers(type));
}

/* It, or what its objects hold, is put where the other pointer leads, which must be in own objects. */
static void put_at(struct owned *look, const struct owned_value *value, LLVMValueRef where)
{
	const struct owned_value *to = owned_find(look, value->context, where);

	if (look->pass == OWNED_LEADS && !to)
		owned_join(look, value->context, where);
	else if (look->pass == OWNED_CHECK)
		look->failed |= !to || to->foreign;
}

static void store(struct owned *look, const struct owned_value *value, LLVMValueRef what, LLVMValueRef where)
{
	if (what == value->value)
		put_at(look, value, where);
	if (where == value->value)
		store_into(look, value, what);
}

static void copy(struct owned *look, const struct owned_value *value, LLVMValueRef call)
{
	LLVMValueRef to = LLVMGetOperand(call, 0), from = LLVMGetOperand(call, 1);
	const struct owned_value *own_to = owned_find(look, value->context, to);
	const struct owned_value *own_from = owned_find(look, value->context, from);
	uint64_t size = length_of(LLVMGetOperand(call, 2));

	look->failed |= LLVMGetOperand(call, 2) == value->value;
	if (own_to && own_from)
		owned_copy(look, own_to, own_from, size);
	if (to == value->value && look->pass == OWNED_LEADS && !own_from)
		owned_join(look, value->context, from);
	if (to == value->value && look->pass == OWNED_FOREIGN && (!own_from || own_from->foreign))
		owned_spoil(look, value, size, false);
	if (from == value->value && owned_holds(look, value->objects))
		put_at(look, value, to);
}

/* An exchange is not followed: there must be nothing of one's own. */
static void exchange(struct owned *look, const struct owned_value *value, LLVMValueRef instruction)
{
	for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(instruction); i++)
		look->failed |= LLVMGetOperand(instruction, i) == value->value;
	if (look->pass == OWNED_FOREIGN)
		owned_spoil(look, value, 16, true);
	else if (look->pass == OWNED_CHECK)
		look->failed |= owned_contents(look, value, 16).objects != 0;
}

/* ---- calls ---- */

static struct owned_value whole(const struct owned_value *value)
{
	struct owned_value all = *value;

	all.offset = OWNED_ANYWHERE;
	return all;
}

static void intrinsic(struct owned *look, struct owned_value *value, LLVMValueRef call)
{
	LLVMValueRef length;

	if (util_is_intrinsic(call, "llvm.memcpy") || util_is_intrinsic(call, "llvm.memmove")) {
		copy(look, value, call);
	} else if (util_is_intrinsic(call, "llvm.memset")) {
		length = LLVMGetOperand(call, 2);
		look->failed |= length == value->value || LLVMGetOperand(call, 1) == value->value;
		if (look->pass == OWNED_FOREIGN && !LLVMIsNull(LLVMGetOperand(call, 1)))
			owned_spoil(look, value, length_of(length), false);
	} else if (util_is_intrinsic(call, "llvm.masked.load.")) {
		look->failed |= LLVMGetOperand(call, 0) != value->value;
		load(look, value, call);
	} else if (util_is_intrinsic(call, "llvm.masked.store.")) {
		store(look, value, LLVMGetOperand(call, 0), LLVMGetOperand(call, 1));
	} else if (!util_is_intrinsic(call, "llvm.lifetime.") && !util_is_intrinsic(call, "llvm.assume") &&
		   !util_is_intrinsic(call, "llvm.prefetch") && !util_is_intrinsic(call, "llvm.dbg.") &&
		   !util_is_intrinsic(call, "llvm.invariant.")) {
		look->failed = true;
	}
}

static bool has(LLVMValueRef call, unsigned parameter, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMValueRef callee = util_callee(call);

	return LLVMGetCallSiteEnumAttribute(call, parameter + 1, kind) ||
	       (callee && parameter < LLVMCountParams(callee) &&
		LLVMGetEnumAttributeAtIndex(callee, parameter + 1, kind));
}

/* Who is called may put into the objects whatever it likes, and give away what they hold. */
static void unknown_call(struct owned *look, const struct owned_value *value, LLVMValueRef call)
{
	struct owned_value all = whole(value);

	look->failed |= private_captured(call, value->value);
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
		if (LLVMGetOperand(call, i) != value->value || has(call, i, "readnone"))
			continue;
		if (look->pass == OWNED_FOREIGN && !has(call, i, "readonly"))
			owned_spoil(look, &all, UINT64_MAX, true);
		if (look->pass == OWNED_CHECK && !has(call, i, "writeonly"))
			look->failed |= owned_holds(look, value->objects);
	}
}

static bool is_free(const char *name)
{
	return !strcmp(name, "free") || !strncmp(name, "_ZdlPv", 6) || !strncmp(name, "_ZdaPv", 6);
}

static bool is_realloc(LLVMValueRef call)
{
	static const char *const names[] = {"realloc", NULL};

	return private_allocation(call) && util_named_like(util_callee(call), names);
}

static void enlarge(struct owned *look, const struct owned_value *value, LLVMValueRef call)
{
	const struct owned_value *larger;
	struct owned_value to, from = whole(value);

	look->failed |= !owned_join_object(look, value->context, call);
	larger = owned_find(look, value->context, call);
	if (!larger)
		return;
	to = whole(larger);
	owned_copy(look, &to, &from, UINT64_MAX);
}

static void call(struct owned *look, struct owned_value *value, LLVMValueRef call)
{
	LLVMValueRef callee = util_callee(call);
	size_t length;
	const char *name = callee ? LLVMGetValueName2(callee, &length) : "";
	int inside;

	if (LLVMGetCalledValue(call) == value->value) {
		look->failed = true;
	} else if (callee && LLVMGetIntrinsicID(callee)) {
		intrinsic(look, value, call);
	} else if (LLVMGetNumOperandBundles(call)) {
		look->failed = true;
	} else if (callee && util_is_mark(call)) {
		for (unsigned o = 0; o < look->object_count; o++)
			look->objects[o].receiver |= value->objects >> o & 1;
	} else if (callee && LLVMIsDeclaration(callee) && is_free(name)) {
		return;
	} else if (is_realloc(call) && LLVMGetOperand(call, 0) == value->value) {
		enlarge(look, value, call);
	} else if ((inside = owned_enter(look, value->context, call)) >= 0) {
		for (unsigned i = 0; look->pass == OWNED_LEADS && i < LLVMGetNumArgOperands(call); i++)
			if (LLVMGetOperand(call, i) == value->value)
				owned_add(look, (unsigned)inside, LLVMGetParam(callee, i), value->objects,
					  value->offset);
	} else {
		unknown_call(look, value, call);
	}
}

static void give_back(struct owned *look, const struct owned_value *value)
{
	const struct owned_context *context = &look->contexts[value->context];

	look->failed |= !value->context;
	for (unsigned i = 0; look->pass == OWNED_LEADS && i < context->count; i++)
		owned_add(look, context->sites[i].context, context->sites[i].call, value->objects,
			  value->offset);
}

void owned_use(struct owned *look, struct owned_value *value, LLVMValueRef user)
{
	if (!LLVMIsAInstruction(user)) {
		look->failed = true;
		return;
	}
	switch (LLVMGetInstructionOpcode(user)) {
	case LLVMICmp:
		return;
	case LLVMLoad:
		load(look, value, user);
		return;
	case LLVMStore:
		store(look, value, LLVMGetOperand(user, 0), LLVMGetOperand(user, 1));
		return;
	case LLVMGetElementPtr:
		step(look, value, user);
		return;
	case LLVMPHI:
	case LLVMFreeze:
		derive(look, value, user, value->offset);
		return;
	case LLVMSelect:
		look->failed |= LLVMGetOperand(user, 0) == value->value;
		derive(look, value, user, value->offset);
		return;
	case LLVMBitCast:
	case LLVMIntToPtr:
	case LLVMExtractValue:
	case LLVMInsertValue:
	case LLVMShuffleVector:
	case LLVMExtractElement:
	case LLVMInsertElement:
		/* As the number of an element it would be something else. */
		for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(user); i++)
			look->failed |= LLVMGetOperand(user, i) == value->value &&
					!LLVMIsAInsertValueInst(user) && !LLVMIsAShuffleVectorInst(user) &&
					!(LLVMIsAInsertElementInst(user) && i == 1);
		derive(look, value, user, OWNED_ANYWHERE);
		return;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		exchange(look, value, user);
		return;
	case LLVMPtrToInt:
	case LLVMPtrToAddr:
		/* Of these more when all are known (distance.c). */
		look->failed |= LLVMGetTypeKind(LLVMTypeOf(value->value)) != LLVMPointerTypeKind;
		return;
	case LLVMCall:
	case LLVMInvoke:
		call(look, value, user);
		return;
	case LLVMRet:
		give_back(look, value);
		return;
	default:
		look->failed = true;
	}
}

/* ---- what values are made of that is no use of another ---- */

static bool argument_is_foreign(struct owned *look, const struct owned_value *value)
{
	const struct owned_context *context = &look->contexts[value->context];
	unsigned number = 0;

	while (LLVMGetParam(context->function, number) != value->value)
		number++;
	for (unsigned i = 0; i < context->count; i++)
		if (owned_is_foreign(look, context->sites[i].context,
				     LLVMGetOperand(context->sites[i].call, number)))
			return true;
	return !value->context;
}

static bool result_is_foreign(struct owned *look, const struct owned_value *value)
{
	int inside = owned_enter(look, value->context, value->value);
	LLVMValueRef end;

	if (inside < 0)
		return false;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(look->contexts[inside].function); b;
	     b = LLVMGetNextBasicBlock(b)) {
		end = LLVMGetBasicBlockTerminator(b);
		if (LLVMIsAReturnInst(end) &&
		    owned_is_foreign(look, (unsigned)inside, LLVMGetOperand(end, 0)))
			return true;
	}
	return false;
}

/* Is there something else in fresh memory than nothing at all? */
static bool is_filled(struct owned *look, const struct owned_value *value)
{
	static const char *const copies[] = {"strdup", "strndup", NULL};

	return util_named_like(util_callee(value->value), copies) ||
	       (is_realloc(value->value) &&
		owned_is_foreign(look, value->context, LLVMGetOperand(value->value, 0)));
}

void owned_source(struct owned *look, struct owned_value *value)
{
	struct owned_value all = whole(value);

	if (look->pass != OWNED_FOREIGN)
		return;
	if (LLVMIsAArgument(value->value)) {
		set_foreign(look, value->context, value->value, argument_is_foreign(look, value));
	} else if (util_is_call(value->value) && private_allocation(value->value)) {
		if (is_filled(look, value))
			owned_spoil(look, &all, UINT64_MAX, false);
	} else if (util_is_call(value->value)) {
		set_foreign(look, value->context, value->value, result_is_foreign(look, value));
	}
}
