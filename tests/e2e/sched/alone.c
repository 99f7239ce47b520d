/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* No schedule breaks it, but a second run beside the first does: both want the same file. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	counter++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	int file = open("busy", O_CREAT | O_EXCL | O_WRONLY, 0600);
	pthread_t threads[2];

	if (file < 0)
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	usleep(200000);
	close(file);
	unlink("busy");
	return counter != 2;
}
