/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes a trace without running a program: for imports and for tests. Threads
 * come into being with their first event. Nothing can be seen at the target's
 * path before trace_writer_finish; a failure to write is kept until then.
 */
#ifndef ATOMSAN_TRACE_WRITER_H
#define ATOMSAN_TRACE_WRITER_H

#include "trace/cursor.h"

#include <stdio.h>

struct trace_writer;

/* flags are enum trace_header_flag. */
struct trace_writer *trace_writer_open(const char *path, uint32_t flags, struct err *err);

/* To be changed at will before finish: state (FINISHED), next_stamp (one above
 * the highest), threads and next_page are kept up by the writer. */
struct trace_header *trace_writer_header(struct trace_writer *writer);

/* Sites and functions added from here on belong to a new module. */
void trace_writer_module(struct trace_writer *writer, const char *path, const void *build_id,
			 uint32_t build_id_length);
/* Each returns the number for events. The module field is ignored; a module is
 * made if there is none. */
uint32_t trace_writer_site(struct trace_writer *writer, const struct trace_site *site);
uint32_t trace_writer_function(struct trace_writer *writer, const struct trace_function *function);

/* A variable, and lines as annotations write them, of the same module. */
void trace_writer_variable(struct trace_writer *writer, const struct trace_variable *variable);
void trace_writer_spec(struct trace_writer *writer, const char *text);

/* Metadata other than modules. */
void trace_writer_meta(struct trace_writer *writer, enum trace_meta kind, uint32_t item, const void *data,
		       uint64_t length);

/*
 * Appends to the thread number event->thread. An ACCESS or OP with stamped set
 * carries event->key as its stamp. An OP without that has a key and a site has
 * the key of its thread's latest stamp; any other OP gets the next stamp, and key
 * is set to it. Of `prefixes`, VALUE and OTHER tell whether value and other are
 * written (a value that is not 0 always is, except the size of an access).
 */
void trace_writer_event(struct trace_writer *writer, struct trace_event *event);

/* The next stamp, for events that are to be stamped by hand. */
uint64_t trace_writer_stamp(struct trace_writer *writer);

/* Completes the file. In both cases the writer is gone afterwards. */
int trace_writer_finish(struct trace_writer *writer, struct err *err);
void trace_writer_abandon(struct trace_writer *writer);

/* Appends one block to a file of blocks; length is rounded up to pages. */
uint32_t trace_write_block(FILE *file, struct trace_block block, const void *data, uint32_t size);

#endif
