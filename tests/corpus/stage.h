/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How a program of the corpus is made to fail on purpose. Built plainly, the
 * words below are nothing, and the scheduler decides. Built with -DSTAGED, they
 * are the cues of one unlucky interleaving, so that a single run shows the
 * violation, and the program's own check fails, each time.
 *
 *   STAGE(n)    wait for step n - 1, then take step n (once; later it returns at once)
 *   AWAIT(n)    wait for step n
 *   PASS()      take the next step, whichever it is
 *   MEET(n)     wait until n threads are here, the first n only
 *
 * STAGE_IF and MEET_IF do so only if a condition holds. A cue is neither an
 * access nor a synchronisation for any tool: its functions are left out of
 * the instrumentation, by atomsan and by the sanitizers of clang. Cues stand at
 * places where a thread may always be interrupted, and never make a correct
 * program fail.
 */
#ifndef CORPUS_STAGE_H
#define CORPUS_STAGE_H

#ifdef STAGED

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Weak, so that the compiler cannot look inside: no access may be moved past a cue. */
#ifdef __clang__
#define STAGE_CUE __attribute__((weak, disable_sanitizer_instrumentation))
#else
#define STAGE_CUE __attribute__((weak))
#endif

static int stage_step;

STAGE_CUE void stage_wait(const int *counter, int until);
STAGE_CUE void stage_take(int step);
STAGE_CUE void stage_await(int step);
STAGE_CUE void stage_pass(void);
STAGE_CUE void stage_meet(int *met, int threads);

/* A cue that never comes is a mistake in the program's staging. */
void stage_wait(const int *counter, int until)
{
	time_t begin = time(NULL);

	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < until) {
		if (time(NULL) - begin > 20) {
			fprintf(stderr, "the cue %d did not come within 20 seconds\n", until);
			abort();
		}
		sched_yield();
	}
}

void stage_take(int step)
{
	int before = step - 1;

	stage_wait(&stage_step, before);
	__atomic_compare_exchange_n(&stage_step, &before, step, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void stage_await(int step)
{
	stage_wait(&stage_step, step);
}

void stage_pass(void)
{
	__atomic_fetch_add(&stage_step, 1, __ATOMIC_ACQ_REL);
}

void stage_meet(int *met, int threads)
{
	__atomic_fetch_add(met, 1, __ATOMIC_ACQ_REL);
	stage_wait(met, threads);
}

#define STAGE(n) stage_take(n)
#define AWAIT(n) stage_await(n)
#define PASS() stage_pass()
#define MEET(n)                              \
	do {                                 \
		static int stage_met;        \
		stage_meet(&stage_met, (n)); \
	} while (0)
#define STAGE_IF(condition, n)         \
	do {                           \
		if (condition)         \
			stage_take(n); \
	} while (0)
#define MEET_IF(condition, n)    \
	do {                     \
		if (condition)   \
			MEET(n); \
	} while (0)

#else

#define STAGE(n) ((void)0)
#define AWAIT(n) ((void)0)
#define PASS() ((void)0)
#define MEET(n) ((void)0)
#define STAGE_IF(condition, n) ((void)0)
#define MEET_IF(condition, n) ((void)0)

#endif

#endif
