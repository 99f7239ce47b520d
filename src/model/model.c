/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events, one after the other, and what each means to the parts of the model. */
#include "model/inside.h"

#include <string.h>

struct model *model_new(struct trace *trace, const struct model_options *options,
			const struct model_sink *sink)
{
	struct model *model = mem_zalloc(1, sizeof(*model));

	model->trace = trace;
	model->options = *options;
	model->sink = *sink;
	/* Where all is one set, somebody is always on it. */
	model->quiet = sink->set_quiet && options->sets != MODEL_SETS_ONE;
	memory_init(&model->memory);
	sets_init(model);
	return model;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	held_release(model);
	together_release(model);
	unit_release_all(model);
	notes_release(model);
	kept_release(model);
	sets_release(model);
	places_release(model);
	memory_release(&model->memory);
	free(model);
}

uint64_t model_time(const struct model *model)
{
	return model->time;
}

void model_stats(const struct model *model, struct model_stats *stats)
{
	*stats = model->stats;
	stats->events = model->time;
	stats->contexts = model->context_count;
	stats->blocks = model->memory.live_blocks;
}

static void access_event(struct model *model, const struct trace_event *event)
{
	switch (event->access) {
	case ATOMSAN_OBJECT:
		unit_object(model, event->thread, event->address, event->value, event->site);
		break;
	case ATOMSAN_UPDATE:
		access_bytes(model, event->thread, event->site, event->address, event->value, true, true);
		break;
	case ATOMSAN_WRITE:
		access_bytes(model, event->thread, event->site, event->address, event->value, false, true);
		break;
	default:
		access_bytes(model, event->thread, event->site, event->address, event->value, true, false);
	}
}

/* From taking the first lock to giving up the last. */
static void section_begin(struct model *model, const struct trace_event *event, struct thread *thread)
{
	if (model->options.units == MODEL_UNITS_SECTIONS && thread->held_count == 1 &&
	    thread->held[0].count == 1)
		bracket_begin(model, event->thread, UINT64_MAX, MODEL_RULE_SECTION);
}

static void section_end(struct model *model, const struct trace_event *event, struct thread *thread)
{
	if (model->options.units == MODEL_UNITS_SECTIONS && !thread->held_count)
		bracket_end(model, event->thread, UINT64_MAX);
}

static void waited(struct model *model, const struct trace_event *event)
{
	if (!model->options.keep_units_at_waits)
		unit_split(model, event->thread);
}

static void atomic_event(struct model *model, const struct trace_event *event)
{
	struct trace_site site;
	uint64_t size = 8;

	if (!model->options.atomics)
		return;
	if (event->site != TRACE_NO_SITE && trace_site(model->trace, event->site, &site, NULL) >= 0 &&
	    site.size)
		size = site.size;
	access_bytes(model, event->thread, event->site, event->address, size,
		     event->op != TRACE_OP_ATOMIC_STORE,
		     event->op == TRACE_OP_ATOMIC_STORE || event->op == TRACE_OP_ATOMIC_RMW);
}

static void forget_block(struct model *model, uint64_t start)
{
	const struct memory_block *block = memory_block_at(&model->memory, start);

	if (!block)
		return;
	set_forget(model, start, block->size);
	memory_block_remove(&model->memory, start);
}

static void made(struct model *model, const struct trace_event *event)
{
	struct memory *memory = &model->memory;

	memory_block_add(memory, event->address, event->value, event->site, MEMORY_HEAP);
	memory->blocks[memory_chunk(memory, event->address)->blocks[memory_index(event->address)]].born =
		(uint32_t)model->serial;
}

static void op_event(struct model *model, const struct trace_event *event)
{
	struct thread *thread = unit_thread(model, event->thread);

	thread->epoch += event->op != TRACE_OP_ALLOC && event->op != TRACE_OP_FREE;
	switch (event->op) {
	case TRACE_OP_START:
		model->live_threads++;
		if (event->prefixes & 1 << TRACE_PREFIX_OTHER && model->coming_threads)
			model->coming_threads--;
		thread->started = true;
		break;
	case TRACE_OP_END:
		unit_exit(model, event->thread, UINT32_MAX);
		notes_over(thread);
		jots_over(thread);
		if (thread->started)
			model->live_threads--;
		thread->started = false;
		break;
	case TRACE_OP_CREATE:
		/* From here on the new thread is meant to work on what it was given. */
		waited(model, event);
		model->coming_threads++;
		break;
	case TRACE_OP_CREATE_FAILED:
		if (model->coming_threads)
			model->coming_threads--;
		break;
	case TRACE_OP_BARRIER_ENTER:
		/* It does nothing until it leaves, but others may go on before it is seen to. */
		waited(model, event);
		break;
	case TRACE_OP_JOIN:
	case TRACE_OP_BARRIER_LEAVE:
		if (!thread->held_count)
			together_end(model, thread);
		waited(model, event);
		break;
	case TRACE_OP_LOCK:
	case TRACE_OP_RDLOCK:
		if (!thread->held_count)
			together_end(model, thread);
		held_lock(model, thread, event, event->address);
		unit_synchronises(model, event->thread);
		section_begin(model, event, thread);
		break;
	case TRACE_OP_UNLOCK:
		held_unlock(model, thread, event->address);
		if (!thread->held_count)
			together_end(model, thread);
		section_end(model, event, thread);
		break;
	case TRACE_OP_WAIT:
		held_unlock(model, thread, event->value);
		if (!thread->held_count)
			together_end(model, thread);
		section_end(model, event, thread);
		waited(model, event);
		break;
	case TRACE_OP_WAKE:
		held_lock(model, thread, event, event->value);
		section_begin(model, event, thread);
		break;
	case TRACE_OP_SEM_WAIT:
		if (held_semaphore_wait(model, thread, event->address))
			waited(model, event);
		else
			unit_synchronises(model, event->thread);
		break;
	case TRACE_OP_SEM_POST:
		held_semaphore_post(model, thread, event->address);
		break;
	case TRACE_OP_ATOMIC_LOAD:
	case TRACE_OP_ATOMIC_STORE:
	case TRACE_OP_ATOMIC_RMW:
	case TRACE_OP_ATOMIC_FAILED:
		atomic_event(model, event);
		break;
	case TRACE_OP_ALLOC:
		forget_block(model, event->address);
		set_forget(model, event->address, event->value);
		if (event->value)
			made(model, event);
		break;
	case TRACE_OP_FREE:
		forget_block(model, event->address);
		break;
	case TRACE_OP_UNMAP:
		set_forget(model, event->address, event->value);
		break;
	case TRACE_OP_UNIT_BEGIN:
		bracket_begin(model, event->thread, event->address, MODEL_RULE_DECLARED);
		break;
	case TRACE_OP_TOUCHED:
		entire_touched(model, event);
		break;
	case TRACE_OP_UNIT_END:
		bracket_end(model, event->thread, event->address);
		break;
	}
	if (model->sink.op)
		model->sink.op(model->sink.user, event, model->time);
}

void model_event(struct model *model, const struct trace_event *event)
{
	model->time++;
	switch (event->kind) {
	case TRACE_ACCESS:
		access_event(model, event);
		break;
	case TRACE_ENTER:
		unit_enter(model, event->thread, event->function, event->address);
		break;
	case TRACE_EXIT:
		unit_exit(model, event->thread, event->frames);
		break;
	case TRACE_OP:
		op_event(model, event);
		break;
	}
}

void model_finish(struct model *model)
{
	for (uint32_t i = 0; i < model->thread_count; i++) {
		struct thread *thread = &model->threads[i];

		together_end(model, thread);
		unit_split(model, i);
		unit_exit(model, i, thread->depth);
		thread->bracket_count = 0;
	}
}
