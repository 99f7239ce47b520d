/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Constants and calls for healing in the field. Sections, variables and the
 * names of units are there once in a program, however many of its units refer
 * to them: the linker makes them one by their names.
 */
#include "pass/heal.h"

#include <stdio.h>
#include <string.h>

static LLVMModuleRef module;
static LLVMContextRef context;
static LLVMTypeRef pointer, i32, i64;

static LLVMValueRef number(LLVMTypeRef type, uint64_t value)
{
	return LLVMConstInt(type, value, false);
}

static LLVMValueRef text(const char *value)
{
	LLVMValueRef content = LLVMConstStringInContext2(context, value, strlen(value), false);
	LLVMValueRef global = LLVMAddGlobal(module, LLVMTypeOf(content), "atomsan.heal.text");

	LLVMSetInitializer(global, content);
	LLVMSetGlobalConstant(global, true);
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	return global;
}

/* One for the whole program, by this name; NULL content: it is there already. */
static LLVMValueRef shared(const char *kind, const char *name, LLVMTypeRef type, bool *is_new)
{
	char whole[1200];
	LLVMValueRef global;

	snprintf(whole, sizeof whole, "__atomsan_heal.%s.%s", kind, name);
	global = LLVMGetNamedGlobal(module, whole);
	*is_new = !global;
	if (global)
		return global;
	global = LLVMAddGlobal(module, type, whole);
	LLVMSetLinkage(global, LLVMLinkOnceODRLinkage);
	LLVMSetVisibility(global, LLVMHiddenVisibility);
	LLVMSetAlignment(global, 64);
	return global;
}

/* {name, leader, node, guard of 2, gate of 8 words} */
static LLVMValueRef variable_of(const char *name)
{
	enum { WORDS = sizeof(struct atomsan_heal_variable) / 8 - 1 };
	LLVMTypeRef rest = LLVMArrayType2(i64, WORDS), parts[] = {pointer, rest};
	LLVMTypeRef type = LLVMStructTypeInContext(context, parts, 2, false);
	bool is_new;
	LLVMValueRef global = shared("variable", name, type, &is_new);

	if (is_new) {
		LLVMValueRef values[] = {text(name), LLVMConstNull(rest)};

		LLVMSetInitializer(global, LLVMConstStructInContext(context, values, 2, false));
	}
	return global;
}

/* The unit's name, there once, so that who enters it and who asks compare addresses. */
static LLVMValueRef unit_of(const char *function, const char *file)
{
	char name[1100];
	LLVMValueRef content = LLVMConstStringInContext2(context, function, strlen(function), false), global;
	bool is_new;

	snprintf(name, sizeof name, "%s:%s", function, atomicity_last_part(file));
	global = shared("unit", name, LLVMTypeOf(content), &is_new);
	if (is_new)
		LLVMSetInitializer(global, content);
	return global;
}

const char *heal_unit_function(const struct atomicity_section *section)
{
	return heal_word(section->unit.length ? section->unit : section->entry.function);
}

const char *heal_unit_file(const struct atomicity_section *section)
{
	return heal_word(section->unit.length ? section->unit_file : section->entry.file);
}

static LLVMValueRef section_of(const struct atomicity_section *given)
{
	enum { WORDS = (sizeof(struct atomsan_heal_section) - 40) / 8 };
	LLVMTypeRef rest = LLVMArrayType2(i64, WORDS);
	LLVMTypeRef parts[] = {pointer, pointer, pointer, pointer, i32, i32, rest};
	LLVMTypeRef type = LLVMStructTypeInContext(context, parts, 7, false);
	const char *id = heal_word(given->id);
	bool is_new;
	LLVMValueRef global = shared("section", id, type, &is_new);

	if (is_new) {
		LLVMValueRef values[] = {text(id),
					 variable_of(heal_word(given->entry.variable)),
					 unit_of(heal_unit_function(given), heal_unit_file(given)),
					 text(atomicity_last_part(heal_unit_file(given))),
					 number(i32, atomicity_heal_flags(given)),
					 number(i32, atomicity_heal_allow(given)),
					 LLVMConstNull(rest)};

		LLVMSetInitializer(global, LLVMConstStructInContext(context, values, 7, false));
	}
	return global;
}

/* What the runtime finds at the start: this variable goes with this section. */
static void enter_table(LLVMValueRef section, LLVMValueRef variable)
{
	LLVMTypeRef parts[] = {pointer, pointer};
	LLVMTypeRef type = LLVMStructTypeInContext(context, parts, 2, false);
	LLVMValueRef values[] = {section, variable};
	LLVMValueRef global = LLVMAddGlobal(module, type, "atomsan.heal.entry");

	LLVMSetInitializer(global, LLVMConstStructInContext(context, values, 2, false));
	LLVMSetLinkage(global, LLVMPrivateLinkage);
	LLVMSetSection(global, ATOMSAN_HEAL_TABLE);
	LLVMSetAlignment(global, 8);
	util_keep(module, "llvm.used", &global, 1);
}

static LLVMValueRef place_of(const struct heal_plan *plan, const struct heal_found *found, unsigned kinds)
{
	LLVMTypeRef role_parts[] = {pointer, i32, i32}, place_parts[] = {pointer, i32, i32, pointer};
	LLVMTypeRef role_type = LLVMStructTypeInContext(context, role_parts, 3, false);
	LLVMTypeRef place_type = LLVMStructTypeInContext(context, place_parts, 4, false);
	LLVMValueRef roles = LLVMConstNull(pointer), all[64], place;
	uint32_t count = found->role_count < 64 ? found->role_count : 64;
	LLVMValueRef variable;

	if (found->variable)
		variable = variable_of(found->variable);
	else
		variable = variable_of(heal_word(plan->sections[found->roles[0].section].entry.variable));
	for (uint32_t i = 0; i < count; i++) {
		LLVMValueRef section = section_of(&plan->sections[found->roles[i].section]);
		uint32_t local = plan->local[found->roles[i].section] ? ATOMSAN_HEAL_LOCAL : 0;
		LLVMValueRef values[] = {section, number(i32, found->roles[i].what | local),
					 number(i32, found->roles[i].kind)};

		all[i] = LLVMConstStructInContext(context, values, 3, false);
		enter_table(section, variable);
	}
	if (!count)
		enter_table(section_of(&plan->sections[found->minded_by]), variable);
	for (uint32_t i = 0; i < found->joined_count; i++)
		enter_table(section_of(&plan->sections[found->joined[i]]), variable);
	if (count) {
		roles = LLVMAddGlobal(module, LLVMArrayType2(role_type, count), "atomsan.heal.roles");
		LLVMSetInitializer(roles, LLVMConstArray2(role_type, all, count));
		LLVMSetGlobalConstant(roles, true);
		LLVMSetLinkage(roles, LLVMPrivateLinkage);
	}
	/* kinds and flags, which lie beside each other */
	uint64_t what = kinds | (uint64_t)(found->harmless ? ATOMSAN_HEAL_HARMLESS : 0) << 16;
	LLVMValueRef values[] = {variable, number(i32, what), number(i32, count), roles};

	place = LLVMAddGlobal(module, place_type, "atomsan.heal.place");
	LLVMSetInitializer(place, LLVMConstStructInContext(context, values, 4, false));
	LLVMSetGlobalConstant(place, true);
	LLVMSetLinkage(place, LLVMPrivateLinkage);
	return place;
}

static void call(LLVMBuilderRef builder, const char *name, LLVMValueRef *arguments, unsigned count)
{
	LLVMTypeRef types[3], type;
	LLVMValueRef function = LLVMGetNamedFunction(module, name);

	for (unsigned i = 0; i < count; i++)
		types[i] = LLVMTypeOf(arguments[i]);
	type = LLVMFunctionType(LLVMVoidTypeInContext(context), types, count, false);
	if (!function) {
		function = LLVMAddFunction(module, name, type);
		util_add_attribute(function, "nounwind");
	}
	/* Not as the last jump of a function: the runtime tells by the stack whose unit it is. */
	LLVMSetTailCallKind(LLVMBuildCall2(builder, type, function, arguments, count, ""),
			    LLVMTailCallKindNoTail);
}

static void at(LLVMBuilderRef builder, LLVMValueRef before, LLVMValueRef located)
{
	LLVMPositionBuilderBefore(builder, before);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(located));
}

static void instrument(LLVMBuilderRef builder, const struct heal_plan *plan, const struct heal_found *found)
{
	unsigned kinds = (found->reads ? ATOMSAN_HEAL_READ : 0) | (found->writes ? ATOMSAN_HEAL_WRITE : 0);
	LLVMValueRef last = found->store ? found->store : found->instruction;
	LLVMValueRef arguments[] = {found->pointer, number(i64, found->size), place_of(plan, found, kinds)};

	at(builder, found->instruction, found->instruction);
	if (found->length && !LLVMIsAConstantInt(found->length))
		arguments[1] = LLVMBuildZExtOrBitCast(builder, found->length, i64, "");
	call(builder,
	     !found->role_count ? "__atomsan_heal_pass"
	     : found->atomic    ? "__atomsan_heal_atomic"
				: "__atomsan_heal_before",
	     arguments, 3);
	if (found->store && found->role_count) {
		at(builder, found->store, found->store);
		call(builder, "__atomsan_heal_store", arguments, 3);
	}
	at(builder, LLVMGetNextInstruction(last), last);
	call(builder, "__atomsan_heal_after", NULL, 0);
}

/* ---- units ---- */

static const struct atomicity_section *unit_section(const struct heal_plan *plan, LLVMValueRef function)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);

	if (!subprogram)
		return NULL;
	for (uint32_t i = 0; i < plan->section_count; i++)
		if (!plan->lost[i] && !plan->local[i] &&
		    !strcmp(di_name(subprogram), heal_unit_function(&plan->sections[i])) &&
		    !strcmp(atomicity_last_part(di_file(subprogram)),
			    atomicity_last_part(heal_unit_file(&plan->sections[i]))))
			return &plan->sections[i];
	return NULL;
}

static void instrument_unit(LLVMBuilderRef builder, const struct atomicity_section *section,
			    LLVMValueRef function)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	LLVMMetadataRef location = LLVMDIBuilderCreateDebugLocation(
		context, LLVMDISubprogramGetLine(subprogram), 0, subprogram, NULL);
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
	LLVMValueRef unit = unit_of(heal_unit_function(section), heal_unit_file(section));

	/* Perhaps all that is here of it: whoever links must see that the runtime is called. */
	enter_table(section_of(section), variable_of(heal_word(section->entry.variable)));
	while (LLVMIsAAllocaInst(first))
		first = LLVMGetNextInstruction(first);
	LLVMPositionBuilderBefore(builder, first);
	LLVMSetCurrentDebugLocation2(builder, location);
	call(builder, "__atomsan_heal_enter", &unit, 1);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b), before;

		if (!end || (!LLVMIsAReturnInst(end) && !LLVMIsAResumeInst(end)))
			continue;
		before = LLVMGetPreviousInstruction(end);
		/* A tail call that must stay next to the return: the unit ends before it. */
		if (before && LLVMIsACallInst(before) &&
		    LLVMGetTailCallKind(before) == LLVMTailCallKindMustTail)
			end = before;
		LLVMPositionBuilderBefore(builder, end);
		LLVMSetCurrentDebugLocation2(builder, location);
		call(builder, "__atomsan_heal_leave", NULL, 0);
	}
}

void heal_emit(LLVMModuleRef of, const struct heal_plan *plan)
{
	LLVMBuilderRef builder;

	module = of;
	context = LLVMGetModuleContext(of);
	pointer = LLVMPointerTypeInContext(context, 0);
	i32 = LLVMInt32TypeInContext(context);
	i64 = LLVMInt64TypeInContext(context);
	builder = LLVMCreateBuilderInContext(context);
	for (uint64_t i = 0; i < plan->access_count; i++)
		if (plan->accesses[i].wanted && (plan->accesses[i].variable || plan->accesses[i].role_count))
			instrument(builder, plan, &plan->accesses[i]);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		const struct atomicity_section *section = LLVMIsDeclaration(f) ? NULL : unit_section(plan, f);

		if (section)
			instrument_unit(builder, section, f);
	}
	LLVMDisposeBuilder(builder);
}
