/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an access means in the source: which member of which struct, and how
 * its object is found. Early, every access gets a note; late, what optimisation
 * left without one is looked at again, with less to go by.
 */
#include "pass/pass.h"

#include <stdio.h>
#include <string.h>

static LLVMTargetDataRef layout;

static void begin(LLVMValueRef function)
{
	layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(function));
	follow_begin(function);
}

void describe_member(const struct cursor *c, bool member, struct note *note)
{
	if (c->array)
		note->flags |= ATOMSAN_SITE_ARRAY;
	if (c->bitfield)
		note->flags |= ATOMSAN_SITE_BITFIELD;
	if (c->owner) {
		note->type = c->name && c->owner == c->named ? c->name : types_name(c->owner);
		note->member = note_text(c->path);
		note->offset = c->begin;
		note->type_size = di_size(c->owner);
	} else if (member && c->name) {
		note->type = c->name;
	}
	if (c->owner || member)
		note->flags |= ATOMSAN_SITE_MEMBER;
}

static void describe_base(LLVMValueRef base, struct note *note, unsigned receiver)
{
	struct local *local = follow_local(base);
	size_t length;

	if (LLVMIsAGlobalVariable(base)) {
		LLVMMetadataRef variable = di_global(base);

		note->base_kind = ATOMSAN_BASE_GLOBAL;
		note->base = variable && *di_name(variable) ? di_name(variable)
							    : note_text(LLVMGetValueName2(base, &length));
		return;
	}
	/* A struct handed over by value is the function's own. */
	if (LLVMIsAAllocaInst(base) || (LLVMIsAArgument(base) && local)) {
		note->base_kind = ATOMSAN_BASE_LOCAL;
		note->base = local && local->variable ? di_name(local->variable) : "";
		return;
	}
	if (util_is_call(base)) {
		LLVMValueRef callee = util_callee(base);
		const char *member = loaded_from(base, note->type);

		if (!member && util_is_call(base))
			member = elements_of(base);
		if (member) {
			note->base_kind = ATOMSAN_BASE_MEMBER;
			note->base = member;
			return;
		}
		note->base_kind = ATOMSAN_BASE_CALL;
		note->base = callee ? note_text(LLVMGetValueName2(callee, &length)) : "";
		return;
	}
	const char *member = loaded_from(base, note->type);

	/* One of several, by the way that was taken. */
	if (!LLVMIsALoadInst(base)) {
		note->base_kind = member ? ATOMSAN_BASE_MEMBER : ATOMSAN_BASE_UNKNOWN;
		note->base = member ? member : "";
		return;
	}
	/* Through a pointer variable, a parameter's alloca or a member. */
	base = LLVMGetOperand(base, 0);
	local = LLVMIsAAllocaInst(base) ? follow_local(base) : NULL;
	if (local && local->parameter) {
		note->base_kind =
			local->parameter - 1 == receiver ? ATOMSAN_BASE_RECEIVER : ATOMSAN_BASE_PARAM;
		note->base = local->variable ? di_name(local->variable) : "";
	} else if (member) {
		note->base_kind = ATOMSAN_BASE_MEMBER;
		note->base = member;
	} else if (local) {
		note->base_kind = ATOMSAN_BASE_LOADED;
		note->base = local->variable ? di_name(local->variable) : "";
	} else {
		struct note through = {"", "", "", 0, 0, 0, 0};
		struct cursor c;
		bool step;

		describe_base(follow(base, &c, &step, 0), &through, receiver);
		note->base_kind = ATOMSAN_BASE_LOADED;
		note->base = through.base;
	}
}

/* The first parameter, and the next one behind `after` if that is not ATOMSAN_NO_RECEIVER, which is a
 * pointer to a struct. */
static unsigned pointer_to_struct(LLVMValueRef function, unsigned after, const char **type)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	unsigned count = LLVMCountParams(function), n = 0;
	unsigned sret = LLVMGetEnumAttributeKindForName("sret", 4);

	*type = "";
	if (!subprogram || !count)
		return ATOMSAN_NO_RECEIVER;
	if (LLVMGetEnumAttributeAtIndex(function, 1, sret))
		n = 1;
	for (unsigned p = 0; n < count; p++, n++) {
		LLVMMetadataRef parameter = di_parameter(subprogram, p), pointee;

		if (!parameter)
			return ATOMSAN_NO_RECEIVER;
		pointee = di_pointee(parameter);
		if (!pointee) {
			/* A struct by value may be split over several arguments: numbers are off from here.
			 */
			if (di_is_struct(di_strip(parameter)))
				return ATOMSAN_NO_RECEIVER;
			continue;
		}
		if (!di_is_struct(pointee))
			continue;
		if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(function, n))) != LLVMPointerTypeKind)
			return ATOMSAN_NO_RECEIVER;
		if (after != ATOMSAN_NO_RECEIVER && n <= after)
			continue;
		*type = types_name(pointee);
		return n;
	}
	return ATOMSAN_NO_RECEIVER;
}

unsigned describe_receiver(LLVMValueRef function, const char **type)
{
	return pointer_to_struct(function, ATOMSAN_NO_RECEIVER, type);
}

unsigned describe_argument(LLVMValueRef function)
{
	const char *type, *other;
	unsigned receiver = describe_receiver(function, &type), n = receiver;

	if (receiver == ATOMSAN_NO_RECEIVER || !*type)
		return ATOMSAN_NO_RECEIVER;
	do
		n = pointer_to_struct(function, n, &other);
	while (n != ATOMSAN_NO_RECEIVER && strcmp(type, other));
	return n;
}

const char *describe_pointer(LLVMValueRef pointer, const char **type)
{
	struct note note = {"", "", "", 0, 0, 0, 0};
	struct cursor c;
	bool member;

	/* Not one to a part of what the member points to. */
	if (follow(pointer, &c, &member, 0) != pointer || !di_is_struct(c.type))
		return NULL;
	note.type = *type = types_name(c.type);
	describe_base(pointer, &note, ATOMSAN_NO_RECEIVER);
	return note.base_kind == ATOMSAN_BASE_MEMBER ? note.base : NULL;
}

/* ---- accesses ---- */

static enum shape shape_of(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
		return SHAPE_INTEGER;
	case LLVMPointerTypeKind:
		return SHAPE_POINTER;
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
	case LLVMX86_FP80TypeKind:
		return SHAPE_FLOAT;
	default:
		return SHAPE_OTHER;
	}
}

static void describe_access(LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type, bool write,
			    unsigned receiver)
{
	struct note note = {"", "", "", 0, 0, 0, 0};
	struct cursor c;
	bool member;
	LLVMValueRef base = follow(pointer, &c, &member, 0);

	c.bit = bitfield_first_bit(instruction);
	cursor_end(&c, LLVMStoreSizeOfType(layout, type), shape_of(type));
	describe_member(&c, member, &note);
	describe_base(base, &note, receiver);
	note_attach(instruction, &note, write);
	if (LLVMIsALoadInst(instruction) && di_is_pointer(c.type))
		note_attach_value(instruction, c.type);
}

/* A copy, or an argument by value: many bytes at once; 0 if nobody knows how many. */
static void describe_range(LLVMValueRef instruction, LLVMValueRef pointer, uint64_t size, bool write,
			   unsigned receiver)
{
	struct note note = {"", "", "", 0, 0, 0, 0};
	struct cursor c;
	bool member;
	LLVMValueRef base = follow(pointer, &c, &member, 0);

	/* The whole object is no member of itself: what it is called is all that can be said. */
	if (member || c.offset || (size && size < di_size(c.type)))
		cursor_end(&c, size, SHAPE_WHOLE);
	else if (di_is_struct(c.type))
		note.type = c.name && c.type == c.named ? c.name : types_name(c.type);
	describe_member(&c, member, &note);
	describe_base(base, &note, receiver);
	note_attach(instruction, &note, write);
}

static void describe_call(LLVMValueRef call, unsigned receiver)
{
	unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5), count = LLVMGetNumArgOperands(call);

	if (util_is_intrinsic(call, "llvm.mem")) {
		LLVMValueRef length = LLVMGetOperand(call, 2);
		uint64_t size = LLVMIsAConstantInt(length) ? LLVMConstIntGetZExtValue(length) : 0;

		describe_range(call, LLVMGetOperand(call, 0), size, true, receiver);
		if (!util_is_intrinsic(call, "llvm.memset"))
			describe_range(call, LLVMGetOperand(call, 1), size, false, receiver);
		return;
	}
	for (unsigned i = 0; i < count; i++) {
		LLVMAttributeRef by = LLVMGetCallSiteEnumAttribute(call, i + 1, byval);

		if (by)
			describe_range(call, LLVMGetOperand(call, i),
				       LLVMABISizeOfType(layout, LLVMGetTypeAttributeValue(by)), false,
				       receiver);
	}
}

static void describe_local(LLVMValueRef place)
{
	struct local *local = follow_local(place);
	struct note note = {"", "", "", ATOMSAN_BASE_LOCAL, 0, 0, 0};

	if (!local || !local->variable)
		return;
	note.base = di_name(local->variable);
	if (di_is_struct(di_strip(local->object))) {
		note.type = types_name(local->object);
		note.type_size = di_size(di_strip(local->object));
	}
	note_attach(place, &note, true);
	if (local->object)
		note_attach_value(place, local->object);
}

void describe_function(LLVMValueRef function)
{
	const char *type;
	unsigned receiver = describe_receiver(function, &type);

	follow_forget();
	begin(function);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			switch (LLVMGetInstructionOpcode(i)) {
			case LLVMLoad:
				describe_access(i, LLVMGetOperand(i, 0), LLVMTypeOf(i), false, receiver);
				break;
			case LLVMStore:
				describe_access(i, LLVMGetOperand(i, 1), LLVMTypeOf(LLVMGetOperand(i, 0)),
						true, receiver);
				break;
			case LLVMAtomicRMW:
			case LLVMAtomicCmpXchg:
				describe_access(i, LLVMGetOperand(i, 0), LLVMTypeOf(LLVMGetOperand(i, 1)),
						true, receiver);
				break;
			case LLVMCall:
			case LLVMInvoke:
				describe_call(i, receiver);
				break;
			case LLVMAlloca:
				describe_local(i);
				break;
			default:
				break;
			}
		}
	}
}

void describe_again(LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type, uint64_t size,
		    struct note *note)
{
	struct note found = {"", "", "", 0, 0, 0, 0};
	const char *through;
	struct cursor c;
	LLVMValueRef base;
	bool member;

	begin(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));
	base = follow(pointer, &c, &member, 0);
	if (type)
		cursor_end(&c, LLVMStoreSizeOfType(layout, type), shape_of(type));
	else if (c.offset || note->flags & ATOMSAN_SITE_MEMBER)
		cursor_end(&c, size, SHAPE_WHOLE);
	describe_member(&c, member, &found);
	if (c.owner) {
		note->type = found.type;
		note->member = found.member;
		note->flags |= found.flags;
		note->offset = found.offset;
		note->type_size = found.type_size;
	}
	if (note->base_kind)
		return;
	/* Inlining made other functions' parameters and locals out of the rest. */
	if (LLVMIsAGlobalVariable(base)) {
		describe_base(base, note, ATOMSAN_NO_RECEIVER);
	} else if ((through = loaded_from(base, note->type))) {
		note->base_kind = ATOMSAN_BASE_MEMBER;
		note->base = through;
	}
}

void describe_outermost(LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type, struct note *note)
{
	struct cursor c;
	LLVMValueRef base;
	bool member;

	begin(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));
	*note = (struct note){"", "", "", 0, 0, 0, 0};
	base = follow_outermost(pointer, &c, &member);
	cursor_end(&c, LLVMStoreSizeOfType(layout, type), shape_of(type));
	describe_member(&c, member, note);
	if (LLVMIsAGlobalVariable(base))
		describe_base(base, note, ATOMSAN_NO_RECEIVER);
}
