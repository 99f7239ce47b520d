/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads: creation, joining, detaching, cancelling, and their end.
 *
 * Which number has the thread behind a pthread_t? In glibc a pthread_t is the
 * address of the thread's control block, and static thread-local storage lies
 * at a fixed distance below it; both stay mapped until the thread has been
 * joined, or has been detached and is gone, which is also how long the program
 * may use the pthread_t. So the number is read out of the other thread's own
 * storage. No table can fill up or go stale when a pthread_t is used again:
 * glibc clears the storage before it makes a thread of it.
 */
#include "rt/create.h"
#include "rt/real.h"
#include "rt/sys.h"
#include "rt/unmet.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>

/*
 * 0 until the thread has begun, so that somebody who joins at once knows to
 * wait; then NOT_RECORDED, or the number + ANNOUNCED. Also a futex.
 */
enum { NOT_RECORDED = 1, ANNOUNCED = 2 };
static __thread uint32_t announced;

/* Slots are held for the moment between pthread_create and the thread's first
 * instruction, so there need not be many. */
enum { SLOTS = 4096 };
static struct hand_over slots[SLOTS];
static uint32_t next_slot;

static void sleep_a_little(void)
{
	struct timespec millisecond = {0, 1000000};

	sys2(nanosleep, &millisecond, NULL);
}

static struct hand_over *take_slot(void)
{
	for (int round = 0; round < 1000; round++) {
		for (int i = 0; i < SLOTS; i++) {
			uint32_t n = __atomic_fetch_add(&next_slot, 1, __ATOMIC_RELAXED) % SLOTS;
			uint32_t nobody = 0;

			/* pairs with the stores that give it back */
			if (__atomic_compare_exchange_n(&slots[n].taken, &nobody, 1, false, __ATOMIC_ACQUIRE,
							__ATOMIC_RELAXED))
				return &slots[n];
		}
		sleep_a_little();
	}
	return NULL;
}

static void give_slot_back(struct hand_over *slot)
{
	__atomic_store_n(&slot->taken, 0, __ATOMIC_RELEASE);
}

struct hand_over *create_prepare(void *argument, const struct atomsan_site *site)
{
	struct hand_over *slot = take_slot();

	if (!slot)
		return NULL;
	rt_record_before_thread();
	slot->start = NULL;
	slot->start_c11 = NULL;
	slot->argument = argument;
	slot->number = RT_NO_THREAD;
	slot->parent = rt_self.number;
	if (rt_met()) {
		unmet_thread_coming(1);
		slot->number = rt_thread_number();
		if (unlikely(rt_watching))
			watch_created(&slot->birth);
		rt_op_value(TRACE_OP_CREATE, 0, NULL, slot->number, site);
		sched_created(slot->number);
	}
	return slot;
}

void create_failed(struct hand_over *slot, int error, const struct atomsan_site *site)
{
	if (slot->number != RT_NO_THREAD) {
		rt_op_values(TRACE_OP_CREATE_FAILED, 0, NULL, slot->number, error, site);
		unmet_thread_coming(-1);
		sched_not_created(slot->number);
	}
	give_slot_back(slot);
}

/*
 * The END. Destructors of C++ thread_local objects run first, then those of
 * POSIX's keys, in rounds, for as long as values come back, up to
 * PTHREAD_DESTRUCTOR_ITERATIONS. A key of our own comes back in every round
 * and ends the thread in the last.
 */
static pthread_key_t end_key;
enum { KEY_NONE, KEY_COMING, KEY_READY };
static int end_key_state;

static void end_round(void *value)
{
	uintptr_t round = (uintptr_t)value;

	if (round < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(end_key, (void *)(round + 1));
	else
		rt_thread_end();
}

static bool have_end_key(void)
{
	int state = KEY_NONE;

	if (__atomic_compare_exchange_n(&end_key_state, &state, KEY_COMING, false, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		bool made = pthread_key_create(&end_key, end_round) == 0;

		/* pairs with the loads here; without a key the next one tries again */
		__atomic_store_n(&end_key_state, made ? KEY_READY : KEY_NONE, __ATOMIC_RELEASE);
		return made;
	}
	while (state == KEY_COMING) {
		sleep_a_little();
		state = __atomic_load_n(&end_key_state, __ATOMIC_ACQUIRE);
	}
	return state == KEY_READY;
}

static void announce(uint32_t number)
{
	/* pairs with the loads in begun() and create_number() */
	__atomic_store_n(&announced, number == RT_NO_THREAD ? NOT_RECORDED : number + ANNOUNCED,
			 __ATOMIC_RELEASE);
}

void create_leaving(void)
{
	if (!rt_met())
		return;
	announce(rt_self.number);
	if (!have_end_key())
		return;
	rt_self.inside++;
	if (!pthread_getspecific(end_key))
		pthread_setspecific(end_key, (void *)1);
	rt_self.inside--;
}

struct hand_over create_begin(struct hand_over *slot)
{
	struct hand_over mine = *slot;

	give_slot_back(slot);
	announce(mine.number);
	sys3(futex, &announced, FUTEX_WAKE_PRIVATE, INT_MAX);
	if (mine.number != RT_NO_THREAD) {
		if (unlikely(rt_watching))
			watch_born(&mine.birth);
		rt_thread_begin(mine.number, mine.parent);
		create_leaving();
	}
	return mine;
}

void create_fork_child(void)
{
	announce(rt_self.number);
	/* Whoever was making the key is not here to finish. */
	if (end_key_state == KEY_COMING)
		end_key_state = KEY_NONE;
	/* Those on their way to a thread of the parent's go nowhere here. */
	for (int i = 0; i < SLOTS; i++)
		slots[i].taken = 0;
}

static void *other_threads(pthread_t thread, void *mine)
{
	return (char *)thread + ((char *)mine - (char *)pthread_self());
}

/* The first thread was not created by anybody and announces nothing. */
static bool begun(pthread_t thread)
{
	const struct rt_thread *recorded = other_threads(thread, &rt_self);
	const uint32_t *theirs = other_threads(thread, &announced);

	return __atomic_load_n(theirs, __ATOMIC_ACQUIRE) || recorded->number != RT_NO_THREAD;
}

static bool over(clockid_t clock, const struct timespec *until)
{
	struct timespec now;

	if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000 || clock_gettime(clock, &now))
		return true; /* libc is about to say so */
	return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

/*
 * Most of the time it has long begun. The limit, ten seconds or so, is for a
 * thread that was made behind our back and never announces itself.
 */
uint32_t create_number(pthread_t thread, clockid_t clock, const struct timespec *until)
{
	const struct rt_thread *recorded = other_threads(thread, &rt_self);
	uint32_t *theirs = other_threads(thread, &announced);
	struct timespec millisecond = {0, 1000000};
	uint32_t said;

	for (int round = 0; round < 10000 && !begun(thread); round++) {
		if (until && over(clock, until))
			break;
		sys4(futex, theirs, FUTEX_WAIT_PRIVATE, 0, &millisecond);
	}
	said = __atomic_load_n(theirs, __ATOMIC_ACQUIRE);
	if (said >= ANNOUNCED)
		return said - ANNOUNCED;
	return said == NOT_RECORDED ? RT_NO_THREAD : recorded->number;
}

static void *begin(void *slot)
{
	struct hand_over mine = create_begin(slot);

	return mine.start(mine.argument);
}

INTERPOSER int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
			      void *argument)
{
	const struct atomsan_site *site = rt_take_site();
	struct hand_over *slot = create_prepare(argument, site);
	uint32_t number;
	int error;

	if (!slot)
		return EAGAIN;
	slot->start = start;
	number = slot->number;
	/* libc allocates here what it frees at the end of the thread: both are recorded, or neither. */
	error = REAL(pthread_create)(thread, attributes, begin, slot);
	if (error)
		create_failed(slot, error, site);
	else
		sched_exists(number);
	return error;
}

bool create_waits(pthread_t thread)
{
	pthread_attr_t attributes;
	int state = PTHREAD_CREATE_JOINABLE;

	if (pthread_equal(thread, pthread_self()))
		return false;
	rt_self.inside++;
	if (!pthread_getattr_np(thread, &attributes)) {
		pthread_attr_getdetachstate(&attributes, &state);
		pthread_attr_destroy(&attributes);
	}
	rt_self.inside--;
	return state == PTHREAD_CREATE_JOINABLE;
}

static void joined(uint32_t number, int error, const struct atomsan_site *site)
{
	if (!error && number != RT_NO_THREAD)
		rt_op_value(TRACE_OP_JOIN, 0, NULL, number, site);
}

INTERPOSER int pthread_join(pthread_t thread, void **result)
{
	const struct atomsan_site *site = rt_take_site();
	uint32_t number = rt_met() ? create_number(thread, 0, NULL) : RT_NO_THREAD;
	int error = CREATE_JOIN(number, thread, site, 0, REAL(pthread_join)(thread, result));

	joined(number, error, site);
	return error;
}

INTERPOSER int pthread_tryjoin_np(pthread_t thread, void **result)
{
	const struct atomsan_site *site = rt_take_site();
	struct timespec past = {0, 0};
	uint32_t number = RT_NO_THREAD;
	int error;

	if (rt_met()) {
		/* One that has not begun cannot have ended yet; were the real call to
		 * find otherwise, its number would be gone. */
		if (!begun(thread))
			return EBUSY;
		number = create_number(thread, CLOCK_MONOTONIC, &past);
	}
	error = REAL(pthread_tryjoin_np)(thread, result);
	joined(number, error, site);
	return error;
}

INTERPOSER int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
	const struct atomsan_site *site = rt_take_site();
	uint32_t number = rt_met() ? create_number(thread, CLOCK_REALTIME, until) : RT_NO_THREAD;
	int error = CREATE_JOIN(number, thread, site, sched_deadline(CLOCK_REALTIME, until),
				REAL(pthread_timedjoin_np)(thread, result, until));

	joined(number, error, site);
	return error;
}

INTERPOSER int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
				    const struct timespec *until)
{
	const struct atomsan_site *site = rt_take_site();
	uint32_t number = rt_met() ? create_number(thread, clock, until) : RT_NO_THREAD;
	int error = CREATE_JOIN(number, thread, site, sched_deadline(clock, until),
				REAL(pthread_clockjoin_np)(thread, result, clock, until));

	joined(number, error, site);
	return error;
}

INTERPOSER int pthread_detach(pthread_t thread)
{
	const struct atomsan_site *site = rt_take_site();
	uint32_t number = rt_met() ? create_number(thread, 0, NULL) : RT_NO_THREAD;
	int error = REAL(pthread_detach)(thread);

	if (!error && number != RT_NO_THREAD)
		rt_op_value(TRACE_OP_DETACH, 0, NULL, number, site);
	return error;
}

INTERPOSER int pthread_cancel(pthread_t thread)
{
	const struct atomsan_site *site = rt_take_site();
	uint32_t number = rt_met() ? create_number(thread, 0, NULL) : RT_NO_THREAD;
	int error;

	if (number != RT_NO_THREAD)
		rt_op_value(TRACE_OP_CANCEL, 0, NULL, number, site);
	error = REAL(pthread_cancel)(thread);
	if (number != RT_NO_THREAD)
		sched_cancel(number);
	return error;
}

/* The first thread has no END unless it leaves this way. */
INTERPOSER void pthread_exit(void *result)
{
	rt_take_site();
	create_leaving();
	REAL(pthread_exit)(result);
}
