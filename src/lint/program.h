/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A whole program, as the static analyses see it: functions, blocks and
 * instructions in static single assignment form, without LLVM. It is one piece
 * of memory, a header and tables behind it, which src/lower writes in a process
 * of its own (LLVM ends the process on some damaged input) and src/lint maps.
 *
 * Everything is a number: a place in a table. Tables begin with an entry that
 * means "none", so 0 is never a thing. Texts are offsets into one table of
 * bytes; 0 is the empty text.
 */
#ifndef ATOMSAN_LINT_PROGRAM_H
#define ATOMSAN_LINT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PROGRAM_MAGIC "ATSNLNT2"

/* operands in brackets; "?" may be missing */
#define PROGRAM_OPS(X)                                                                             \
	X(NONE, "none")                                                                            \
	X(ALLOCA, "alloca") /* [] */                                                               \
	X(LOAD, "load")     /* [pointer] */                                                        \
	X(STORE, "store")   /* [value, pointer] */                                                 \
	X(UPDATE, "update") /* [pointer, value...]: atomic; SUB_EQUAL: [pointer, expected, new] */ \
	X(OFFSET, "offset") /* [base, variable index...]; offset has the constant part */          \
	X(COPY, "copy")     /* [value...]: casts, select; the result is one of them, or a part */  \
	X(PHI, "phi")       /* [value..., as many blocks] */                                       \
	X(COMPUTE, "compute")                                                                      \
	X(COMPARE, "compare") /* [a, b]; sub is the relation */                                    \
	X(CALL, "call")       /* [argument..., callee if it is computed] */                        \
	X(MOVE, "move")       /* [to, from, length]: memcpy, memmove */                            \
	X(FILL, "fill")       /* [to, byte, length]: memset */                                     \
	X(JUMP, "jump")       /* [] */                                                             \
	X(BRANCH, "branch")   /* [condition]; the first successor is taken if it is true */        \
	X(SWITCH, "switch")   /* [value] */                                                        \
	X(RETURN, "return")   /* [value?] */                                                       \
	X(END, "end")         /* control does not go on */

enum program_op {
#define X(name, text) PROGRAM_##name,
	PROGRAM_OPS(X)
#undef X
		PROGRAM_OP_COUNT
};

/* What a COMPUTE or COMPARE does, as far as a constant can be carried through it. */
enum program_sub { SUB_OTHER, SUB_ADD, SUB_SUB, SUB_XOR, SUB_AND, SUB_OR, SUB_EQUAL, SUB_UNEQUAL };

enum program_flag {
	PROGRAM_ATOMIC = 1,
	PROGRAM_VOLATILE = 2,
	PROGRAM_POINTER = 4,  /* the result is a pointer, or an integer made of one */
	PROGRAM_ARRAY = 8,    /* OFFSET with a variable index; access to an array's element */
	PROGRAM_RELAXED = 16, /* atomic, but ordering nothing else */
};

struct program_inst {
	uint8_t op, sub;
	uint16_t flags;
	uint32_t value; /* its result */
	uint32_t operand, operand_count;
	uint32_t callee; /* function, or 0 */
	uint32_t block;
	uint32_t line, column;
	uint32_t read, write; /* notes */
	uint32_t size;        /* bytes accessed, allocated; 0 if not known. OFFSET into an array: what is left
				 of the element */
	uint32_t place;       /* of an access or a call; 0 if not known */
	int64_t offset;
};

enum program_value_kind {
	VALUE_NONE,
	VALUE_RESULT,    /* index: instruction */
	VALUE_PARAMETER, /* index: its number */
	VALUE_GLOBAL,    /* index: global */
	VALUE_FUNCTION,  /* index: function */
	VALUE_NUMBER,    /* number */
	VALUE_PLACE,     /* index: the value of an object, number: bytes into it */
	VALUE_OTHER,     /* a constant of which nothing is known */
};

struct program_value {
	uint32_t kind, index;
	uint32_t function; /* of a result or parameter */
	uint32_t pad;
	int64_t number;
};

enum program_function_flag {
	FUNCTION_DEFINED = 1,
	FUNCTION_EXTERNAL = 2,      /* other translation units can name it */
	FUNCTION_ADDRESS_TAKEN = 4, /* used other than by calling it */
	FUNCTION_LIBRARY = 8,       /* of the C++ library */
	FUNCTION_CONSTRUCTOR = 16,
	FUNCTION_DESTRUCTOR = 32,
	FUNCTION_IGNORED = 64, /* the program says so */
	FUNCTION_RETURNS_POINTER = 128,
	FUNCTION_INITIALISER = 256, /* runs before main */
};

struct program_function {
	uint32_t name, linkage, file, line;
	uint32_t flags;
	uint32_t signature; /* text; equal for functions that one pointer can call */
	uint32_t receiver;  /* text: tag of the struct that its first pointer to one points to */
	uint32_t receiver_index;
	uint32_t value; /* itself, as a value */
	uint32_t parameter, parameter_count;
	uint32_t block, block_count; /* the first is the entry */
};

struct program_block {
	uint32_t function;
	uint32_t inst, inst_count; /* the last one ends the block */
	uint32_t edge, edge_count;
};

enum program_global_flag { GLOBAL_CONSTANT = 1, GLOBAL_THREAD_LOCAL = 2, GLOBAL_EXTERNAL = 4 };

struct program_global {
	uint32_t name, file, line, flags;
	uint32_t value;
	uint32_t field, field_count;
	uint32_t size;
};

/* A pointer in a global's first value. */
struct program_field {
	int64_t offset, folded; /* as it lies, and with all array indices 0 */
	uint32_t value, pad;
};

/* A spec file says that the type, member or variable does not count. */
#define PROGRAM_NOTE_IGNORED 0x80000000u

/* What the source calls an accessed place. */
struct program_note {
	uint32_t type, member, base; /* texts */
	uint32_t base_kind;          /* enum atomsan_base */
	uint32_t flags;              /* enum atomsan_site_flag, and PROGRAM_NOTE_IGNORED */
	uint32_t inner;              /* text: the innermost struct and the number of its member, "row#1" */
};

/* Where the source has an access, as the trace's sites say it: in the function that was inlined, not where.
 */
struct program_place {
	uint32_t file, function; /* texts */
	uint32_t line, column;
};

#define PROGRAM_TABLES(X)                                                        \
	X(functions, struct program_function)                                    \
	X(blocks, struct program_block)                                          \
	X(edges, uint32_t)                                                       \
	X(insts, struct program_inst)                                            \
	X(operands, uint32_t)                                                    \
	X(values, struct program_value)                                          \
	X(globals, struct program_global)                                        \
	X(fields, struct program_field)                                          \
	X(notes, struct program_note)                                            \
	X(places, struct program_place)                                          \
	X(lost, uint32_t)        /* places of accesses that preparing removed */ \
	X(blind_spots, uint32_t) /* sentences */                                 \
	X(texts, char)

enum program_table {
#define X(name, type) TABLE_##name,
	PROGRAM_TABLES(X)
#undef X
		PROGRAM_TABLE_COUNT
};

struct program_header {
	char magic[8];
	uint64_t size;
	struct {
		uint64_t offset, count;
	} tables[PROGRAM_TABLE_COUNT];
};

struct program {
#define X(name, type)     \
	const type *name; \
	uint32_t name##_count;
	PROGRAM_TABLES(X)
#undef X
	const void *image;
	size_t size;
};

/* The image stays the caller's and must outlive the program. -1 with err set if it contradicts itself. */
int program_open(struct program *program, const void *image, size_t size, struct err *err);

static inline const char *program_text(const struct program *p, uint32_t text)
{
	return p->texts + text;
}

static inline const uint32_t *program_operands(const struct program *p, const struct program_inst *inst)
{
	return p->operands + inst->operand;
}

static inline uint32_t program_operand(const struct program *p, const struct program_inst *inst, uint32_t n)
{
	return n < inst->operand_count ? p->operands[inst->operand + n] : 0;
}

/* Arguments of a call, without the callee. */
static inline uint32_t program_argument_count(const struct program_inst *call)
{
	return call->callee ? call->operand_count : call->operand_count ? call->operand_count - 1 : 0;
}

static inline uint32_t program_function_of(const struct program *p, uint32_t inst)
{
	return p->blocks[p->insts[inst].block].function;
}

/* The instruction that makes a value, or 0. */
static inline uint32_t program_maker(const struct program *p, uint32_t value)
{
	return p->values[value].kind == VALUE_RESULT ? p->values[value].index : 0;
}

const char *program_op_text(enum program_op op);

#endif
