/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who counts itself in and, later in the same call, out: requests in flight,
 * references. What others see in between is what they are meant to see, and neither
 * end knows more of the number than that it is one more, or one less. Which places
 * in the source are the two ends shows the first call that is through.
 */
#include "model/inside.h"

enum { END_IN = 1, END_OUT = 2 };

/* The call that the thread is in, further out than any that might be a unit by itself; 0: none. */
static uint64_t call_of(const struct thread *thread)
{
	for (uint32_t i = thread->floor; i < thread->depth; i++)
		if (thread->frames[i].role == FRAME_FUNCTION || thread->frames[i].role == FRAME_LOOP)
			return thread->frames[i].entered;
	return 0;
}

static void add_end(struct model *model, uint32_t source, uint32_t end)
{
	map_set(&model->counter_ends, source, map_get(&model->counter_ends, source) | end);
}

void counters_note(struct model *model, struct thread *thread, const struct place *place, uint64_t address)
{
	uint64_t call = call_of(thread);

	if (!call || !place->source)
		return;
	for (uint32_t i = 0; i < COUNTERS; i++) {
		struct counted *in = &thread->counted[i];

		if (in->call != call || in->address != address || in->way == place->counts)
			continue;
		add_end(model, in->source, END_IN);
		add_end(model, place->source, END_OUT);
		in->call = 0;
		return;
	}
	thread->counted[thread->counted_next++ % COUNTERS] = (struct counted){
		.call = call, .address = address, .source = place->source, .way = place->counts};
}

/* Of a write or update, or of the read by which somebody found out that it may count. */
static uint32_t ends_of(struct model *model, uint32_t site)
{
	const struct place *place = place_of(model, site);
	uint32_t source = place->counts ? place->source : map_get(&model->counted, place->source);

	return source ? map_get(&model->counter_ends, source) : 0;
}

bool model_counts(struct model *model, uint32_t site)
{
	return place_of(model, site)->counts;
}

bool model_counts_in(struct model *model, uint32_t site)
{
	return ends_of(model, site) == END_IN;
}

bool model_counts_out(struct model *model, uint32_t site)
{
	return ends_of(model, site) == END_OUT && place_of(model, site)->counts;
}
