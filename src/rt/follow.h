/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Recording for a checker that reads along (abi/live.h): windows of shared
 * memory in the place of a file, and the checker's process.
 */
#ifndef ATOMSAN_RT_FOLLOW_H
#define ATOMSAN_RT_FOLLOW_H

#include "abi/live.h"
#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* NULL: nobody reads along. */
extern struct live_control *rt_live;

/* Maps the shared memory and hands out its header, zeroed; NULL if there is none, said. The descriptor is
 * the caller's to close. */
struct trace_header *follow_map(int *memory);
/* In a forked child, or if the checker could not be started: all of it is the parent's, or nobody's. */
void follow_unmap(void);

/* As in rt.h for a file; called with signals blocked. */
bool follow_make_room(void);
void follow_close_window(void);
void follow_meta(enum trace_meta kind, uint32_t item, const struct rt_piece *pieces, int count);

/* The window behind one that the thread holds, which is one that it has filled and nobody may read yet. */
struct live_window *follow_behind(const struct live_window *window);
/* All that are held are given away. */
void follow_release(void);
/* The thread goes on in this one of those that it holds: those before it are given away, those behind it are
 * free. Called with signals blocked. */
void follow_back_to(struct live_window *window);

/* A signal handler begins: say so if it has interrupted the writing of an event. */
void follow_handler(void);
/* Is a thread waiting for the checker, perhaps with a stripe or lock of ours? */
bool follow_waiting(void) ATOMSAN_KEEPS_REGISTERS;
bool follow_checker_gone(void);

/* What the environment says for the checker is kept as it is now. */
void checker_keep_options(char **envp);
/* Starts the checker with this memory, and with `trace` (or -1) to leave the trace in. False, said: none. */
bool checker_start(int memory, int trace, char **envp);
/* The program ends with this wait status; what will it be once the checker has seen all? */
int checker_verdict(int wait_status);

#pragma GCC visibility pop

#endif
