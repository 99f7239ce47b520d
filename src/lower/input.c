/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files to one module. Executables, shared objects, object files and archives
 * carry bitcode in a section; bitcode and LLVM's text come as they are. Each
 * unit's accesses are named before linking, when types still have the names
 * that the compiler's own pass saw: both sides of atomsan say the same.
 */
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/units.h"
#include "lower/lower.h"
#include "pass/pass.h"

static char diagnostic[400];

static void keep_diagnostic(LLVMDiagnosticInfoRef info, void *unused)
{
	char *text = LLVMGetDiagInfoDescription(info);

	if (LLVMGetDiagInfoSeverity(info) == LLVMDSError && !*diagnostic)
		snprintf(diagnostic, sizeof(diagnostic), "%s", text);
	LLVMDisposeMessage(text);
}

/* "struct.row.12", field 1 -> "row#1": the struct that declares the member itself, whatever it lies in. */
static LLVMMetadataRef inner_of(LLVMContextRef context, LLVMValueRef pointer)
{
	for (int depth = 0; depth < 16; depth++) {
		LLVMTypeRef type;
		const char *found = NULL;
		unsigned field = 0, length;
		char text[512];

		if (!LLVMIsAGetElementPtrInst(pointer) &&
		    !(LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr))
			return NULL;
		type = LLVMGetGEPSourceElementType(pointer);
		for (unsigned i = 2; i < (unsigned)LLVMGetNumOperands(pointer); i++) {
			LLVMValueRef index = LLVMGetOperand(pointer, i);

			if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
				found = LLVMGetStructName(type);
				field = (unsigned)LLVMConstIntGetZExtValue(index);
				type = LLVMStructGetTypeAtIndex(type, field);
			} else if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
				type = LLVMGetElementType(type);
			} else {
				break;
			}
		}
		if (found) {
			const char *dot = strchr(found, '.');

			snprintf(text, sizeof(text), "%s", dot ? dot + 1 : found);
			length = (unsigned)strlen(text);
			while (length && text[length - 1] >= '0' && text[length - 1] <= '9')
				length--;
			if (length && text[length - 1] == '.')
				text[length - 1] = 0;
			length = (unsigned)strlen(text);
			snprintf(text + length, sizeof(text) - length, "#%u", field);
			return LLVMMDStringInContext2(context, text, strlen(text));
		}
		pointer = LLVMGetOperand(pointer, 0);
	}
	return NULL;
}

static void name_inner(LLVMContextRef context, LLVMValueRef inst, LLVMValueRef pointer, const char *kind)
{
	LLVMMetadataRef inner = inner_of(context, pointer);

	if (inner)
		LLVMSetMetadata(inst, LLVMGetMDKindIDInContext(context, kind, (unsigned)strlen(kind)),
				LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &inner, 1)));
}

static void name_inners(LLVMModuleRef module, LLVMValueRef function)
{
	LLVMContextRef context = LLVMGetModuleContext(module);

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			switch (LLVMGetInstructionOpcode(i)) {
			case LLVMLoad:
				name_inner(context, i, LLVMGetOperand(i, 0), LOWER_INNER_READ);
				break;
			case LLVMStore:
				name_inner(context, i, LLVMGetOperand(i, 1), LOWER_INNER_WRITE);
				break;
			case LLVMAtomicRMW:
			case LLVMAtomicCmpXchg:
				name_inner(context, i, LLVMGetOperand(i, 0), LOWER_INNER_WRITE);
				break;
			case LLVMCall:
				if (util_is_intrinsic(i, "llvm.mem")) {
					name_inner(context, i, LLVMGetOperand(i, 0), LOWER_INNER_WRITE);
					name_inner(context, i, LLVMGetOperand(i, 1), LOWER_INNER_READ);
				}
				break;
			default:
				break;
			}
}

static void name_accesses(LLVMModuleRef module)
{
	select_begin(module);
	di_begin(module);
	types_collect(module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f)) {
			describe_function(f);
			name_inners(module, f);
		}
	follow_forget();
	types_forget();
	notes_forget();
}

/* Units that were read, and where they came from. */
struct inputs {
	LLVMContextRef context;
	LLVMModuleRef *modules;
	char **names;
	size_t count, room;
};

static int add_module(struct inputs *in, LLVMModuleRef module, const char *name, struct err *err)
{
	char *why = NULL;

	if (LLVMVerifyModule(module, LLVMReturnStatusAction, &why)) {
		err_set(err, "the bitcode of '%s' is damaged: %.200s", name, why);
		LLVMDisposeMessage(why);
		return -1;
	}
	LLVMDisposeMessage(why);
	name_accesses(module);
	if (in->count == in->room) {
		in->room = in->room ? in->room * 2 : 16;
		in->modules = mem_resize(in->modules, in->room, sizeof(*in->modules));
		in->names = mem_resize(in->names, in->room, sizeof(*in->names));
	}
	in->names[in->count] = mem_text(name);
	in->modules[in->count++] = module;
	return 0;
}

/* Two by two: linking looks at all that is there already, so one after the other would be quadratic. */
static LLVMModuleRef link_all(struct inputs *in)
{
	while (in->count > 1) {
		size_t kept = 0;

		for (size_t i = 0; i < in->count; i += 2) {
			if (i + 1 < in->count) {
				*diagnostic = 0;
				if (LLVMLinkModules2(in->modules[i], in->modules[i + 1])) {
					char *sentence = mem_textf("%s is left out, at least in part: %s",
								   in->names[i + 1], diagnostic);

					table_blind_spot(sentence);
					free(sentence);
				}
				free(in->names[i + 1]);
			}
			in->names[kept] = in->names[i];
			in->modules[kept++] = in->modules[i];
		}
		in->count = kept;
	}
	return in->count ? in->modules[0] : NULL;
}

static LLVMMemoryBufferRef buffer_of(const unsigned char *bytes, size_t size, const char *name)
{
	return LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)bytes, size, name);
}

static int add_bitcode(struct inputs *in, const unsigned char *bytes, size_t size, const char *name,
		       struct err *err)
{
	LLVMMemoryBufferRef buffer = buffer_of(bytes, size, name);
	LLVMModuleRef module;

	*diagnostic = 0;
	if (LLVMParseBitcodeInContext2(in->context, buffer, &module)) {
		LLVMDisposeMemoryBuffer(buffer);
		return err_set(
			err, "the bitcode of '%s' cannot be read, it is damaged or made by a newer LLVM: %s",
			name, diagnostic);
	}
	LLVMDisposeMemoryBuffer(buffer);
	return add_module(in, module, name, err);
}

static int add_text(struct inputs *in, const struct image *image, struct err *err)
{
	LLVMModuleRef module;
	char *why = NULL;

	/* Takes the buffer. */
	if (LLVMParseIRInContext(in->context, buffer_of(image->bytes, image->size, image->path), &module,
				 &why)) {
		err_set(err, "'%s' cannot be read: %.200s", image->path, why ? why : "");
		LLVMDisposeMessage(why);
		return -1;
	}
	return add_module(in, module, image->path, err);
}

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);

	return a >= b && !strcmp(text + a - b, end);
}

static int add_units(struct inputs *in, const char *file, struct err *err)
{
	struct units units = {0};
	int status = units_read(&units, file, err);

	if (!status && !units.count)
		status = err_set(err,
				 "'%s' holds no bitcode: build it with 'atomsan cc' and without --no-bitcode",
				 file);
	for (int i = 0; i < units.count && !status; i++) {
		const struct unit *unit = &units.at[i];

		status = add_bitcode(in, unit->bytes, unit->size, unit->source ? unit->source : unit->file,
				     err);
	}
	units_release(&units);
	return status;
}

static int add_file(struct inputs *in, const char *file, struct err *err)
{
	struct image image;
	int status;

	if (image_open(&image, file, err))
		return -1;
	switch (image_kind(image.bytes, image.size)) {
	case IMAGE_BITCODE:
		status = add_bitcode(in, image.bytes, image.size, file, err);
		break;
	case IMAGE_ELF:
	case IMAGE_ARCHIVE:
		status = add_units(in, file, err);
		break;
	default:
		status =
			ends_with(file, ".ll")
				? add_text(in, &image, err)
				: err_set(err,
					  "'%s' is no executable, library, object file, bitcode or LLVM text",
					  file);
	}
	image_release(&image);
	return status;
}

LLVMModuleRef input_read(LLVMContextRef context, int count, char **files, struct err *err)
{
	struct inputs in = {.context = context};

	LLVMContextSetDiagnosticHandler(context, keep_diagnostic, NULL);
	for (int i = 0; i < count; i++)
		if (add_file(&in, files[i], err))
			return NULL;
	return link_all(&in);
}
