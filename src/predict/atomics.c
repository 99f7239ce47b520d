/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/atomics.h"

#include "base/err.h"

#include <stdlib.h>

struct use {
	uint32_t owner; /* thread, plus one */
	uint32_t first; /* thread that took it first, plus one */
	bool shared;    /* several threads have had it */
	bool given_up;  /* by who had it */
	bool other;     /* is no lock */
};

/* One operation; true if it takes the lock or gives it up. */
static bool look_at(struct use *u, const struct history_event *e)
{
	uint32_t thread = e->thread + 1;

	switch ((enum history_kind)e->kind) {
	case HISTORY_EXCHANGE:
		if (u->owner) {
			/* An attempt that fails; who has it does not try. */
			u->other |= u->owner == thread;
			return false;
		}
		u->owner = thread;
		u->shared |= u->first && u->first != thread;
		if (!u->first)
			u->first = thread;
		return true;
	case HISTORY_SET:
		/* Before anybody had it, it is made. */
		u->other |= u->first && u->owner != thread;
		u->given_up |= u->owner != 0;
		u->owner = 0;
		return u->first != 0;
	case HISTORY_RELEASE:
	case HISTORY_SWAP:
	case HISTORY_MARK:
		u->other |= u->first != 0;
		return false;
	default:
		return false;
	}
}

static bool is_atomic(const struct history_event *e)
{
	return e->kind >= HISTORY_RELEASE && e->kind <= HISTORY_MARK;
}

void atomics_as_locks(struct history *h)
{
	struct use *uses;
	bool *locks;

	if (!h->atomic_count)
		return;
	uses = mem_zalloc(h->atomic_count, sizeof(*uses));
	locks = mem_zalloc(h->atomic_count, sizeof(*locks));
	for (uint32_t i = 0; i < h->count; i++)
		if (is_atomic(&h->events[i]))
			look_at(&uses[h->events[i].object], &h->events[i]);
	for (uint32_t a = 0; a < h->atomic_count; a++) {
		locks[a] = uses[a].shared && uses[a].given_up && !uses[a].other;
		uses[a] = (struct use){0};
	}
	for (uint32_t i = 0; i < h->count; i++) {
		struct history_event *e = &h->events[i];

		if (!is_atomic(e) || !locks[e->object] || !look_at(&uses[e->object], e))
			continue;
		e->kind = e->kind == HISTORY_EXCHANGE ? HISTORY_LOCK : HISTORY_UNLOCK;
		e->object += h->lock_count;
	}
	h->lock_count += h->atomic_count;
	free(uses);
	free(locks);
}

/* Who adds to a count acquires as well, as a rule: an exchange that does is none. */
static bool releases(const struct history_event *e)
{
	return e->kind == HISTORY_SET || e->kind == HISTORY_SWAP;
}

bool *atomics_find_flags(const struct history *h)
{
	bool *flags = mem_zalloc(h->atomic_count + 1ull, sizeof(*flags));
	bool *written = mem_zalloc(h->atomic_count + 1ull, sizeof(*written));

	for (uint32_t i = 0; i < h->count; i++) {
		const struct history_event *e = &h->events[i];

		if (e->kind != HISTORY_RELEASE && e->kind != HISTORY_EXCHANGE && !releases(e))
			continue;
		flags[e->object] = releases(e) && !written[e->object];
		written[e->object] = true;
	}
	free(written);
	return flags;
}
