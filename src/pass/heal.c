/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program for the field: nothing is instrumented but what the atomicity
 * repository names. That is done early, while the code is what the source says:
 * places are known by function, line and column, which optimisation merges and
 * moves; and what is not named stays as it is, so a program without a matching
 * section comes out as if compiled without us.
 *
 * Accesses are written down as the sites that they would have been, so that the
 * repository's own rules say which of them a place is.
 */
#include "pass/heal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_SITES = 1 << 20 };
static const size_t arena_size = (size_t)1 << 28;

/* Sites, and behind them their texts: a site has distances to these, of 32 bits. */
static char *arena;
static size_t text_end;

static struct atomicity_section *sections;
static uint32_t section_count;
static bool *lost;          /* the function of its entry is here, and the entry is not */
static bool *local;         /* it begins and ends in one block */
static const char **copied; /* the struct that it is on, where that is copied whole; else NULL */
static struct heal_found *found;
static uint64_t found_count, found_room;

const char *heal_wanted(void)
{
	const char *path = getenv("ATOMSAN_HEAL");

	return path && *path ? path : NULL;
}

const char *heal_word(struct atomicity_word word)
{
	uint32_t length = atomicity_word_copy(word, NULL, 0);
	char *text = malloc(length + 1);
	const char *kept;

	atomicity_word_copy(word, text, length + 1);
	kept = note_text(text);
	free(text);
	return kept;
}

/* ---- the repository ---- */

static char *read_file(const char *path, size_t *length)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;

	*length = 0;
	while (file && !feof(file) && !ferror(file)) {
		room = room ? 2 * room : 65536;
		text = realloc(text, room);
		*length += fread(text + *length, 1, room - *length, file);
	}
	if (file)
		fclose(file);
	return text;
}

/* Once: one process compiles one unit, or several with the same. */
static void read_repository(void)
{
	static bool done;
	static struct atomicity_reader reader;
	size_t length;
	char *text;
	int more;

	if (done)
		return;
	done = true;
	text = read_file(heal_wanted(), &length);
	if (!text) {
		fprintf(stderr, "atomsan cc: %s: cannot be read; nothing is healed\n", heal_wanted());
		return;
	}
	/* The text stays: sections have slices of it. */
	atomicity_begin(&reader, text, length);
	while ((more = atomicity_next(&reader)) > 0) {
		if (reader.item != ATOMICITY_SECTION || reader.section.heal == ATOMICITY_HEAL_OFF ||
		    atomicity_is_guarded(&reader.section))
			continue;
		sections = realloc(sections, (section_count + 1) * sizeof *sections);
		sections[section_count++] = reader.section;
	}
	if (more < 0)
		fprintf(stderr, "atomsan cc: %s:%u: %s; the %u sections before it are healed\n",
			heal_wanted(), reader.line, reader.sentence, section_count);
}

/* ---- accesses ---- */

static int32_t text_distance(const int32_t *field, const char *text)
{
	static const char *last[8];
	static size_t last_at[8];
	size_t slot = ((size_t)text >> 3) & 7, length = strlen(text) + 1;

	if (length == 1 || text_end + length > arena_size)
		return 0;
	if (last[slot] != text || strcmp(arena + last_at[slot], text)) {
		memcpy(arena + text_end, text, length);
		last[slot] = text;
		last_at[slot] = text_end;
		text_end += length;
	}
	return (int32_t)(arena + last_at[slot] - (const char *)field);
}

/* What is written down, or NULL: nothing that others could see. */
static struct heal_found *add(LLVMValueRef instruction, LLVMValueRef pointer, uint64_t size, bool write,
			      enum atomsan_access kind)
{
	struct atomsan_site *site = (struct atomsan_site *)arena + found_count;
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
	LLVMMetadataRef scope = location ? LLVMDILocationGetScope(location) : NULL;
	LLVMMetadataRef subprogram = scope ? di_subprogram(scope) : NULL;
	struct note note;

	if (!subprogram || found_count == MOST_SITES || private_pointer(pointer))
		return NULL;
	note_find(instruction, write, &note);
	if (select_type_ignored(note.type) || select_member_ignored(note.type, note.member))
		return NULL;
	if (found_count == found_room) {
		found_room = found_room ? 2 * found_room : 1024;
		found = realloc(found, found_room * sizeof *found);
	}
	found[found_count] = (struct heal_found){
		.instruction = instruction,
		.pointer = pointer,
		.size = size,
		.whole = *note.member ? "" : note.type,
		.reads = kind != ATOMSAN_WRITE && kind != ATOMSAN_ATOMIC_STORE,
		.writes = kind != ATOMSAN_READ && kind != ATOMSAN_ATOMIC_LOAD,
		.atomic = kind != ATOMSAN_READ && kind != ATOMSAN_WRITE && kind != ATOMSAN_UPDATE,
		.store = kind == ATOMSAN_UPDATE ? instrument_updating_store(instruction) : NULL};
	site->function = text_distance(&site->function, di_name(subprogram));
	site->file = text_distance(&site->file, di_file(scope));
	site->type = text_distance(&site->type, note.type);
	site->member = text_distance(&site->member, note.member);
	site->base = text_distance(&site->base, note.base);
	site->line = LLVMDILocationGetLine(location);
	site->column = (uint16_t)LLVMDILocationGetColumn(location);
	site->size = (uint16_t)found[found_count].size;
	site->kind = (uint8_t)kind;
	site->base_kind = (uint8_t)note.base_kind;
	site->flags = (uint8_t)note.flags;
	return &found[found_count++];
}

static void add_access(LLVMValueRef instruction, LLVMValueRef pointer, LLVMTypeRef type, bool write,
		       enum atomsan_access kind)
{
	LLVMModuleRef module =
		LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));

	add(instruction, pointer, LLVMStoreSizeOfType(LLVMGetModuleDataLayout(module), type), write, kind);
}

static void add_copies(LLVMValueRef call)
{
	struct heal_copy copies[HEAL_COPIES];
	unsigned count = heal_copies(call, copies);

	for (unsigned i = 0; i < count; i++) {
		const struct heal_copy *copy = &copies[i];
		uint64_t size = LLVMIsAConstantInt(copy->length) ? LLVMConstIntGetZExtValue(copy->length) : 0;
		struct heal_found *at = add(call, copy->pointer, size, copy->writes,
					    copy->writes ? ATOMSAN_WRITE : ATOMSAN_READ);

		if (at)
			at->length = copy->length;
	}
}

static void collect(LLVMValueRef function)
{
	LLVMValueRef *stores = NULL;
	size_t store_count = 0;

	describe_function(function);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			bool spoken_for = false;
			LLVMValueRef store;

			switch (LLVMGetInstructionOpcode(i)) {
			case LLVMLoad:
				store = LLVMIsAtomic(i) ? NULL : instrument_updating_store(i);
				if (store) {
					stores = realloc(stores, (store_count + 1) * sizeof *stores);
					stores[store_count++] = store;
				}
				add_access(i, LLVMGetOperand(i, 0), LLVMTypeOf(i), false,
					   LLVMIsAtomic(i) ? ATOMSAN_ATOMIC_LOAD
					   : store         ? ATOMSAN_UPDATE
							   : ATOMSAN_READ);
				break;
			case LLVMStore:
				for (size_t n = 0; n < store_count; n++)
					spoken_for |= stores[n] == i;
				if (!spoken_for)
					add_access(i, LLVMGetOperand(i, 1), LLVMTypeOf(LLVMGetOperand(i, 0)),
						   true,
						   LLVMIsAtomic(i) ? ATOMSAN_ATOMIC_STORE : ATOMSAN_WRITE);
				break;
			case LLVMAtomicRMW:
			case LLVMAtomicCmpXchg:
				add_access(i, LLVMGetOperand(i, 0), LLVMTypeOf(LLVMGetOperand(i, 1)), true,
					   ATOMSAN_ATOMIC_RMW);
				break;
			case LLVMCall:
			case LLVMInvoke:
				add_copies(i);
				break;
			default:
				break;
			}
		}
	free(stores);
}

/* ---- places ---- */

static void add_role(uint64_t access, uint32_t section, enum atomsan_heal_what what, unsigned kind)
{
	struct heal_found *at = &found[access];

	at->roles = realloc(at->roles, (at->role_count + 1) * sizeof *at->roles);
	at->roles[at->role_count++] = (struct heal_role){section, what, kind};
	at->wanted = true;
}

static bool add_place(const struct atomicity_table *table, const struct atomicity_place *place,
		      uint32_t section, enum atomsan_heal_what what)
{
	uint32_t line, column;
	bool any = false;

	/* The build that it was taken from was another one, but of the same source, if the line fits. */
	if (!atomicity_match(place, table, true, &line, &column) &&
	    !atomicity_match(place, table, false, &line, &column))
		return false;
	for (uint64_t i = 0; (i = atomicity_next_site(place, line, column, table, i)); any = true) {
		add_role(i - 1, section, what, place->kind);
		if (*found[i - 1].whole)
			copied[section] = found[i - 1].whole;
	}
	return any;
}

static bool has_function(const struct atomicity_table *table, const struct atomicity_place *place)
{
	for (uint64_t i = 0; i < table->count; i++)
		if (atomicity_site_function(&table->sites[i], place->function, place->file))
			return true;
	return false;
}

static void add_whole(const struct atomicity_table *table, uint32_t number)
{
	const struct atomicity_section *section = &sections[number];
	const char *variable = heal_word(section->entry.variable);

	for (uint64_t i = 0; i < table->count; i++) {
		const struct atomsan_site *site = &table->sites[i];

		if (atomicity_is_named(section, site) ||
		    (atomicity_is_akin(site, variable) && atomicity_is_inside(section, site)))
			add_role(i, number, ATOMSAN_HEAL_ENTRY, atomicity_site_kinds(site));
	}
}

/* Is the access one of what the section is on? Of what is copied, or lies in a struct that is, bytes decide.
 */
static bool touches(uint32_t s, uint64_t access)
{
	const struct atomsan_site *site = &((const struct atomsan_site *)arena)[access];
	const char *type = site->type ? (const char *)&site->type + site->type : "";
	const struct atomicity_section *section = &sections[s];
	bool is = atomicity_is_named(section, site) || atomicity_is_part(site, section->entry.variable) ||
		  (copied[s] && !strcmp(copied[s], type));

	for (uint32_t i = 0; !is && i < section->end_count; i++)
		is = atomicity_is_part(site, section->ends[i].place.variable);
	if (is || !found[access].length || !*type)
		return is;
	is = atomicity_is_akin(site, heal_word(section->entry.variable));
	for (uint32_t i = 0; !is && i < section->end_count; i++)
		is = atomicity_is_akin(site, heal_word(section->ends[i].place.variable));
	return is;
}

/* It goes by another name than they do, so their gates must be made one. */
static void join_sections(uint64_t access)
{
	struct heal_found *at = &found[access];

	for (uint32_t s = 0; s < section_count; s++)
		if (!lost[s] && !atomicity_is_named(&sections[s], &((struct atomsan_site *)arena)[access]) &&
		    touches(s, access)) {
			at->joined = realloc(at->joined, (at->joined_count + 1) * sizeof *at->joined);
			at->joined[at->joined_count++] = s;
		}
}

/* An access that begins and ends nothing, of a variable that sections name. A read that they allow does
 * nothing to them, unless it is their own unit's and they are over with it. */
static void look_at_bystander(struct heal_found *at, const struct atomsan_site *site)
{
	bool reads = atomicity_site_kinds(site) == ATOMICITY_READ, matters = false;

	for (uint32_t s = 0; s < section_count && !matters; s++) {
		matters = !lost[s] && touches(s, (uint64_t)(at - found)) &&
			  (!reads || heal_group_minds_reads(s) ||
			   (sections[s].consecutive && atomicity_is_inside(&sections[s], site)));
		at->minded_by = s;
	}
	at->wanted = matters;
}

static void judge_reads(const struct atomicity_table *table)
{
	for (uint64_t i = 0; i < table->count; i++) {
		bool harmless = atomicity_site_kinds(&table->sites[i]) == ATOMICITY_READ;

		for (uint32_t s = 0; s < section_count && harmless && found[i].wanted; s++)
			harmless = !touches(s, i) || !heal_group_minds_reads(s);
		for (uint32_t r = 0; r < found[i].role_count && harmless; r++)
			harmless = !heal_group_minds_reads(found[i].roles[r].section);
		found[i].harmless = harmless;
	}
}

static void name_variables(const struct atomicity_table *table)
{
	for (uint64_t i = 0; i < table->count; i++) {
		const struct atomsan_site *site = &table->sites[i];
		const char *type = site->type ? (const char *)&site->type + site->type : "";
		const char *member = site->member ? (const char *)&site->member + site->member : "";
		char name[1024];

		if (!found[i].wanted)
			look_at_bystander(&found[i], site);
		if (found[i].wanted)
			join_sections(i);
		if (*type && *member)
			snprintf(name, sizeof name, "%s.%s", type, member);
		else
			snprintf(name, sizeof name, "%s",
				 site->base_kind == ATOMSAN_BASE_GLOBAL && site->base
					 ? (const char *)&site->base + site->base
					 : type);
		found[i].variable = *name ? note_text(name) : NULL;
	}
}

static void look_up(void)
{
	struct atomicity_table table = {.sites = (struct atomsan_site *)arena, .count = found_count};
	uint32_t *index = calloc(atomicity_index_room(found_count), sizeof *index);

	atomicity_index(&table, index);
	memset(lost, 0, section_count * sizeof *lost);
	memset(copied, 0, section_count * sizeof *copied);
	for (uint32_t s = 0; s < section_count; s++) {
		const struct atomicity_section *section = &sections[s];
		bool whole = atomicity_is_whole(section);

		if (!add_place(&table, &section->entry, s, ATOMSAN_HEAL_ENTRY) && !whole &&
		    has_function(&table, &section->entry)) {
			lost[s] = true;
			fprintf(stderr,
				"atomsan cc: section %s: %s has no access to %s at line %u any more\n",
				heal_word(section->id), heal_word(section->entry.function),
				heal_word(section->entry.variable), section->entry.line);
			continue;
		}
		for (uint32_t i = 0; i < section->end_count; i++)
			add_place(&table, &section->ends[i].place, s, ATOMSAN_HEAL_END);
		if (whole)
			add_whole(&table, s);
	}
	name_variables(&table);
	judge_reads(&table);
	free(index);
}

void heal_instrument(LLVMModuleRef module)
{
	struct heal_plan plan;

	read_repository();
	if (!section_count)
		return;
	if (!arena) {
		arena = mmap(NULL, arena_size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (arena == MAP_FAILED) {
			arena = NULL;
			return;
		}
	}
	text_end = MOST_SITES * sizeof(struct atomsan_site);
	found_count = 0;
	select_begin(module);
	di_begin(module);
	types_collect(module);
	variables_collect(module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		private_forget();
		if (!LLVMIsDeclaration(f) && !select_function_ignored(f))
			collect(f);
	}
	heal_groups(sections, section_count);
	if (!lost)
		lost = calloc(section_count, sizeof *lost);
	if (!local)
		local = calloc(section_count, sizeof *local);
	if (!copied)
		copied = calloc(section_count, sizeof *copied);
	look_up();
	plan = (struct heal_plan){sections, lost, local, section_count, found, found_count};
	for (uint32_t s = 0; s < section_count; s++)
		local[s] = !lost[s] && heal_is_local(&plan, s);
	heal_copies_part(&plan);
	heal_emit(module, &plan);
	heal_line(module, &plan);
	for (uint64_t i = 0; i < found_count; i++) {
		free(found[i].roles);
		free(found[i].joined);
	}
}
