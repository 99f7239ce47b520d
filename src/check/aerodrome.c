/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Vector clocks, after AeroDrome (Mathur and Viswanathan, "Atomicity checking in
 * linear time using vector clocks", ASPLOS 2020).
 *
 * AeroDrome gives each thread a clock, each location the clocks of its last
 * write and of each thread's last read, and asks, before a unit takes over a
 * clock, whether the unit's own begin is in it already: then the unit comes
 * before what it is about to follow, a violation. When a unit ends, its clock
 * goes to all clocks that have its begin. This is the same with four changes:
 *
 *   - The question is only ever asked about units that are open, so a clock
 *     keeps those components alone: which thread's open unit comes before. A
 *     clock without components is void, and so is the unit that it belongs to.
 *     Clocks are sparse, and no larger for threads that have nothing to do with
 *     the set.
 *   - The clock belongs to the unit, and locations name the unit. What changes
 *     in the clock is then known wherever it is used, and the end of a unit
 *     need not look at all locations: each component is in a list of the unit
 *     that it names.
 *   - AeroDrome sees a cycle through two open units only when one of them ends,
 *     since clocks taken over before the one unit knew the other do not learn
 *     of it until then. Here the question follows the clocks of the open units
 *     that a clock names, so the access that closes a cycle is the one
 *     reported, as in the conflict graph.
 *   - Clocks of readers are not joined: when one of several readers makes an
 *     edge that closes a cycle, the others' edges must still count.
 *
 * With V(u) the components of u's clock: the open units before u are exactly
 * those found from V(u) by going on from each open unit a to V(a). A new edge
 * s -> u adds s to V(u) if s is open, else V(s). The end of a puts V(a) in the
 * place of a wherever a was. All three keep the equation. Nothing here needs
 * program order: without it two units of one thread are just two units.
 */
#include <stdlib.h>

#include "base/err.h"
#include "check/state.h"

/* In the clock of `holder` stands the open unit `open`. */
struct component {
	uint32_t next, previous;             /* of the clock */
	uint32_t other_next, other_previous; /* of those that name the open unit */
	uint32_t holder, open;
};

struct aerodrome {
	struct pool components;
	struct list stack;
};

static struct component *component_at(struct check *check, uint32_t component)
{
	return (struct component *)check->aerodrome->components.items + component;
}

static struct clock *clock_at(struct check *check, uint32_t unit)
{
	return &unit_at(check, unit)->clock;
}

static void aerodrome_init(struct check *check)
{
	check->aerodrome = mem_zalloc(1, sizeof(*check->aerodrome));
	pool_init(&check->aerodrome->components, sizeof(struct component));
}

static void aerodrome_begin(struct check *check, uint32_t unit)
{
	*clock_at(check, unit) = (struct clock){0};
}

static void aerodrome_release(struct check *check)
{
	pool_release(&check->aerodrome->components);
	list_release(&check->aerodrome->stack);
	free(check->aerodrome);
}

static void component_add(struct check *check, uint32_t holder, uint32_t open)
{
	uint32_t number = pool_take(&check->aerodrome->components, sizeof(struct component));
	struct component *component = component_at(check, number);
	uint32_t *mine = &clock_at(check, holder)->components;
	uint32_t *others = &clock_at(check, open)->holders;

	*component = (struct component){
		.next = *mine,
		.other_next = *others,
		.holder = holder,
		.open = open,
	};
	if (*mine)
		component_at(check, *mine)->previous = number;
	if (*others)
		component_at(check, *others)->other_previous = number;
	*mine = *others = number;
	check->stats.edges++;
	check->news++;
}

/* Takes the component out of its clock; the list of the open unit is the caller's. */
static void component_drop(struct check *check, uint32_t number)
{
	struct component *component = component_at(check, number);

	if (component->next)
		component_at(check, component->next)->previous = component->previous;
	if (component->previous)
		component_at(check, component->previous)->next = component->next;
	else
		clock_at(check, component->holder)->components = component->next;
	pool_give(&check->aerodrome->components, sizeof(struct component), number);
}

/* Marks the open units in a clock, all with one new mark; how many there are. */
static uint32_t mark_clock(struct check *check, uint32_t unit)
{
	uint64_t mark = ++check->marks;
	uint32_t count = 0;
	uint32_t at;

	for (at = clock_at(check, unit)->components; at; at = component_at(check, at)->next) {
		unit_at(check, component_at(check, at)->open)->mark = mark;
		count++;
	}
	return count;
}

/* What the unit's clock lacks of the other's. */
static void join(struct check *check, uint32_t unit, uint32_t other)
{
	uint32_t at;

	mark_clock(check, unit);
	for (at = clock_at(check, other)->components; at; at = component_at(check, at)->next)
		if (unit_at(check, component_at(check, at)->open)->mark != check->marks)
			component_add(check, unit, component_at(check, at)->open);
}

static bool names(struct check *check, uint32_t unit, uint32_t open)
{
	uint32_t at = clock_at(check, unit)->components;

	while (at && component_at(check, at)->open != open)
		at = component_at(check, at)->next;
	return at;
}

/* Does the open unit come before the other one? */
static bool before(struct check *check, uint32_t open, uint32_t unit)
{
	struct list *stack = &check->aerodrome->stack;
	uint64_t mark = ++check->marks;
	uint32_t at;

	if (!clock_at(check, open)->holders)
		return false;
	stack->count = 0;
	for (;;) {
		check->stats.searched++;
		for (at = clock_at(check, unit)->components; at; at = component_at(check, at)->next) {
			uint32_t next = component_at(check, at)->open;

			if (next == open)
				return true;
			if (unit_at(check, next)->mark == mark)
				continue;
			unit_at(check, next)->mark = mark;
			if (clock_at(check, next)->components)
				list_add(stack, next);
		}
		if (!stack->count)
			return false;
		unit = stack->items[--stack->count];
	}
}

static void refuse(struct check *check, uint32_t from, uint32_t to, const struct check_access_tag *source,
		   const struct check_access_tag *target)
{
	struct check_edge edge = {.from = unit_named(check, from, source), .to = unit_at(check, to)->tag};

	/* Two units that take turns on one location are one violation. */
	if (clock_at(check, to)->refused == unit_at(check, from)->ref)
		return;
	clock_at(check, to)->refused = unit_at(check, from)->ref;
	check->stats.violations++;
	check->news++;
	edge.source = *source;
	edge.target = *target;
	if (check->config.violation)
		check->config.violation(check->config.user,
					&(struct check_cycle){.edges = &edge, .length = 1});
}

static void aerodrome_edge(struct check *check, uint32_t from, uint32_t to,
			   const struct check_access_tag *source, const struct check_access_tag *target)
{
	if (before(check, to, from)) {
		refuse(check, from, to, source, target);
	} else if (!unit_at(check, from)->open) {
		join(check, to, from);
	} else if (!names(check, to, from)) {
		component_add(check, to, from);
	}
}

static void aerodrome_end(struct check *check, uint32_t unit)
{
	uint32_t at, next;

	for (at = clock_at(check, unit)->holders; at; at = next) {
		uint32_t holder = component_at(check, at)->holder;

		next = component_at(check, at)->other_next;
		component_drop(check, at);
		join(check, holder, unit);
		if (!unit_at(check, holder)->open && !clock_at(check, holder)->components)
			unit_free(check, holder);
	}
	clock_at(check, unit)->holders = 0;
	if (!clock_at(check, unit)->components)
		unit_free(check, unit);
}

static bool aerodrome_matters(struct check *check, uint32_t unit)
{
	return clock_at(check, unit)->components;
}

/* Finished units with equal clocks stay equal: what changes the one changes the other. */
static bool aerodrome_same(struct check *check, uint32_t unit, const uint32_t *sources, uint32_t count)
{
	uint32_t left = mark_clock(check, unit);
	uint64_t mark = check->marks++;
	uint32_t i, at;

	for (i = 0; i < count; i++) {
		uint32_t open = unit_at(check, sources[i])->open ? sources[i] : 0;

		at = clock_at(check, sources[i])->components;
		while (open || at) {
			struct unit *one = unit_at(check, open ? open : component_at(check, at)->open);

			/* Once counted, it carries the next mark. */
			if (one->mark == mark) {
				one->mark = mark + 1;
				left--;
			} else if (one->mark != mark + 1) {
				return false;
			}
			if (open)
				break;
			at = component_at(check, at)->next;
		}
	}
	return !left;
}

const struct engine aerodrome_engine = {
	.init = aerodrome_init,
	.begin = aerodrome_begin,
	.end = aerodrome_end,
	.matters = aerodrome_matters,
	.edge = aerodrome_edge,
	.same = aerodrome_same,
	.release = aerodrome_release,
};
