/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses, and the way that most of them take: by a unit that is open, to bytes
 * that are known to belong to its set, and that nobody else is at. Whatever is not
 * like that is left to access.c, which finds the same by looking at everything.
 */
#include "model/notes_inl.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* No access is longer; a damaged trace may say so. */
#define MODEL_LONGEST (64u << 20)

/*
 * The log of the thread's unit on the set, open already or from now on, if what it
 * does to the cell can be noted there and nothing else is to be done; NULL: it
 * takes a closer look.
 */
static inline struct log *log_with(struct model *model, struct thread *thread, uint32_t root,
				   const struct cell *cell, const struct accessor *who)
{
	struct set *set = &model->sets[root];

	if (likely(!set->loud)) {
		struct noted *noted = &set->noted;

		if (noted->next || cell_location(cell))
			return NULL;
		/* A bracket's number is higher than any depth. */
		if (noted->thread != who->thread || noted->log.frame >= thread->depth ||
		    thread->frames[noted->log.frame].serial != noted->serial) {
			if (quiet_open(model, noted) || !(noted = quiet_only(model, who->thread, root)))
				return NULL;
		}
		noted->writes |= who->writes;
		return &noted->log;
	}
	struct open_unit *unit = &model->units[set->cached_unit];

	if (set->cached_thread != who->thread || !set->cached_unit || !unit->log.notes || unit->iteration ||
	    cell->met || set->wasted == PRIVATE_WASTED ||
	    (cell->location && cell->location != log_mark(&unit->log)))
		return NULL;
	return &unit->log;
}

/* The bytes are all in the cell. */
static inline bool cell_noted(struct model *model, struct thread *thread, struct cell *cell,
			      const struct place *place, const struct accessor *who, uint64_t granule,
			      uint8_t bytes)
{
	struct log *log;
	uint32_t root;

	if (unlikely(!set_known(model, thread, cell, place)))
		return false;
	root = set_root(model, cell->set);
	log = log_with(model, thread, root, cell, who);
	if (unlikely(!log))
		return false;
	if (notes_have(log, cell, who, bytes))
		return true;
	if (unlikely(notes_full(thread)))
		return false;
	note_mark(cell, log, who->reads, who->writes, bytes);
	notes_add_bytes(thread, log, root, who, granule, bytes);
	return true;
}

/*
 * One granule's bytes. Of cells that are kept from the sink none need be split.
 * False: one of them is not like that. Those before it are noted then, which does
 * no harm when they are looked at again.
 */
static inline bool piece_noted(struct model *model, struct thread *thread, const struct place *place,
			       const struct accessor *who, uint64_t at, uint64_t stop)
{
	struct granule *granule = &memory_chunk(&model->memory, at)->granules[memory_index(at)];
	uint8_t bytes = memory_bytes(at, stop);
	uint64_t base = at & ~7ull;

	if (likely(!granule->parts))
		return !(bytes & ~granule->cell.mask) &&
		       cell_noted(model, thread, &granule->cell, place, who, base, bytes);
	for (unsigned i = 0, room = memory_room(granule->parts); i < room && bytes; i++) {
		struct cell *cell = &memory_cells(&model->memory, granule->parts)[i];
		uint8_t common = cell->mask & bytes;

		if (common && !cell_noted(model, thread, cell, place, who, base, common))
			return false;
		bytes &= (uint8_t)~common;
	}
	return !bytes;
}

/* A copy, or a call of libc, of what may be a struct. */
static void access_whole(struct model *model, struct thread *thread, uint64_t address, bool reads,
			 bool writes)
{
	const struct granule *granule =
		&memory_chunk(&model->memory, address)->granules[memory_index(address)];
	unsigned room;
	const struct cell *cell = memory_all(&model->memory, granule, &room);

	if (cell->type)
		together_whole(model, thread, cell->type, reads, writes);
}

void access_bytes(struct model *model, uint32_t thread_index, uint32_t site, uint64_t address, uint64_t size,
		  bool reads, bool writes)
{
	struct thread *thread = unit_thread(model, thread_index);
	struct place *place = place_of(model, site);

	if (size > MODEL_LONGEST)
		size = MODEL_LONGEST;
	if (place->left_out || !size) {
		model->stats.left_out++;
		model->stats.private_data += place->private_data && size;
		return;
	}
	model->stats.accesses++;
	model->by_name = place->base_kind == ATOMSAN_BASE_GLOBAL;

	struct accessor who = {.address = address,
			       .size = (uint32_t)size,
			       .thread = thread_index,
			       .site = site,
			       .context = unit_context(thread),
			       .locks = held_set(model, thread),
			       .time = model->time,
			       .reads = reads,
			       .writes = writes,
			       .claims = together_access(model, thread, site, place, size, reads, writes),
			       .several = address >> 3 != (address + size - 1) >> 3};

	for (uint64_t end = address + size, at = address, stop; at < end; at = stop) {
		stop = (at | 7) + 1;
		if (stop > end)
			stop = end;
		if (unlikely(!model->quiet || !piece_noted(model, thread, place, &who, at, stop)))
			access_piece(model, place, &who, at, stop);
	}
	if (unlikely(model->alone_count))
		access_end(model);
	if (!place->type_size && size > 8 && thread->held_count)
		access_whole(model, thread, address, reads, writes);
}
