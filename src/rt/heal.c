/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hooks and operations, as healing sees them; rt/heal.h says which file does what. */
#include "rt/heal.h"
#include "rt/scheduler.h"
#include "rt/watch.h"

bool heal_on;

bool heal_start(void)
{
	if (!rt_options.heal || !*rt_options.repository)
		return false;
	heal_barrier_start();
	heal_settings.timeout = rt_options.heal_timeout * 1000000ull;
	return heal_repository_read(rt_options.repository);
}

/* Not when it begins: what its creator does meanwhile counts. */
void heal_creates(void)
{
	heal_on = true;
	for (uint32_t i = 0; i < heal_section_count; i++)
		heal_use.whole |= !!(heal_sections[i].flags & ATOMSAN_HEAL_WHOLE);
	heal_say_lost();
}

void heal_thread_begin(void)
{
	heal_thread_is(rt_self.number + 1);
}

void heal_thread_end(void)
{
	heal_give_up(false);
	heal_count_all();
}

void heal_fork_child(void)
{
	heal_forget();
	heal_on = false;
}

bool heal_looks(void)
{
	return rt_self.number != RT_NO_THREAD && !rt_self.inside && !rt_self.handlers;
}

const struct atomsan_heal_section *heal_nth(uint32_t n)
{
	return n < heal_section_count ? &heal_sections[n] : NULL;
}

/* ---- frames ---- */

static bool is_function(const struct atomsan_frame *frame)
{
	return frame->function && !(frame->function->flags & (ATOMSAN_FN_LOOP | ATOMSAN_FN_ARGUMENT));
}

static bool is_unit(const struct heal_unit *unit, const struct atomsan_function *function)
{
	for (uint32_t i = 0; i < unit->count; i++)
		if (unit->functions[i] == function)
			return true;
	return false;
}

/*
 * A function that has no frames, because it is static and synchronises nowhere, works
 * for its caller, or for an iteration of a loop there. Where the thread begins
 * in the unit, such an iteration is what can be left.
 */
uint64_t heal_frame_of(const struct atomsan_heal_section *section)
{
	enum { DEEP = 256 };
	const struct heal_unit *unit = &heal_units[section - heal_sections];
	struct atomsan_frame *top = __atomsan_thread.top, *loop = NULL;

	if (!rt_self.frames)
		return 0;
	if (!unit->count && top > rt_self.frames)
		return (uint64_t)(top - 1);
	for (struct atomsan_frame *f = top; f-- > rt_self.frames && top - f < DEEP;) {
		if (!is_function(f)) {
			if (f->function && f->function->flags & ATOMSAN_FN_LOOP)
				loop = f;
			continue;
		}
		if (is_unit(unit, f->function))
			return (uint64_t)(f == rt_self.frames && loop ? loop : f);
		loop = NULL;
	}
	return 0;
}

uint32_t heal_unit_serial(void)
{
	return 0;
}

struct atomsan_heal_section *heal_next_whole(uint32_t *n, uint64_t *frame)
{
	while (*n < heal_section_count) {
		struct atomsan_heal_section *section = &heal_sections[(*n)++];

		if (heal_is_whole(section) && (*frame = heal_frame_of(section)))
			return section;
	}
	return NULL;
}

static void sweep(void)
{
	if (heal_self.open_count)
		heal_sweep((uint64_t)__atomsan_thread.low);
}

/* From here on `low` tells what is left; while a trace is written that is done where it hears of frames. */
static void begin_looking(void)
{
	if (!rt_recording && heal_self.open_count)
		__atomsan_thread.low = __atomsan_thread.top;
}

/* ---- accesses ---- */

static __thread const struct atomsan_site *read_at __attribute__((tls_model("local-exec")));

/* The other side of a copy: what it has read is over with when the copy is. Its sites are neighbours, and
 * have one place in the source. */
static bool goes_on(const struct atomsan_site *site, unsigned kinds)
{
	const struct atomsan_site *before = read_at;

	return heal_self.pending && before && site == before + 1 && kinds == WATCH_WRITE &&
	       site->line == before->line && site->column == before->column;
}

void heal_on_access(const void *p, uint64_t length, unsigned kinds, const struct atomsan_site *site)
{
	const struct atomsan_heal_place *place;
	bool copies;

	if (!heal_on)
		return;
	sweep();
	copies = goes_on(site, kinds);
	if (heal_self.pending && !copies)
		heal_done();
	read_at = kinds == WATCH_READ ? site : NULL;
	place = heal_place_of(site);
	if (!place)
		return;
	if (copies)
		heal_self.pending = false;
	/* Of an update the read comes now, and others are kept out until it has written, too. */
	heal_access(place, p, length, kinds == (WATCH_READ | WATCH_WRITE) ? WATCH_READ : kinds);
	if (kinds == (WATCH_READ | WATCH_WRITE))
		heal_self.update = place, heal_self.update_length = length;
	heal_self.pending |= copies;
	begin_looking();
}

void heal_on_store(const void *p)
{
	const struct atomsan_heal_place *place = heal_self.update;

	heal_self.update = NULL;
	if (!heal_on || !place)
		return;
	sweep();
	heal_store(place, p, heal_self.update_length);
	begin_looking();
}

void heal_on_atomic(const void *p, const struct atomsan_site *site)
{
	const struct atomsan_heal_place *place;

	if (!heal_on)
		return;
	sweep();
	if (heal_self.pending)
		heal_done();
	/* It may be how the program takes a lock of its own making. */
	if (heal_use.whole && site->kind == ATOMSAN_ATOMIC_RMW)
		heal_early();
	place = heal_place_of(site);
	if (place)
		heal_access(place, p, site->size, place->kinds);
	begin_looking();
}

void heal_on_atomic_done(void)
{
	if (heal_self.pending)
		heal_done();
}

void heal_on_return(void)
{
	if (heal_self.pending)
		heal_returns(true);
}

/* ---- operations ---- */

void heal_on_before(const void *object, const struct atomsan_site *site)
{
	heal_self.place = site;
	sweep();
	if (heal_self.pending)
		heal_done();
	heal_lock_before(object);
	begin_looking();
}

void heal_on_op(enum trace_op op, const void *object)
{
	sweep();
	if (heal_self.pending)
		heal_done();
	switch (op) {
	case TRACE_OP_LOCK:
	case TRACE_OP_RDLOCK:
		heal_lock_taken(object, op == TRACE_OP_RDLOCK);
		break;
	case TRACE_OP_UNLOCK:
		heal_lock_released(object);
		break;
	case TRACE_OP_BARRIER_ENTER:
	case TRACE_OP_EXEC:
	case TRACE_OP_FORK:
		heal_give_up(true);
		break;
	default:
		break;
	}
}

void heal_on_wait(const void *mutex)
{
	if (!heal_looks())
		return;
	sweep();
	heal_give_up(true);
	if (mutex)
		heal_lock_released(mutex);
}

enum heal_semaphore heal_on_semaphore(sem_t *semaphore, int (*attempt)(sem_t *))
{
	enum heal_semaphore how;

	if (!heal_on || !heal_looks())
		return HEAL_SEMAPHORE_WAIT;
	sweep();
	if (heal_self.pending)
		heal_done();
	how = heal_semaphore_before(semaphore, attempt);
	begin_looking();
	return how;
}

/* ---- the scheduler ---- */

bool heal_wait_scheduled(const void *gate, uint64_t until, bool *late)
{
	struct sched_thread *me = sched_me();

	if (!me)
		return false;
	/* A schedule that wants the thread to go on must find that it cannot, and not wait until it can. */
	*late = sched_block(me, SCHED_WAIT_GATE, gate, me->last_site,
			    sched.mode == SCHED_FOLLOW ? 0 : until) == SCHED_LATE;
	return true;
}

bool heal_scheduled(void)
{
	return rt_self.sched != NULL;
}

void heal_wake_scheduled(const void *gate)
{
	if (unlikely(rt_self.sched))
		sched_wake(gate);
}
