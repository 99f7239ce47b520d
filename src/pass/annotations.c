/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the macros of atomsan/atomsan.h say becomes lines of the spec file
 * language in section atomsan_spec, so that there is one mechanism for the
 * user's word. Who carries an annotation to us:
 *
 *   functions, variables       llvm.global.annotations
 *   parameters                 calls of llvm.var.annotation on their allocas
 *   members, structs, in C     debug information (btf_decl_tag)
 *   members in C++             calls of llvm.ptr.annotation where they are accessed
 *   structs in C++             nothing; a pointer variable that the macro defines stands for them
 *
 * The calls have done their duty then and are removed: code is as it would be
 * without annotations.
 */
#include "pass/pass.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "atomsan."
#define MEMBER_NOTE "llvm.ptr.annotation"

/* ---- text ---- */

static char *text;
static size_t length;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...)
{
	va_list arguments;
	char *more = NULL;
	int size;

	va_start(arguments, format);
	size = vasprintf(&more, format, arguments);
	va_end(arguments);
	if (size < 0)
		return;
	text = realloc(text, length + (size_t)size + 1);
	memcpy(text + length, more, (size_t)size + 1);
	length += (size_t)size;
	free(more);
}

static void put_word(const char *word)
{
	if (*word && !strpbrk(word, " \t\"#\\")) {
		put(" %s", word);
		return;
	}
	put(" \"");
	for (; *word; word++)
		put(strchr("\"\\", *word) ? "\\%c" : "%c", *word);
	put("\"");
}

struct annotation {
	const char *what;  /* without the prefix and the value: "set" */
	const char *value; /* "" if none */
	const char *file;
	unsigned line;
};

static void put_line(const struct annotation *a, const char *statement, const char *const *words)
{
	put("#line %u %s\n%s", a->line, *a->file ? a->file : "?", statement);
	for (; *words; words++)
		put_word(*words);
	put("\n");
}
#define PUT(annotation, statement, ...) \
	put_line(annotation, statement, (const char *const[]){__VA_ARGS__, NULL})

static void complain(const struct annotation *a, const char *message)
{
	fprintf(stderr, "%s:%u: warning: atomsan: %s\n", *a->file ? a->file : "?", a->line, message);
}

/* False if it is not one of ours. */
static bool read_text(const char *from, struct annotation *a)
{
	const char *equals;
	char what[32];

	if (strncmp(from, PREFIX, strlen(PREFIX)))
		return false;
	from += strlen(PREFIX);
	equals = strchr(from, '=');
	snprintf(what, sizeof what, "%.*s", equals ? (int)(equals - from) : (int)strlen(from), from);
	a->what = note_text(what);
	a->value = equals ? note_text(equals + 1) : "";
	return true;
}

/* A set's name is a word of a line. */
static bool has_good_name(const struct annotation *a)
{
	const char *c = a->value;

	while ((unsigned char)*c >= ' ')
		c++;
	if (*a->value && !*c)
		return true;
	complain(a, "a set needs a name, and that is one line of text");
	return false;
}

static bool is(const struct annotation *a, const char *what)
{
	return !strcmp(a->what, what);
}

/* ---- what is annotated ---- */

static void say_function(const struct annotation *a, LLVMValueRef function)
{
	size_t size;
	const char *name = note_text(LLVMGetValueName2(function, &size));

	if (is(a, "unit") || is(a, "notunit") || is(a, "wait") || is(a, "ignore"))
		PUT(a, a->what, "function", name);
	else
		complain(a, "this annotation is not for functions");
}

/* A static variable is one of its file. */
static const char *variable_name(LLVMValueRef global)
{
	LLVMMetadataRef variable = di_global(global);
	const char *file = variables_file(variable), *slash = strrchr(file, '/');
	const char *name;
	char both[1024];
	size_t size;

	name = variable && *di_name(variable) ? di_name(variable) : LLVMGetValueName2(global, &size);
	if (LLVMGetLinkage(global) != LLVMInternalLinkage || !*file)
		return note_text(name);
	snprintf(both, sizeof both, "%s:%s", slash ? slash + 1 : file, name);
	return note_text(both);
}

static void say_type(const struct annotation *a, LLVMMetadataRef type)
{
	const char *name = types_name(type);

	if (is(a, "merge") || is(a, "merge-type")) {
		if (has_good_name(a))
			PUT(a, "merge", a->value, "type", name);
	} else if (is(a, "ignore") || is(a, "ignore-type")) {
		PUT(a, "ignore", "type", name);
		select_ignore('t', name);
	} else {
		complain(a, "this annotation is not for structs");
	}
}

static void say_variable(const struct annotation *a, LLVMValueRef global)
{
	LLVMMetadataRef variable = di_global(global);

	if (is(a, "merge-type") || is(a, "ignore-type")) {
		LLVMMetadataRef type = variable ? di_pointee(di_variable_type(variable)) : NULL;

		if (type && di_is_struct(type))
			say_type(a, type);
		else
			complain(a, "this is no struct, class or union that is known here");
	} else if (is(a, "set") || is(a, "merge")) {
		if (has_good_name(a))
			PUT(a, a->what, a->value, "variable", variable_name(global));
	} else if (is(a, "ignore")) {
		PUT(a, "ignore", "variable", variable_name(global));
	} else {
		complain(a, "this annotation is not for variables");
	}
}

/* The set of an inner struct's members is the inner struct's: "limits.range". The member's type may be NULL.
 */
static void say_member(const struct annotation *a, const char *type, const char *path, LLVMMetadataRef member)
{
	const char *dot = strrchr(path, '.');
	char both[2600], set[800];

	snprintf(both, sizeof both, "%s.%s", type, path);
	snprintf(set, sizeof set, "%.*s%s", dot ? (int)(dot - path) + 1 : 0, path, a->value);
	if (is(a, "set")) {
		if (has_good_name(a))
			PUT(a, "set", set, both);
	} else if (is(a, "owned") || is(a, "notowned")) {
		/* A pointer may be kept as a number of its size. */
		if (di_is_number(member) && di_size(member) < sizeof(uint64_t))
			complain(a, "this annotation is for pointers, and this member is a number");
		else
			PUT(a, a->what, both);
	} else if (is(a, "ignore")) {
		PUT(a, "ignore", "member", both);
		select_ignore('m', both);
	} else {
		complain(a, "this annotation is not for members");
	}
}

static void say_parameter(const struct annotation *a, LLVMValueRef place)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(place));
	LLVMMetadataRef type;
	struct local *local;
	size_t size;

	follow_begin(function);
	local = follow_local(place);
	type = local && local->parameter && local->variable ? di_pointee(di_variable_type(local->variable))
							    : NULL;
	if (!is(a, "unitfor"))
		complain(a, "this annotation is not for parameters and local variables");
	else if (!type || !di_is_struct(type))
		complain(a, "ATOMSAN_UNITFOR needs a parameter that points or refers to a struct");
	else
		PUT(a, "unitfor", "function", note_text(LLVMGetValueName2(function, &size)),
		    types_name(type));
}

/* ---- debug information ---- */

/* Members as sites name them: from every struct down into those inside it. */
static void members_of(LLVMMetadataRef owner, LLVMMetadataRef type, const char *path, int depth)
{
	LLVMMetadataRef elements = di_elements(type);
	unsigned count = di_count(elements);

	for (unsigned i = 0; i < count && depth < 6; i++) {
		LLVMMetadataRef member = di_element(elements, i), inner;
		const char *name = member ? di_name(member) : "", *tag;
		char longer[400];

		if (!member || !di_is_member(member) || di_is_base(member))
			continue;
		inner = di_strip(di_base(member));
		snprintf(longer, sizeof longer, "%s%s%s", path, *path && *name ? "." : "", name);
		for (unsigned n = 0; (tag = di_annotation(member, n)); n++) {
			struct annotation a = {.file = di_file(type), .line = LLVMDITypeGetLine(member)};

			if (read_text(tag, &a))
				say_member(&a, types_name(owner), longer, inner);
		}
		while (di_is_array(inner)) {
			inner = di_strip(di_base(inner));
			if (strlen(longer) + 3 < sizeof longer)
				strcat(longer, "[]");
		}
		if (di_is_struct(inner))
			members_of(owner, inner, longer, depth + 1);
	}
}

/* Most units have none, and C++ has none at all. */
static bool any_member_tagged(void)
{
	LLVMMetadataRef type;

	for (size_t i = 0; (type = types_nth(i)); i++) {
		LLVMMetadataRef elements = di_elements(type);
		unsigned count = di_count(elements);

		for (unsigned n = 0; n < count; n++)
			if (di_element(elements, n) && di_annotation(di_element(elements, n), 0))
				return true;
	}
	return false;
}

static void from_types(void)
{
	LLVMMetadataRef type;
	bool members = any_member_tagged();

	for (size_t i = 0; (type = types_nth(i)); i++) {
		const char *tag;

		for (unsigned n = 0; (tag = di_annotation(type, n)); n++) {
			struct annotation a = {.file = di_file(type), .line = LLVMDITypeGetLine(type)};

			if (read_text(tag, &a))
				say_type(&a, type);
		}
		if (members)
			members_of(type, type, "", 0);
	}
}

/* ---- what nobody has to say ---- */

/* A lock that lies in the struct. Those of an array are each for something else. */
static bool has_lock(LLVMMetadataRef type, int depth)
{
	static const char *const locks[] = {"pthread_mutex_t",
					    "pthread_rwlock_t",
					    "pthread_spinlock_t",
					    "mtx_t",
					    "std::mutex",
					    "std::timed_mutex",
					    "std::recursive_mutex",
					    "std::recursive_timed_mutex",
					    "std::shared_mutex",
					    "std::shared_timed_mutex",
					    NULL};
	LLVMMetadataRef elements = di_elements(type);
	unsigned count = di_count(elements);

	for (unsigned i = 0; i < count && depth < 6; i++) {
		LLVMMetadataRef member = di_element(elements, i), inner;

		if (!member || !di_is_member(member))
			continue;
		inner = di_strip(di_base(member));
		if (di_goes_by(di_base(member), locks) || (di_is_struct(inner) && has_lock(inner, depth + 1)))
			return true;
	}
	return false;
}

/* Instances of structs that have a lock are sets by themselves, whoever they are reached from. */
static void from_locks(void)
{
	LLVMMetadataRef type;

	for (size_t i = 0; (type = types_nth(i)); i++) {
		struct annotation a = {
			.what = "guarded", .file = di_file(type), .line = LLVMDITypeGetLine(type)};
		const char *name = types_name(type);

		if (*name && !elements_librarys(name) && has_lock(type, 0))
			PUT(&a, "guarded", "type", name);
	}
}

/* ---- the module ---- */

static const char *string_of(LLVMValueRef pointer)
{
	LLVMValueRef content = LLVMIsAGlobalVariable(pointer) ? LLVMGetInitializer(pointer) : NULL;
	const char *bytes;
	char copy[1024];
	size_t size;

	if (!content || !LLVMIsConstantString(content))
		return "";
	bytes = LLVMGetAsString(content, &size);
	snprintf(copy, sizeof copy, "%.*s", (int)size, bytes);
	return note_text(copy);
}

/* The operands after the thing itself: text, file, line. */
static bool read_operands(LLVMValueRef of, struct annotation *a)
{
	LLVMValueRef line = LLVMGetOperand(of, 3);

	*a = (struct annotation){.file = string_of(LLVMGetOperand(of, 2)),
				 .line = LLVMIsAConstantInt(line) ? (unsigned)LLVMConstIntGetZExtValue(line)
								  : 0};
	return read_text(string_of(LLVMGetOperand(of, 1)), a);
}

/* In C, what is meant for members and variables is a part of debug information, and can stand on functions by
 * mistake. To be ignored they are told above. */
static void tags_of_functions(LLVMModuleRef module)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		LLVMMetadataRef subprogram = LLVMGetSubprogram(f);
		const char *tag;

		for (unsigned n = 0; subprogram && (tag = di_annotation(subprogram, n)); n++) {
			struct annotation a = {.file = di_file(subprogram),
					       .line = LLVMDISubprogramGetLine(subprogram)};

			if (read_text(tag, &a) && !is(&a, "ignore"))
				say_function(&a, f);
		}
	}
}

static void from_globals(LLVMModuleRef module)
{
	LLVMValueRef list = LLVMGetNamedGlobal(module, "llvm.global.annotations"), all, tagged;
	struct annotation a;

	all = list ? LLVMGetInitializer(list) : NULL;
	for (int i = 0; all && i < LLVMGetNumOperands(all); i++) {
		LLVMValueRef entry = LLVMGetOperand(all, (unsigned)i), thing;

		if (LLVMGetNumOperands(entry) < 4 || !read_operands(entry, &a))
			continue;
		thing = LLVMGetOperand(entry, 0);
		if (LLVMIsAFunction(thing))
			say_function(&a, thing);
		else if (LLVMIsAGlobalVariable(thing))
			say_variable(&a, thing);
	}
	for (tagged = LLVMGetFirstGlobal(module); tagged; tagged = LLVMGetNextGlobal(tagged)) {
		LLVMMetadataRef variable = di_global(tagged);
		const char *tag;

		for (unsigned n = 0; variable && (tag = di_annotation(variable, n)); n++) {
			a = (struct annotation){.file = variables_file(variable),
						.line = LLVMDIVariableGetLine(variable)};
			if (!read_text(tag, &a))
				continue;
			say_variable(&a, tagged);
			if (is(&a, "ignore"))
				select_ignore_variable(tagged);
		}
	}
}

static bool is_member_note(LLVMValueRef value)
{
	LLVMValueRef callee = LLVMIsACallInst(value) ? LLVMGetCalledValue(value) : NULL;
	size_t size;

	return callee && !strncmp(LLVMGetValueName2(callee, &size), MEMBER_NOTE, strlen(MEMBER_NOTE));
}

/* Every access repeats it; one line is enough, but which it was is not known any more: the reader drops the
 * rest. */
static void say_accessed(const struct annotation *a, LLVMValueRef call)
{
	LLVMValueRef pointer = LLVMGetOperand(call, 0);
	struct cursor c;
	bool member;

	/* Of two annotations on a member, one is on the other's result. */
	while (is_member_note(pointer))
		pointer = LLVMGetOperand(pointer, 0);

	follow_begin(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
	follow(pointer, &c, &member, 0);
	cursor_end(&c, 0, SHAPE_WHOLE);
	if (c.owner && *c.path)
		say_member(a, types_name(c.owner), c.path, di_strip(c.type));
}

static void from_calls(LLVMModuleRef module, const char *intrinsic,
		       void (*say)(const struct annotation *a, LLVMValueRef call))
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		LLVMUseRef use = LLVMGetFirstUse(f), next;
		struct annotation a;
		size_t size;

		if (strncmp(LLVMGetValueName2(f, &size), intrinsic, strlen(intrinsic)))
			continue;
		for (; use; use = next) {
			LLVMValueRef call = LLVMGetUser(use);

			next = LLVMGetNextUse(use);
			if (!LLVMIsACallInst(call) || !read_operands(call, &a))
				continue;
			say(&a, call);
			if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind)
				LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
			LLVMInstructionEraseFromParent(call);
			follow_forget();
		}
	}
}

static void say_annotated_local(const struct annotation *a, LLVMValueRef call)
{
	LLVMValueRef place = LLVMGetOperand(call, 0);

	if (LLVMIsAAllocaInst(place))
		say_parameter(a, place);
}

void annotations_collect(LLVMModuleRef module)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMValueRef content, global;

	length = 0;
	from_globals(module);
	tags_of_functions(module);
	from_types();
	from_locks();
	from_calls(module, "llvm.var.annotation", say_annotated_local);
	from_calls(module, MEMBER_NOTE, say_accessed);
	follow_forget();
	if (length) {
		content = LLVMConstStringInContext2(context, text, length, true);
		global = LLVMAddGlobal(module, LLVMTypeOf(content), "atomsan.spec");
		LLVMSetInitializer(global, content);
		LLVMSetLinkage(global, LLVMPrivateLinkage);
		LLVMSetGlobalConstant(global, true);
		LLVMSetSection(global, "atomsan_spec");
		LLVMSetAlignment(global, 1);
		util_keep(module, "llvm.used", &global, 1);
	}
	free(text);
	text = NULL;
}
