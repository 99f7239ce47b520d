/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls the functions of names_owner.c. No headers: they would say otherwise. */
struct mutex;
extern struct mutex mutex;

int getline(char *line, int room);
void dprintf(const char *format, ...);
void mtx_lock(struct mutex *which);
int pthread_mutex_unlock(struct mutex *which);
int rt_op(int a);
int cond_end(int a);
extern int dprintf_calls;

int use_names(void);
int use_names(void)
{
	char line[8] = "";
	int sum = 0;

	if (getline(line, sizeof(line)) == 3 && line[0] == 'o')
		sum += 1000;
	dprintf("%s", line);
	if (dprintf_calls == 1)
		sum += 200;
	mtx_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	if (rt_op(1) == 2)
		sum += 30;
	if (cond_end(1) == 3)
		sum += 4;
	return sum;
}
