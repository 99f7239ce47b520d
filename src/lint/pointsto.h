/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where the program's pointers lead: the heap shape graph of a whole program,
 * one node per global variable, function, local variable whose address is
 * taken, and place of allocation to begin with. Which functions a computed call
 * reaches is found along the way, since each depends on the other.
 */
#ifndef ATOMSAN_LINT_POINTSTO_H
#define ATOMSAN_LINT_POINTSTO_H

#include "base/map.h"
#include "lint/known.h"
#include "lint/program.h"
#include "lint/shape.h"
#include "lint/vec.h"

enum object_kind {
	OBJECT_NONE,
	OBJECT_GLOBAL,   /* index: global */
	OBJECT_FUNCTION, /* index: function */
	OBJECT_LOCAL,    /* index: instruction */
	OBJECT_HEAP,     /* index: instruction */
	OBJECT_OUTSIDE,  /* index: function that is not part of the program and returned it */
};

struct object {
	uint32_t kind, index;
	uint32_t node;
};

/* Functions among the objects of a node, as long as it has so many objects; all, or those that a call of this
 * type reaches. */
struct pointsto_functions {
	uint32_t node, signature, arguments;
	uint32_t objects;
	struct vec_u32 at;
};

/* An instruction whose effect depends on answers, and what was answered last. */
struct pointsto_open {
	uint32_t inst;
	uint32_t node, objects; /* that were looked through; node 0: none yet */
	uint32_t passed;        /* targets that have got their arguments */
	bool found;             /* something fitted */
};

struct pointsto {
	const struct program *program;
	struct shape *shape;
	VEC(struct object) objects;
	struct shape_cell *cells;   /* by value: what it points to */
	struct shape_cell *results; /* by function: what its result points to */
	const struct known **known; /* by function, or NULL; of one that is defined: the user says so */
	VEC(struct pointsto_open) open;
	struct map asked; /* by node and type: place in functions + 1 */
	VEC(struct pointsto_functions) functions;
	uint32_t *mark;              /* by function: the last call that it became a target of */
	uint64_t *steps;             /* counted here */
	uint32_t *slots;             /* by instruction: place in targets, 0 if none */
	VEC(struct vec_u32) targets; /* functions that a computed call reaches, or that a new thread runs */
	bool unsettled;              /* there were too many rounds: answers are missing */
	uint32_t guessed;            /* computed calls whose targets are only of the right type */
	struct map settled;          /* calls that make a thread of which it is known what it runs */
};

/* What the user says of functions outweighs what is known of them; `said` may be NULL. */
typedef const struct known *pointsto_said(void *user, const char *name, const char *linkage_name);
void pointsto_build(struct pointsto *pt, const struct program *program, pointsto_said *said, void *user,
		    uint64_t *steps);
void pointsto_release(struct pointsto *pt);

/* What the value points to; node 0 if it is no pointer that was ever used. */
struct shape_cell pointsto_cell(struct pointsto *pt, uint32_t value);
/* Does anything lie where it points to? Then it is a pointer indeed. */
bool pointsto_is_pointer(struct pointsto *pt, uint32_t value);
/* Functions behind a call whose callee is computed, that makes a thread, or that calls back. */
const struct vec_u32 *pointsto_targets(const struct pointsto *pt, uint32_t inst);
/* What is known of the function that is called, or NULL. */
const struct known *pointsto_known(const struct pointsto *pt, const struct program_inst *call);

#endif
