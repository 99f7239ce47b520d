/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The static side: what in a program may fail to be atomic, without running it.
 * Two analyses, von Praun & Gross (method consistency) and MoTH (views and
 * causal dependencies), on common ground:
 *
 *   program    the program, as atomsan-lower read it
 *   pointsto   where pointers lead, which functions computed calls reach
 *   callgraph  who calls whom; functions in bottom-up order
 *   thread     abstract threads; threadlife: which of them run at the same time, and where
 *   team       the same within a team of OpenMP: barriers, what one does for all
 *   pause      where others are meant to work in between
 *   region     locks, critical regions, what is held at each instruction
 *   access     accesses, the variables they name, what is shared
 *   context    which locks each thread holds at each access
 *   flow       causal dependencies: values that leave a region
 *   view       what regions access, path by path
 *   stale, race, method, split    the judgements
 *   group, result    one finding for all that is said of the same functions
 *
 * A lint is filled in this order; each part reads those before it.
 */
#ifndef ATOMSAN_LINT_LINT_H
#define ATOMSAN_LINT_LINT_H

#include "base/map.h"
#include "lint/cfg.h"
#include "lint/effort.h"
#include "lint/pointsto.h"
#include "lint/program.h"
#include "lint/vec.h"

/* ---- callgraph.c ---- */

struct call_edge {
	uint32_t inst, caller, callee;
};

struct callgraph {
	struct call_edge *edges; /* by caller */
	uint32_t edge_count;
	uint32_t *first;   /* edges of f: first[f] .. first[f + 1] */
	uint32_t *callers; /* numbers of edges, by callee */
	uint32_t *callers_first;
	uint32_t *order; /* callees before callers; members of a recursion side by side */
	uint32_t order_count;
	uint32_t *component; /* recursion that a function belongs to */
	bool *recursive;
	/* Edges that begin at an instruction: by_inst[inst] is the first, they lie side by side. */
	uint32_t *by_inst;
};

/* ---- thread.c, threadlife.c ---- */

enum { THREAD_MOST = 64 };

struct thread {
	struct vec_u32 roots; /* functions it begins with: one, unless it stands for a library's callers */
	uint32_t create;      /* instruction, 0 for main */
	uint32_t creator;     /* thread, if there is one */
	bool several;         /* two of it may run at the same time */
	bool owns_argument;   /* each has an argument of its own */
	uint32_t argument;    /* value */
	uint64_t parallel;    /* threads that may run while it does */
	uint64_t descendants;
	uint64_t *alive; /* by block: its descendants that may run when it begins; NULL: never any */
	/* Of a team of OpenMP, by instruction; NULL else. See team.c. */
	uint16_t *phase; /* how many barriers were passed, plus 1; 0: not known */
	uint32_t *only;  /* the construct that one thread alone does, or 0 */
};

struct threads {
	struct thread at[THREAD_MOST];
	uint32_t count;
	uint64_t *reach;   /* by function: threads that may run it */
	bool is_library;   /* there is no main */
	uint32_t left_out; /* threads beyond THREAD_MOST, taken as the last one */
};

/* ---- region.c ---- */

enum { STATE_LOCKS = 8, STATE_REGIONS = 4, STATE_MAYBES = 4 };

struct lock {
	struct shape_cell cell;
	const char *name; /* "account.lock" */
	uint32_t next;    /* lock at the same place by another name */
	bool given_back;  /* by some function that did not take it */
	bool is_private;  /* no two threads can take the same one */
	bool is_one;      /* there is only one of it, so two threads that hold it exclude each other */
};

/* From taking a lock to giving it back or waiting with it; named by where it begins. */
struct region {
	uint32_t inst;
	uint32_t lock; /* 0: the region is one atomic operation */
	uint32_t function;
	bool shared; /* a reader's lock */
	bool after_wait;
	bool is_left; /* its function returns with the lock: it goes on in the caller */
};

struct held {
	uint32_t lock;
	uint8_t shared, depth, region_count, pad;
	uint32_t regions[STATE_REGIONS]; /* it is one of these; in order */
};

/* A lock that is held if a value is not 0, or if it is 0: the result of a try, or what stands for it. */
struct maybe {
	uint32_t lock, value, region;
	uint8_t if_nonzero, shared;
	uint16_t pad;
};

/* What a function holds at an instruction, apart from what it was called with. */
struct lock_state {
	struct held held[STATE_LOCKS];
	uint32_t held_count;
	uint32_t given_up[STATE_LOCKS]; /* locks of its callers that it gave back */
	uint8_t surely[STATE_LOCKS];    /* on all ways */
	uint32_t given_up_count;
	struct maybe maybes[STATE_MAYBES];
	uint32_t maybe_count;
};

/* A lock that a function returns with, always or if its result is (not) 0. */
enum leaves_when { LEAVES_NEVER, LEAVES_ALWAYS, LEAVES_IF_ZERO, LEAVES_IF_NONZERO };

struct leaves {
	uint32_t lock;
	enum leaves_when when;
	bool shared;
};

struct regions {
	VEC(struct lock) locks;        /* from 1 */
	VEC(struct region) regions;    /* from 1 */
	VEC(struct lock_state) states; /* 0: nothing */
	struct map known;              /* states by what they hold */
	uint32_t *state;               /* by instruction */
	uint32_t *by_inst;             /* region that begins there, or 0 */
	struct map lock_of;            /* by instruction: the lock of a call + 1 */
	struct map lock_at;            /* by place: the last lock there; `next` has the others */
	uint32_t *breaks; /* by function: a state whose given_up are locks it may give back meanwhile */
	uint32_t *ends; /* by function: a state whose given_up are locks that are surely given back at its end
			 */
	struct leaves *leaves; /* by function */
};

/* ---- access.c ---- */

struct variable {
	uint32_t node;      /* of the shape graph */
	const char *name;   /* "account.balance", "counter" */
	const char *inner;  /* "account#1", or NULL */
	const char *set;    /* "account", "globals of bank.c" */
	uint32_t next;      /* of the same node, or 0 */
	bool shared;        /* several threads may reach it, and one of them writes while others run */
	bool in_shared_set; /* some variable of its set is shared */
	bool atomic;        /* accessed by atomic operations */
	bool vague;         /* one of several objects, and the source does not say which: a name for what may
			       be different things */
	struct vec_u32 reads, writes; /* accesses */
};

/* One way in which an access happens: the thread, and the locks that it holds, also from callers. */
struct access_context {
	uint32_t thread;
	uint32_t lockset;
};

struct access {
	uint32_t inst;
	uint32_t variable;
	bool write;
	bool fresh;        /* to an object that nobody else has seen yet */
	bool whole;        /* to the whole struct, of which the variable is a member */
	bool quiet;        /* nobody else runs then */
	uint32_t contexts; /* a list of context.c, of all ways in which it happens */
};

struct accesses {
	VEC(struct variable) variables; /* from 1 */
	VEC(struct access) at;          /* from 1 */
	uint32_t *first;   /* by instruction: its first access, 0 if none; they lie side by side */
	uint32_t nodes;    /* the two below have so many entries */
	bool *node_shared; /* by node: reachable from a global or a thread's argument */
	bool *node_own;    /* by node: each thread's own argument */
};

/* ---- context.c ---- */

struct lockset {
	uint32_t count;
	uint32_t locks[STATE_LOCKS]; /* in order */
	uint32_t shared;             /* bit i: the i-th is a reader's lock */
};

/* Accesses of a function that hold the same happen in the same ways, so they share a list of them. */
struct context_list {
	VEC(struct access_context) at;
};

struct contexts {
	VEC(struct lockset) locksets;   /* 0: none */
	VEC(struct context_list) lists; /* 0: empty */
	struct map known;               /* locksets by what is in them; number + 1 */
	uint32_t *always; /* by function: locks held whenever it is called; UINT32_MAX if it never is */
	uint32_t capped;  /* functions with too many contexts */
};

/* ---- flow.c, view.c, pause.c: see their headers ---- */

struct flows;
struct views;
struct pauses;

struct lint_options {
	void (*step)(const char *what); /* called as parts begin, or NULL */
	/* What the user says of a function, which may be part of the program; NULL: nothing. May be NULL. */
	const struct known *(*known)(void *user, const char *name, const char *linkage_name);
	void *user;
};

struct lint {
	struct program program;
	struct cfg *cfgs; /* by function; of those that are defined */
	struct pointsto pt;
	struct callgraph calls;
	struct threads threads;
	struct pauses *pauses;
	struct regions regions;
	struct accesses accesses;
	struct contexts contexts;
	struct flows *flows;
	struct views *views;
	struct lint_options options;
	struct effort *effort; /* the caller's; counted everywhere */
	uint64_t **below;      /* by component: bits of the functions that its members call, directly or not;
				  made when asked */
	VEC(char *) texts;     /* owned */
};

/* program and options are set; fills in the rest. */
void lint_run(struct lint *lint);
/* From here on, time and steps are this part's; EFFORT_PARTS: nobody's. */
void lint_part(struct lint *lint, enum effort_part part);
void lint_release(struct lint *lint);

const char *lint_text(struct lint *lint, char *text);        /* keeps it, and gives it back */
uint32_t lint_block(const struct lint *lint, uint32_t inst); /* number of its block in its function */

void callgraph_build(struct lint *lint);
void callgraph_release(struct callgraph *calls);
/* Is the one called by the other, directly or not, or the same? */
bool callgraph_below(const struct lint *lint, uint32_t from, uint32_t to);
/* Edges that begin at a call; *count of them. */
const struct call_edge *callgraph_at(const struct callgraph *calls, uint32_t inst, uint32_t *count);

void thread_build(struct lint *lint);
void thread_release(struct lint *lint);
/* Threads other than t that may run when t is at the instruction; t's own bit if there may be two of it. */
uint64_t thread_beside(const struct lint *lint, uint32_t thread, uint32_t inst);
const char *thread_name(struct lint *lint, uint32_t thread);

/* Fills in phase and only of a thread that is a team. */
void team_build(struct lint *lint, uint32_t thread);
/* Can two of the team be at these instructions at the same time? True if it is no team. */
bool team_parallel(const struct thread *thread, uint32_t a, uint32_t b);

void region_build(struct lint *lint);
void region_release(struct regions *regions);
const struct lock_state *region_state(const struct lint *lint, uint32_t inst);
/* The edge of a branch on this condition that is taken if the call had success, or -1; success is 0, or not.
 */
int region_success_edge(const struct program *p, uint32_t condition, uint32_t call_value, bool returns_true);

/* What several threads can reach; first, for regions ask it. */
void access_reach(struct lint *lint);
void access_build(struct lint *lint);
void access_share(struct lint *lint); /* after contexts are known */
void access_release(struct lint *lint);
bool access_node_shared(const struct lint *lint, uint32_t node);
/* Accesses of an instruction: *count of them side by side. */
const struct access *access_at(const struct lint *lint, uint32_t inst, uint32_t *count);
/* Of a variable's reads or writes, those in a function: *count of them side by side. */
const uint32_t *access_within(const struct lint *lint, const struct vec_u32 *all, uint32_t function,
			      uint32_t *count);

void context_build(struct lint *lint);
void context_release(struct lint *lint);
uint32_t context_lockset(struct lint *lint, const struct lockset *set); /* its number */
const struct context_list *context_list(const struct lint *lint, const struct access *access);
/* The locks of an entry lockset and of what is held at an instruction, together. */
struct lockset context_at(const struct lint *lint, uint32_t entry, uint32_t inst);
/* One lock more, or all that the function holds at an instruction. */
void context_add(const struct lint *lint, struct lockset *set, uint32_t lock, bool shared);
void context_hold(const struct lint *lint, struct lockset *set, uint32_t inst);
/* Can two threads not hold these at the same time? */
bool context_exclude(const struct lockset *a, const struct lockset *b);
/* May the access happen while a thread is at the instruction and holds these locks throughout? Returns the
 * other thread plus one, or 0. */
uint32_t context_interferes(const struct lint *lint, const struct access *other, uint32_t thread,
			    uint32_t inst, const struct lockset *held);

#endif
