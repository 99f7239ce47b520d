/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses to more than one granule: structs that are copied, memory that is
 * cleared. Granule after granule is mostly like the one before. As far as they are
 * alike it is noted in one that they are accessed, and where a cell is the same as
 * the one before it, it is not looked further.
 */
#include "model/cells_inl.h"

/* A copy, or a call of libc, of what may be a struct. */
static void access_whole(struct model *model, struct thread *thread, uint64_t address, bool reads,
			 bool writes)
{
	const struct granule *granule = memory_granule(&model->memory, address);
	unsigned room;
	const struct cell *cell = memory_all(&model->memory, granule, &room);

	if (cell->type)
		together_whole(model, thread, cell->type, reads, writes);
}

/* What was found of the cells of an access so far. */
struct stretch {
	const struct frame *frame;
	const struct whole *whole;
	struct log *log; /* NULL: none was looked at yet */
	uint32_t root;
	uint32_t set;      /* the latest that is known to be part of it */
	uint32_t location; /* the latest that is nobody else's */
};

/* Of a granule's bytes that are accessed, as far as the log is concerned. */
enum content {
	CONTENT_OTHER, /* they take a closer look */
	CONTENT_HAD,   /* it has notes of them */
	CONTENT_NEW,   /* it has none, and can have */
};

/* The first cell says whose the others should be. */
static bool stretch_begin(struct model *model, struct thread *thread, struct stretch *stretch,
			  const struct cell *cell, const struct place *place, const struct accessor *who)
{
	if (!set_known(model, stretch->frame, cell, place))
		return false;
	stretch->root = set_root(model, cell->set);
	stretch->whole = set_whole(model, cell->set);
	stretch->log = log_with(model, thread, stretch->root, cell, who);
	stretch->set = cell->set;
	stretch->location = cell->location;
	return stretch->log && !notes_full(thread);
}

static ALWAYS enum content cell_content(struct model *model, struct thread *thread, struct stretch *stretch,
					const struct cell *cell, const struct place *place,
					const struct accessor *who, uint8_t bytes)
{
	if (unlikely(!stretch->log)) {
		if (!stretch_begin(model, thread, stretch, cell, place, who))
			return CONTENT_OTHER;
	} else {
		if (!set_typed(cell, place))
			return CONTENT_OTHER;
		if (cell->set != stretch->set) {
			if (set_root(model, cell->set) != stretch->root ||
			    !set_known(model, stretch->frame, cell, place))
				return CONTENT_OTHER;
			stretch->set = cell->set;
		}
		if (cell->location != stretch->location || cell->met) {
			if (!cell_free(model, stretch->whole, cell, stretch->log))
				return CONTENT_OTHER;
			stretch->location = cell->location;
		}
	}
	return notes_have(stretch->log, cell, who, bytes) ? CONTENT_HAD : CONTENT_NEW;
}

/* A granule in parts is as its parts are, if they are alike. If it is new, it is marked. */
static __attribute__((noinline)) enum content parts_content(struct model *model, struct thread *thread,
							    struct stretch *stretch, struct granule *granule,
							    const struct place *place,
							    const struct accessor *who, uint8_t bytes)
{
	enum content content = CONTENT_OTHER;
	unsigned room;
	struct cell *cells = memory_all(&model->memory, granule, &room);
	uint8_t left = bytes;

	for (unsigned i = 0; i < room && left; i++) {
		uint8_t common = cells[i].mask & left;
		enum content part;

		if (!common)
			continue;
		part = cell_content(model, thread, stretch, &cells[i], place, who, common);
		if (part == CONTENT_OTHER || (left != bytes && part != content))
			return CONTENT_OTHER;
		content = part;
		left &= (uint8_t)~common;
	}
	if (left)
		return CONTENT_OTHER;
	for (unsigned i = 0; content == CONTENT_NEW && i < room; i++)
		if (cells[i].mask & bytes)
			note_mark(&cells[i], stretch->log, who->reads, who->writes, cells[i].mask & bytes);
	return content;
}

/*
 * The granules behind this one, up to `end`, that were like it before and have the
 * same content: they are marked if they are new. Returns where the next one begins.
 */
static ALWAYS uint64_t stretch_same(const struct stretch *stretch, struct granule **granule,
				    const struct cell *before, enum content content,
				    const struct accessor *who, uint64_t at, uint64_t end)
{
	struct cell *cell = &(*granule)[1].cell;

	for (; at + 8 <= end && cell_alike(cell, before); at += 8, cell++) {
		if (notes_have(stretch->log, cell, who, UINT8_MAX) != (content == CONTENT_HAD))
			break;
		if (content == CONTENT_NEW)
			note_mark(cell, stretch->log, who->reads, who->writes, UINT8_MAX);
	}
	*granule = (struct granule *)(cell - 1);
	return at;
}

/* Notes that the bytes [at, end) are accessed, of as many granules as are alike. Returns where the others
 * begin. */
static uint64_t pieces_noted(struct model *model, struct thread *thread, const struct place *place,
			     const struct accessor *who, uint64_t at, uint64_t end)
{
	struct memory_chunk *chunk = memory_chunk(&model->memory, at);
	uint64_t last = (at | ((1ull << MEMORY_CHUNK_SHIFT) - 1)) + 1, begin = at, stop;
	struct granule *granule = &chunk->granules[memory_index(at)];
	struct stretch stretch = {.frame = unit_frame(thread)};

	if (end > last)
		end = last;
	/* [begin, at) is to be noted. */
	for (; at < end; at = stop, granule++) {
		struct cell *cell = &granule->cell, before = *cell;
		enum content content;
		uint8_t bytes;

		stop = (at | 7) + 1 < end ? (at | 7) + 1 : end;
		bytes = memory_bytes(at, stop);
		if (unlikely(bytes & ~cell->mask)) {
			if (!cell->apart)
				break;
			content = parts_content(model, thread, &stretch, granule, place, who, bytes);
		} else {
			content = cell_content(model, thread, &stretch, cell, place, who, bytes);
			if (content == CONTENT_NEW)
				note_mark(cell, stretch.log, who->reads, who->writes, bytes);
			else if (content == CONTENT_OTHER && !stretch.log &&
				 set_known(model, stretch.frame, cell, place) &&
				 cell_seen(model, thread, stretch.root, cell, who, at & ~7ull, bytes)) {
				begin = stop;
				continue;
			}
		}
		if (content == CONTENT_OTHER)
			break;
		if (content == CONTENT_HAD && begin < at) {
			note_add(thread, stretch.log, stretch.root, who, begin, at);
			if (notes_full(thread))
				return at;
		}
		if (bytes == UINT8_MAX && !before.apart)
			stop = stretch_same(&stretch, &granule, &before, content, who, stop, end);
		if (content == CONTENT_HAD)
			begin = stop;
	}
	if (begin < at)
		note_add(thread, stretch.log, stretch.root, who, begin, at);
	return at;
}

/* More than one granule. */
void access_pieces(struct model *model, struct thread *thread, struct place *place, struct accessor *who)
{
	uint64_t end = who->address + who->size;

	for (uint64_t at = who->address, stop; at < end; at = stop) {
		if (likely(model->quiet) && (stop = pieces_noted(model, thread, place, who, at, end)) > at)
			continue;
		stop = (at | 7) + 1;
		if (stop > end)
			stop = end;
		struct granule *granule = memory_granule(&model->memory, at);
		bool fresh = !granule->cell.mask && !granule_parts(granule);

		if (!model->quiet || !granule_parts(granule) ||
		    !piece_noted(model, thread, granule, place, who, at, stop))
			access_piece(model, place, who, at, stop);
		if (fresh && model->quiet && stop < end)
			set_assign_on(model, place, at, end);
	}
	if (unlikely(!place->type_size && thread->held_count && who->size > 8))
		access_whole(model, thread, who->address, who->reads, who->writes);
}
