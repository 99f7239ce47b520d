/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Standing in line before the first lock.
 *
 * A section begins with its first access, and that is usually made under a lock.
 * Who has to wait for the variable's gate there waits with the lock held, and the
 * owner, whose unit goes from lock to lock, may want this very lock next: then
 * nobody can wait for anybody, and the section is broken. Of a section that is a
 * whole unit it is known before that it will come: so the gate is taken where the
 * unit comes to lock first, with nothing held that the unit itself has taken.
 *
 * Until the first access nothing has happened that could be broken. Sections wait
 * for each other from here on, but accesses outside of sections pass, so that the
 * lock's holder, who might make one, is never waited for in a circle.
 *
 * For the same reason a place in the line can be given up: who has one, and comes
 * to a gate that must not be waited for with it, leaves the line, waits, and stands
 * in line anew. Otherwise it would have to go past that gate, into somebody's section.
 */
#include "rt/heal_guard.h"

enum {
	PATIENCE = 4, /* times that it was too long for somebody else */
};

static bool is_open(const struct atomsan_heal_section *section)
{
	for (uint32_t i = 0; i < heal_self.open_count; i++)
		if (heal_self.open[i].section == section)
			return true;
	return false;
}

/* False: it may be another time. */
static bool stand_in_line(struct atomsan_heal_section *section, uint64_t frame)
{
	struct heal_wish wish = {
		.section = section, .kinds = ATOMSAN_HEAL_READ | ATOMSAN_HEAL_WRITE, .early = true};
	struct heal_thread *me = &heal_self;
	struct atomsan_heal_variable *leader = heal_leader(section->variable);
	uint32_t node = heal_variable_node(leader);

	/* The thread has it, for another section of the same unit or because it keeps it. */
	if (heal_owner(&leader->gate) == me->number)
		return leader->gate.count;
	if (me->held_count || me->open_count)
		heal_order_taken(node);
	if (!heal_gate_pass(node, &wish))
		return false;
	me->open[me->open_count++] = (struct heal_open){.section = section,
							.frame = frame,
							.depth = 1,
							.stage = HEAL_EARLY,
							.gates = 1,
							.nodes = {node}};
	return true;
}

bool heal_early_leave(void)
{
	struct heal_thread *me = &heal_self;
	bool left = false;

	for (uint32_t i = me->open_count; i--;)
		if (me->open[i].stage == HEAL_EARLY) {
			heal_close_section(&me->open[i]);
			left = true;
		}
	me->left += left;
	return left;
}

void heal_early(void)
{
	struct heal_thread *me = &heal_self;
	struct atomsan_heal_section *section;
	uint32_t serial = heal_unit_serial(), n = 0;
	uint64_t frame;
	bool all = true;

	/* The same units as the last time, and all that it stood in line for is open still. */
	if (serial && me->early_serial == serial && me->early_closed == me->closed)
		return;
	while (me->open_count < HEAL_OPEN && (section = heal_next_whole(&n, &frame)))
		if (section->late < PATIENCE && !heal_guard_trusted(&section->variable->guard) &&
		    !is_open(section))
			all &= stand_in_line(section, frame);
	me->early_serial = all && me->open_count < HEAL_OPEN ? serial : 0;
	me->early_closed = me->closed;
}
