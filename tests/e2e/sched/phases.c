/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Barriers, semaphores, spin locks and things done once, right in every interleaving. */
#include <pthread.h>
#include <semaphore.h>

enum { THREADS = 3, ROUNDS = 4 };
static int cells[THREADS], serial, ready, inside, wrong;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t slots;

static void prepare(void)
{
	ready++;
}

static void *work(void *argument)
{
	int mine = (int)(long)argument, chosen = 0;

	pthread_once(&once, prepare);
	for (int round = 0; round < ROUNDS; round++) {
		int sum = 0;

		cells[mine] = round;
		/* No event depends on it: in a free run libc chooses after the arrivals were recorded. */
		chosen += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
		for (int i = 0; i < THREADS; i++)
			sum += cells[i];
		pthread_spin_lock(&spin);
		wrong += sum != THREADS * round;
		pthread_spin_unlock(&spin);
		pthread_barrier_wait(&barrier);
		sem_wait(&slots);
		if (__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) > 2)
			__atomic_store_n(&wrong, 1, __ATOMIC_SEQ_CST);
		__atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
		sem_post(&slots);
	}
	pthread_spin_lock(&spin);
	serial += chosen;
	pthread_spin_unlock(&spin);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	pthread_spin_init(&spin, 0);
	sem_init(&slots, 0, 2);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return wrong || serial != ROUNDS || ready != 1;
}
