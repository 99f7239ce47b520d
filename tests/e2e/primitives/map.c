/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Mappings: made, moved, removed, and calls that the kernel refuses. */
#include "seen.h"

#include <sys/mman.h>

int main(void)
{
	size_t page = (size_t)getpagesize();
	char *pages = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *place, *moved;

	MUST(pages != MAP_FAILED);
	NAME_AT("pages", pages);
	place = mmap(NULL, 8 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NAME_AT("place", place);
	MUST(munmap(pages + 1, page) == -1);
	MUST(munmap(pages, 0) == -1);
	MUST(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	moved = mremap(pages, 4 * page, 8 * page, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	MUST(moved == place);
	moved[8 * page - 1] = 1;
	MUST(munmap(moved, 8 * page) == 0);
	return 0;
}
