/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Names of types, and which type LLVM means by one. LLVM names a struct after
 * its tag and scopes ("struct.node", "class.std::pair"), leaves out a template's
 * own arguments, and appends a number where names meet ("class.std::pair.12"),
 * so names are compared without arguments and numbers, and sizes decide.
 */
#include "pass/pass.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is known of a type, by node ---- */

struct info {
	LLVMMetadataRef type;   /* NULL: free */
	LLVMMetadataRef alias;  /* the typedef that names it */
	const char *name, *key; /* NULL: not asked for yet */
	bool walked;
};
static struct info *infos;
static size_t info_count, info_room;

static size_t info_slot(LLVMMetadataRef type)
{
	size_t at = ((size_t)type >> 4) * 0x9e3779b97f4a7c15ull >> 20 & (info_room - 1);

	while (infos[at].type && infos[at].type != type)
		at = (at + 1) & (info_room - 1);
	return at;
}

/* Valid until the next call with another type. */
static struct info *info(LLVMMetadataRef type)
{
	size_t at;

	if (info_count * 2 >= info_room) {
		struct info *old = infos;
		size_t old_room = info_room;

		info_room = old_room ? old_room * 2 : 4096;
		infos = calloc(info_room, sizeof *infos);
		for (size_t i = 0; i < old_room; i++)
			if (old[i].type)
				infos[info_slot(old[i].type)] = old[i];
		free(old);
	}
	at = info_slot(type);
	if (!infos[at].type) {
		infos[at].type = type;
		info_count++;
	}
	return &infos[at];
}

/* ---- names ---- */

static void append(char *text, size_t room, const char *part)
{
	size_t used = strlen(text);

	snprintf(text + used, room - used, "%s%s", used ? "::" : "", part);
}

static void scopes(LLVMMetadataRef of, char *text, size_t room)
{
	LLVMMetadataRef scope = di_scope(of);

	if (!scope)
		return;
	if (LLVMGetMetadataKind(scope) == LLVMDINamespaceMetadataKind) {
		scopes(scope, text, room);
		append(text, room, *di_name(scope) ? di_name(scope) : "(anonymous namespace)");
	} else if (di_is_struct(scope)) {
		append(text, room, types_name(scope));
	}
}

/* Clang calls a lambda's type a class without a name, which nothing else is in practice. */
static const char *unnamed(LLVMMetadataRef type)
{
	return di_is_union(type)   ? "(anonymous union)"
	       : di_is_class(type) ? "(lambda)"
				   : "(anonymous struct)";
}

const char *types_name(LLVMMetadataRef type)
{
	char text[2048] = "";
	LLVMMetadataRef named, function;
	const char *name;

	type = di_strip(type);
	if (!di_is_struct(type))
		return type ? di_name(type) : "";
	if (info(type)->name)
		return info(type)->name;
	named = !*di_name(type) && info(type)->alias ? info(type)->alias : type;
	scopes(named, text, sizeof text);
	name = di_name(named);
	function = *name ? NULL : di_subprogram(di_scope(type));
	if (function)
		append(text, sizeof text, di_name(function));
	append(text, sizeof text, *name ? name : unnamed(type));
	name = note_text(text);
	info(type)->name = name;
	return name;
}

/* Without template arguments, at any depth. */
static void strip_arguments(const char *name, char *key, size_t room)
{
	size_t used = 0;
	int depth = 0;

	for (; *name && used + 1 < room; name++) {
		depth += *name == '<';
		if (!depth)
			key[used++] = *name;
		depth -= *name == '>' && depth;
	}
	key[used] = 0;
}

/* Interned, so that equal keys are one pointer. */
static const char *key_of(LLVMMetadataRef type)
{
	char key[1024];
	const char *found;

	if (info(type)->key)
		return info(type)->key;
	strip_arguments(types_name(type), key, sizeof key);
	found = *di_name(type) || info(type)->alias ? note_text(key) : note_text("anon");
	info(type)->key = found;
	return found;
}

/* "class.std::pair.12" -> "std::pair". A base class without its tail padding is called "A.base". */
static const char *key_of_llvm(const char *name, bool *shortened)
{
	const char *dot = strchr(name, '.');
	char key[1024];
	size_t length;

	strip_arguments(dot ? dot + 1 : name, key, sizeof key);
	length = strlen(key);
	while (length && isdigit((unsigned char)key[length - 1]))
		length--;
	if (length && key[length] && key[length - 1] == '.')
		key[length - 1] = 0;
	length = strlen(key);
	*shortened = length > 5 && !strcmp(key + length - 5, ".base");
	if (*shortened)
		key[length - 5] = 0;
	return note_text(key);
}

static bool fits(LLVMMetadataRef type, uint64_t size, bool shortened)
{
	return shortened ? size <= di_size(type) : size == di_size(type);
}

bool types_match(LLVMMetadataRef type, const char *llvm_name, uint64_t size)
{
	bool shortened;
	const char *key = key_of_llvm(llvm_name, &shortened);

	return di_is_struct(type) && key_of(type) == key && fits(type, size, shortened);
}

/* ---- types by LLVM's name ---- */

struct named {
	const char *key;
	LLVMMetadataRef type;
};
static struct named *types;
static size_t type_count, type_room;
static LLVMMetadataRef *waiting;
static size_t waiting_count, waiting_room;

static void wait_for(LLVMMetadataRef type)
{
	if (!type || info(type)->walked)
		return;
	info(type)->walked = true;
	if (waiting_count == waiting_room) {
		waiting_room = waiting_room ? waiting_room * 2 : 256;
		waiting = realloc(waiting, waiting_room * sizeof *waiting);
	}
	waiting[waiting_count++] = type;
}

static void add(LLVMMetadataRef type)
{
	if (type_count == type_room) {
		type_room = type_room ? type_room * 2 : 256;
		types = realloc(types, type_room * sizeof *types);
	}
	types[type_count++] = (struct named){NULL, type};
}

static void walk(LLVMMetadataRef type)
{
	LLVMMetadataRef base, elements;
	unsigned count;

	wait_for(type);
	while (waiting_count) {
		type = waiting[--waiting_count];
		base = di_base(type);
		elements = di_elements(type);
		count = di_count(elements);
		/* A struct without a tag goes by its typedef's name; a lambda's typedefs are a template's. */
		if (base && di_is_typedef(type) && di_is_struct(base) && !di_is_class(base) &&
		    !*di_name(base))
			info(base)->alias = type;
		if (elements && di_is_struct(type))
			add(type);
		wait_for(base);
		for (unsigned i = 0; i < count; i++) {
			LLVMMetadataRef element = di_element(elements, i);

			if (element && LLVMGetMetadataKind(element) != LLVMDISubprogramMetadataKind)
				wait_for(element);
		}
	}
}

static int by_key(const void *a, const void *b)
{
	const struct named *one = a, *other = b;

	return one->key < other->key ? -1 : one->key > other->key;
}

static void walk_units(LLVMModuleRef module)
{
	unsigned count = LLVMGetNamedMetadataNumOperands(module, "llvm.dbg.cu");
	LLVMValueRef *units = malloc((count + 1) * sizeof *units);

	LLVMGetNamedMetadataOperands(module, "llvm.dbg.cu", units);
	for (unsigned i = 0; i < count; i++)
		walk(LLVMValueAsMetadata(units[i]));
	free(units);
}

static void walk_function(LLVMValueRef function)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);

	if (!subprogram)
		return;
	walk(di_signature(subprogram));
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			for (LLVMDbgRecordRef r = LLVMGetFirstDbgRecord(i); r; r = LLVMGetNextDbgRecord(r))
				if (LLVMDbgRecordGetKind(r) != LLVMDbgRecordLabel)
					walk(di_variable_type(LLVMDbgVariableRecordGetVariable(r)));
}

void types_collect(LLVMModuleRef module)
{
	walk_units(module);
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
		LLVMMetadataRef variable = di_global(g);

		if (variable)
			walk(di_variable_type(variable));
	}
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		walk_function(f);
	for (size_t i = 0; i < type_count; i++)
		types[i].key = key_of(types[i].type);
	qsort(types, type_count, sizeof *types, by_key);
}

LLVMMetadataRef types_nth(size_t i)
{
	return i < type_count ? types[i].type : NULL;
}

LLVMMetadataRef types_find(const char *llvm_name, uint64_t size, const char **name)
{
	bool shortened;
	struct named key = {key_of_llvm(llvm_name, &shortened), NULL};
	struct named *found = bsearch(&key, types, type_count, sizeof *types, by_key),
		     *end = types + type_count;
	LLVMMetadataRef type = NULL;

	*name = key.key;
	/* Nobody can tell types without a name apart. */
	if (!found || !strcmp(key.key, "anon"))
		return NULL;
	while (found > types && found[-1].key == key.key)
		found--;
	for (; found < end && found->key == key.key; found++) {
		if (!fits(found->type, size, shortened))
			continue;
		/* Several instances of a template: the arguments are anybody's guess. */
		*name = type ? key.key : types_name(found->type);
		if (!type)
			type = found->type;
	}
	return type;
}

void types_forget(void)
{
	free(infos);
	free(types);
	free(waiting);
	infos = NULL;
	types = NULL;
	waiting = NULL;
	info_count = info_room = type_count = type_room = waiting_count = waiting_room = 0;
}
