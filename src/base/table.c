/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/table.h"

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)

static size_t up_to(size_t size, size_t unit)
{
	return (size + unit - 1) / unit * unit;
}

/* Of a table that is as large as a large page: whole ones. */
static bool is_mapped(size_t bytes)
{
	return bytes >= LARGE_PAGE;
}

static void *out_of_memory(void)
{
	return mem_alloc(SIZE_MAX); /* says so, and ends */
}

static void *map_pages(size_t bytes)
{
	size_t all = up_to(bytes, LARGE_PAGE) + LARGE_PAGE, before;
	char *start = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		return out_of_memory();
	before = up_to((uintptr_t)start, LARGE_PAGE) - (uintptr_t)start;
	if (before)
		munmap(start, before);
	munmap(start + before + all - LARGE_PAGE, LARGE_PAGE - before);
	/* Where there are none it goes without. */
	madvise(start + before, all - LARGE_PAGE, MADV_HUGEPAGE);
	return start + before;
}

static void *new_table(size_t bytes)
{
	void *table;

	if (is_mapped(bytes))
		return map_pages(bytes);
	table = aligned_alloc(TABLE_LINE, up_to(bytes ? bytes : 1, TABLE_LINE));
	return table ? table : out_of_memory();
}

void *table_resize(void *table, size_t old, size_t room, size_t size)
{
	size_t had = old * size;
	char *wider;

	if (size && room > PTRDIFF_MAX / 2 / size)
		return out_of_memory();
	wider = new_table(room * size);
	if (!table)
		return wider;
	/* Page by page, so that not both are there at once. */
	for (size_t done = 0, step; done < had; done += step) {
		step = had - done < LARGE_PAGE ? had - done : LARGE_PAGE;
		memcpy(wider + done, (char *)table + done, step);
		if (is_mapped(had))
			munmap((char *)table + done, LARGE_PAGE);
	}
	if (!is_mapped(had))
		free(table);
	return wider;
}

void *table_shrink(void *table, size_t old, size_t room, size_t size)
{
	size_t had = up_to(old * size, LARGE_PAGE), keep = up_to(room * size, LARGE_PAGE);
	void *smaller;

	if (is_mapped(room * size)) {
		if (keep < had)
			munmap((char *)table + keep, had - keep);
		return table;
	}
	smaller = new_table(room * size);
	memcpy(smaller, table, room * size);
	table_free(table, old, size);
	return smaller;
}

void table_free(void *table, size_t room, size_t size)
{
	if (is_mapped(room * size))
		munmap(table, up_to(room * size, LARGE_PAGE));
	else
		free(table);
}
