/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Entries of the tables in abi/hooks.h, one constant each in its section; the
 * linker lines them up. String fields are distances from the field to the
 * string, which the linker resolves, so that no start-up relocation is left.
 */
#include "pass/pass.h"

#include <llvm-c/Comdat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_SITES "atomsan_sites"
#define SECTION_FUNCTIONS "atomsan_fns"
#define SECTION_STRINGS "atomsan_str"
#define SECTION_VARIABLES "atomsan_vars"
#define SECTION_SPEC "atomsan_spec"

static LLVMModuleRef module;
static LLVMContextRef context;

/* Strings already in this module; their globals, by content. */
struct string {
	const char *text;
	LLVMValueRef global;
};
static struct string *strings;
static size_t string_count, string_room;

static size_t string_slot(const char *text)
{
	/* Texts are interned: equal means the same pointer. */
	size_t at = ((size_t)text >> 4) * 0x9e3779b97f4a7c15ull >> 24 & (string_room - 1);

	while (strings[at].text && strings[at].text != text)
		at = (at + 1) & (string_room - 1);
	return at;
}

static LLVMValueRef place(LLVMValueRef content, const char *section, unsigned alignment)
{
	LLVMValueRef global = LLVMAddGlobal(module, LLVMTypeOf(content), "atomsan.entry");

	LLVMSetInitializer(global, content);
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetGlobalConstant(global, true);
	LLVMSetSection(global, section);
	LLVMSetAlignment(global, alignment);
	return global;
}

/* The place of an interned text in the table, for which there is room; its global is still to be filled in
 * if the text is new. */
static struct string *string_at(const char *text)
{
	size_t at;

	if (string_count * 2 >= string_room) {
		struct string *old = strings;
		size_t old_room = string_room;

		string_room = old_room ? old_room * 2 : 1024;
		strings = calloc(string_room, sizeof *strings);
		for (size_t i = 0; i < old_room; i++)
			if (old[i].text)
				strings[string_slot(old[i].text)] = old[i];
		free(old);
	}
	at = string_slot(text);
	if (!strings[at].text) {
		strings[at].text = text;
		string_count++;
	}
	return &strings[at];
}

static LLVMValueRef string_global(const char *text)
{
	struct string *string = string_at(note_text(text));

	if (!string->global)
		string->global = place(LLVMConstStringInContext2(context, text, strlen(text), false),
				       SECTION_STRINGS, 1);
	return string->global;
}

/* What the module has now: the optimiser drops strings that only functions without a caller named. */
static void strings_collect(void)
{
	free(strings);
	strings = NULL;
	string_count = string_room = 0;
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
		const char *section = LLVMGetSection(g);
		size_t length;

		if (section && !strcmp(section, SECTION_STRINGS) && LLVMGetLinkage(g) == LLVMPrivateLinkage &&
		    LLVMIsConstantString(LLVMGetInitializer(g)))
			string_at(note_text(LLVMGetAsString(LLVMGetInitializer(g), &length)))->global = g;
	}
}

static LLVMTypeRef number_type(unsigned bits)
{
	return LLVMIntTypeInContext(context, bits);
}

static LLVMValueRef number(unsigned bits, uint64_t value)
{
	return LLVMConstInt(number_type(bits), value, false);
}

/* string - &entry[byte]; 0 for no string */
static LLVMValueRef distance(LLVMValueRef entry, unsigned byte, const char *text)
{
	LLVMTypeRef wide = number_type(64);
	LLVMValueRef offset = number(64, byte), from;

	if (!*text)
		return number(32, 0);
	from = LLVMConstGEP2(number_type(8), entry, &offset, 1);
	return LLVMConstTrunc(
		LLVMConstSub(LLVMConstPtrToInt(string_global(text), wide), LLVMConstPtrToInt(from, wide)),
		number_type(32));
}

/* An entry refers to itself, so it is made empty first. Sizes are multiples of
 * the alignment, so that the linker leaves no gaps. */
static LLVMValueRef new_entry(LLVMTypeRef type, const char *section)
{
	return place(LLVMConstNull(type), section, 8);
}

LLVMValueRef sites_new_entry(LLVMTypeRef type, const char *section)
{
	return new_entry(type, section);
}

LLVMValueRef sites_distance(LLVMValueRef entry, unsigned byte, const char *text)
{
	return distance(entry, byte, text);
}

void sites_begin(LLVMModuleRef of)
{
	module = of;
	context = LLVMGetModuleContext(of);
	strings_collect();
}

static LLVMTypeRef site_type(void)
{
	LLVMTypeRef i8 = number_type(8), i16 = number_type(16), i32 = number_type(32);
	LLVMTypeRef fields[] = {i32, i32, i32, i32, i32, i32, i16, i16, i8, i8, i8, i8, i32, i32};

	return LLVMStructTypeInContext(context, fields, 14, false);
}

static unsigned at_most(uint64_t n, unsigned most)
{
	return n > most ? most : (unsigned)n;
}

/* The constant for one site that lies `byte` bytes into an entry. */
static LLVMValueRef site_content(LLVMValueRef entry, unsigned byte, LLVMValueRef instruction,
				 enum atomsan_access kind, unsigned order, uint64_t size,
				 const struct note *note)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
	LLVMMetadataRef scope = location ? LLVMDILocationGetScope(location) : NULL;
	LLVMMetadataRef subprogram = scope ? di_subprogram(scope) : NULL;
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
	unsigned flags = note->flags, line = location ? LLVMDILocationGetLine(location) : 0;
	bool known = note->offset <= UINT32_MAX && note->type_size <= UINT32_MAX;
	const char *name;
	size_t length;

	/* What LLVM keeps in a register during a loop it loads before, under whatever condition the loop
	 * does; such loads, and no others, have no place. */
	if (kind == ATOMSAN_READ && !location)
		flags |= ATOMSAN_SITE_MOVED;
	if (!subprogram)
		subprogram = LLVMGetSubprogram(function);
	if (!line && subprogram)
		line = LLVMDISubprogramGetLine(subprogram);
	name = subprogram ? di_name(subprogram) : LLVMGetValueName2(function, &length);
	if (size > UINT16_MAX) {
		flags |= ATOMSAN_SITE_RANGE;
		size = 0;
	}

	LLVMValueRef fields[] = {
		distance(entry, byte + offsetof(struct atomsan_site, function), name),
		distance(entry, byte + offsetof(struct atomsan_site, file),
			 di_file(scope ? scope : subprogram)),
		distance(entry, byte + offsetof(struct atomsan_site, type), note->type),
		distance(entry, byte + offsetof(struct atomsan_site, member), note->member),
		distance(entry, byte + offsetof(struct atomsan_site, base), note->base),
		number(32, line),
		number(16, location ? at_most(LLVMDILocationGetColumn(location), UINT16_MAX) : 0),
		number(16, size),
		number(8, kind),
		number(8, order),
		number(8, note->base_kind),
		number(8, flags),
		number(32, known ? note->offset : 0),
		number(32, known ? note->type_size : 0),
	};
	return LLVMConstStructInContext(context, fields, 14, false);
}

LLVMValueRef sites_add(LLVMValueRef instruction, enum atomsan_access kind, unsigned order, uint64_t size,
		       const struct note *note)
{
	LLVMValueRef entry = new_entry(site_type(), SECTION_SITES);

	LLVMSetInitializer(entry, site_content(entry, 0, instruction, kind, order, size, note));
	return entry;
}

LLVMValueRef sites_add_pair(LLVMValueRef instruction, const struct note *note)
{
	LLVMValueRef entry = new_entry(LLVMArrayType2(site_type(), 2), SECTION_SITES), both[2];

	for (unsigned i = 0; i < 2; i++)
		both[i] = site_content(entry, i * sizeof(struct atomsan_site), instruction,
				       i ? ATOMSAN_WRITE : ATOMSAN_READ, ATOMSAN_PLAIN, 0, note);
	LLVMSetInitializer(entry, LLVMConstArray2(site_type(), both, 2));
	return entry;
}

LLVMValueRef sites_function(LLVMModuleRef of, LLVMValueRef function, unsigned line, unsigned flags,
			    unsigned asm_blocks, const char *calls)
{
	LLVMTypeRef i16 = number_type(16), i32 = number_type(32);
	LLVMTypeRef types[] = {i32, i32, i32, i32, i32, i16, i16, i16, i16, i32};
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	LLVMValueRef entry = new_entry(LLVMStructTypeInContext(context, types, 10, false), SECTION_FUNCTIONS);
	LLVMLinkage linkage = LLVMGetLinkage(function);
	const char *receiver_type, *name, *linkage_name;
	unsigned receiver = describe_receiver(function, &receiver_type);
	size_t length;

	name = di_name(subprogram);
	linkage_name = note_text(LLVMGetValueName2(function, &length));
	if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage)
		flags |= ATOMSAN_FN_EXTERNAL;
	if (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)))
		flags |= ATOMSAN_FN_VARARGS;
	flags |= di_method_flags(subprogram, linkage_name);

	LLVMValueRef fields[] = {
		distance(entry, offsetof(struct atomsan_function, name), name),
		distance(entry, offsetof(struct atomsan_function, linkage_name),
			 strcmp(name, linkage_name) ? linkage_name : ""),
		distance(entry, offsetof(struct atomsan_function, file), di_file(subprogram)),
		distance(entry, offsetof(struct atomsan_function, receiver_type), receiver_type),
		number(32, line),
		number(16, receiver),
		number(16, flags & 0xffff),
		number(16, asm_blocks < 0xffff ? asm_blocks : 0xffff),
		number(16, flags >> 16),
		distance(entry, offsetof(struct atomsan_function, calls), calls),
	};
	LLVMSetInitializer(entry, LLVMConstStructInContext(context, fields, 10, false));
	return entry;
}

/* ---- registration: one per linked module, though every object file brings it ---- */

static LLVMValueRef bound(const char *edge, const char *section)
{
	char name[64];
	LLVMValueRef global;

	snprintf(name, sizeof name, "__%s_%s", edge, section);
	global = LLVMGetNamedGlobal(module, name);
	if (global)
		return global;
	global = LLVMAddGlobal(module, number_type(8), name);
	LLVMSetLinkage(global, LLVMExternalWeakLinkage);
	LLVMSetVisibility(global, LLVMHiddenVisibility);
	return global;
}

static LLVMValueRef one_per_module(LLVMValueRef global, const char *name)
{
	LLVMComdatRef comdat = LLVMGetOrInsertComdat(module, name);

	LLVMSetLinkage(global, LLVMLinkOnceODRLinkage);
	LLVMSetVisibility(global, LLVMHiddenVisibility);
	LLVMSetComdat(global, comdat);
	return global;
}

static LLVMValueRef registration(const char *name, const char *hook, LLVMValueRef record)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0), nothing = LLVMVoidTypeInContext(context);
	LLVMTypeRef type = LLVMFunctionType(nothing, NULL, 0, false);
	LLVMTypeRef hook_type = LLVMFunctionType(nothing, &pointer, 1, false);
	LLVMValueRef function = one_per_module(LLVMAddFunction(module, name, type), name);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef callee = LLVMGetNamedFunction(module, hook);

	if (!callee)
		callee = LLVMAddFunction(module, hook, hook_type);
	util_add_attribute(function, "nounwind");
	LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, ""));
	LLVMBuildCall2(builder, hook_type, callee, &record, 1, "");
	LLVMBuildRetVoid(builder);
	LLVMDisposeBuilder(builder);
	return function;
}

/* Append to llvm.global_ctors or llvm.global_dtors, to run before or after all others. */
static void append_structor(const char *list_name, LLVMValueRef function, LLVMValueRef key)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
	LLVMTypeRef fields[] = {number_type(32), pointer, pointer};
	LLVMTypeRef type = LLVMStructTypeInContext(context, fields, 3, false);
	LLVMValueRef values[] = {number(32, 0), function, key};
	LLVMValueRef old = LLVMGetNamedGlobal(module, list_name), list;
	unsigned count = old ? (unsigned)LLVMGetNumOperands(LLVMGetInitializer(old)) : 0;
	LLVMValueRef *entries = malloc((count + 1) * sizeof *entries);

	for (unsigned i = 0; i < count; i++)
		entries[i] = LLVMGetOperand(LLVMGetInitializer(old), i);
	entries[count] = LLVMConstStructInContext(context, values, 3, false);
	if (old)
		LLVMDeleteGlobal(old);
	list = LLVMAddGlobal(module, LLVMArrayType2(type, count + 1), list_name);
	LLVMSetInitializer(list, LLVMConstArray2(type, entries, count + 1));
	LLVMSetLinkage(list, LLVMAppendingLinkage);
	free(entries);
}

void sites_module_constructor(LLVMModuleRef of)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0), i32 = number_type(32),
		    i64 = number_type(64);
	LLVMTypeRef types[] = {i32,     i32,     pointer, pointer, pointer, pointer, pointer, pointer,
			       pointer, pointer, pointer, pointer, pointer, i64,     i64};
	LLVMValueRef fields[] = {
		number(32, ATOMSAN_ABI_VERSION),
		number(32, 0),
		bound("start", SECTION_SITES),
		bound("stop", SECTION_SITES),
		bound("start", SECTION_FUNCTIONS),
		bound("stop", SECTION_FUNCTIONS),
		bound("start", SECTION_STRINGS),
		bound("stop", SECTION_STRINGS),
		bound("start", SECTION_VARIABLES),
		bound("stop", SECTION_VARIABLES),
		bound("start", SECTION_SPEC),
		bound("stop", SECTION_SPEC),
		LLVMConstNull(pointer),
		number(64, 0),
		number(64, 0),
	};
	LLVMValueRef record = LLVMAddGlobal(module, LLVMStructTypeInContext(context, types, 15, false),
					    "__atomsan_this_module");
	LLVMValueRef constructor, destructor;

	LLVMSetInitializer(record, LLVMConstStructInContext(context, fields, 15, false));
	one_per_module(record, "__atomsan_this_module");
	constructor = registration("__atomsan_module_ctor", "__atomsan_module_register", record);
	destructor = registration("__atomsan_module_dtor", "__atomsan_module_unregister", record);
	append_structor("llvm.global_ctors", constructor, constructor);
	append_structor("llvm.global_dtors", destructor, destructor);
}
