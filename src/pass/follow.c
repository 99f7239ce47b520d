/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A pointer is followed back to where it comes from (a variable, a load, a
 * call); the debug information gives that object's type, and the steps from
 * there lead to the member. Unoptimised, each step names its struct; optimised,
 * there are bytes, which mostly suffice.
 */
#include "pass/pass.h"

#include <stdlib.h>

/* ---- values of the current function that debug records or the prologue tell of ---- */

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

struct local *follow_local(LLVMValueRef value)
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

void follow_forget(void)
{
	free(locals);
	locals = NULL;
	local_count = local_room = 0;
	current = NULL;
}

/* A variable that is one pointer may still be a struct: an iterator, a smart pointer. */
static LLVMMetadataRef pointed_by(LLVMMetadataRef type)
{
	struct cursor c;

	cursor_begin(&c, type);
	if (di_is_struct(c.type))
		cursor_end(&c, di_size(c.type), SHAPE_POINTER);
	return di_pointee(c.type);
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
		object = pointed_by(object);
	local = local_add(value);
	/* One pointer may serve several variables, inlining brings that about: of an object and
	 * of its first member or base class, the object tells more. */
	if (!local->variable || di_size(object) > di_size(local->object)) {
		local->variable = variable;
		local->object = object;
	}
}

void follow_begin(LLVMValueRef function)
{
	if (function == current)
		return;
	follow_forget();
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

static LLVMValueRef follow_to(LLVMValueRef pointer, struct cursor *c, bool *member, bool outermost, int depth)
{
	LLVMValueRef geps[MAX_STEPS];
	int count = 0;

	for (; is_gep(pointer) && count < MAX_STEPS; pointer = LLVMGetOperand(pointer, 0)) {
		/* A variable of its own, not only a step on the way. */
		if (!outermost && count && follow_local(pointer) &&
		    di_is_struct(di_strip(follow_local(pointer)->object)))
			break;
		geps[count++] = pointer;
	}
	*member = false;
	cursor_begin(c, object_type(pointer, depth));
	while (count)
		step(c, geps[--count], member);
	return pointer;
}

LLVMValueRef follow(LLVMValueRef pointer, struct cursor *c, bool *member, int depth)
{
	return follow_to(pointer, c, member, false, depth);
}

LLVMValueRef follow_outermost(LLVMValueRef pointer, struct cursor *c, bool *member)
{
	return follow_to(pointer, c, member, true, 0);
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
	struct local *local = follow_local(pointer);
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
	if (util_is_call(pointer)) {
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
