/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Any bytes as a trace, predicted from, and every prediction made a schedule.
 * Whatever threads, locks and semaphores are said to have done, the schedule
 * must be one that the machine of prediction can execute.
 */
#include "predict/load.h"
#include "predict/synth.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void predict(struct trace *trace)
{
	struct model_options model = {.atomics = trace->header.seed & 1,
				      .units = trace->header.seed >> 1 & 3};
	struct predict_options options = {.work_limit = 10000};
	struct history history;
	struct load_stats stats;
	struct predict p;
	struct synth synth;
	struct err err;

	load_history(trace, &model, &history, &stats, &err);
	predict_init(&p, &history, &options);
	predict_run(&p);
	synth_init(&synth, &p);
	for (uint32_t i = 0; i < p.count && i < 100; i++) {
		struct synth_schedule schedule;
		char text[64];

		if (synth_build(&synth, &p.predictions[i], &schedule) && !schedule.count)
			abort();
		predict_pattern_text(&p, &p.predictions[i], text);
		synth_schedule_release(&schedule);
	}
	synth_release(&synth);
	predict_release(&p);
	history_release(&history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	struct trace *trace;
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
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
		predict(trace);
		trace_close(trace);
	}
	free(copy);
	return 0;
}
