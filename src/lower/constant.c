/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Constants and global variables. Offsets come in two forms. Folded: elements
 * of an array are one, so an index counts for nothing. Real: as the bytes lie,
 * which is what tables of virtual functions need.
 */
#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "pass/pass.h"

static LLVMTargetDataRef layout;

static bool is_byte(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 8;
}

int64_t constant_offset(LLVMValueRef gep, bool real, uint32_t *element)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
	unsigned count = (unsigned)LLVMGetNumOperands(gep);
	int64_t offset = 0, end = 0;

	for (unsigned i = 1; i < count; i++) {
		LLVMValueRef index = LLVMGetOperand(gep, i);
		bool known = LLVMIsAConstantInt(index);
		int64_t n = known ? LLVMConstIntGetSExtValue(index) : 0;
		bool fold = !real;

		if (i == 1) {
			/* p + 1 stays at the like of what p points to, unless the unit is a byte (the
			 * compiler's own steps) or a pointer (virtual functions). */
			if (is_byte(type) || LLVMGetTypeKind(type) == LLVMPointerTypeKind)
				fold = false;
		} else if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			offset += (int64_t)LLVMOffsetOfElement(layout, type, (unsigned)n);
			type = LLVMStructGetTypeAtIndex(type, (unsigned)n);
			continue;
		} else if (LLVMGetTypeKind(type) == LLVMArrayTypeKind ||
			   LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
			type = LLVMGetElementType(type);
		} else {
			break;
		}
		if (!end && (!known || (n && fold)))
			end = offset + (int64_t)LLVMABISizeOfType(layout, type);
		if (!fold)
			offset += n * (int64_t)LLVMABISizeOfType(layout, type);
	}
	/* At least one byte, to say that it is an element. */
	*element = !end ? 0 : end - offset > 0 && end - offset < UINT32_MAX ? (uint32_t)(end - offset) : 1;
	return offset;
}

static bool is_virtual_table(LLVMValueRef value)
{
	size_t length;

	return LLVMIsAGlobalVariable(value) && !strncmp(LLVMGetValueName2(value, &length), "_ZT", 3);
}

static uint32_t place(uint32_t base, int64_t offset)
{
	if (!offset)
		return base;
	return table_values(&(struct program_value){.kind = VALUE_PLACE, .index = base, .number = offset});
}

static uint32_t make(LLVMValueRef c)
{
	struct program_value other = {.kind = VALUE_OTHER};
	uint32_t element;

	if (LLVMIsAFunction(c))
		return table_function_at(flatten_function(c))->value;
	if (LLVMIsAGlobalAlias(c))
		return constant_value(LLVMAliasGetAliasee(c));
	if (LLVMIsAConstantInt(c) && LLVMGetIntTypeWidth(LLVMTypeOf(c)) <= 64)
		return table_values(
			&(struct program_value){.kind = VALUE_NUMBER, .number = LLVMConstIntGetSExtValue(c)});
	if (LLVMIsAConstantPointerNull(c) || LLVMIsAConstantAggregateZero(c))
		return table_values(&(struct program_value){.kind = VALUE_NUMBER});
	if (LLVMIsAConstantExpr(c)) {
		LLVMValueRef base = LLVMGetOperand(c, 0);

		switch (LLVMGetConstOpcode(c)) {
		case LLVMGetElementPtr:
			return place(constant_value(base),
				     constant_offset(c, is_virtual_table(base), &element));
		case LLVMBitCast:
		case LLVMIntToPtr:
		case LLVMPtrToInt:
		case LLVMAddrSpaceCast:
		case LLVMTrunc:
		case LLVMAdd:
		case LLVMSub:
			return constant_value(base);
		default:
			break;
		}
	}
	return table_values(&other);
}

uint32_t constant_value(LLVMValueRef constant)
{
	uint32_t number = number_find(constant);

	if (!number) {
		number = make(constant);
		number_set(constant, number);
	}
	return number;
}

/* ---- globals ---- */

static void fields(LLVMValueRef c, int64_t offset, int64_t folded, int depth)
{
	LLVMTypeRef type = LLVMTypeOf(c);

	if (depth > 16)
		return;
	switch (LLVMGetTypeKind(type)) {
	case LLVMPointerTypeKind:
		if (!LLVMIsNull(c) && !LLVMIsUndef(c)) {
			struct program_field field = {
				.offset = offset, .folded = folded, .value = constant_value(c)};

			table_fields(&field);
		}
		break;
	case LLVMStructTypeKind:
		if (!LLVMIsAConstantStruct(c))
			break;
		for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(c); i++) {
			int64_t at = (int64_t)LLVMOffsetOfElement(layout, type, i);

			fields(LLVMGetOperand(c, i), offset + at, folded + at, depth + 1);
		}
		break;
	case LLVMArrayTypeKind: {
		int64_t size = (int64_t)LLVMABISizeOfType(layout, LLVMGetElementType(type));

		if (!LLVMIsAConstantArray(c))
			break;
		for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(c); i++)
			fields(LLVMGetOperand(c, i), offset + i * size, folded, depth + 1);
		break;
	}
	default:
		break;
	}
}

static void describe(LLVMValueRef global, struct program_global *entry)
{
	LLVMMetadataRef variable = di_global(global);
	LLVMMetadataRef file = variable ? LLVMDIVariableGetFile(variable) : NULL;
	unsigned length = 0;
	size_t name_length;
	const char *name = file ? LLVMDIFileGetFilename(file, &length) : NULL;

	entry->name = table_text(variable && *di_name(variable) ? di_name(variable)
								: LLVMGetValueName2(global, &name_length));
	if (name && length) {
		char *text = mem_textf("%.*s", (int)length, name);

		entry->file = table_text(text);
		free(text);
	}
	entry->line = variable ? LLVMDIVariableGetLine(variable) : 0;
}

void constant_globals(LLVMModuleRef module)
{
	layout = LLVMGetModuleDataLayout(module);
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
		LLVMTypeRef type = LLVMGlobalGetValueType(g);
		struct program_global entry = {
			.flags = (LLVMIsGlobalConstant(g) ? GLOBAL_CONSTANT : 0) |
				 (LLVMIsThreadLocal(g) ? GLOBAL_THREAD_LOCAL : 0) |
				 (LLVMIsDeclaration(g) ? GLOBAL_EXTERNAL : 0),
			.size = LLVMTypeIsSized(type) ? (uint32_t)LLVMABISizeOfType(layout, type) : 0,
		};

		describe(g, &entry);
		uint32_t number = table_globals(&entry);
		uint32_t value = table_values(&(struct program_value){.kind = VALUE_GLOBAL, .index = number});

		table_global_at(number)->value = value;
		number_set(g, value);
	}
	/* Values may name any global, so all have their numbers first. */
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
		uint32_t number = table_value_at(number_find(g))->index;
		uint32_t first = table_count(TABLE_fields);
		LLVMValueRef init = LLVMIsDeclaration(g) ? NULL : LLVMGetInitializer(g);
		size_t length;

		if (init && strncmp(LLVMGetValueName2(g, &length), "llvm.", 5))
			fields(init, 0, 0, 0);
		table_global_at(number)->field = first;
		table_global_at(number)->field_count = table_count(TABLE_fields) - first;
	}
}
