/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The calls and loop iterations that threads have open, their contexts, and
 * what ends the units that they are: leaving them, waiting, an iteration further
 * in that is the unit instead.
 *
 * No units are main, the function that a thread begins with, plain getters and
 * setters. Where a loop takes locks in its iterations and is no walk over data
 * (a worker, an event loop), its iterations take the place of everything around.
 */
#include "model/inside.h"

#include <string.h>

struct thread *unit_thread_new(struct model *model, uint32_t index)
{
	if (index >= model->thread_count) {
		uint32_t count = model->thread_count ? model->thread_count : 8;

		while (count <= index)
			count *= 2;
		model->threads = mem_resize(model->threads, count, sizeof(*model->threads));
		memset(model->threads + model->thread_count, 0,
		       (count - model->thread_count) * sizeof(*model->threads));
		model->thread_count = count;
	}
	return &model->threads[index];
}

void unit_release_all(struct model *model)
{
	for (uint32_t i = 0; i < model->thread_count; i++) {
		free(model->threads[i].frames);
		free(model->threads[i].brackets);
		free(model->threads[i].objects);
		free(model->threads[i].notes);
		free(model->threads[i].jots);
		free(model->threads[i].jot_runs);
		free(model->threads[i].gathered);
		free(model->threads[i].seen);
		map_release(&model->threads[i].open);
	}
	free(model->threads);
	free(model->units);
	free(model->contexts);
	map_release(&model->context_children);
}

static uint32_t context_of(struct model *model, uint32_t parent, uint32_t function)
{
	uint64_t key = (uint64_t)parent << 32 | function;
	uint32_t context = map_get(&model->context_children, key);

	if (context)
		return context;
	if (model->context_count + 1 >= model->context_room) {
		model->context_room = model->context_room ? model->context_room * 2 : 256;
		model->contexts = mem_resize(model->contexts, model->context_room, sizeof(*model->contexts));
	}
	context = ++model->context_count;
	model->contexts[context] = (struct context){.parent = parent, .function = function};
	map_set(&model->context_children, key, context);
	return context;
}

uint32_t model_context_parent(const struct model *model, uint32_t context)
{
	return context && context <= model->context_count ? model->contexts[context].parent : 0;
}

uint32_t model_context_function(const struct model *model, uint32_t context)
{
	return context && context <= model->context_count ? model->contexts[context].function : 0;
}

/* Frames below a synchronising iteration are no units while it runs. */
static void raise_floor(struct model *model, struct thread *thread, uint32_t floor)
{
	if (thread->outer && thread->outer <= floor) {
		entire_not(model, thread);
		thread->outer = floor + 1;
	}
	for (uint32_t i = thread->floor; i < floor; i++)
		unit_close_all(model, &thread->frames[i].units, &thread->frames[i].serial);
	for (uint32_t i = 0; i < thread->bracket_count; i++)
		if (thread->brackets[i].depth <= floor && thread->brackets[i].rule != MODEL_RULE_DECLARED)
			unit_close_all(model, &thread->brackets[i].units, &thread->brackets[i].serial);
	thread->floor = floor;
}

/* A thread begins with the function: it is not meant to be atomic, also where it is called. */
static void no_unit_any_more(struct model *model, uint32_t function)
{
	routine_of(model, function)->starts = true;
	for (uint32_t t = 0; t < model->thread_count; t++)
		for (uint32_t i = 0; i < model->threads[t].depth; i++)
			if (model->threads[t].frames[i].function == function) {
				model->threads[t].frames[i].start = true;
				if (model->threads[t].outer == i + 1) {
					entire_not(model, &model->threads[t]);
					model->threads[t].outer = 0;
				}
				if (model->threads[t].frames[i].role != FRAME_OTHER)
					model->threads[t].frames[i].role = FRAME_INERT;
				unit_close_all(model, &model->threads[t].frames[i].units,
					       &model->threads[t].frames[i].serial);
			}
}

/* Is what is called at this level what the thread begins with? Main's thread begins with main. */
static bool begins_with(struct model *model, const struct thread *thread, uint32_t thread_index,
			uint32_t depth)
{
	const struct frame *caller = depth ? &thread->frames[depth - 1] : NULL;

	if (!thread_index)
		return false;
	return !caller || (caller->start && routine_of(model, caller->function)->passes_on);
}

/* An iteration that calls a job, whatever that does, is not meant to be one step with it: taking the job is
 * one, and what is done after it another. */
static void split_dispatcher(struct model *model, struct thread *thread, uint32_t depth)
{
	struct frame *iteration = &thread->frames[depth - 1];

	entire_not(model, thread);
	unit_close_all(model, &iteration->units, &iteration->serial);
	bracket_close(model, thread, depth);
}

/* What the function has seen so far is of no use to it any more; an iteration of a loop in it, neither. */
static void search_again(struct model *model, struct thread *thread, uint32_t depth)
{
	entire_not(model, thread);
	while (depth--) {
		struct frame *frame = &thread->frames[depth];
		const struct routine *routine = routine_of(model, frame->function);

		unit_close_all(model, &frame->units, &frame->serial);
		if (!routine->loop && !routine->argument)
			break;
	}
}

static enum frame_role role_of(const struct model *model, const struct routine *routine, bool start)
{
	if (routine->declared || routine->unitfor || routine->argument || model->everything ||
	    model->options.units != MODEL_UNITS_FUNCTIONS)
		return FRAME_OTHER;
	if (start || routine->seen_through ||
	    (routine->loop && (routine->walk || model->options.keep_loop_units)))
		return FRAME_INERT;
	return routine->loop ? FRAME_LOOP : FRAME_FUNCTION;
}

void unit_enter(struct model *model, uint32_t thread_index, uint32_t function, uint64_t receiver)
{
	struct thread *thread = unit_thread(model, thread_index);
	struct routine *routine = routine_of(model, function);

	notes_renumber(model);
	wholes_tidy(model);
	if (thread->depth == thread->frame_room) {
		thread->frame_room = thread->frame_room ? thread->frame_room * 2 : 16;
		thread->frames = mem_resize(thread->frames, thread->frame_room, sizeof(*thread->frames));
	}
	uint32_t depth = thread->depth++;
	bool begun_with = begins_with(model, thread, thread_index, depth) && !routine->loop;
	/* A loop of main or of a start function is as little of a unit as they are. */
	bool start = routine->is_main || routine->starts || begun_with ||
		     (routine->loop && depth && thread->frames[depth - 1].start);

	thread->frames[depth] = (struct frame){
		.function = function,
		.context = context_of(model, depth ? thread->frames[depth - 1].context : 0, function),
		.receiver = receiver,
		.objects = thread->object_count,
		.floor = thread->floor,
		.serial = ++model->serial,
		.entered = model->serial,
		.notes = thread->note_count,
		.lowest = UINT32_MAX,
		.jots = thread->jot_count,
		.lowest_jot = UINT32_MAX,
		.start = start,
		.role = (uint8_t)role_of(model, routine, start),
		.file = routine->file,
		.receiver_type = routine->receiver_type,
		.body = !routine->seen_through ? depth + 1
			: depth                ? thread->frames[depth - 1].body
					       : 0,
	};
	if (begun_with && !routine->starts)
		no_unit_any_more(model, function);
	if (model->options.entire)
		entire_entered(model, thread);
	if (routine->given && depth && routine_of(model, thread->frames[depth - 1].function)->dispatches &&
	    !model->options.keep_loop_units) {
		thread->frames[depth].job = true;
		split_dispatcher(model, thread, depth);
	}
	if (routine->receiver_type && receiver && thread->held_count)
		bracket_called(model, thread, depth);
	if (routine->loop && routine->synchronises && !routine->walk && !model->options.keep_loop_units)
		raise_floor(model, thread, depth);
	if (routine->waits) {
		entire_not(model, thread);
		unit_split(model, thread_index);
	}
	if (routine->again)
		search_again(model, thread, depth);
}

void unit_exit(struct model *model, uint32_t thread_index, uint32_t count)
{
	struct thread *thread = unit_thread(model, thread_index);

	for (; count && thread->depth; count--) {
		struct frame *frame = &thread->frames[--thread->depth];

		if (thread->outer > thread->depth) {
			entire_settle(model, thread);
			thread->outer = 0;
		}
		if (frame->units)
			unit_close_all(model, &frame->units, &frame->serial);
		if (thread->bracket_count)
			bracket_left(model, thread);
		notes_left(thread, thread->depth);
		jots_left(thread, thread->depth);
		while (thread->object_count > frame->objects) {
			uint64_t address = thread->objects[--thread->object_count];
			const struct memory_block *block = memory_block_at(&model->memory, address);

			if (block) {
				set_forget(model, address, block->size);
				memory_block_remove(&model->memory, address);
			}
		}
		thread->floor = frame->floor;
		if (frame->job)
			split_dispatcher(model, thread, thread->depth);
	}
}

void unit_split(struct model *model, uint32_t thread_index)
{
	struct thread *thread = unit_thread(model, thread_index);

	for (uint32_t i = 0; i < thread->depth; i++)
		unit_close_all(model, &thread->frames[i].units, &thread->frames[i].serial);
	for (uint32_t i = 0; i < thread->bracket_count; i++)
		unit_close_all(model, &thread->brackets[i].units, &thread->brackets[i].serial);
}

uint32_t unit_gave_back(struct model *model, struct thread *thread, uint64_t since)
{
	uint32_t outermost = UINT32_MAX;

	for (uint32_t i = thread->depth; i-- > 0 && thread->frames[i].entered > since;) {
		struct frame *frame = &thread->frames[i];

		if (routine_of(model, frame->function)->declared)
			continue;
		unit_close_all(model, &frame->units, &frame->serial);
		outermost = i;
	}
	if (outermost != UINT32_MAX)
		bracket_close(model, thread, outermost + 1);
	return outermost;
}

void unit_synchronises(struct model *model, uint32_t thread_index)
{
	struct thread *thread = unit_thread(model, thread_index);

	for (uint32_t i = 0; i < thread->depth; i++) {
		struct routine *routine = routine_of(model, thread->frames[i].function);

		if (!routine->loop)
			continue;
		routine->synchronises = true;
		/* What is below the floor is no unit already. An iteration above it was entered before
		 * anybody knew, be it that another thread was the first to take a lock in this loop. */
		if (routine->walk || model->options.keep_loop_units || i <= thread->floor)
			continue;
		raise_floor(model, thread, i);
		/* Those above remember the floor that is theirs to go back to. */
		for (uint32_t k = i + 1; k < thread->depth; k++)
			if (thread->frames[k].floor < i)
				thread->frames[k].floor = i;
	}
}

void unit_object(struct model *model, uint32_t thread_index, uint64_t address, uint64_t size, uint32_t site)
{
	struct thread *thread = unit_thread(model, thread_index);

	set_forget(model, address, size);
	if (!size)
		return;
	memory_block_add(&model->memory, address, size, site, MEMORY_STACK);
	/* Iterations of a loop may be one frame, and each has the object anew. */
	for (uint32_t i = thread->depth ? thread->frames[thread->depth - 1].objects : 0;
	     i < thread->object_count; i++)
		if (thread->objects[i] == address)
			return;
	if (thread->object_count == thread->object_room) {
		thread->object_room = thread->object_room ? thread->object_room * 2 : 16;
		thread->objects = mem_resize(thread->objects, thread->object_room, sizeof(*thread->objects));
	}
	thread->objects[thread->object_count++] = address;
}
