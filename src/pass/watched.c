/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls of functions that the runtime watches (rt/watched.inc): the call's site is
 * left where the interposer finds it, and libc's functions that access the
 * program's memory are replaced by wrappers.
 */
#include "pass/emit.h"
#include "pass/pass.h"

#include <stdio.h>
#include <string.h>

enum watch { NOT_WATCHED, WATCHED, WRAPPED, NOTED };

enum { MOST_ARGUMENTS = 8 };

/* As watched.inc writes it; 0 for what no wrapper takes. */
static char type_letter(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMVoidTypeKind:
		return 'v';
	case LLVMPointerTypeKind:
		return 'p';
	case LLVMFloatTypeKind:
		return 'f';
	case LLVMDoubleTypeKind:
		return 'd';
	case LLVMX86_FP80TypeKind:
		return 'x';
	case LLVMIntegerTypeKind:
		return LLVMGetIntTypeWidth(type) == 32 ? 'i' : LLVMGetIntTypeWidth(type) == 64 ? 'l' : 0;
	default:
		return 0;
	}
}

static bool has_prototype(LLVMValueRef call, const char *prototype)
{
	LLVMTypeRef type = LLVMGetCalledFunctionType(call), parameters[8];
	unsigned count = LLVMCountParamTypes(type);

	if (count > 8 || type_letter(LLVMGetReturnType(type)) != *prototype++)
		return false;
	LLVMGetParamTypes(type, parameters);
	for (unsigned i = 0; i < count; i++)
		if (!*prototype || type_letter(parameters[i]) != *prototype++)
			return false;
	return !strcmp(prototype, LLVMIsFunctionVarArg(type) ? "." : "");
}

static enum watch watched(LLVMValueRef call, const char *name)
{
	static const struct {
		const char *name, *prototype;
		enum watch how;
	} table[] = {
#define WATCH(name) {#name, NULL, WATCHED},
#define WRAP(name, prototype) {#name, prototype, WRAPPED},
#define NOTE(name) {#name, NULL, NOTED},
#include "rt/watched.inc"
#undef WATCH
#undef WRAP
#undef NOTE
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name))
			return !table[i].prototype || has_prototype(call, table[i].prototype) ? table[i].how
											      : NOT_WATCHED;
	return NOT_WATCHED;
}

static void store_site(LLVMValueRef call, bool pair)
{
	struct note note = {"", "", "", 0, pair ? ATOMSAN_SITE_RANGE : 0, 0, 0};
	LLVMValueRef site;

	emit_before(call);
	site = pair ? sites_add_pair(call, &note) : sites_add(call, ATOMSAN_CALL, ATOMSAN_PLAIN, 0, &note);
	emit_call("__atomsan_inl_at", &site, 1);
}

static void wrap_callee(LLVMValueRef call, LLVMValueRef callee, const char *name)
{
	char wrapper_name[128];
	LLVMValueRef wrapper;

	snprintf(wrapper_name, sizeof wrapper_name, "__atomsan_libc_%s", name);
	wrapper = LLVMGetNamedFunction(emit.module, wrapper_name);
	if (!wrapper)
		wrapper = LLVMAddFunction(emit.module, wrapper_name, LLVMGlobalGetValueType(callee));
	LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, wrapper);
}

/* In front of the call, with its arguments. */
static void note_call(LLVMValueRef call, const char *name)
{
	LLVMTypeRef types[MOST_ARGUMENTS], number = LLVMInt32TypeInContext(emit.context), type;
	LLVMValueRef arguments[MOST_ARGUMENTS], note;
	unsigned count = LLVMGetNumArgOperands(call);
	char note_name[128];

	emit_before(call);
	for (unsigned i = 0; i < count; i++) {
		arguments[i] = LLVMGetOperand(call, i);
		if (LLVMTypeOf(arguments[i]) == LLVMInt1TypeInContext(emit.context))
			arguments[i] = LLVMBuildZExt(emit.builder, arguments[i], number, "");
		types[i] = LLVMTypeOf(arguments[i]);
	}
	snprintf(note_name, sizeof note_name, "__atomsan_libc_%s", name);
	type = LLVMFunctionType(LLVMVoidTypeInContext(emit.context), types, count, false);
	note = LLVMGetNamedFunction(emit.module, note_name);
	if (!note)
		note = LLVMAddFunction(emit.module, note_name, type);
	LLVMBuildCall2(emit.builder, type, note, arguments, count, "");
}

void watched_call(LLVMValueRef call, LLVMValueRef callee, const char *name)
{
	switch (watched(call, name)) {
	case WRAPPED:
		store_site(call, true);
		wrap_callee(call, callee, name);
		break;
	case WATCHED:
		store_site(call, false);
		break;
	case NOTED:
		if (LLVMGetNumArgOperands(call) > MOST_ARGUMENTS)
			break;
		store_site(call, true);
		note_call(call, name);
		break;
	case NOT_WATCHED:
		break;
	}
}
