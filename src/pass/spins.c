/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops that wait without a lock or a condition: `while (!done) pause()`, with an
 * atomic or volatile `done`. Such a loop changes nothing that outlives an
 * iteration, so nothing but another thread can end it: what decides whether it
 * goes on is computed from atomic data anew each time. A search through an array
 * or a list of atomic data moves on by itself, and is none; nor is a loop that
 * gives up after some attempts.
 *
 * Locks are made of such loops, too, and whoever takes a lock does not mean
 * others to work in between. A lock has to be claimed: where the function, or
 * one that calls it, makes an atomic update, or the function itself an atomic
 * store, the loop is taken for a lock's. Asked of unoptimised code, where
 * variables are allocas.
 */
#include "pass/flow.h"
#include "pass/pass.h"
#include "pass/worth.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_DEPTH = 6,   /* of calls that are looked into */
	MOST_VALUES = 128 /* that decide about the end of a loop */
};

/* Atomic or volatile, and not this function's own. */
static bool is_shared_signal(LLVMValueRef i, bool store)
{
	if (store ? !LLVMIsAStoreInst(i) : !LLVMIsALoadInst(i))
		return false;
	return (LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic || LLVMGetVolatile(i)) &&
	       !private_pointer(LLVMGetOperand(i, store));
}

static bool is_update(LLVMValueRef i)
{
	return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

static bool is_local(LLVMValueRef pointer)
{
	return LLVMIsAAllocaInst(private_base(pointer));
}

/* ---- what may stand in such a loop ---- */

static bool is_idle_name(const char *name)
{
	static const char *const names[] = {"sched_yield",   "thrd_yield",   "pthread_yield",
					    "usleep",        "nanosleep",    "clock_nanosleep",
					    "sleep",         "thrd_sleep",   "time",
					    "clock_gettime", "gettimeofday", "__errno_location"};
	/* Functions that were looked at before have marks already. */
	static const char *const prefixes[] = {"_ZNSt11this_thread", "_ZNSt6chrono", "_ZNKSt6chrono",
					       "__atomsan_"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool is_idle_assembly(LLVMValueRef assembly)
{
	static const char *const words[] = {"",        "pause",   "nop",       "rep; nop",
					    "rep;nop", "rep nop", "rep\n\tnop"};
	size_t length;
	const char *text = LLVMGetInlineAsmAsmString(assembly, &length);

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == length && !memcmp(text, words[i], length))
			return true;
	return false;
}

static bool is_idle(LLVMValueRef i, bool *looks, unsigned depth);

/* Does a function do nothing but look, or let time pass? */
static bool is_idle_function(LLVMValueRef function, bool *looks, unsigned depth)
{
	size_t length;

	if (is_idle_name(LLVMGetValueName2(function, &length)))
		return true;
	if (LLVMIsDeclaration(function) || depth == MOST_DEPTH)
		return false;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (!is_idle(i, looks, depth + 1))
				return false;
	return true;
}

/* Changes nothing but locals? *looks: it looks at what others signal. */
static bool is_idle(LLVMValueRef i, bool *looks, unsigned depth)
{
	LLVMValueRef called;

	if (is_update(i) || (LLVMIsAStoreInst(i) && !is_local(LLVMGetOperand(i, 1))))
		return false;
	*looks |= is_shared_signal(i, false);
	if (!util_is_call(i))
		return true;
	called = LLVMGetCalledValue(i);
	if (LLVMIsAInlineAsm(called))
		return is_idle_assembly(called);
	if (!LLVMIsAFunction(called))
		return false;
	if (LLVMGetIntrinsicID(called))
		return !util_is_intrinsic(i, "llvm.mem") || private_pointer(LLVMGetOperand(i, 0));
	return is_idle_function(called, looks, depth);
}

bool spins_idle(LLVMValueRef instruction)
{
	bool looks = false;

	return is_idle(instruction, &looks, 0) && !looks;
}

/* ---- what decides about its end ---- */

struct decision {
	const struct flow *flow;
	unsigned loop;
	LLVMValueRef values[MOST_VALUES];
	unsigned count;
	bool by_others; /* something that others signal takes part in it */
	bool by_itself; /* so does what an earlier iteration left */
};

static void add(struct decision *d, LLVMValueRef value)
{
	for (unsigned i = 0; i < d->count; i++)
		if (d->values[i] == value)
			return;
	if (d->count == MOST_VALUES)
		d->by_itself = true; /* for all that is known */
	else
		d->values[d->count++] = value;
}

static bool is_put_in(LLVMValueRef i, LLVMValueRef variable)
{
	return LLVMIsAStoreInst(i) && private_base(LLVMGetOperand(i, 1)) == variable;
}

/* From the loop's header, whichever way, does a store to the variable come before `user`? */
static bool is_anew(const struct decision *d, LLVMValueRef variable, LLVMValueRef user)
{
	const struct flow *flow = d->flow;
	unsigned at = flow_number(flow, LLVMGetInstructionParent(user));
	bool *stored = calloc(flow->count, sizeof *stored), anew = false;

	/* Blocks come behind those that lead to them, but for ways back, which have passed what they go back
	 * to. */
	for (unsigned b = flow->loops[d->loop].header; b <= at; b++) {
		if (!flow_inside(flow, d->loop, b))
			continue;
		stored[b] = b != flow->loops[d->loop].header;
		for (unsigned i = flow->before_start[b]; i < flow->before_start[b + 1]; i++)
			if (flow->before[i] < b && !stored[flow->before[i]])
				stored[b] = false;
		for (LLVMValueRef i = LLVMGetFirstInstruction(flow->blocks[b]); i && (b != at || i != user);
		     i = LLVMGetNextInstruction(i))
			stored[b] |= is_put_in(i, variable);
	}
	anew = stored[at];
	free(stored);
	return anew;
}

/* Where `user` looks at a local variable: what the loop puts there, which must have been in the same
 * iteration. */
static void add_variable(struct decision *d, LLVMValueRef variable, LLVMValueRef user)
{
	const struct flow *flow = d->flow;
	bool put = false;

	for (unsigned b = 0; b < flow->count; b++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->blocks[flow->dominator[b]]);

		if (!flow_inside(flow, d->loop, b))
			continue;
		for (LLVMValueRef i = LLVMGetFirstInstruction(flow->blocks[b]); i;
		     i = LLVMGetNextInstruction(i)) {
			if (!is_put_in(i, variable))
				continue;
			put = true;
			add(d, LLVMGetOperand(i, 0));
			/* Which of several values it gets is decided by the way that leads there. */
			if (flow_inside(flow, d->loop, flow->dominator[b]) && LLVMGetNumSuccessors(end) > 1 &&
			    !LLVMIsAInvokeInst(end))
				add(d, LLVMGetOperand(end, 0));
		}
	}
	d->by_itself |= put && !is_anew(d, variable, user);
}

static void trace_back(struct decision *d, LLVMValueRef value)
{
	if (!LLVMIsAInstruction(value) || LLVMIsAAllocaInst(value) ||
	    !flow_inside(d->flow, d->loop, flow_number(d->flow, LLVMGetInstructionParent(value))))
		return;
	d->by_others |= is_shared_signal(value, false);
	if (util_is_call(value) && LLVMIsAFunction(LLVMGetCalledValue(value)))
		is_idle_function(LLVMGetCalledValue(value), &d->by_others, 0);
	for (int n = 0; n < LLVMGetNumOperands(value); n++) {
		LLVMValueRef operand = LLVMGetOperand(value, (unsigned)n), base;

		if (LLVMValueIsBasicBlock(operand))
			continue;
		base = private_base(operand);
		if (LLVMIsAAllocaInst(base) && (LLVMIsALoadInst(value) || util_is_call(value)))
			add_variable(d, base, value);
		else
			add(d, operand);
	}
	/* a && b is where control came from: a decided that. */
	for (unsigned n = 0; LLVMIsAPHINode(value) && n < LLVMCountIncoming(value); n++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(value, n));

		if (LLVMGetNumSuccessors(end) > 1 && !LLVMIsAInvokeInst(end))
			add(d, LLVMGetOperand(end, 0));
	}
}

static bool decided_by_others(const struct flow *flow, unsigned loop)
{
	struct decision d = {.flow = flow, .loop = loop};

	for (unsigned b = 0; b < flow->count; b++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->blocks[b]);
		unsigned ways = LLVMGetNumSuccessors(end);

		if (!flow_inside(flow, loop, b) || ways < 2 || LLVMIsAInvokeInst(end))
			continue;
		for (unsigned i = 0; i < ways; i++)
			if (!flow_inside(flow, loop, flow_number(flow, LLVMGetSuccessor(end, i))))
				add(&d, LLVMGetOperand(end, 0));
	}
	for (unsigned i = 0; i < d.count; i++)
		trace_back(&d, d.values[i]);
	return d.by_others && !d.by_itself;
}

/* ---- locks ---- */

/* Updates, and stores if asked for, by itself or by what the C++ library makes of its operators. */
static bool claims(LLVMValueRef function, bool stores, unsigned depth)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee = util_is_call(i) ? util_callee(i) : NULL;

			if (is_update(i) || (stores && is_shared_signal(i, true)))
				return true;
			if (callee && depth < MOST_DEPTH && worth_of_the_library(callee) &&
			    claims(callee, stores, depth + 1))
				return true;
		}
	return false;
}

static bool is_of_a_lock(LLVMValueRef function)
{
	if (claims(function, true, 0))
		return true;
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (util_is_call(user) &&
		    claims(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)), false, 0))
			return true;
	}
	return false;
}

/* ---- */

bool spins_loop(LLVMValueRef function, const struct flow *flow, unsigned loop)
{
	bool looks = false;

	for (unsigned b = 0; b < flow->count; b++)
		if (flow_inside(flow, loop, b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(flow->blocks[b]); i;
			     i = LLVMGetNextInstruction(i))
				if (!is_idle(i, &looks, 0))
					return false;
	return looks && decided_by_others(flow, loop) && !is_of_a_lock(function);
}

bool spins_somewhere(LLVMValueRef function)
{
	struct flow flow;
	bool looks = false, found = false;

	/* Most functions look at nothing of the kind, and need no closer look. */
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && !looks;
	     b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !looks;
		     i = LLVMGetNextInstruction(i)) {
			bool here = false;

			looks = is_idle(i, &here, 0) && here;
		}
	if (!looks || !flow_init(&flow, function))
		return false;
	for (unsigned n = 0; n < flow.loop_count && !found; n++)
		found = spins_loop(function, &flow, n);
	flow_release(&flow);
	return found;
}
