/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an access means in the source: which member of which struct, and how
 * its object is found. A pointer is followed back to where it comes from (a
 * variable, a load, a call); the debug information gives that object's type,
 * and the steps from there lead to the member. Unoptimised, each step names
 * its struct; optimised, there are bytes, which mostly suffice.
 */
#include "pass/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values of the current function that debug records or the prologue tell of ---- */

struct local {
	LLVMValueRef value; /* NULL: free */
	LLVMMetadataRef variable;
	LLVMMetadataRef object; /* type of what the value points to */
	unsigned parameter;     /* number + 1, 0 if it is none */
};
static struct local *locals;
static size_t local_count, local_room;
static LLVMValueRef current;
static LLVMTargetDataRef layout;

static size_t local_slot(LLVMValueRef value)
{
	size_t at = ((size_t)value >> 4) * 0x9e3779b97f4a7c15ull >> 20 & (local_room - 1);

	while (locals[at].value && locals[at].value != value)
		at = (at + 1) & (local_room - 1);
	return at;
}

static struct local *local_find(LLVMValueRef value)
{
	size_t at;

	if (!local_count)
		return NULL;
	at = local_slot(value);
	return locals[at].value ? &locals[at] : NULL;
}

static struct local *local_add(LLVMValueRef value)
{
	size_t at;

	if (local_count * 2 >= local_room) {
		struct local *old = locals;
		size_t old_room = local_room;

		local_room = old_room ? old_room * 2 : 64;
		locals = calloc(local_room, sizeof *locals);
		for (size_t i = 0; i < old_room; i++)
			if (old[i].value)
				locals[local_slot(old[i].value)] = old[i];
		free(old);
	}
	at = local_slot(value);
	local_count += !locals[at].value;
	locals[at].value = value;
	return &locals[at];
}

void describe_forget(void)
{
	free(locals);
	locals = NULL;
	local_count = local_room = 0;
	current = NULL;
}

static void record(LLVMDbgRecordRef r)
{
	bool address;
	LLVMValueRef value = di_record_value(r, &address);
	LLVMMetadataRef variable, object;
	struct local *local;

	if (!value || LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind || LLVMIsAConstant(value))
		return;
	variable = LLVMDbgVariableRecordGetVariable(r);
	object = di_variable_type(variable);
	if (!address)
		object = di_pointee(object);
	local = local_add(value);
	/* One pointer may serve several variables, inlining brings that about: of an object and
	 * of its first member or base class, the object tells more. */
	if (!local->variable || di_size(object) > di_size(local->object)) {
		local->variable = variable;
		local->object = object;
	}
}

static void collect_locals(LLVMValueRef function)
{
	if (function == current)
		return;
	describe_forget();
	current = function;
	layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(function));
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			for (LLVMDbgRecordRef r = LLVMGetFirstDbgRecord(i); r; r = LLVMGetNextDbgRecord(r))
				record(r);
			/* Clang stores each parameter into its alloca on entry. */
			if (b == LLVMGetEntryBasicBlock(function) && LLVMIsAStoreInst(i) &&
			    LLVMIsAArgument(LLVMGetOperand(i, 0)) &&
			    LLVMIsAAllocaInst(LLVMGetOperand(i, 1))) {
				unsigned n = 0;

				while (LLVMGetParam(function, n) != LLVMGetOperand(i, 0))
					n++;
				local_add(LLVMGetOperand(i, 1))->parameter = n + 1;
			}
		}
	}
}

/* ---- pointers ---- */

enum { MAX_STEPS = 32, MAX_DEPTH = 8 };

static bool is_gep(LLVMValueRef v)
{
	return LLVMIsAGetElementPtrInst(v) ||
	       (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

/* By whole objects, a pointer stays at the like of what it pointed to; by less, it moves inside. */
static void step_over(struct cursor *c, LLVMTypeRef type, LLVMValueRef index)
{
	uint64_t size = LLVMABISizeOfType(layout, type);

	if (!c->type || (!di_is_array(c->type) && size >= di_size(c->type)))
		return;
	if (LLVMIsAConstantInt(index))
		cursor_move(c, LLVMConstIntGetSExtValue(index) * (int64_t)size);
}

static void step(struct cursor *c, LLVMValueRef gep, bool *member)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
	unsigned count = (unsigned)LLVMGetNumOperands(gep);

	step_over(c, type, LLVMGetOperand(gep, 1));
	for (unsigned i = 2; i < count; i++) {
		LLVMValueRef index = LLVMGetOperand(gep, i);

		if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			const char *name = LLVMGetStructName(type);
			unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);

			if (name)
				cursor_enter(c, name, LLVMABISizeOfType(layout, type));
			cursor_move(c, (int64_t)LLVMOffsetOfElement(layout, type, field));
			*member |= name != NULL;
			type = LLVMStructGetTypeAtIndex(type, field);
		} else if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
			type = LLVMGetElementType(type);
			c->array = true;
			if (LLVMIsAConstantInt(index))
				cursor_move(c, LLVMConstIntGetSExtValue(index) *
						       (int64_t)LLVMABISizeOfType(layout, type));
		} else {
			return;
		}
	}
}

static LLVMMetadataRef object_type(LLVMValueRef pointer, int depth);

/* Where a pointer leads. Returns the value that it is computed from. */
static LLVMValueRef follow(LLVMValueRef pointer, struct cursor *c, bool *member, int depth)
{
	LLVMValueRef geps[MAX_STEPS];
	int count = 0;

	for (; is_gep(pointer) && count < MAX_STEPS; pointer = LLVMGetOperand(pointer, 0)) {
		/* A variable of its own, not only a step on the way. */
		if (count && local_find(pointer) && di_is_struct(di_strip(local_find(pointer)->object)))
			break;
		geps[count++] = pointer;
	}
	*member = false;
	cursor_begin(c, object_type(pointer, depth));
	while (count)
		step(c, geps[--count], member);
	return pointer;
}

static LLVMMetadataRef loaded_type(LLVMValueRef load, int depth)
{
	LLVMMetadataRef type = note_find_value(load);
	struct cursor c;
	bool member;

	if (type)
		return type;
	follow(LLVMGetOperand(load, 0), &c, &member, depth + 1);
	cursor_end(&c, LLVMStoreSizeOfType(layout, LLVMTypeOf(load)), SHAPE_POINTER);
	return c.type;
}

/* The type of what lies at a pointer that no steps lead to; NULL if nothing tells. */
static LLVMMetadataRef object_type(LLVMValueRef pointer, int depth)
{
	struct local *local = local_find(pointer);
	LLVMMetadataRef found = NULL;

	if (depth > MAX_DEPTH)
		return NULL;
	if (local && local->object)
		return local->object;
	if (LLVMIsAGlobalVariable(pointer)) {
		LLVMMetadataRef variable = di_global(pointer);

		return variable ? di_variable_type(variable) : NULL;
	}
	/* Records of a local may have turned into ones of its parts. */
	if (LLVMIsAAllocaInst(pointer))
		return note_find_value(pointer);
	if (LLVMIsALoadInst(pointer))
		return di_pointee(loaded_type(pointer, depth));
	if (LLVMIsACallInst(pointer) || LLVMIsAInvokeInst(pointer)) {
		LLVMValueRef callee = util_callee(pointer);
		LLVMMetadataRef subprogram = callee ? LLVMGetSubprogram(callee) : NULL;

		return subprogram ? di_pointee(di_result(subprogram)) : NULL;
	}
	if (LLVMIsAPHINode(pointer)) {
		for (unsigned i = 0; i < LLVMCountIncoming(pointer) && !found; i++)
			found = object_type(LLVMGetIncomingValue(pointer, i), depth + 3);
		return found;
	}
	if (LLVMIsASelectInst(pointer)) {
		found = object_type(LLVMGetOperand(pointer, 1), depth + 1);
		return found ? found : object_type(LLVMGetOperand(pointer, 2), depth + 1);
	}
	/* A result that is returned in memory. */
	if (LLVMIsAArgument(pointer) && pointer == LLVMGetParam(current, 0) &&
	    LLVMGetEnumAttributeAtIndex(current, 1, LLVMGetEnumAttributeKindForName("sret", 4)))
		return di_result(LLVMGetSubprogram(current));
	return NULL;
}

static void name_member(const struct cursor *c, bool member, struct note *note)
{
	if (c->array)
		note->flags |= ATOMSAN_SITE_ARRAY;
	if (c->bitfield)
		note->flags |= ATOMSAN_SITE_BITFIELD;
	if (c->owner) {
		note->type = c->name && c->owner == c->named ? c->name : types_name(c->owner);
		note->member = note_text(c->path);
	} else if (member && c->name) {
		note->type = c->name;
	}
	if (c->owner || member)
		note->flags |= ATOMSAN_SITE_MEMBER;
}

static void describe_base(LLVMValueRef base, struct note *note, unsigned receiver)
{
	struct local *local = local_find(base);
	struct cursor c;
	bool member;
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
	if (LLVMIsACallInst(base) || LLVMIsAInvokeInst(base)) {
		LLVMValueRef callee = util_callee(base);

		note->base_kind = ATOMSAN_BASE_CALL;
		note->base = callee ? note_text(LLVMGetValueName2(callee, &length)) : "";
		return;
	}
	if (!LLVMIsALoadInst(base))
		return;
	/* Through a pointer variable, a parameter's alloca or a member. */
	base = LLVMGetOperand(base, 0);
	local = LLVMIsAAllocaInst(base) ? local_find(base) : NULL;
	if (local && local->parameter) {
		note->base_kind =
			local->parameter - 1 == receiver ? ATOMSAN_BASE_RECEIVER : ATOMSAN_BASE_PARAM;
		note->base = local->variable ? di_name(local->variable) : "";
	} else if (local) {
		note->base_kind = ATOMSAN_BASE_LOADED;
		note->base = local->variable ? di_name(local->variable) : "";
	} else {
		struct note through = {"", "", "", 0, 0};

		base = follow(base, &c, &member, 0);
		cursor_end(&c, 8, SHAPE_POINTER);
		name_member(&c, member, &through);
		if (through.flags & ATOMSAN_SITE_MEMBER) {
			char text[2600];

			snprintf(text, sizeof text, "%s.%s", through.type, through.member);
			note->base_kind = ATOMSAN_BASE_MEMBER;
			note->base = note_text(text);
		} else {
			describe_base(base, &through, receiver);
			note->base_kind = ATOMSAN_BASE_LOADED;
			note->base = through.base;
		}
	}
}

unsigned describe_receiver(LLVMValueRef function, const char **type)
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
		*type = types_name(pointee);
		return n;
	}
	return ATOMSAN_NO_RECEIVER;
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
	struct note note = {"", "", "", 0, 0};
	struct cursor c;
	bool member;
	LLVMValueRef base = follow(pointer, &c, &member, 0);

	c.bit = bitfield_first_bit(instruction);
	cursor_end(&c, LLVMStoreSizeOfType(layout, type), shape_of(type));
	name_member(&c, member, &note);
	describe_base(base, &note, receiver);
	note_attach(instruction, &note, write);
	if (LLVMIsALoadInst(instruction) && di_is_pointer(c.type))
		note_attach_value(instruction, c.type);
}

/* A copy, or an argument by value: many bytes at once; 0 if nobody knows how many. */
static void describe_range(LLVMValueRef instruction, LLVMValueRef pointer, uint64_t size, bool write,
			   unsigned receiver)
{
	struct note note = {"", "", "", 0, 0};
	struct cursor c;
	bool member;
	LLVMValueRef base = follow(pointer, &c, &member, 0);

	/* The whole object is no member of itself. */
	if (member || c.offset || (size && size < di_size(c.type)))
		cursor_end(&c, size, SHAPE_WHOLE);
	name_member(&c, member, &note);
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
	struct local *local = local_find(place);
	struct note note = {"", "", "", ATOMSAN_BASE_LOCAL, 0};

	if (!local || !local->variable)
		return;
	note.base = di_name(local->variable);
	if (di_is_struct(di_strip(local->object)))
		note.type = types_name(local->object);
	note_attach(place, &note, true);
	if (local->object)
		note_attach_value(place, local->object);
}

void describe_function(LLVMValueRef function)
{
	const char *type;
	unsigned receiver = describe_receiver(function, &type);

	describe_forget();
	collect_locals(function);
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
	struct note found = {"", "", "", 0, 0};
	struct cursor c;
	LLVMValueRef base;
	bool member;

	collect_locals(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));
	base = follow(pointer, &c, &member, 0);
	if (type)
		cursor_end(&c, LLVMStoreSizeOfType(layout, type), shape_of(type));
	else if (c.offset || note->flags & ATOMSAN_SITE_MEMBER)
		cursor_end(&c, size, SHAPE_WHOLE);
	name_member(&c, member, &found);
	if (c.owner) {
		note->type = found.type;
		note->member = found.member;
		note->flags |= found.flags;
	}
	/* Inlining made other functions' parameters and locals out of the rest. */
	if (!note->base_kind && LLVMIsAGlobalVariable(base))
		describe_base(base, note, ATOMSAN_NO_RECEIVER);
}
