/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses, and the way that most of them take: by a unit that is open, to bytes
 * that are known to belong to its set, and that nobody else is at. Whatever is not
 * like that is left to access.c, which finds the same by looking at everything.
 */
#include "model/cells_inl.h"
#include "model/jots_inl.h"
#include "model/together_inl.h"
#include "trace/word_inl.h"

/* No access is longer; a damaged trace may say so. */
#define MODEL_LONGEST (64u << 20)

/* The part of a granule that the byte is in. NULL: none. */
static const struct cell *part_with(const struct model *model, const struct granule *granule,
				    uint64_t address)
{
	unsigned room;
	const struct cell *cell = memory_all(&model->memory, granule, &room);

	for (; room; room--, cell++)
		if (cell->mask >> (address & 7) & 1)
			return cell;
	return NULL;
}

/* All of `who` is given. With `word`, which says the same, it may be jotted down. */
static __attribute__((noinline)) void access_further(struct model *model, struct thread *thread,
						     struct granule *granule, struct place *place,
						     struct accessor *who, uint64_t word)
{
	uint64_t end = who->address + who->size;

	if (word && granule_parts(granule)) {
		const struct cell *cell = part_with(model, granule, who->address);

		if (cell && jot_access(model, thread, unit_frame(thread), cell, place, who, word,
				       who->address, who->claims))
			return;
	}
	jots_look_again(model);
	model->by_name = place->base_kind == ATOMSAN_BASE_GLOBAL;
	who->several = who->address >> 3 != (end - 1) >> 3;
	if (unlikely(who->several))
		access_pieces(model, thread, place, who);
	else if (unlikely(!model->quiet ||
			  !piece_noted(model, thread, granule, place, who, who->address, end)))
		access_piece(model, place, who, who->address, end);
	if (unlikely(model->alone_count))
		access_end(model);
}

static bool left_out(struct model *model, const struct place *place, uint64_t size)
{
	if (likely(!place->left_out && size))
		return false;
	model->stats.left_out++;
	model->stats.private_data += place->private_data && size;
	return true;
}

void access_bytes(struct model *model, uint32_t thread_index, uint32_t site, uint64_t address, uint64_t size,
		  bool reads, bool writes)
{
	struct thread *thread = unit_thread(model, thread_index);
	struct place *place = place_of(model, site);

	if (left_out(model, place, size))
		return;
	struct accessor who = {.address = address,
			       .size = size > MODEL_LONGEST ? MODEL_LONGEST : (uint32_t)size,
			       .thread = thread_index,
			       .site = site,
			       .context = unit_context(thread),
			       .locks = held_set(model, thread),
			       .time = model->time,
			       .reads = reads,
			       .writes = writes};
	struct granule *granule = memory_granule(&model->memory, address);
	uint64_t word;

	model->stats.accesses++;
	who.claims = together_access(model, thread, site, place, who.size, reads, writes);
	if (place->counts)
		counters_note(model, thread, place, address);
	jots_look_again(model);
	word = model->quiet ? jot_word(model, place, &who) : 0;
	if (word && jot_access(model, thread, unit_frame(thread), &granule->cell, place, &who, word, address,
			       who.claims))
		return;
	access_further(model, thread, granule, place, &who, word);
}

static inline struct soon *soon_at(struct model *model, const uint8_t *at)
{
	return &model->soon[(uintptr_t)at / 8 % MODEL_SOON];
}

/*
 * Much of the time goes by waiting for memory. What comes is asked for: first the
 * granule, some events later what stands there, and then where that leads to. Words
 * that are no accesses lead to nothing that is there, or do no harm; so do granules
 * of words that were there before, for none is ever moved.
 */
static inline void prefetch_far(struct model *model, const struct trace_run *run, const uint8_t *at)
{
	struct soon *soon = soon_at(model, at);
	struct memory_chunk *chunk;
	uint64_t address;

	soon->word = word_load(at);
	address = word_expand(run->regions, word_address(soon->word));
	chunk = memory_cached(&model->memory, address >> MEMORY_CHUNK_SHIFT);
	soon->granule = NULL;
	if (!chunk)
		return;
	soon->granule = &chunk->granules[memory_index(address)];
	__builtin_prefetch(soon->granule);
}

enum { FAR = 16, NEAR = 10, NEXT = 5 };

/* Where a run begins: words that would have been asked for had what came before been accesses. */
static void prefetch_run(struct model *model, const struct trace_run *run)
{
	const uint8_t *at = run->at, *end = run->end - run->at > FAR * 8 ? at + (size_t)FAR * 8 : run->end;

	if (model->asked >= at && model->asked <= end)
		at = model->asked;
	for (; end - at >= 8; at += 8)
		prefetch_far(model, run, at);
	model->asked = at;
}

static inline void prefetch(struct model *model, const struct trace_run *run)
{
	const struct granule *granule;

	if (run->end - run->at < (FAR + 1) * 8)
		return;
	prefetch_far(model, run, run->at + (size_t)FAR * 8);
	granule = soon_at(model, run->at + (size_t)NEXT * 8)->granule;
	if (granule)
		__builtin_prefetch(set_whole(model, granule->cell.set));
	granule = soon_at(model, run->at + (size_t)NEAR * 8)->granule;
	if (!granule)
		return;
	if (granule_parts(granule)) {
		__builtin_prefetch(memory_cells(&model->memory, granule_parts(granule)));
		return;
	}
	__builtin_prefetch(&model->sets[granule->cell.set]);
	if (model->sink.prefetch && cell_location(&granule->cell))
		model->sink.prefetch(model->sink.user, granule->cell.location);
}

/* The granule of an access, which was mostly looked for already. */
static inline struct granule *granule_now(struct model *model, const uint8_t *at, uint64_t word,
					  uint64_t address)
{
	const struct soon *soon = soon_at(model, at);

	return likely(soon->word == word && soon->granule) ? soon->granule
							   : memory_granule(&model->memory, address);
}

void model_run(struct model *model, struct trace_cursor *cursor)
{
	struct trace_run run;
	struct thread *thread;
	const struct frame *frame;

	if (!trace_run_begin(cursor, &run))
		return;
	thread = unit_thread(model, run.thread);
	frame = unit_frame(thread);
	jots_look_again(model);
	prefetch_run(model, &run);
	struct accessor who = {
		.thread = run.thread, .context = unit_context(thread), .locks = held_set(model, thread)};

	for (; run.end - run.at >= 8; run.at += 8) {
		uint64_t word = word_load(run.at), address;
		uint32_t site = word_id(word);
		struct granule *granule;
		struct place *place;

		if (word_kind(word) != TRACE_ACCESS || site - run.first_site >= run.sites ||
		    site == TRACE_ID_MAX)
			break;
		place = place_of(model, site);
		if (unlikely(!place->how))
			break;
		prefetch(model, &run);
		model->time++;
		if (left_out(model, place, place->bytes))
			continue;
		model->stats.accesses++;
		address = word_expand(run.regions, word_address(word));
		granule = granule_now(model, run.at, word, address);
		who.claims = together_access(model, thread, site, place, place->bytes,
					     place->how & PLACE_READS, place->how & PLACE_WRITES);
		if (unlikely(place->counts))
			counters_note(model, thread, place, address);
		if (likely(model->quiet && jot_access(model, thread, frame, &granule->cell, place, &who, word,
						      address, who.claims)))
			continue;
		who.site = site;
		who.time = model->time;
		who.address = address;
		who.size = place->bytes;
		who.reads = place->how & PLACE_READS;
		who.writes = place->how & PLACE_WRITES;
		access_further(model, thread, granule, place, &who, model->quiet ? word : 0);
	}
	if (run.end - run.at > FAR * 8)
		model->asked = run.at + (size_t)FAR * 8;
	trace_run_end(cursor, &run);
}
