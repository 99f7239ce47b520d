/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/machine.h"

#include "base/err.h"

#include <stdlib.h>

void machine_index_build(struct machine_index *index, const struct history *history)
{
	uint32_t *fill;

	*index = (struct machine_index){0};
	index->first = mem_zalloc(history->thread_count + 2ull, sizeof(*index->first));
	index->events = mem_zalloc(history->count + 1ull, sizeof(*index->events));
	index->created = mem_zalloc(history->thread_count + 1ull, sizeof(*index->created));
	fill = mem_zalloc(history->thread_count + 1ull, sizeof(*fill));
	for (uint32_t i = 0; i < history->count; i++)
		index->first[history->events[i].thread + 1]++;
	for (uint32_t t = 0; t < history->thread_count; t++) {
		index->first[t + 1] += index->first[t];
		fill[t] = index->first[t];
	}
	for (uint32_t i = 0; i < history->count; i++) {
		const struct history_event *e = &history->events[i];

		index->events[fill[e->thread]++] = i;
		if (e->kind == HISTORY_CREATE)
			index->created[e->object] = true;
	}
	free(fill);
}

void machine_index_release(struct machine_index *index)
{
	free(index->first);
	free(index->events);
	free(index->created);
	*index = (struct machine_index){0};
}

void machine_init(struct machine *m, const struct history *h, const struct machine_index *index)
{
	*m = (struct machine){.history = h, .index = index};
	m->next = mem_zalloc(h->thread_count + 1ull, sizeof(*m->next));
	m->writer = mem_zalloc(h->lock_count + 1ull, sizeof(*m->writer));
	m->readers = mem_zalloc(h->lock_count + 1ull, sizeof(*m->readers));
	m->tokens = mem_zalloc(h->semaphore_count + 1ull, sizeof(*m->tokens));
	m->waiting = mem_zalloc(h->condition_count + 1ull, sizeof(*m->waiting));
	m->signalled = mem_zalloc(h->condition_count + 1ull, sizeof(*m->signalled));
	m->arrived = mem_zalloc(h->barrier_count + 1ull, sizeof(*m->arrived));
	m->rounds = mem_zalloc(h->thread_count + 1ull, sizeof(*m->rounds));
	m->once = mem_zalloc(h->once_count + 1ull, sizeof(*m->once));
	m->ready = mem_zalloc(h->thread_count + 1ull, sizeof(*m->ready));
	for (uint32_t t = 0; t < h->thread_count; t++) {
		m->next[t] = index->first[t];
		m->ready[t] = !index->created[t];
	}
	for (uint32_t s = 0; s < h->semaphore_count; s++)
		m->tokens[s] = h->semaphores[s];
}

void machine_release(struct machine *m)
{
	free(m->next);
	free(m->writer);
	free(m->readers);
	free(m->tokens);
	free(m->waiting);
	free(m->signalled);
	free(m->arrived);
	free(m->rounds);
	free(m->once);
	free(m->ready);
	*m = (struct machine){0};
}

static void unlock(struct machine *m, uint32_t thread, uint32_t lock)
{
	if (m->writer[lock] == thread + 1)
		m->writer[lock] = 0;
	else if (m->readers[lock])
		m->readers[lock]--;
}

bool machine_step(struct machine *m, uint32_t thread)
{
	uint32_t event = machine_next(m, thread), o;

	if (event == HISTORY_NONE || !m->ready[thread])
		return false;
	const struct history_event *e = &m->history->events[event];

	o = e->object;
	switch ((enum history_kind)e->kind) {
	case HISTORY_LOCK:
		if (m->writer[o] || m->readers[o])
			return false;
		m->writer[o] = thread + 1;
		break;
	case HISTORY_RDLOCK:
		if (m->writer[o])
			return false;
		m->readers[o]++;
		break;
	case HISTORY_UNLOCK:
		unlock(m, thread, o);
		break;
	case HISTORY_CREATE:
		m->ready[o] = true;
		break;
	case HISTORY_JOIN:
		if (machine_next(m, o) != HISTORY_NONE || !m->ready[o])
			return false;
		break;
	case HISTORY_WAIT:
		m->waiting[o]++;
		break;
	case HISTORY_WAKE:
		if (!m->signalled[o])
			return false;
		m->signalled[o]--; /* never more than wait */
		m->waiting[o]--;
		break;
	case HISTORY_TIMEOUT:
		if (m->waiting[o])
			m->waiting[o]--;
		if (m->signalled[o] > m->waiting[o])
			m->signalled[o] = m->waiting[o];
		break;
	case HISTORY_SIGNAL:
		if (m->signalled[o] < m->waiting[o])
			m->signalled[o]++;
		break;
	case HISTORY_BROADCAST:
		m->signalled[o] = m->waiting[o];
		break;
	case HISTORY_BARRIER_ENTER:
		m->rounds[thread] = (uint32_t)m->arrived[o]++;
		break;
	case HISTORY_BARRIER_LEAVE: {
		uint64_t size = m->history->barriers[o];

		if (size && m->arrived[o] < (m->rounds[thread] / size + 1) * size)
			return false;
		break;
	}
	case HISTORY_POST:
		m->tokens[o]++;
		break;
	case HISTORY_SEM_WAIT:
		if (m->tokens[o] <= 0)
			return false;
		m->tokens[o]--;
		break;
	case HISTORY_ONCE_END:
		m->once[o] = true;
		break;
	case HISTORY_ONCE_SEEN:
		if (!m->once[o])
			return false;
		break;
	default:
		break;
	}
	m->next[thread]++;
	return true;
}

struct machine_undo machine_save(const struct machine *m, uint32_t thread)
{
	struct machine_undo undo = {thread, machine_next(m, thread), {0, 0}};
	uint32_t o;

	if (undo.event == HISTORY_NONE)
		return undo;
	o = m->history->events[undo.event].object;
	switch ((enum history_kind)m->history->events[undo.event].kind) {
	case HISTORY_LOCK:
	case HISTORY_RDLOCK:
	case HISTORY_UNLOCK:
		undo.before[0] = m->writer[o];
		undo.before[1] = m->readers[o];
		break;
	case HISTORY_CREATE:
		undo.before[0] = m->ready[o];
		break;
	case HISTORY_WAIT:
	case HISTORY_WAKE:
	case HISTORY_TIMEOUT:
	case HISTORY_SIGNAL:
	case HISTORY_BROADCAST:
		undo.before[0] = m->waiting[o];
		undo.before[1] = m->signalled[o];
		break;
	case HISTORY_BARRIER_ENTER:
		undo.before[0] = m->rounds[thread];
		break;
	case HISTORY_ONCE_END:
		undo.before[0] = m->once[o];
		break;
	default:
		break;
	}
	return undo;
}

void machine_undo(struct machine *m, const struct machine_undo *undo)
{
	uint32_t o = m->history->events[undo->event].object;

	m->next[undo->thread]--;
	switch ((enum history_kind)m->history->events[undo->event].kind) {
	case HISTORY_LOCK:
	case HISTORY_RDLOCK:
	case HISTORY_UNLOCK:
		m->writer[o] = undo->before[0];
		m->readers[o] = undo->before[1];
		break;
	case HISTORY_CREATE:
		m->ready[o] = undo->before[0];
		break;
	case HISTORY_WAIT:
	case HISTORY_WAKE:
	case HISTORY_TIMEOUT:
	case HISTORY_SIGNAL:
	case HISTORY_BROADCAST:
		m->waiting[o] = undo->before[0];
		m->signalled[o] = undo->before[1];
		break;
	case HISTORY_BARRIER_ENTER:
		m->rounds[undo->thread] = undo->before[0];
		m->arrived[o]--;
		break;
	case HISTORY_POST:
		m->tokens[o]--;
		break;
	case HISTORY_SEM_WAIT:
		m->tokens[o]++;
		break;
	case HISTORY_ONCE_END:
		m->once[o] = undo->before[0];
		break;
	default:
		break;
	}
}
