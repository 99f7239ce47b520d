/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The repository, in a program that was built to be tested: sections, and for
 * every site what is to be done there. A module that is loaded later is looked
 * through when it comes. Damage is said in a sentence, and the program runs on
 * with what was understood up to there.
 */
#include "atomicity/heal.h"
#include "rt/heal.h"
#include "rt/sys.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { SECTIONS = 1024, NAMES = 1024, PLACES = 65535, ROLES = 1 << 17, SITES = 1 << 22, TEXT = 1 << 20 };

struct atomsan_heal_section *heal_sections;
struct heal_unit *heal_units;
uint32_t heal_section_count;

static struct atomicity_reader reader;
static const char *text;
static uint64_t text_length;
static struct atomsan_heal_variable *names;
static uint32_t name_count;
static const char **copied; /* of each: the struct that it is, as far as copies of the whole of it tell */
static struct atomsan_heal_place *places; /* the first one is nobody's */
static uint32_t place_count;
static struct atomsan_heal_role *roles;
static uint32_t role_count;
static uint16_t *place_numbers; /* by number of site */
static char *strings;
static uint32_t string_length;

/* What was found at a site, until all is found. */
static struct found {
	uint64_t site;
	struct atomsan_heal_role role;
} *found;
static uint32_t found_count;

static void *memory(uint64_t size)
{
	void *p = (void *)sys6(mmap, 0, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return sys_failed(p) ? NULL : p;
}

static const char *copy(struct atomicity_word word)
{
	char *to = strings + string_length;
	uint32_t room = TEXT - string_length;
	uint32_t length = atomicity_word_copy(word, to, room);

	if (length + 1 >= room)
		return "";
	string_length += length + 1;
	return to;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static struct atomsan_heal_variable *variable_of(struct atomicity_word name)
{
	for (uint32_t i = 0; i < name_count; i++)
		if (atomicity_word_is(name, names[i].name))
			return &names[i];
	if (name_count == NAMES)
		return &names[NAMES - 1];
	names[name_count].name = copy(name);
	return &names[name_count++];
}

/* ---- sections ---- */

static void add_section(const struct atomicity_section *given)
{
	struct atomsan_heal_section *section;

	if (heal_section_count == SECTIONS)
		return;
	section = &heal_sections[heal_section_count++];
	section->id = copy(given->id);
	section->variable = variable_of(given->entry.variable);
	section->unit = copy(given->unit.length ? given->unit : given->entry.function);
	section->unit_file = copy(given->unit.length ? given->unit_file : given->entry.file);
	section->flags = atomicity_heal_flags(given);
	section->allow = atomicity_heal_allow(given);
	/* Sections over several variables have one gate for all of them. */
	for (uint32_t i = 0; i < given->end_count; i++)
		heal_join(section->variable, variable_of(given->ends[i].place.variable));
}

/* Sections that can be open at once in one thread, because they have the same unit, must not be waited for in
 * different orders. */
static void join_units(void)
{
	for (uint32_t i = 0; i < heal_section_count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (same(heal_sections[i].unit, heal_sections[k].unit) &&
			    same(heal_sections[i].unit_file, heal_sections[k].unit_file)) {
				heal_join(heal_sections[k].variable, heal_sections[i].variable);
				break;
			}
}

/* Does one begin with the same struct as the other? */
static bool same_struct(const char *a, const char *b)
{
	while (*a && *a == *b && *a != '.')
		a++, b++;
	return *a == '.' && *b == '.';
}

/* Is the one a member of what the other is all of, or another one that is all of the same struct? */
static bool shares_copies(uint32_t of, uint32_t with)
{
	const char *type = copied[of], *name = names[with].name;

	if (!type)
		return false;
	if (copied[with] && same(type, copied[with]))
		return true;
	while (*type && *type == *name)
		type++, name++;
	return !*type && *name == '.';
}

/* Members of one struct are one set, and may be accessed several at once. */
static void join_members(void)
{
	for (uint32_t i = 0; i < name_count; i++)
		for (uint32_t k = 0; k < i; k++)
			if (same_struct(names[i].name, names[k].name)) {
				heal_join(&names[k], &names[i]);
				break;
			}
	for (uint32_t i = 0; i < name_count; i++)
		for (uint32_t k = 0; copied[i] && k < name_count; k++)
			if (k != i && shares_copies(i, k))
				heal_join(&names[k], &names[i]);
}

static bool map_file(const char *path)
{
	struct stat status;
	long fd = sys3(open, path, O_RDONLY | O_CLOEXEC, 0);
	void *p = NULL;

	if (sys_failed(fd)) {
		rt_say("the atomicity repository %s cannot be read; nothing is healed", path);
		return false;
	}
	status.st_size = 0;
	if (!sys_failed(sys2(fstat, fd, &status)) && status.st_size)
		p = (void *)sys6(mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	sys1(close, fd);
	if (!p || sys_failed(p)) {
		rt_say("the atomicity repository %s is empty; nothing is healed", path);
		return false;
	}
	text = p;
	text_length = (uint64_t)status.st_size;
	return true;
}

bool heal_repository_read(const char *path)
{
	int more;

	if (!map_file(path))
		return false;
	heal_sections = memory(SECTIONS * sizeof *heal_sections);
	heal_units = memory(SECTIONS * sizeof *heal_units);
	names = memory(NAMES * sizeof *names);
	copied = memory(NAMES * sizeof *copied);
	places = memory((PLACES + 1) * sizeof *places);
	roles = memory(ROLES * sizeof *roles);
	found = memory(ROLES * sizeof *found);
	place_numbers = memory(SITES * sizeof *place_numbers);
	strings = memory(TEXT);
	if (!heal_sections || !heal_units || !names || !copied || !places || !roles || !found ||
	    !place_numbers || !strings)
		return false;
	place_count = 1;
	atomicity_begin(&reader, text, text_length);
	while ((more = atomicity_next(&reader)) > 0)
		if (reader.item == ATOMICITY_SECTION)
			add_section(&reader.section);
	if (more < 0)
		rt_say("the atomicity repository %s is damaged in line %u: %s; the %u sections before it are "
		       "healed",
		       path, (uint64_t)reader.line, reader.sentence, (uint64_t)heal_section_count);
	join_units();
	return heal_section_count != 0;
}

/* ---- sites ---- */

static void note(uint64_t site, struct atomsan_heal_section *section, unsigned what, unsigned kind)
{
	if (found_count < ROLES)
		found[found_count++] = (struct found){site, {section, what, kind}};
}

/* Is there another one that was made of the same place in the source? */
static bool is_piece(const struct atomicity_place *place, const struct atomicity_table *table,
		     uint64_t number)
{
	const struct atomsan_site *site = &table->sites[number - 1];

	for (uint64_t i = 0; (i = atomicity_next_site(place, site->line, site->column, table, i));)
		if (i != number)
			return true;
	return false;
}

/* Whose accesses to members are accesses to it. The module may be gone before the name is asked for. */
static void note_copied(const struct atomsan_heal_variable *variable, const char *type)
{
	struct atomicity_word word = {.at = type};

	while (type[word.length])
		word.length++;
	if (!copied[variable - names])
		copied[variable - names] = copy(word);
}

static bool note_place(const struct atomicity_place *place, const struct atomicity_table *table,
		       uint64_t first, bool same_build, struct atomsan_heal_section *section,
		       enum atomsan_heal_what what)
{
	uint32_t line, column;
	bool any = false;

	if (!atomicity_match(place, table, same_build, &line, &column))
		return false;
	for (uint64_t i = 0; (i = atomicity_next_site(place, line, column, table, i)); any = true) {
		const struct atomsan_site *site = &table->sites[i - 1];
		bool piece = is_piece(place, table, i);

		note(first + i - 1, section, piece ? what | ATOMSAN_HEAL_PIECE : what, place->kind);
		if (site->type && !site->member)
			note_copied(section->variable, (const char *)&site->type + site->type);
	}
	return any;
}

/* Perhaps of several members at once: the compiler joins accesses of neighbours. */
static bool is_wide(const struct atomsan_site *site)
{
	return site->type && (!site->member || site->size >= 8 || site->flags & ATOMSAN_SITE_RANGE);
}

/* The variable of this name that has a gate, or that lies in the same struct; NULL: none. */
static struct atomsan_heal_variable *known_variable(const struct atomsan_site *site)
{
	struct atomsan_heal_variable *akin = NULL;

	for (uint32_t i = 0; i < name_count; i++) {
		struct atomicity_word word = {.at = names[i].name};

		while (word.at[word.length])
			word.length++;
		if (atomicity_site_variable(site, word) > 0)
			return &names[i];
		if ((is_wide(site) && atomicity_is_akin(site, names[i].name)) ||
		    atomicity_is_part(site, word) ||
		    (copied[i] && site->type && same(copied[i], (const char *)&site->type + site->type)))
			akin = &names[i];
	}
	return akin;
}

static struct atomsan_heal_place *new_place(uint64_t number, const struct atomsan_site *site)
{
	struct atomsan_heal_place *place = &places[place_count];

	if (place_count == PLACES || number >= SITES)
		return NULL;
	place_numbers[number] = (uint16_t)place_count++;
	place->kinds = atomicity_site_kinds(site);
	return place;
}

static void find_units(const struct atomsan_function *functions, uint64_t count)
{
	for (uint32_t i = 0; i < heal_section_count; i++) {
		struct heal_unit *unit = &heal_units[i];

		for (uint64_t k = 0; k < count && unit->count < 4; k++) {
			const struct atomsan_function *function = &functions[k];
			const char *name =
				function->name ? (const char *)&function->name + function->name : "";
			const char *file =
				function->file ? (const char *)&function->file + function->file : "";
			const char *last = file;

			if (!same(name, heal_sections[i].unit) ||
			    function->flags & (ATOMSAN_FN_LOOP | ATOMSAN_FN_ARGUMENT))
				continue;
			for (; *file; file++)
				if (*file == '/')
					last = file + 1;
			file = heal_sections[i].unit_file;
			for (const char *p = file; *p; p++)
				if (*p == '/')
					file = p + 1;
			if (same(last, file))
				unit->functions[unit->count++] = function;
		}
	}
}

/* The order of locks with names of their own; that of others is learned. */
static void add_order(const struct atomicity_word *names_of)
{
	const struct atomsan_variable *locks[2];

	for (int i = 0; i < 2; i++) {
		char name[256];

		atomicity_word_copy(names_of[i], name, sizeof name);
		locks[i] = rt_module_variable_named(name, 0);
		if (!locks[i])
			return;
	}
	heal_order_add(heal_lock_node((const void *)locks[0]->address),
		       heal_lock_node((const void *)locks[1]->address));
}

/* By name, and with the rest it goes on. */
static void say_lost(const struct atomsan_heal_section *section, const struct atomicity_place *place)
{
	char function[128], file[128];

	atomicity_word_copy(place->function, function, sizeof function);
	atomicity_word_copy(place->file, file, sizeof file);
	rt_say("section %s is not healed: the program has no access to %s at %s %s:%u any more", section->id,
	       section->variable->name, function, file, (uint64_t)place->line);
}

static struct atomsan_heal_variable *variable_at(const struct atomsan_site *site)
{
	const char *parts[3] = {NULL, NULL, NULL};
	char name[256];
	uint32_t length = 0;

	if (site->type && site->member) {
		parts[0] = (const char *)&site->type + site->type;
		parts[1] = ".";
		parts[2] = (const char *)&site->member + site->member;
	} else {
		parts[0] = (const char *)&site->base + site->base;
	}
	for (int i = 0; i < 3 && parts[i]; i++)
		for (const char *p = parts[i]; *p && length < sizeof name - 1; p++)
			name[length++] = *p;
	name[length] = 0;
	return variable_of((struct atomicity_word){.at = name, .length = length});
}

/*
 * All accesses that begin a section which is a whole unit: of the variables that
 * it names, and of those of the same set that are used where it is. They are
 * guarded together from here on.
 */
static void note_all(const struct atomicity_section *given, const struct atomicity_table *table,
		     uint64_t first, struct atomsan_heal_section *section)
{
	for (uint64_t i = 0; i < table->count; i++) {
		const struct atomsan_site *site = &table->sites[i];

		if (atomicity_site_kinds(site) && atomicity_is_akin(site, section->variable->name) &&
		    atomicity_is_inside(given, site))
			heal_join(section->variable, variable_at(site));
	}
	for (uint64_t i = 0; i < table->count; i++) {
		const struct atomsan_site *site = &table->sites[i];
		struct atomsan_heal_variable *variable =
			atomicity_site_kinds(site) ? known_variable(site) : NULL;

		if (variable && heal_leader(variable) == heal_leader(section->variable) &&
		    (atomicity_is_akin(site, section->variable->name) || atomicity_is_named(given, site)))
			note(first + i, section, ATOMSAN_HEAL_ENTRY, atomicity_site_kinds(site));
	}
}

void heal_say_lost(void)
{
	static bool said;
	uint32_t index = 0;

	if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	atomicity_begin(&reader, text, text_length);
	while (index < heal_section_count && atomicity_next(&reader) > 0) {
		const struct atomicity_section *given = &reader.section;

		if (reader.item != ATOMICITY_SECTION)
			continue;
		if (!heal_units[index].entry || !heal_units[index].end)
			say_lost(&heal_sections[index],
				 heal_units[index].entry ? &given->ends[0].place : &given->entry);
		index++;
	}
}

static void look_up(const struct atomicity_table *table, uint64_t first, bool same_build)
{
	uint32_t index = 0;

	atomicity_begin(&reader, text, text_length);
	while (atomicity_next(&reader) > 0) {
		const struct atomicity_section *given = &reader.section;
		struct atomsan_heal_section *section;
		uint32_t before = found_count, ends = 0;

		if (reader.item == ATOMICITY_ORDER)
			add_order(reader.order);
		if (reader.item != ATOMICITY_SECTION)
			continue;
		if (index == heal_section_count)
			break;
		section = &heal_sections[index++];
		if (!note_place(&given->entry, table, first, same_build, section, ATOMSAN_HEAL_ENTRY))
			continue;
		heal_units[index - 1].entry = true;
		for (uint32_t i = 0; i < given->end_count; i++)
			ends += note_place(&given->ends[i].place, table, first, same_build, section,
					   ATOMSAN_HEAL_END);
		if (ends && section->flags & ATOMSAN_HEAL_WHOLE)
			note_all(given, table, first, section);
		if (ends)
			heal_units[index - 1].end = true;
		else
			found_count = before;
	}
}

void heal_module(const struct atomsan_site *sites, uint64_t count, uint64_t first,
		 const struct atomsan_function *functions, uint64_t function_count)
{
	struct atomicity_table table = {.sites = sites, .count = count};
	uint64_t room = atomicity_index_room(count) * sizeof(uint32_t);
	uint32_t *index = memory(room);

	if (index)
		atomicity_index(&table, index);
	found_count = 0;
	look_up(&table, first, rt_module_is_build(sites, reader.build.at, reader.build.length));
	find_units(functions, function_count);
	join_members();
	for (uint64_t i = 0; i < count; i++) {
		struct atomsan_heal_variable *variable;

		if (!atomicity_site_kinds(&sites[i]))
			continue;
		variable = known_variable(&sites[i]);
		if (variable) {
			struct atomsan_heal_place *place = new_place(first + i, &sites[i]);

			if (place)
				place->variable = variable;
		}
	}
	/* Sites that do not know what they access have a place if they are an entry or an end. */
	for (uint32_t i = 0; i < found_count; i++) {
		uint64_t number = found[i].site;
		struct atomsan_heal_place *place = number < SITES ? &places[place_numbers[number]] : NULL;

		if (place == places && (place = new_place(number, &sites[number - first])))
			place->variable = found[i].role.section->variable;
		if (place)
			place->roles++;
	}
	for (uint32_t i = 1; i < place_count; i++)
		if (places[i].roles && !places[i].role) {
			places[i].role = &roles[role_count];
			role_count += places[i].roles;
			places[i].roles = 0;
		}
	for (uint32_t i = 0; i < found_count; i++) {
		struct atomsan_heal_place *place =
			found[i].site < SITES ? &places[place_numbers[found[i].site]] : places;

		if (place != places)
			((struct atomsan_heal_role *)place->role)[place->roles++] = found[i].role;
	}
	if (index)
		sys2(munmap, index, room);
}

const struct atomsan_heal_place *heal_place_of(const struct atomsan_site *site)
{
	uint64_t number = rt_module_site(site);
	uint32_t place = number < SITES ? place_numbers[number] : 0;

	return place ? &places[place] : NULL;
}
