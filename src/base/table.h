/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tables that are looked up at random by number, most often where the processor
 * has not been for a while. They begin at a cache line, so that an entry that is
 * made for it takes one; large ones lie on large pages if the system has them, so
 * that finding where an entry lies is no second wait.
 */
#ifndef ATOMSAN_BASE_TABLE_H
#define ATOMSAN_BASE_TABLE_H

#include <stddef.h>

#define TABLE_LINE 64

/* Room for `room` entries of this size, the first `old` of which are those of the table (NULL: there is
 * none); what it had is given back. Never NULL. What is new is not set to anything. */
void *table_resize(void *table, size_t old, size_t room, size_t size);
/* The same with less room, of which there was no less: what does not fit is gone. */
void *table_shrink(void *table, size_t old, size_t room, size_t size);
void table_free(void *table, size_t room, size_t size);

#endif
