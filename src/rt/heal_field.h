/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The runtime of a program that was built with `cc --heal`: healing, and nothing
 * else. It is linked only if the program has a section, and then stands in front
 * of the functions that lock and wait.
 *
 *   heal_field.c        start and end, threads, units, accesses
 *   heal_field_locks.c  functions that lock
 *   heal_field_waits.c  functions that wait for other threads
 *   heal_field_files.c  functions that wait for files and processes
 */
#ifndef ATOMSAN_RT_HEAL_FIELD_H
#define ATOMSAN_RT_HEAL_FIELD_H

#include "rt/heal.h"
#include "rt/real_locks.h"

#pragma GCC visibility push(hidden)

extern struct field_table {
	bool ready;
#define F(result, name, parameters, version) result(*name) parameters;
	REAL_LOCK_FUNCTIONS(F)
	REAL_SLEEP_FUNCTIONS(F)
	REAL_FILE_FUNCTIONS(F)
#undef F
} field_table;
void field_find(void); /* fills it */
/* From here on bare locks are libc's own. */
void field_bare_find(void);

static inline const struct field_table *field_get(void)
{
	if (unlikely(!__atomic_load_n(&field_table.ready, __ATOMIC_ACQUIRE)))
		field_find();
	return &field_table;
}
#define REAL(name) (field_get()->name)

/* Calls of units that the thread is in. */
enum { FIELD_UNITS = 64 };
struct field_unit {
	const char *name;
	uint64_t frame;
};
extern __thread struct field_thread {
	uint32_t count;
	uint32_t serial; /* odd, so that it is not 0 */
	struct field_unit units[FIELD_UNITS];
} field_self __attribute__((tls_model("local-exec")));

/* The thread is known, nobody has anything to do with gates of locks, and the thread has nothing open. */
static inline __attribute__((always_inline)) bool field_is_free(void)
{
	return heal_likely(!heal_self.under_way) && heal_unused();
}

/* True: the caller's thread is known, what it has left is seen to, and healing is on. */
bool field_looks(void);

#pragma GCC visibility pop

#endif
