/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units of work: the functions that a thread has open, and which of them an
 * access belongs to. An access to a set belongs to the top-most open call that
 * is declared on the set. Declared on it is
 *
 *   - a function whose receiver belongs to the set;
 *   - a function, for the variables of its file;
 *   - what the user declares;
 *   - if none of these is open, the function that makes the access.
 *
 * No units are main, the function that a thread begins with, plain getters and
 * setters. Where a loop takes locks in its iterations and is no walk over data
 * (a worker, an event loop), its iterations take the place of everything around.
 */
#include "model/inside.h"
#include "model/spec.h"

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

static uint32_t *list_of(struct thread *thread, uint32_t frame)
{
	return frame & UNIT_BRACKET ? &thread->brackets[frame & ~UNIT_BRACKET].units
				    : &thread->frames[frame].units;
}

/* Takes it out of everything but its frame's list. */
static void close_unit(struct model *model, uint32_t index)
{
	struct open_unit *unit = &model->units[index];
	struct set *set = &model->sets[unit->set];
	uint32_t root = unit->set;

	private_end(model, index);
	model->sink.unit_end(model->sink.user, unit->handle);
	map_remove(&model->threads[unit->thread].open, root);
	if (unit->previous_in_set)
		model->units[unit->previous_in_set].next_in_set = unit->next_in_set;
	else
		set->open = unit->next_in_set;
	if (unit->next_in_set)
		model->units[unit->next_in_set].previous_in_set = unit->previous_in_set;
	if (set->cached_unit == index)
		set->cached_unit = 0;
	unit->next_in_frame = model->unit_free;
	model->unit_free = index;
	if (set->reading && !set->open)
		private_alone(model, root);
	if (model->quiet && !set->open)
		set->loud = !model->sink.set_quiet(model->sink.user, set->handle);
	set_unit_gone(model, root);
}

void unit_close_all(struct model *model, uint32_t *list, uint64_t *serial)
{
	uint32_t index = *list;

	*serial = ++model->serial;
	*list = 0;
	while (index) {
		uint32_t next = model->units[index].next_in_frame;

		close_unit(model, index);
		index = next;
	}
}

static void unlink_from_frame(struct model *model, uint32_t index)
{
	struct open_unit *unit = &model->units[index];
	uint32_t *link = list_of(&model->threads[unit->thread], unit->frame);

	while (*link != index)
		link = &model->units[*link].next_in_frame;
	*link = unit->next_in_frame;
}

void unit_end(struct model *model, uint32_t index)
{
	unlink_from_frame(model, index);
	close_unit(model, index);
}

uint32_t unit_open(struct model *model, uint32_t thread_index, uint32_t frame, uint32_t root, uint32_t rule,
		   uint64_t begin)
{
	struct thread *thread = &model->threads[thread_index];
	uint32_t index = model->unit_free, *list = list_of(thread, frame);
	struct set *set = &model->sets[root];

	if (index) {
		model->unit_free = model->units[index].next_in_frame;
	} else {
		if (model->unit_count + 1 >= model->unit_room) {
			model->unit_room = model->unit_room ? model->unit_room * 2 : 64;
			model->units = mem_resize(model->units, model->unit_room, sizeof(*model->units));
		}
		index = ++model->unit_count;
	}
	struct model_unit tag = {
		.thread = thread_index,
		.context = frame & UNIT_BRACKET ? thread->brackets[frame & ~UNIT_BRACKET].context
						: thread->frames[frame].context,
		.rule = rule,
		.set = set->handle,
		.begin = begin,
	};
	model->units[index] = (struct open_unit){
		.set = root,
		.handle = model->sink.unit_begin(model->sink.user, &tag),
		.thread = thread_index,
		.frame = frame,
		.next_in_frame = *list,
		.next_in_set = set->open,
		.iteration = rule == MODEL_RULE_LOOP,
		.log = notes_begin(model, frame),
	};
	if (set->open)
		model->units[set->open].previous_in_set = index;
	*list = index;
	set->open = index;
	map_set(&thread->open, root, index);
	set->loud = true;
	return index;
}

void unit_merge(struct model *model, uint32_t from, uint32_t to)
{
	struct set *source = &model->sets[from], *target = &model->sets[to];

	source->cached_unit = target->cached_unit = 0;
	if (source->reading)
		private_tell_all(model, from);
	while (source->open) {
		uint32_t index = source->open;
		struct open_unit *unit = &model->units[index];
		struct thread *thread = &model->threads[unit->thread];
		uint32_t other = map_get(&thread->open, to);

		if (other)
			private_end(model, index);
		else
			notes_move(model, unit->thread, &unit->log, to);
		map_remove(&thread->open, from);
		source->open = unit->next_in_set;
		if (other) {
			/* One call is one unit; of two the top-most is, from now on. */
			if (model->units[other].frame == unit->frame && model->sink.unit_merge)
				model->sink.unit_merge(model->sink.user, unit->handle,
						       model->units[other].handle);
			else
				model->sink.unit_end(model->sink.user, unit->handle);
			unlink_from_frame(model, index);
			unit->next_in_frame = model->unit_free;
			model->unit_free = index;
			continue;
		}
		unit->set = to;
		unit->previous_in_set = 0;
		unit->next_in_set = target->open;
		if (target->open)
			model->units[target->open].previous_in_set = index;
		target->open = index;
		map_set(&thread->open, to, index);
	}
}

/* Frames below a synchronising iteration are no units while it runs. */
static void raise_floor(struct model *model, struct thread *thread, uint32_t floor)
{
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

	unit_close_all(model, &iteration->units, &iteration->serial);
	bracket_close(model, thread, depth);
}

void unit_enter(struct model *model, uint32_t thread_index, uint32_t function, uint64_t receiver)
{
	struct thread *thread = unit_thread(model, thread_index);
	struct routine *routine = routine_of(model, function);

	notes_renumber(model);
	if (thread->depth == thread->frame_room) {
		thread->frame_room = thread->frame_room ? thread->frame_room * 2 : 16;
		thread->frames = mem_resize(thread->frames, thread->frame_room, sizeof(*thread->frames));
	}
	uint32_t depth = thread->depth++;
	bool begun_with = begins_with(model, thread, thread_index, depth) && !routine->loop;

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
		/* A loop of main or of a start function is as little of a unit as they are. */
		.start = routine->is_main || routine->starts || begun_with ||
			 (routine->loop && depth && thread->frames[depth - 1].start),
	};
	if (begun_with && !routine->starts)
		no_unit_any_more(model, function);
	if (routine->given && depth && routine_of(model, thread->frames[depth - 1].function)->dispatches &&
	    !model->options.keep_loop_units) {
		thread->frames[depth].job = true;
		split_dispatcher(model, thread, depth);
	}
	if (routine->receiver_type && receiver && thread->held_count)
		bracket_called(model, thread, depth);
	if (routine->loop && routine->synchronises && !routine->walk && !model->options.keep_loop_units)
		raise_floor(model, thread, depth);
	if (routine->waits)
		unit_split(model, thread_index);
}

void unit_exit(struct model *model, uint32_t thread_index, uint32_t count)
{
	struct thread *thread = unit_thread(model, thread_index);

	for (; count && thread->depth; count--) {
		struct frame *frame = &thread->frames[--thread->depth];

		if (frame->units)
			unit_close_all(model, &frame->units, &frame->serial);
		if (thread->bracket_count)
			bracket_left(model, thread);
		notes_left(thread, thread->depth);
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

struct frame *unit_frame(struct model *model, struct thread *thread)
{
	for (uint32_t i = thread->depth; i-- > 0;)
		if (!routine_of(model, thread->frames[i].function)->seen_through)
			return &thread->frames[i];
	return NULL;
}

static uint32_t receiver_root(struct model *model, struct frame *frame, const struct routine *routine)
{
	/* A set that is freed loses its key. */
	if (frame->receiver_own && model->sets[frame->receiver_own].key == frame->receiver)
		return set_root(model, frame->receiver_own);
	if (frame->receiver_set && frame->receiver_turn == model->turn)
		return frame->receiver_set;
	frame->receiver_own = map_get(&model->instances, frame->receiver);
	if (frame->receiver_own)
		return set_root(model, frame->receiver_own);
	frame->receiver_turn = model->turn;
	frame->receiver_set = set_of_receiver(model, frame->receiver, routine->receiver_type, false);
	if (!frame->receiver_set) {
		/* Nobody has touched it yet, and the user says what it belongs to. */
		uint32_t merged =
			routine->merged ? routine->merged : set_merged_variable(model, frame->receiver);

		frame->receiver_set = merged ? set_of_group(model, merged) : 0;
	}
	return frame->receiver_set;
}

/* Why the frame is a unit for the set before anybody accesses it; NONE if it is not. */
static enum model_rule declared_on(struct model *model, uint32_t thread, struct frame *frame, uint32_t root)
{
	struct routine *routine = routine_of(model, frame->function);
	struct set *set = &model->sets[root];

	if (routine->declared)
		return MODEL_RULE_DECLARED;
	if (routine->unitfor && set->face.type && model->options.spec) {
		struct trace_function function;

		if (trace_function(model->trace, frame->function, &function, NULL) >= 0 && function.name &&
		    spec_unitfor(model->options.spec, function.name, function.linkage_name,
				 nametable_name(&model->types, set->face.type - 1u)))
			return MODEL_RULE_UNITFOR;
	}
	if (frame->start)
		return MODEL_RULE_NONE;
	switch (model->options.units) {
	case MODEL_UNITS_FUNCTIONS:
		/* Not of a function that is no unit itself. */
		if (routine->argument)
			return frame > model->threads[thread].frames && frame->receiver &&
					       !routine_of(model, frame[-1].function)->seen_through &&
					       receiver_root(model, frame, routine) == root
				       ? MODEL_RULE_ARGUMENT
				       : MODEL_RULE_NONE;
		if (routine->seen_through)
			return MODEL_RULE_NONE;
		if (routine->loop &&
		    (!routine->synchronises || routine->walk || model->options.keep_loop_units))
			return MODEL_RULE_NONE;
		/* With everything in one set, whatever is done is done to that. */
		if (model->everything)
			return routine->loop ? MODEL_RULE_LOOP : MODEL_RULE_DIRECT;
		if (frame->receiver && receiver_root(model, frame, routine) == root)
			return routine->loop ? MODEL_RULE_LOOP : MODEL_RULE_RECEIVER;
		/* An object that is a variable is the file's, for those who use it by its name. */
		if ((set->face.kind == SET_FILE || set->face.kind == SET_VARIABLE ||
		     (set->face.variable && model->by_name)) &&
		    set->face.name == routine->file)
			return routine->loop ? MODEL_RULE_LOOP : MODEL_RULE_FILE;
		return MODEL_RULE_NONE;
	case MODEL_UNITS_LOOPS:
		return routine->loop ? MODEL_RULE_LOOP : MODEL_RULE_NONE;
	default:
		return MODEL_RULE_NONE;
	}
}

/* The frame that becomes a unit because its own code accesses the set; UINT32_MAX: none. */
static uint32_t accessor_of(struct model *model, const struct thread *thread)
{
	for (uint32_t i = thread->depth; i-- > thread->floor;) {
		const struct frame *frame = &thread->frames[i];
		struct routine *routine = routine_of(model, frame->function);

		if (routine->seen_through)
			continue;
		if (routine->loop) {
			if (routine->synchronises && !routine->walk && !model->options.keep_loop_units)
				return i;
			continue;
		}
		return frame->start ? UINT32_MAX : i;
	}
	return UINT32_MAX;
}

uint32_t unit_choose(struct model *model, uint32_t thread_index, uint32_t root, uint32_t *why)
{
	struct thread *thread = &model->threads[thread_index];
	uint32_t bracket = 0, frame;

	for (uint32_t i = 0; i <= thread->depth; i++) {
		/* A bracket stands between the frames that were open when it began and the later ones. */
		for (; bracket < thread->bracket_count && thread->brackets[bracket].depth <= i; bracket++)
			if (bracket_on(model, thread, bracket, root)) {
				*why = thread->brackets[bracket].rule;
				return bracket | UNIT_BRACKET;
			}
		if (i == thread->depth)
			break;
		if (i < thread->floor && !routine_of(model, thread->frames[i].function)->declared)
			continue;
		if ((*why = declared_on(model, thread_index, &thread->frames[i], root)))
			return i;
	}
	if (model->options.units != MODEL_UNITS_FUNCTIONS)
		return UINT32_MAX;
	frame = accessor_of(model, thread);
	if (frame != UINT32_MAX)
		*why = routine_of(model, thread->frames[frame].function)->loop ? MODEL_RULE_LOOP
									       : MODEL_RULE_DIRECT;
	return frame;
}

uint32_t unit_look_up(struct model *model, uint32_t thread_index, uint32_t root)
{
	uint32_t index = map_get(&model->threads[thread_index].open, root);

	if (!index) {
		uint32_t rule, frame = unit_choose(model, thread_index, root, &rule);

		if (frame == UINT32_MAX)
			return MODEL_NO_UNIT;
		index = unit_open(model, thread_index, frame, root, rule, model->time);
		model->stats.units++;
	}
	model->sets[root].cached_thread = thread_index;
	model->sets[root].cached_unit = index;
	return model->units[index].handle;
}

bool unit_remembers_enough(const struct model *model, uint32_t root)
{
	return model->units[model->sets[root].cached_unit].reads == UNIT_REMEMBERED;
}

bool unit_reads_again(struct model *model, uint32_t root, uint64_t address)
{
	struct open_unit *unit = &model->units[model->sets[root].cached_unit];

	if (!unit->iteration)
		return false;
	for (unsigned i = 0; i < UNIT_REMEMBERED && i < unit->reads; i++)
		if (unit->read[i] == address)
			return true;
	if (unit->reads < UNIT_REMEMBERED)
		unit->read[unit->reads++] = address;
	return false;
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
	if (thread->object_count == thread->object_room) {
		thread->object_room = thread->object_room ? thread->object_room * 2 : 16;
		thread->objects = mem_resize(thread->objects, thread->object_room, sizeof(*thread->objects));
	}
	thread->objects[thread->object_count++] = address;
}

bool unit_cursor_user(struct model *model, struct thread *thread, uint64_t object, uint32_t root)
{
	uint32_t thread_index = (uint32_t)(thread - model->threads);
	uint32_t i = thread->depth, k = thread->object_count;

	while (k && thread->objects[k - 1] != object)
		k--;
	if (!k--)
		return false;
	while (i && thread->frames[i - 1].objects > k)
		i--;
	if (!i-- || thread->frames[i].start)
		return false;
	if (routine_of(model, thread->frames[i].function)->seen_through)
		return true;
	if (model->options.units != MODEL_UNITS_FUNCTIONS || i < thread->floor ||
	    map_get(&thread->open, root) || quiet_noted(model, root, thread_index))
		return true;
	/* Somebody further out may be declared on the container already. */
	for (uint32_t outer = thread->floor; outer < i; outer++)
		if (declared_on(model, thread_index, &thread->frames[outer], root))
			return true;
	if (!model->quiet || !quiet_begin(model, thread_index, i, root, MODEL_RULE_DIRECT)) {
		unit_open(model, thread_index, i, root, MODEL_RULE_DIRECT, model->time);
		model->stats.units++;
	}
	return true;
}
