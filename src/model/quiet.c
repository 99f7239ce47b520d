/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units that nobody meets. Data changes hands under locks, so most units are
 * the only ones on their set from their first access to their end. To an engine
 * such a unit is nothing: no edge leads to it, so when it ends it is forgotten,
 * and all it touched with it. Telling the engine of it is most of the work.
 *
 * So a set on which no unit matters is *quiet*, and a unit on it is noted down:
 * in the set, which call it is; in its thread, what it accessed. Ending it is
 * leaving the call. If another thread comes to the set while the call is open,
 * the sink is told what was noted, in order, and the set is *loud* until the
 * sink says that no unit on it matters any more. What the sink hears is what it
 * would have heard of units that can be on a cycle; single accesses to a quiet
 * set leave nothing behind and are not told at all. As long as they only read,
 * several units are as good as one: a set has either any number of noted units
 * that only read, or one.
 *
 * A frame has a serial number, and another one when its units are to end though
 * it stays (unit_split). A note counts while the frame has its serial. Notes
 * are a stack beside the frames: a frame that is left takes its notes along
 * unless a unit further out has some among them, which the lowest *level* tells:
 * frame i is on level i + 1, and brackets, which go with no frame, on 0.
 */
#include "model/inside.h"

/* Notes of a thread: from how many on the dead are dropped, those that say nothing new, too, and all told.
 * A test has other numbers. */
#ifndef QUIET_LIMITS
#define QUIET_LIMITS FIRST_LIMIT = 1 << 12, REPEATED_LIMIT = 1 << 18, LAST_LIMIT = 1 << 22
#endif
enum { QUIET_LIMITS, MUCH = 64 };

static uint32_t level_of(uint32_t frame)
{
	return frame & UNIT_BRACKET ? 0 : frame + 1;
}

void quiet_left(struct thread *thread, uint32_t index)
{
	const struct frame *frame = &thread->frames[index];

	if (frame->lowest > index)
		thread->note_count = frame->notes;
	else if (index && thread->frames[index - 1].lowest > frame->lowest)
		thread->frames[index - 1].lowest = frame->lowest;
}

static struct noted *noted_at(struct model *model, uint32_t index)
{
	return index ? &model->noted[index] : NULL;
}

struct noted *quiet_noted(struct model *model, uint32_t root, uint32_t thread)
{
	struct noted *noted = &model->sets[root].noted;

	for (; noted; noted = noted_at(model, noted->next))
		if (noted->thread == thread && quiet_open(model, noted))
			return noted;
	return NULL;
}

/* Is a unit of another thread noted down, one that writes or any? */
static bool others(struct model *model, uint32_t root, uint32_t thread, bool writing)
{
	struct noted *noted = &model->sets[root].noted;

	for (; noted; noted = noted_at(model, noted->next))
		if (noted->thread != thread && (noted->writes || !writing) && quiet_open(model, noted))
			return true;
	return false;
}

/* A place for one more unit on the set: that of one which has ended, or a new one. */
static struct noted *noted_new(struct model *model, uint32_t root)
{
	struct noted *first = &model->sets[root].noted, *noted = first;
	uint32_t index;

	for (; noted; noted = noted_at(model, noted->next))
		if (!quiet_open(model, noted))
			return noted;
	index = model->noted_free;
	if (index) {
		model->noted_free = model->noted[index].next;
	} else {
		if (model->noted_count + 1 >= model->noted_room) {
			model->noted_room = model->noted_room ? model->noted_room * 2 : 64;
			model->noted = mem_resize(model->noted, model->noted_room, sizeof(*model->noted));
		}
		index = ++model->noted_count;
	}
	model->noted[index].next = first->next;
	first->next = index;
	return &model->noted[index];
}

void quiet_drop(struct model *model, struct set *set)
{
	uint32_t index = set->noted.next;

	while (index) {
		uint32_t next = model->noted[index].next;

		model->noted[index].next = model->noted_free;
		model->noted_free = index;
		index = next;
	}
	set->noted = (struct noted){0};
}

static uint64_t first_byte(const struct note *note)
{
	return note->address + note->from;
}

/*
 * Has the unit a note of these bytes and this kind already? To an engine it is
 * the first that counts. What comes after bytes that were let go of (`barrier`)
 * may be of others.
 */
static bool seen_before(struct model *model, const struct thread *thread, uint32_t number, uint32_t barrier)
{
	const struct note *note = &thread->notes[number], *before;
	uint64_t key = first_byte(note) * 4 + note->reads * 2u + note->writes;
	uint32_t known = map_get(&model->seen, key);

	if (known <= barrier) {
		map_set(&model->seen, key, number + 1);
		return false;
	}
	before = &thread->notes[known - 1];
	return before->unit == note->unit && before->set == note->set &&
	       before->address + before->to >= note->address + note->to;
}

/* The unit that a note is of; NULL if it has ended. */
static struct noted *noted_of(struct model *model, const struct thread *thread, const struct note *note)
{
	struct noted *noted = quiet_noted(model, note->set, (uint32_t)(thread - model->threads));

	return noted && noted->number == note->unit ? noted : NULL;
}

/* Drops the notes of units that have ended, and those that say nothing new if there are many. */
static void tidy(struct model *model, struct thread *thread)
{
	uint32_t kept = 0, frame = 0, barrier = 0;
	bool repeated = thread->note_count >= REPEATED_LIMIT;

	if (repeated)
		map_clear(&model->seen);
	for (uint32_t i = 0; i < thread->note_count; i++) {
		struct note *note = &thread->notes[kept];
		struct noted *noted;

		for (; frame < thread->depth && thread->frames[frame].notes <= i; frame++)
			thread->frames[frame].notes = kept;
		noted = noted_of(model, thread, &thread->notes[i]);
		if (!noted)
			continue;
		*note = thread->notes[i];
		if (!note->to)
			barrier = kept;
		/* The first one of a unit always stays. */
		else if (repeated && seen_before(model, thread, kept, barrier) && note->previous)
			continue;
		if (note->previous)
			note->previous = noted->notes;
		noted->notes = ++kept;
	}
	for (; frame < thread->depth; frame++)
		thread->frames[frame].notes = kept;
	thread->note_count = kept;
}

/* A unit that does so much had better be told: then the same bytes again cost nothing. */
static void tell_all(struct model *model, struct thread *thread)
{
	for (uint32_t i = 0; i < thread->note_count; i++)
		if (noted_of(model, thread, &thread->notes[i]))
			quiet_tell(model, thread->notes[i].set);
	thread->note_count = 0;
	for (uint32_t i = 0; i < thread->depth; i++) {
		thread->frames[i].notes = 0;
		thread->frames[i].lowest = UINT32_MAX;
	}
}

static void grow(struct thread *thread)
{
	thread->note_room = thread->note_room ? thread->note_room * 2 : 64;
	thread->notes = mem_resize(thread->notes, thread->note_room, sizeof(*thread->notes));
}

static void make_room(struct model *model, struct thread *thread)
{
	if (!thread->note_limit)
		thread->note_limit = FIRST_LIMIT;
	if (thread->note_count >= thread->note_limit) {
		tidy(model, thread);
		if (thread->note_count > thread->note_limit / 2) {
			if (thread->note_limit < LAST_LIMIT)
				thread->note_limit *= 2;
			else
				tell_all(model, thread);
		}
	}
	if (thread->note_count == thread->note_room)
		grow(thread);
}

static struct note *note_new(struct thread *thread, struct noted *noted, uint32_t root)
{
	struct note *note = &thread->notes[thread->note_count++];
	uint32_t level = level_of(noted->frame);

	note->set = root;
	note->unit = noted->number;
	note->previous = noted->notes;
	noted->notes = thread->note_count;
	if (thread->depth && thread->frames[thread->depth - 1].lowest > level)
		thread->frames[thread->depth - 1].lowest = level;
	return note;
}

static struct noted *begin(struct model *model, uint32_t thread, uint32_t frame, uint32_t root, uint32_t rule)
{
	struct noted *noted = noted_new(model, root);
	uint32_t next = noted->next;

	*noted = (struct noted){
		.thread = thread,
		.frame = frame,
		.rule = (uint8_t)rule,
		.begin = model->time,
		.next = next,
		.number = ++model->noted_numbers,
		.serial = frame & UNIT_BRACKET ? model->threads[thread].brackets[frame & ~UNIT_BRACKET].serial
					       : model->threads[thread].frames[frame].serial,
	};
	model->stats.units++;
	return noted;
}

bool quiet_begin(struct model *model, uint32_t thread, uint32_t frame, uint32_t root, uint32_t rule)
{
	if (!model->quiet || model->sets[root].loud)
		return false;
	begin(model, thread, frame, root, rule);
	return true;
}

/*
 * The unit's latest note has the bytes already, or they follow it: the next
 * granule of the same access, or the next element of an array.
 */
static bool note_goes_on(struct note *note, const struct accessor *who, uint64_t at, uint64_t stop)
{
	uint64_t end = note->address + note->to;

	if (note->site != who->site || note->size != who->size || note->context != who->context ||
	    note->locks != who->locks || note->claims != who->claims || !note->to)
		return false;
	if (at >= first_byte(note) && stop <= end)
		return true;
	/* Notes say where they end in 32 bits. */
	if (end != at || stop - note->address > UINT32_MAX)
		return false;
	note->to = (uint32_t)(stop - note->address);
	return true;
}

bool quiet_access(struct model *model, uint32_t root, const struct accessor *who, uint64_t at, uint64_t stop)
{
	struct thread *thread = &model->threads[who->thread];
	struct noted *noted = &model->sets[root].noted;
	struct note *note;

	if (__builtin_expect(noted->thread != who->thread || noted->next || !quiet_open(model, noted), 0)) {
		/* Of others that only read, who only reads is no matter. */
		if (others(model, root, who->thread, !who->writes)) {
			quiet_tell(model, root);
			/* What is noted and told all the same is work done twice. */
			if (model->told.count > MUCH && model->sets[root].met < QUIET_MET)
				model->sets[root].met++;
			return false;
		}
		noted = quiet_noted(model, root, who->thread);
	}
	if (noted && noted->notes && note_goes_on(&thread->notes[noted->notes - 1], who, at, stop))
		return true;
	if (!noted) {
		uint32_t rule, frame = unit_choose(model, who->thread, root, &rule);

		if (frame == UINT32_MAX) {
			model->stats.alone++;
			return true;
		}
		noted = begin(model, who->thread, frame, root, rule);
	}
	if (__builtin_expect(
		    thread->note_count == thread->note_room || thread->note_count >= thread->note_limit, 0)) {
		make_room(model, thread);
		if (model->sets[root].loud)
			return false;
	}
	note = note_new(thread, noted, root);
	note->address = who->address;
	note->from = (uint32_t)(at - who->address);
	note->to = (uint32_t)(stop - who->address);
	note->size = who->size;
	note->site = who->site;
	note->context = who->context;
	note->locks = who->locks;
	note->reads = who->reads;
	note->writes = who->writes;
	note->claims = who->claims;
	note->time = who->time;
	noted->writes |= who->writes;
	return true;
}

void quiet_forget(struct model *model, uint32_t root, uint64_t granule, uint8_t mask)
{
	struct noted *noted = &model->sets[root].noted;

	if (!mask || model->sets[root].loud)
		return;
	for (; noted; noted = noted_at(model, noted->next)) {
		struct thread *thread = &model->threads[noted->thread];
		struct note *note;

		if (!noted->notes || !quiet_open(model, noted))
			continue;
		/* Nothing is told here: cells must stay where they are. */
		if (thread->note_count == thread->note_room)
			grow(thread);
		note = note_new(thread, noted, root);
		note->address = granule;
		note->from = note->to = note->size = 0;
		note->site = note->context = note->locks = 0;
		note->reads = note->writes = note->claims = false;
		note->mask = mask;
		note->time = model->time;
	}
}

static void tell_note(struct model *model, uint32_t thread, uint32_t root, const struct note *note)
{
	struct accessor who = {.thread = thread,
			       .size = note->size,
			       .site = note->site,
			       .context = note->context,
			       .locks = note->locks,
			       .time = note->time,
			       .reads = note->reads,
			       .writes = note->writes,
			       .claims = note->claims};
	uint64_t end = note->address + note->to;

	/* It went to what lies there now; whoever knew that is to forget it. */
	if (!note->to) {
		access_untold(model, root, note->address, note->mask);
		return;
	}
	for (uint64_t at = first_byte(note), stop; at < end; at = stop) {
		who.address = at - (at - note->address) % note->size;
		stop = (at | 7) + 1;
		if (stop > who.address + note->size)
			stop = who.address + note->size;
		if (stop > end)
			stop = end;
		access_told(model, root, &who, at, stop);
	}
}

static void tell_unit(struct model *model, uint32_t root, const struct noted *noted)
{
	struct set *set = &model->sets[root];
	struct told *told = &model->told;
	uint32_t index = noted->notes;

	set->cached_unit = unit_open(model, noted->thread, noted->frame, root, noted->rule, noted->begin);
	set->cached_thread = noted->thread;
	told->count = 0;
	for (; index; index = model->threads[noted->thread].notes[index - 1].previous) {
		if (told->count == told->room) {
			told->room = told->room ? told->room * 2 : 64;
			told->notes = mem_resize(told->notes, told->room, sizeof(*told->notes));
		}
		told->notes[told->count++] = index - 1;
	}
	for (uint32_t i = told->count; i-- > 0;)
		tell_note(model, noted->thread, root, &model->threads[noted->thread].notes[told->notes[i]]);
}

void quiet_tell(struct model *model, uint32_t root)
{
	struct noted *noted = &model->sets[root].noted;

	/* If they are several, they only read, and in which order is no matter. */
	for (; noted; noted = noted_at(model, noted->next))
		if (quiet_open(model, noted)) {
			model->tellings++;
			tell_unit(model, root, noted);
		}
	quiet_drop(model, &model->sets[root]);
}

void quiet_release(struct model *model)
{
	free(model->told.notes);
	free(model->noted);
	map_release(&model->seen);
}
