/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which of the open calls an access belongs to. An access to a set belongs to the
 * top-most open call that is declared on the set. Declared on it is
 *
 *   - a function whose receiver belongs to the set, or holds it (owners.c);
 *   - a function, for the variables of its file;
 *   - what the user declares;
 *   - if none of these is open, the function that makes the access.
 */
#include "model/inside.h"
#include "model/spec.h"

static uint32_t receiver_look_up(struct model *model, struct frame *frame)
{
	const struct routine *routine = routine_of(model, frame->function);

	frame->receiver_own = instance_get(model, frame->receiver);
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

static inline uint32_t receiver_root(struct model *model, struct frame *frame)
{
	/* A set that is freed loses its key. */
	if (frame->receiver_own && model->sets[frame->receiver_own].key == frame->receiver)
		return set_root(model, frame->receiver_own);
	if (frame->receiver_set && frame->receiver_turn == model->turn)
		return frame->receiver_set;
	return receiver_look_up(model, frame);
}

/* Does the receiver belong to the holder of the set? */
static bool holds(struct model *model, struct frame *frame, const struct whole *set)
{
	uint32_t holder = set->holder ? instance_get(model, set->holder) : 0;

	return holder && receiver_root(model, frame) == set_root(model, holder);
}

/* Why a function is a unit by its receiver; NONE if it is not. */
static inline enum model_rule by_receiver(struct model *model, struct frame *frame, uint32_t root)
{
	if (!frame->receiver)
		return MODEL_RULE_NONE;
	if (receiver_root(model, frame) == root)
		return MODEL_RULE_RECEIVER;
	return __builtin_expect(set_whole(model, root)->holder != 0, 0) &&
			       holds(model, frame, set_whole(model, root))
		       ? MODEL_RULE_HOLDER
		       : MODEL_RULE_NONE;
}

/* Are the set's data variables of the frame's file? An object that is a variable is the file's, for those who
 * use it by its name. */
static inline bool of_file(const struct model *model, const struct frame *frame, const struct whole *set)
{
	return set->face.name == frame->file &&
	       (set->face.kind == SET_FILE || set->face.kind == SET_VARIABLE ||
		(set->face.variable && model->by_name));
}

/* Why the frame is a unit for the set before anybody accesses it; NONE if it is not. */
static enum model_rule declared_look_up(struct model *model, uint32_t thread, struct frame *frame,
					uint32_t root)
{
	struct routine *routine = routine_of(model, frame->function);
	const struct whole *set = set_whole(model, root);
	enum model_rule rule;

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
			return frame > model->threads[thread].frames &&
					       !routine_of(model, frame[-1].function)->seen_through &&
					       by_receiver(model, frame, root)
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
		if ((rule = by_receiver(model, frame, root)))
			return routine->loop ? MODEL_RULE_LOOP : rule;
		if (of_file(model, frame, set))
			return routine->loop ? MODEL_RULE_LOOP : MODEL_RULE_FILE;
		return MODEL_RULE_NONE;
	case MODEL_UNITS_LOOPS:
		return routine->loop ? MODEL_RULE_LOOP : MODEL_RULE_NONE;
	default:
		return MODEL_RULE_NONE;
	}
}

static inline enum model_rule declared_on(struct model *model, uint32_t thread, struct frame *frame,
					  uint32_t root)
{
	enum model_rule rule;

	switch (frame->role) {
	case FRAME_INERT:
		return MODEL_RULE_NONE;
	case FRAME_FUNCTION:
		if ((rule = by_receiver(model, frame, root)))
			return rule;
		return of_file(model, frame, set_whole(model, root)) ? MODEL_RULE_FILE : MODEL_RULE_NONE;
	default:
		return declared_look_up(model, thread, frame, root);
	}
}

static uint32_t depth_of(const struct thread *thread)
{
	return thread->within ? thread->within : thread->depth;
}

/* The frame that becomes a unit because its own code accesses the set; UINT32_MAX: none. */
static uint32_t accessor_of(struct model *model, const struct thread *thread)
{
	for (uint32_t i = depth_of(thread); i-- > thread->floor;) {
		const struct frame *frame = &thread->frames[i];
		struct routine *routine;

		if (frame->role == FRAME_FUNCTION)
			return i;
		routine = routine_of(model, frame->function);
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
	uint32_t bracket = 0, depth = depth_of(thread), frame;

	for (uint32_t i = 0; i <= depth; i++) {
		/* A bracket stands between the frames that were open when it began and the later ones. */
		for (; bracket < thread->bracket_count && thread->brackets[bracket].depth <= i; bracket++)
			if (bracket_on(model, thread, bracket, root)) {
				*why = thread->brackets[bracket].rule;
				return bracket | UNIT_BRACKET;
			}
		if (i == depth)
			break;
		if (i < thread->floor && (thread->frames[i].role != FRAME_OTHER ||
					  !routine_of(model, thread->frames[i].function)->declared))
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
