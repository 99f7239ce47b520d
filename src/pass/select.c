/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is left out because the user named it: ATOMSAN_IGNORE,
 * disable_sanitizer_instrumentation, lines of spec files that begin with ignore
 * (model/spec.h reads all of them, and these once more).
 */
#include "pass/pass.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- spec files: ignore function|file|type|variable GLOB, ignore member TYPE.MEMBER ---- */

struct pattern {
	char kind; /* 'u' function, 'i' file, 't' type, 'v' variable, 'm' member */
	char *glob;
};
static struct pattern *patterns;
static size_t pattern_count;
static bool specs_read;

static void add_pattern(char kind, const char *glob)
{
	patterns = realloc(patterns, (pattern_count + 1) * sizeof *patterns);
	patterns[pattern_count++] = (struct pattern){kind, strdup(glob)};
}

/* Brackets belong to the names of members ("items[]"); and a member is all that lies in it. */
void select_ignore(char kind, const char *name)
{
	char quoted[4096];
	size_t used = 0;

	if (kind != 'm') {
		add_pattern(kind, name);
		return;
	}
	for (; *name && used + 8 < sizeof quoted; name++) {
		if (*name == '[')
			quoted[used++] = '\\';
		quoted[used++] = *name;
	}
	quoted[used] = 0;
	add_pattern('m', quoted);
	strcpy(quoted + used, ".*");
	add_pattern('m', quoted);
	strcpy(quoted + used, "\\[*");
	add_pattern('m', quoted);
}

static void spec_line(const char *path, int number, char *line)
{
	char verb[32] = "", what[32] = "", glob[512] = "", rest[8] = "";
	int parts = sscanf(line, "%31s %31s %511s %7s", verb, what, glob, rest);
	char kind = !strcmp(what, "function")   ? 'u'
		    : !strcmp(what, "file")     ? 'i'
		    : !strcmp(what, "type")     ? 't'
		    : !strcmp(what, "variable") ? 'v'
		    : !strcmp(what, "member")   ? 'm'
						: 0;

	if (parts < 1 || verb[0] == '#')
		return;
	if (strcmp(verb, "ignore"))
		return; /* for other parts of atomsan */
	/* A word with blanks is for those who read it later; nothing is lost by it here. */
	if (glob[0] == '"')
		return;
	if (parts < 3 || !kind || (parts > 3 && rest[0] != '#')) {
		fprintf(stderr,
			"atomsan: %s:%d: expected 'ignore function|file|type|variable GLOB' or 'ignore "
			"member "
			"TYPE.MEMBER'\n",
			path, number);
		shim_leave();
	}
	/* So is a variable of one file. */
	if (kind != 'v' || !strchr(glob, ':'))
		select_ignore(kind, glob);
}

static void read_specs(void)
{
	char *list = getenv("ATOMSAN_SPEC") ? strdup(getenv("ATOMSAN_SPEC")) : NULL, *rest = list, *path;

	specs_read = true;
	while (list && (path = strsep(&rest, ":"))) {
		FILE *file;
		char *line = NULL;
		size_t room = 0;
		int number = 0;

		if (!*path)
			continue;
		file = fopen(path, "r");
		if (!file) {
			fprintf(stderr, "atomsan: cannot read the spec file %s\n", path);
			shim_leave();
		}
		while (getline(&line, &room, file) > 0)
			spec_line(path, ++number, line);
		free(line);
		fclose(file);
	}
	free(list);
}

static bool matches(char kind, const char *text)
{
	for (size_t i = 0; i < pattern_count; i++)
		if (patterns[i].kind == kind && !fnmatch(patterns[i].glob, text, 0))
			return true;
	return false;
}

bool select_variable_ignored(const char *name)
{
	return matches('v', name);
}

bool select_type_ignored(const char *type)
{
	return *type && matches('t', type);
}

bool select_member_ignored(const char *type, const char *member)
{
	char both[3000];

	if (!*type || !*member)
		return false;
	snprintf(both, sizeof both, "%s.%s", type, member);
	return matches('m', both);
}

/* ---- annotations ---- */

#define IGNORED "atomsan-ignore"

void select_ignore_variable(LLVMValueRef global)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(global));

	LLVMGlobalSetMetadata(global, LLVMGetMDKindIDInContext(context, IGNORED, strlen(IGNORED)),
			      LLVMMDNodeInContext2(context, NULL, 0));
}

static void ignore_annotated(LLVMModuleRef module)
{
	LLVMValueRef list = LLVMGetNamedGlobal(module, "llvm.global.annotations");
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMValueRef all = list ? LLVMGetInitializer(list) : NULL;

	for (int i = 0; all && i < LLVMGetNumOperands(all); i++) {
		LLVMValueRef entry = LLVMGetOperand(all, (unsigned)i), thing, text;
		size_t length = 0;
		const char *bytes;

		if (LLVMGetNumOperands(entry) < 2)
			continue;
		thing = LLVMGetOperand(entry, 0);
		text = LLVMGetOperand(entry, 1);
		text = LLVMIsAGlobalVariable(text) ? LLVMGetInitializer(text) : NULL;
		bytes = text && LLVMIsConstantString(text) ? LLVMGetAsString(text, &length) : NULL;
		if (!bytes || strncmp(bytes, "atomsan.ignore", length < 15 ? length : 15))
			continue;
		if (LLVMIsAFunction(thing))
			LLVMAddAttributeAtIndex(
				thing, LLVMAttributeFunctionIndex,
				LLVMCreateStringAttribute(context, IGNORED, strlen(IGNORED), "", 0));
		else if (LLVMIsAGlobalVariable(thing))
			select_ignore_variable(thing);
	}
}

bool select_global_ignored(LLVMValueRef global)
{
	unsigned kind =
		LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(global)), IGNORED, strlen(IGNORED));
	size_t count;
	LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
	bool found = false;

	for (unsigned i = 0; i < count; i++)
		found |= LLVMValueMetadataEntriesGetKind(entries, i) == kind;
	LLVMDisposeValueMetadataEntries(entries);
	if (!found && pattern_count) {
		LLVMMetadataRef variable = di_global(global);

		found = variable && select_variable_ignored(di_name(variable));
	}
	return found;
}

void select_begin(LLVMModuleRef module)
{
	if (!specs_read)
		read_specs();
	ignore_annotated(module);
}

static bool has_enum_attribute(LLVMValueRef function, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	return kind && LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
}

bool select_function_ignored(LLVMValueRef function)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	size_t length;
	const char *name = LLVMGetValueName2(function, &length);

	return LLVMIsDeclaration(function) || LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage ||
	       !strncmp(name, "__atomsan_", 10) || !strncmp(name, "atomsan.", 8) ||
	       has_enum_attribute(function, "naked") ||
	       has_enum_attribute(function, "disable_sanitizer_instrumentation") ||
	       LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, IGNORED,
					     strlen(IGNORED)) ||
	       matches('u', name) ||
	       (subprogram && (matches('u', di_name(subprogram)) || matches('i', di_file(subprogram))));
}
