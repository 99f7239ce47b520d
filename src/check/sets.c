/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sets and the last units of threads on them, see sets.h. All entries are in
 * one hash table, by set and thread, and each set has a list of its own, so
 * that a merge moves the entries of the set that has fewer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "check/sets.h"

struct set {
	uint32_t parent;       /* merged into; 0: not */
	uint32_t references;   /* its handle, units that matter, children and entries */
	uint32_t first, count; /* its entries */
};

struct handle {
	uint32_t set;
};

struct last {
	uint32_t chain;          /* next in the hash table */
	uint32_t next, previous; /* of the set */
	uint32_t set, thread, unit;
};

struct sets {
	struct pool sets, handles, lasts;
	uint32_t *heads;
	uint32_t mask;
};

static struct set *set_at(struct sets *sets, uint32_t set)
{
	return (struct set *)sets->sets.items + set;
}

static struct last *last_at(struct sets *sets, uint32_t entry)
{
	return (struct last *)sets->lasts.items + entry;
}

struct sets *sets_new(void)
{
	struct sets *sets = mem_zalloc(1, sizeof(*sets));

	pool_init(&sets->sets, sizeof(struct set));
	pool_init(&sets->handles, sizeof(struct handle));
	pool_init(&sets->lasts, sizeof(struct last));
	sets->mask = 15;
	sets->heads = mem_zalloc(sets->mask + 1, sizeof(*sets->heads));
	return sets;
}

void sets_free(struct sets *sets)
{
	pool_release(&sets->sets);
	pool_release(&sets->handles);
	pool_release(&sets->lasts);
	free(sets->heads);
	free(sets);
}

static uint32_t *head(struct sets *sets, uint32_t set, uint32_t thread)
{
	uint64_t hash = ((uint64_t)set << 32 | thread) * 0x9e3779b97f4a7c15u;

	return &sets->heads[hash >> 32 & sets->mask];
}

uint32_t sets_of(struct sets *sets, uint32_t handle)
{
	return ((struct handle *)sets->handles.items)[handle].set;
}

void sets_hold(struct sets *sets, uint32_t set)
{
	set_at(sets, set)->references++;
}

void sets_let_go(struct sets *sets, uint32_t set)
{
	while (set && !--set_at(sets, set)->references) {
		uint32_t parent = set_at(sets, set)->parent;

		BUG_ON(set_at(sets, set)->count);
		pool_give(&sets->sets, sizeof(struct set), set);
		set = parent;
	}
}

bool sets_quiet(const struct sets *sets, uint32_t handle)
{
	uint32_t set = ((const struct handle *)sets->handles.items)[handle].set;

	return ((const struct set *)sets->sets.items)[set].references == 1;
}

uint32_t sets_handle_new(struct sets *sets)
{
	uint32_t handle = pool_take(&sets->handles, sizeof(struct handle));
	uint32_t set = pool_take(&sets->sets, sizeof(struct set));

	*set_at(sets, set) = (struct set){.references = 1};
	((struct handle *)sets->handles.items)[handle].set = set;
	return handle;
}

void sets_handle_free(struct sets *sets, uint32_t handle)
{
	uint32_t set = sets_of(sets, handle);

	pool_give(&sets->handles, sizeof(struct handle), handle);
	sets_let_go(sets, set);
}

uint32_t sets_last(struct sets *sets, uint32_t set, uint32_t thread)
{
	uint32_t entry;

	if (!sets->lasts.taken || !set_at(sets, set)->count)
		return 0;
	for (entry = *head(sets, set, thread); entry; entry = last_at(sets, entry)->chain)
		if (last_at(sets, entry)->set == set && last_at(sets, entry)->thread == thread)
			break;
	return entry;
}

uint32_t sets_last_next(struct sets *sets, uint32_t entry)
{
	uint32_t set = last_at(sets, entry)->set;
	uint32_t thread = last_at(sets, entry)->thread;

	while ((entry = last_at(sets, entry)->chain))
		if (last_at(sets, entry)->set == set && last_at(sets, entry)->thread == thread)
			break;
	return entry;
}

uint32_t sets_last_unit(struct sets *sets, uint32_t entry)
{
	return last_at(sets, entry)->unit;
}

static void insert(struct sets *sets, uint32_t entry, uint32_t set)
{
	struct last *last = last_at(sets, entry);
	struct set *owner = set_at(sets, set);
	uint32_t *chain = head(sets, set, last->thread);

	last->set = set;
	last->chain = *chain;
	*chain = entry;
	last->previous = 0;
	last->next = owner->first;
	if (last->next)
		last_at(sets, last->next)->previous = entry;
	owner->first = entry;
	owner->count++;
	owner->references++;
}

static void withdraw(struct sets *sets, uint32_t entry)
{
	struct last *last = last_at(sets, entry);
	struct set *owner = set_at(sets, last->set);
	uint32_t *chain = head(sets, last->set, last->thread);

	while (*chain != entry)
		chain = &last_at(sets, *chain)->chain;
	*chain = last->chain;
	if (last->next)
		last_at(sets, last->next)->previous = last->previous;
	if (last->previous)
		last_at(sets, last->previous)->next = last->next;
	else
		owner->first = last->next;
	owner->count--;
	sets_let_go(sets, last->set);
}

static void rehash(struct sets *sets)
{
	uint32_t *old = sets->heads;
	uint32_t count = sets->mask + 1;
	uint32_t i, entry, next;

	sets->mask = count * 2 - 1;
	sets->heads = mem_zalloc(count * 2ul, sizeof(*sets->heads));
	for (i = 0; i < count; i++) {
		for (entry = old[i]; entry; entry = next) {
			struct last *last = last_at(sets, entry);
			uint32_t *chain = head(sets, last->set, last->thread);

			next = last->chain;
			last->chain = *chain;
			*chain = entry;
		}
	}
	free(old);
}

uint32_t sets_last_add(struct sets *sets, uint32_t set, uint32_t thread, uint32_t unit)
{
	uint32_t entry = pool_take(&sets->lasts, sizeof(struct last));

	if (sets->lasts.taken > sets->mask)
		rehash(sets);
	while (set_at(sets, set)->parent)
		set = set_at(sets, set)->parent;
	last_at(sets, entry)->thread = thread;
	last_at(sets, entry)->unit = unit;
	insert(sets, entry, set);
	return entry;
}

void sets_last_remove(struct sets *sets, uint32_t entry)
{
	withdraw(sets, entry);
	pool_give(&sets->lasts, sizeof(struct last), entry);
}

void sets_merge(struct sets *sets, uint32_t from, uint32_t to)
{
	uint32_t child = sets_of(sets, from);
	uint32_t parent = sets_of(sets, to);
	uint32_t entry, swap;

	BUG_ON(child == parent);
	if (set_at(sets, child)->count > set_at(sets, parent)->count) {
		swap = child;
		child = parent;
		parent = swap;
	}
	while ((entry = set_at(sets, child)->first)) {
		withdraw(sets, entry);
		insert(sets, entry, parent);
	}
	((struct handle *)sets->handles.items)[to].set = parent;
	pool_give(&sets->handles, sizeof(struct handle), from);
	/* The child's handle is gone or leads to the parent now, which keeps one
	 * handle and gains a child: what the child lets go of, it passes on. */
	set_at(sets, child)->parent = parent;
	set_at(sets, parent)->references++;
	sets_let_go(sets, child);
}
