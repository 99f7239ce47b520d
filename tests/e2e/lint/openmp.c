/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Teams of OpenMP: all threads of a team run the same code, critical sections
 * and OpenMP's locks are locks, barriers separate what lies before and behind
 * them, and what stands under single or master one thread does alone.
 * build: -fopenmp -c
 * expect: deposit stale-value account.balance
 * expect: count_twice stale-value hits
 */

/* <omp.h> comes with a library that is not needed to compile. */
typedef struct {
	void *lock;
} omp_lock_t;
void omp_set_lock(omp_lock_t *lock);
void omp_unset_lock(omp_lock_t *lock);
int omp_test_lock(omp_lock_t *lock);

struct account {
	omp_lock_t lock;
	long balance;
};

static struct account account;
static long hits, sum, made, steps, tried;

static long balance(struct account *a)
{
	long now;

	omp_set_lock(&a->lock);
	now = a->balance;
	omp_unset_lock(&a->lock);
	return now;
}

static void set_balance(struct account *a, long to)
{
	omp_set_lock(&a->lock);
	a->balance = to;
	omp_unset_lock(&a->lock);
}

/* Two critical sections. */
static void deposit(struct account *a)
{
	set_balance(a, balance(a) + 1);
}

static long hits_so_far(void)
{
	long now;

#pragma omp critical(hits)
	now = hits;
	return now;
}

static void count_twice(void)
{
	long now = hits_so_far();

#pragma omp critical(hits)
	hits = now + 1;
}

/* One critical section. */
static void add(long more)
{
#pragma omp critical
	sum += more;
}

/* Held only where the lock was got. */
static void try_to_add(struct account *a)
{
	if (omp_test_lock(&a->lock)) {
		tried = tried + 1;
		omp_unset_lock(&a->lock);
	}
}

/* Read and written apart, but by one thread of the team. */
static void make(void)
{
	long now;

#pragma omp critical(made)
	now = made;
#pragma omp critical(made)
	made = now + 1;
}

static void begin_step(void)
{
#pragma omp critical(steps)
	steps = 1;
}

static long step_number(void)
{
	long now;

#pragma omp critical(steps)
	now = steps;
	return now;
}

static void end_step(long now)
{
#pragma omp critical(steps)
	sum = now;
}

int main(void)
{
#pragma omp parallel
	{
		deposit(&account);
		count_twice();
		add(2);
		try_to_add(&account);
#pragma omp master
		make();
		/* All write before the barrier, and read behind it. */
		begin_step();
#pragma omp barrier
		end_step(step_number());
	}
	/* The team is gone. */
	long now = hits_so_far();

#pragma omp critical(hits)
	hits = now + 1;
	return 0;
}
