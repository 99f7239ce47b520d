/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Late: every access that is left gets its site and its check; marks become
 * code. What is called here are the functions of inlined.c, which the inliner
 * takes apart right after this pass.
 */
#include "pass/emit.h"
#include "pass/loops.h"
#include "pass/pass.h"
#include "pass/reread.h"
#include "pass/steps.h"
#include "pass/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the function at hand. */
static struct loops *loops;
static struct reread *reread;

/* ---- plain accesses ---- */

/* A constant step into something that nothing tells of: a member, unnamed. */
static bool looks_like_member(LLVMValueRef pointer)
{
	LLVMTypeRef type;

	if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumOperands(pointer) != 2)
		return false;
	type = LLVMGetGEPSourceElementType(pointer);
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 8 &&
	       LLVMIsAConstantInt(LLVMGetOperand(pointer, 1));
}

/* What the early notes say of an access, and where they are lost, what is left to see. */
static void skip_or_site(LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type, uint64_t size,
			 bool write, struct note *note)
{
	bool noted = note_find(instruction, write, note);

	if (noted && (!(note->flags & ATOMSAN_SITE_MEMBER) || *note->member))
		return;
	describe_again(instruction, pointer, type, size, note);
	if (!noted && looks_like_member(pointer))
		note->flags |= ATOMSAN_SITE_MEMBER;
}

static bool is_ignored(const struct note *note)
{
	return select_type_ignored(note->type) || select_member_ignored(note->type, note->member);
}

/* Can an instruction between a load and a store come between them for another thread, too? */
static bool keeps_together(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMCall:
		return util_callee(i) && LLVMGetIntrinsicID(util_callee(i)) &&
		       !util_is_intrinsic(i, "llvm.mem");
	case LLVMInvoke:
	case LLVMFence:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		return false;
	case LLVMLoad:
	case LLVMStore:
		return !LLVMIsAtomic(i);
	default:
		return true;
	}
}

/* The store that ends what this load begins (x += 1, on one line), or NULL. */
LLVMValueRef instrument_updating_store(LLVMValueRef load)
{
	LLVMMetadataRef here = LLVMInstructionGetDebugLoc(load), there;
	unsigned steps = 0;

	if (LLVMGetVolatile(load) || !here)
		return NULL;
	for (LLVMValueRef i = LLVMGetNextInstruction(load); i && steps < 64;
	     i = LLVMGetNextInstruction(i), steps++) {
		if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == LLVMGetOperand(load, 0)) {
			there = LLVMInstructionGetDebugLoc(i);
			if (LLVMGetVolatile(i) || LLVMIsAtomic(i) || !there ||
			    LLVMTypeOf(LLVMGetOperand(i, 0)) != LLVMTypeOf(load) ||
			    LLVMDILocationGetScope(here) != LLVMDILocationGetScope(there) ||
			    LLVMDILocationGetLine(here) != LLVMDILocationGetLine(there))
				return NULL;
			return i;
		}
		if (!keeps_together(i))
			return NULL;
	}
	return NULL;
}

/* Is what the value is used for nothing but this, and comparisons? */
static bool is_for(LLVMValueRef value, LLVMValueRef only)
{
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
		if (LLVMGetUser(use) != only && !LLVMIsAICmpInst(LLVMGetUser(use)))
			return false;
	return true;
}

/* enum atomsan_counts of a store, in its place in a site. */
static unsigned counts_by(LLVMValueRef store)
{
	LLVMValueRef sum = LLVMGetOperand(store, 0), load, one;
	bool adds = LLVMIsABinaryOperator(sum) && LLVMGetInstructionOpcode(sum) == LLVMAdd;
	long long step;

	if (!adds && !(LLVMIsABinaryOperator(sum) && LLVMGetInstructionOpcode(sum) == LLVMSub))
		return 0;
	load = LLVMGetOperand(sum, 0);
	one = LLVMGetOperand(sum, 1);
	if (!LLVMIsALoadInst(load) || !LLVMIsAConstantInt(one) ||
	    !util_alike(LLVMGetOperand(load, 0), LLVMGetOperand(store, 1), 6) || !is_for(load, sum) ||
	    !is_for(sum, store))
		return 0;
	step = LLVMConstIntGetSExtValue(one);
	if (step != 1 && step != -1)
		return 0;
	return (unsigned)((step == 1) == adds ? ATOMSAN_COUNTS_UP : ATOMSAN_COUNTS_DOWN)
	       << ATOMSAN_COUNTS_SHIFT;
}

/* Stores that their loads speak for. */
static struct list {
	LLVMValueRef *items;
	size_t count, room;
} spoken_for;

static void list_add(struct list *list, LLVMValueRef item)
{
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 256;
		list->items = realloc(list->items, list->room * sizeof *list->items);
	}
	list->items[list->count++] = item;
}

static bool list_has(const struct list *list, LLVMValueRef item)
{
	/* Updates are short: what is looked for is among the last. */
	for (size_t i = list->count; i && i + 64 > list->count; i--)
		if (list->items[i - 1] == item)
			return true;
	return false;
}

static void range_at(LLVMValueRef at, LLVMValueRef instruction, LLVMValueRef pointer, LLVMValueRef length,
		     bool write)
{
	struct note note;
	LLVMValueRef arguments[3];
	uint64_t size = 0;

	/* A length that never changes is the site's. */
	if (LLVMIsAConstantInt(length))
		size = LLVMConstIntGetZExtValue(length);
	skip_or_site(instruction, pointer, NULL, size, write, &note);
	if (is_ignored(&note))
		return;
	if (!size)
		note.flags |= ATOMSAN_SITE_RANGE;
	emit_before(instruction);
	LLVMPositionBuilderBefore(emit.builder, at);
	arguments[0] = pointer;
	arguments[1] = emit_widen(length);
	arguments[2] =
		sites_add(instruction, write ? ATOMSAN_WRITE : ATOMSAN_READ, ATOMSAN_PLAIN, size, &note);
	if (size >= 16 && size <= 64 && size % 8 == 0) {
		char name[40];

		snprintf(name, sizeof name, "__atomsan_inl_%s_struct%u", write ? "write" : "read",
			 (unsigned)size);
		arguments[1] = arguments[2];
		emit_call(name, arguments, 2);
		return;
	}
	emit_call(write ? "__atomsan_inl_write_range" : "__atomsan_inl_read_range", arguments, 3);
}

/* ---- vectors of which not all is accessed ---- */

static uint64_t lane_size(LLVMTypeRef vector)
{
	return LLVMStoreSizeOfType(emit.layout, LLVMGetElementType(vector));
}

static LLVMValueRef lane_bits(LLVMValueRef mask)
{
	unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(mask));

	return emit_widen(
		LLVMBuildBitCast(emit.builder, mask, LLVMIntTypeInContext(emit.context, lanes), ""));
}

static void lanes_hook(bool write, LLVMValueRef pointer, LLVMValueRef bits, uint64_t size, LLVMValueRef site)
{
	LLVMValueRef arguments[] = {pointer, bits, emit_number(size), site};

	emit_call(write ? "__atomsan_inl_write_lanes" : "__atomsan_inl_read_lanes", arguments, 4);
}

/* A load of which only these lanes count. */
static void partial_access(LLVMValueRef load, LLVMValueRef pointer, uint64_t used)
{
	LLVMTypeRef type = LLVMTypeOf(load);
	struct note note;

	skip_or_site(load, pointer, type, 0, false, &note);
	if (is_ignored(&note))
		return;
	note.flags |= ATOMSAN_SITE_RANGE;
	emit_before(load);
	lanes_hook(false, pointer, emit_number(used), lane_size(type),
		   sites_add(load, ATOMSAN_READ, ATOMSAN_PLAIN, 0, &note));
}

static void told_at_end(const struct loops_place *place, LLVMValueRef instruction, LLVMValueRef pointer,
			LLVMTypeRef type, bool write)
{
	uint64_t size = LLVMStoreSizeOfType(emit.layout, type);
	struct note note;

	skip_or_site(instruction, pointer, type, size, write, &note);
	if (is_ignored(&note))
		return;
	if (!write && util_guards(instruction, 6))
		note.flags |= ATOMSAN_SITE_GUARDS;
	steps_emit(place->steps, place->step, place->pointer, size, write,
		   sites_add(instruction, write ? ATOMSAN_WRITE : ATOMSAN_READ, ATOMSAN_PLAIN, size, &note));
}

static void plain_access(LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type, bool write)
{
	struct loops_place place = {.at = instruction};
	uint64_t size = LLVMStoreSizeOfType(emit.layout, type), used;
	unsigned alignment = LLVMGetAlignment(instruction);
	struct note note;
	LLVMValueRef arguments[3], store;
	enum atomsan_access kind = write ? ATOMSAN_WRITE : ATOMSAN_READ;
	char name[40];
	bool inlined, among = false, in_place = false;

	if (private_pointer(pointer))
		return;
	switch (loops_access(loops, emit.builder, instruction, &place)) {
	case LOOPS_NONE:
		return;
	case LOOPS_RANGE:
		range_at(place.at, instruction, place.pointer, place.length, write);
		return;
	case LOOPS_ONCE:
		pointer = place.pointer;
		break;
	case LOOPS_STEPS:
		told_at_end(&place, instruction, pointer, type, write);
		return;
	case LOOPS_AMONG:
		among = true;
		break;
	case LOOPS_IN_PLACE:
		in_place = true;
		break;
	}
	if (!write && lanes_partly_used(instruction, &used)) {
		partial_access(instruction, pointer, used);
		return;
	}
	if (write && list_has(&spoken_for, instruction)) {
		emit_before(instruction);
		emit_call("__atomsan_inl_store", &pointer, 1);
		return;
	}
	skip_or_site(instruction, pointer, type, size, write, &note);
	if (is_ignored(&note))
		return;
	if (LLVMGetVolatile(instruction))
		note.flags |= ATOMSAN_SITE_VOLATILE;
	inlined = ((size == 1 || size == 2 || size == 4 || size == 8) && alignment >= size) ||
		  (size == 16 && alignment >= 8);
	if (!write && inlined && size <= 8 && (store = instrument_updating_store(instruction))) {
		list_add(&spoken_for, store);
		kind = ATOMSAN_UPDATE;
		note.base_kind |= counts_by(store);
	} else if (write && LLVMIsAStoreInst(instruction)) {
		note.base_kind |= counts_by(instruction);
	}
	if (!write && util_guards(instruction, 6))
		note.flags |= ATOMSAN_SITE_GUARDS;
	emit_before(instruction);
	LLVMPositionBuilderBefore(emit.builder, place.at);
	arguments[0] = pointer;
	arguments[1] = sites_add(instruction, kind, ATOMSAN_PLAIN, size, &note);
	if (inlined && in_place && size <= 8 && kind == ATOMSAN_READ &&
	    reread_emit(reread, instruction, arguments, size)) {
		return;
	} else if (inlined) {
		snprintf(name, sizeof name, "__atomsan_inl_%s%s%u", among ? "among_" : "",
			 kind == ATOMSAN_UPDATE ? "update"
			 : write                ? "write"
						: "read",
			 (unsigned)size);
		if (among) {
			arguments[2] = steps_record(place.steps);
			emit_before(instruction);
		}
		emit_call(name, arguments, among ? 3 : 2);
		if (among)
			steps_checked(place.steps, instruction, LLVMGetPreviousInstruction(instruction));
	} else if (size == 2 || size == 4 || size == 8) {
		snprintf(name, sizeof name, "__atomsan_inl_%s_unaligned%u", write ? "write" : "read",
			 (unsigned)size);
		emit_call(name, arguments, 2);
	} else {
		arguments[2] = arguments[1];
		arguments[1] = emit_number(size);
		emit_call(write ? "__atomsan_inl_write_range" : "__atomsan_inl_read_range", arguments, 3);
	}
}

/* The string itself, not what it holds. */
static void string_access(LLVMValueRef call, const struct strings_access *access)
{
	LLVMValueRef pointer = LLVMGetOperand(call, access->argument), arguments[2];
	struct note note;

	_Static_assert(STRINGS_SIZE == 32, "four cells");
	if (private_pointer(pointer))
		return;
	skip_or_site(call, pointer, NULL, STRINGS_SIZE, access->writes, &note);
	if (is_ignored(&note))
		return;
	emit_before(call);
	arguments[0] = pointer;
	arguments[1] = sites_add(call, access->writes ? ATOMSAN_WRITE : ATOMSAN_READ, ATOMSAN_PLAIN,
				 STRINGS_SIZE, &note);
	emit_call(access->writes ? "__atomsan_inl_write32" : "__atomsan_inl_read32", arguments, 2);
}

static void range_access(LLVMValueRef instruction, LLVMValueRef pointer, LLVMValueRef length, bool write)
{
	if (!private_pointer(pointer))
		range_at(instruction, instruction, pointer, length, write);
}

static void masked_access(LLVMValueRef call, LLVMValueRef where, LLVMValueRef mask, LLVMTypeRef vector,
			  bool write)
{
	unsigned lanes;
	struct note note;
	LLVMValueRef site, bits;

	if (LLVMGetTypeKind(vector) != LLVMVectorTypeKind || LLVMGetVectorSize(vector) > 64)
		return;
	lanes = LLVMGetVectorSize(vector);
	note_find(call, write, &note);
	note.flags |= ATOMSAN_SITE_RANGE;
	emit_before(call);
	site = sites_add(call, write ? ATOMSAN_WRITE : ATOMSAN_READ, ATOMSAN_PLAIN, 0, &note);
	bits = lane_bits(mask);
	if (LLVMGetTypeKind(LLVMTypeOf(where)) == LLVMPointerTypeKind) {
		lanes_hook(write, where, bits, lane_size(vector), site);
		return;
	}
	/* Gather and scatter: each lane has a pointer of its own. */
	for (unsigned i = 0; i < lanes; i++) {
		LLVMValueRef lane = LLVMConstInt(LLVMInt32TypeInContext(emit.context), i, false);
		LLVMValueRef pointer = LLVMBuildExtractElement(emit.builder, where, lane, "");
		LLVMValueRef bit =
			LLVMBuildAnd(emit.builder, LLVMBuildLShr(emit.builder, bits, emit_number(i), ""),
				     emit_number(1), "");

		lanes_hook(write, pointer, bit, lane_size(vector), site);
	}
}

/* ---- atomics ---- */

static unsigned order_of(LLVMAtomicOrdering ordering)
{
	switch (ordering) {
	case LLVMAtomicOrderingAcquire:
		return ATOMSAN_ACQUIRE;
	case LLVMAtomicOrderingRelease:
		return ATOMSAN_RELEASE;
	case LLVMAtomicOrderingAcquireRelease:
		return ATOMSAN_ACQ_REL;
	case LLVMAtomicOrderingSequentiallyConsistent:
		return ATOMSAN_SEQ_CST;
	default:
		return ATOMSAN_RELAXED;
	}
}

static void atomic_access(LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type,
			  enum atomsan_access kind, LLVMAtomicOrdering ordering)
{
	struct note note;
	LLVMValueRef arguments[3], wrote, next = LLVMGetNextInstruction(instruction);

	if (private_pointer(pointer) || LLVMIsAtomicSingleThread(instruction))
		return;
	skip_or_site(instruction, pointer, type, 0, kind != ATOMSAN_ATOMIC_LOAD, &note);
	if (is_ignored(&note))
		return;
	if (LLVMGetVolatile(instruction))
		note.flags |= ATOMSAN_SITE_VOLATILE;
	if (LLVMIsAAtomicCmpXchgInst(instruction))
		note.flags |= ATOMSAN_SITE_MAY_FAIL;
	if (kind == ATOMSAN_ATOMIC_LOAD && util_guards_far(instruction, 10))
		note.flags |= ATOMSAN_SITE_GUARDS;
	emit_before(instruction);
	arguments[0] = pointer;
	arguments[1] = sites_add(instruction, kind, order_of(ordering),
				 LLVMStoreSizeOfType(emit.layout, type), &note);
	emit_call("__atomsan_inl_atomic_begin", arguments, 2);
	LLVMPositionBuilderBefore(emit.builder, next);
	wrote = emit_number(kind != ATOMSAN_ATOMIC_LOAD);
	if (LLVMIsAAtomicCmpXchgInst(instruction))
		wrote = emit_widen(LLVMBuildExtractValue(emit.builder, instruction, 1, ""));
	arguments[2] = arguments[1];
	arguments[1] = wrote;
	emit_call("__atomsan_inl_atomic_end", arguments, 3);
}

/* ---- calls ---- */

/* A struct handed over by value in memory is read here. */
static void byval_arguments(LLVMValueRef call)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5), count = LLVMGetNumArgOperands(call);

	for (unsigned i = 0; i < count; i++) {
		LLVMAttributeRef byval = LLVMGetCallSiteEnumAttribute(call, i + 1, kind);

		if (byval)
			range_access(
				call, LLVMGetOperand(call, i),
				emit_number(LLVMABISizeOfType(emit.layout, LLVMGetTypeAttributeValue(byval))),
				false);
	}
}

static void intrinsic_call(LLVMValueRef call)
{
	if (util_is_intrinsic(call, "llvm.memcpy") || util_is_intrinsic(call, "llvm.memmove")) {
		range_access(call, LLVMGetOperand(call, 1), LLVMGetOperand(call, 2), false);
		range_access(call, LLVMGetOperand(call, 0), LLVMGetOperand(call, 2), true);
	} else if (util_is_intrinsic(call, "llvm.memset")) {
		range_access(call, LLVMGetOperand(call, 0), LLVMGetOperand(call, 2), true);
	} else if (util_is_intrinsic(call, "llvm.masked.load") ||
		   util_is_intrinsic(call, "llvm.masked.gather")) {
		masked_access(call, LLVMGetOperand(call, 0), LLVMGetOperand(call, 1), LLVMTypeOf(call),
			      false);
	} else if (util_is_intrinsic(call, "llvm.masked.store") ||
		   util_is_intrinsic(call, "llvm.masked.scatter")) {
		masked_access(call, LLVMGetOperand(call, 1), LLVMGetOperand(call, 2),
			      LLVMTypeOf(LLVMGetOperand(call, 0)), true);
	}
}

/* Marks become code. */
static bool mark(LLVMValueRef call, const char *name)
{
	const char *code = !strcmp(name, MARK_ENTER)       ? "__atomsan_inl_enter"
			   : !strcmp(name, MARK_EXIT)      ? "__atomsan_inl_exit"
			   : !strcmp(name, MARK_PART)      ? "__atomsan_inl_part"
			   : !strcmp(name, MARK_PART_EXIT) ? "__atomsan_inl_part_exit"
			   : !strcmp(name, MARK_BACK)      ? "__atomsan_inl_back"
			   : !strcmp(name, MARK_HERE)      ? "__atomsan_inl_here"
			   : !strcmp(name, MARK_LOOP)      ? "__atomsan_inl_loop"
			   : !strcmp(name, MARK_WALK)      ? "__atomsan_inl_walk"
			   : !strcmp(name, MARK_SINCE)     ? "__atomsan_inl_since"
			   : !strcmp(name, MARK_NEXT)      ? "__atomsan_inl_next"
			   : !strcmp(name, MARK_GO_ON)     ? "__atomsan_inl_go_on"
			   : !strcmp(name, MARK_LEAVE)     ? "__atomsan_inl_leave"
			   : !strcmp(name, MARK_DONE)      ? "__atomsan_inl_done"
			   : !strcmp(name, MARK_WALKED)    ? "__atomsan_inl_walked"
							   : NULL;

	if (code)
		LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, emit_hook(code));
	return code != NULL;
}

static void plain_call(LLVMValueRef call)
{
	struct strings_access strings[STRINGS_MOST];
	LLVMValueRef callee = util_callee(call);
	size_t length;
	const char *name = callee ? LLVMGetValueName2(callee, &length) : "";

	if (callee && LLVMGetIntrinsicID(callee)) {
		intrinsic_call(call);
		return;
	}
	byval_arguments(call);
	/* A program's own function of that name is the program's business. */
	if (!callee || !LLVMIsDeclaration(callee))
		return;
	watched_call(call, callee, name);
	for (unsigned i = 0, count = strings_accesses(call, name, strings); i < count; i++)
		string_access(call, &strings[i]);
}

/* The mark of a function that begins. */
static bool is_entry(LLVMValueRef i)
{
	return LLVMIsACallInst(i) && (util_callee(i) == emit_hook("__atomsan_inl_enter") ||
				      util_callee(i) == emit_hook("__atomsan_inl_part"));
}

/* ---- stack objects that others may see ---- */

/* `marked`: there was a mark where the function begins, though it may be gone (empty.c). */
static void object(LLVMValueRef local, bool marked)
{
	LLVMTypeRef type = LLVMGetAllocatedType(local);
	LLVMValueRef entry_mark = NULL, arguments[3], at = NULL;
	struct note note;
	uint64_t size;

	if (LLVMGetAllocatedType(local) && !LLVMIsAConstantInt(LLVMGetOperand(local, 0)))
		return; /* alloca() in a loop: its accesses are seen, its bounds are not */
	if (!private_escapes(local))
		return;
	size = LLVMABISizeOfType(emit.layout, type) * LLVMConstIntGetZExtValue(LLVMGetOperand(local, 0));
	for (LLVMUseRef use = LLVMGetFirstUse(local); use && !at; use = LLVMGetNextUse(use))
		if (LLVMIsACallInst(LLVMGetUser(use)) &&
		    util_is_intrinsic(LLVMGetUser(use), "llvm.lifetime.start"))
			at = LLVMGetUser(use);
	if (at) {
		at = LLVMGetNextInstruction(at);
	} else {
		bool late = true; /* an array whose length folded to a constant may stand after the mark */
		LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetInstructionParent(local));

		for (; i && !entry_mark; i = LLVMGetNextInstruction(i)) {
			if (i == local)
				late = false;
			if (is_entry(i))
				entry_mark = i;
		}
		if (entry_mark || marked)
			at = LLVMGetNextInstruction(late || !entry_mark ? local : entry_mark);
		while (at && LLVMIsAAllocaInst(at))
			at = LLVMGetNextInstruction(at);
		if (!at)
			return; /* a function without marks: its frame has no end to tell */
	}
	note_find(local, true, &note);
	LLVMPositionBuilderBefore(emit.builder, at);
	LLVMSetCurrentDebugLocation2(emit.builder, LLVMInstructionGetDebugLoc(at));
	arguments[0] = local;
	arguments[1] = emit_number(size);
	arguments[2] = sites_add(at, ATOMSAN_OBJECT, ATOMSAN_PLAIN, size, &note);
	emit_call("__atomsan_inl_object", arguments, 3);
}

/* ---- functions ---- */

static void instrument_one(LLVMValueRef i)
{
	LLVMValueRef arguments[1];
	struct note none = {"", "", "", 0, 0, 0, 0};

	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		if (LLVMIsAtomic(i))
			atomic_access(i, LLVMGetOperand(i, 0), LLVMTypeOf(i), ATOMSAN_ATOMIC_LOAD,
				      LLVMGetOrdering(i));
		else
			plain_access(i, LLVMGetOperand(i, 0), LLVMTypeOf(i), false);
		break;
	case LLVMStore:
		if (LLVMIsAtomic(i))
			atomic_access(i, LLVMGetOperand(i, 1), LLVMTypeOf(LLVMGetOperand(i, 0)),
				      ATOMSAN_ATOMIC_STORE, LLVMGetOrdering(i));
		else
			plain_access(i, LLVMGetOperand(i, 1), LLVMTypeOf(LLVMGetOperand(i, 0)), true);
		break;
	case LLVMAtomicRMW:
		atomic_access(i, LLVMGetOperand(i, 0), LLVMTypeOf(i), ATOMSAN_ATOMIC_RMW, LLVMGetOrdering(i));
		break;
	case LLVMAtomicCmpXchg:
		atomic_access(i, LLVMGetOperand(i, 0), LLVMTypeOf(LLVMGetOperand(i, 1)), ATOMSAN_ATOMIC_RMW,
			      LLVMGetCmpXchgSuccessOrdering(i));
		break;
	case LLVMFence:
		if (LLVMIsAtomicSingleThread(i))
			break;
		emit_before(i);
		arguments[0] = sites_add(i, ATOMSAN_FENCE, order_of(LLVMGetOrdering(i)), 0, &none);
		emit_call("__atomsan_inl_fence", arguments, 1);
		break;
	case LLVMCall:
	case LLVMInvoke:
		plain_call(i);
		break;
	default:
		break;
	}
}

static void instrument_function(LLVMValueRef function, bool ignored)
{
	struct list accesses = {0}, locals = {0}, enters = {0};
	bool marked = false;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee = LLVMIsACallInst(i) ? util_callee(i) : NULL;
			size_t length;

			/* Marks come in by inlining even where nothing else is wanted. */
			if (callee && mark(i, LLVMGetValueName2(callee, &length))) {
				if (is_entry(i)) {
					list_add(&enters, i);
					marked |= b == LLVMGetEntryBasicBlock(function);
				}
				continue;
			}
			if (LLVMIsAAllocaInst(i))
				list_add(&locals, i);
			else
				list_add(&accesses, i);
		}
	}
	/* Private or not is asked before anything is added that takes addresses. */
	if (!ignored) {
		spoken_for.count = 0;
		private_forget();
		for (size_t i = 0; i < locals.count; i++)
			private_escapes(locals.items[i]);
		empty_frames_drop(enters.items, enters.count);
		loops = loops_plan(function, emit.layout);
		reread = reread_plan(accesses.items, accesses.count);
		for (size_t i = 0; i < accesses.count; i++)
			instrument_one(accesses.items[i]);
		loops_free(loops);
		reread_free(reread);
		for (size_t i = 0; i < locals.count; i++)
			object(locals.items[i], marked);
	}
	free(accesses.items);
	free(locals.items);
	free(enters.items);
}

void instrument_module(LLVMModuleRef of)
{
	sites_begin(of);
	di_begin(of);
	follow_forget();
	private_begin(of);
	emit_begin(of);
	for (LLVMValueRef f = LLVMGetFirstFunction(of); f; f = LLVMGetNextFunction(f)) {
		size_t length;
		const char *name = LLVMGetValueName2(f, &length);

		if (!LLVMIsDeclaration(f) && strncmp(name, "__atomsan_", 10))
			instrument_function(f, select_function_ignored(f));
	}
	variables_list(of);
	sites_module_constructor(of);
	private_end();
	follow_forget();
	emit_end();
}
