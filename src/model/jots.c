/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses that nobody asks for, and that are not even noted. A unit that is alone
 * on a quiet set is most often done before anybody else comes there. As long as it
 * is alone nobody looks at the marks of the set's cells, nor at its notes: so neither
 * is made. What it accesses is jotted down, access by access, in a stack beside the
 * thread's calls, and gone with the call.
 *
 * Whoever is about to look at cells, notes or units of the set has the thread's jots
 * *settled* before: then each becomes a mark and a note, in the order in which they
 * came, as if it had been noted at once. That goes for others who come to the set,
 * for bytes of it that are no more, for sets that merge, and for the unit itself where an
 * access takes a longer way. In between the set stays quiet, and its cells get
 * neither locations nor other sets; they may be split, or joined, which makes no
 * difference to their bytes.
 *
 * A unit of which jots were settled is noted from then on: what is settled has cost
 * more than what is noted. The same where jots have become many, for notes of what
 * goes together are few.
 */
#include "model/jots_inl.h"

/* A test has another number. */
#ifndef JOTS_MOST
#define JOTS_MOST 2048u
#endif

/* True if there is room for one more. Those that there were may have been settled otherwise. */
static bool make_room(struct model *model, struct thread *thread)
{
	if (thread->jot_count < thread->jot_room)
		return true;
	if (thread->jot_room >= JOTS_MOST) {
		jots_settle_thread(model, thread);
		return false;
	}
	thread->jot_room = thread->jot_room ? thread->jot_room * 2 : JOTS_MOST / 32 + 1;
	thread->jots = mem_resize(thread->jots, thread->jot_room, sizeof(*thread->jots));
	thread->jot_runs = mem_resize(thread->jot_runs, thread->jot_room, sizeof(*thread->jot_runs));
	return true;
}

/* The next one is like this. */
static void begin_run(struct model *model, struct thread *thread, const struct accessor *who)
{
	struct jot_run *run;

	/* Of those that frames have taken along. */
	while (thread->jot_run_count &&
	       thread->jot_runs[thread->jot_run_count - 1].first >= thread->jot_count)
		thread->jot_run_count--;
	run = thread->jot_run_count ? &thread->jot_runs[thread->jot_run_count - 1] : NULL;
	/* A call of the model goes through less than half of what 32 bits can count. */
	if (!run || run->context != who->context || run->locks != who->locks || run->epoch != thread->epoch ||
	    model->time - run->time > UINT32_MAX / 2) {
		run = &thread->jot_runs[thread->jot_run_count++];
		*run = (struct jot_run){.time = model->time,
					.first = thread->jot_count,
					.context = who->context,
					.locks = who->locks,
					.epoch = thread->epoch};
	}
	model->lane_time = run->time;
}

/* The unit is alone on its set. There is room for a jot of it, and what comes is that. */
static bool begin(struct model *model, struct thread *thread, const struct accessor *who, struct noted *noted)
{
	uint32_t level = notes_level(noted->log.frame);

	if (noted->settled || !make_room(model, thread))
		return false;
	begin_run(model, thread, who);
	if (thread->depth && thread->frames[thread->depth - 1].lowest_jot > level)
		thread->frames[thread->depth - 1].lowest_jot = level;
	noted->jotted = true;
	return true;
}

bool jots_begin(struct model *model, const struct accessor *who, const struct place *place, uint32_t set)
{
	struct whole *whole = set_whole(model, set);
	struct noted *noted = &whole->noted;

	if (model->sets[set].kind > SET_BLOCK || whole->loud || noted->next)
		return false;
	model->by_name = place->base_kind == ATOMSAN_BASE_GLOBAL;
	if (!quiet_open(model, noted))
		noted = quiet_only(model, who->thread, set_root(model, set));
	else if (noted->thread != who->thread)
		return false;
	if (!noted || !begin(model, &model->threads[who->thread], who, noted))
		return false;
	*jot_lane(model, set) = (struct lane){.key = jot_lane_key(model, set), .noted = noted};
	return true;
}

bool jots_add(struct model *model, struct noted *noted, const struct accessor *who, uint64_t granule,
	      uint8_t bytes)
{
	struct thread *thread = &model->threads[who->thread];
	uint64_t end = who->address + who->size, word;

	if (noted->settled || who->address < granule || end > granule + 8 ||
	    memory_bytes(who->address, end) != bytes ||
	    !(word = jot_word(model, place_of(model, who->site), who)) || !begin(model, thread, who, noted))
		return false;
	noted->writes |= who->writes;
	thread->jots[thread->jot_count++] = (struct jot){.word = (word & ~7ull) | who->claims,
							 .unit = noted->log.number,
							 .time = (uint32_t)(who->time - model->lane_time)};
	return true;
}

/* The unit that has this log; NULL: it has ended. */
static struct noted *unit_with(struct model *model, uint32_t root, uint32_t thread, uint32_t log)
{
	struct noted *noted;

	if (set_whole(model, root)->loud)
		return NULL;
	noted = quiet_noted(model, root, thread);
	return noted && noted->log.number == log ? noted : NULL;
}

static void settle_cell(struct model *model, struct thread *thread, struct cell *cell,
			const struct accessor *who, uint32_t unit)
{
	uint8_t bytes = cell->mask & memory_bytes(who->address, who->address + who->size);
	struct noted *noted;
	uint32_t root;

	if (!bytes || !cell->set)
		return;
	root = set_root(model, cell->set);
	noted = unit_with(model, root, who->thread, unit);
	if (!noted)
		return;
	noted->jotted = false;
	noted->settled = true;
	if (notes_have(&noted->log, cell, who, bytes))
		return;
	/* Nobody is told, and nothing tidied: others may be about to look. */
	if (thread->note_count + NOTES_MOST > thread->note_room)
		notes_grow(thread);
	notes_mark(model, cell, &noted->log, who, bytes);
	notes_add_bytes(thread, &noted->log, root, who, who->address & ~7ull, bytes);
}

static void settle(struct model *model, struct thread *thread, const struct jot *jot,
		   const struct jot_run *run)
{
	const struct place *place = place_of(model, word_id(jot->word));
	struct accessor who = {.address = word_expand(model->trace->header.regions, word_address(jot->word)),
			       .size = place->bytes,
			       .thread = (uint32_t)(thread - model->threads),
			       .site = word_id(jot->word),
			       .context = run->context,
			       .locks = run->locks,
			       .time = run->time + jot->time,
			       .reads = place->how & PLACE_READS,
			       .writes = place->how & PLACE_WRITES,
			       .claims = jot->word & 1};
	unsigned room;
	struct cell *cell = memory_all(&model->memory, memory_granule(&model->memory, who.address), &room);

	for (; room; room--, cell++)
		settle_cell(model, thread, cell, &who, jot->unit);
}

void jots_settle_thread(struct model *model, struct thread *thread)
{
	const struct jot_run *run = thread->jot_runs;
	uint32_t epoch = thread->epoch;

	for (uint32_t i = 0; i < thread->jot_count; i++) {
		while (run + 1 < thread->jot_runs + thread->jot_run_count && run[1].first <= i)
			run++;
		thread->epoch = run->epoch;
		settle(model, thread, &thread->jots[i], run);
	}
	thread->epoch = epoch;
	thread->jot_count = thread->jot_run_count = 0;
	for (uint32_t i = 0; i < thread->depth; i++) {
		thread->frames[i].jots = 0;
		thread->frames[i].lowest_jot = UINT32_MAX;
	}
	jots_look_again(model);
}

void jots_settle_set(struct model *model, uint32_t root)
{
	struct noted *noted = &set_whole(model, root)->noted;

	for (; noted; noted = noted->next ? &model->noted[noted->next] : NULL) {
		if (!noted->jotted)
			continue;
		jots_settle_thread(model, &model->threads[noted->thread]);
		noted->jotted = false;
	}
}

void jots_left(struct thread *thread, uint32_t index)
{
	const struct frame *frame = &thread->frames[index];

	if (frame->lowest_jot > index)
		thread->jot_count = frame->jots;
	else if (index && thread->frames[index - 1].lowest_jot > frame->lowest_jot)
		thread->frames[index - 1].lowest_jot = frame->lowest_jot;
}

void jots_over(struct thread *thread)
{
	if (thread->jot_count)
		return;
	free(thread->jots);
	free(thread->jot_runs);
	thread->jots = NULL;
	thread->jot_runs = NULL;
	thread->jot_room = thread->jot_run_count = 0;
}
