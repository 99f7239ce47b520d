/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Signal handlers, with information and without, left by longjmp, and what
 * sigaction and signal say of the handlers that were there before.
 */
#include "seen.h"

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

static sem_t semaphore;
static sigjmp_buf back;

static void simple(int number)
{
	MUST(number == SIGUSR1);
	sem_post(&semaphore);
}

static void full(int number, siginfo_t *info, void *context)
{
	MUST(number == SIGUSR2 && info->si_signo == SIGUSR2 && info->si_pid == getpid() && context);
	sem_post(&semaphore);
}

static void jump(int number)
{
	siglongjmp(back, number);
}

static void *in_thread(void *unused)
{
	raise(SIGUSR1);
	return unused;
}

int main(void)
{
	struct sigaction action, old;
	pthread_t thread;

	NAME(semaphore);
	sem_init(&semaphore, 0, 0);

	memset(&action, 0, sizeof(action));
	action.sa_handler = simple;
	action.sa_flags = SA_RESTART;
	MUST(sigaction(SIGUSR1, &action, &old) == 0 && old.sa_handler == SIG_DFL);
	MUST(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == simple);
	MUST((old.sa_flags & SA_RESTART) && !(old.sa_flags & SA_SIGINFO));
	raise(SIGUSR1);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);

	action.sa_sigaction = full;
	action.sa_flags = SA_SIGINFO;
	MUST(sigaction(SIGUSR2, &action, NULL) == 0);
	MUST(sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_sigaction == full && old.sa_flags & SA_SIGINFO);
	kill(getpid(), SIGUSR2);

	MUST(signal(SIGUSR1, SIG_IGN) == simple);
	raise(SIGUSR1);
	MUST(signal(SIGUSR1, jump) == SIG_IGN);
	if (!sigsetjmp(back, 1))
		raise(SIGUSR1);
	MUST(signal(SIGUSR1, SIG_DFL) == jump);
	MUST(signal(SIGKILL, jump) == SIG_ERR);
	MUST(sigaction(SIGKILL, &action, NULL) == -1);
	MUST(sigaction(12345, &action, NULL) == -1);
	return 0;
}
