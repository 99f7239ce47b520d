/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * States of a model that have been seen, each once, for tests that go through all
 * interleavings: a state is some bytes (all of them count, padding, too), and its
 * number is when it was seen. Beyond the room a test fails.
 */
#ifndef STATE_SPACE_H
#define STATE_SPACE_H

#include <stddef.h>
#include <stdint.h>

/* Makes room; 0, or -1 if there is no memory. */
int state_space_begin(size_t size, uint32_t room);
void state_space_end(void);
void state_space_clear(void);

uint32_t state_space_add(const void *state); /* its number */
uint32_t state_space_count(void);
const void *state_space_at(uint32_t number);

#endif
