/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/known.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In alphabetical order (strcmp), for the search. */
static const struct known table[] = {
	{"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", KNOWN_WAIT_CXX, 1, 0, 0},
	{"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
	 KNOWN_CREATE_CXX, 1, -1, 0},
	{"_ZNSt6thread4joinEv", KNOWN_JOIN, 0, 0, 0},
	{"_ZSt20__throw_system_errori", KNOWN_QUIET, 0, 0, 0},
	{"_ZdaPv", KNOWN_FREE, 0, 0, 0},
	{"_ZdlPv", KNOWN_FREE, 0, 0, 0},
	{"_ZdlPvm", KNOWN_FREE, 0, 0, 0},
	{"_Znam", KNOWN_ALLOCATE, 0, 0, 0},
	{"_Znwm", KNOWN_ALLOCATE, 0, 0, 0},
	{"_ZnwmSt11align_val_t", KNOWN_ALLOCATE, 0, 0, 0},
	{"__assert_fail", KNOWN_QUIET, 0, 0, 0},
	{"__kmpc_fork_call", KNOWN_CREATE_TEAM, 2, 3, -1},
	{"__memcpy_chk", KNOWN_MOVE, 0, 0, 0},
	{"__memmove_chk", KNOWN_MOVE, 0, 0, 0},
	{"__memset_chk", KNOWN_FILL, 0, 0, 0},
	{"__strcat_chk", KNOWN_SAME, 0, 0, 0},
	{"__strcpy_chk", KNOWN_SAME, 0, 0, 0},
	{"__strdup", KNOWN_ALLOCATE, 0, 0, 0},
	{"abort", KNOWN_QUIET, 0, 0, 0},
	{"aligned_alloc", KNOWN_ALLOCATE, 0, 0, 0},
	{"calloc", KNOWN_ALLOCATE, 0, 0, 0},
	{"cfree", KNOWN_FREE, 0, 0, 0},
	{"cnd_timedwait", KNOWN_WAIT, 1, 0, 0},
	{"cnd_wait", KNOWN_WAIT, 1, 0, 0},
	{"exit", KNOWN_QUIET, 0, 0, 0},
	{"free", KNOWN_FREE, 0, 0, 0},
	{"malloc", KNOWN_ALLOCATE, 0, 0, 0},
	{"memalign", KNOWN_ALLOCATE, 0, 0, 0},
	{"memchr", KNOWN_SAME, 0, 0, 0},
	{"memcpy", KNOWN_MOVE, 0, 0, 0},
	{"memmove", KNOWN_MOVE, 0, 0, 0},
	{"memset", KNOWN_FILL, 0, 0, 0},
	{"mtx_lock", KNOWN_LOCK, 0, 0, 0},
	{"mtx_timedlock", KNOWN_TRY, 0, 0, 0},
	{"mtx_trylock", KNOWN_TRY, 0, 0, 0},
	{"mtx_unlock", KNOWN_UNLOCK, 0, 0, 0},
	{"nanosleep", KNOWN_QUIET, 0, 0, 0},
	{"pthread_cond_clockwait", KNOWN_WAIT, 1, 0, 0},
	{"pthread_cond_timedwait", KNOWN_WAIT, 1, 0, 0},
	{"pthread_cond_wait", KNOWN_WAIT, 1, 0, 0},
	{"pthread_create", KNOWN_CREATE, 2, 3, 0},
	{"pthread_join", KNOWN_JOIN, 0, 0, 0},
	{"pthread_mutex_clocklock", KNOWN_TRY, 0, 0, 0},
	{"pthread_mutex_lock", KNOWN_LOCK, 0, 0, 0},
	{"pthread_mutex_timedlock", KNOWN_TRY, 0, 0, 0},
	{"pthread_mutex_trylock", KNOWN_TRY, 0, 0, 0},
	{"pthread_mutex_unlock", KNOWN_UNLOCK, 0, 0, 0},
	{"pthread_once", KNOWN_ONCE, 1, 0, 0},
	{"pthread_rwlock_clockrdlock", KNOWN_TRY_SHARED, 0, 0, 0},
	{"pthread_rwlock_clockwrlock", KNOWN_TRY, 0, 0, 0},
	{"pthread_rwlock_rdlock", KNOWN_LOCK_SHARED, 0, 0, 0},
	{"pthread_rwlock_timedrdlock", KNOWN_TRY_SHARED, 0, 0, 0},
	{"pthread_rwlock_timedwrlock", KNOWN_TRY, 0, 0, 0},
	{"pthread_rwlock_tryrdlock", KNOWN_TRY_SHARED, 0, 0, 0},
	{"pthread_rwlock_trywrlock", KNOWN_TRY, 0, 0, 0},
	{"pthread_rwlock_unlock", KNOWN_UNLOCK, 0, 0, 0},
	{"pthread_rwlock_wrlock", KNOWN_LOCK, 0, 0, 0},
	{"pthread_spin_lock", KNOWN_LOCK, 0, 0, 0},
	{"pthread_spin_trylock", KNOWN_TRY, 0, 0, 0},
	{"pthread_spin_unlock", KNOWN_UNLOCK, 0, 0, 0},
	{"pthread_timedjoin_np", KNOWN_JOIN, 0, 0, 0},
	{"pthread_tryjoin_np", KNOWN_QUIET, 0, 0, 0},
	{"realloc", KNOWN_RESIZE, 0, 0, 0},
	{"reallocarray", KNOWN_RESIZE, 0, 0, 0},
	{"sched_yield", KNOWN_QUIET, 0, 0, 0},
	{"sleep", KNOWN_QUIET, 0, 0, 0},
	{"strcat", KNOWN_SAME, 0, 0, 0},
	{"strchr", KNOWN_SAME, 0, 0, 0},
	{"strcpy", KNOWN_SAME, 0, 0, 0},
	{"strdup", KNOWN_ALLOCATE, 0, 0, 0},
	{"strncpy", KNOWN_SAME, 0, 0, 0},
	{"strndup", KNOWN_ALLOCATE, 0, 0, 0},
	{"strrchr", KNOWN_SAME, 0, 0, 0},
	{"strstr", KNOWN_SAME, 0, 0, 0},
	{"strtok", KNOWN_SAME, 0, 0, 0},
	{"thrd_create", KNOWN_CREATE, 1, 2, 0},
	{"thrd_join", KNOWN_JOIN, 0, 0, 0},
	{"thrd_yield", KNOWN_QUIET, 0, 0, 0},
	{"usleep", KNOWN_QUIET, 0, 0, 0},
	{"valloc", KNOWN_ALLOCATE, 0, 0, 0},
};

static int compare(const void *name, const void *entry)
{
	return strcmp(name, ((const struct known *)entry)->name);
}

const struct known *known_find(const char *name)
{
	return bsearch(name, table, sizeof(table) / sizeof(*table), sizeof(*table), compare);
}
