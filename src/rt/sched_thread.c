/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads of a scheduled program: their names, their beginning and their end. */
#include "rt/scheduler.h"
#include "rt/sys.h"

static void name_thread(struct sched_thread *t, const struct sched_thread *parent)
{
	char *name = sched_entry(t)->name, digits[16];
	const uint64_t room = sizeof sched_entry(t)->name;
	unsigned count = 0, at = 0;
	uint32_t n = parent ? parent->children : 0;

	if (parent && parent->index) {
		sched_copy(name, room - 16, sched_entry(parent)->name);
		while (name[at])
			at++;
		name[at++] = '.';
	} else {
		name[at++] = 'T';
	}
	do {
		digits[count++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (count)
		name[at++] = digits[--count];
	name[at] = 0;
}

static void add(uint32_t number, struct sched_thread *parent)
{
	struct sched_thread *t;

	if (parent)
		parent->children++;
	if (number >= SCHED_THREADS) {
		sched.foreign++;
		sched.report->unscheduled++;
		return;
	}
	t = sched_thread(number);
	t->index = number;
	t->parent = parent ? parent->index : SCHED_NOBODY;
	/* Only T0 exists already; its creator may yet come to points before another does. */
	t->status = parent ? SCHED_GONE : SCHED_READY;
	/* Numbers are given out one after the other, but not necessarily used in that order. */
	while (sched.count <= number) {
		if (sched.count < number)
			sched_thread(sched.count)->status = SCHED_GONE;
		sched_thread(sched.count)->index = sched.count;
		sched.count++;
	}
	sched.report->threads = sched.count;
	name_thread(t, parent);
	sched_plan_named(t);
	sched_pick_created(t);
}

void sched_created(uint32_t number)
{
	struct sched_thread *me = rt_self.sched;

	if (!me || sched.freed)
		return;
	sched_lock();
	add(number, me);
	sched_unlock();
}

void sched_exists(uint32_t number)
{
	if (!rt_self.sched || number >= SCHED_THREADS)
		return;
	sched_lock();
	/* It may even have ended, if the token was taken away meanwhile. */
	if (!sched_entry(sched_thread(number))->ended)
		sched_thread(number)->status = SCHED_READY;
	sched_unlock();
}

void sched_not_created(uint32_t number)
{
	if (!rt_self.sched || number >= SCHED_THREADS)
		return;
	sched_thread(number)->status = SCHED_GONE;
	sched_entry(sched_thread(number))->ended = 1;
}

void sched_thread_begin(uint32_t number)
{
	struct sched_thread *me = sched_thread(number);

	if (sched.mode == SCHED_OFF || number >= sched.count)
		return;
	me->tid = (int32_t)sys0(gettid);
	me->busy = true;
	rt_self.sched = me;
	rt_self.careful = 1;
	__atomsan_thread.scheduled = me;
	if (sched.holder == SCHED_NOBODY && !number)
		sched_give(me);
	sched_wait_for_token(me);
	me->busy = false;
	if (sched.freed)
		sched_leave();
}

void sched_thread_end(void)
{
	struct sched_thread *me = rt_self.sched;

	if (!me)
		return;
	me->busy = true;
	if (!sched.freed && !me->go)
		sched_back(me);
	sched_lock();
	me->status = SCHED_GONE;
	sched_entry(me)->ended = 1;
	if (!sched.freed) {
		sched.progress++;
		sched_wake_up(me);
		me->go = 0;
		sched_give(sched_next(me));
	}
	sched_unlock();
	rt_self.sched = NULL;
	__atomsan_thread.scheduled = NULL;
}

bool sched_has_ended(uint32_t number)
{
	return number >= sched.count || sched_thread(number)->status == SCHED_GONE;
}

const void *sched_object(uint32_t number)
{
	return number < SCHED_THREADS ? sched_thread(number) : NULL;
}

void sched_cancel(uint32_t number)
{
	struct sched_thread *t = sched_thread(number);

	if (!rt_self.sched || number >= sched.count)
		return;
	sched_lock();
	t->cancelled = true;
	if (t->status == SCHED_BLOCKED) {
		t->status = SCHED_READY;
		sched.progress++;
	}
	sched_unlock();
}

void sched_fork_child(void)
{
	if (!sched.report)
		return;
	sched_cpu_end(0);
	rt_self.sched = NULL;
	__atomsan_thread.scheduled = NULL;
	sched.mode = SCHED_OFF;
	sched.freed = true;
	sched.waiters = 0;
	sched_unlock();
}

void sched_start(void)
{
	if (!sched_plan_read())
		return;
	if (!sched_make_room()) {
		sched.mode = SCHED_OFF;
		return;
	}
	if (sched.counts_all)
		rt_options.filter = 0;
	sched_cpu_begin();
	sched_pick_begin();
	add(0, NULL);
}
