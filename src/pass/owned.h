/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A look at an object and all that it leads to or that leads to it, shared by
 * owned.c (what is looked at), owned_flow.c (what each use does) and
 * owned_contents.c (what lies in objects).
 *
 * It is looked at in rounds until nothing changes any more, in two passes: at first
 * which values may lead to own objects, and where in these pointers to own objects
 * may lie; then, when all those are known, which of the values and places may as well
 * hold something foreign. A third, single round says whether anything gets away.
 */
#ifndef ATOMSAN_PASS_OWNED_H
#define ATOMSAN_PASS_OWNED_H

#include "pass/pass.h"

#include <stdint.h>

enum {
	OWNED_VALUES = 1024,
	OWNED_OBJECTS = 32,
	OWNED_CONTEXTS = 48,
	OWNED_SITES = 8,           /* calls by which a function that calls itself is come to */
	OWNED_WORDS = 32,          /* of an object, each its 8 bytes; the last is all that lies behind, too */
	OWNED_STEPS = 50000,       /* uses that are looked at for one object, */
	OWNED_MOST_STEPS = 1000000 /* and for all those of a function */
};

#define OWNED_ANYWHERE INT64_MIN

/* A function and the call by which it was come to. The first is that of the object itself, whoever calls it.
 */
struct owned_context {
	LLVMValueRef function;
	unsigned parent; /* of the first of the sites */
	struct owned_site {
		unsigned context;
		LLVMValueRef call;
	} sites[OWNED_SITES];
	unsigned count;
};

/* What leads to own objects; `objects` is a set. */
struct owned_value {
	LLVMValueRef value;
	unsigned context;
	uint32_t objects;
	int64_t offset; /* from the beginning of each of them, or OWNED_ANYWHERE */
	bool foreign;   /* may also lead elsewhere */
};

/* Of pointers that lie in a word. */
struct owned_word {
	uint32_t objects;
	int64_t offset;
	bool foreign;  /* something else may lie there, */
	bool given;    /* and was stored as a pointer */
	bool followed; /* a pointer is loaded from there */
};

struct owned_object {
	LLVMValueRef at; /* an alloca or an allocation */
	unsigned context;
	bool receiver; /* of a frame */
	struct owned_word words[OWNED_WORDS];
};

enum owned_pass { OWNED_LEADS, OWNED_FOREIGN, OWNED_CHECK };

struct owned {
	enum owned_pass pass;
	bool changed, failed;
	unsigned steps, all_steps;
	LLVMTargetDataRef layout;
	struct owned_context contexts[OWNED_CONTEXTS];
	unsigned context_count;
	struct owned_object objects[OWNED_OBJECTS];
	unsigned object_count;
	struct owned_value values[OWNED_VALUES];
	unsigned count;
	uint16_t slots[2 * OWNED_VALUES]; /* number + 1 of a value */
};

/* ---- owned.c ---- */

/* NULL: it leads to nothing of one's own. */
struct owned_value *owned_find(struct owned *look, unsigned context, LLVMValueRef value);
void owned_add(struct owned *look, unsigned context, LLVMValueRef value, uint32_t objects, int64_t offset);
/* Locals and allocations that the pointer may lead to are looked at as well. */
void owned_join(struct owned *look, unsigned context, LLVMValueRef pointer);
/* Joins an object; false if there is no room. */
bool owned_join_object(struct owned *look, unsigned context, LLVMValueRef at);
/* May it lead elsewhere? What is null leads nowhere. */
bool owned_is_foreign(struct owned *look, unsigned context, LLVMValueRef value);
/* The context of the function that is called, or -1 where it is not looked into. */
int owned_enter(struct owned *look, unsigned context, LLVMValueRef call);

/* ---- owned_flow.c ---- */

void owned_use(struct owned *look, struct owned_value *value, LLVMValueRef user);
/* What a value is made of that is no use of another one: a parameter, what a call returns. */
void owned_source(struct owned *look, struct owned_value *value);

/* ---- owned_contents.c; sizes are in bytes, UINT64_MAX if not known ---- */

/* What may lie there, of all words together. */
struct owned_word owned_contents(struct owned *look, const struct owned_value *address, uint64_t size);
void owned_put(struct owned *look, const struct owned_value *address, uint64_t size,
	       const struct owned_value *what);
void owned_spoil(struct owned *look, const struct owned_value *address, uint64_t size, bool given);
void owned_follow(struct owned *look, const struct owned_value *address, uint64_t size);
void owned_copy(struct owned *look, const struct owned_value *to, const struct owned_value *from,
		uint64_t size);
/* Does one of the objects hold pointers to own ones, anywhere? */
bool owned_holds(const struct owned *look, uint32_t objects);

#endif
