/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Any bytes as a trace: opened, all places and events described, text made of
 * it. Magic and version are put right first, so that no run is wasted on them.
 */
#include "trace/describe.h"
#include "trace/stats.h"
#include "trace/std.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_events(struct trace *trace, struct trace_cursor *cursor, FILE *out)
{
	struct trace_stats stats;
	struct trace_event e;

	stats_init(&stats, trace);
	while (trace_next(cursor, &e) > 0) {
		stats_count(&stats, &e);
		if (stats.events < 100) {
			describe_event(trace, &e, out);
			describe_event_json(trace, &e, out);
		}
	}
	stats_print(&stats, trace, out);
	stats_print_json(&stats, trace, out);
	stats_blind_spots_json(trace, out);
	stats_release(&stats);
	trace_cursor_close(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	struct err err;
	struct trace *trace;
	uint8_t *copy = malloc(size ? size : 1);

	if (!out)
		out = fopen("/dev/null", "w");
	if (!out || !copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	if (size >= sizeof(struct trace_header)) {
		struct trace_header *header = (struct trace_header *)copy;

		memcpy(header->magic, TRACE_MAGIC, sizeof header->magic);
		header->version = TRACE_VERSION;
	}
	trace = trace_open_memory(copy, size, "input", &err);
	if (trace) {
		for (uint32_t m = 0; m < trace->module_count; m++)
			for (uint64_t i = 0; i < trace->modules[m].sites && i < 1000; i++)
				describe_site_json(trace, trace->modules[m].first_site + i, out);
		read_events(trace, trace_cursor_open(trace), out);
		for (uint32_t i = 0; i < trace->thread_count && i < 4; i++)
			read_events(trace, trace_cursor_open_thread(trace, i), out);
		std_export(trace, out, &(struct std_options){.functions = true}, &err);
		trace_close(trace);
	}
	free(copy);
	return 0;
}
