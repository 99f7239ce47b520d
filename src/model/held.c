/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Locks held by threads, as interned sets, and semaphores: locks or signals? */
#include "model/inside.h"

#include <string.h>

/* From when on the lock counts as taken. */
static uint64_t since(struct model *model, const struct thread *thread, const struct trace_event *event)
{
	const struct given_back *back = &thread->given_back;

	if (event->op == TRACE_OP_WAKE && thread->waiting_since)
		return thread->waiting_since;
	if (event->address == back->address && back->entered && back->depth < thread->depth &&
	    thread->frames[back->depth].entered == back->entered)
		return back->since;
	return ++model->serial;
}

/*
 * A call that gives back a lock which its caller took lets others work in
 * between, and means to, as one that waits does: it cannot think that it is
 * alone until it ends.
 */
static void gave_back(struct model *model, struct thread *thread, const struct held_lock *lock)
{
	uint32_t outermost;

	if (model->options.keep_units_at_waits)
		return;
	outermost = unit_gave_back(model, thread, lock->since);
	if (outermost != UINT32_MAX)
		thread->given_back = (struct given_back){.address = lock->address,
							 .since = lock->since,
							 .depth = outermost,
							 .entered = thread->frames[outermost].entered};
}

void held_lock(struct model *model, struct thread *thread, const struct trace_event *event, uint64_t address)
{
	for (uint32_t i = 0; i < thread->held_count; i++)
		if (thread->held[i].address == address) {
			thread->held[i].count++;
			return;
		}
	if (thread->held_count == thread->held_room) {
		thread->held_room = thread->held_room ? thread->held_room * 2 : 8;
		thread->held = mem_resize(thread->held, thread->held_room, sizeof(*thread->held));
	}
	thread->held[thread->held_count++] =
		(struct held_lock){.address = address, .count = 1, .since = since(model, thread, event)};
	thread->locks_dirty = true;
	if (event->site != TRACE_NO_SITE && !map_get(&model->lock_sites, address))
		map_set(&model->lock_sites, address, event->site);
}

void held_unlock(struct model *model, struct thread *thread, uint64_t address)
{
	for (uint32_t i = thread->held_count; i-- > 0;)
		if (thread->held[i].address == address) {
			if (--thread->held[i].count)
				return;
			thread->waiting_since = thread->held[i].since;
			gave_back(model, thread, &thread->held[i]);
			if (thread->bracket_count)
				bracket_unlocked(model, thread, address);
			memmove(&thread->held[i], &thread->held[i + 1],
				(thread->held_count - i - 1) * sizeof(*thread->held));
			thread->held_count--;
			thread->locks_dirty = true;
			return;
		}
}

static bool same_set(const struct model *model, uint32_t set, const struct thread *thread)
{
	const uint64_t *words = model->lock_words + model->lock_sets[set];

	if (words[0] != thread->held_count)
		return false;
	for (uint32_t i = 0; i < thread->held_count; i++)
		if (words[i + 1] != thread->held[i].address)
			return false;
	return true;
}

static uint32_t intern(struct model *model, const struct thread *thread)
{
	uint64_t hash = thread->held_count;

	/* In the order of taking: two orders are two sets, which no report minds. */
	for (uint32_t i = 0; i < thread->held_count; i++)
		hash = map_hash(hash * 31 + thread->held[i].address);
	for (uint32_t set; (set = map_get(&model->lock_hashes, hash)); hash++)
		if (same_set(model, set, thread))
			return set;
	if (model->lock_length + thread->held_count + 1 > model->lock_room) {
		model->lock_room = (model->lock_length + thread->held_count + 1) * 2 + 64;
		model->lock_words =
			mem_resize(model->lock_words, model->lock_room, sizeof(*model->lock_words));
	}
	if (model->lock_set_count + 1 >= model->lock_set_room) {
		model->lock_set_room = model->lock_set_room * 2 + 64;
		model->lock_sets =
			mem_resize(model->lock_sets, model->lock_set_room, sizeof(*model->lock_sets));
	}
	uint32_t set = ++model->lock_set_count;

	model->lock_sets[set] = model->lock_length;
	model->lock_words[model->lock_length++] = thread->held_count;
	for (uint32_t i = 0; i < thread->held_count; i++)
		model->lock_words[model->lock_length++] = thread->held[i].address;
	map_set(&model->lock_hashes, hash, set);
	return set;
}

uint32_t held_set_new(struct model *model, struct thread *thread)
{
	thread->locks = thread->held_count ? intern(model, thread) : 0;
	thread->locks_dirty = false;
	return thread->locks;
}

uint32_t model_locks(const struct model *model, uint32_t locks, const uint64_t **addresses)
{
	if (!locks || locks > model->lock_set_count)
		return 0;
	const uint64_t *words = model->lock_words + model->lock_sets[locks];

	*addresses = words + 1;
	return (uint32_t)words[0];
}

/*
 * A semaphore that only its waiters post is a lock; once somebody posts it who
 * has not waited for it, it is a signal, and waiting for it is waiting for
 * somebody else's work.
 */
bool held_semaphore_wait(struct model *model, struct thread *thread, uint64_t address)
{
	uint32_t waits = map_get(&thread->semaphores, address);

	map_set(&thread->semaphores, address, waits ? waits + 1 : 2);
	return map_get(&model->signals, address);
}

void held_semaphore_post(struct model *model, struct thread *thread, uint64_t address)
{
	uint32_t waits = map_get(&thread->semaphores, address);

	if (waits > 1)
		map_set(&thread->semaphores, address, waits - 1);
	else
		map_set(&model->signals, address, 1);
}

void held_release(struct model *model)
{
	for (uint32_t i = 0; i < model->thread_count; i++) {
		free(model->threads[i].held);
		map_release(&model->threads[i].semaphores);
	}
	free(model->lock_words);
	free(model->lock_sets);
	map_release(&model->lock_hashes);
	map_release(&model->lock_sites);
	map_release(&model->signals);
}
