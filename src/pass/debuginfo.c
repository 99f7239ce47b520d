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
	SUBPROGRAM_NAME = 2,
	SUBPROGRAM_LINKAGE_NAME = 3,
	SUBPROGRAM_TYPE = 4,
	SUBPROGRAM_DECLARATION = 6,
	VARIABLE_NAME = 1,
	VARIABLE_TYPE = 3,
	DERIVED_BASE = 5,
	COMPOSITE_BASE = 5,
	COMPOSITE_ELEMENTS = 6,
	SUBROUTINE_TYPES = 5,
};

/* DWARF tags. */
enum {
	TAG_ARRAY = 0x01,
	TAG_CLASS = 0x02,
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

static LLVMMetadataRef operand(LLVMMetadataRef node, unsigned n)
{
	LLVMValueRef value, *operands;
	LLVMMetadataRef found = NULL;
	unsigned count;

	if (!node)
		return NULL;
	value = LLVMMetadataAsValue(context, node);
	count = LLVMGetMDNodeNumOperands(value);
	if (n >= count)
		return NULL;
	operands = malloc(count * sizeof *operands);
	LLVMGetMDNodeOperands(value, operands);
	if (operands[n])
		found = LLVMValueAsMetadata(operands[n]);
	free(operands);
	return found;
}

static unsigned operand_count(LLVMMetadataRef node)
{
	return node ? LLVMGetMDNodeNumOperands(LLVMMetadataAsValue(context, node)) : 0;
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

const char *di_file(LLVMMetadataRef scope)
{
	LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
	unsigned length = 0;
	const char *name = file ? LLVMDIFileGetFilename(file, &length) : NULL;
	char text[4096];

	if (!name || !length)
		return "";
	snprintf(text, sizeof text, "%.*s", (int)length, name);
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

const char *di_type_name(LLVMMetadataRef type)
{
	LLVMMetadataRef named = type;

	/* The tag if there is one, else the typedef that leads to it. */
	for (; type; type = operand(type, DERIVED_BASE)) {
		if (*di_name(type))
			named = type;
		if (kind(type) != LLVMDIDerivedTypeMetadataKind)
			break;
	}
	return di_name(type && *di_name(type) ? type : named);
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

static void append(char *path, size_t room, const char *dot, const char *text)
{
	size_t used = strlen(path);

	if (used < room)
		snprintf(path + used, room - used, "%s%s", used ? dot : "", text);
}

bool di_member_at(LLVMMetadataRef type, uint64_t offset, uint64_t size, char *path, size_t room,
		  bool *bitfield, bool *array)
{
	LLVMMetadataRef elements;
	unsigned count;

	type = di_strip(type);
	if (has_tag(type, TAG_ARRAY)) {
		LLVMMetadataRef element = di_strip(operand(type, COMPOSITE_BASE));
		uint64_t step = element ? LLVMDITypeGetSizeInBits(element) / 8 : 0;

		*array = true;
		append(path, room, "", "[]");
		if (di_is_struct(element) && step && size < step)
			di_member_at(element, offset % step, size, path, room, bitfield, array);
		return true;
	}
	if (!di_is_struct(type))
		return false;
	elements = operand(type, COMPOSITE_ELEMENTS);
	count = operand_count(elements);
	for (unsigned i = 0; i < count; i++) {
		LLVMMetadataRef member = operand(elements, i), of;
		uint64_t begin, bits;

		if (!has_tag(member, TAG_MEMBER) && !has_tag(member, TAG_INHERITANCE))
			continue;
		if (di_flags(member) & LLVMDIFlagStaticMember)
			continue;
		begin = LLVMDITypeGetOffsetInBits(member);
		of = di_strip(operand(member, DERIVED_BASE));
		bits = has_tag(member, TAG_INHERITANCE) ? (of ? LLVMDITypeGetSizeInBits(of) : 0)
							: LLVMDITypeGetSizeInBits(member);
		if (di_flags(member) & LLVMDIFlagBitField) {
			/* The access covers a storage unit: the first bit-field in it names it. */
			if (begin / 8 < offset || begin / 8 >= offset + size)
				continue;
			append(path, room, ".", di_name(member));
			*bitfield = true;
			return true;
		}
		if (offset < begin / 8 || offset >= (begin + bits + 7) / 8)
			continue;
		if (!has_tag(member, TAG_INHERITANCE) && *di_name(member))
			append(path, room, ".", di_name(member));
		if (size < bits / 8)
			di_member_at(of, offset - begin / 8, size, path, room, bitfield, array);
		return true;
	}
	return false;
}

/* ---- types by LLVM's name ---- */

struct named {
	const char *name;
	LLVMMetadataRef type;
};
static struct named *types;
static size_t type_count, type_room;
static LLVMMetadataRef *seen;
static size_t seen_count, seen_room;

static size_t seen_slot(LLVMMetadataRef node)
{
	size_t at = ((size_t)node >> 4) * 0x9e3779b97f4a7c15ull >> 20 & (seen_room - 1);

	while (seen[at] && seen[at] != node)
		at = (at + 1) & (seen_room - 1);
	return at;
}

static bool see(LLVMMetadataRef node)
{
	size_t at;

	if (seen_count * 2 >= seen_room) {
		LLVMMetadataRef *old = seen;
		size_t old_room = seen_room;

		seen_room = old_room ? old_room * 2 : 4096;
		seen = calloc(seen_room, sizeof *seen);
		for (size_t i = 0; i < old_room; i++)
			if (old[i])
				seen[seen_slot(old[i])] = old[i];
		free(old);
	}
	at = seen_slot(node);
	if (seen[at])
		return false;
	seen[at] = node;
	seen_count++;
	return true;
}

/* LLVM names a C++ struct with its scopes: ns::outer::name. */
static void qualified(LLVMMetadataRef type, char *text, size_t room)
{
	LLVMMetadataRef scope = di_scope(type);
	const char *name = di_name(type);

	if (scope && (kind(scope) == LLVMDINamespaceMetadataKind || di_is_struct(scope))) {
		const char *outer;

		if (di_is_struct(scope)) {
			qualified(scope, text, room);
		} else {
			LLVMMetadataRef parent = di_scope(scope);

			if (parent && kind(parent) == LLVMDINamespaceMetadataKind) {
				append(text, room, "::", operand_text(parent, 2));
			}
			outer = operand_text(scope, 2);
			append(text, room, "::", *outer ? outer : "(anonymous namespace)");
		}
	}
	append(text, room, "::", name);
}

static void name_type(LLVMMetadataRef named_by, LLVMMetadataRef type)
{
	char text[1024] = "";

	qualified(named_by, text, sizeof text);
	if (type_count == type_room) {
		type_room = type_room ? type_room * 2 : 256;
		types = realloc(types, type_room * sizeof *types);
	}
	types[type_count++] = (struct named){note_text(text), type};
}

static void collect(LLVMMetadataRef type)
{
	unsigned count;
	LLVMMetadataRef elements;

	/* A worklist would save the stack; chains of types are short, nodes seen once. */
	if (!type || !see(type))
		return;
	switch (kind(type)) {
	case LLVMDIDerivedTypeMetadataKind: {
		LLVMMetadataRef base = operand(type, DERIVED_BASE);

		/* A struct without a tag goes by its typedef's name. */
		if (has_tag(type, TAG_TYPEDEF) && di_is_struct(base) && !*di_name(base))
			name_type(type, base);
		collect(base);
		return;
	}
	case LLVMDISubroutineTypeMetadataKind:
		elements = operand(type, SUBROUTINE_TYPES);
		break;
	case LLVMDICompositeTypeMetadataKind:
		if (has_tag(type, TAG_ARRAY)) {
			collect(operand(type, COMPOSITE_BASE));
			return;
		}
		elements = operand(type, COMPOSITE_ELEMENTS);
		if (elements && *di_name(type))
			name_type(type, type);
		break;
	default:
		return;
	}
	count = operand_count(elements);
	for (unsigned i = 0; i < count; i++) {
		LLVMMetadataRef element = operand(elements, i);

		if (element && kind(element) != LLVMDISubprogramMetadataKind)
			collect(element);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

void di_types_collect(LLVMModuleRef module)
{
	context = LLVMGetModuleContext(module);
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
		LLVMMetadataRef variable = di_global(g);

		if (variable)
			collect(di_variable_type(variable));
	}
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		LLVMMetadataRef subprogram = LLVMGetSubprogram(f);

		if (!subprogram)
			continue;
		collect(operand(subprogram, SUBPROGRAM_TYPE));
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
				for (LLVMDbgRecordRef r = LLVMGetFirstDbgRecord(i); r;
				     r = LLVMGetNextDbgRecord(r))
					if (LLVMDbgRecordGetKind(r) != LLVMDbgRecordLabel)
						collect(di_variable_type(
							LLVMDbgVariableRecordGetVariable(r)));
	}
	qsort(types, type_count, sizeof *types, by_name);
}

LLVMMetadataRef di_type_of_struct(const char *name)
{
	const char *dot = strchr(name, '.');
	char text[1024];
	struct named key = {text, NULL}, *found;
	size_t length;

	/* "struct.node", or "struct.node.12" where names met. */
	snprintf(text, sizeof text, "%s", dot ? dot + 1 : name);
	found = bsearch(&key, types, type_count, sizeof *types, by_name);
	length = strlen(text);
	while (!found && length && text[length - 1] >= '0' && text[length - 1] <= '9')
		length--;
	if (!found && length && text[length] && text[length - 1] == '.') {
		text[length - 1] = 0;
		found = bsearch(&key, types, type_count, sizeof *types, by_name);
	}
	return found ? found->type : NULL;
}

void di_types_forget(void)
{
	free(types);
	free(seen);
	types = NULL;
	seen = NULL;
	type_count = type_room = seen_count = seen_room = 0;
}
