/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Waiting without locks. `round_of` gives work to a thread by an atomic number,
 * waits until the number is 0 again, and goes on with what the thread has made;
 * `told` waits for a flag. Both mean the other to work in between.
 *
 * Nobody else here does: who takes a lock of atomic data, searches among atomic
 * data, or gives up after some looks, has its unit torn apart.
 */
#include "stage.h"

#include <stdatomic.h>
#include <unistd.h>

/* ---- meant ---- */

struct work {
	int what, input, output;
};
static struct work work;
static struct {
	_Atomic unsigned long count;
} pending[2];

static inline unsigned long get_pending(int i)
{
	return atomic_load_explicit(&pending[i].count, memory_order_acquire);
}

static inline void set_pending(int i, unsigned long count)
{
	atomic_store_explicit(&pending[i].count, count, memory_order_release);
}

static int round_of(struct work *w)
{
	w->what = 1;
	w->input = 6;
	set_pending(1, 1);
	while (1) {
		unsigned long sum = 0;

		for (int i = 0; i < 2; i++)
			sum += get_pending(i);
		if (!sum)
			break;
	}
	w->what = 0;
	return w->output;
}

static void serve(struct work *w)
{
	while (!get_pending(1))
		sched_yield();
	if (w->what)
		w->output = w->input * 7;
	set_pending(1, 0);
}

struct news {
	int asked, told;
};
static struct news news;
static volatile int ready;

static int told(struct news *n)
{
	n->asked = 1;
	STAGE(0);
	while (!ready)
		usleep(10);
	return n->told;
}

static void tell(struct news *n)
{
	STAGE(1);
	n->told = n->asked;
	ready = 1;
}

/* ---- not meant ---- */

static atomic_int ttas, outlined, slots[4];
static struct {
	atomic_int next, now;
} ticket;
static volatile int flags[2], turn;

static void ttas_lock(void)
{
	do
		while (atomic_load(&ttas))
			__builtin_ia32_pause();
	while (atomic_exchange(&ttas, 1));
}

__attribute__((noinline)) static void until_free(atomic_int *lock)
{
	while (atomic_load(lock))
		sched_yield();
}

static void outlined_lock(void)
{
	int free = 0;

	while (!atomic_compare_exchange_strong(&outlined, &free, 1)) {
		until_free(&outlined);
		free = 0;
	}
}

static void ticket_lock(void)
{
	int mine = atomic_fetch_add(&ticket.next, 1);

	while (atomic_load(&ticket.now) != mine)
		sched_yield();
}

static void peterson_lock(void)
{
	flags[0] = 1;
	turn = 1;
	while (flags[1] && turn == 1)
		sched_yield();
}

static void find(void)
{
	int i = 0;

	while (atomic_load(&slots[i]) != 3)
		i++;
	use(i);
}

static void attempts(void)
{
	for (int i = 0; i < 3; i++)
		if (atomic_load(&slots[0]))
			break;
}

#define TORN(name, stage, between)             \
	struct name {                          \
		int value;                     \
	};                                     \
	static struct name name;               \
	static void name##_add(struct name *n) \
	{                                      \
		int value = n->value;          \
                                               \
		STAGE(stage);                  \
		between;                       \
		STAGE(stage + 3);              \
		n->value = value + 1;          \
	}                                      \
	static void name##_set(struct name *n) \
	{                                      \
		STAGE(stage + 1);              \
		n->value = 7;                  \
		STAGE(stage + 2);              \
	}

TORN(by_ttas, 2, ttas_lock())
TORN(by_outlined, 6, outlined_lock())
TORN(by_ticket, 10, ticket_lock())
TORN(by_peterson, 14, peterson_lock())
TORN(by_search, 18, find())
TORN(by_attempts, 22, attempts())

static void *one(void *unused)
{
	if (round_of(&work) != 42 || !told(&news))
		exit(1);
	by_ttas_add(&by_ttas);
	by_outlined_add(&by_outlined);
	by_ticket_add(&by_ticket);
	by_peterson_add(&by_peterson);
	by_search_add(&by_search);
	by_attempts_add(&by_attempts);
	return unused;
}

static void *other(void *unused)
{
	serve(&work);
	tell(&news);
	by_ttas_set(&by_ttas);
	by_outlined_set(&by_outlined);
	by_ticket_set(&by_ticket);
	by_peterson_set(&by_peterson);
	by_search_set(&by_search);
	by_attempts_set(&by_attempts);
	return unused;
}

int main(void)
{
	slots[3] = 3;
	TOGETHER(one, other);
	return 0;
}
