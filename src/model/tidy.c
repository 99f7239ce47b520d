/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeping notes few. A unit that works on an array, or on the nodes of a table,
 * has a note of each place. Where many have come together those of units that
 * ended are dropped, those of bytes that are no more, and what is left of one log
 * from one place in the source is put in the order of addresses, so that what lies
 * side by side, or nearly so, becomes one note.
 *
 * Notes go together only if between them the thread did nothing that others hear
 * of (see thread.epoch): then it is all the same to everybody which was the first.
 * No order among the notes of a log is lost that matters: the sink hears of reads
 * first, and of those by their times, and what an iteration read first stays as it
 * is. Nor do notes move to another frame's.
 */
#include "model/notes_inl.h"

#include <string.h>

/* Logs of which bytes that are no more are looked for at a time: as many as a key of `barred` has room for.
 */
enum { LOGS = 64 };
/* A longer note is not looked through. */
enum { LONGEST = 1 << 20 };

struct let_go {
	uint32_t unit;
	bool kept;  /* some note could not be looked through */
	bool stays; /* one of its notes does */
	struct notes_bars bars;
};

/* By which the bytes of a granule that are no more, to a log, are found. */
static uint64_t barred_key(uint64_t address, uint32_t log)
{
	return (address & ~7ull) << 3 | log;
}

/* A note, or with PIECE what was left of one. */
#define PIECE 0x80000000u

struct entry {
	uint64_t address; /* of its first byte */
	uint32_t kind, note;
};

static bool is_bar(const struct note *note)
{
	return !note->to && note->some;
}

static void drop(struct note *note)
{
	note->to = 0;
	note->some = 0;
}

static bool is_dropped(const struct note *note)
{
	return !note->to && !note->some && !note->stays;
}

/* Most notes are of the log that the one before was of. */
struct latest {
	uint32_t unit; /* 0: none yet */
	uint32_t set;
	struct log *log;
};

static struct log *log_of(struct model *model, struct thread *thread, const struct note *note,
			  struct latest *latest)
{
	if (!latest->unit || latest->unit != note->unit || latest->set != note->set)
		*latest = (struct latest){
			.unit = note->unit, .set = note->set, .log = notes_log(model, thread, note)};
	return latest->log;
}

static int find_let_go(const struct let_go *logs, uint32_t count, uint32_t unit)
{
	for (uint32_t i = 0; i < count; i++)
		if (logs[i].unit == unit)
			return (int)i;
	return -1;
}

static void piece_new(struct model *model, const struct note *note, uint32_t index, uint64_t from,
		      uint64_t to)
{
	struct notes_pieces *pieces = &model->pieces;
	uint64_t into = (from - note->address) % note->size;

	if (pieces->count == pieces->room) {
		pieces->room = pieces->room ? pieces->room * 2 : 64;
		pieces->pieces = mem_resize(pieces->pieces, pieces->room, sizeof(*pieces->pieces));
	}
	struct notes_piece *piece = &pieces->pieces[pieces->count++];

	piece->index = index;
	piece->note = *note;
	piece->note.address = from - into;
	piece->note.from = (uint32_t)into;
	piece->note.to = (uint32_t)(to - piece->note.address);
	piece->note.some = 0;
}

/* The bytes [from, to), of one access or of several that lie side by side, without those that are no more. */
static bool cut_bytes(struct model *model, const struct note *note, uint32_t index, uint32_t log,
		      uint64_t from, uint64_t to)
{
	uint64_t begin = from;
	bool any = false;

	for (uint64_t at = from; at < to; at++) {
		uint8_t barred = (uint8_t)map_get(&model->barred, barred_key(at, log));

		if (!barred) {
			at |= 7;
			continue;
		}
		if (!(barred >> (at & 7) & 1))
			continue;
		any = true;
		if (begin < at)
			piece_new(model, note, index, begin, at);
		begin = at + 1;
	}
	if (begin < to)
		piece_new(model, note, index, begin, to);
	return any;
}

/* Makes pieces of the note, without what is no more. False: it is too long to be looked through. */
static bool cut(struct model *model, struct note *note, uint32_t index, uint32_t log)
{
	uint32_t pieces = model->pieces.count;
	bool any = false;

	if (note->to > LONGEST)
		return false;
	if (!note->some)
		any = cut_bytes(model, note, index, log, note_first_byte(note), note->address + note->to);
	else
		for (uint64_t k = 0; k < note_accesses(note); k++)
			any |= cut_bytes(model, note, index, log, note_begin(note, k), note_end(note, k));
	if (any)
		drop(note);
	else
		model->pieces.count = pieces;
	return true;
}

/* Notes, for the log, which bytes are no more. */
static void bar(struct model *model, const struct note *note, uint32_t log)
{
	for (uint64_t bytes = note->some, at = note->address; bytes; bytes >>= 8, at += 8) {
		uint64_t key = barred_key(at, log);

		if (bytes & 0xff)
			map_set(&model->barred, key, map_get(&model->barred, key) | (bytes & 0xff));
	}
}

/*
 * Bytes that are no more, and what was noted of them before, from this note on, need
 * not be known any longer. Logs that have some left all the same are marked as barred.
 */
static void drop_let_go(struct model *model, struct thread *thread, uint32_t from)
{
	struct let_go logs[LOGS];
	uint32_t count = 0;

	map_clear(&model->barred);
	thread->bars = (struct notes_bars){0};
	for (uint32_t i = thread->note_count; i-- > from;) {
		struct note *note = &thread->notes[i];
		int log = find_let_go(logs, count, note->unit);

		if (is_dropped(note))
			continue;
		if (is_bar(note)) {
			if (log < 0 && count == LOGS)
				continue;
			if (log < 0) {
				log = (int)count++;
				logs[log] = (struct let_go){.unit = note->unit};
			}
			bar(model, note, (uint32_t)log);
			notes_bars_add(&logs[log].bars, note);
		} else if (log >= 0 && note->to && note_first_byte(note) < logs[log].bars.most &&
			   note->address + note->to > logs[log].bars.lowest &&
			   !cut(model, note, i, (uint32_t)log)) {
			logs[log].kept = true;
		}
	}
	for (uint32_t i = from; i < thread->note_count; i++) {
		struct note *note = &thread->notes[i];
		int log = is_bar(note) ? find_let_go(logs, count, note->unit) : -1;

		if (log < 0 || logs[log].kept) {
			if (is_bar(note)) {
				notes_log(model, thread, note)->barred = true;
				notes_bars_add(&thread->bars, note);
			}
			continue;
		}
		drop(note);
		/* Who has had notes still has one, if of nothing. */
		note->stays = !logs[log].stays;
		logs[log].stays = true;
	}
}

static bool same_kind(const struct note *a, const struct note *b)
{
	return a->unit == b->unit && a->set == b->set && a->site == b->site && a->size == b->size &&
	       a->context == b->context && a->locks == b->locks && a->epoch == b->epoch &&
	       a->reads == b->reads && a->writes == b->writes && a->claims == b->claims;
}

static uint32_t kind_of(const struct note *note)
{
	uint64_t hash = (uint64_t)note->unit << 32 | note->site;

	hash = map_hash(hash) + ((uint64_t)note->context << 32 | note->locks);
	hash = map_hash(hash) + ((uint64_t)note->epoch << 32 | note->size);
	return (uint32_t)map_hash(hash) << 1 | note->writes;
}

/* Which of the 64 accesses from the note's first on it means; 0: that cannot be said. */
static uint64_t accesses_of(const struct note *note)
{
	uint64_t count = note->to / note->size;

	if (note->some || note->from || note->to % note->size || count > 64)
		return note->some;
	return ~0ull >> (64 - count);
}

/* Makes one of both if the second, whose first byte is no lower, fits. */
static bool join_notes(struct note *note, const struct note *next)
{
	uint64_t distance = next->address - note->address, to = distance + next->to, number, mine, others;

	if (!same_kind(note, next) || next->address < note->address || to > UINT32_MAX ||
	    distance % note->size)
		return false;
	number = distance / note->size;
	if (!note->some && !next->some && distance + next->from <= note->to) {
		note->to = to > note->to ? (uint32_t)to : note->to;
	} else {
		mine = accesses_of(note);
		others = accesses_of(next);
		if (!mine || !others || number > 63 || others << number >> number != others)
			return false;
		note->some = mine | others << number;
		note->to = to > note->to ? (uint32_t)to : note->to;
	}
	if (next->time < note->time)
		note->time = next->time;
	return true;
}

static bool in_order(const struct entry *a, const struct entry *b)
{
	return a->kind < b->kind || (a->kind == b->kind && a->address <= b->address);
}

static void sort_few(struct entry *entries, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct entry moved = entries[i];
		uint32_t at = i;

		for (; at && !in_order(&entries[at - 1], &moved); at--)
			entries[at] = entries[at - 1];
		entries[at] = moved;
	}
}

static void merge(const struct entry *a, const struct entry *middle, const struct entry *end,
		  struct entry *room)
{
	const struct entry *b = middle;

	/* What was tidied before is in order, and much of the rest is. */
	if (b != end && !in_order(b - 1, b))
		while (a < middle && b < end)
			*room++ = in_order(a, b) ? *a++ : *b++;
	memcpy(room, a, (size_t)(middle - a) * sizeof(*a));
	memcpy(room + (middle - a), b, (size_t)(end - b) * sizeof(*b));
}

/* Merge sort: by kind and address, and equal ones stay in order. Where they are then is returned. */
static struct entry *sort(struct entry *entries, struct entry *room, uint32_t count)
{
	enum { FEW = 8 };

	for (uint32_t at = 0; at < count; at += FEW)
		sort_few(entries + at, count - at < FEW ? count - at : FEW);
	for (uint32_t width = FEW; width < count; width *= 2) {
		struct entry *from = entries;

		for (uint32_t at = 0; at < count; at += 2 * width)
			merge(from + at, from + (count - at < width ? count : at + width),
			      from + (count - at < 2 * width ? count : at + 2 * width), room + at);
		entries = room;
		room = from;
	}
	return entries;
}

/* What is left, until it goes back to the thread. */
static struct note *left_new(struct model *model)
{
	struct notes_left *left = &model->left;

	if (left->count == left->room) {
		left->room = left->room ? left->room * 2 : 64;
		left->notes = mem_resize(left->notes, left->room, sizeof(*left->notes));
	}
	return &left->notes[left->count++];
}

/* Puts a note among those that may go together, or sees to it that it stays as it is. */
static void sort_out(struct model *model, struct thread *thread, const struct note *note, uint32_t number,
		     struct latest *of, struct entry *entries, uint32_t *count)
{
	struct log *log = is_dropped(note) ? NULL : log_of(model, thread, note, of);
	bool first = log && log->ordered && !note->writes && log->first < UNIT_REMEMBERED;

	if (!log)
		return;
	log->first += first;
	/* After bytes that are no more it is the order that counts. */
	if (first || log->barred || !note->to)
		*left_new(model) = *note;
	else
		entries[(*count)++] = (struct entry){
			.address = note_first_byte(note), .kind = kind_of(note), .note = number};
}

/* The notes [begin, end), which were added while one frame was the innermost of those still open. Pieces of
 * them are the last ones that are left. */
static void tidy_part(struct model *model, struct thread *thread, uint32_t begin, uint32_t end)
{
	const struct notes_piece *pieces = model->pieces.pieces;
	uint32_t piece = model->pieces.count, last = piece, count = 0;
	struct note *latest = NULL;
	struct latest of = {0};
	struct entry *entries, *sorted;

	while (piece && pieces[piece - 1].index < end)
		piece--;
	model->pieces.count = piece;
	entries = mem_alloc((end - begin + last - piece) * 2ul * sizeof(*entries));
	for (uint32_t i = begin; i < end; i++) {
		sort_out(model, thread, &thread->notes[i], i, &of, entries, &count);
		for (; last > piece && pieces[last - 1].index == i; last--)
			sort_out(model, thread, &pieces[last - 1].note, (last - 1) | PIECE, &of, entries,
				 &count);
	}
	sorted = sort(entries, entries + count, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = sorted[i].note;
		const struct note *note =
			number & PIECE ? &pieces[number & ~PIECE].note : &thread->notes[number];

		if (latest && join_notes(latest, note))
			continue;
		latest = left_new(model);
		*latest = *note;
	}
	free(entries);
}

/* Drops the notes of units that have ended; of the others, logs know those before `from` until link_all()
 * tells them the rest. With `unbar`, there are no bars but among those. */
static void unlink_all(struct model *model, struct thread *thread, uint32_t from, bool unbar)
{
	struct latest of = {0};

	for (uint32_t i = thread->note_count; i-- > from;) {
		struct log *log = log_of(model, thread, &thread->notes[i], &of);

		if (!log) {
			drop(&thread->notes[i]);
			thread->notes[i].stays = false;
			continue;
		}
		log->notes = thread->notes[i].previous;
		if (!from)
			log->first = 0;
		if (unbar)
			log->barred = false;
	}
}

static void link_all(struct model *model, struct thread *thread, uint32_t from)
{
	struct latest of = {0};

	for (uint32_t i = from; i < thread->note_count; i++) {
		struct log *log = log_of(model, thread, &thread->notes[i], &of);

		thread->notes[i].previous = log->notes;
		log->notes = i + 1;
	}
}

/* Where the bytes lie, at most, that are no more by notes from this one on. */
static struct notes_bars find_bars(const struct thread *thread, uint32_t from)
{
	struct notes_bars bars = {0};

	for (uint32_t i = from; i < thread->note_count; i++)
		if (is_bar(&thread->notes[i]))
			notes_bars_add(&bars, &thread->notes[i]);
	return bars;
}

static bool is_about(const struct model *model, const struct note *note)
{
	if (note->to > LONGEST)
		return true;
	for (uint64_t at = note_first_byte(note); at < note->address + note->to; at = (at | 7) + 1)
		if (map_get(&model->barred, barred_key(at, 0)))
			return true;
	return false;
}

/* They concern all that was noted of them before. Is there any, before this note, or are there others? */
static bool concern_earlier(struct model *model, const struct thread *thread, uint32_t from,
			    const struct notes_bars *bars)
{
	map_clear(&model->barred);
	for (uint32_t i = from; i < thread->note_count; i++)
		if (is_bar(&thread->notes[i]))
			bar(model, &thread->notes[i], 0);
	for (uint32_t i = 0; i < from; i++) {
		const struct note *note = &thread->notes[i];

		if (is_bar(note) || (note->to && note_first_byte(note) < bars->most &&
				     note->address + note->to > bars->lowest && is_about(model, note)))
			return true;
	}
	return false;
}

/* A buffer that is seldom as large is not kept. */
static void let_go_of_left(struct notes_left *left)
{
	enum { KEPT = 1 << 14 };

	if (left->room <= KEPT)
		return;
	free(left->notes);
	*left = (struct notes_left){0};
}

void notes_tidy(struct model *model, struct thread *thread, uint32_t from)
{
	struct notes_bars bars = find_bars(thread, from);
	uint32_t begin;

	if (from && bars.most && concern_earlier(model, thread, from, &bars))
		from = 0;
	begin = from;
	unlink_all(model, thread, from, !from || bars.most);
	model->pieces.count = 0;
	if (!from || bars.most)
		drop_let_go(model, thread, from);
	model->left.count = 0;
	for (uint32_t i = 0; i <= thread->depth; i++) {
		uint32_t end = i < thread->depth ? thread->frames[i].notes : thread->note_count;

		if (end <= from && i < thread->depth)
			continue;
		if (begin < end)
			tidy_part(model, thread, begin, end);
		if (i < thread->depth)
			thread->frames[i].notes = from + model->left.count;
		begin = end;
	}
	thread->note_count = from + model->left.count;
	/* Pieces may be more than what they were pieces of. */
	if (thread->note_room < thread->note_count) {
		thread->note_room = thread->note_count;
		thread->notes = mem_resize(thread->notes, thread->note_room, sizeof(*thread->notes));
	}
	if (model->left.count)
		memcpy(thread->notes + from, model->left.notes, model->left.count * sizeof(*thread->notes));
	let_go_of_left(&model->left);
	link_all(model, thread, from);
}
