/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sites and functions, looked up in the trace's tables once and kept as what
 * the rules ask for: numbers instead of names, the user's word applied.
 */
#include "base/cxxlib.h"
#include "model/inside.h"
#include "model/spec.h"

#include <string.h>

static uint32_t number(struct nametable *table, const char *name)
{
	return name && *name ? nametable_number(table, name, strlen(name)) + 1 : 0;
}

static uint16_t type_number(struct model *model, const char *name)
{
	uint32_t n = number(&model->types, name);

	return n > UINT16_MAX ? 0 : (uint16_t)n;
}

uint32_t place_file(struct model *model, const char *file)
{
	return number(&model->files, file);
}

/* "type.member" of the pointer that leads to an access. */
static uint16_t holder_of(struct model *model, const char *base)
{
	const char *dot = base ? strchr(base, '.') : NULL;
	char type[512];

	if (!dot || dot - base >= (ptrdiff_t)sizeof(type))
		return 0;
	memcpy(type, base, (size_t)(dot - base));
	type[dot - base] = 0;
	return type_number(model, type);
}

static uint64_t hash_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3ull;
	return hash;
}

/* The file-scope variable that a function of the file means by the name. */
static uint64_t variable_named(const struct model *model, const char *name, const char *file)
{
	uint64_t hash = hash_name(name);
	struct trace_variable variable;

	for (uint32_t i; (i = map_get(&model->variables, hash)); hash++) {
		trace_variable(model->trace, i - 1, &variable);
		if (variable.name && !strcmp(variable.name, name) &&
		    (!(variable.flags & ATOMSAN_VARIABLE_STATIC) ||
		     (file && variable.file && !strcmp(variable.file, file))))
			return variable.address;
	}
	return 0;
}

static void learn_variables(struct model *model)
{
	map_clear(&model->variables);
	for (uint64_t i = 0; i < model->trace->variable_count; i++) {
		struct trace_variable variable;

		trace_variable(model->trace, i, &variable);
		if (!variable.name)
			continue;
		uint64_t hash = hash_name(variable.name);

		while (map_get(&model->variables, hash))
			hash++;
		map_set(&model->variables, hash, (uint32_t)i + 1);
	}
}

/* How large types are, and which have pointers to which, as all sites of the program show. */
static void learn_modules(struct model *model)
{
	if (model->modules_seen < model->trace->module_count)
		learn_variables(model);
	for (; model->modules_seen < model->trace->module_count; model->modules_seen++) {
		const struct trace_module_table *module = &model->trace->modules[model->modules_seen];

		for (uint64_t i = 0; i < module->sites; i++) {
			struct trace_site site;

			if (trace_site(model->trace, module->first_site + i, &site, NULL) < 0)
				continue;
			if (site.type && site.type_size)
				map_set(&model->type_sizes, type_number(model, site.type), site.type_size);
			if (site.base_kind != ATOMSAN_BASE_MEMBER)
				continue;
			uint16_t holder = holder_of(model, site.base);

			if (holder)
				map_set(&model->owners,
					(uint64_t)holder << 16 | type_number(model, site.type), 1);
		}
		waits_learn(model, module);
	}
}

bool place_reaches(struct model *model, uint16_t from, uint16_t to)
{
	uint64_t key = (uint64_t)from << 16 | to;
	uint32_t known = map_get(&model->reach, key);

	if (known)
		return known == 2;
	/* Breadth first over the types; there are few, and each pair is asked once. */
	uint32_t count = model->types.count + 1, done = 0, todo = 0;
	uint16_t *queue = mem_zalloc(count + 1, sizeof(*queue));
	bool *seen = mem_zalloc(count + 1, sizeof(*seen)), found = false;

	queue[todo++] = from;
	seen[from] = true;
	while (done < todo && !found) {
		uint16_t at = queue[done++];

		found = map_get(&model->owners, (uint64_t)at << 16 | to);
		for (uint32_t next = 1; next < count && !found; next++)
			if (!seen[next] && map_get(&model->owners, (uint64_t)at << 16 | next)) {
				seen[next] = true;
				queue[todo++] = (uint16_t)next;
			}
	}
	free(queue);
	free(seen);
	map_set(&model->reach, key, found ? 2 : 1);
	return found;
}

bool place_guarded(struct model *model, uint16_t type)
{
	uint32_t known = type ? map_get(&model->guarded, type) : 1;

	if (!known) {
		const struct spec *spec = model->options.spec;

		known = spec && spec_guarded(spec, nametable_name(&model->types, type - 1u)) ? 2 : 1;
		map_set(&model->guarded, type, known);
	}
	return known == 2;
}

static void apply_spec(struct model *model, struct place *place, const struct trace_site *site)
{
	const struct spec *spec = model->options.spec;
	const char *set, *merge;

	if (!spec)
		return;
	if (site->file && spec_ignored_file(spec, site->file))
		place->left_out = true;
	if (site->function && spec_function(spec, site->function, NULL, site->file) & SPEC_IGNORE)
		place->left_out = true;
	if (site->type) {
		if (spec_ignored_type(spec, site->type) ||
		    (site->member && spec_ignored_member(spec, site->type, site->member)))
			place->left_out = true;
		set = site->member ? spec_member_set(spec, site->type, site->member) : NULL;
		if (set)
			place->named_set = (uint16_t)number(&model->names, set);
		merge = spec_type_merge(spec, site->type);
		if (merge)
			place->merged = (uint16_t)number(&model->names, merge);
	}
	if (site->base_kind == ATOMSAN_BASE_MEMBER && place->holder) {
		int word = spec_owned(spec, nametable_name(&model->types, place->holder - 1u),
				      strchr(site->base, '.') + 1);

		place->owned = word > 0;
		place->not_owned = word < 0;
	}
}

static void look_up_place(struct model *model, uint32_t number_of_site, struct place *place)
{
	struct trace_site site;

	*place = (struct place){.known = true};
	if (number_of_site == TRACE_NO_SITE || trace_site(model->trace, number_of_site, &site, NULL) < 0)
		return;
	learn_modules(model);
	place->bytes = site.size;
	if (site.kind == ATOMSAN_UPDATE)
		place->how = PLACE_READS | PLACE_WRITES;
	else if (site.kind <= ATOMSAN_ATOMIC_RMW)
		place->how = site.kind == ATOMSAN_WRITE ? PLACE_WRITES : PLACE_READS;
	place->base_kind = site.base_kind;
	place->flags = site.flags;
	place->counts = site.counts;
	place->type = type_number(model, site.type);
	if (site.type_size) {
		place->offset = site.offset;
		place->type_size = site.type_size;
		map_set(&model->type_sizes, place->type, site.type_size);
		place->size = site.size;
	}
	if (site.type_size || site.counts)
		place->source = (uint32_t)map_hash((site.file ? hash_name(site.file) : 0) * 31 +
						   ((uint64_t)site.line << 16 | site.column));
	if (site.base_kind == ATOMSAN_BASE_MEMBER) {
		place->holder = holder_of(model, site.base);
		place->through = number(&model->pointers, site.base);
	} else if (site.base_kind == ATOMSAN_BASE_LOADED && site.base) {
		place->through = number(&model->pointers, site.base);
		place->global = variable_named(model, site.base, site.file);
	}
	place->leads = place->base_kind == ATOMSAN_BASE_MEMBER || place->base_kind == ATOMSAN_BASE_LOADED ||
		       place->base_kind == ATOMSAN_BASE_UNKNOWN;
	switch (site.kind) {
	case ATOMSAN_ATOMIC_LOAD:
	case ATOMSAN_ATOMIC_STORE:
	case ATOMSAN_ATOMIC_RMW:
		place->left_out = !model->options.atomics;
	}
	if (site.flags & ATOMSAN_SITE_VOLATILE && !model->options.atomics)
		place->left_out = true;
	if (!model->options.atomics && (cxxlib_synchronises(site.file) || cxxlib_future_state(site.type) ||
					cxxlib_future_state(site.base)))
		place->left_out = true;
	apply_spec(model, place, &site);
	/* What is reached through a member, or through a variable of the file, still tells which pointers own
	 * what they lead to, and other objects have such pointers, too. */
	if (!place->left_out && !place->holder && !place->global && model->options.spec && site.file &&
	    site.function &&
	    spec_private(model->options.spec, site.file, site.line, site.column, site.function))
		place->left_out = place->private_data = true;
}

struct place *place_look_up(struct model *model, uint32_t site)
{
	site &= ~MODEL_SOMEWHERE;
	if (site >= model->place_count) {
		uint64_t count = model->place_count ? model->place_count : 256;

		while (count <= site)
			count *= 2;
		model->places = mem_resize(model->places, count, sizeof(*model->places));
		memset(model->places + model->place_count, 0,
		       (count - model->place_count) * sizeof(*model->places));
		model->place_count = count;
	}
	struct place *place = &model->places[site];

	if (!place->known)
		look_up_place(model, site, place);
	return place;
}

static void learn_calls(struct model *model, uint32_t function, struct routine *routine, const char *lines)
{
	for (const char *line = lines; line && *line;) {
		size_t length = strcspn(line, "\n");

		if (length && *line != ATOMSAN_CALLS_WAIT) {
			uint32_t type = nametable_number(&model->types, line, length) + 1;

			if (type <= UINT16_MAX) {
				map_set(&model->calls_on, (uint64_t)function << 16 | type, 1);
				routine->calls_on = true;
			}
		}
		line += length + (line[length] != 0);
	}
	routine->waits = !model->options.keep_units_at_waits && routine->loop && waits_by(model, lines);
}

static bool is_parallel_region(const struct trace_function *function)
{
	const char *name = function->linkage_name ? function->linkage_name : function->name;

	return name && !(function->flags & ATOMSAN_FN_LOOP) && strstr(name, ".omp_outlined");
}

static void look_up_routine(struct model *model, uint32_t number_of_function, struct routine *routine)
{
	const struct spec *spec = model->options.spec;
	struct trace_function function;

	*routine = (struct routine){.known = true};
	if (trace_function(model->trace, number_of_function, &function, NULL) < 0)
		return;
	learn_modules(model);
	routine->loop = function.flags & ATOMSAN_FN_LOOP;
	routine->walk = function.flags & ATOMSAN_FN_WALK;
	routine->is_main = !routine->loop && function.name && !strcmp(function.name, "main");
	routine->seen_through = function.flags & (ATOMSAN_FN_ACCESSOR | ATOMSAN_FN_ARGUMENT);
	routine->again = function.flags & ATOMSAN_FN_AGAIN && !model->options.keep_units_at_waits;
	routine->argument = function.flags & ATOMSAN_FN_ARGUMENT && !(function.flags & ATOMSAN_FN_AGAIN);
	/* What clang makes of a parallel region is what each thread of the team begins with. */
	routine->starts = function.flags & ATOMSAN_FN_START || is_parallel_region(&function);
	routine->passes_on = function.flags & ATOMSAN_FN_PASSES_ON;
	routine->dispatches = function.flags & ATOMSAN_FN_DISPATCHES;
	routine->given = function.flags & ATOMSAN_FN_GIVEN;
	routine->receiver_type = type_number(model, function.receiver_type);
	learn_calls(model, number_of_function, routine, function.calls);
	routine->file = number(&model->files, function.file);
	if (spec && routine->receiver_type)
		routine->merged =
			(uint16_t)number(&model->names, spec_type_merge(spec, function.receiver_type));
	if (spec && function.name && !routine->loop && !(function.flags & ATOMSAN_FN_ARGUMENT)) {
		unsigned word = spec_function(spec, function.name, function.linkage_name, function.file);

		routine->declared = word & SPEC_UNIT;
		routine->waits |= (word & SPEC_WAIT) != 0;
		routine->unitfor = word & SPEC_UNITFOR;
		if (word & SPEC_NOT_UNIT)
			routine->seen_through = true;
	}
}

struct routine *routine_look_up(struct model *model, uint32_t function)
{
	if (function >= model->routine_count) {
		uint64_t count = model->routine_count ? model->routine_count : 64;

		while (count <= function)
			count *= 2;
		model->routines = mem_resize(model->routines, count, sizeof(*model->routines));
		memset(model->routines + model->routine_count, 0,
		       (count - model->routine_count) * sizeof(*model->routines));
		model->routine_count = count;
	}
	struct routine *routine = &model->routines[function];

	if (!routine->known)
		look_up_routine(model, function, routine);
	return routine;
}

void places_release(struct model *model)
{
	free(model->places);
	free(model->routines);
	nametable_release(&model->types);
	nametable_release(&model->files);
	nametable_release(&model->pointers);
	nametable_release(&model->names);
	map_release(&model->variables);
	map_release(&model->type_sizes);
	map_release(&model->owners);
	map_release(&model->calls_on);
	nametable_release(&model->wrappers);
	free(model->wrapper_functions);
	map_release(&model->reach);
	map_release(&model->guarded);
	map_release(&model->shared_pointers);
}
