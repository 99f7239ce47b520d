/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The usual section, in the field: a thread that is in no other section comes to
 * a place where one section begins or ends. Either it holds no lock, and has
 * kept the gate since the last time (heal_gate.c), or it has the lock that
 * everybody uses the variable under, and needs no gate before it lets that go. Then
 * there is nothing to be waited for, no order to be noted and nobody to be let
 * through. What is anything else is left to heal_section.c, which does all of
 * it, and this as well.
 */
#include "rt/heal_guard.h"

bool heal_simple_entry(const struct atomsan_heal_role *role, struct atomsan_heal_variable *accessed,
		       const char *from, const char *to, const char *unit, uint64_t frame)
{
	struct heal_thread *me = &heal_self;
	struct atomsan_heal_section *section = role->section;
	struct atomsan_heal_variable *variable = section->variable;
	struct heal_wish wish = {.section = section, .from = from, .to = to, .kinds = 3};
	struct heal_open *open = &me->open[0];
	bool local = role->what & ATOMSAN_HEAL_LOCAL, lazy;

	if (heal_unlikely((!local && section->unit != unit) ||
			  section->flags & (ATOMSAN_HEAL_OFF | ATOMSAN_HEAL_SCHEDULE)))
		return false;
	if (variable->leader)
		variable = variable->leader;
	lazy = heal_guard_held(&accessed->guard, from, false);
	if (!lazy && ((!local && (me->held_count || section->end_guard.state)) ||
		      accessed->guard.state != HEAL_GUARD_NONE || heal_unlikely(!variable->node) ||
		      !heal_gate_again((uint32_t)variable->node, &wish)))
		return false;
	heal_count_entered(section);
	if (!lazy)
		heal_count_gated(section);
	open->section = section;
	open->from = open->first = from;
	open->to = to;
	open->frame = local ? HEAL_NO_FRAME : frame;
	open->local = local;
	open->depth = 1;
	open->held = me->held_count;
	open->stage = HEAL_OWNED;
	open->reused = false;
	open->lazy = lazy;
	open->nodes[0] = (uint32_t)variable->node;
	open->gates = !lazy;
	me->open_count = 1;
	return true;
}

bool heal_simple_end(const struct atomsan_heal_role *role, const char *from, const char *to)
{
	struct heal_thread *me = &heal_self;
	struct heal_open *open = &me->open[0];

	if (heal_unlikely(me->open_count != 1 || open->section != role->section || open->depth != 1 ||
			  open->stage != HEAL_OWNED || heal_worth_keeping(open)) ||
	    (open->lazy ? open->gates : open->gates != 1 || (me->held_count && !open->local)))
		return false;
	if (heal_unlikely(!open->local && !(open->section->flags & ATOMSAN_HEAL_ANY) &&
			  (open->from >= to || from >= open->to)))
		return false;
	open->stage = HEAL_PASSING;
	if (open->gates)
		heal_gate_stage(open->nodes[0], HEAL_PASSING);
	me->pending = true;
	return true;
}

bool heal_simple_done(void)
{
	struct heal_thread *me = &heal_self;
	struct heal_open *open = &me->open[0];

	if (heal_unlikely(me->open_count != 1 || me->told || open->stage != HEAL_PASSING ||
			  open->gates != !open->lazy))
		return false;
	me->pending = false;
	me->open_count = 0;
	if (open->gates)
		heal_gate_release(open->nodes[0]);
	return true;
}
