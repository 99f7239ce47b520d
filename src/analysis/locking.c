/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/locking.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static struct locking_thread *thread_of(struct locking *locking, uint32_t index)
{
	if (index >= locking->count) {
		uint32_t count = locking->count ? locking->count : 8;

		while (count <= index)
			count *= 2;
		locking->threads = mem_resize(locking->threads, count, sizeof(struct locking_thread *));
		memset(locking->threads + locking->count, 0,
		       (count - locking->count) * sizeof(struct locking_thread *));
		locking->count = count;
	}
	if (!locking->threads[index])
		locking->threads[index] = mem_zalloc(1, sizeof(struct locking_thread));
	return locking->threads[index];
}

static void add(struct locking *locking, const struct trace_event *event, uint64_t time, uint64_t address,
		bool taken)
{
	struct locking_thread *thread = thread_of(locking, event->thread);

	thread->ops[thread->count++ % LOCKING_KEPT] =
		(struct locking_op){.time = time, .address = address, .site = event->site, .taken = taken};
}

void locking_event(struct locking *locking, const struct trace_event *event, uint64_t time)
{
	switch (event->op) {
	case TRACE_OP_LOCK:
	case TRACE_OP_RDLOCK:
		add(locking, event, time, event->address, true);
		break;
	case TRACE_OP_UNLOCK:
		add(locking, event, time, event->address, false);
		break;
	/* A condition wait gives the lock up meanwhile. */
	case TRACE_OP_WAIT:
		add(locking, event, time, event->value, false);
		break;
	case TRACE_OP_WAKE:
		add(locking, event, time, event->value, true);
		break;
	}
}

void locking_release(struct locking *locking)
{
	for (uint32_t i = 0; i < locking->count; i++)
		free(locking->threads[i]);
	free(locking->threads);
}

const struct locking_op *locking_taken(const struct locking *locking, uint32_t thread, uint64_t lock,
				       uint64_t before)
{
	const struct locking_thread *at = thread < locking->count ? locking->threads[thread] : NULL;

	for (uint32_t i = 0; at && i < at->count && i < LOCKING_KEPT; i++) {
		const struct locking_op *op = &at->ops[(at->count - 1 - i) % LOCKING_KEPT];

		if (op->time < before && op->address == lock && op->taken)
			return op;
	}
	return NULL;
}

const struct locking_op *locking_given_up(const struct locking *locking, uint32_t thread, uint64_t lock,
					  uint64_t after)
{
	const struct locking_thread *at = thread < locking->count ? locking->threads[thread] : NULL;
	const struct locking_op *found = NULL;

	for (uint32_t i = 0; at && i < at->count && i < LOCKING_KEPT; i++) {
		const struct locking_op *op = &at->ops[(at->count - 1 - i) % LOCKING_KEPT];

		if (op->time <= after)
			break;
		if (op->address == lock && !op->taken)
			found = op;
	}
	return found;
}
