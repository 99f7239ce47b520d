/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sections and what may happen to them, one mode each. Places are named by
 * comments like this one: @here. modes.py has the sections, and what must be said.
 */
#include "modes.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

long x, y;
struct pair {
	long low, high;
} range, ranges[2];
_Atomic long a;

/* ---- what the other thread does ---- */

NOINLINE void read_x(void)
{
	y = x;
}

NOINLINE void write_x(void)
{
	x = 77;
}

NOINLINE void write_y(void)
{
	y = 78;
}

NOINLINE void read_then_write(void)
{
	read_x();
	write_x();
}

/* ---- kinds ---- */

NOINLINE void read_write(void (*between)(void))
{
	long got = x; /* @rw1 */

	let(between);
	x = got + 1; /* @rw2 */
}

NOINLINE void read_read(void (*between)(void))
{
	long got = x; /* @rr1 */

	let(between);
	y = got + x; /* @rr2 */
}

NOINLINE void write_read(void (*between)(void))
{
	x = 1; /* @wr1 */
	let(between);
	y = x; /* @wr2 */
}

NOINLINE void write_write(void (*between)(void))
{
	x = 1; /* @ww1 */
	let(between);
	x = 2; /* @ww2 */
}

static void rw_w(void)
{
	read_write(write_x);
}
static void rw_r(void)
{
	read_write(read_x);
}
static void rw_both(void)
{
	read_write(read_then_write);
}
static void rw_elsewhere(void)
{
	read_write(write_y);
}
static void rr_w(void)
{
	read_read(write_x);
}
static void rr_r(void)
{
	read_read(read_x);
}
static void wr_w(void)
{
	write_read(write_x);
}
static void wr_r(void)
{
	write_read(read_x);
}
static void ww_w(void)
{
	write_write(write_x);
}
static void ww_r(void)
{
	write_write(read_x);
}

/* Others come before and after, never in between. */
static void apart(void)
{
	let(write_x);
	read_write(read_x);
	let(write_x);
	read_write(read_x);
	let(write_x);
}

/* ---- ways out ---- */

NOINLINE void leave_early(int early, int skip)
{
	long got = 0;

	if (!skip) {
		got = x;                           /* @early1 */
		__asm__ volatile("" ::: "memory"); /* or the optimiser reads it whether or not */
	}
	if (early)
		return;
	x = got + 1; /* @early2 */
}

static void early_return(void)
{
	leave_early(1, 0);
	let(write_x);
	leave_early(0, 1);
}

/* The same call, and a way around in the middle: still inside. */
NOINLINE void go_on(void)
{
	long got = 0;

	for (int i = 0; i < 3; i++) {
		if (i == 0) {
			got = x; /* @loop1 */
			__asm__ volatile("" ::: "memory");
		}
		if (i == 1)
			let(write_x);
		if (i == 2)
			x = got + 1; /* @loop2 */
	}
}

NOINLINE void leave_loop(void)
{
	for (int i = 0; i < 2; i++) {
		y = x; /* @break1 */
		let(i ? read_x : write_x);
		if (!i)
			continue;
		x = y + 1; /* @break2 */
	}
}

static jmp_buf out;

NOINLINE void jump(int away)
{
	if (away) {
		y = x; /* @jump1 */
		longjmp(out, 1);
	}
	x = y + 1; /* @jump2 */
}

static void jump_out(void)
{
	if (!setjmp(out))
		jump(1);
	let(write_x);
	jump(0);
}

/* A static function that calls nobody has no frame of its own. */
static void touch(int early, int skip)
{
	if (!skip)
		y = x; /* @through1 */
	if (early)
		return;
	x = y + 1; /* @through2 */
}

NOINLINE void call_twice(void)
{
	touch(1, 0);
	let(write_x);
	touch(0, 1);
}

/* Here every end has its entry before it, and each call begins anew. */
static void again(int early)
{
	long got = x; /* @again1 */

	if (early)
		return;
	x = got + 1; /* @again2 */
}

NOINLINE void call_again(void)
{
	again(1);
	let(write_x);
	again(0);
}

/* ---- instances ---- */

static void write_first(void)
{
	ranges[0].low = 5;
}
static void write_second(void)
{
	ranges[1].low = 5;
}

NOINLINE void grow(struct pair *p, void (*between)(void))
{
	long got = p->low; /* @member1 */

	let(between);
	p->low = got + 1; /* @member2 */
}

static void same_instance(void)
{
	grow(&ranges[0], write_first);
}
static void other_instance(void)
{
	grow(&ranges[0], write_second);
}

/* ---- two variables ---- */

NOINLINE void set_both(void)
{
	range.low = 3;
	range.high = 4;
}

NOINLINE void set_low(void)
{
	range.low = 3;
}
NOINLINE void set_high(void)
{
	range.high = 3;
}

NOINLINE long width(struct pair *p, void (*first)(void), void (*then)(void))
{
	long low = p->low; /* @two1 */

	let(first);
	if (then)
		let(then);
	return p->high - low; /* @two2 */
}

static void two_by_one(void)
{
	y = width(&range, set_both, NULL);
}
static void two_half(void)
{
	y = width(&range, set_low, NULL);
}
static void two_other_half(void)
{
	y = width(&range, set_high, NULL);
}
/* Each is a unit of its own: as if one came before, the other after. */
static void two_units(void)
{
	y = width(&range, set_low, set_high);
}

/* ---- shapes ---- */

/* One place ends the first section and begins the second. */
NOINLINE void chain(void (*first)(void), void (*then)(void))
{
	long got = x; /* @chain1 */

	let(first);
	got += x; /* @chain2 */
	let(then);
	x = got; /* @chain3 */
}

static void chain_first(void)
{
	chain(write_x, read_x);
}
static void chain_second(void)
{
	chain(read_x, write_x);
}

NOINLINE void around(void (*between)(void))
{
	for (int i = 0; i < 3; i++) {
		y += x; /* @circle */
		if (i == 1)
			let(between);
	}
}

static void circle_broken(void)
{
	around(write_x);
}
static void circle_whole(void)
{
	around(read_x);
}

/* Entered n times, it must be left n times: what comes in between lies after the first end. */
NOINLINE void down(int n, void (*between)(void))
{
	long got = x; /* @deep1 */

	if (n)
		down(n - 1, between);
	else
		got++;
	if (n == 2)
		let(between);
	x = got; /* @deep2 */
}

static void recursive_broken(void)
{
	down(2, write_x);
}
static void recursive_whole(void)
{
	down(2, read_x);
}

/* ---- waiting, freeing ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void wake(void)
{
	pthread_mutex_lock(&mutex);
	x = 9;
	ready = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

NOINLINE void wait_between(void)
{
	long got;

	pthread_mutex_lock(&mutex);
	got = x; /* @wait1 */
	other = wake;
	sem_post(&go);
	while (!ready)
		pthread_cond_wait(&condition, &mutex);
	x = got + 1; /* @wait2 */
	pthread_mutex_unlock(&mutex);
	sem_wait(&back);
}

static struct pair *block;

static void take_block(void)
{
	struct pair *p = malloc(sizeof *p);

	p->low = 6;
	free(p);
}

NOINLINE void freed_between(void)
{
	struct pair *again;
	long got;

	block = malloc(sizeof *block);
	block->low = 1;
	__asm__ volatile("" ::: "memory"); /* or the optimiser needs no memory at all */
	got = block->low;                  /* @free1 */
	free(block);
	let(take_block);
	again = malloc(sizeof *again);
	again->low = got; /* @free2 */
	block = again;
	__asm__ volatile("" ::: "memory");
	free(again);
}

/* ---- atomics ---- */

static void bump(void)
{
	a++;
}
static void bump_and_back(void)
{
	a++;
	a--;
}

NOINLINE void exchange(void (*between)(void))
{
	long got = a; /* @cas1 */

	let(between);
	if (!atomic_compare_exchange_strong(&a, &got, got + 1)) /* @cas2 */
		atomic_compare_exchange_strong(&a, &got, got + 1);
}

static void cas_fails(void)
{
	exchange(bump);
}
static void cas_finds_the_same(void)
{
	exchange(bump_and_back);
}

NOINLINE void load_store(void (*between)(void))
{
	long got = a; /* @atomic1 */

	let(between);
	a = got + 1; /* @atomic2 */
}

static void atomic_broken(void)
{
	load_store(bump);
}
static void atomic_whole(void)
{
	load_store(read_x);
}

NOINLINE void test_add(void (*between)(void))
{
	if (a < 10) { /* @add1 */
		let(between);
		atomic_fetch_add(&a, 1); /* @add2 */
	}
}

static void add_broken(void)
{
	test_add(bump);
}

/* ---- both inside ---- */

NOINLINE void nested(void)
{
	long got = x; /* @rest1 */

	x = got + 1; /* @rest2 */
}

static void both_inside(void)
{
	read_write(nested);
}

static const struct mode modes[] = {
	{"rw_w", rw_w},
	{"rw_r", rw_r},
	{"rw_both", rw_both},
	{"rw_elsewhere", rw_elsewhere},
	{"rr_w", rr_w},
	{"rr_r", rr_r},
	{"wr_w", wr_w},
	{"wr_r", wr_r},
	{"ww_w", ww_w},
	{"ww_r", ww_r},
	{"apart", apart},
	{"early_return", early_return},
	{"go_on", go_on},
	{"leave_loop", leave_loop},
	{"jump_out", jump_out},
	{"call_twice", call_twice},
	{"call_again", call_again},
	{"same_instance", same_instance},
	{"other_instance", other_instance},
	{"two_by_one", two_by_one},
	{"two_half", two_half},
	{"two_other_half", two_other_half},
	{"two_units", two_units},
	{"chain_first", chain_first},
	{"chain_second", chain_second},
	{"circle_broken", circle_broken},
	{"circle_whole", circle_whole},
	{"recursive_broken", recursive_broken},
	{"recursive_whole", recursive_whole},
	{"wait_between", wait_between},
	{"freed_between", freed_between},
	{"cas_fails", cas_fails},
	{"cas_finds_the_same", cas_finds_the_same},
	{"atomic_broken", atomic_broken},
	{"atomic_whole", atomic_whole},
	{"add_broken", add_broken},
	{"both_inside", both_inside},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return argc == 2 ? run_mode(modes, argv[1]) : 2;
}
