/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sections: from their entry to their end, or to where their unit is left.
 *
 * At the entry the gates of all locks that the thread holds are taken, and the
 * one of the variable; where an earlier pass has shown that the end needs a lock
 * that the entry has not, its gate as well, and whoever is inside is let come
 * out first. Variables that are used together in a section have one gate, so
 * that among variables there is no order to go wrong.
 *
 * An end is an access, and the section is over when it has happened. It may not
 * be the last: `n = size(v); for (...) get(v, i)` comes to its end again and
 * again. So the section is kept until its unit is left, unless passes without
 * number have shown that this is no use.
 */
#include "rt/heal_guard.h"

#include <stdint.h>

static void count(struct atomsan_heal_section *section, enum atomsan_heal_counter counter)
{
	__atomic_fetch_add(&section->counter[counter], 1, __ATOMIC_RELAXED);
}

void heal_count_slot(uint32_t slot, struct atomsan_heal_section *section)
{
	struct heal_thread *me = &heal_self;
	struct atomsan_heal_section *before = me->entered[slot].section;

	if (before) {
		__atomic_fetch_add(&before->counter[ATOMSAN_HEAL_ENTERED], me->entered[slot].times,
				   __ATOMIC_RELAXED);
		__atomic_fetch_add(&before->counter[ATOMSAN_HEAL_GATED], me->entered[slot].gated,
				   __ATOMIC_RELAXED);
	}
	me->entered[slot].section = section;
	me->entered[slot].times = me->entered[slot].gated = 0;
}

void heal_count_all(void)
{
	for (uint32_t slot = 0; slot < HEAL_COUNTS; slot++)
		heal_count_slot(slot, NULL);
}

void heal_count_forget(void)
{
	struct atomsan_heal_section *section;

	heal_count_all();
	for (uint32_t i = 0; (section = (struct atomsan_heal_section *)heal_nth(i)); i++)
		for (int k = 0; k < ATOMSAN_HEAL_COUNTERS; k++)
			section->counter[k] = 0;
}

struct atomsan_heal_variable *heal_leader(struct atomsan_heal_variable *variable)
{
	while (variable->leader)
		variable = variable->leader;
	return variable;
}

void heal_join(struct atomsan_heal_variable *a, struct atomsan_heal_variable *b)
{
	a = heal_leader(a);
	b = heal_leader(b);
	if (a != b)
		b->leader = a;
}

/* ---- begun ---- */

static bool has_gate(const struct heal_open *open, uint32_t node)
{
	for (uint32_t i = 0; i < open->gates; i++)
		if (open->nodes[i] == node)
			return true;
	return false;
}

static bool take(struct heal_open *open, uint32_t node, const struct heal_wish *wish)
{
	struct atomsan_heal_gate *gate = heal_gate_of(node);

	if (open->gates == HEAL_GATES || has_gate(open, node))
		return false;
	if (!heal_gate_pass(node, wish))
		return false;
	if (gate->count > 1 && (gate->from != wish->from || gate->to != wish->to))
		gate->from = gate->to = NULL;
	/* What one of the sections minds, that have it at once, nobody may do. */
	if (gate->count > 1)
		gate->allow &= wish->section->allow;
	__atomic_store_n(&gate->stage, HEAL_OWNED, __ATOMIC_RELEASE);
	open->nodes[open->gates++] = node;
	return true;
}

/* Those of the locks that the thread holds, and the innermost first: these will be let go first. */
static void take_held(struct heal_open *open)
{
	struct heal_wish wish = {.section = open->section, .kinds = 3};
	const struct heal_thread *me = &heal_self;

	for (uint32_t i = me->held_count; i--;) {
		uint32_t node = heal_lock_node(me->held[i].object);
		uint32_t owner = heal_owner(&heal_locks[node]);

		/* Somebody may have gone past the gate because of a limit; he holds the lock now, and here we
		 * are, past it as well. */
		if (owner && owner != me->number)
			continue;
		heal_locks[node].object = me->held[i].object;
		take(open, node, &wish);
	}
}

/* Locks that the end may need and the thread has not: both guesses, as long as both hold. */
enum { GUESSES = 2 };
static uint32_t locks_of_end(const struct heal_open *open, const void *locks[GUESSES])
{
	const struct atomsan_heal_guard *guard = &open->section->end_guard;
	uint32_t state = __atomic_load_n(&guard->state, __ATOMIC_ACQUIRE), count = 0;
	const void *near = open->first + guard->distance;

	if (heal_likely(!state))
		return 0;
	if (state & HEAL_GUARD_AT && !heal_guard_holds(guard->lock, true))
		locks[count++] = guard->lock;
	if (state & HEAL_GUARD_NEAR && !(count && locks[0] == near) && !heal_guard_holds(near, true))
		locks[count++] = near;
	return count;
}

static void take_locks(struct heal_open *open)
{
	struct heal_wish wish = {.section = open->section, .kinds = 3};
	const void *locks[GUESSES];
	uint32_t count;

	take_held(open);
	count = locks_of_end(open, locks);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t node = heal_lock_node(locks[i]);

		heal_order_taken(node);
		if (take(open, node, &wish) && !heal_order_forbids(node))
			heal_gate_drain(node);
	}
}

/* Nothing has been accessed yet, so all that was taken can be given back. */
static void give_back(struct heal_open *open)
{
	while (open->gates)
		heal_gate_release(open->nodes[--open->gates]);
}

void heal_close_section(struct heal_open *open)
{
	struct heal_thread *me = &heal_self;
	struct heal_open *last;

	/* A whole unit is kept in any case. */
	if (open->stage == HEAL_LINGERING && !(open->section->flags & ATOMSAN_HEAL_WHOLE))
		__atomic_fetch_add(open->reused ? &open->section->reused : &open->section->lingered, 1,
				   __ATOMIC_RELAXED);
	for (uint32_t i = open->gates; i--;)
		heal_gate_release(open->nodes[i]);
	me->closed++;
	last = &me->open[--me->open_count];
	if (open != last)
		*open = *last;
}

static bool overlap(const struct heal_open *open, const char *from, const char *to)
{
	return open->local || open->section->flags & ATOMSAN_HEAL_ANY || (open->from < to && from < open->to);
}

/* Those who were there before the gate was ours. */
static void let_through(uint32_t node, const struct heal_wish *wish)
{
	struct atomsan_heal_variable *variable = heal_variable_of(node);

	/* What is kept is closed to everybody. */
	if (variable->kept)
		heal_let_through(variable, NULL, NULL);
	else
		heal_let_through(variable, wish->from, wish->to);
}

/* Waiting for the variable's gate, somebody else has learned that the end needs a lock. Who has that lock's
 * gate already may want this one next, and would have to go past it. */
static bool is_out_of_order(const struct heal_open *open)
{
	const void *locks[GUESSES];

	for (uint32_t i = locks_of_end(open, locks); i--;)
		if (!has_gate(open, heal_lock_node(locks[i])) && open->gates < HEAL_GATES)
			return true;
	return false;
}

static void close_gates(struct heal_open *open)
{
	struct atomsan_heal_section *section = open->section;
	struct heal_wish wish = {.section = section, .from = open->from, .to = open->to, .kinds = 3};
	uint32_t node = heal_variable_node(heal_leader(section->variable));

	open->lazy = false;
	heal_count_gated(section);
	/* No lock is let go before it is over, so nobody comes in by one. */
	if (!open->local)
		heal_lock_leads();
	if (section->flags & ATOMSAN_HEAL_ANY)
		wish.from = wish.to = NULL;
	for (unsigned tries = 0;; tries++) {
		bool again, taken;

		if (!open->local && !(section->flags & ATOMSAN_HEAL_SCHEDULE))
			take_locks(open);
		if (heal_self.held_count || heal_self.open_count > 1)
			heal_order_taken(node);
		again = heal_likely(open->gates < HEAL_GATES && heal_gate_again(node, &wish));
		if (again)
			open->nodes[open->gates++] = node;
		taken = again || take(open, node, &wish);
		if (heal_unlikely(taken && !tries && !open->local &&
				  !(section->flags & ATOMSAN_HEAL_SCHEDULE) && is_out_of_order(open))) {
			give_back(open);
			continue;
		}
		if (taken && !again)
			let_through(node, &wish);
		break;
	}
	if (open->stage == HEAL_LINGERING)
		for (uint32_t i = 0; i < open->gates; i++)
			heal_gate_stage(open->nodes[i], HEAL_LINGERING);
}

/* It has stood in line already (heal_early.c), and now it comes to its first access. */
static void begin_early(struct heal_open *open, const char *from, const char *to)
{
	uint32_t node = open->nodes[0];
	struct atomsan_heal_gate *gate = heal_gate_of(node);
	bool any = open->section->flags & ATOMSAN_HEAL_ANY;
	struct heal_wish wish = {.from = any ? NULL : from, .to = any ? NULL : to};

	open->from = open->first = from;
	open->to = to;
	open->held = heal_self.held_count;
	open->stage = HEAL_OWNED;
	heal_count_gated(open->section);
	heal_lock_leads();
	take_locks(open);
	/* Meanwhile it may have been taken for another section, too. */
	gate->from = gate->count > 1 ? NULL : wish.from;
	gate->to = gate->count > 1 ? NULL : wish.to;
	gate->stage = HEAL_OWNED;
	__atomic_store_n(&gate->allow, gate->allow & open->section->allow, __ATOMIC_RELEASE);
	/* Who has been let pass by what was there before has told. */
	let_through(node, &wish);
}

/* The unit goes on, with something else of the variable perhaps, and under other locks. */
static void widen(struct heal_open *open, const char *from, const char *to)
{
	if (open->lazy) {
		open->from = from < open->from ? from : open->from;
		open->to = to > open->to ? to : open->to;
		return;
	}
	if (open->from <= from && to <= open->to && open->held == heal_self.held_count)
		return;
	open->held = heal_self.held_count;
	if (from < open->from || open->to < to) {
		open->from = from < open->from ? from : open->from;
		open->to = to > open->to ? to : open->to;
		for (uint32_t i = 0; i < open->gates; i++) {
			struct atomsan_heal_gate *gate = heal_gate_of(open->nodes[i]);

			if (open->nodes[i] >= HEAL_LOCKS && heal_owner(gate) == heal_self.number) {
				struct heal_wish wish = {.from = from, .to = to};

				gate->from = gate->to = NULL;
				let_through(open->nodes[i], &wish);
			}
		}
	}
	take_held(open);
}

/* Of a struct that is copied whole the optimiser takes the members that are used, one after the other. */
static bool is_next_piece(const struct heal_open *open, const struct atomsan_heal_role *role, uint64_t frame,
			  const char *from, const char *to)
{
	enum { NEAR = 1024 }; /* what is larger is copied as a whole */

	return role->what & ATOMSAN_HEAL_PIECE && open->stage == HEAL_OWNED && open->frame == frame &&
	       (from >= open->to || to <= open->from) && from < open->first + NEAR &&
	       open->first < from + NEAR;
}

/* False: it is not this section's unit that comes here. */
static bool enter(const struct atomsan_heal_role *role, struct atomsan_heal_variable *variable,
		  const char *from, const char *to)
{
	struct atomsan_heal_section *section = role->section;
	bool local = role->what & ATOMSAN_HEAL_LOCAL;
	struct heal_thread *me = &heal_self;
	struct heal_open *open, *before = NULL;
	uint64_t frame;

	if (section->flags & ATOMSAN_HEAL_OFF)
		return false;
	frame = local ? HEAL_NO_FRAME : heal_frame_of(section);
	if (!frame)
		return false;
	for (uint32_t i = 0; i < me->open_count; i++)
		if (me->open[i].section == section)
			before = &me->open[i];
	if (before && before->stage == HEAL_EARLY) {
		heal_count_entered(section);
		heal_guard_covers(variable, from, false);
		begin_early(before, from, to);
		return true;
	}
	if (before && section->flags & ATOMSAN_HEAL_RECURSIVE && overlap(before, from, to) &&
	    before->stage == HEAL_OWNED) {
		before->depth++;
		return true;
	}
	if (before && ((section->flags & ATOMSAN_HEAL_WHOLE && before->frame == frame &&
			before->stage != HEAL_PASSING) ||
		       is_next_piece(before, role, frame, from, to))) {
		widen(before, from, to);
		return true;
	}
	if (me->open_count == HEAL_OPEN) {
		if (!before)
			return false;
		heal_close_section(before);
		before = NULL;
	}
	heal_count_entered(section);
	open = &me->open[me->open_count];
	open->section = section;
	open->from = open->first = from;
	open->to = to;
	open->frame = frame;
	open->depth = 1;
	open->stage = HEAL_OWNED;
	open->reused = false;
	open->local = local;
	open->held = me->held_count;
	open->gates = 0;
	me->open_count++;
	/* While the lock is held that all use the variable under, nobody else comes. */
	open->lazy = heal_guard_covers(variable, from, false) && !(section->flags & ATOMSAN_HEAL_SCHEDULE);
	if (!open->lazy)
		close_gates(open);
	/* What it was begun with before is passed on to this one. */
	if (before)
		heal_close_section(before);
	return true;
}

void heal_close_gates(void)
{
	struct heal_thread *me = &heal_self;

	for (uint32_t i = 0; i < me->open_count; i++)
		if (me->open[i].lazy && me->open[i].stage != HEAL_PASSING)
			close_gates(&me->open[i]);
}

/* ---- ended ---- */

static void set_stage(struct heal_open *open, enum heal_stage stage)
{
	open->stage = stage;
	for (uint32_t i = 0; i < open->gates; i++)
		heal_gate_stage(open->nodes[i], stage);
}

/* A lock that the section's end is made under, and its entry was not: from now on entries take its gate. Its
 * gate comes first, and then that it is known: we may come to lock once more, and who knew before we have
 * the gate would wait behind it for the variable's, which is ours. */
static void learn_lock(struct heal_open *open, const void *lock)
{
	uint32_t node = heal_lock_node(lock);

	take_held(open);
	for (uint32_t i = 0; i < open->gates; i++)
		heal_order_remove(open->nodes[i], node);
	heal_guard_learn(&open->section->end_guard, lock, open->first);
	heal_use.tracks = 1;
}

static void reach_end(struct heal_open *open)
{
	const struct heal_thread *me = &heal_self;

	if (open->section->flags & ATOMSAN_HEAL_RECURSIVE && open->depth > 1) {
		open->depth--;
		return;
	}
	/* One whose gates are not needed yet has not let go what it began under. */
	for (uint32_t i = open->lazy || open->local ? 0 : me->held_count; i--;) {
		const void *lock = me->held[i].object;

		if (!has_gate(open, heal_lock_node(lock)))
			learn_lock(open, lock);
		else if (heal_guard_is(&open->section->end_guard, open->first, lock))
			heal_guard_learn(&open->section->end_guard, lock, open->first);
	}
	if (open->stage == HEAL_LINGERING) {
		open->reused = true;
	} else if (heal_worth_keeping(open)) {
		open->reused = false;
		set_stage(open, HEAL_LINGERING);
	} else {
		set_stage(open, HEAL_PASSING);
		heal_self.pending = true;
	}
}

void heal_done(void)
{
	struct heal_thread *me = &heal_self;

	me->pending = false;
	heal_returns(false);
	if (me->told)
		heal_untell();
	for (uint32_t i = me->open_count; i--;)
		if (me->open[i].stage == HEAL_PASSING)
			heal_close_section(&me->open[i]);
}

void heal_sweep(uint64_t frame)
{
	struct heal_thread *me = &heal_self;

	for (uint32_t i = me->open_count; i--;)
		if (me->open[i].frame >= frame)
			heal_close_section(&me->open[i]);
}

void heal_give_up(bool counted)
{
	struct heal_thread *me = &heal_self;

	if (me->pending)
		heal_done();
	while (me->open_count) {
		struct heal_open *open = &me->open[me->open_count - 1];

		if (counted && open->stage == HEAL_OWNED)
			count(open->section, ATOMSAN_HEAL_GIVEN_UP);
		heal_close_section(open);
	}
}

/* ---- accesses ---- */

static void pass_by(struct atomsan_heal_variable *variable, const char *from, const char *to, unsigned kinds)
{
	struct heal_wish wish = {.from = from, .to = to, .kinds = kinds};
	struct atomsan_heal_variable *leader = heal_leader(variable);
	uint32_t node = heal_variable_node(leader);
	uint32_t owner = heal_owner(&leader->gate);

	/* Outside of its sections, somebody may be about to take a gate away that was kept. */
	if (owner == heal_self.number && leader->gate.count)
		return;
	if (heal_guard_covers(variable, from, kinds == ATOMSAN_HEAL_READ)) {
		if (heal_unlikely(owner))
			heal_gate_pass(node, &wish);
		return;
	}
	while (!heal_tell(node, &wish))
		if (!heal_gate_pass(node, &wish))
			return;
}

/* The ends that the access is. */
static bool reach_ends(const struct atomsan_heal_place *place, const char *from, const char *to,
		       unsigned kinds)
{
	struct heal_thread *me = &heal_self;
	bool ended = false;

	for (uint32_t i = 0; i < place->roles; i++) {
		const struct atomsan_heal_role *role = &place->role[i];

		if (!(role->what & ATOMSAN_HEAL_END) || !(role->kind & kinds))
			continue;
		for (uint32_t j = 0; j < me->open_count; j++)
			if (me->open[j].section == role->section && me->open[j].stage != HEAL_EARLY &&
			    overlap(&me->open[j], from, to)) {
				reach_end(&me->open[j]);
				ended = true;
			}
	}
	return ended;
}

static bool enter_all(const struct atomsan_heal_place *place, const char *from, const char *to,
		      unsigned kinds)
{
	bool entered = false;

	for (uint32_t i = 0; i < place->roles; i++) {
		const struct atomsan_heal_role *role = &place->role[i];

		if (role->what & ATOMSAN_HEAL_ENTRY && role->kind & kinds)
			entered |= enter(role, place->variable, from, to);
	}
	return entered;
}

void heal_access(const struct atomsan_heal_place *place, const void *p, uint64_t length, unsigned kinds)
{
	struct heal_thread *me = &heal_self;
	const char *from = p, *to = from + length;

	if (me->pending)
		heal_done();
	if (!reach_ends(place, from, to, kinds))
		for (uint32_t i = 0; i < me->open_count; i++) {
			struct heal_open *open = &me->open[i];

			if (open->section->flags & ATOMSAN_HEAL_CONSECUTIVE && open->from < to &&
			    from < open->to) {
				set_stage(open, HEAL_PASSING);
				me->pending = true;
			}
		}
	/* Who could not have the gate has tried already. */
	if (!enter_all(place, from, to, kinds) && !(place->flags & ATOMSAN_HEAL_HARMLESS))
		pass_by(place->variable, from, to, place->kinds);
}

void heal_store(const struct atomsan_heal_place *place, const void *p, uint64_t length)
{
	const char *from = p, *to = from + length;

	reach_ends(place, from, to, ATOMSAN_HEAL_WRITE);
	enter_all(place, from, to, ATOMSAN_HEAL_WRITE);
}
