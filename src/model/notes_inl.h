/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of notes.c that most accesses go through: marking a cell and adding a note. */
#ifndef ATOMSAN_MODEL_NOTES_INL_H
#define ATOMSAN_MODEL_NOTES_INL_H

#include "model/inside.h"

/* Of one granule: every other byte. */
#define NOTES_MOST 4u

/* From so many notes of a thread on it is looked for one that goes on: first among the latest of the same
 * place, later among all of them (gather.c). A test has other numbers. */
#ifndef NOTES_SOME
#define NOTES_SOME 32u
#endif
#ifndef NOTES_MANY
#define NOTES_MANY 256u
#endif

static inline uint32_t notes_level(uint32_t frame)
{
	return frame & UNIT_BRACKET ? 0 : frame + 1;
}

static inline uint64_t note_first_byte(const struct note *note)
{
	return note->address + note->from;
}

/* A note stands for accesses that lie side by side, numbered from 0. The bytes meant of each, perhaps none:
 */
static inline uint64_t note_begin(const struct note *note, uint64_t number)
{
	return note->address + number * note->size + (number ? 0 : note->from);
}

static inline uint64_t note_end(const struct note *note, uint64_t number)
{
	uint64_t end = note->address + note->to, own = note->address + (number + 1) * note->size;

	if (note->some && !(note->some >> number & 1))
		return note_begin(note, number);
	return own < end ? own : end;
}

static inline uint64_t note_accesses(const struct note *note)
{
	return (note->to - 1) / note->size + 1;
}

/* Is there no room for another one? */
static inline bool notes_full(const struct thread *thread)
{
	return thread->note_count + NOTES_MOST > thread->note_room ||
	       thread->note_count >= thread->note_limit;
}

static inline struct note *note_new(struct thread *thread, struct log *log, uint32_t root)
{
	struct note *note = &thread->notes[thread->note_count++];
	uint32_t level = notes_level(log->frame);

	note->set = root;
	note->unit = log->number;
	note->previous = log->notes;
	log->notes = thread->note_count;
	if (thread->depth && thread->frames[thread->depth - 1].lowest > level)
		thread->frames[thread->depth - 1].lowest = level;
	return note;
}

/* Is the access one of those that lie side by side with the note's first? Copies of structs may begin in the
 * middle of each other. */
static inline bool note_in_step(const struct note *note, const struct accessor *who)
{
	uint64_t distance = who->address - note->address;

	if (__builtin_expect(!(note->size & (note->size - 1)), 1))
		return !(distance & (note->size - 1));
	return who->address >= note->address && distance % note->size == 0;
}

/* The bytes follow the unit's latest note: the next granule of the same access, or the next element of an
 * array. */
static inline bool note_goes_on(struct note *note, const struct accessor *who, uint64_t at, uint64_t stop)
{
	uint64_t end = note->address + note->to;

	if (note->site != who->site || note->size != who->size || note->some ||
	    note->context != who->context || note->locks != who->locks || note->claims != who->claims ||
	    !note->to)
		return false;
	if (at >= note_first_byte(note) && stop <= end)
		return true;
	/* Notes say where they end in 32 bits. */
	if (end != at || stop - note->address > UINT32_MAX || !note_in_step(note, who))
		return false;
	note->to = (uint32_t)(stop - note->address);
	return true;
}

/* Notes that these bytes, which follow each other, are accessed. There is room. */
static inline void note_add(struct thread *thread, struct log *log, uint32_t root, const struct accessor *who,
			    uint64_t at, uint64_t stop)
{
	struct note *note;

	if (log->notes && note_goes_on(&thread->notes[log->notes - 1], who, at, stop))
		return;
	if (__builtin_expect(thread->note_count >= NOTES_SOME + thread->gather_more, 0) &&
	    notes_gather(thread, log, root, who, at, stop))
		return;
	note = note_new(thread, log, root);
	note->address = who->address;
	note->from = (uint32_t)(at - who->address);
	note->to = (uint32_t)(stop - who->address);
	note->size = who->size;
	note->some = 0;
	note->epoch = thread->epoch;
	note->site = who->site;
	note->context = who->context;
	note->locks = who->locks;
	note->time = who->time;
	note->reads = who->reads;
	note->writes = who->writes;
	note->claims = who->claims;
	note->stays = false;
}

/* The same for any bytes of a granule: those between them may be another cell, with another past. */
static inline void notes_add_bytes(struct thread *thread, struct log *log, uint32_t root,
				   const struct accessor *who, uint64_t granule, uint8_t bytes)
{
	for (unsigned left = bytes, from, to; left; left &= left >> to << to) {
		from = (unsigned)__builtin_ctz(left);
		to = from + (unsigned)__builtin_ctz(~(left >> from));
		note_add(thread, log, root, who, granule + from, granule + to);
	}
}

static inline struct notes_seen *notes_seen_at(const struct thread *thread, uint64_t granule)
{
	return &thread->seen[granule * 0x9e3779b97f4a7c15ull >> (64 - NOTES_SEEN_BITS)];
}

/* Does the log, as far as is remembered, have notes that these bytes of a granule are read? */
static inline bool notes_seen(const struct thread *thread, const struct log *log, uint64_t granule,
			      uint8_t bytes)
{
	const struct notes_seen *seen;

	if (!thread->seen)
		return false;
	seen = notes_seen_at(thread, granule);
	return seen->granule == granule && seen->log == log->number && !(bytes & ~seen->bytes);
}

/* The cell, of which the sink knows nothing, has the log's mark from now on. */
static inline void note_mark(struct cell *cell, const struct log *log, bool reads, bool writes, uint8_t bytes)
{
	if (cell->location != log_mark(log)) {
		cell->location = log_mark(log);
		cell->read = cell->written = 0;
	}
	if (reads)
		cell->read |= bytes;
	if (writes)
		cell->written |= bytes;
}

#endif
