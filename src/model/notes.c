/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Notes: taken, tidied, told. See notes.h. */
#include "model/notes_inl.h"

/* Notes of a thread: from how many on they are tidied, and all told; and after how many units marks are
 * cleared. A test has other numbers. */
#ifndef NOTES_LIMITS
#define NOTES_LIMITS FIRST_LIMIT = 1 << 10, LAST_LIMIT = 1 << 25, UNITS = 1 << 30
#endif
enum { NOTES_LIMITS };
_Static_assert(UNITS <= CELL_MARK / 2, "between two calls no mark is given twice");

struct log notes_begin(struct model *model, uint32_t frame)
{
	return (struct log){.number = (uint32_t)++model->numbers, .frame = frame};
}

/* When they are tidied next: a good part of them is new then, so that tidying costs no more than noting. */
static void set_limit(struct thread *thread)
{
	uint32_t more = thread->note_count / 4;

	thread->note_tidied = thread->note_count;
	thread->note_limit = thread->note_count + (more > FIRST_LIMIT ? more : FIRST_LIMIT);
}

/* Room that is not used is given back: much may have been noted once, and never again. */
static __attribute__((noinline)) void shrink(struct thread *thread)
{
	set_limit(thread);
	thread->note_room = thread->note_limit + NOTES_MOST;
	thread->notes = mem_resize(thread->notes, thread->note_room, sizeof(*thread->notes));
}

void notes_left(struct thread *thread, uint32_t index)
{
	enum { SPARE = 1 << 15 };
	const struct frame *frame = &thread->frames[index];

	if (frame->lowest > index) {
		thread->note_count = frame->notes;
		if (__builtin_expect(thread->note_room > SPARE && thread->note_room / 8 > frame->notes, 0))
			shrink(thread);
	} else if (index && thread->frames[index - 1].lowest > frame->lowest)
		thread->frames[index - 1].lowest = frame->lowest;
}

struct log *notes_log(struct model *model, struct thread *thread, const struct note *note)
{
	struct log *log = NULL;

	if (set_whole(model, note->set)->loud) {
		uint32_t unit = map_get(&thread->open, note->set);

		if (unit)
			log = &model->units[unit].log;
	} else {
		struct noted *noted = quiet_noted(model, note->set, (uint32_t)(thread - model->threads));

		log = noted ? &noted->log : NULL;
	}
	return log && log->number == note->unit ? log : NULL;
}

/* The notes of the thread's frames are no more. */
static void clear(struct thread *thread)
{
	thread->note_count = 0;
	for (uint32_t i = 0; i < thread->depth; i++) {
		thread->frames[i].notes = 0;
		thread->frames[i].lowest = UINT32_MAX;
	}
}

/* A unit that does so much had better be told: then the same bytes again cost nothing. */
static void tell_all(struct model *model, struct thread *thread)
{
	for (uint32_t i = 0; i < thread->note_count; i++) {
		uint32_t set = thread->notes[i].set;

		if (!notes_log(model, thread, &thread->notes[i]))
			continue;
		if (!set_whole(model, set)->loud)
			quiet_end(model, set);
		private_tell(model, map_get(&thread->open, set));
	}
	clear(thread);
}

/*
 * A thread that is the only one lets its units end before it makes a second one, so
 * nobody will ever come to what it noted. Other sorts of threads than those that it
 * makes itself come without a word: for their sake it is only done where notes are
 * many.
 */
static bool drop_all(struct model *model, struct thread *thread)
{
	if (model->live_threads != 1 || model->coming_threads || model->options.keep_units_at_waits ||
	    !thread->depth || !routine_of(model, thread->frames[0].function)->is_main)
		return false;
	/* Units that the sink knows of may come before others of the thread, which it asks for. */
	for (uint32_t i = 0; i < thread->note_count; i++)
		if (set_whole(model, thread->notes[i].set)->loud)
			return false;
	for (uint32_t i = 0; i < thread->note_count; i++) {
		struct log *log = notes_log(model, thread, &thread->notes[i]);

		if (!log)
			continue;
		log->notes = 0;
		log->barred = false;
	}
	clear(thread);
	return true;
}

void notes_grow(struct thread *thread)
{
	uint32_t enough = thread->note_limit + NOTES_MOST;

	if (enough > thread->note_room && enough / 2 < thread->note_room)
		thread->note_room = enough;
	else
		thread->note_room = thread->note_room ? thread->note_room * 2 : 64;
	thread->notes = mem_resize(thread->notes, thread->note_room, sizeof(*thread->notes));
}

/*
 * What has come since the last time is tidied by itself, for most often that goes
 * together which was noted one after the other. Now and then all of them are.
 */
static void make_fewer(struct model *model, struct thread *thread)
{
	uint32_t from = thread->note_tidied;

	if (drop_all(model, thread)) {
		thread->note_whole = 0;
		set_limit(thread);
		return;
	}
	/* Frames that were left have taken theirs along. */
	if (from > thread->note_count)
		from = thread->note_count;
	if (thread->note_whole > from)
		thread->note_whole = from;
	notes_tidy(model, thread, from);
	if (from && thread->note_count / 2 > thread->note_whole + FIRST_LIMIT / 2) {
		notes_tidy(model, thread, 0);
		from = 0;
	}
	if (!from)
		thread->note_whole = thread->note_count;
	if (thread->note_count > LAST_LIMIT / 2)
		tell_all(model, thread);
	set_limit(thread);
}

void notes_make_room(struct model *model, struct thread *thread)
{
	if (!thread->note_limit)
		thread->note_limit = FIRST_LIMIT;
	if (thread->note_count >= thread->note_limit)
		make_fewer(model, thread);
	if (thread->note_count + NOTES_MOST > thread->note_room)
		notes_grow(thread);
}

void notes_mark(struct model *model, struct cell *cell, const struct log *log, const struct accessor *who,
		uint8_t mask)
{
	/* What the sink knows of it is of units that do not matter any more. */
	if (cell->location != log_mark(log) && cell_location(cell))
		model->sink.location_free(model->sink.user, cell->location);
	note_mark(cell, log, who->reads, who->writes, mask);
}

void notes_add(struct model *model, struct log *log, uint32_t root, const struct accessor *who,
	       uint64_t granule, uint8_t bytes)
{
	notes_add_bytes(&model->threads[who->thread], log, root, who, granule, bytes);
}

void notes_see(struct thread *thread, const struct log *log, uint64_t granule, uint8_t bytes)
{
	struct notes_seen *seen;

	if (!thread->seen)
		thread->seen = mem_zalloc(NOTES_SEEN, sizeof(*thread->seen));
	seen = notes_seen_at(thread, granule);
	if (seen->granule != granule || seen->log != log->number)
		*seen = (struct notes_seen){.granule = granule, .log = log->number};
	seen->bytes |= bytes;
}

void notes_bar(struct model *model, uint32_t thread_index, struct log *log, uint32_t root, uint64_t granule,
	       uint8_t mask)
{
	struct thread *thread = &model->threads[thread_index];
	struct note *note = log->notes ? &thread->notes[log->notes - 1] : NULL;

	if (thread->seen && notes_seen_at(thread, granule)->granule == granule)
		*notes_seen_at(thread, granule) = (struct notes_seen){0};
	/* The granules of an object go one after the other. */
	if (note && log->notes == thread->note_count && !note->to && note->some &&
	    granule - note->address < 64) {
		note->some |= (uint64_t)mask << (granule - note->address);
		notes_bars_add(&thread->bars, note);
		return;
	}
	/* Nothing is told here: cells must stay where they are. */
	if (thread->note_count == thread->note_room)
		notes_grow(thread);
	note = note_new(thread, log, root);
	*note = (struct note){.address = granule,
			      .some = mask,
			      .set = root,
			      .previous = note->previous,
			      .unit = log->number,
			      .time = model->time};
	log->barred = true;
	notes_bars_add(&thread->bars, note);
}

/* Bytes that are asked for: the same ones, by number, of each granule from one address to another. */
struct wanted {
	uint64_t low, high;
	uint8_t mask;
};
static const struct wanted everything = {.high = UINT64_MAX, .mask = UINT8_MAX};

/* The log's notes, latest first, and the bytes that are no more. */
static void collect(struct model *model, const struct note *notes, const struct log *log,
		    const struct wanted *wanted)
{
	struct told *told = &model->told;

	told->count = 0;
	if (log->barred)
		map_clear(&model->barred);
	for (uint32_t index = log->notes; index; index = notes[index - 1].previous) {
		const struct note *note = &notes[index - 1];

		if (told->count == told->room) {
			told->room = told->room ? told->room * 2 : 64;
			told->notes = mem_resize(told->notes, told->room, sizeof(*told->notes));
		}
		if (note->address >= wanted->high ||
		    note->address + (note->to ? note->to : 64) <= wanted->low)
			continue;
		if (note->to) {
			told->notes[told->count++] = index - 1;
			continue;
		}
		for (uint64_t mask = note->some; mask; mask &= mask - 1) {
			uint64_t byte = note->address + (unsigned)__builtin_ctzll(mask);

			if (!map_get(&model->barred, byte))
				map_set(&model->barred, byte, index);
		}
	}
}

/* Of two notes the later one first. */
static int by_time(const void *a, const void *b, void *notes)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	uint64_t time = ((const struct note *)notes)[one].time,
		 others = ((const struct note *)notes)[other].time;

	if (time == others)
		return one < other ? 1 : -1;
	return time < others ? 1 : -1;
}

/*
 * Bytes may be in several notes, for an access is noted wholly if any of its bytes is
 * new, and to an engine it is the first access that counts. Tidying leaves notes in
 * another order.
 */
static void sort_told(const struct note *notes, struct told *told)
{
	for (uint32_t i = 1; i < told->count; i++)
		if (notes[told->notes[i - 1]].time < notes[told->notes[i]].time) {
			qsort_r(told->notes, told->count, sizeof(*told->notes), by_time, (void *)notes);
			return;
		}
}

/* Without the bytes that were let go of after the note. */
static uint8_t still_there(const struct model *model, uint32_t number, uint64_t granule, uint8_t mask)
{
	for (unsigned i = 0; i < 8; i++)
		if (mask >> i & 1 && map_get(&model->barred, granule + i) > number)
			mask &= (uint8_t)~(1u << i);
	return mask;
}

/* Each granule's bytes that the note is about, with the access that it was. True if there are any. */
static bool each_granule(struct model *model, uint32_t root, const struct log *log, const struct note *note,
			 uint32_t number, struct accessor who, const struct wanted *wanted)
{
	bool any = false;
	uint64_t k = wanted->low > note->address ? (wanted->low - note->address) / note->size : 0;

	who.size = note->size;
	who.site = note->site;
	who.context = note->context;
	who.locks = note->locks;
	who.time = note->time;
	who.reads = note->reads;
	who.writes = note->writes;
	who.claims = note->claims;
	who.late = true;

	for (uint64_t accesses = note_accesses(note); k < accesses; k++) {
		uint64_t at = note_begin(note, k), end = note_end(note, k), stop;

		who.address = note->address + k * note->size;
		if (who.address >= wanted->high)
			break;
		if (at < wanted->low)
			at = wanted->low;
		if (end > wanted->high)
			end = wanted->high;
		for (; at < end; at = stop) {
			uint8_t mask;

			stop = (at | 7) + 1 < end ? (at | 7) + 1 : end;
			mask = memory_bytes(at, stop) & wanted->mask;
			if (log->barred)
				mask = still_there(model, number, at & ~7ull, mask);
			if (mask)
				access_told(model, root, &who, at & ~7ull, mask);
			any |= mask != 0;
		}
	}
	return any;
}

/* True if there was anything. */
static bool tell(struct model *model, uint32_t root, const struct log *log, const struct note *notes,
		 const struct accessor *who, const struct wanted *wanted)
{
	bool any = false;

	collect(model, notes, log, wanted);
	sort_told(notes, &model->told);
	/* Of one cell a read is noted only if it comes before the write. */
	for (unsigned writes = 0; writes < 2; writes++)
		for (uint32_t i = model->told.count; i-- > 0;) {
			uint32_t number = model->told.notes[i];

			if (notes[number].writes == writes)
				any |= each_granule(model, root, log, &notes[number], number, *who, wanted);
		}
	return any;
}

void notes_tell(struct model *model, uint32_t thread, uint32_t root, struct log *log)
{
	struct log all = *log;

	model->tellings++;
	tell(model, root, &all, model->threads[thread].notes, &(struct accessor){.thread = thread},
	     &everything);
}

void notes_tell_bytes(struct model *model, uint32_t thread, uint32_t root, struct log *log, uint64_t low,
		      uint64_t high, uint8_t mask)
{
	struct wanted wanted = {.low = low, .high = high, .mask = mask};
	struct log all = *log;

	if (!tell(model, root, &all, model->threads[thread].notes, &(struct accessor){.thread = thread},
		  &wanted))
		return;
	model->tellings++;
	for (uint64_t granule = low; granule < high; granule += 8)
		notes_bar(model, thread, log, root, granule, mask);
}

bool notes_tell_ended_bytes(struct model *model, uint32_t thread, uint32_t root, const struct log *log,
			    const struct note *notes, uint32_t unit, uint64_t low, uint64_t high,
			    uint8_t mask)
{
	struct wanted wanted = {.low = low, .high = high, .mask = mask};

	if (!tell(model, root, log, notes, &(struct accessor){.thread = thread, .ended = true, .unit = unit},
		  &wanted))
		return false;
	model->tellings++;
	return true;
}

void notes_tell_ended(struct model *model, uint32_t thread, uint32_t root, const struct log *log,
		      const struct note *notes, uint32_t unit)
{
	model->tellings++;
	tell(model, root, log, notes, &(struct accessor){.thread = thread, .ended = true, .unit = unit},
	     &everything);
}

void notes_move(struct model *model, uint32_t thread, const struct log *log, uint32_t root)
{
	struct note *notes = model->threads[thread].notes;

	for (uint32_t index = log->notes; index; index = notes[index - 1].previous)
		notes[index - 1].set = root;
}

void notes_remember(struct model *model, uint32_t thread, uint32_t root, const struct log *log)
{
	collect(model, model->threads[thread].notes, log, &everything);
	for (uint32_t i = model->told.count; i-- > 0;) {
		const struct note *note = &model->threads[thread].notes[model->told.notes[i]];

		if (note->writes)
			continue;
		for (uint64_t k = 0; k < note_accesses(note); k++)
			for (uint64_t at = note_begin(note, k); at < note_end(note, k); at = (at | 7) + 1)
				if (unit_remembers_enough(model, root))
					return;
				else
					unit_reads_again(model, root, at);
	}
}

/* Units that stay open must not have the numbers of later ones either. */
static void number_anew(struct model *model, uint32_t set)
{
	struct noted *noted = &set_whole(model, set)->noted;

	private_alone(model, set);
	for (uint32_t i = set_whole(model, set)->open; i; i = model->units[i].next_in_set)
		model->units[i].log = notes_begin(model, model->units[i].log.frame);
	for (; noted; noted = noted->next ? &model->noted[noted->next] : NULL)
		noted->log = notes_begin(model, noted->log.frame);
}

void notes_renumber(struct model *model)
{
	if (__builtin_expect(model->numbers - model->renumbered < UNITS, 1))
		return;
	for (uint32_t i = 0; i < model->thread_count; i++)
		jots_settle_thread(model, &model->threads[i]);
	for (uint32_t i = 0; i < model->thread_count; i++)
		tell_all(model, &model->threads[i]);
	kept_tell_bytes(model, 0, UINT64_MAX);
	for (uint32_t i = 1; i < model->set_count; i++)
		if (set_root(model, i) == i)
			number_anew(model, i);
	memory_clear_marks(&model->memory);
	model->renumbered = model->numbers;
}

void notes_over(struct thread *thread)
{
	if (thread->note_count)
		return;
	free(thread->notes);
	free(thread->gathered);
	free(thread->seen);
	thread->notes = NULL;
	thread->gathered = NULL;
	thread->seen = NULL;
	thread->note_room = thread->note_limit = thread->note_tidied = thread->note_whole = 0;
}

void notes_release(struct model *model)
{
	free(model->told.notes);
	free(model->noted);
	free(model->left.notes);
	free(model->pieces.pieces);
	map_release(&model->barred);
	map_release(&model->marks);
}
