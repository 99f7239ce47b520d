/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory that is owned by a local: a vector's elements, what a smart pointer
 * points to, an array whose address stands in a struct. An object is looked at
 * together with all whose addresses are put into it, and all that its address is
 * put into, locals and fresh memory, also in the functions that are called with it, which are
 * defined here. If no pointer to one of them gets away from them, no other thread can reach
 * any, and what is loaded from where nothing foreign was put leads to one of them.
 *
 * A function is looked into anew for each call, so who else calls it with what does
 * not matter; for one that calls itself all these calls are one.
 */
#include "pass/owned.h"

#include <string.h>

/* ---- values ---- */

static size_t slot_of(const struct owned *look, unsigned context, LLVMValueRef value)
{
	size_t at = (((size_t)value >> 4) + context * 0x9e3779b9u) * 0x9e3779b97f4a7c15ull >> 40;

	for (at %= 2 * OWNED_VALUES; look->slots[at]; at = (at + 1) % (2 * OWNED_VALUES)) {
		const struct owned_value *found = &look->values[look->slots[at] - 1];

		if (found->value == value && found->context == context)
			break;
	}
	return at;
}

struct owned_value *owned_find(struct owned *look, unsigned context, LLVMValueRef value)
{
	uint16_t number = look->slots[slot_of(look, context, value)];

	return number ? &look->values[number - 1] : NULL;
}

void owned_add(struct owned *look, unsigned context, LLVMValueRef value, uint32_t objects, int64_t offset)
{
	size_t at = slot_of(look, context, value);
	struct owned_value *found;

	if (look->slots[at]) {
		found = &look->values[look->slots[at] - 1];
		if (found->offset != offset)
			offset = OWNED_ANYWHERE;
		objects |= found->objects;
		look->changed |= found->objects != objects || found->offset != offset;
		found->objects = objects;
		found->offset = offset;
		return;
	}
	if (look->count == OWNED_VALUES) {
		look->failed = true;
		return;
	}
	look->values[look->count++] = (struct owned_value){value, context, objects, offset, false};
	look->slots[at] = (uint16_t)look->count;
	look->changed = true;
}

bool owned_is_foreign(struct owned *look, unsigned context, LLVMValueRef value)
{
	const struct owned_value *found = owned_find(look, context, value);

	return found ? found->foreign : !LLVMIsUndef(value) && !(LLVMIsAConstant(value) && LLVMIsNull(value));
}

/* ---- objects ---- */

bool owned_join_object(struct owned *look, unsigned context, LLVMValueRef at)
{
	struct owned_object *object = &look->objects[look->object_count];

	for (unsigned o = 0; o < look->object_count; o++)
		if (look->objects[o].at == at && look->objects[o].context == context)
			return true;
	if (look->object_count == OWNED_OBJECTS)
		return false;
	memset(object, 0, sizeof *object);
	object->at = at;
	object->context = context;
	owned_add(look, context, at, UINT32_C(1) << look->object_count++, 0);
	return true;
}

static bool is_object(LLVMValueRef value)
{
	return LLVMIsAAllocaInst(value) || (util_is_call(value) && private_allocation(value));
}

void owned_join(struct owned *look, unsigned context, LLVMValueRef pointer)
{
	enum { MOST = 32 };
	struct owned_site places[MOST] = {{context, private_base(pointer)}};
	unsigned count = 1;

	for (unsigned i = 0; i < count; i++) {
		struct owned_site place = places[i];
		const struct owned_context *in = &look->contexts[place.context];
		unsigned from = 0, number = 0;

		if (is_object(place.call))
			/* Without room it stays what it is, foreign. */
			owned_join_object(look, place.context, place.call);
		else if (LLVMIsAPHINode(place.call))
			from = LLVMCountIncoming(place.call);
		else if (LLVMIsASelectInst(place.call) || LLVMIsAInsertElementInst(place.call) ||
			 LLVMIsAShuffleVectorInst(place.call))
			from = 2;
		else if (LLVMIsAArgument(place.call))
			from = in->count;
		if (LLVMIsAArgument(place.call))
			while (LLVMGetParam(in->function, number) != place.call)
				number++;
		for (unsigned n = 0; n < from; n++) {
			struct owned_site next = {place.context, NULL};
			unsigned known = 0;

			if (LLVMIsAArgument(place.call)) {
				next.context = in->sites[n].context;
				next.call = LLVMGetOperand(in->sites[n].call, number);
			} else if (LLVMIsAPHINode(place.call)) {
				next.call = LLVMGetIncomingValue(place.call, n);
			} else {
				next.call = LLVMGetOperand(place.call, n + !!LLVMIsASelectInst(place.call));
			}
			next.call = private_base(next.call);
			while (known < count &&
			       (places[known].call != next.call || places[known].context != next.context))
				known++;
			if (known == count && count < MOST)
				places[count++] = next;
		}
	}
}

/* ---- functions that are called ---- */

/* Is what it does known, whichever definition the linker takes? */
static bool is_known(LLVMValueRef function)
{
	LLVMLinkage linkage = LLVMGetLinkage(function);
	size_t length;

	if (LLVMIsDeclaration(function) || LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)) ||
	    LLVMGetModuleFlag(LLVMGetGlobalParent(function), "SemanticInterposition", 21) ||
	    !strncmp(LLVMGetValueName2(function, &length), "__atomsan_", 10))
		return false;
	return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage ||
	       linkage == LLVMExternalLinkage || linkage == LLVMLinkOnceODRLinkage ||
	       linkage == LLVMWeakODRLinkage;
}

static bool has_copies(LLVMValueRef call, LLVMValueRef function)
{
	static const char *const names[] = {"byval", "inalloca", "preallocated", "nest"};

	for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(names[n], strlen(names[n]));

		for (unsigned i = 1; i <= LLVMCountParams(function); i++)
			if (LLVMGetCallSiteEnumAttribute(call, i, kind) ||
			    LLVMGetEnumAttributeAtIndex(function, i, kind))
				return true;
	}
	return false;
}

/* One more call by which the function is come to. */
static int come_by(struct owned *look, unsigned inside, unsigned context, LLVMValueRef call)
{
	struct owned_context *in = &look->contexts[inside];

	if (in->count == OWNED_SITES) {
		look->failed = true;
		return -1;
	}
	in->sites[in->count++] = (struct owned_site){context, call};
	look->changed = true;
	return (int)inside;
}

int owned_enter(struct owned *look, unsigned context, LLVMValueRef call)
{
	LLVMValueRef callee = util_callee(call);

	if (!callee || LLVMIsDeclaration(callee))
		return -1;
	for (unsigned i = 0; i < look->context_count; i++)
		for (unsigned s = 0; s < look->contexts[i].count; s++)
			if (look->contexts[i].sites[s].call == call &&
			    look->contexts[i].sites[s].context == context)
				return (int)i;
	if (look->pass != OWNED_LEADS || !is_known(callee) ||
	    LLVMGlobalGetValueType(callee) != LLVMGetCalledFunctionType(call) || has_copies(call, callee))
		return -1;
	/* The function itself, or one that has called it. */
	for (unsigned i = context;; i = look->contexts[i].parent) {
		if (look->contexts[i].function == callee)
			return come_by(look, i, context, call);
		if (!i)
			break;
	}
	if (look->context_count < OWNED_CONTEXTS) {
		look->contexts[look->context_count] =
			(struct owned_context){.function = callee, .parent = context};
		return come_by(look, look->context_count++, context, call);
	}
	for (unsigned i = 1; i < look->context_count; i++)
		if (look->contexts[i].function == callee)
			return come_by(look, i, context, call);
	return -1;
}

/* ---- all of it ---- */

static void rounds(struct owned *look, enum owned_pass pass)
{
	look->pass = pass;
	do {
		look->changed = false;
		for (unsigned i = 0; i < look->count && !look->failed; i++) {
			struct owned_value *value = &look->values[i];

			owned_source(look, value);
			for (LLVMUseRef use = LLVMGetFirstUse(value->value); use && !look->failed;
			     use = LLVMGetNextUse(use)) {
				owned_use(look, value, LLVMGetUser(use));
				look->failed |= ++look->steps > OWNED_STEPS;
			}
		}
	} while (look->changed && !look->failed);
}

/* As numbers addresses may get away, too. */
static bool numbers_stay(const struct owned *look)
{
	static LLVMValueRef pointers[OWNED_VALUES];

	for (unsigned c = 0; c < look->context_count; c++) {
		struct distance distance = {.pointers = pointers, .null = true};

		for (unsigned o = 0; o < look->object_count; o++)
			if (look->objects[o].context == c)
				pointers[distance.count++] = look->objects[o].at;
		distance.objects = distance.count;
		for (unsigned i = 0; i < look->count; i++)
			if (look->values[i].context == c &&
			    LLVMGetTypeKind(LLVMTypeOf(look->values[i].value)) == LLVMPointerTypeKind &&
			    !is_object(look->values[i].value))
				pointers[distance.count++] = look->values[i].value;
		if (!distance_only(&distance))
			return false;
	}
	return true;
}

/* Was something foreign put into one of them, which leads there? */
static bool leads_elsewhere(const struct owned *look)
{
	for (unsigned o = 0; o < look->object_count; o++)
		for (unsigned i = 0; i < OWNED_WORDS; i++) {
			const struct owned_word *word = &look->objects[o].words[i];

			if (word->foreign && (word->given || word->followed))
				return true;
		}
	return false;
}

/* Do all pointers in an object lead to own ones? What nobody loads may not have been stored, either. */
static bool owns(const struct owned *look, const struct owned_object *object, LLVMTypeRef type, uint64_t at)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
			if (!owns(look, object, LLVMStructGetTypeAtIndex(type, i),
				  at + LLVMOffsetOfElement(look->layout, type, i)))
				return false;
		return true;
	case LLVMArrayTypeKind:
		for (uint64_t i = 0; i < LLVMGetArrayLength2(type) && i < 8 * OWNED_WORDS; i++)
			if (!owns(look, object, LLVMGetElementType(type),
				  at + i * LLVMABISizeOfType(look->layout, LLVMGetElementType(type))))
				return false;
		return true;
	case LLVMPointerTypeKind:
		return object->words[at / 8 < OWNED_WORDS ? at / 8 : OWNED_WORDS - 1].objects != 0;
	default:
		return private_numbers(type);
	}
}

/* A frame's receiver may be a cursor, and what that leads to the frame's object, which is known by the
 * accesses of the cursor. */
static bool is_cursor(const struct owned *look, const struct owned_object *object)
{
	return object->receiver &&
	       (leads_elsewhere(look) ||
		(LLVMIsAAllocaInst(object->at) && !owns(look, object, LLVMGetAllocatedType(object->at), 0)));
}

static void look_at(struct owned *look, LLVMValueRef object, void (*found)(LLVMValueRef))
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(object));
	uint32_t kept = 0;

	memset(look->slots, 0, sizeof look->slots);
	look->count = look->object_count = look->steps = 0;
	look->failed = false;
	look->contexts[0] = (struct owned_context){.function = function};
	look->context_count = 1;
	owned_join_object(look, 0, object);
	rounds(look, OWNED_LEADS);
	rounds(look, OWNED_FOREIGN);
	rounds(look, OWNED_CHECK);
	look->all_steps += look->steps;
	if (look->failed || !numbers_stay(look))
		return;
	for (unsigned o = 0; o < look->object_count; o++) {
		if (is_cursor(look, &look->objects[o]))
			kept |= UINT32_C(1) << o;
		else if (!look->objects[o].context)
			found(look->objects[o].at);
	}
	for (unsigned i = 0; i < look->count; i++) {
		const struct owned_value *value = &look->values[i];

		if (!value->context && !value->foreign && !(value->objects & kept) &&
		    !LLVMIsAArgument(value->value))
			found(value->value);
	}
}

void owned_by_locals(LLVMValueRef function, bool (*known)(LLVMValueRef), void (*found)(LLVMValueRef))
{
	static struct owned look;
	unsigned unoptimised = LLVMGetEnumAttributeKindForName("optnone", 7);

	if (LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, unoptimised))
		return;
	look.all_steps = 0;
	look.layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(function));
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (look.all_steps < OWNED_MOST_STEPS && is_object(i) && !known(i) &&
			    !(LLVMIsAAllocaInst(i) && private_numbers(LLVMGetAllocatedType(i))))
				look_at(&look, i, found);
}
