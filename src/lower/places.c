/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where accesses stand in the source, in the words of the trace's sites. Who
 * says something of all accesses of a place must know all of them, and preparing
 * removes some that the program may still have: a load whose value nobody uses.
 * So each is marked before, and the places of those that are gone are told.
 *
 * Not marked are accesses to locals by name. Those that go are values then.
 */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "pass/pass.h"

#define MARK "atomsan.lower.mark"

/* By mark, from 1. */
static struct {
	uint32_t place;
	bool seen;
} *marks;
static size_t mark_count, mark_room;

static uint32_t place_at(LLVMMetadataRef location)
{
	LLVMMetadataRef scope = location ? LLVMDILocationGetScope(location) : NULL;
	LLVMMetadataRef subprogram = scope ? di_subprogram(scope) : NULL;
	static struct program_place last;
	static uint32_t last_number;
	struct program_place place;

	/* Of what the compiler made up, line or column is 0, and many such places look the same. */
	if (!subprogram || !LLVMDILocationGetLine(location) || !LLVMDILocationGetColumn(location))
		return 0;
	place = (struct program_place){.file = table_text(di_file(scope)),
				       .function = table_text(di_name(subprogram)),
				       .line = LLVMDILocationGetLine(location),
				       .column = LLVMDILocationGetColumn(location)};
	if (!last_number || memcmp(&place, &last, sizeof(place))) {
		last = place;
		last_number = table_places(&place);
	}
	return last_number;
}

static unsigned mark_kind(LLVMContextRef context)
{
	return LLVMGetMDKindIDInContext(context, MARK, (unsigned)strlen(MARK));
}

static bool is_local(LLVMValueRef pointer)
{
	for (int depth = 0; depth < 32; depth++) {
		if (LLVMIsAAllocaInst(pointer))
			return true;
		if (!LLVMIsAGetElementPtrInst(pointer))
			return false;
		pointer = LLVMGetOperand(pointer, 0);
	}
	return false;
}

static bool is_wanted(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		return !is_local(LLVMGetOperand(i, 0));
	case LLVMStore:
		return !is_local(LLVMGetOperand(i, 1));
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMInvoke:
	case LLVMCallBr:
		return true;
	case LLVMCall:
		if (util_is_intrinsic(i, "llvm.mem"))
			return !is_local(LLVMGetOperand(i, 0)) || !is_local(LLVMGetOperand(i, 1));
		return !util_is_intrinsic(i, "llvm.");
	default:
		return false;
	}
}

static void mark(LLVMContextRef context, LLVMValueRef i)
{
	uint32_t place = place_at(LLVMInstructionGetDebugLoc(i));
	LLVMMetadataRef text;
	char number[24];

	if (!place)
		return;
	if (!mark_count)
		mark_count = 1;
	if (mark_count >= mark_room) {
		mark_room = mark_room ? mark_room * 2 : 4096;
		marks = mem_resize(marks, mark_room, sizeof(*marks));
	}
	snprintf(number, sizeof(number), "%zu", mark_count);
	marks[mark_count].place = place;
	marks[mark_count++].seen = false;
	text = LLVMMDStringInContext2(context, number, strlen(number));
	LLVMSetMetadata(i, mark_kind(context),
			LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &text, 1)));
}

void places_mark(LLVMModuleRef module)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	bool coroutines = false;

	di_begin(module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				if (is_wanted(i))
					mark(context, i);
				coroutines |= LLVMIsACallInst(i) && util_is_intrinsic(i, "llvm.coro.");
			}
	if (coroutines)
		table_blind_spot("there are coroutines, and which threads run them is not known");
}

static void see(LLVMValueRef i)
{
	LLVMValueRef node = LLVMGetMetadata(i, mark_kind(LLVMGetTypeContext(LLVMTypeOf(i)))), part;
	unsigned length;
	size_t number;

	if (!node || LLVMGetMDNodeNumOperands(node) != 1)
		return;
	LLVMGetMDNodeOperands(node, &part);
	if (!part || !LLVMIsAMDString(part))
		return;
	number = strtoul(LLVMGetMDString(part, &length), NULL, 10);
	if (number && number < mark_count)
		marks[number].seen = true;
}

uint32_t places_of(LLVMValueRef i)
{
	see(i);
	return place_at(LLVMInstructionGetDebugLoc(i));
}

void places_end(void)
{
	for (size_t i = 1; i < mark_count; i++)
		if (!marks[i].seen)
			table_lost(&marks[i].place);
	free(marks);
	marks = NULL;
	mark_count = mark_room = 0;
}
