/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Objects that a function has to itself: it made them, or took them out of a
 * list, or got them from a function that did, and has not let them out of its
 * hands. Nobody else can be in between on such an object.
 *
 * This is what an object's life looks like in C: memory comes from an allocator
 * of the program's own as often as from malloc, is filled in, and only then
 * becomes reachable for others.
 */
#ifndef ATOMSAN_LINT_OWN_H
#define ATOMSAN_LINT_OWN_H

#include "lint/lint.h"

struct own;

/* After regions. */
struct own *own_new(struct lint *lint);
void own_free(struct own *own);
/* Does the pointer lead into an object that the function of the instruction has to itself when it gets there?
 */
bool own_at(struct own *own, uint32_t inst, uint32_t pointer);

#endif
