/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses: which cells of memory they touch, to which sets these belong, and
 * which unit it is that touches them.
 *
 * While sets are quiet (quiet.c) nobody asks for locations. Then a granule whose
 * bytes belong to one set is one cell, whichever of them are accessed together;
 * what a later access needs to be told apart is split when the sink is told.
 */
#include "model/inside.h"

#define MODEL_LONGEST (64u << 20)

static uint8_t bytes_of(uint64_t at, uint64_t stop)
{
	return (uint8_t)(((1u << (stop - at)) - 1) << (at & 7));
}

/*
 * An access outside any unit is one by itself, for each set that it touches, also
 * if it touches several cells. It stays open until the access is done.
 */
static uint32_t alone_in_pieces(struct model *model, uint32_t root, const struct model_unit *alone)
{
	for (uint32_t i = 0; i < model->alone_count; i++)
		if (model->alone[i].set == root)
			return model->alone[i].unit;
	if (model->alone_count == MODEL_ALONE)
		access_end(model);
	model->alone[model->alone_count].set = root;
	model->alone[model->alone_count].unit = model->sink.unit_begin(model->sink.user, alone);
	return model->alone[model->alone_count++].unit;
}

void access_end(struct model *model)
{
	while (model->alone_count)
		model->sink.unit_end(model->sink.user, model->alone[--model->alone_count].unit);
}

/* The sink hears of it. */
static void access_loud(struct model *model, struct cell *cell, uint64_t address, uint32_t root,
			const struct accessor *who)
{
	const struct model_sink *sink = &model->sink;
	struct model_access tag = {.site = who->site,
				   .context = who->context,
				   .locks = who->locks,
				   .op = who->reads && who->writes ? MODEL_UPDATE
					 : !who->writes            ? MODEL_READ
					 : who->claims             ? MODEL_CLAIM
								   : MODEL_WRITE,
				   .time = who->time,
				   .address = who->address};
	uint32_t unit;

	if (!cell->location && model->quiet)
		cell->location = sink->location_new(sink->user);
	unit = unit_of_access(model, who->thread, root);
	if (unit == MODEL_NO_UNIT) {
		struct model_unit alone = {.thread = who->thread,
					   .context = who->context,
					   .rule = MODEL_RULE_NONE,
					   .set = model->sets[root].handle,
					   .begin = who->time};

		if (!who->several && !(who->reads && who->writes)) {
			(who->writes ? sink->unary_write : sink->unary_read)(sink->user, &alone,
									     cell->location, &tag);
			return;
		}
		unit = alone_in_pieces(model, root, &alone);
	} else if (!who->writes && unit_reads_again(model, root, address)) {
		tag.op = MODEL_READ_AGAIN;
	}
	if (who->reads)
		sink->read(sink->user, unit, cell->location, &tag);
	if (who->writes)
		sink->write(sink->user, unit, cell->location, &tag);
}

/*
 * The cell's bytes are accessed: in which set, by which unit? False: the sink was
 * told what was noted down, which may have split cells, this one included. Then
 * nothing was done yet, and it is to be looked up again.
 */
static bool access_cell(struct model *model, struct cell *cell, uint64_t at, uint64_t stop,
			struct place *place, struct accessor *who)
{
	uint64_t tellings = model->tellings, begin = at & ~7ull;
	uint32_t root;

	/* Of a member that lies in several cells it is the first byte that tells where its struct begins. */
	if (begin < who->address)
		begin = who->address;
	root = set_of_access(model, &model->threads[who->thread], cell, begin, place, who->writes);

	if (!root || (model->quiet && !model->sets[root].loud && quiet_access(model, root, who, at, stop)))
		return true;
	if (tellings != model->tellings)
		return false;
	access_loud(model, cell, at, root, who);
	return true;
}

static void new_location(struct model *model, struct cell *cell, uint8_t mask)
{
	if (!model->quiet)
		cell->location = model->sink.location_new(model->sink.user);
	cell->mask = mask;
	model->stats.locations++;
}

static struct cell *make_parts(struct model *model, struct granule *granule)
{
	if (!granule->parts) {
		granule->parts = memory_parts_new(&model->memory);
		model->memory.parts[granule->parts].cells[0] = granule->cell;
		granule->cell = (struct cell){0};
	}
	return model->memory.parts[granule->parts].cells;
}

/* The cell keeps these of its bytes, another one gets the rest, and the past that they had in common. */
static void split(struct model *model, struct cell *cell, struct cell *rest, uint8_t mask, uint64_t address)
{
	*rest = *cell;
	if (cell->location || !model->quiet)
		rest->location = model->sink.location_split(model->sink.user, cell->location);
	rest->mask &= (uint8_t)~mask;
	cell->mask = mask;
	model->stats.locations++;
	set_share(model, cell, address);
}

/* Cells that the sink has not heard of can be one again, if they are the same otherwise. */
static void join(struct model *model, struct granule *granule, uint64_t address)
{
	struct cell *cells = model->memory.parts[granule->parts].cells;

	for (unsigned i = 0; i < 8 && cells[i].mask; i++)
		if (cells[i].location || !cells[i].set || cells[i].set != cells[0].set ||
		    cells[i].type != cells[0].type || cells[i].other != cells[0].other)
			return;
	for (unsigned i = 1; i < 8 && cells[i].mask; i++) {
		set_unshare(model, &cells[i], address);
		cells[0].mask |= cells[i].mask;
		model->stats.locations--;
	}
	granule->cell = cells[0];
	memory_parts_free(&model->memory, granule->parts);
	granule->parts = 0;
}

/* Bytes of a granule that were not always accessed together. Those that are left to be done are returned. */
static uint8_t access_parts(struct model *model, struct granule *granule, uint64_t address, uint8_t mask,
			    struct place *place, struct accessor *who)
{
	uint64_t base = address & ~7ull;
	struct cell *cells = make_parts(model, granule);
	unsigned count = 0;

	who->several = true;
	while (count < 8 && cells[count].mask)
		count++;
	/* From the lowest byte on, however the cells came about. */
	while (mask) {
		unsigned i = 0;
		uint8_t common;

		while (i < count && !(cells[i].mask & mask & -mask))
			i++;
		if (i == count) {
			/* Bytes that are in no cell yet. */
			common = mask;
			for (unsigned k = 0; k < count; k++)
				common &= (uint8_t)~cells[k].mask;
			new_location(model, &cells[count++], common);
		}
		common = cells[i].mask & mask;
		if (common != cells[i].mask)
			split(model, &cells[i], &cells[count++], common, base);
		if (!access_cell(model, &cells[i], base + (unsigned)__builtin_ctz(common),
				 base + 32 - (unsigned)__builtin_clz(common), place, who))
			return mask;
		mask &= (uint8_t)~common;
	}
	if (model->quiet)
		join(model, granule, base);
	return 0;
}

void access_told(struct model *model, uint32_t root, const struct accessor *who, uint64_t at, uint64_t stop)
{
	struct granule *granule = &memory_chunk(&model->memory, at)->granules[memory_index(at)];
	uint8_t mask = bytes_of(at, stop);
	struct cell *cells = &granule->cell;
	unsigned count = 1;

	if (granule->parts || (cells->mask & mask) != cells->mask) {
		cells = make_parts(model, granule);
		for (count = 0; count < 8 && cells[count].mask;)
			count++;
	}
	for (unsigned i = 0, known = count; i < known; i++) {
		uint8_t common = cells[i].mask & mask;

		if (!common || !cells[i].set || set_root(model, cells[i].set) != root)
			continue;
		if (common != cells[i].mask)
			split(model, &cells[i], &cells[count++], common, at & ~7ull);
		access_loud(model, &cells[i], (at & ~7ull) + (unsigned)__builtin_ctz(common), root, who);
	}
}

void access_untold(struct model *model, uint32_t root, uint64_t address, uint8_t mask)
{
	struct granule *granule = &memory_chunk(&model->memory, address)->granules[memory_index(address)];
	struct cell *cells = granule->parts ? model->memory.parts[granule->parts].cells : &granule->cell;
	unsigned count = granule->parts ? 8 : 1;

	for (unsigned i = 0; i < count && cells[i].mask; i++)
		if (cells[i].mask & mask && cells[i].location && set_root(model, cells[i].set) == root) {
			model->sink.location_free(model->sink.user, cells[i].location);
			cells[i].location = 0;
		}
}

/* One granule's bytes, where there is more to do than to note them down. */
static void access_granule(struct model *model, struct granule *granule, uint64_t at, uint64_t stop,
			   struct place *place, struct accessor *who)
{
	uint8_t mask = bytes_of(at, stop);

	while (mask) {
		if (!granule->parts && (!granule->cell.mask || granule->cell.mask == mask)) {
			if (!granule->cell.mask)
				new_location(model, &granule->cell, mask);
			if (access_cell(model, &granule->cell, (at & ~7ull) + (unsigned)__builtin_ctz(mask),
					stop, place, who))
				return;
		} else {
			mask = access_parts(model, granule, at, mask, place, who);
		}
	}
}

/*
 * Cells that are whole and of quiet sets need no splitting either. False: one of
 * them is not like that. Those before it are noted then, which does no harm when
 * they are looked at again.
 */
static bool quiet_parts(struct model *model, const struct granule *granule, uint64_t at, uint64_t stop,
			struct place *place, const struct accessor *who)
{
	struct thread *thread = &model->threads[who->thread];
	uint8_t mask = bytes_of(at, stop);
	uint64_t base = at & ~7ull;

	for (unsigned i = 0; i < 8 && mask; i++) {
		const struct cell *cell = &model->memory.parts[granule->parts].cells[i];
		uint8_t common = cell->mask & mask;
		uint32_t root;

		if (!common)
			continue;
		if (!set_known(model, thread, cell, place))
			return false;
		root = set_root(model, cell->set);
		if (model->sets[root].loud ||
		    !quiet_access(model, root, who, base + (unsigned)__builtin_ctz(common),
				  base + 32 - (unsigned)__builtin_clz(common)))
			return false;
		mask &= (uint8_t)~common;
	}
	return !mask;
}

/* A copy, or a call of libc, of what may be a struct. */
static void access_whole(struct model *model, struct thread *thread, uint64_t address, bool reads,
			 bool writes)
{
	const struct granule *granule =
		&memory_chunk(&model->memory, address)->granules[memory_index(address)];
	const struct cell *cell = granule->parts ? model->memory.parts[granule->parts].cells : &granule->cell;

	if (cell->type)
		together_whole(model, thread, cell->type, reads, writes);
}

void access_bytes(struct model *model, uint32_t thread_index, uint32_t site, uint64_t address, uint64_t size,
		  bool reads, bool writes)
{
	struct thread *thread = unit_thread(model, thread_index);
	struct place *place = place_of(model, site);

	/* No access is longer; a damaged trace may say so. */
	if (size > MODEL_LONGEST)
		size = MODEL_LONGEST;
	if (place->left_out || !size) {
		model->stats.left_out++;
		model->stats.private_data += place->private_data && size;
		return;
	}
	model->stats.accesses++;

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

	for (uint64_t end = address + size, at = address; at < end;) {
		uint64_t next = (at | 7) + 1, stop = next < end ? next : end;
		struct granule *granule = &memory_chunk(&model->memory, at)->granules[memory_index(at)];
		struct cell *cell = &granule->cell;

		if (__builtin_expect(model->quiet && !(bytes_of(at, stop) & ~cell->mask) &&
					     set_typed(cell, place),
				     1)) {
			uint64_t tellings = model->tellings;
			uint32_t root = set_of_access(model, thread, cell, at, place, writes);
			bool done = !root;

			if (root && !model->sets[root].loud) {
				done = quiet_access(model, root, &who, at, stop);
			} else if (root && cell->mask == bytes_of(at, stop) && tellings == model->tellings) {
				access_loud(model, cell, at, root, &who);
				done = true;
			}
			if (done) {
				at = stop;
				continue;
			}
		} else if (model->quiet && granule->parts &&
			   quiet_parts(model, granule, at, stop, place, &who)) {
			at = stop;
			continue;
		}
		access_granule(model, granule, at, stop, place, &who);
		at = stop;
	}
	if (__builtin_expect(model->alone_count, 0))
		access_end(model);
	if (!place->type_size && size > 8 && thread->held_count)
		access_whole(model, thread, address, reads, writes);
}
