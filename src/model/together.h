/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What critical sections access, for together.c. */
#ifndef ATOMSAN_MODEL_TOGETHER_H
#define ATOMSAN_MODEL_TOGETHER_H

#include <stdbool.h>
#include <stdint.h>

/* What a critical section, or a thread that is alone, accesses of structs, and how: see together.c. */
#define SECTION_ROOM 32
enum { SECTION_READ = 1, SECTION_WRITTEN = 2 };

struct section_word {
	uint32_t read_at; /* place's source */
	uint16_t type, word;
	uint8_t how;
};

/* What a section has accessed. */
struct section_content {
	struct section_word words[SECTION_ROOM];
	uint32_t count;
	bool alone;   /* no lock is held, and nobody else is there */
	bool learned; /* what it says was noted */
};

struct section {
	uint32_t state; /* in model.sections; 0: `loose` has the content */
	/* The latest access, which most often comes again. */
	uint8_t last_how;
	bool last_claims;
	uint32_t last_site; /* plus one; 0: none */
	uint64_t last_size;
	struct section_content loose;
};

/* From one content, by an access, to another. */
struct section_step {
	uint32_t from, site;
	uint32_t what; /* size and kind of the access; 0: none */
	uint32_t to;
	bool claims;
};

#endif
