/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict_programs.h"

#include <stdlib.h>
#include <string.h>

static uint32_t roll(struct program *p, uint32_t sides)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (uint32_t)((p->random >> 11) % sides);
}

/* Two rolls never stand in one call: compilers differ in which of its arguments comes first. */
static uint8_t roll_access(struct program *p)
{
	return roll(p, 2) ? HISTORY_READ : HISTORY_WRITE;
}

static void put(struct program *p, uint32_t t, uint8_t kind, uint32_t object, uint32_t unit)
{
	if (p->count[t] < MAX_STEPS)
		p->steps[t][p->count[t]++] = (struct step){kind, object, unit, HISTORY_NONE};
}

/* Locks, accesses and semaphores at random; whatever was taken is given back in the end. */
static void write_thread(struct program *p, const struct shape *shape, uint32_t t, uint32_t *units)
{
	uint32_t held[8], count = 0, unit = 0;

	for (uint32_t i = 0; i < shape->steps; i++) {
		uint32_t what = roll(p, 16);

		if (what < 5 && count < 3) {
			uint32_t lock = roll(p, shape->locks);
			bool mine = false;

			for (uint32_t k = 0; k < count; k++)
				mine |= held[k] == lock;
			if (!mine) {
				held[count++] = lock;
				put(p, t, shape->rwlocks && roll(p, 2) ? HISTORY_RDLOCK : HISTORY_LOCK, lock,
				    0);
			}
		} else if (what < 9 && count) {
			uint32_t at = shape->crossed ? roll(p, count) : count - 1;

			put(p, t, HISTORY_UNLOCK, held[at], 0);
			memmove(held + at, held + at + 1, (count - at - 1) * sizeof(*held));
			count--;
		} else if (what == 9 && shape->semaphores) {
			uint8_t kind = roll(p, 2) ? HISTORY_POST : HISTORY_SEM_WAIT;

			put(p, t, kind, roll(p, shape->semaphores), 0);
		} else if (what == 10) {
			unit = roll(p, 4) ? ++*units : 0;
		} else {
			uint8_t kind = roll_access(p);

			put(p, t, kind, roll(p, shape->variables), unit);
		}
	}
	while (count)
		put(p, t, HISTORY_UNLOCK, held[--count], 0);
}

/* Its two variables in any order, and locks around and between them. */
static void write_ring(struct program *p, const struct shape *shape, uint32_t t, uint32_t *units)
{
	uint32_t held[8], count = 0, unit = ++*units, turned = roll(p, 2), done = 0;

	while (done < 2 || count) {
		uint32_t what = roll(p, 6), lock = roll(p, shape->locks);
		bool mine = false;

		for (uint32_t k = 0; k < count; k++)
			mine |= held[k] == lock;
		if (what < 2 && !mine && count < 2 && p->count[t] < shape->steps) {
			held[count++] = lock;
			put(p, t, HISTORY_LOCK, lock, 0);
		} else if (what < 4 && count) {
			put(p, t, HISTORY_UNLOCK, held[--count], 0);
		} else if (what >= 4 && done < 2) {
			put(p, t, roll(p, 2) ? HISTORY_READ : HISTORY_WRITE,
			    (t + (done++ ^ turned)) % p->threads, unit);
		}
	}
}

bool program_step(const struct program *p, uint32_t *done, uint32_t t)
{
	if (done[t] == p->count[t])
		return false;
	const struct step *s = &p->steps[t][done[t]];
	int readers = 0, writers = 0, tokens = 0, entered = 0;
	bool created = true, done_child = false;

	/* The state of everything follows from what was executed. */
	for (uint32_t u = 0; u < p->threads; u++)
		for (uint32_t i = 0; i < p->count[u]; i++) {
			const struct step *o = &p->steps[u][i];
			bool executed = i < done[u];

			if (o->kind == HISTORY_CREATE && o->object == t)
				created = executed;
			if (!executed)
				continue;
			if (o->object == s->object) {
				readers += o->kind == HISTORY_RDLOCK;
				writers += o->kind == HISTORY_LOCK;
				tokens += (o->kind == HISTORY_POST) - (o->kind == HISTORY_SEM_WAIT);
				entered += o->kind == HISTORY_BARRIER_ENTER;
			}
		}
	for (uint32_t u = 0; u < p->threads; u++) {
		bool reads = false, writes = false;

		for (uint32_t i = 0; i < done[u]; i++) {
			const struct step *o = &p->steps[u][i];

			if (o->object != s->object)
				continue;
			if (o->kind == HISTORY_RDLOCK)
				reads = true;
			else if (o->kind == HISTORY_LOCK)
				writes = true;
			else if (o->kind == HISTORY_UNLOCK) {
				readers -= reads;
				writers -= writes;
				reads = writes = false;
			}
		}
	}
	if (s->kind == HISTORY_JOIN)
		done_child = done[s->object] == p->count[s->object];
	if (!created || (s->kind == HISTORY_LOCK && (readers || writers)) ||
	    (s->kind == HISTORY_RDLOCK && writers) ||
	    (s->kind == HISTORY_SEM_WAIT && (int)p->initial[s->object] + tokens <= 0) ||
	    (s->kind == HISTORY_JOIN && !done_child) ||
	    (s->kind == HISTORY_BARRIER_LEAVE && entered < (int)p->threads))
		return false;
	done[t]++;
	return true;
}

static uint32_t number(const struct program *p, const uint32_t *done)
{
	uint32_t state = 0;

	for (uint32_t t = 0; t < p->threads; t++)
		state += p->stride[t] * done[t];
	return state;
}

/* Every state, breadth first. */
static void explore(struct program *p)
{
	uint32_t *queue = malloc(p->states * sizeof(*queue)), head = 0, tail = 0;

	p->reachable = calloc(p->states, 1);
	queue[tail++] = 0;
	p->reachable[0] = 1;
	while (head < tail) {
		uint32_t state = queue[head++];

		for (uint32_t t = 0; t < p->threads; t++) {
			uint32_t done[MAX_THREADS], rest = state;

			for (uint32_t u = p->threads; u-- > 0;) {
				done[u] = rest / p->stride[u];
				rest %= p->stride[u];
			}
			if (program_step(p, done, t) && !p->reachable[number(p, done)]) {
				p->reachable[number(p, done)] = 1;
				queue[tail++] = number(p, done);
			}
		}
	}
	free(queue);
}

static void record(struct program *p, uint32_t t, uint32_t i)
{
	struct step *s = &p->steps[t][i];

	history_add(&p->history, (struct history_event){.thread = t,
							.kind = s->kind,
							.object = s->object,
							.site = 1 + t * MAX_STEPS + i,
							.unit = s->unit,
							.time = p->history.count + 1});
}

/* One complete execution at random, as a history. False: it ran into a deadlock. */
static bool execute(struct program *p, uint32_t units)
{
	uint32_t done[MAX_THREADS] = {0}, left = 0, *unit_thread = calloc(units + 1, sizeof(*unit_thread));

	history_init(&p->history);
	history_set(&p->history);
	for (uint32_t t = 0; t < p->threads; t++) {
		left += p->count[t];
		for (uint32_t i = 0; i < p->count[t]; i++)
			unit_thread[p->steps[t][i].unit] = t;
	}
	for (uint32_t u = 1; u <= units; u++) {
		history_unit(&p->history, unit_thread[u], 0);
		p->history.units[u].rule = 1;
	}
	free(unit_thread);
	for (uint32_t v = 0; v < p->variables; v++)
		history_variable(&p->history);
	for (uint32_t s = 0; s < p->semaphores; s++)
		history_semaphore(&p->history, p->initial[s]);
	history_barrier(&p->history, p->threads);
	for (uint32_t tries = 0; left && tries < 100; tries++) {
		uint32_t t = roll(p, p->threads), run = 1 + roll(p, 6);

		for (; run-- && program_step(p, done, t); left--) {
			record(p, t, done[t] - 1);
			tries = 0;
		}
	}
	return !left;
}

bool program_make(struct program *p, const struct shape *shape, uint64_t seed)
{
	uint32_t units = shape->main_thread, first = shape->main_thread;

	*p = (struct program){.random = seed * 0x9e3779b97f4a7c15ull + 0x1234567};
	for (unsigned i = 0; i < 4; i++)
		roll(p, 2);
	p->threads = shape->threads;
	p->locks = shape->locks;
	p->variables = shape->variables;
	p->semaphores = shape->semaphores;
	for (uint32_t s = 0; s < p->semaphores; s++)
		p->initial[s] = roll(p, 2);
	if (shape->main_thread)
		for (uint32_t t = 1; t < p->threads; t++) {
			put(p, 0, HISTORY_CREATE, t, 0);
			if (!roll(p, 3))
				put(p, 0, HISTORY_WRITE, roll(p, p->variables), 1);
		}
	for (uint32_t t = first; t < p->threads; t++) {
		if (shape->ring)
			write_ring(p, shape, t, &units);
		else
			write_thread(p, shape, t, &units);
		if (shape->barrier && !shape->main_thread) {
			put(p, t, HISTORY_BARRIER_ENTER, 0, 0);
			put(p, t, HISTORY_BARRIER_LEAVE, 0, 0);
			write_thread(p, shape, t, &units);
		}
	}
	if (shape->main_thread)
		for (uint32_t t = 1; t < p->threads; t++) {
			put(p, 0, HISTORY_JOIN, t, 0);
			if (roll(p, 3))
				continue;
			uint8_t kind = roll_access(p);

			put(p, 0, kind, roll(p, p->variables), 1);
		}
	p->states = 1;
	for (uint32_t t = 0; t < p->threads; t++) {
		p->stride[t] = p->states;
		p->states *= p->count[t] + 1;
		if (p->count[t] == MAX_STEPS || p->states > MAX_STATES)
			return false;
	}
	for (unsigned i = 0; i < 4; i++) {
		if (execute(p, units)) {
			history_finish(&p->history);
			for (uint32_t e = 0; e < p->history.count; e++) {
				uint32_t site = p->history.events[e].site - 1;

				p->steps[site / MAX_STEPS][site % MAX_STEPS].event = e;
			}
			explore(p);
			return true;
		}
		history_release(&p->history);
	}
	return false;
}

void program_release(struct program *p)
{
	history_release(&p->history);
	free(p->reachable);
	p->reachable = NULL;
}

uint32_t program_step_of(const struct program *p, uint32_t thread, uint32_t event)
{
	for (uint32_t i = 0; i < p->count[thread]; i++)
		if (p->steps[thread][i].event == event)
			return i;
	abort();
}
