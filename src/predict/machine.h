/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Executes events of a history in another order than the observed one, as far
 * as locks, semaphores, conditions, barriers and threads let it: whatever it
 * executes, a scheduler can make real threads do, as long as they do the same
 * things as in the observed run.
 */
#ifndef ATOMSAN_PREDICT_MACHINE_H
#define ATOMSAN_PREDICT_MACHINE_H

#include "predict/history.h"

/* The events of each thread, for those who do not go by the observed order. */
struct machine_index {
	uint32_t *first; /* by thread: where its events begin; one more at the end */
	uint32_t *events;
	bool *created; /* has a CREATE in the history */
};

struct machine {
	const struct history *history;
	const struct machine_index *index;
	uint32_t *next;                /* by thread: position in index->events */
	uint32_t *writer;              /* by lock: thread that has it, plus one */
	uint32_t *readers;             /* by lock: how many */
	int64_t *tokens;               /* by semaphore */
	uint32_t *waiting, *signalled; /* by condition: threads that wait, and may wake */
	uint64_t *arrived;             /* by barrier */
	uint32_t *rounds;   /* by thread: its number among those that entered, at its last barrier */
	bool *once, *ready; /* done; by thread: its creation was executed */
};

void machine_index_build(struct machine_index *index, const struct history *history);
void machine_index_release(struct machine_index *index);

void machine_init(struct machine *m, const struct history *history, const struct machine_index *index);
void machine_release(struct machine *m);

/* The thread's next event; HISTORY_NONE: no more. */
static inline uint32_t machine_next(const struct machine *m, uint32_t thread)
{
	return m->next[thread] < m->index->first[thread + 1] ? m->index->events[m->next[thread]]
							     : HISTORY_NONE;
}

/* Executes the thread's next event, or returns false if it has to wait. */
bool machine_step(struct machine *m, uint32_t thread);

/* What a step is about to change: save, step, and undo takes it back. Steps are undone from the last one on.
 */
struct machine_undo {
	uint32_t thread, event;
	uint32_t before[2]; /* of the object that the event is about */
};

struct machine_undo machine_save(const struct machine *m, uint32_t thread);
void machine_undo(struct machine *m, const struct machine_undo *undo);

#endif
