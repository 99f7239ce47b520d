/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The scheduler: of the program's threads exactly one runs at a time, the one
 * that has the token. It gives the token away at its *points*, which are the
 * instrumented accesses and the operations that the runtime records, and when
 * it would have to wait. Who comes next is decided by a strategy, or by a
 * schedule that was written down; both in terms of how many *events* a thread
 * has done, which is why events are counted in a way that depends on nothing
 * but the thread's own doings (docs/schedule-format.md).
 *
 *   sched.c        the token: who has it, who waits, handing it over
 *   sched_thread.c threads, from their creation to their end
 *   sched_count.c  which accesses and operations are events, and points
 *   sched_first.c  which of them repeat what was done before
 *   sched_pick.c   who comes next
 *   sched_plan.c   the schedule and the hints that the tools wrote, and the report
 *   sched_follow.c following the schedule
 *   sched_wait.c   what waits: locks, conditions, barriers, joins, the kernel
 *   sched_calls.c  interposers of calls that sleep in the kernel; futex.c of those that wait on a word
 *   sched_cpu.c    on which processor all this happens
 *
 * Nothing here is reached while the option sched is not set: rt_self.sched is
 * NULL then, and that is all that hooks and interposers look at.
 *
 * One lock guards all that follows; it is held for moments, never over a wait.
 * A signal handler's own accesses and operations are neither events nor
 * points; it may run while the thread that it interrupted waits for the token.
 */
#ifndef ATOMSAN_RT_SCHEDULER_H
#define ATOMSAN_RT_SCHEDULER_H

#include "abi/sched.h"
#include "rt/heal.h"
#include "rt/rt.h"
#include "rt/watch.h"

#include <pthread.h>
#include <time.h>

#pragma GCC visibility push(hidden)

enum sched_status {
	SCHED_READY,   /* has the token, or could have it */
	SCHED_BLOCKED, /* waits for an object */
	SCHED_AWAY,    /* in the kernel */
	SCHED_GONE,    /* ended */
};

/* What a thread is told when it goes on after sched_block(). */
enum sched_woken {
	SCHED_AGAIN,     /* look again whether you may go on */
	SCHED_LATE,      /* your time is over */
	SCHED_FREE,      /* the scheduler is off: wait as if it had never been */
	SCHED_CANCELLED, /* somebody called pthread_cancel */
};

enum sched_mode { SCHED_OFF, SCHED_FOLLOW, SCHED_SERIAL, SCHED_RANDOM, SCHED_PCT, SCHED_POS, SCHED_SURW };

struct sched_thread {
	uint32_t go; /* futex: 1 for who has the token */
	uint32_t status;
	uint32_t index;
	uint32_t parent;
	uint32_t children;
	int32_t tid;
	uint32_t signalled; /* futex: who waits for a condition, a barrier or a futex may go on */
	uint32_t name_id;   /* of the plan's and the hints' names; 0: not among them */
	bool yields;        /* has nothing to do right now: spins, sleeps or said so */
	bool busy;          /* inside the scheduler: a signal handler stays out */
	bool cancelled;
	bool expired; /* its time was over when it got the token */
	uint64_t events, points;
	uint64_t until; /* a decision is due when events reaches this */
	uint64_t beat;  /* counts points of any kind, to see whether it moves */
	uint64_t since; /* events when it got the token */

	/* what it waits for */
	enum sched_wait waits;
	const void *object;
	const struct atomsan_site *site;
	uint64_t deadline; /* monotonic nanoseconds; 0: none */
	uint64_t ticket;   /* order of arrival */

	/* what it is about to do */
	const void *next_object;
	bool next_writes;
	bool next_counts; /* an event that strategies look at */
	bool next_silent; /* perhaps no event at all: it polls, yields or sleeps */
	bool heard;       /* has been let run without events, and came to one; see sched_plan.c */

	/* an update that has read and not yet written, in the eyes of who counts */
	const void *half_done;

	/* the last event, to know repetitions */
	const void *last_object;
	const struct atomsan_site *last_site;
	uint64_t repeats;

	/* strategies */
	uint64_t priority;
	uint64_t weight;

	/* watching another one who may be blocked in the kernel */
	uint32_t watched;
	uint64_t watched_beat, watched_since;

	/* sched_first.c: what was touched in the stretch at hand */
	struct sched_table *table;
};

extern struct sched_state_of_all {
	enum sched_mode mode;
	enum sched_mode base; /* what goes on when a schedule has come to its end */
	bool freed;           /* everybody runs as he likes from here on */
	bool frees;           /* the schedule's end lets all go */
	bool forked;          /* another process may have a hand in what threads wait for */
	bool shares;          /* there is memory that other processes may have as well */
	bool counts_all;      /* every access is an event, not only the first of its kind in a stretch */
	uint32_t holder;      /* index of who has the token, or SCHED_NOBODY */
	uint32_t last;        /* who had it last */
	uint32_t count;       /* threads in the table */
	uint32_t foreign;     /* threads that are not */
	uint32_t waiters;     /* in modelled waits for conditions, which outlive the scheduler */
	uint64_t progress;    /* events of all, and wakings */
	uint64_t looked;      /* progress when everybody was let look again */
	uint64_t idle_since;
	uint64_t tickets;
	uint64_t random;
	struct sched_report *report;
} sched;
enum { SCHED_NOBODY = 0xffffffff };

static inline struct sched_report_thread *sched_entry(const struct sched_thread *t)
{
	return &sched.report->thread[t->index];
}

/* ---- for interposers ---- */

/* Whose call this is, if it is to be scheduled; else NULL. */
static inline struct sched_thread *sched_me(void)
{
	struct sched_thread *me = rt_self.sched;

	if (likely(!me))
		return NULL;
	return rt_self.inside || rt_self.handlers || me->busy ? NULL : me;
}

/* A point before something that may have to wait; counted when it is recorded. */
void sched_before(struct sched_thread *me, const void *object, const struct atomsan_site *site);
/* A point of a thread that has nothing to do for the moment. */
void sched_pause(struct sched_thread *me, const struct atomsan_site *site);
/* The object cannot be had: let others run until somebody gives it up. */
enum sched_woken sched_block(struct sched_thread *me, enum sched_wait waits, const void *object,
			     const struct atomsan_site *site, uint64_t deadline);
/* Whoever waits for the object may look again; how many they are. */
uint32_t sched_wake(const void *object);

/* Around a call that may sleep in the kernel. */
void sched_away(struct sched_thread *me, const struct atomsan_site *site);
void sched_back(struct sched_thread *me);

/* With the token, or without it if somebody may come back for it. */
void sched_sleep(struct sched_thread *me, const struct timespec *time);
/* Would a read of this file, or a write to it, have to wait? */
bool sched_would_sleep(int file, bool output);
/* The value of a call that reads from a file, or writes to it. Sections are given up if it sleeps, which it
 * does not if it was told not to wait. */
#define SCHED_IO(file, output, call) SCHED_SOCKET(file, output, 0, call)
#define SCHED_SOCKET(file, output, flags, call)                                            \
	({                                                                                 \
		struct sched_thread *me_ = sched_me();                                     \
		bool asks_ = unlikely(me_) || unlikely(heal_on);                           \
		bool away_ = asks_ && sched_would_sleep(file, output);                     \
		__typeof__(call) value_;                                                   \
                                                                                           \
		if (away_ && heal_on && !((flags) & MSG_DONTWAIT) && heal_may_sleep(file)) \
			heal_on_wait(NULL);                                                \
		away_ = away_ && me_;                                                      \
		if (away_)                                                                 \
			sched_away(me_, me_->last_site);                                   \
		value_ = (call);                                                           \
		if (away_)                                                                 \
			sched_back(me_);                                                   \
		value_;                                                                    \
	})

/* pthread_testcancel, and no point. */
void sched_testcancel(void);

/* Waits that are modelled whole, for libc has no way to try them. The condition's mutex is held when
 * it returns, an errno; the barrier's result is libc's. */
int sched_cond_wait(struct sched_thread *me, const void *condition, pthread_mutex_t *mutex,
		    const struct atomsan_site *site, uint64_t deadline);
/* True if somebody waits in the model and may go on now; also when the scheduler is off again. */
bool sched_cond_signal(const void *condition, bool all);
int sched_barrier(struct sched_thread *me, pthread_barrier_t *barrier, const struct atomsan_site *site);
/* Until nobody else is at work on what is done once, a state of glibc's. */
void sched_once(struct sched_thread *me, const pthread_once_t *control, const struct atomsan_site *site);

/* A time of one of POSIX's clocks as a deadline of the scheduler's. */
uint64_t sched_deadline(clockid_t clock, const struct timespec *until);
uint64_t sched_now(void);

/*
 * The value of `attempt`, tried until it is not `busy`; where the scheduler is
 * off, or the time is over, the value of `real`, which waits by itself.
 */
#define SCHED_WAIT(kind, thing, place, deadline, attempt, busy, real)                                     \
	({                                                                                                \
		struct sched_thread *me_ = sched_me();                                                    \
		int result_;                                                                              \
                                                                                                          \
		WATCH_BEFORE(thing, place);                                                               \
		if (unlikely(heal_on) && (kind) == SCHED_WAIT_JOIN)                                       \
			heal_on_wait(NULL);                                                               \
		if (likely(!me_)) {                                                                       \
			result_ = (real);                                                                 \
		} else {                                                                                  \
			uint64_t deadline_ = (deadline);                                                  \
                                                                                                          \
			sched_before(me_, (const void *)(thing), place);                                  \
			while ((result_ = (attempt)) == (busy)) {                                         \
				enum sched_woken woken_;                                                  \
                                                                                                          \
				if (SCHED_CANCELS(kind))                                                  \
					sched_testcancel();                                               \
				woken_ = sched_block(me_, kind, (const void *)(thing), place, deadline_); \
				if (woken_ == SCHED_LATE || woken_ == SCHED_FREE) {                       \
					result_ = (real);                                                 \
					break;                                                            \
				}                                                                         \
			}                                                                                 \
		}                                                                                         \
		result_;                                                                                  \
	})
#define SCHED_CANCELS(kind) ((kind) == SCHED_WAIT_SEMAPHORE || (kind) == SCHED_WAIT_JOIN)

/* Before something that does not wait, but finds what others left. */
#define SCHED_POINT(thing, place)                                        \
	do {                                                             \
		struct sched_thread *me_ = sched_me();                   \
                                                                         \
		WATCH_BEFORE(thing, place);                              \
		if (unlikely(me_))                                       \
			sched_before(me_, (const void *)(thing), place); \
	} while (0)

/* ---- threads ---- */

void sched_start(void);              /* the options are read; T0 is about to begin */
void sched_created(uint32_t number); /* by the calling thread, with this number */
/* Its creator's call came back: it can have the token; or it did not come to be. */
void sched_exists(uint32_t number);
void sched_not_created(uint32_t number);
void sched_thread_begin(uint32_t number);
void sched_thread_end(void);
bool sched_has_ended(uint32_t number);     /* also true of threads that are not scheduled */
const void *sched_object(uint32_t number); /* what who joins this thread waits for */
void sched_cancel(uint32_t number);
void sched_fork_child(void);
void sched_signal_ran(void); /* a handler may have changed what somebody waits for */

/* ---- hooks ---- */

/* Before an access; kinds has a byte's bits in a shadow cell. Around an atomic operation. Where any other
 * operation is recorded. */
void sched_access(const void *p, uint64_t length, uint64_t kinds,
		  const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
void sched_store(const void *p) ATOMSAN_KEEPS_REGISTERS;
/* A read that repeats an event of the same stretch, and is none; but a step that is over ends before it. */
void sched_again(const void *p) ATOMSAN_KEEPS_REGISTERS;
void sched_atomic(const void *p) ATOMSAN_KEEPS_REGISTERS;
void sched_atomic_done(const void *p, bool wrote, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
void sched_op(enum trace_op op, const void *object, uint64_t value,
	      const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;

/* ---- between the scheduler's files ---- */

void sched_lock(void);
void sched_unlock(void);
struct sched_thread *sched_thread(uint32_t index);
bool sched_make_room(void); /* for all threads there may be */
/* Who is to have the token; NULL: nobody, until a thread comes back from the kernel. The lock is held. */
struct sched_thread *sched_next(struct sched_thread *me);
/* It has the token from here on; NULL: nobody has. The lock is held. */
void sched_give(struct sched_thread *next);
void sched_wait_for_token(struct sched_thread *me);
/* As sched_wake(), with the lock held. */
uint32_t sched_wake_up(const void *object);
/* The calling thread is scheduled no more. */
void sched_leave(void);
/* The calling thread, which has the token, comes to a point: others may get it first. */
void sched_decide(struct sched_thread *me);
/* All threads run as they like from here on. The lock is held. */
void sched_release(void);
/* For the report: what the program is about to die of, and where. */
void sched_say_assertion(const char *condition, const char *file, unsigned line, const char *function);
void sched_say_crash(void);
void sched_describe(char *to, uint64_t room, const struct atomsan_site *site);
void sched_copy(char *to, uint64_t room, const char *from);

EXPORT void __atomsan_schedule_end(void);

/* sched_plan.c */
bool sched_plan_read(void);
void sched_plan_named(struct sched_thread *t);
/* Who is to run by the schedule; NULL: nobody before somebody comes back from the kernel or is late. */
struct sched_thread *sched_plan_pick(struct sched_thread *me);
/* Whom of those who wait for this, and have not been signalled, the schedule lets go on next; NULL: it does
 * not say. */
struct sched_thread *sched_plan_wants(enum sched_wait waits, const void *object);
/* The schedule has waited long enough for somebody to come back from the kernel. */
void sched_plan_lost(void);
bool sched_plan_site(uint64_t number); /* is it a site that strategies look at? */
uint64_t sched_plan_weight(const struct sched_thread *t);
uint64_t sched_plan_steps(void);
/* Who goes on whenever it can when the schedule has come to its end; NULL: nobody in particular. */
struct sched_thread *sched_plan_first(void);

/* sched_pick.c */
struct sched_thread *sched_pick(struct sched_thread *me);
void sched_pick_begin(void);
void sched_pick_created(struct sched_thread *t);
/* What a thread did counts; called with what it did still in next_object. */
void sched_pick_done(struct sched_thread *t);
uint64_t sched_random(void);

/* sched_cpu.c */
void sched_cpu_begin(void);      /* before there are other threads */
void sched_cpu_end(int32_t tid); /* the thread goes where it likes; 0: the calling one */
/* A set of processors that this thread may use, as libc told it: shown as it would be without the scheduler.
 * 0: the calling thread. */
void sched_cpu_hide(int32_t tid, uint64_t bytes, void *set);

/* sched_first.c */
bool sched_count_first(struct sched_thread *me, const void *p, uint64_t length, uint64_t kinds);
void sched_count_stretch(struct sched_thread *me);
/* Of these bytes nothing is done yet. */
void sched_count_forget(struct sched_thread *me, const void *p, uint64_t length);
/* The trace hears of a function that was entered at this depth. */
void sched_count_entered(uint64_t depth) ATOMSAN_KEEPS_REGISTERS;

#pragma GCC visibility pop

#endif
