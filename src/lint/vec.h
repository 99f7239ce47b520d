/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A growing array: struct { T *at; uint32_t count, room; }. */
#ifndef ATOMSAN_LINT_VEC_H
#define ATOMSAN_LINT_VEC_H

#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"

#define VEC(type)                     \
	struct {                      \
		type *at;             \
		uint32_t count, room; \
	}

struct vec_u32 {
	uint32_t *at;
	uint32_t count, room;
};

#define vec_room(v)                                                                 \
	do {                                                                        \
		if ((v)->count == (v)->room) {                                      \
			(v)->room = (v)->room ? (v)->room * 2 : 8;                  \
			(v)->at = mem_resize((v)->at, (v)->room, sizeof(*(v)->at)); \
		}                                                                   \
	} while (0)

#define vec_push(v, ...)                             \
	do {                                         \
		vec_room(v);                         \
		(v)->at[(v)->count++] = __VA_ARGS__; \
	} while (0)

#define vec_free(v)                         \
	do {                                \
		free((v)->at);              \
		(v)->at = NULL;             \
		(v)->count = (v)->room = 0; \
	} while (0)

/* Once per number; true if it is new. */
static inline int vec_add(struct vec_u32 *v, uint32_t n)
{
	for (uint32_t i = 0; i < v->count; i++)
		if (v->at[i] == n)
			return 0;
	vec_push(v, n);
	return 1;
}

static inline int vec_has(const struct vec_u32 *v, uint32_t n)
{
	for (uint32_t i = 0; i < v->count; i++)
		if (v->at[i] == n)
			return 1;
	return 0;
}

#endif
