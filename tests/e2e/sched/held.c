/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Of its runs, which are counted in a file, the first passes, the second fails and the third does not
 * end, so that the failure has to be looked at again once that is over. Later ones pass, or do not end
 * either.
 *
 * usage: held passes|stays
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	counter++;
	pthread_mutex_unlock(&lock);
	return unused;
}

/* One line for each run, with its process. The number of this one. */
static long count_run(void)
{
	int file = open("runs", O_CREAT | O_APPEND | O_WRONLY, 0600);
	char line[16];
	off_t end;

	snprintf(line, sizeof(line), "%14d\n", (int)getpid());
	if (file < 0 || write(file, line, 15) != 15)
		return 0;
	end = lseek(file, 0, SEEK_CUR);
	close(file);
	return end / 15;
}

int main(int argc, char **argv)
{
	long number = count_run();
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (number == 3 || (number > 3 && argc > 1 && !strcmp(argv[1], "stays")))
		pause();
	return number == 2 || counter != 2;
}
