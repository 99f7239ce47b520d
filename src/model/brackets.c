/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units that are no calls. What the program declares between two operations is
 * one, whatever it accesses; so is a critical section, if the user says so.
 *
 * Without being told, a critical section is a unit for an object on which its
 * function calls others several times: print_line(w) holds the writer's lock, and
 * writes to w->stream first the text and then the end of the line. Each of the two
 * is a unit of the stream by itself; that a lock is held over both says that they
 * are meant to be one. This takes that the object is reached through a pointer
 * member of the function's receiver, which the compiler tells (pass/calls_on.c).
 * A counter that the whole program increments is not, and may be incremented twice.
 */
#include "model/inside.h"

static struct bracket *bracket_new(struct thread *thread)
{
	if (thread->bracket_count == thread->bracket_room) {
		thread->bracket_room = thread->bracket_room ? thread->bracket_room * 2 : 4;
		thread->brackets =
			mem_resize(thread->brackets, thread->bracket_room, sizeof(*thread->brackets));
	}
	return &thread->brackets[thread->bracket_count++];
}

void bracket_begin(struct model *model, uint32_t thread_index, uint64_t name, uint32_t rule)
{
	struct thread *thread = unit_thread(model, thread_index);

	*bracket_new(thread) = (struct bracket){.depth = thread->depth,
						.context = unit_context(thread),
						.rule = rule,
						.name = name,
						.serial = ++model->serial};
}

static void end(struct model *model, struct bracket *bracket)
{
	unit_close_all(model, &bracket->units, &bracket->serial);
	bracket->rule = MODEL_RULE_NONE;
}

/* Those that have ended keep their place until all later ones have, too. */
static void give_back(struct thread *thread)
{
	while (thread->bracket_count && !thread->brackets[thread->bracket_count - 1].rule)
		thread->bracket_count--;
}

void bracket_end(struct model *model, uint32_t thread_index, uint64_t name)
{
	struct thread *thread = unit_thread(model, thread_index);

	/* The latest of this name; brackets need not be well nested. */
	for (uint32_t i = thread->bracket_count; i-- > 0;) {
		struct bracket *bracket = &thread->brackets[i];

		if (bracket->name != name || bracket->rule == MODEL_RULE_CALLS)
			continue;
		end(model, bracket);
		break;
	}
	give_back(thread);
}

bool bracket_on(struct model *model, const struct thread *thread, uint32_t index, uint32_t root)
{
	const struct bracket *bracket = &thread->brackets[index];

	if (bracket->rule != MODEL_RULE_CALLS)
		return bracket->rule != MODEL_RULE_NONE;
	/* An iteration further in may be the unit by now. */
	return bracket->depth > thread->floor &&
	       set_of_receiver(model, bracket->object, bracket->type, false) == root;
}

/* The first lock that was taken after the call began; NULL: none is held. */
static const struct held_lock *lock_of(const struct thread *thread, const struct frame *frame)
{
	for (uint32_t i = 0; i < thread->held_count; i++)
		if (thread->held[i].since > frame->entered)
			return &thread->held[i];
	return NULL;
}

void bracket_called(struct model *model, struct thread *thread, uint32_t depth)
{
	const struct frame *called = &thread->frames[depth];
	const struct routine *callee = routine_of(model, called->function), *routine;
	const struct held_lock *lock;
	uint32_t caller = depth, inside;

	if (callee->loop || callee->argument || model->options.units != MODEL_UNITS_FUNCTIONS)
		return;
	/* Iterations and further parameters are the caller's own. */
	do {
		if (!caller--)
			return;
		routine = routine_of(model, thread->frames[caller].function);
	} while (routine->loop || routine->argument);
	if (!routine->calls_on || routine->seen_through || thread->frames[caller].start ||
	    !map_get(&model->calls_on,
		     (uint64_t)thread->frames[caller].function << 16 | callee->receiver_type))
		return;
	lock = lock_of(thread, &thread->frames[caller]);
	if (!lock || called->receiver == thread->frames[caller].receiver)
		return;
	for (uint32_t i = 0; i < thread->bracket_count; i++)
		if (thread->brackets[i].rule == MODEL_RULE_CALLS &&
		    thread->brackets[i].name == lock->address &&
		    thread->brackets[i].object == called->receiver)
			return;
	/* The iteration that took the lock has the critical section, if it is one that did. */
	for (inside = depth; thread->frames[inside - 1].entered > lock->since; inside--)
		;
	*bracket_new(thread) = (struct bracket){.depth = inside,
						.context = thread->frames[caller].context,
						.rule = MODEL_RULE_CALLS,
						.type = callee->receiver_type,
						.name = lock->address,
						.object = called->receiver,
						.serial = ++model->serial};
}

void bracket_unlocked(struct model *model, struct thread *thread, uint64_t lock)
{
	for (uint32_t i = 0; i < thread->bracket_count; i++)
		if (thread->brackets[i].rule == MODEL_RULE_CALLS && thread->brackets[i].name == lock)
			end(model, &thread->brackets[i]);
	give_back(thread);
}

void bracket_left(struct model *model, struct thread *thread)
{
	for (uint32_t i = 0; i < thread->bracket_count; i++)
		if (thread->brackets[i].rule == MODEL_RULE_CALLS && thread->brackets[i].depth > thread->depth)
			end(model, &thread->brackets[i]);
	give_back(thread);
}

void bracket_close(struct model *model, struct thread *thread, uint32_t depth)
{
	for (uint32_t i = 0; i < thread->bracket_count; i++)
		if (thread->brackets[i].rule == MODEL_RULE_CALLS && thread->brackets[i].depth >= depth)
			unit_close_all(model, &thread->brackets[i].units, &thread->brackets[i].serial);
}
