/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The repository, read when the program starts and matched with its sites. A
 * file that is damaged, or is about another program, is told of once, and the
 * program runs on with what there is. Shared objects that are loaded later are
 * matched when they register.
 */
#include "rt/sections.h"
#include "rt/sys.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MOST_SITES = 1 << 26, LINKS = 1 << 18, TOLD = 5, LEARNED_RUNS = 2, SURE = 500 };

struct section *sections_all;
uint32_t sections_count;
bool sections_over_two;
uint32_t *sections_first;
uint64_t sections_sites;
struct section_link *sections_links;

static uint32_t link_count = 1;
static struct atomicity_reader reader;
static const char *text;
static uint64_t text_length;
static bool same_build;      /* the module that is being matched */
static bool executable_same; /* as the one that the places were taken from */
/* Pairs that were broken in a run that passed, as they stand in the file. */
static struct atomicity_place (*broken)[2];
static uint32_t broken_count;
/* What the end of a section was in the file, to be matched with modules that come later. */
static struct atomicity_place *places; /* entry, end, end, ... of each section, one after the other */
static uint32_t place_count, place_room;

/* Zeroed, never given back; NULL if there is none. */
static void *memory(uint64_t size)
{
	void *p = (void *)sys6(mmap, 0, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return sys_failed(p) ? NULL : p;
}

static bool read_text(const char *path)
{
	long fd = sys3(open, path, O_RDONLY | O_CLOEXEC, 0);
	struct stat status;
	uint64_t got = 0;
	char *to;

	if (sys_failed(fd)) {
		rt_say("the atomicity repository %s cannot be read; the program runs without it", path);
		return false;
	}
	if (sys_failed(sys2(fstat, fd, &status)) || !S_ISREG(status.st_mode) || status.st_size > 1 << 28 ||
	    !(to = memory((uint64_t)status.st_size + 1))) {
		sys1(close, fd);
		rt_say("the atomicity repository %s is no file of a bearable size; the program runs without "
		       "it",
		       path);
		return false;
	}
	while (got < (uint64_t)status.st_size) {
		long n = sys3(read, fd, to + got, (uint64_t)status.st_size - got);

		if (n <= 0)
			break;
		got += (uint64_t)n;
	}
	sys1(close, fd);
	text = to;
	text_length = got;
	return true;
}

/* ---- which sections count ---- */

static bool same_word(struct atomicity_word a, struct atomicity_word b)
{
	if (a.length != b.length || a.quoted != b.quoted)
		return false;
	for (uint32_t i = 0; i < a.length; i++)
		if (a.at[i] != b.at[i])
			return false;
	return true;
}

static bool same_place(const struct atomicity_place *a, const struct atomicity_place *b)
{
	return a->kind == b->kind && a->line == b->line && a->column == b->column &&
	       same_word(a->variable, b->variable) && same_word(a->function, b->function) &&
	       same_word(a->file, b->file);
}

static bool is_broken(const struct atomicity_place *entry, const struct atomicity_place *end)
{
	for (uint32_t i = 0; i < broken_count; i++)
		if (same_place(&broken[i][0], entry) && same_place(&broken[i][1], end))
			return true;
	return false;
}

static bool option_is(const char *option, const char *word)
{
	while (*option && *option == *word)
		option++, word++;
	return *option == *word;
}

static bool is_sure(const struct atomicity_from *from)
{
	switch (from->origin) {
	case ATOMICITY_SPEC:
	case ATOMICITY_ANNOTATION:
	case ATOMICITY_FINDING:
		return true;
	case ATOMICITY_LINT:
		return from->confidence >= SURE;
	case ATOMICITY_LEARNED:
		return from->runs >= LEARNED_RUNS;
	}
	return false;
}

/* Whoever means it, and not whoever has only seen it. */
static bool is_meant(const struct atomicity_from *from)
{
	return from->origin != ATOMICITY_LINT && from->origin != ATOMICITY_LEARNED;
}

static bool wanted(const struct atomicity_section *section, bool *meant)
{
	bool all = option_is(rt_options.sections, "all"), sure = !section->from_count;

	*meant = !section->from_count;
	for (uint32_t i = 0; i < section->from_count; i++) {
		sure |= is_sure(&section->from[i]);
		*meant |= is_meant(&section->from[i]);
	}
	return all || sure;
}

/* Lint's and learned ends never stand where the entry was not passed in the same call. */
static bool is_dominated(const struct atomicity_section *section)
{
	for (uint32_t i = 0; i < section->from_count; i++)
		if (section->from[i].origin == ATOMICITY_LINT || section->from[i].origin == ATOMICITY_LEARNED)
			return true;
	return false;
}

static bool add_section(const struct atomicity_section *from)
{
	struct section *to = &sections_all[sections_count];
	bool meant;

	if (sections_count == SECTIONS_MOST || place_count + from->end_count + 1 > place_room ||
	    !wanted(from, &meant))
		return false;
	to->id = from->id;
	to->variable = from->variable;
	to->unit = from->unit.length ? from->unit : from->entry.function;
	to->unit_file = from->unit.length ? from->unit_file : from->entry.file;
	to->given_unit = from->unit.length && !same_word(from->unit, from->entry.function);
	to->dominated = is_dominated(from);
	to->kind = from->entry.kind;
	to->any = from->any;
	to->circular = from->circular;
	to->recursive = from->recursive;
	to->consecutive = from->consecutive;
	to->from_count = from->from_count;
	if (from->from_count)
		to->from = from->from[0];
	to->end_count = 0;
	places[place_count] = from->entry;
	for (uint32_t i = 0; i < from->end_count; i++) {
		const struct atomicity_end *end = &from->ends[i];

		if (!meant && is_broken(&from->entry, &end->place))
			continue;
		to->ends[to->end_count].allow = end->allow;
		to->ends[to->end_count].kind = end->place.kind;
		to->ends[to->end_count].variable = end->place.variable;
		to->ends[to->end_count++].site = NULL;
		places[place_count + to->end_count] = end->place;
	}
	if (!to->end_count)
		return false;
	place_count += to->end_count + 1;
	sections_over_two |= to->any;
	sections_all[++sections_count].ends = to->ends + to->end_count;
	return true;
}

/* Twice: pairs that are broken stand behind the sections. */
static bool read_items(const char *path)
{
	uint32_t sections = 0, ends = 0, pairs = 0;
	int more;

	atomicity_begin(&reader, text, text_length);
	while ((more = atomicity_next(&reader)) > 0) {
		sections += reader.item == ATOMICITY_SECTION;
		ends += reader.item == ATOMICITY_SECTION ? reader.section.end_count : 0;
		pairs += reader.item == ATOMICITY_BROKEN;
	}
	if (more < 0) {
		rt_say("%s:%u: %s; the program runs without it", path, (uint64_t)reader.line,
		       reader.sentence);
		return false;
	}
	if (sections > SECTIONS_MOST)
		sections = SECTIONS_MOST;
	place_room = sections + ends;
	sections_all = memory((sections + 1ull) * sizeof *sections_all);
	places = memory((place_room + 1ull) * sizeof *places);
	broken = memory((pairs + 1ull) * sizeof *broken);
	if (sections_all)
		sections_all[0].ends = memory((ends + 1ull) * sizeof *sections_all[0].ends);
	if (!sections_all || !places || !broken || !sections_all[0].ends)
		return false;
	atomicity_begin(&reader, text, text_length);
	while (atomicity_next(&reader) > 0)
		if (reader.item == ATOMICITY_BROKEN)
			for (int i = 0; i < 2; i++)
				broken[broken_count][i] = reader.broken[i], broken_count += i;
	atomicity_begin(&reader, text, text_length);
	while (atomicity_next(&reader) > 0)
		if (reader.item == ATOMICITY_SECTION)
			add_section(&reader.section);
	return true;
}

/* ---- the program ---- */

static void add_link(uint64_t site, uint32_t section, uint32_t end)
{
	uint32_t *first;

	if (link_count == LINKS || site >= sections_sites)
		return;
	for (first = &sections_first[site]; *first; first = &sections_links[*first].next)
		;
	sections_links[link_count] = (struct section_link){0, section, end};
	__atomic_store_n(first, link_count++, __ATOMIC_RELEASE);
}

/* One atomic operation that reads and writes cannot be interrupted by itself. */
static bool is_one_operation(const struct section *section, const struct atomicity_place *entry,
			     const struct atomicity_place *end, const struct atomsan_site *site)
{
	return site->kind == ATOMSAN_ATOMIC_RMW && section->kind != end->kind && entry->line == end->line &&
	       entry->column == end->column;
}

static void match_place(uint32_t number, uint32_t end, const struct atomicity_place *entry,
			const struct atomicity_place *place, const struct atomicity_table *table,
			uint64_t first)
{
	struct section *section = &sections_all[number];
	uint32_t line, column;

	if (!atomicity_match(place, table, same_build, &line, &column))
		return;
	for (uint64_t i = 0; (i = atomicity_next_site(place, line, column, table, i));) {
		const struct atomsan_site *site = &table->sites[i - 1];

		if (end && is_one_operation(section, entry, place, site))
			continue;
		add_link(first + i - 1, number, end);
		if (!end) {
			section->entry_sites++;
		} else {
			section->ends[end - 1].site = site;
			section->end_sites++;
		}
	}
}

static void match_units(struct section *section, const struct atomsan_function *functions, uint64_t count)
{
	for (uint64_t i = 0; i < count && section->unit_count < SECTIONS_UNITS; i++)
		if (atomicity_function_is(&functions[i], section->unit, section->unit_file))
			section->units[section->unit_count++] = &functions[i];
}

void sections_module(const struct atomsan_site *sites, uint64_t count, uint64_t first_number,
		     const struct atomsan_function *functions, uint64_t function_count)
{
	struct atomicity_table table = {sites, count, NULL};
	uint32_t *index, at = 0;

	if (!sections_count || !count)
		return;
	same_build = rt_module_is_build(sites, reader.build.at, reader.build.length);
	if (first_number == 1)
		executable_same = same_build;
	index = memory(atomicity_index_room(count) * sizeof *index);
	if (index)
		atomicity_index(&table, index);
	for (uint32_t i = 0; i < sections_count; i++) {
		const struct atomicity_place *entry = &places[at];

		for (uint32_t end = 0; end <= sections_all[i].end_count; end++)
			match_place(i, end, entry, &places[at++], &table, first_number);
		match_units(&sections_all[i], functions, function_count);
	}
	if (index)
		sys2(munmap, index, atomicity_index_room(count) * sizeof *index);
}

/* ---- the start ---- */

static void tell_matches(const char *path)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < sections_count; i++)
		missing += !sections_all[i].entry_sites || !sections_all[i].end_sites;
	if (!missing && !rt_options.verbosity)
		return;
	rt_say("%u of %u sections of %s match the program%s", (uint64_t)(sections_count - missing),
	       (uint64_t)sections_count, path,
	       executable_same ? "" : ", which is another build than they were taken from");
	for (uint32_t i = 0, told = 0; i < sections_count && told < TOLD; i++) {
		const struct section *section = &sections_all[i];
		char id[32], variable[128], unit[128];

		if (section->entry_sites && section->end_sites)
			continue;
		atomicity_word_copy(section->id, id, sizeof id);
		atomicity_word_copy(section->variable, variable, sizeof variable);
		atomicity_word_copy(section->unit, unit, sizeof unit);
		rt_say("section %s over %s in %s has no %s in the program", id, variable, unit,
		       section->entry_sites ? "end" : "entry");
		told++;
	}
}

bool sections_load(const char *path)
{
	if (!read_text(path) || !read_items(path))
		return false;
	sections_first = memory(MOST_SITES * sizeof *sections_first);
	sections_links = memory(LINKS * sizeof *sections_links);
	if (!sections_first || !sections_links)
		return false;
	sections_sites = MOST_SITES;
	rt_module_each(sections_module);
	tell_matches(path);
	return sections_count != 0;
}
