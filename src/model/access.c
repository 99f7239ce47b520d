/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One access to one granule, where hot.c leaves it: which cells it touches, to
 * which sets these belong, and which unit it is that touches them.
 *
 * What is noted down (notes.h) needs no locations. Then a granule whose bytes
 * belong to one set is one cell, whichever of them are accessed together; what a
 * later access needs to be told apart is split when the sink is told.
 */
#include "model/inside.h"

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
static void tell_sink(struct model *model, struct cell *cell, uint64_t address, uint32_t root,
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
	unit = who->ended ? who->unit : unit_of_access(model, who->thread, root);
	if (unit == MODEL_NO_UNIT) {
		struct model_unit alone = {.thread = who->thread,
					   .context = who->context,
					   .rule = MODEL_RULE_NONE,
					   .set = set_whole(model, root)->handle,
					   .begin = who->time};

		if (!who->several && !(who->reads && who->writes)) {
			(who->writes ? sink->unary_write : sink->unary_read)(sink->user, &alone,
									     cell->location, &tag);
			return;
		}
		unit = alone_in_pieces(model, root, &alone);
	} else if (!who->writes && !who->late && unit_reads_again(model, root, address)) {
		tag.op = MODEL_READ_AGAIN;
	}
	if (who->reads)
		sink->read(sink->user, unit, cell->location, &tag);
	if (who->writes)
		sink->write(sink->user, unit, cell->location, &tag);
}

static void access_loud(struct model *model, struct cell *cell, uint64_t address, uint32_t root,
			const struct accessor *who)
{
	uint64_t news = model->quiet ? model->sink.news(model->sink.user) : 0;

	tell_sink(model, cell, address, root, who);
	/* What the thread does after the end of an edge is told apart from what it did before. */
	if (model->quiet && news != model->sink.news(model->sink.user))
		model->threads[who->thread].epoch++;
}

/*
 * Can it be kept from the sink, so far? False: no, unless the sink was told of
 * something else (model.tellings); then cells may be elsewhere, this one included.
 */
static inline bool access_kept(struct model *model, struct cell *cell, uint32_t root,
			       const struct accessor *who, uint64_t granule, uint8_t bytes)
{
	uint64_t tellings = model->tellings;

	if (!set_whole(model, root)->loud) {
		if (__builtin_expect(quiet_access(model, cell, root, who, granule, bytes), 1))
			return true;
		if (tellings != model->tellings)
			return false;
	}
	return private_access(model, cell, root, who, granule, bytes);
}

static struct thread *shown_by(struct model *model, const struct accessor *who)
{
	return &model->threads[who->shown_by ? who->shown_by - 1 : who->thread];
}

/*
 * The cell's bytes are accessed: in which set, by which unit? False: the sink was
 * told what was noted down, which may have split cells, this one included. Then
 * nothing was done yet, and it is to be looked up again.
 */
static bool access_cell(struct model *model, struct cell *cell, uint64_t granule, uint8_t bytes,
			struct place *place, struct accessor *who)
{
	uint64_t tellings = model->tellings, begin = granule;
	uint32_t root;

	/* Of a member that lies in several cells it is the first byte that tells where its struct begins. */
	if (begin < who->address)
		begin = who->address;
	root = set_of_access(model, shown_by(model, who), cell, begin, place, who->writes);
	if (!root)
		return true;
	if (tellings != model->tellings)
		return false;
	if (model->quiet && access_kept(model, cell, root, who, granule, bytes))
		return true;
	if (tellings != model->tellings)
		return false;
	access_loud(model, cell, granule + (unsigned)__builtin_ctz(bytes), root, who);
	return true;
}

static void new_location(struct model *model, struct cell *cell, uint8_t mask)
{
	if (!model->quiet)
		cell->location = model->sink.location_new(model->sink.user);
	cell->mask = mask;
	model->stats.locations++;
}

static unsigned count_cells(const struct cell *cells, unsigned room)
{
	unsigned count = 0;

	while (count < room && cells[count].mask)
		count++;
	return count;
}

/* The cell keeps these of its bytes, another one gets the rest, and the past that they had in common. */
static void split(struct model *model, struct cell *cell, struct cell *rest, uint8_t mask, uint64_t address)
{
	*rest = *cell;
	if (cell_location(cell) || !model->quiet)
		rest->location = model->sink.location_split(model->sink.user, cell->location);
	rest->mask &= (uint8_t)~mask;
	cell->mask = mask;
	model->stats.locations++;
	set_share(model, cell, address);
}

/* A mark that is nobody's any more is as good as none. */
static void drop_dead_mark(struct model *model, struct cell *cell)
{
	uint32_t root = set_root(model, cell->set);

	if (!(cell->location & CELL_MARK) ||
	    (set_whole(model, root)->loud ? map_get(&model->marks, cell->location) != 0
					  : quiet_mark(model, root, cell->location)))
		return;
	cell->location = cell->read = cell->written = 0;
}

/* Cells that the sink has not heard of can be one again, if they are the same otherwise. */
static void join(struct model *model, struct granule *granule, uint64_t address)
{
	uint32_t parts = granule_parts(granule);
	struct cell *cells = memory_cells(&model->memory, parts);
	unsigned count = count_cells(cells, memory_room(parts));
	uint32_t mark = 0;

	for (unsigned i = 0; i < count; i++) {
		if (cell_location(&cells[i]) || !cells[i].set || cells[i].set != cells[0].set ||
		    cells[i].type != cells[0].type || cells[i].other != cells[0].other ||
		    cells[i].met != cells[0].met)
			return;
		drop_dead_mark(model, &cells[i]);
		if (mark && cells[i].location && cells[i].location != mark)
			return;
		mark |= cells[i].location;
	}
	cells[0].location = mark;
	for (unsigned i = 1; i < count; i++) {
		set_unshare(model, &cells[i], address);
		cells[0].mask |= cells[i].mask;
		cells[0].read |= cells[i].read;
		cells[0].written |= cells[i].written;
		model->stats.locations--;
	}
	granule->cell = cells[0];
	memory_cells_free(&model->memory, parts);
}

/* Bytes of a granule that were not always accessed together. Those that are left to be done are returned. */
static uint8_t access_parts(struct model *model, struct granule *granule, uint64_t address, uint8_t mask,
			    struct place *place, struct accessor *who)
{
	uint64_t base = address & ~7ull;
	struct cell *cells = memory_cells_grow(&model->memory, granule, 0);
	unsigned count = count_cells(cells, memory_room(granule_parts(granule)));

	who->several = true;
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
			cells = memory_cells_grow(&model->memory, granule, count);
			new_location(model, &cells[count++], common);
		}
		common = cells[i].mask & mask;
		if (common != cells[i].mask) {
			cells = memory_cells_grow(&model->memory, granule, count);
			split(model, &cells[i], &cells[count++], common, base);
		}
		if (!access_cell(model, &cells[i], base, common, place, who))
			return mask;
		mask &= (uint8_t)~common;
	}
	if (model->quiet)
		join(model, granule, base);
	return 0;
}

static bool cell_of_set(const struct model *model, const struct cell *cell, uint8_t mask, uint32_t root)
{
	return cell->mask & mask && cell->set && set_root(model, cell->set) == root;
}

void access_told(struct model *model, uint32_t root, const struct accessor *who, uint64_t base, uint8_t mask)
{
	struct granule *granule = memory_granule(&model->memory, base);
	struct cell *cells = &granule->cell;
	unsigned count = 1;

	if (!granule_parts(granule) && !cell_of_set(model, cells, mask, root))
		return;
	if (granule_parts(granule) || (cells->mask & mask) != cells->mask) {
		cells = memory_cells_grow(&model->memory, granule, 0);
		count = count_cells(cells, memory_room(granule_parts(granule)));
	}
	for (unsigned i = 0, known = count; i < known; i++) {
		uint8_t common = cells[i].mask & mask;

		if (!cell_of_set(model, &cells[i], mask, root))
			continue;
		if (common != cells[i].mask) {
			cells = memory_cells_grow(&model->memory, granule, count);
			split(model, &cells[i], &cells[count++], common, base);
		}
		if (cells[i].location & CELL_MARK)
			cells[i].location = cells[i].read = cells[i].written = 0;
		access_loud(model, &cells[i], base + (unsigned)__builtin_ctz(common), root, who);
	}
}

/* One granule's bytes, where there is more to do than to note them down. */
static void access_granule(struct model *model, struct granule *granule, uint64_t at, uint64_t stop,
			   struct place *place, struct accessor *who)
{
	uint8_t mask = memory_bytes(at, stop);

	while (mask) {
		if (!granule_parts(granule) && (!granule->cell.mask || granule->cell.mask == mask)) {
			if (!granule->cell.mask)
				new_location(model, &granule->cell, mask);
			if (access_cell(model, &granule->cell, at & ~7ull, mask, place, who))
				return;
		} else {
			mask = access_parts(model, granule, at, mask, place, who);
		}
	}
}

void access_piece(struct model *model, struct place *place, struct accessor *who, uint64_t at, uint64_t stop)
{
	struct granule *granule = memory_granule(&model->memory, at);
	struct cell *cell = &granule->cell;
	uint8_t bytes = memory_bytes(at, stop);

	if (model->quiet && !(bytes & ~cell->mask) && set_typed(cell, place)) {
		uint64_t tellings = model->tellings;
		uint32_t root = set_of_access(model, shown_by(model, who), cell, at, place, who->writes);

		if (!root)
			return;
		if (tellings == model->tellings) {
			if (access_kept(model, cell, root, who, at & ~7ull, bytes))
				return;
			if (cell->mask == bytes && tellings == model->tellings) {
				access_loud(model, cell, at, root, who);
				return;
			}
		}
	}
	access_granule(model, granule, at, stop, place, who);
}
