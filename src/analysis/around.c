/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/around.h"

#include <stdlib.h>

/* More locks than these at one access nobody wants to read about. */
enum { LOCKS_MOST = 16 };

struct section {
	const struct lockset_section *section;
	const char *lock;
};

struct held {
	struct section sections[LOCKS_MOST]; /* in the order of taking */
	uint32_t count;
};

static int by_taking(const void *a, const void *b)
{
	uint32_t x = ((const struct section *)a)->section->acquire,
		 y = ((const struct section *)b)->section->acquire;

	return (x > y) - (x < y);
}

static int by_giving_up(const void *a, const void *b)
{
	uint32_t x = ((const struct section *)a)->section->release,
		 y = ((const struct section *)b)->section->release;

	return (x > y) - (x < y);
}

static bool holds(const struct lockset_section *section, uint32_t event)
{
	return section->acquire < event && event < section->release;
}

/* The thread's section of the lock that the event lies in, or NULL. */
static const struct lockset_section *section_at(const struct locksets *locks, uint32_t thread, uint32_t lock,
						uint32_t event)
{
	const struct lockset_section *sections;
	uint32_t low = 0, high = lockset_sections(locks, thread, lock, &sections);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (holds(&sections[middle], event))
			return &sections[middle];
		if (sections[middle].acquire < event)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* The model names locks in the order of taking, too. */
static void find_held(struct held *held, const struct named *named, const struct prediction *p, uint32_t k)
{
	const struct locksets *locks = &named->predict->locks;
	uint32_t event = p->accesses[k], thread = named->predict->history->events[event].thread;
	const struct named_access *access = named_access(named, event, p->variables[k]);
	struct lockset_lock of[LOCKS_MOST];
	uint32_t count =
		lockset_locks(locks, locks->positions[lockset_at(locks, event)].context, of, LOCKS_MOST);

	held->count = 0;
	if (!access || count > LOCKS_MOST || access->lock_count != count)
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct lockset_section *section = section_at(locks, thread, of[i].lock, event);

		if (!section) {
			held->count = 0;
			return;
		}
		held->sections[held->count++].section = section;
	}
	qsort(held->sections, held->count, sizeof(*held->sections), by_taking);
	for (uint32_t i = 0; i < held->count; i++)
		held->sections[i].lock = access->locks[i];
}

static void add(struct around *around, struct around_step step)
{
	if (around->count == around->room) {
		around->room = around->room ? around->room * 2 : 8;
		around->steps = mem_resize(around->steps, around->room, sizeof(*around->steps));
	}
	around->steps[around->count++] = step;
}

/* Does the section hold an access of its thread among those from `first` to `end`? */
static bool holds_one(const struct named *named, const struct prediction *p,
		      const struct lockset_section *section, uint32_t first, uint32_t end)
{
	const struct history_event *events = named->predict->history->events;

	for (uint32_t k = first; k < end; k++)
		if (events[p->accesses[k]].thread == events[section->acquire].thread &&
		    holds(section, p->accesses[k]))
			return true;
	return false;
}

void around_find(struct around *around, const struct named *named, const struct prediction *p)
{
	for (uint32_t k = 0; k < p->access_count; k++) {
		struct held held;

		find_held(&held, named, p, k);
		for (uint32_t i = 0; i < held.count; i++)
			if (!holds_one(named, p, held.sections[i].section, 0, k))
				add(around, (struct around_step){.access = k,
								 .event = held.sections[i].section->acquire,
								 .taken = true,
								 .lock = held.sections[i].lock});
		qsort(held.sections, held.count, sizeof(*held.sections), by_giving_up);
		/* Behind the last access nobody needs to know. */
		for (uint32_t i = 0; i < held.count && k + 1 < p->access_count; i++)
			if (held.sections[i].section->release != HISTORY_NONE &&
			    !holds_one(named, p, held.sections[i].section, k + 1, p->access_count))
				add(around, (struct around_step){.access = k,
								 .event = held.sections[i].section->release,
								 .lock = held.sections[i].lock});
	}
}

void around_release(struct around *around)
{
	free(around->steps);
	*around = (struct around){0};
}
