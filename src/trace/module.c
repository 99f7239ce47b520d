/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The tables of a module: sites, functions, variables and the strings they point to. The
 * tables are used as they lie in the file; a string reference is a distance
 * from the place of the field in the process, so places are computed in the
 * process's addresses and only then turned into an offset in the strings.
 */
#include "trace/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int damaged(const struct trace *trace, uint32_t number, const char *what, struct err *err)
{
	return err_set(err, "%s: the tables of module %" PRIu32 " are damaged: %s", trace->path, number,
		       what);
}

/* Takes `length` bytes off the front of the span, or NULL. */
static const char *cut(struct trace_span *rest, uint64_t length)
{
	const char *data = rest->data;

	if (length > rest->length)
		return NULL;
	rest->data += length;
	rest->length -= length;
	return data;
}

int trace_module_add(struct trace *trace, struct trace_span item, struct err *err)
{
	struct trace_module m;
	struct trace_module_table t;
	const char *path, *nul;

	if (item.length < sizeof m)
		return damaged(trace, trace->module_count, "they are too short", err);
	memcpy(&m, cut(&item, sizeof m), sizeof m);
	t = (struct trace_module_table){.number = m.number,
					.build_id_length = m.build_id_length,
					.load_bias = m.load_bias,
					.first_site = m.first_site,
					.sites = m.sites_length / sizeof(struct atomsan_site),
					.first_function = m.first_function,
					.functions = m.functions_length / sizeof(struct atomsan_function),
					.sites_address = m.sites_address,
					.functions_address = m.functions_address,
					.strings_address = m.strings_address,
					.variables = m.variables_length / sizeof(struct atomsan_variable),
					.variables_address = m.variables_address};
	path = cut(&item, m.path_length);
	t.build_id = path ? (const uint8_t *)cut(&item, m.build_id_length) : NULL;
	t.site_data = t.build_id ? (const uint8_t *)cut(&item, m.sites_length) : NULL;
	t.function_data = t.site_data ? (const uint8_t *)cut(&item, m.functions_length) : NULL;
	t.strings = t.function_data ? cut(&item, m.strings_length) : NULL;
	t.variable_data = t.strings ? (const uint8_t *)cut(&item, m.variables_length) : NULL;
	t.spec.data = t.variable_data ? cut(&item, m.spec_length) : NULL;
	t.spec.length = m.spec_length;
	if (!t.spec.data)
		return damaged(trace, m.number, "they are shorter than their header says", err);
	if (m.sites_length % sizeof(struct atomsan_site) ||
	    m.functions_length % sizeof(struct atomsan_function) ||
	    m.variables_length % sizeof(struct atomsan_variable) || t.variables > UINT32_MAX)
		return damaged(trace, m.number, "a table ends inside an entry", err);
	if (t.sites && (!t.first_site || t.first_site + t.sites < t.sites))
		return damaged(trace, m.number, "its site numbers are impossible", err);
	if (t.functions && t.first_function + t.functions < t.functions)
		return damaged(trace, m.number, "its function numbers are impossible", err);
	/* What follows the last NUL cannot be a string; with it gone, every offset
	 * inside is the beginning of a string that ends. */
	nul = m.strings_length ? memrchr(t.strings, 0, m.strings_length) : NULL;
	t.strings_length = nul ? (uint64_t)(nul - t.strings) + 1 : 0;
	t.path = mem_alloc((unsigned long)m.path_length + 1);
	memcpy(t.path, path, m.path_length);
	t.path[m.path_length] = 0;
	trace->modules = mem_resize(trace->modules, trace->module_count + 1, sizeof *trace->modules);
	trace->modules[trace->module_count++] = t;
	return 0;
}

static int compare_sites(const void *left, const void *right)
{
	const struct trace_module_table *a = left, *b = right;

	if (a->first_site != b->first_site)
		return a->first_site < b->first_site ? -1 : 1;
	return a->sites < b->sites ? -1 : a->sites > b->sites;
}

static int compare_functions(const void *left, const void *right, void *modules)
{
	const struct trace_module_table *a = (struct trace_module_table *)modules + *(const uint32_t *)left;
	const struct trace_module_table *b = (struct trace_module_table *)modules + *(const uint32_t *)right;

	if (a->first_function != b->first_function)
		return a->first_function < b->first_function ? -1 : 1;
	return a->functions < b->functions ? -1 : a->functions > b->functions;
}

static int compare_variables(const void *left, const void *right)
{
	const struct trace_variable_place *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/* The same one again, or one that the linker put over it: the larger goes first. */
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* Variables do not overlap; where some do (an object was unloaded and another
 * took its place), the one that begins first keeps its bytes. */
static void sort_variables(struct trace *trace)
{
	struct trace_variable_place *v;
	uint64_t count = 0, kept = 0;

	for (uint32_t i = 0; i < trace->module_count; i++)
		count += trace->modules[i].variables;
	free(trace->variables);
	trace->variables = v = mem_alloc((count + 1) * sizeof *v);
	count = 0;
	for (uint32_t i = 0; i < trace->module_count; i++) {
		const struct trace_module_table *m = &trace->modules[i];

		for (uint64_t entry = 0; entry < m->variables; entry++) {
			struct atomsan_variable raw;

			memcpy(&raw, m->variable_data + entry * sizeof raw, sizeof raw);
			if (raw.size && raw.address + raw.size > raw.address)
				v[count++] = (struct trace_variable_place){raw.address, raw.size, i,
									   (uint32_t)entry};
		}
	}
	qsort(v, count, sizeof *v, compare_variables);
	for (uint64_t i = 0; i < count; i++)
		if (!kept || v[i].address - v[kept - 1].address >= v[kept - 1].size)
			v[kept++] = v[i];
	trace->variable_count = kept;
}

int trace_modules_sort(struct trace *trace, struct err *err)
{
	struct trace_module_table *m = trace->modules;
	const struct trace_module_table *site = NULL, *function = NULL; /* the latest that has any */
	uint32_t n = trace->module_count;

	if (!n)
		return 0;
	qsort(m, n, sizeof *m, compare_sites);
	sort_variables(trace);
	free(trace->by_function);
	trace->by_function = mem_alloc(n * sizeof *trace->by_function);
	for (uint32_t i = 0; i < n; i++)
		trace->by_function[i] = i;
	qsort_r(trace->by_function, n, sizeof *trace->by_function, compare_functions, m);
	/* Modules without entries lie anywhere and are in nobody's way. */
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_module_table *f = &m[trace->by_function[i]];

		if (m[i].sites) {
			if (site && m[i].first_site - site->first_site < site->sites)
				return damaged(trace, m[i].number, "another module has the same site numbers",
					       err);
			site = &m[i];
		}
		if (f->functions) {
			if (function && f->first_function - function->first_function < function->functions)
				return damaged(trace, f->number,
					       "another module has the same function numbers", err);
			function = f;
		}
	}
	return 0;
}

const struct trace_module_table *trace_site_module(const struct trace *trace, uint64_t number)
{
	uint32_t low = 0, high = trace->module_count;

	/* The last module that begins at or before the number; those without
	 * sites sort before the one that has the same first number. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (trace->modules[middle].first_site <= number)
			low = middle + 1;
		else
			high = middle;
	}
	/* A module without sites may carry any number, so it can hide the right one. */
	while (low-- > 0) {
		const struct trace_module_table *m = &trace->modules[low];

		if (m->sites)
			return number - m->first_site < m->sites ? m : NULL;
	}
	return NULL;
}

const struct trace_module_table *trace_function_module(const struct trace *trace, uint64_t number)
{
	uint32_t low = 0, high = trace->module_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (trace->modules[trace->by_function[middle]].first_function <= number)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0) {
		const struct trace_module_table *m = &trace->modules[trace->by_function[low]];

		if (m->functions)
			return number - m->first_function < m->functions ? m : NULL;
	}
	return NULL;
}

static const char *string(const struct trace_module_table *m, uint64_t field, int32_t distance)
{
	uint64_t offset = field + (uint64_t)(int64_t)distance - m->strings_address;

	return distance && offset < m->strings_length ? m->strings + offset : NULL;
}

int trace_site(const struct trace *trace, uint64_t number, struct trace_site *site, struct err *err)
{
	const struct trace_module_table *m = trace_site_module(trace, number);
	struct atomsan_site raw;
	uint64_t at;

	if (!m)
		return err_set(err, "%s: there is no site %" PRIu64 " in the trace", trace->path, number);
	at = (number - m->first_site) * sizeof raw;
	memcpy(&raw, m->site_data + at, sizeof raw);
	at += m->sites_address;
#define STRING(field) string(m, at + offsetof(struct atomsan_site, field), raw.field)
	*site = (struct trace_site){.function = STRING(function),
				    .file = STRING(file),
				    .type = STRING(type),
				    .member = STRING(member),
				    .base = STRING(base),
				    .line = raw.line,
				    .column = raw.column,
				    .size = raw.size,
				    .kind = raw.kind,
				    .order = raw.order,
				    .base_kind = raw.base_kind & ATOMSAN_BASE_MASK,
				    .counts = raw.base_kind >> ATOMSAN_COUNTS_SHIFT,
				    .flags = raw.flags,
				    .offset = raw.offset,
				    .type_size = raw.type_size,
				    .module = m};
#undef STRING
	return 0;
}

static uint32_t function_flags(const struct atomsan_function *raw)
{
	return raw->flags | (uint32_t)raw->more_flags << 16;
}

uint32_t trace_function_flags(const struct trace *trace, uint64_t number)
{
	const struct trace_module_table *m = trace_function_module(trace, number);
	struct atomsan_function raw;

	if (!m)
		return 0;
	memcpy(&raw, m->function_data + (number - m->first_function) * sizeof raw, sizeof raw);
	return function_flags(&raw);
}

int trace_function(const struct trace *trace, uint64_t number, struct trace_function *function,
		   struct err *err)
{
	const struct trace_module_table *m = trace_function_module(trace, number);
	struct atomsan_function raw;
	uint64_t at;

	if (!m)
		return err_set(err, "%s: there is no function %" PRIu64 " in the trace", trace->path, number);
	at = (number - m->first_function) * sizeof raw;
	memcpy(&raw, m->function_data + at, sizeof raw);
	at += m->functions_address;
#define STRING(field) string(m, at + offsetof(struct atomsan_function, field), raw.field)
	*function = (struct trace_function){.name = STRING(name),
					    .linkage_name = STRING(linkage_name),
					    .file = STRING(file),
					    .receiver_type = STRING(receiver_type),
					    .calls = STRING(calls),
					    .line = raw.line,
					    .receiver = raw.receiver,
					    .flags = function_flags(&raw),
					    .asm_blocks = raw.asm_blocks,
					    .module = m};
#undef STRING
	return 0;
}

void trace_variable(const struct trace *trace, uint64_t i, struct trace_variable *variable)
{
	const struct trace_variable_place *place = &trace->variables[i];
	const struct trace_module_table *m = &trace->modules[place->module];
	uint64_t at = place->entry * sizeof(struct atomsan_variable);
	struct atomsan_variable raw;

	memcpy(&raw, m->variable_data + at, sizeof raw);
	at += m->variables_address;
#define STRING(field) string(m, at + offsetof(struct atomsan_variable, field), raw.field)
	*variable = (struct trace_variable){.name = STRING(name),
					    .file = STRING(file),
					    .type = STRING(type),
					    .address = raw.address,
					    .size = raw.size,
					    .element_size = raw.element_size,
					    .line = raw.line,
					    .flags = raw.flags,
					    .module = m};
#undef STRING
}

bool trace_variable_at(const struct trace *trace, uint64_t address, struct trace_variable *variable)
{
	uint64_t low = 0, high = trace->variable_count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (trace->variables[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - trace->variables[low - 1].address >= trace->variables[low - 1].size)
		return false;
	trace_variable(trace, low - 1, variable);
	return true;
}
