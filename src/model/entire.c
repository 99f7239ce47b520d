/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Outermost calls that are one unit. Of a call that is a unit for all that is done
 * in it, the calls further in tell nothing: what they access has been accessed by the
 * unit, or is told for the first time. A program that runs beside its checker need
 * not tell the rest (rt/entire.h), so it is told which functions are like that:
 * those in whose outermost calls many others were made and no unit was ever further in,
 * nor did anything end the units while it lasted but an operation. If that turns out
 * to be wrong it is taken back, and takes twice as many the next time.
 */
#include "model/inside.h"
#include "model/jots_inl.h"

enum { ENOUGH = 1 << 10, MOST = 1 << 30 };

static void say(struct model *model, uint32_t function, bool entire)
{
	uint64_t bit = 1ull << function % 64, *word;

	if (function >= model->options.entire_count)
		return;
	word = &model->options.entire[function / 64];
	/* Read by the program, which need not know of anything else. */
	if (entire)
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
}

void entire_entered(struct model *model, struct thread *thread)
{
	const struct frame *frame = &thread->frames[thread->depth - 1];
	struct routine *routine;

	if (!thread->outer) {
		if (!frame->start)
			thread->outer = thread->depth;
		return;
	}
	frame = &thread->frames[thread->outer - 1];
	routine = routine_of(model, frame->function);
	if (!routine->inner_enough)
		routine->inner_enough = ENOUGH;
	if (routine->inner < routine->inner_enough && ++routine->inner == routine->inner_enough)
		say(model, frame->function, true);
}

void entire_not(struct model *model, struct thread *thread)
{
	uint32_t function;
	struct routine *routine;

	thread->doubt_count = 0;
	if (!model->options.entire || !thread->outer)
		return;
	function = thread->frames[thread->outer - 1].function;
	routine = routine_of(model, function);
	if (routine->inner && routine->inner_enough < MOST)
		routine->inner_enough *= 2;
	routine->inner = 0;
	say(model, function, false);
}

/* Is it on the thread's own stack, in a call that is open? Whose unit that is is nobody's concern. */
static bool on_stack(struct model *model, const struct thread *thread, uint32_t root)
{
	const struct memory_block *block = memory_block_of(&model->memory, model->sets[root].key);

	if (!block || block->kind != MEMORY_STACK)
		return false;
	for (uint32_t i = thread->object_count; i--;)
		if (thread->objects[i] == block->start)
			return true;
	return false;
}

/* A set that was nobody's part when the unit began, and is still none. */
static bool is_apart(const struct model *model, const struct doubt *doubt)
{
	const struct set *set = &model->sets[doubt->set];

	return set->root == doubt->set && set->key == doubt->key;
}

void entire_settle(struct model *model, struct thread *thread)
{
	while (thread->doubt_count)
		if (is_apart(model, &thread->doubts[--thread->doubt_count]))
			entire_not(model, thread);
}

/* Those that were settled by what came since make room. */
static bool has_room(const struct model *model, struct thread *thread)
{
	uint32_t left = 0;

	if (thread->doubt_count < THREAD_DOUBTS)
		return true;
	for (uint32_t i = 0; i < THREAD_DOUBTS; i++)
		if (is_apart(model, &thread->doubts[i]))
			thread->doubts[left++] = thread->doubts[i];
	thread->doubt_count = left;
	return left < THREAD_DOUBTS;
}

/* An element of an array goes the way of its neighbours. */
static bool goes_with(struct model *model, uint32_t root)
{
	const struct set *set = &model->sets[root];
	uint64_t size = set->kind == SET_INSTANCE
				? map_get(&model->type_sizes, set_whole(model, root)->face.type)
				: 0;
	uint32_t before = size ? instance_get(model, set->key - size) : 0;
	uint32_t after = size ? instance_get(model, set->key + size) : 0;

	return (before && set_root(model, before) != before) || (after && set_root(model, after) != after);
}

/* What an object belongs to mostly shows a moment after somebody came to it for the first time. */
void entire_doubt(struct model *model, struct thread *thread, uint32_t root)
{
	if (on_stack(model, thread, root) || goes_with(model, root))
		return;
	if (!has_room(model, thread)) {
		entire_not(model, thread);
		return;
	}
	thread->doubts[thread->doubt_count++] = (struct doubt){.set = root, .key = model->sets[root].key};
}

/*
 * The call that is one unit did this some time ago. What it was done to, its place in
 * the other thread's code tells; where it was done nobody knows any more.
 */
void entire_touched(struct model *model, const struct trace_event *event)
{
	/* A damaged trace may name any. */
	struct thread *thread = event->value < model->thread_count ? &model->threads[event->value] : NULL;
	struct place *place = place_of(model, event->site);
	const unsigned bytes[] = {event->other & 0xff, event->other >> 8 & 0xff};

	if (!thread || !thread->outer || place->left_out)
		return;
	thread->within = thread->outer;
	jots_look_again(model);
	model->by_name = place->base_kind == ATOMSAN_BASE_GLOBAL;
	for (unsigned write = 0; write < 2; write++)
		for (unsigned from = 0, to; from < 8; from = to + 1) {
			for (to = from; to < 8 && bytes[write] >> to & 1; to++)
				;
			if (to == from)
				continue;
			struct accessor who = {.address = event->address + from,
					       .size = to - from,
					       .thread = (uint32_t)event->value,
					       .site = event->site | MODEL_SOMEWHERE,
					       .context = thread->frames[thread->outer - 1].context,
					       .time = model->time,
					       .reads = !write,
					       .writes = write,
					       .shown_by = event->thread + 1};

			access_piece(model, place, &who, event->address + from, event->address + to);
			if (model->alone_count)
				access_end(model);
		}
	thread->within = 0;
}
