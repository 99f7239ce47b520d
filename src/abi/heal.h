/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What healing works on: sections that must not be broken, the variables that
 * they are on, and the places in the program where something is to be done. The
 * runtime makes them of an atomicity repository and of the sites of a program
 * that was built to be tested; in a program that was built with `cc --heal` the
 * pass has put them there, and the calls at the end of this file.
 *
 * Everything above a line "the runtime's" is said by whoever makes it; what is
 * below it begins as zero.
 */
#ifndef ATOMSAN_ABI_HEAL_H
#define ATOMSAN_ABI_HEAL_H

#include <stdint.h>

/* Kinds of accesses, or'ed. The values are the repository's. */
enum atomsan_heal_kind { ATOMSAN_HEAL_READ = 1, ATOMSAN_HEAL_WRITE = 2 };

/* What others wait at: it has an owner, who goes on as if nothing were. */
struct atomsan_heal_gate {
	/* These two are looked at together. */
	uint32_t word; /* futex: the owner's number, or'ed with whether somebody waits; 0: it is open */
	uint32_t mode; /* the lowest bit is enum heal_mode, the others count how often it was opened */
	/* Which of the variable's bytes the owner is about; both NULL: all. */
	const char *from, *to;
	struct atomsan_heal_section *section; /* NULL: a single access */
	const void *object;                   /* a lock's gate: of which lock */
	uint32_t allow;                       /* kinds that others may do meanwhile */
	uint32_t stage;                       /* enum heal_stage */
	uint32_t holder;                      /* a lock's gate: who has the lock; 0: nobody */
	uint32_t readers;                     /* a lock's gate: how many share it */
	uint32_t serial;                      /* how often it was taken */
	uint32_t count;                       /* what the owner has it for, how many times */
};

/* Where the lock lies that something is done under: at this address, or so far away from it. */
struct atomsan_heal_guard {
	uint16_t state; /* enum heal_guess */
	uint16_t times; /* that it was seen to be so */
	int32_t distance;
	const void *lock;
};

struct atomsan_heal_variable {
	const char *name;
	/* the runtime's */
	struct atomsan_heal_variable *leader; /* whose gate it shares; NULL: its own */
	uint64_t node;                        /* in the order of locks and gates; 0: none yet */
	struct atomsan_heal_guard guard;
	/* How its gate is best kept, see rt/heal_tell.c and rt/heal_gate.c. */
	uint32_t since;  /* microseconds, 0: never: when it was last looked at `dear` */
	uint32_t told;   /* how often all threads had told of accesses then */
	uint16_t dear;   /* times that it was paid for others' fences since then */
	uint8_t in_vain; /* times that it was kept for nothing, one after the other */
	uint8_t kept;    /* its owner has it until somebody else wants it */
	uint32_t last;   /* who had it last */
	uint32_t again;  /* times that this one came again before anybody else did */
	uint32_t rest;   /* times that it is given back at once before keeping it is tried again */
	/* What changes lies in another cache line than what is only read. */
	struct atomsan_heal_gate gate;
};

enum atomsan_heal_flag {
	ATOMSAN_HEAL_ANY = 1,         /* it may end on another address than it began on */
	ATOMSAN_HEAL_RECURSIVE = 2,   /* entered again it must be left again */
	ATOMSAN_HEAL_CONSECUTIVE = 4, /* any other access of the thread to the variable ends it */
	ATOMSAN_HEAL_SCHEDULE = 8,    /* others are asked to wait a moment, and no more */
	ATOMSAN_HEAL_OFF = 16,
	ATOMSAN_HEAL_WHOLE = 32, /* the whole unit: any access of the section's variables in it begins it */
};

enum atomsan_heal_counter {
	ATOMSAN_HEAL_ENTERED,   /* times */
	ATOMSAN_HEAL_HEALED,    /* somebody had to wait, and did until the section was over */
	ATOMSAN_HEAL_SCHEDULED, /* somebody was held up for a moment only: waiting might not have ended */
	ATOMSAN_HEAL_TIMEOUTS,  /* somebody waited as long as is allowed, and went on */
	ATOMSAN_HEAL_GIVEN_UP,  /* the section's thread had to wait for others itself */
	ATOMSAN_HEAL_WAITED,    /* nanoseconds, of all */
	ATOMSAN_HEAL_GATED,     /* entries that closed gates: no lock was known to do */
	ATOMSAN_HEAL_CUT_SHORT, /* somebody went on earlier: too much has been waited for it in vain */
	ATOMSAN_HEAL_COUNTERS
};

struct atomsan_heal_section {
	const char *id;
	struct atomsan_heal_variable *variable;
	const char *unit;      /* leaving this function ends it */
	const char *unit_file; /* its last component */
	uint32_t flags;        /* enum atomsan_heal_flag */
	uint32_t allow;        /* kinds that others may do meanwhile */
	/* the runtime's */
	struct atomsan_heal_guard end_guard; /* what is held at its ends and not at its entry */
	uint32_t lingered, reused;           /* how often it was kept until its unit was left, and what for */
	uint64_t late;                       /* how often that was too long for somebody else */
	uint64_t counter[ATOMSAN_HEAL_COUNTERS];
	/* Nanoseconds, see rt/heal_patience.h: when its account is full again, and up to when it was charged.
	 */
	uint64_t full_at, vain_until;
	uint64_t reserved[5];
};

enum atomsan_heal_what {
	ATOMSAN_HEAL_ENTRY = 1,
	ATOMSAN_HEAL_END = 2,
	ATOMSAN_HEAL_LOCAL = 4, /* or'ed: from the entry to the end nothing is called, and nobody leaves */
	ATOMSAN_HEAL_PIECE = 8, /* or'ed: one of several accesses that the optimiser made of a copy */
};
struct atomsan_heal_role {
	struct atomsan_heal_section *section;
	uint32_t what; /* enum atomsan_heal_what, or'ed */
	uint32_t kind; /* of the access, one of them */
};

enum atomsan_heal_place_flag {
	ATOMSAN_HEAL_HARMLESS = 1, /* all sections that could be in the way allow it */
};

/* An access of a variable that has sections. */
struct atomsan_heal_place {
	struct atomsan_heal_variable *variable;
	uint16_t kinds; /* what the access does */
	uint16_t flags; /* enum atomsan_heal_place_flag */
	uint32_t roles;
	const struct atomsan_heal_role *role;
};

/* ---- a program that was built with `cc --heal` ---- */

/* In the section of this name of the executable, one after the other: all variables that go with sections. */
#define ATOMSAN_HEAL_TABLE "atomsan_heal"
struct atomsan_heal_entry {
	struct atomsan_heal_section *section;
	struct atomsan_heal_variable *variable; /* is guarded together with the section's own */
};

/* Before an access at a place and behind it. An update (x += 1) is one, with a call before its write. */
void __atomsan_heal_before(const void *p, uint64_t length, const struct atomsan_heal_place *place);
/* The same, of one that begins and ends nothing. */
void __atomsan_heal_pass(const void *p, uint64_t length, const struct atomsan_heal_place *place);
void __atomsan_heal_store(const void *p, uint64_t length, const struct atomsan_heal_place *place);
void __atomsan_heal_atomic(const void *p, uint64_t length, const struct atomsan_heal_place *place);
void __atomsan_heal_after(void);
/* Where a function begins that is the unit of a section, and where it ends. Its name is the section's own
 * text, not a copy. */
void __atomsan_heal_enter(const char *unit);
void __atomsan_heal_leave(void);
/* Before an atomic operation that reads and writes, in a unit or in what it calls. */
void __atomsan_heal_line(void);

/* ---- bare locks: under them nothing is healed, see pass/heal_bare.c ---- */

/* What locks and unlocks them. */
enum atomsan_heal_lock {
	ATOMSAN_HEAL_MUTEX,
	ATOMSAN_HEAL_MTX,
	ATOMSAN_HEAL_SPIN,
	ATOMSAN_HEAL_RDLOCK,
	ATOMSAN_HEAL_WRLOCK,
	ATOMSAN_HEAL_LOCKS
};

/* The program and the runtime are one module; the runtime must only not keep them to itself. */
#ifdef ATOMSAN_RUNTIME
#define ATOMSAN_HEAL_HERE extern __attribute__((visibility("default")))
#else
#define ATOMSAN_HEAL_HERE extern __attribute__((visibility("hidden")))
#endif
/* libc's own functions. */
struct atomsan_heal_real {
	int (*lock)(void *), (*unlock)(void *);
};
ATOMSAN_HEAL_HERE struct atomsan_heal_real __atomsan_heal_real[ATOMSAN_HEAL_LOCKS];
/* Nobody has to do with gates of locks if this is 0. */
ATOMSAN_HEAL_HERE uint64_t __atomsan_heal_use;
/* And if this is, the thread is known, has nothing under way, and holds no lock that is remembered. */
ATOMSAN_HEAL_HERE __thread uint64_t __atomsan_heal_mine __attribute__((tls_model("local-exec")));
#undef ATOMSAN_HEAL_HERE

/*
 * To lock, when one of these is not 0; `taken` is what libc's own function has
 * returned if it has been called already, or ATOMSAN_HEAL_NOT_YET. `outer`, if it is not NULL, is a
 * bare lock that the thread holds, of the kind in the upper 16 bits of `kinds`.
 */
enum { ATOMSAN_HEAL_NOT_YET = -1 };
int __atomsan_heal_lock(void *lock, void *outer, uint32_t kinds, int taken) __attribute__((cold));
int __atomsan_heal_unlock(void *lock, uint32_t kind) __attribute__((cold));

_Static_assert(!__builtin_offsetof(struct atomsan_heal_gate, word) &&
		       __builtin_offsetof(struct atomsan_heal_gate, mode) == 4,
	       "they are looked at together");
_Static_assert(sizeof(struct atomsan_heal_gate) == 64, "the pass writes this layout");
_Static_assert(sizeof(struct atomsan_heal_variable) == 128, "the pass writes this layout");
_Static_assert(sizeof(struct atomsan_heal_section) == 192, "the pass writes this layout");
_Static_assert(sizeof(struct atomsan_heal_role) == 16, "the pass writes this layout");
_Static_assert(sizeof(struct atomsan_heal_place) == 24, "the pass writes this layout");

#endif
