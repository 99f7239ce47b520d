/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Healing: keeping others out of a section that must not be broken. Both
 * runtimes have this, the one that tests (rt/heal.c) and the small one that a
 * program built with `cc --heal` brings along (rt/heal_field.c).
 *
 * A section's thread does not keep the program's locks. What it has are
 * *gates*: one in front of each lock that it holds when the section begins, and
 * one around the variable. Its unlock really happens, but who comes to lock
 * waits at the gate, before, until the section is over. As the gate is closed
 * while the lock is held, nobody else is behind it; and who has got past it and
 * not yet got the lock looks again when he has it, and goes back.
 *
 *   heal_gate.c     gates, and waiting at them
 *   heal_circle.c   whether those who wait wait for each other
 *   heal_tell.c     accesses outside of sections
 *   heal_order.c    which gates may be waited for: the order of locks
 *   heal_section.c  sections: begun, ended, left
 *   heal_early.c    sections that stand in line before they lock
 *   heal_semaphore.c semaphores, which may be locks
 *   heal_lock.c     which locks a thread has
 *   heal_guard.c    the lock that something is done under
 *
 * Healing never stops a program that would go on by itself. A gate is waited for
 * only if the order of locks and gates, as seen so far, allows it; a circle of
 * threads that wait for each other is seen while waiting, and who waits at a
 * gate goes on then; there is a limit to every wait; who has a section and
 * comes to wait for others gives it up first. What is given up or cut short is
 * counted.
 */
#ifndef ATOMSAN_RT_HEAL_GATE_H
#define ATOMSAN_RT_HEAL_GATE_H

#include "abi/heal.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define heal_likely(x) __builtin_expect(!!(x), 1)
#define heal_unlikely(x) __builtin_expect(!!(x), 0)

enum {
	HEAL_LOCKS = 2048,    /* gates of locks; which one is by the lock's address */
	HEAL_VARIABLES = 256, /* that have gates of their own; the others share them */
	HEAL_NODES = HEAL_LOCKS + HEAL_VARIABLES,
	HEAL_THREADS = 4096,
	HEAL_HELD = 32,
	HEAL_OPEN = 8,
	HEAL_GATES = 8,
	HEAL_COUNTS = 16,
};

enum heal_stage {
	HEAL_OWNED,
	HEAL_PASSING,   /* an access is about to happen, and that is all */
	HEAL_LINGERING, /* the section has come to an end, but its unit may come there again */
	HEAL_EARLY,     /* the unit is about to lock, and has not accessed anything yet */
};

/* Who sees to it that an access and a section see each other (heal_tell.c); in a gate of zeros both do. */
enum heal_mode { HEAL_FENCED, HEAL_UNFENCED };

/* Of a section that has none: any that is left is above it. */
#define HEAL_NO_FRAME (~0ull)

struct heal_held {
	const void *object;
	const void *place; /* of the call that took it */
	uint32_t times;
	bool shared;
	bool reserved; /* its gate was closed before it was taken */
	bool known;    /* its gate tells who holds it */
};

struct heal_open {
	struct atomsan_heal_section *section;
	const char *from, *to;
	const char *first; /* what it began with */
	uint64_t frame;    /* see heal_sweep(); 0: nobody knows */
	uint32_t depth;
	uint32_t held;  /* locks, when it was last looked */
	uint32_t stage; /* enum heal_stage */
	bool reused;
	bool local; /* it is over before the thread calls anything */
	bool lazy; /* its gates are closed when it comes to be needed: a lock that it began under is let go */
	uint32_t gates;
	uint32_t nodes[HEAL_GATES]; /* of the gates that it has */
};

/* What others see of a thread. */
struct heal_told {
	const char *from, *to; /* the bytes of an access that is under way; from NULL: none */
	uint32_t returned;     /* from the hook: its access happens now */
	int tid;
	uint32_t times; /* that it told; others only look how many they are */
	uint32_t reserved[9];
} __attribute__((aligned(64)));

/* Whoever waits has one, and looks now and then whether he still must. */
struct heal_wait {
	uint64_t looked; /* the last time */
	uint64_t since;  /* an access that was let through has not come to its end; 0: there is none */
	uint64_t ran;    /* its thread, by then */
};

/* Why its locks are more than locks. */
enum heal_apart {
	HEAL_IN_WHOLE = 1, /* it is in a unit, and there are sections that are whole ones */
	HEAL_NOT_MET = 2,  /* it has no number yet */
};

/* What a thread has. */
struct heal_thread {
	/* This and the next are what bare locks look at. */
	uint32_t held_count;
	/* By itself, and looked at as one word: who stores a part of a word and then loads all of it waits
	 * until the store is through. */
	union {
		struct {
			uint8_t open_count;
			uint8_t apart; /* enum heal_apart, or'ed */
			bool pending;  /* an access has been let through, and what follows it is to be done */
			bool busy;     /* a signal handler that comes now stays out */
		};
		uint32_t under_way; /* all four; 0: a lock is nothing but a lock */
	};
	uint32_t number; /* 0: not met */
	struct heal_told *mine;
	bool told;                           /* others know which bytes it is about to access */
	uint32_t waits;                      /* as the others see it, see heal_waits() */
	const void *place;                   /* of the call that locks */
	const void *reserved;                /* a lock whose gate it has, and which it is about to take */
	const void *through;                 /* a lock whose gate it need not wait for any more */
	uint32_t left;                       /* times that it has left a line, see heal_early.c */
	uint32_t closed;                     /* sections, so far */
	uint32_t early_serial, early_closed; /* heal_unit_serial() and `closed` when it last stood in line */
	const struct atomsan_heal_place *update; /* it has read there, and is about to write */
	uint64_t update_length;
	struct heal_held held[HEAL_HELD];
	struct heal_open open[HEAL_OPEN];
	/* Entries not yet counted: who counted each by itself would fetch the counter from another one's
	 * cache. */
	struct {
		struct atomsan_heal_section *section;
		uint32_t times, gated;
	} entered[HEAL_COUNTS];
};
extern __thread struct heal_thread heal_self __asm__("__atomsan_heal_mine")
	__attribute__((tls_model("local-exec"), visibility("default")));
_Static_assert(!offsetof(struct heal_thread, held_count) && offsetof(struct heal_thread, under_way) == 4,
	       "they are looked at together");

/* Bits of `under_way`. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { HEAL_WHOLE_WORD = HEAL_IN_WHOLE << 8, HEAL_PENDING = 1 << 16 };
#else
enum { HEAL_WHOLE_WORD = HEAL_IN_WHOLE << 16, HEAL_PENDING = 1 << 8 };
#endif

/* Nothing of its own under way, whatever locks it holds. */
static inline bool heal_is_free(void)
{
	return heal_likely(!(heal_self.under_way & ~(uint32_t)HEAL_WHOLE_WORD));
}

/* How long healing waits at most. */
extern struct heal_settings {
	uint64_t timeout; /* nanoseconds */
	bool keeps;       /* gates may be kept: no two threads have numbers that share a slot */
} heal_settings;

/*
 * While nobody has a lock's gate, who locks need not look at any, and who holds a
 * lock need not say so before somebody waits. Who closes a lock's gate holds the lock, so whoever gets it
 * next sees that there is one.
 */
extern struct heal_use {
	/* These three are looked at together, by bare locks as well. */
	uint32_t closed; /* locks' gates that have an owner, and threads that wait at any gate */
	uint16_t leads;  /* some calls close gates before they lock */
	uint16_t tracks; /* some sections wait for a lock to be free */
	uint32_t whole;  /* some sections are whole units */
} __attribute__((aligned(64))) heal_use __asm__("__atomsan_heal_use") __attribute__((visibility("default")));
static inline __attribute__((always_inline)) bool heal_unused(void)
{
	return heal_likely(!__atomic_load_n((const uint64_t *)&heal_use, __ATOMIC_RELAXED));
}
static inline __attribute__((always_inline)) bool heal_idle(void)
{
	return heal_unused() && heal_likely(!heal_self.open_count);
}

/* ---- what each of the two runtimes has of its own ---- */

/* Wait at a gate as the scheduler would have it. False: there is none, wait in the kernel. `late` says that
 * it was long enough. */
bool heal_wait_scheduled(const void *gate, uint64_t until, bool *late);
void heal_wake_scheduled(const void *gate);
bool heal_scheduled(void);
/* The innermost open call of the section's unit, or of whoever works for it; 0: it is not open. */
uint64_t heal_frame_of(const struct atomsan_heal_section *section);

/* Changes whenever a unit begins or ends in this thread; 0: nobody knows. */
uint32_t heal_unit_serial(void);
/* The next section from the n-th on, and n is the one behind it, that is a whole unit which the thread is in;
 * and its frame. NULL: there is none any more. */
struct atomsan_heal_section *heal_next_whole(uint32_t *n, uint64_t *frame);

/* The sections, one after the other; NULL after the last. */
const struct atomsan_heal_section *heal_nth(uint32_t n);

/* ---- results (heal_results.c) ---- */

void heal_finish(void); /* the process ends */

/* ---- gates (heal_gate.c) ---- */

struct atomsan_heal_gate *heal_gate_of(uint32_t node);
struct atomsan_heal_variable *heal_variable_of(uint32_t node);
uint32_t heal_lock_node(const void *lock);
uint32_t heal_variable_node(struct atomsan_heal_variable *variable);
extern struct atomsan_heal_gate heal_locks[HEAL_LOCKS];
static inline struct atomsan_heal_gate *heal_lock_gate(const void *lock)
{
	return &heal_locks[((uint64_t)lock >> 3) * 0x9e3779b97f4a7c15ull >> 53];
}
enum { HEAL_WAITED = 1u << 31 };

static inline uint32_t heal_owner(const struct atomsan_heal_gate *gate)
{
	return __atomic_load_n(&gate->word, __ATOMIC_ACQUIRE) & ~(uint32_t)HEAL_WAITED;
}

static inline enum heal_mode heal_mode(uint32_t word)
{
	return word & 1 ? HEAL_UNFENCED : HEAL_FENCED;
}

static inline uint32_t heal_slot(uint32_t number)
{
	return number % HEAL_THREADS;
}

/* What is wanted of a gate. */
struct heal_wish {
	struct atomsan_heal_section *section; /* to have it, for this section; NULL: to pass by */
	const char *from, *to;                /* the bytes that the access is about; from NULL: all */
	unsigned kinds;                       /* what it does to them */
	bool early;                           /* other sections are to wait, and accesses are not */
};
static inline bool heal_conflicts(const struct atomsan_heal_gate *gate, const struct heal_wish *wish)
{
	const char *from = gate->from, *to = gate->to;

	if (!(wish->kinds & ~gate->allow))
		return false;
	return !from || !wish->from || (from < wish->to && wish->from < to);
}
/* A gate that the thread has kept since it last had it, and that nobody has asked for. */
bool heal_gate_again(uint32_t node, const struct heal_wish *wish);
/* Gates that the thread has kept are given back: it is no more. */
void heal_gate_give_all(void);
/* Waits until the wish can be had, if that is allowed. False: go on without it. */
bool heal_gate_pass(uint32_t node, const struct heal_wish *wish);
/* Give one of the times back that the gate was taken. */
void heal_gate_release(uint32_t node);
/* Wait until nobody is inside the lock whose gate we have; for no longer than the limit. */
void heal_gate_drain(uint32_t node);
void heal_gate_stage(uint32_t node, enum heal_stage stage);

uint64_t heal_now(void);
/* In a forked child: nobody else is here any more. */
void heal_forget(void);

/* ---- circles (heal_circle.c) ---- */

/* The thread waits for this from here on (a node + 1), or for nothing (0). */
void heal_waits(uint32_t node);
/* Do those whom the thread would wait for here wait for it in turn? */
bool heal_in_a_circle(uint32_t node);
void heal_circle_forget(void); /* as heal_forget() */

/* ---- accesses outside of sections (heal_tell.c) ---- */

void heal_barrier_start(void); /* once, before threads are */
bool heal_has_barrier(void);
/* All threads of the process pass a fence. False: that cannot be had. */
bool heal_barrier(void);
/* The calling thread has this number from here on. */
void heal_thread_is(uint32_t number);
/* An access of these bytes is about to happen, outside of all sections, and nobody is in the way: false if
 * somebody is. And: it has happened. */
bool heal_tell(uint32_t node, const struct heal_wish *wish);
void heal_untell(void);
/* Wait until those are through who told of these bytes before the gate, the variable's, was ours. */
void heal_let_through(struct atomsan_heal_variable *variable, const char *from, const char *to);
/* The thread's hook returns: an access that it was let make happens now. */
void heal_returns(bool returned);
bool heal_is_over(uint32_t slot, uint64_t now, struct heal_wait *wait);
void heal_nap(void);
/* How long nobody looked though it was time to, since the look before. It is no time that was waited, but for
 * a look: a process that is stopped, or a machine that stands still, stops whoever is waited for, too. */
static inline uint64_t heal_stood_still(struct heal_wait *wait, uint64_t now)
{
	const uint64_t look = 1000000, still = 20 * look; /* nobody sleeps that long between two */
	uint64_t gap = now - wait->looked;

	wait->looked = now;
	return gap > still ? gap - look : 0;
}
void heal_tell_forget(void); /* as heal_forget() */
/* The owner's thread id. */
int heal_tid_of(uint32_t owner);

/* True: told, and nobody else has the gate. False: told, and somebody has it. */
static inline __attribute__((always_inline)) bool heal_tell_fast(const struct atomsan_heal_gate *gate,
								 const char *from, const char *to)
{
	struct heal_told *mine = heal_self.mine;
	uint64_t seen;

	__atomic_store_n(&mine->to, to, __ATOMIC_RELAXED);
	/* Release: whoever sees where it begins sees where it ends. */
	__atomic_store_n(&mine->from, from, __ATOMIC_RELEASE);
	__atomic_store_n(&mine->times, mine->times + 1, __ATOMIC_RELAXED);
	heal_self.told = true;
	heal_self.under_way |= HEAL_PENDING;
	/* The compiler must not look first; that the processor does not is what heal_tell.c is about. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	seen = __atomic_load_n((const uint64_t *)&gate->word, __ATOMIC_ACQUIRE);
	if (heal_unlikely(heal_mode((uint32_t)(seen >> 32)) == HEAL_FENCED)) {
		/* Told once more, as a fence: a locked operation is the cheapest there is. */
		(void)__atomic_exchange_n(&mine->from, from, __ATOMIC_SEQ_CST);
		seen = __atomic_load_n(&gate->word, __ATOMIC_ACQUIRE);
	}
	return heal_likely(!(uint32_t)seen || (uint32_t)seen == heal_self.number);
}

/* ---- order (heal_order.c) ---- */

/* From what each leads to, in bits. */
enum { HEAL_WORDS = (HEAL_NODES + 63) / 64 };
extern uint64_t heal_edges[HEAL_NODES][HEAL_WORDS];
static inline bool heal_order_has(uint32_t from, uint32_t to)
{
	return __atomic_load_n(&heal_edges[from][to / 64], __ATOMIC_RELAXED) >> to % 64 & 1;
}

/* The thread, with all that it has, takes this one. */
void heal_order_taken(uint32_t node);
/* Would waiting for it, with all that the thread has, go against the order in which others take things? */
bool heal_order_forbids(uint32_t node);
/* It is not taken so any more. */
void heal_order_remove(uint32_t from, uint32_t to);
/* Of a lock with this name another one is taken: what the repository says. */
void heal_order_add(uint32_t from, uint32_t to);

/* ---- sections (heal_section.c) ---- */

/* Two variables are guarded together from here on. Before threads are. */
void heal_join(struct atomsan_heal_variable *a, struct atomsan_heal_variable *b);
struct atomsan_heal_variable *heal_leader(struct atomsan_heal_variable *variable);

/* Before an access; behind it, if anybody can tell; `kinds` is what of the place's kinds comes now. */
void heal_access(const struct atomsan_heal_place *place, const void *p, uint64_t length, unsigned kinds);
/* Before the write of an update whose read was let through: ends and entries of that kind. */
void heal_store(const struct atomsan_heal_place *place, const void *p, uint64_t length);
void heal_done(void);
/* Sections whose frame is not below this any more have been left. */
void heal_sweep(uint64_t frame);
/* A lock is about to be let go, and sections that began under it are not over. */
void heal_close_gates(void);
/* Each thread counts by itself, and adds up now and then. */
void heal_count_slot(uint32_t slot, struct atomsan_heal_section *section);
static inline uint32_t heal_count_find(struct atomsan_heal_section *section)
{
	uint32_t slot = ((uint64_t)section >> 6) % HEAL_COUNTS;

	if (heal_unlikely(heal_self.entered[slot].section != section ||
			  heal_self.entered[slot].times >= 1000))
		heal_count_slot(slot, section);
	return slot;
}
static inline void heal_count_entered(struct atomsan_heal_section *section)
{
	heal_self.entered[heal_count_find(section)].times++;
}
static inline void heal_count_gated(struct atomsan_heal_section *section)
{
	heal_self.entered[heal_count_find(section)].gated++;
}
/* What the thread has not counted yet. */
void heal_count_all(void);
void heal_count_forget(void); /* nothing has happened yet */
/* At its end: shall it be kept until its unit is left? */
static inline bool heal_worth_keeping(const struct heal_open *open)
{
	const struct atomsan_heal_section *section = open->section;

	if (open->local)
		return false;
	if (section->flags & (ATOMSAN_HEAL_CONSECUTIVE | ATOMSAN_HEAL_SCHEDULE))
		return false;
	/* Nobody could say of a whole unit that the rest of it does not matter; but it may take too long. */
	if (section->flags & ATOMSAN_HEAL_WHOLE)
		return section->late < 4;
	return section->late < 4 && section->lingered < 16 * (1 + section->reused);
}
/* The section, one of the thread's open ones, is over. */
void heal_close_section(struct heal_open *open);
/* The thread gives up all that it has: it waits for others now, or is no more. */
void heal_give_up(bool counted);

/* ---- standing in line before the first lock (heal_early.c) ---- */

static inline bool heal_is_whole(const struct atomsan_heal_section *section)
{
	return (section->flags & (ATOMSAN_HEAL_WHOLE | ATOMSAN_HEAL_OFF | ATOMSAN_HEAL_SCHEDULE)) ==
	       ATOMSAN_HEAL_WHOLE;
}

void heal_early(void);
/* The thread leaves the line, in which nothing has happened yet. False: it is in none. */
bool heal_early_leave(void);

/* ---- the usual ones (heal_simple.c) ---- */

/* The one thing to be done at a place for an access of this kind; NULL: there are more, or none. */
static inline const struct atomsan_heal_role *heal_simple_role(const struct atomsan_heal_place *place,
							       unsigned kinds)
{
	const struct atomsan_heal_role *role = place->role;

	if (place->roles == 1)
		return role->kind & kinds ? role : NULL;
	/* An update: begun by its read, and ended by its write. */
	if (place->roles == 2 && (role[0].kind ^ role[1].kind) == 3)
		return role[0].kind & kinds ? &role[0] : &role[1];
	return NULL;
}
/* At a place where one section begins, or ends: true if that is all done. `unit` is the innermost one that
 * the thread is in. And when an access has been let through. */
bool heal_simple_entry(const struct atomsan_heal_role *role, struct atomsan_heal_variable *accessed,
		       const char *from, const char *to, const char *unit, uint64_t frame);
bool heal_simple_end(const struct atomsan_heal_role *role, const char *from, const char *to);
bool heal_simple_done(void);

/* ---- locks (heal_lock.c) ---- */

/* Before a lock is taken: waits at its gate. */
void heal_lock_before(const void *lock);
/* It has been got. True: it must be given back and taken anew, for somebody has a section on it. */
bool heal_lock_barred(const void *lock);
/* The gates of all that the thread holds tell so from here on: it is about to wait itself. */
void heal_lock_tell(void);
/* The lock is about to be let go, and its gate has told. */
void heal_lock_untell(const struct heal_held *held);
void heal_lock_failed(void); /* it has not been got */
/* A section begins under these locks. Two readers must not begin it at once: from here on the calls that took
 * shared ones close the gate first. */
void heal_lock_leads(void);
void heal_lock_taken(const void *lock, bool shared);
bool heal_lock_is_held(const void *lock);
void heal_lock_released(const void *lock);

#pragma GCC visibility pop

#endif
