/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an access means in the source: which member of which struct, and how
 * its object is found. In unoptimised IR clang's GEPs still say so: a GEP with
 * a struct as source type and constant indices is a member access, and locals
 * and parameters live in allocas that debug records name.
 */
#include "pass/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Allocas of the current function and their variables. */
struct local {
	LLVMValueRef place;
	LLVMMetadataRef variable;
	unsigned parameter; /* number + 1, 0 if it is none */
};
static struct local *locals;
static size_t local_count, local_room;
static LLVMTargetDataRef layout;

static struct local *local_find(LLVMValueRef place)
{
	for (size_t i = 0; i < local_count; i++)
		if (locals[i].place == place)
			return &locals[i];
	return NULL;
}

static struct local *local_add(LLVMValueRef place)
{
	struct local *found = local_find(place);

	if (found)
		return found;
	if (local_count == local_room) {
		local_room = local_room ? local_room * 2 : 64;
		locals = realloc(locals, local_room * sizeof *locals);
	}
	locals[local_count] = (struct local){.place = place};
	return &locals[local_count++];
}

static void collect_locals(LLVMValueRef function)
{
	local_count = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			for (LLVMDbgRecordRef r = LLVMGetFirstDbgRecord(i); r; r = LLVMGetNextDbgRecord(r)) {
				LLVMValueRef place;

				if (LLVMDbgRecordGetKind(r) != LLVMDbgRecordDeclare)
					continue;
				place = LLVMDbgVariableRecordGetValue(r, 0);
				if (place && LLVMIsAAllocaInst(place))
					local_add(place)->variable = LLVMDbgVariableRecordGetVariable(r);
			}
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

static bool is_gep(LLVMValueRef v)
{
	return LLVMIsAGetElementPtrInst(v) ||
	       (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

/* Prepend what one GEP steps into. Returns false where it is plain pointer arithmetic. */
static bool gep_step(LLVMValueRef gep, struct note *note, char *path, size_t room, uint64_t size)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
	int count = LLVMGetNumOperands(gep);
	char step[512] = "", joined[1024];
	bool member = false;

	if (count < 3)
		return false;
	for (int i = 2; i < count; i++) {
		LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);

		if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			const char *name = LLVMGetStructName(type);
			LLVMMetadataRef described = name ? di_type_of_struct(name) : NULL;
			unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
			bool bitfield = false, array = false, inner = i + 1 < count || *path;
			LLVMTypeRef of = LLVMStructGetTypeAtIndex(type, field);
			uint64_t whole = LLVMABISizeOfType(layout, of);
			char name_of_member[256] = "";

			/* The field itself, not what lies inside it: that the next step says. */
			if (described)
				di_member_at(described, LLVMOffsetOfElement(layout, type, field),
					     inner || !size ? whole : size, name_of_member,
					     sizeof name_of_member, &bitfield, &array);
			/* The outermost struct is the object; GEPs are met from the inside out. */
			if (!member)
				note->type =
					name ? note_text(strchr(name, '.') ? strchr(name, '.') + 1 : name)
					     : "";
			member = true;
			if (bitfield)
				note->flags |= ATOMSAN_SITE_BITFIELD;
			if (*name_of_member) {
				if (*step)
					strncat(step, ".", sizeof step - strlen(step) - 1);
				strncat(step, name_of_member, sizeof step - strlen(step) - 1);
			}
			type = of;
		} else if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
			note->flags |= ATOMSAN_SITE_ARRAY;
			if (!strstr(step, "[]") || step[strlen(step) - 1] != ']')
				strncat(step, "[]", sizeof step - strlen(step) - 1);
			type = LLVMGetElementType(type);
		} else {
			break;
		}
	}
	if (member)
		note->flags |= ATOMSAN_SITE_MEMBER;
	snprintf(joined, sizeof joined, "%s%s%s", step, *step && *path && *path != '[' ? "." : "", path);
	snprintf(path, room, "%s", joined);
	return true;
}

static void describe_base(LLVMValueRef base, struct note *note, unsigned receiver);

/* The struct and member that a pointer leads into, and how it was found. */
static void describe_pointer(LLVMValueRef pointer, uint64_t size, struct note *note, unsigned receiver)
{
	char path[512] = "";
	bool stepped = false;

	for (int depth = 0; depth < 32 && is_gep(pointer); depth++) {
		stepped |= gep_step(pointer, note, path, sizeof path, stepped ? 0 : size);
		pointer = LLVMGetOperand(pointer, 0);
	}
	/* A constant first member of a global struct has no GEP at all. */
	if (!(note->flags & ATOMSAN_SITE_MEMBER) && LLVMIsAGlobalVariable(pointer)) {
		LLVMMetadataRef variable = di_global(pointer);
		LLVMMetadataRef type = variable ? di_strip(di_variable_type(variable)) : NULL;
		bool bitfield = false, array = false;

		if (di_is_struct(type) && size < LLVMDITypeGetSizeInBits(type) / 8) {
			LLVMTypeRef value = LLVMGlobalGetValueType(pointer);
			const char *name = LLVMGetTypeKind(value) == LLVMStructTypeKind
						   ? LLVMGetStructName(value)
						   : NULL;

			note->flags |= ATOMSAN_SITE_MEMBER;
			note->type = name && strchr(name, '.') ? note_text(strchr(name, '.') + 1)
							       : di_type_name(di_variable_type(variable));
			di_member_at(type, 0, size, path, sizeof path, &bitfield, &array);
			if (bitfield)
				note->flags |= ATOMSAN_SITE_BITFIELD;
		}
	}
	if (note->flags & ATOMSAN_SITE_MEMBER)
		note->member = note_text(path);
	describe_base(pointer, note, receiver);
}

static void describe_base(LLVMValueRef base, struct note *note, unsigned receiver)
{
	struct local *local;
	size_t length;

	if (LLVMIsAGlobalVariable(base)) {
		LLVMMetadataRef variable = di_global(base);

		note->base_kind = ATOMSAN_BASE_GLOBAL;
		note->base = variable && *di_name(variable) ? di_name(variable)
							    : note_text(LLVMGetValueName2(base, &length));
		return;
	}
	if (LLVMIsAAllocaInst(base)) {
		local = local_find(base);
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

		describe_pointer(base, 8, &through, receiver);
		if (through.flags & ATOMSAN_SITE_MEMBER) {
			char text[600];

			snprintf(text, sizeof text, "%s.%s", through.type, through.member);
			note->base_kind = ATOMSAN_BASE_MEMBER;
			note->base = note_text(text);
		} else {
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
		*type = di_type_name(pointee);
		if (!**type) {
			LLVMMetadataRef named = di_strip(parameter);

			*type = named ? di_type_name(named) : "";
		}
		return n;
	}
	return ATOMSAN_NO_RECEIVER;
}

static void describe_access(LLVMValueRef instruction, LLVMValueRef pointer, uint64_t size, bool write,
			    unsigned receiver)
{
	struct note note = {"", "", "", 0, 0};

	describe_pointer(pointer, size, &note, receiver);
	note_attach(instruction, &note, write);
}

void describe_function(LLVMValueRef function)
{
	const char *type;
	unsigned receiver = describe_receiver(function, &type);

	layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(function));
	collect_locals(function);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			struct local *local;

			switch (LLVMGetInstructionOpcode(i)) {
			case LLVMLoad:
				describe_access(i, LLVMGetOperand(i, 0),
						LLVMStoreSizeOfType(layout, LLVMTypeOf(i)), false, receiver);
				break;
			case LLVMStore:
				describe_access(i, LLVMGetOperand(i, 1),
						LLVMStoreSizeOfType(layout, LLVMTypeOf(LLVMGetOperand(i, 0))),
						true, receiver);
				break;
			case LLVMAtomicRMW:
			case LLVMAtomicCmpXchg:
				describe_access(i, LLVMGetOperand(i, 0),
						LLVMStoreSizeOfType(layout, LLVMTypeOf(LLVMGetOperand(i, 1))),
						true, receiver);
				break;
			case LLVMCall:
				if (util_is_intrinsic(i, "llvm.mem"))
					describe_access(i, LLVMGetOperand(i, 0), 0, true, receiver);
				break;
			case LLVMAlloca:
				local = local_find(i);
				if (local && local->variable) {
					LLVMMetadataRef of = di_variable_type(local->variable);
					struct note note = {
						di_is_struct(di_strip(of)) ? di_type_name(of) : "", "",
						di_name(local->variable), ATOMSAN_BASE_LOCAL, 0};

					note_attach(i, &note, true);
				}
				break;
			default:
				break;
			}
		}
	}
}
