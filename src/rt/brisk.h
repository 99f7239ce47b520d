/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The way that most accesses take that are news, while a trace is written and
 * nothing else is done: their cell is the thread's own or to be taken over, and
 * the event is one word. It is most of what recording costs, so it is written in few
 * instructions that use few registers (brisk.S). All else goes on in access.c.
 */
#ifndef ATOMSAN_RT_BRISK_H
#define ATOMSAN_RT_BRISK_H

/* Where members lie in struct atomsan_thread and struct rt_thread, and other numbers; brisk.c asserts them.
 */
#define BRISK_BASE 0
#define BRISK_READER 8
#define BRISK_MASK 16
#define BRISK_SEGMENT 24
#define BRISK_TOP 40
#define BRISK_LOW 48
#define BRISK_TOLD 144
#define BRISK_SLOT 8
#define BRISK_NEXT 16
#define BRISK_SEGMENT_START 112
#define BRISK_LOCKS 120
#define BRISK_MARK 4
#define BRISK_FLUSHING 104
#define BRISK_SUBS_SO_FAR 108
#define BRISK_STAMP 128
#define BRISK_FUNCTIONS 16 /* in struct rt_numbers; the limit is behind it */
#define BRISK_REGIONS 72
#define BRISK_FRESH 0xffff
#define BRISK_SEGMENT_SHIFT 16
#define BRISK_THREAD_SHIFT 22
#define BRISK_STAMP_SHIFT 28
#define BRISK_SUBS 63
#define BRISK_ENTER 3
#define BRISK_EXIT 4
#define BRISK_SWITCH 7
#define BRISK_IDS 0x1ffff
#define BRISK_ID_SHIFT 3
#define BRISK_SUB 0x3f0000
#define BRISK_ONE_SUB 0x10000
#define BRISK_THREAD 0xfc00000
#define BRISK_WRITTEN 0xff00
#define BRISK_SHORT 512
#define BRISK_WINDOW 0x20000
#define BRISK_ADDRESS_SHIFT 20
#define BRISK_ACCESS 1
#define BRISK_BY_5 0xcccccccd /* its inverse */

#ifndef __ASSEMBLER__

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* The executable's sites, as long as hooks may go this way; none at other times. And the same for locks,
 * which may also if a checker reads along. */
extern struct brisk_sites {
	uint64_t bias, length;
} brisk_sites, brisk_lock_sites;
/* What the process is watched for is settled. */
void brisk_begin(void);

/* Everything that is left to access.c, by kind and size. */
#define BRISK_SIZES(X, kind) X(kind, 1) X(kind, 2) X(kind, 4) X(kind, 8)
#define BRISK_REST(kind, size) \
	ATOMSAN_HOOK access_##kind##size(const void *p, const struct atomsan_site *site);
BRISK_SIZES(BRISK_REST, read)
BRISK_SIZES(BRISK_REST, write)
BRISK_SIZES(BRISK_REST, update)
ATOMSAN_HOOK access_read_range(const void *p, uint64_t length, const struct atomsan_site *site);
ATOMSAN_HOOK access_write_range(const void *p, uint64_t length, const struct atomsan_site *site);
/* The cells are taken over, and there was no room for the event. */
ATOMSAN_HOOK access_full(const void *p, const struct atomsan_site *site);
ATOMSAN_HOOK access_full_range(const void *p, uint64_t length, const struct atomsan_site *site);

#pragma GCC visibility pop

#endif

#endif
