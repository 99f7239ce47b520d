/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Notes that go together, as they are taken. A unit that walks two arrays, or
 * sorts one, has the same few places in the source by turns, so the latest note
 * seldom goes on; but an earlier one of the same place, near the same bytes, mostly
 * would. It is looked for before another one is taken: among the latest of its
 * place, and where notes have become many in a table by place and address that
 * remembers one note for each entry.
 *
 * The same goes together as in tidy.c, and for the same reasons. A note only ever
 * takes up what comes later, so it stays with the frame that it was taken in, and is
 * there for as long as its unit is. What the table says is held against the note
 * itself, so it need not be told when notes move or go.
 */
#include "model/notes_inl.h"

#define SLOT_BITS 13

static uint32_t slot_of(const struct log *log, const struct accessor *who)
{
	/* Of neighbours most have the same one: 64 accesses, or nearly. */
	uint64_t near = who->address >> (6 + 31 - (unsigned)__builtin_clz(who->size));
	uint64_t hash = (near << 20 ^ who->site) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)((hash ^ (uint64_t)log->number * 0xd6e8feb86659fd93ull) >> (64 - SLOT_BITS));
}

/* Is the note about the same kind of access, by the same unit, with nothing in between that others hear of?
 */
static bool same_kind(const struct thread *thread, const struct note *note, const struct log *log,
		      uint32_t root, const struct accessor *who)
{
	return note->to && note->unit == log->number && note->set == root && note->site == who->site &&
	       note->size == who->size && note->context == who->context && note->locks == who->locks &&
	       note->epoch == thread->epoch && note->reads == who->reads && note->writes == who->writes &&
	       note->claims == who->claims;
}

/*
 * A loop that walks several arrays by turns has a place in the source for each, and
 * what follows the latest note of its own place does not follow the latest of all.
 * Of each place two are remembered, for one may walk two arrays; what they say is
 * held against the note itself. If neither goes on, one that does is the next.
 */
static bool in_stream(struct thread *thread, const struct log *log, uint32_t root, const struct accessor *who,
		      uint64_t at, uint64_t stop)
{
	uint32_t *stream = thread->streams[who->site % NOTES_STREAMS];

	for (unsigned i = 0; i < 2; i++) {
		struct note *note = &thread->notes[stream[i]];

		if (stream[i] < thread->note_count && same_kind(thread, note, log, root, who) &&
		    note_goes_on(note, who, at, stop))
			return true;
	}
	stream[1] = stream[0];
	stream[0] = thread->note_count;
	return false;
}

/* One of the 64 accesses from the note's first on, wholly, or, if that leaves room for it, one before. */
static bool take_one(struct note *note, uint64_t address)
{
	unsigned shift = (unsigned)__builtin_ctz(note->size);
	uint64_t count = note->to >> shift, some = note->some, distance;

	if (note->size & (note->size - 1))
		return false;
	if (!some) {
		if (note->from || note->to & (note->size - 1) || count > 64)
			return false;
		some = ~0ull >> (64 - count);
	}
	if (address < note->address) {
		distance = (note->address - address) >> shift;
		if (distance > 63 || address + (distance << shift) != note->address ||
		    some << distance >> distance != some)
			return false;
		some = some << distance | 1;
		note->address = address;
		note->to += (uint32_t)(distance << shift);
	} else {
		distance = (address - note->address) >> shift;
		if (distance > 63 || note->address + (distance << shift) != address)
			return false;
		some |= 1ull << distance;
		if (note->to < (distance + 1) << shift)
			note->to = (uint32_t)((distance + 1) << shift);
	}
	/* Without a gap it is a range, which may grow. */
	note->some = some & (some + 1) ? some : 0;
	return true;
}

static bool take_up(struct note *note, const struct accessor *who, uint64_t at, uint64_t stop)
{
	uint64_t end = note->address + note->to;

	if (!note->some && at >= note_first_byte(note) && at <= end && stop - note->address <= UINT32_MAX &&
	    note_in_step(note, who)) {
		if (stop > end)
			note->to = (uint32_t)(stop - note->address);
		return true;
	}
	return stop - at == note->size && take_one(note, at);
}

/* Where little goes together, as much again is noted before it is tried once more. */
static void look_back(struct thread *thread)
{
	enum { TRIES = 1 << 10, ENOUGH = TRIES / 4 };

	if (++thread->gather_tries < TRIES)
		return;
	thread->gather_more = thread->gather_hits < ENOUGH ? thread->note_count : 0;
	thread->gather_tries = thread->gather_hits = 0;
}

/* See above: among all that are remembered. */
static bool in_table(struct thread *thread, const struct log *log, uint32_t root, const struct accessor *who,
		     uint64_t at, uint64_t stop)
{
	uint32_t *slot;

	if (!thread->gathered)
		thread->gathered = mem_zalloc(1u << SLOT_BITS, sizeof(*thread->gathered));
	slot = &thread->gathered[slot_of(log, who)];
	if (*slot < thread->note_count && same_kind(thread, &thread->notes[*slot], log, root, who) &&
	    take_up(&thread->notes[*slot], who, at, stop)) {
		thread->gather_hits++;
		return true;
	}
	/* The one that is taken now. */
	*slot = thread->note_count;
	return false;
}

bool notes_gather(struct thread *thread, const struct log *log, uint32_t root, const struct accessor *who,
		  uint64_t at, uint64_t stop)
{
	/* After bytes that are no more, and of what an iteration read first, it is the order that counts. */
	if (log->ordered || (log->barred && at < thread->bars.most && stop > thread->bars.lowest))
		return false;
	look_back(thread);
	if (in_stream(thread, log, root, who, at, stop)) {
		thread->gather_hits++;
		return true;
	}
	return thread->note_count >= NOTES_MANY + thread->gather_more &&
	       in_table(thread, log, root, who, at, stop);
}
