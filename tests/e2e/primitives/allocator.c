/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program with an allocator of its own keeps it, and what is built on it works. */
#include "seen.h"

#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static char heap[1 << 24] __attribute__((aligned(4096)));
static size_t used;

static void *take(size_t alignment, size_t size)
{
	size_t room = size + 32 + alignment;
	size_t begin = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED);
	uintptr_t block = ((uintptr_t)heap + begin + 32 + alignment - 1) & ~(alignment - 1);

	if (begin + room > sizeof(heap))
		return NULL;
	((size_t *)block)[-1] = size;
	return (void *)block;
}

void *malloc(size_t size)
{
	return take(32, size);
}

void *calloc(size_t count, size_t size)
{
	return take(32, count * size);
}

void free(void *block)
{
}

void *realloc(void *block, size_t size)
{
	void *moved = take(32, size);

	if (block && moved)
		memcpy(moved, block, ((size_t *)block)[-1] < size ? ((size_t *)block)[-1] : size);
	return moved;
}

void *memalign(size_t alignment, size_t size)
{
	return take(alignment < 32 ? 32 : alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
	*result = memalign(alignment, size);
	return 0;
}

static void *run(void *text)
{
	char *copy = strdup(text);

	MUST(copy >= heap && copy < heap + sizeof(heap));
	return copy;
}

int main(void)
{
	char text[] = "text";
	void *copy, *block;
	pthread_t thread;

	pthread_create(&thread, NULL, run, text);
	pthread_join(thread, &copy);
	MUST(!strcmp(copy, text));
	block = reallocarray(copy, 100, 10);
	MUST(!strcmp(block, text) && (char *)block < heap + sizeof(heap));
	NAME_AT("block", block);
	free(block);
	return 0;
}
