/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Debug information. The C API names only part of it; the rest is reached by
 * operand number, and those numbers change between major versions of LLVM.
 * This table is for LLVM 22 and the only place that knows them.
 */
#include "pass/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum operand {
	SCOPE = 1, /* of every scope, and of a type */
	NAMESPACE_NAME = 2,
	SUBPROGRAM_NAME = 2,
	SUBPROGRAM_LINKAGE_NAME = 3,
	SUBPROGRAM_TYPE = 4,
	SUBPROGRAM_DECLARATION = 6,
	SUBPROGRAM_ANNOTATIONS = 11,
	VARIABLE_NAME = 1,
	VARIABLE_TYPE = 3,
	DERIVED_BASE = 5,
	COMPOSITE_BASE = 5,
	COMPOSITE_ELEMENTS = 6,
	SUBROUTINE_TYPES = 5,
	UNIT_RETAINED_TYPES = 5,
	UNIT_VARIABLES = 6,
	DERIVED_ANNOTATIONS = 7,
	COMPOSITE_ANNOTATIONS = 15,
	VARIABLE_ANNOTATIONS = 8, /* of a global one */
};

/* DWARF tags. */
enum {
	TAG_ARRAY = 0x01,
	TAG_CLASS = 0x02,
	TAG_ENUMERATION = 0x04,
	TAG_MEMBER = 0x0d,
	TAG_POINTER = 0x0f,
	TAG_REFERENCE = 0x10,
	TAG_STRUCT = 0x13,
	TAG_TYPEDEF = 0x16,
	TAG_UNION = 0x17,
	TAG_INHERITANCE = 0x1c,
	TAG_CONST = 0x26,
	TAG_VOLATILE = 0x35,
	TAG_RESTRICT = 0x37,
	TAG_RVALUE_REFERENCE = 0x42,
	TAG_ATOMIC = 0x47,
};

static LLVMContextRef context;
static LLVMMetadataRef plain_expression;

void di_begin(LLVMModuleRef module)
{
	LLVMDIBuilderRef builder = LLVMCreateDIBuilderDisallowUnresolved(module);

	context = LLVMGetModuleContext(module);
	plain_expression = LLVMDIBuilderCreateExpression(builder, NULL, 0);
	LLVMDisposeDIBuilder(builder);
}

unsigned di_count(LLVMMetadataRef list)
{
	return list ? LLVMGetMDNodeNumOperands(LLVMMetadataAsValue(context, list)) : 0;
}

static LLVMMetadataRef operand(LLVMMetadataRef node, unsigned n)
{
	return node && n < di_count(node) ? shim_operand(node, n) : NULL;
}

static const char *operand_text(LLVMMetadataRef node, unsigned n)
{
	LLVMMetadataRef text = operand(node, n);
	const char *bytes;
	unsigned length;

	if (!text || LLVMGetMetadataKind(text) != LLVMMDStringMetadataKind)
		return "";
	bytes = LLVMGetMDString(LLVMMetadataAsValue(context, text), &length);
	return note_text(bytes ? bytes : "");
}

static LLVMMetadataKind kind(LLVMMetadataRef node)
{
	return LLVMGetMetadataKind(node);
}

LLVMMetadataRef di_scope(LLVMMetadataRef scope)
{
	return operand(scope, SCOPE);
}

LLVMMetadataRef di_subprogram(LLVMMetadataRef scope)
{
	for (int depth = 0; scope && depth < 256; depth++) {
		if (kind(scope) == LLVMDISubprogramMetadataKind)
			return scope;
		if (kind(scope) != LLVMDILexicalBlockMetadataKind &&
		    kind(scope) != LLVMDILexicalBlockFileMetadataKind)
			return NULL;
		scope = di_scope(scope);
	}
	return NULL;
}

const char *di_name(LLVMMetadataRef node)
{
	if (!node)
		return "";
	switch (kind(node)) {
	case LLVMDINamespaceMetadataKind:
		return operand_text(node, NAMESPACE_NAME);
	case LLVMDISubprogramMetadataKind:
		return operand_text(node, SUBPROGRAM_NAME);
	case LLVMDILocalVariableMetadataKind:
	case LLVMDIGlobalVariableMetadataKind:
		return operand_text(node, VARIABLE_NAME);
	case LLVMDIBasicTypeMetadataKind:
	case LLVMDIDerivedTypeMetadataKind:
	case LLVMDICompositeTypeMetadataKind: {
		size_t length;
		const char *name = LLVMDITypeGetName(node, &length);

		return name && length ? note_text(name) : "";
	}
	default:
		return "";
	}
}

const char *di_linkage_name(LLVMMetadataRef subprogram)
{
	return subprogram ? operand_text(subprogram, SUBPROGRAM_LINKAGE_NAME) : "";
}

/* Leaves out what names nothing: clang writes ./a.c and b//a.c in some nodes and a.c and b/a.c in others. */
static void tidy(char *name)
{
	char *to = name;

	for (const char *from = name; *from;) {
		bool begins = from == name || from[-1] == '/';

		if (begins && from != name && *from == '/')
			from++;
		else if (begins && from[0] == '.' && from[1] == '/')
			from += 2;
		else
			*to++ = *from++;
	}
	*to = 0;
}

const char *di_file(LLVMMetadataRef scope)
{
	LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
	unsigned length = 0;
	const char *name = file ? LLVMDIFileGetFilename(file, &length) : NULL;
	char text[4096];

	if (!name || !length)
		return "";
	/* The unit's own file is named as on the command line; of other absolute names clang leaves out
	 * what they have in common with the folder of the compilation. One file has one name. */
	unsigned folder_length = 0, common = 0;
	const char *folder = LLVMDIFileGetDirectory(file, &folder_length);

	if (name[0] == '/' && folder && folder_length) {
		for (unsigned i = 0; i < length; i++) {
			if (name[i] == '/' && (i == folder_length || (i < folder_length && folder[i] == '/')))
				common = i;
			if (i >= folder_length || name[i] != folder[i])
				break;
		}
		if (common) {
			name += common + 1;
			length -= common + 1;
		}
	}
	snprintf(text, sizeof text, "%.*s", (int)length, name);
	tidy(text);
	return note_text(text);
}

LLVMMetadataRef di_variable_type(LLVMMetadataRef variable)
{
	return operand(variable, VARIABLE_TYPE);
}

static bool has_tag(LLVMMetadataRef type, unsigned tag)
{
	return type && LLVMGetDINodeTag(type) == tag;
}

LLVMMetadataRef di_strip(LLVMMetadataRef type)
{
	while (type && kind(type) == LLVMDIDerivedTypeMetadataKind &&
	       (has_tag(type, TAG_TYPEDEF) || has_tag(type, TAG_CONST) || has_tag(type, TAG_VOLATILE) ||
		has_tag(type, TAG_RESTRICT) || has_tag(type, TAG_ATOMIC)))
		type = operand(type, DERIVED_BASE);
	return type;
}

unsigned di_qualifiers(LLVMMetadataRef type)
{
	unsigned found = 0;

	for (; type && kind(type) == LLVMDIDerivedTypeMetadataKind; type = operand(type, DERIVED_BASE)) {
		if (has_tag(type, TAG_CONST))
			found |= DI_CONST;
		else if (has_tag(type, TAG_VOLATILE))
			found |= DI_VOLATILE;
		else if (has_tag(type, TAG_ATOMIC))
			found |= DI_ATOMIC;
		else if (!has_tag(type, TAG_TYPEDEF) && !has_tag(type, TAG_RESTRICT))
			break;
	}
	return found;
}

bool di_goes_by(LLVMMetadataRef type, const char *const *names)
{
	LLVMMetadataRef end = di_strip(type);

	for (; type; type = operand(type, DERIVED_BASE)) {
		const char *name = type == end && di_is_struct(type) ? types_name(type) : di_name(type);

		for (const char *const *n = names; *n; n++)
			if (!strcmp(name, *n))
				return true;
		if (type == end)
			break;
	}
	return false;
}

const char *di_annotation(LLVMMetadataRef node, unsigned n)
{
	LLVMMetadataRef list;

	switch (kind(node)) {
	case LLVMDIDerivedTypeMetadataKind:
		list = operand(node, DERIVED_ANNOTATIONS);
		break;
	case LLVMDICompositeTypeMetadataKind:
		list = operand(node, COMPOSITE_ANNOTATIONS);
		break;
	case LLVMDIGlobalVariableMetadataKind:
		list = operand(node, VARIABLE_ANNOTATIONS);
		break;
	case LLVMDISubprogramMetadataKind:
		list = operand(node, SUBPROGRAM_ANNOTATIONS);
		break;
	default:
		return NULL;
	}
	/* Each is a pair of texts: what it is, and what it says. */
	return n < di_count(list) ? operand_text(operand(list, n), 1) : NULL;
}

LLVMMetadataRef di_variables(LLVMMetadataRef unit)
{
	return operand(unit, UNIT_VARIABLES);
}

LLVMMetadataRef di_pointee(LLVMMetadataRef type)
{
	type = di_strip(type);
	if (!has_tag(type, TAG_POINTER) && !has_tag(type, TAG_REFERENCE) &&
	    !has_tag(type, TAG_RVALUE_REFERENCE))
		return NULL;
	return di_strip(operand(type, DERIVED_BASE));
}

bool di_is_struct(LLVMMetadataRef type)
{
	return has_tag(type, TAG_STRUCT) || has_tag(type, TAG_CLASS) || has_tag(type, TAG_UNION);
}

bool di_is_union(LLVMMetadataRef type)
{
	return has_tag(type, TAG_UNION);
}

bool di_is_class(LLVMMetadataRef type)
{
	return has_tag(type, TAG_CLASS);
}

bool di_is_array(LLVMMetadataRef type)
{
	return has_tag(type, TAG_ARRAY);
}

bool di_is_pointer(LLVMMetadataRef type)
{
	return has_tag(type, TAG_POINTER) || has_tag(type, TAG_REFERENCE) ||
	       has_tag(type, TAG_RVALUE_REFERENCE);
}

bool di_is_number(LLVMMetadataRef type)
{
	return type && (kind(type) == LLVMDIBasicTypeMetadataKind || has_tag(type, TAG_ENUMERATION));
}

bool di_is_typedef(LLVMMetadataRef type)
{
	return has_tag(type, TAG_TYPEDEF);
}

bool di_is_base(LLVMMetadataRef member)
{
	return has_tag(member, TAG_INHERITANCE);
}

/* A virtual base lies where the object's table says, not at an offset. */
bool di_is_member(LLVMMetadataRef element)
{
	if (has_tag(element, TAG_INHERITANCE))
		return (di_flags(element) & LLVMDIFlagVirtual) == 0;
	return has_tag(element, TAG_MEMBER) && (di_flags(element) & LLVMDIFlagStaticMember) == 0;
}

LLVMMetadataRef di_base(LLVMMetadataRef type)
{
	switch (kind(type)) {
	case LLVMDIDerivedTypeMetadataKind:
		return operand(type, DERIVED_BASE);
	case LLVMDICompositeTypeMetadataKind:
		return operand(type, COMPOSITE_BASE);
	default:
		return NULL;
	}
}

LLVMMetadataRef di_elements(LLVMMetadataRef type)
{
	switch (kind(type)) {
	case LLVMDICompositeTypeMetadataKind:
		return has_tag(type, TAG_ARRAY) ? NULL : operand(type, COMPOSITE_ELEMENTS);
	case LLVMDISubroutineTypeMetadataKind:
		return operand(type, SUBROUTINE_TYPES);
	case LLVMDICompileUnitMetadataKind:
		return operand(type, UNIT_RETAINED_TYPES);
	default:
		return NULL;
	}
}

LLVMMetadataRef di_element(LLVMMetadataRef list, unsigned n)
{
	return operand(list, n);
}

uint64_t di_size(LLVMMetadataRef type)
{
	return type ? LLVMDITypeGetSizeInBits(type) / 8 : 0;
}

LLVMMetadataRef di_signature(LLVMMetadataRef subprogram)
{
	return operand(subprogram, SUBPROGRAM_TYPE);
}

LLVMMetadataRef di_result(LLVMMetadataRef subprogram)
{
	return operand(operand(operand(subprogram, SUBPROGRAM_TYPE), SUBROUTINE_TYPES), 0);
}

/* With optimisation ahead, clang's declarations of locals have become assignments to them. */
LLVMValueRef di_record_value(LLVMDbgRecordRef record, bool *address)
{
	LLVMDbgRecordKind of = LLVMDbgRecordGetKind(record);

	*address = of != LLVMDbgRecordValue;
	if (of == LLVMDbgRecordLabel || LLVMDbgVariableRecordGetExpression(record) != plain_expression)
		return NULL;
	return of == LLVMDbgRecordAssign ? shim_address(record) : LLVMDbgVariableRecordGetValue(record, 0);
}

LLVMMetadataRef di_parameter(LLVMMetadataRef subprogram, unsigned n)
{
	LLVMMetadataRef types = operand(operand(subprogram, SUBPROGRAM_TYPE), SUBROUTINE_TYPES);

	return operand(types, n + 1); /* the first is the result */
}

unsigned di_flags(LLVMMetadataRef node)
{
	return (unsigned)LLVMDITypeGetFlags(node);
}

/* C1/C2 and D0/D1/D2 end the nested name of a constructor or destructor. */
static bool mangled_as(const char *name, char letter)
{
	for (; *name; name++)
		if (name[0] == letter && name[1] >= '0' && name[1] <= '3' && name[2] == 'E')
			return true;
	return false;
}

unsigned di_method_flags(LLVMMetadataRef subprogram, const char *linkage_name)
{
	LLVMMetadataRef first = di_parameter(subprogram, 0);
	bool method = first && kind(first) == LLVMDIDerivedTypeMetadataKind &&
		      di_flags(first) & LLVMDIFlagArtificial && di_flags(first) & LLVMDIFlagObjectPointer;
	LLVMMetadataRef declaration = operand(subprogram, SUBPROGRAM_DECLARATION);
	unsigned flags = 0;

	if (!method)
		return 0;
	flags |= ATOMSAN_FN_METHOD;
	if (declaration) {
		unsigned access = shim_subprogram_flags(declaration) & 3;

		/* Without a word: private in a class, public in a struct. */
		if (access == LLVMDIFlagPrivate || access == LLVMDIFlagProtected ||
		    (!access && has_tag(di_scope(declaration), TAG_CLASS)))
			flags |= ATOMSAN_FN_PRIVATE;
	}
	if (mangled_as(linkage_name, 'C'))
		flags |= ATOMSAN_FN_CTOR;
	if (mangled_as(linkage_name, 'D'))
		flags |= ATOMSAN_FN_DTOR;
	return flags;
}

LLVMMetadataRef di_global(LLVMValueRef global)
{
	size_t count;
	LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
	LLVMMetadataRef found = NULL;

	for (size_t i = 0; i < count && !found; i++) {
		LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, (unsigned)i);

		if (kind(node) == LLVMDIGlobalVariableExpressionMetadataKind)
			found = LLVMDIGlobalVariableExpressionGetVariable(node);
	}
	LLVMDisposeValueMetadataEntries(entries);
	return found;
}
