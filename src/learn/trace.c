/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace, gone through twice: first for which data several threads share and
 * somebody writes, then for the pairs on it. Atomic operations make no pairs,
 * for whoever uses them expects others in between, but they break those of
 * plain accesses. Brackets in the sources say by themselves what is meant to be
 * atomic: from the first access to a variable inside to the last.
 */
#include "learn/learn.h"

#include "base/map.h"
#include "learn/pairs.h"
#include "trace/describe.h"

#include <stdlib.h>
#include <string.h>

/* What a granule is known for. */
enum { SHARED = 1u << 31, WRITTEN = 1u << 30, THREAD = WRITTEN - 1 };

/* The first and the last access to an address inside a bracket. */
struct bracket {
	uint64_t address, length;
	uint32_t thread;
	uint32_t depth; /* of brackets */
	uint32_t first, last;
	uint8_t first_kind, last_kind;
	uint32_t count;
};

struct place {
	char *variable;
	const char *function, *file; /* of the trace */
	uint32_t line, column;
};

struct learner {
	struct trace *trace;
	struct map granules;
	struct map blocks; /* start of a block, by 16, to its number + 1 */
	uint64_t *block_sizes;
	uint32_t block_count;
	struct guards *guards;
	struct pairs *pairs;
	uint32_t *by_site; /* place of each site; 0: not looked up, ~0: none */
	uint64_t site_room;
	struct place *places; /* from 1 */
	uint32_t place_count;
	struct map place_keys;
	struct bracket *brackets;
	uint32_t bracket_count;
	uint32_t *depths; /* open brackets of each thread */
	struct pairs_pair *annotated;
	uint32_t annotated_count;
	uint64_t accesses;
};

/* ---- events ---- */

struct access {
	uint64_t address, length;
	unsigned kinds;
	bool atomic;
};

static bool access_of(const struct learner *l, const struct trace_event *e, struct access *access)
{
	struct trace_site site;

	*access = (struct access){.address = e->address, .length = e->value};
	if (e->kind == TRACE_ACCESS) {
		switch (e->access) {
		case ATOMSAN_UPDATE:
			access->kinds = ATOMICITY_READ | ATOMICITY_WRITE;
			break;
		case ATOMSAN_WRITE:
			access->kinds = ATOMICITY_WRITE;
			break;
		case ATOMSAN_READ:
			access->kinds = ATOMICITY_READ;
			break;
		case ATOMSAN_ATOMIC_LOAD:
			access->kinds = ATOMICITY_READ;
			access->atomic = true;
			break;
		default:
			return false;
		}
		return access->length != 0;
	}
	if (e->kind != TRACE_OP || e->op < TRACE_OP_ATOMIC_LOAD || e->op > TRACE_OP_ATOMIC_FAILED ||
	    trace_site(l->trace, e->site, &site, NULL) < 0)
		return false;
	access->atomic = true;
	access->length = site.size;
	access->kinds =
		(e->op != TRACE_OP_ATOMIC_STORE ? ATOMICITY_READ : 0) |
		(e->op == TRACE_OP_ATOMIC_STORE || e->op == TRACE_OP_ATOMIC_RMW ? ATOMICITY_WRITE : 0);
	return access->length != 0;
}

/* ---- blocks ---- */

static void see_block(struct learner *l, const struct trace_event *e)
{
	uint32_t number;

	if (e->op == TRACE_OP_ALLOC) {
		if (!(l->block_count & (l->block_count - 1)))
			l->block_sizes = mem_resize(l->block_sizes, l->block_count ? 2ul * l->block_count : 1,
						    sizeof(*l->block_sizes));
		l->block_sizes[l->block_count++] = e->value;
		map_set(&l->blocks, e->address, l->block_count);
	} else if (e->op == TRACE_OP_FREE && (number = map_get(&l->blocks, e->address))) {
		guards_forget(l->guards, e->address, l->block_sizes[number - 1]);
		if (l->pairs)
			pairs_forget(l->pairs, e->address, l->block_sizes[number - 1]);
		map_remove(&l->blocks, e->address);
	}
}

static void guard(struct learner *l, const struct trace_event *e)
{
	struct access a;

	if (e->kind == TRACE_OP) {
		see_block(l, e);
		guards_op(l->guards, e);
	}
	if (access_of(l, e, &a))
		guards_access(l->guards, e->thread, a.address, a.length, a.kinds & ATOMICITY_WRITE);
}

/* ---- which data is shared, and by what it is guarded ---- */

static void share(struct learner *l, const struct trace_event *e)
{
	struct access a;

	guard(l, e);
	if (!access_of(l, e, &a))
		return;
	for (uint64_t g = a.address >> 3; g <= (a.address + a.length - 1) >> 3; g++) {
		uint32_t known = map_get(&l->granules, g), now = known;

		if (!known)
			now = (e->thread + 1) & THREAD;
		else if ((known & THREAD) != ((e->thread + 1) & THREAD))
			now |= SHARED;
		if (a.kinds & ATOMICITY_WRITE)
			now |= WRITTEN;
		if (now != known)
			map_set(&l->granules, g, now);
	}
}

static bool is_shared(const struct learner *l, const struct access *a)
{
	const uint32_t both = SHARED | WRITTEN;

	for (uint64_t g = a->address >> 3; g <= (a->address + a->length - 1) >> 3; g++)
		if ((map_get(&l->granules, g) & both) == both)
			return true;
	return false;
}

/* ---- places ---- */

static char *variable_of(const struct learner *l, const struct trace_site *site, uint64_t address)
{
	struct trace_variable variable;
	char *name;

	if (site->type && site->member)
		return describe_variable(site);
	if (trace_variable_at(l->trace, address, &variable) && variable.name)
		return mem_text(variable.name);
	name = describe_variable(site);
	return name ? name : mem_text("memory");
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return (hash ^ 0xff) * 0x100000001b3ull;
}

/* Copies of inlined code are one place. */
static uint32_t intern(struct learner *l, const struct place *place)
{
	uint64_t key =
		hash_text(hash_text(hash_text(0xcbf29ce484222325ull, place->variable), place->function),
			  place->file) ^
		(uint64_t)place->line << 24 ^ place->column;
	uint32_t number;

	for (; (number = map_get(&l->place_keys, key)); key++) {
		const struct place *other = &l->places[number];

		if (other->line == place->line && other->column == place->column &&
		    !strcmp(other->variable, place->variable) && !strcmp(other->function, place->function) &&
		    !strcmp(other->file, place->file)) {
			free(place->variable);
			return number;
		}
	}
	number = ++l->place_count;
	if (!(number & (number - 1)))
		l->places = mem_resize(l->places, 2ul * number, sizeof(*l->places));
	l->places[number] = *place;
	map_set(&l->place_keys, key, number);
	return number;
}

static uint32_t place_of(struct learner *l, uint32_t number, uint64_t address)
{
	struct trace_site site;

	if (number == TRACE_NO_SITE)
		return 0;
	if (number >= l->site_room) {
		uint64_t room = l->site_room ? l->site_room : 1024;

		while (room <= number)
			room *= 2;
		l->by_site = mem_resize(l->by_site, room, sizeof(*l->by_site));
		memset(l->by_site + l->site_room, 0, (room - l->site_room) * sizeof(*l->by_site));
		l->site_room = room;
	}
	if (!l->by_site[number]) {
		l->by_site[number] = ~0u;
		if (trace_site(l->trace, number, &site, NULL) >= 0 && site.function && site.file &&
		    site.line && site.column && !(site.flags & ATOMSAN_SITE_VOLATILE)) {
			struct place place = {variable_of(l, &site, address), site.function, site.file,
					      site.line, site.column};

			l->by_site[number] = intern(l, &place);
		}
	}
	return l->by_site[number] == ~0u ? 0 : l->by_site[number];
}

/* ---- brackets ---- */

static void bracket_access(struct learner *l, const struct trace_event *e, const struct access *a,
			   uint32_t place)
{
	struct bracket *b = l->brackets;
	unsigned first = a->kinds & ATOMICITY_READ ? ATOMICITY_READ : ATOMICITY_WRITE;
	unsigned last = a->kinds & ATOMICITY_WRITE ? ATOMICITY_WRITE : ATOMICITY_READ;

	while (b < l->brackets + l->bracket_count &&
	       (b->thread != e->thread || b->address != a->address || b->length != a->length))
		b++;
	if (b == l->brackets + l->bracket_count) {
		l->brackets = mem_resize(l->brackets, l->bracket_count + 1ul, sizeof(*l->brackets));
		b = &l->brackets[l->bracket_count++];
		*b = (struct bracket){.address = a->address,
				      .length = a->length,
				      .thread = e->thread,
				      .first = place,
				      .first_kind = (uint8_t)first};
	}
	b->last = place;
	b->last_kind = (uint8_t)last;
	b->count += first == last ? 1 : 2;
}

static void bracket_end(struct learner *l, uint32_t thread)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->bracket_count; i++) {
		const struct bracket *b = &l->brackets[i];
		struct pairs_pair pair = {.first = b->first,
					  .last = b->last,
					  .first_kind = b->first_kind,
					  .last_kind = b->last_kind,
					  .times = 1};
		uint32_t k = 0;

		if (b->thread != thread) {
			l->brackets[kept++] = *b;
			continue;
		}
		while (k < l->annotated_count &&
		       (l->annotated[k].first != pair.first || l->annotated[k].last != pair.last ||
			l->annotated[k].first_kind != pair.first_kind ||
			l->annotated[k].last_kind != pair.last_kind))
			k++;
		if (k < l->annotated_count || b->count < 2)
			continue;
		l->annotated = mem_resize(l->annotated, k + 1ul, sizeof(*l->annotated));
		l->annotated[l->annotated_count++] = pair;
	}
	l->bracket_count = kept;
}

/* ---- pairs ---- */

static void see_op(struct learner *l, const struct trace_event *e)
{
	switch (e->op) {
	case TRACE_OP_WAIT:
		pairs_wait(l->pairs, e->thread);
		break;
	case TRACE_OP_UNIT_BEGIN:
		l->depths[e->thread]++;
		break;
	case TRACE_OP_UNIT_END:
		if (l->depths[e->thread] && !--l->depths[e->thread])
			bracket_end(l, e->thread);
		break;
	default:
		break;
	}
}

static void see(struct learner *l, const struct trace_event *e)
{
	struct trace_function function;
	struct access a;
	uint32_t place;

	guard(l, e);
	if (e->kind == TRACE_ENTER) {
		/* Getters, setters and second receivers are part of whoever called. */
		bool transparent = trace_function(l->trace, e->function, &function, NULL) < 0 ||
				   function.flags & (ATOMSAN_FN_ACCESSOR | ATOMSAN_FN_ARGUMENT);

		pairs_enter(l->pairs, e->thread, e->function, transparent);
		return;
	}
	if (e->kind == TRACE_EXIT) {
		pairs_leave(l->pairs, e->thread, e->frames);
		return;
	}
	if (e->kind == TRACE_OP)
		see_op(l, e);
	if (!access_of(l, e, &a) || !is_shared(l, &a))
		return;
	place = a.atomic ? 0 : place_of(l, e->site, a.address);
	l->accesses++;
	pairs_access(l->pairs, e->thread, a.address, a.length, a.kinds, place);
	if (l->depths[e->thread] && place)
		bracket_access(l, e, &a, place);
}

static int go_through(struct learner *l, void (*take)(struct learner *, const struct trace_event *),
		      struct err *err)
{
	struct trace_cursor *cursor = trace_cursor_open(l->trace);
	struct trace_event event;
	int more;

	while ((more = trace_next(cursor, &event)) > 0)
		take(l, &event);
	if (more < 0)
		*err = *trace_cursor_error(cursor);
	trace_cursor_close(cursor);
	return more;
}

/* ---- into the repository ---- */

static struct repository_place repository_place_of(const struct learner *l, uint32_t number, unsigned kind)
{
	const struct place *place = &l->places[number];

	return (struct repository_place){.kind = kind,
					 .variable = place->variable,
					 .function = place->function,
					 .file = place->file,
					 .line = place->line,
					 .column = place->column};
}

/* Loops bear the names of their functions. */
static void set_unit(const struct learner *l, struct repository_section *section, uint32_t number)
{
	struct trace_function function;

	if (!number || trace_function(l->trace, number, &function, NULL) < 0 || !function.name ||
	    !function.file || !strcmp(function.name, section->entry.function))
		return;
	section->unit = function.name;
	section->unit_file = function.file;
}

static void add_pair(const struct learner *l, struct repository *repository,
		     const struct atomicity_table *table, const struct pairs_pair *pair, bool annotated,
		     struct learn_counts *counts)
{
	struct repository_end end = {repository_place_of(l, pair->last, pair->last_kind),
				     atomicity_serializable(pair->first_kind, pair->last_kind)};
	struct repository_from from = {.origin = annotated ? ATOMICITY_ANNOTATION : ATOMICITY_LEARNED,
				       .runs = annotated ? 0 : 1,
				       .guarded = !annotated && pair->guarded == pair->times,
				       .times = annotated ? 0 : pair->times};
	struct repository_section section = {
		.variable = l->places[pair->first].variable,
		.entry = repository_place_of(l, pair->first, pair->first_kind),
		.ends = &end,
		.end_count = 1,
		.circular = pair->first == pair->last && pair->first_kind == pair->last_kind,
		.consecutive = !annotated,
		.from = &from,
		.from_count = 1,
	};

	set_unit(l, &section, pair->unit);
	if (repository_settle_section(&section, table)) {
		counts->elsewhere++;
		return;
	}
	if (pair->broken && !annotated) {
		repository_add_broken(repository, &section.entry, &end.place);
		counts->broken++;
		return;
	}
	if (!annotated && repository_is_broken(repository, &section.entry, &end.place))
		return;
	counts->fresh += !repository_find(repository, section.id);
	if (annotated)
		counts->brackets++;
	else
		counts->pairs++;
	repository_add(repository, &section);
}

static bool same_places(const struct pairs_pair *a, const struct pairs_pair *b)
{
	return a->first == b->first && a->last == b->last && a->first_kind == b->first_kind &&
	       a->last_kind == b->last_kind;
}

static int by_places(const void *a, const void *b)
{
	const struct pairs_pair *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	if (x->first_kind != y->first_kind)
		return x->first_kind < y->first_kind ? -1 : 1;
	if (x->last_kind != y->last_kind)
		return x->last_kind < y->last_kind ? -1 : 1;
	return x->times > y->times ? -1 : x->times < y->times;
}

static void add_all(const struct learner *l, struct repository *repository,
		    const struct atomicity_table *table, struct learn_counts *counts)
{
	uint32_t count;
	const struct pairs_pair *found = pairs_all(l->pairs, &count);
	struct pairs_pair *all = mem_zalloc(count + 1ul, sizeof(*all));

	if (count)
		memcpy(all, found, count * sizeof(*all));
	/* The same places in calls of several functions are one pair; the most frequent one gives the unit.
	 */
	qsort(all, count, sizeof(*all), by_places);
	for (uint32_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && same_places(&all[i], &all[next]); next++) {
			all[i].times += all[next].times;
			all[i].broken += all[next].broken;
			all[i].guarded += all[next].guarded;
		}
		add_pair(l, repository, table, &all[i], false, counts);
	}
	for (uint32_t i = 0; i < l->annotated_count; i++)
		add_pair(l, repository, table, &l->annotated[i], true, counts);
	free(all);
}

static void release(struct learner *l)
{
	for (uint32_t i = 1; i <= l->place_count; i++)
		free(l->places[i].variable);
	free(l->places);
	free(l->by_site);
	free(l->block_sizes);
	free(l->brackets);
	free(l->annotated);
	free(l->depths);
	map_release(&l->granules);
	map_release(&l->blocks);
	map_release(&l->place_keys);
	if (l->pairs)
		pairs_free(l->pairs);
	guards_free(l->guards);
}

/* From the beginning once more, and now for pairs. */
static void begin_again(struct learner *l)
{
	map_release(&l->blocks);
	l->blocks = (struct map){0};
	l->block_count = 0;
	free(l->block_sizes);
	l->block_sizes = NULL;
	guards_again(l->guards);
	l->pairs = pairs_new(l->guards);
}

int learn_trace(struct repository *repository, const struct atomicity_table *table, const char *path,
		struct learn_counts *counts, struct err *err)
{
	struct learner l = {.trace = trace_open(path, err)};
	int result = -1;

	if (!l.trace)
		return -1;
	l.guards = guards_new();
	l.places = mem_zalloc(1, sizeof(*l.places));
	l.depths = mem_zalloc(l.trace->thread_count + 1ul, sizeof(*l.depths));
	if (go_through(&l, share, err) >= 0 && (begin_again(&l), go_through(&l, see, err)) >= 0) {
		add_all(&l, repository, table, counts);
		counts->accesses += l.accesses;
		result = 0;
	}
	release(&l);
	trace_close(l.trace);
	return result;
}
