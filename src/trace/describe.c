/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/describe.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* What the columns of TRACE_OPS mean, "-" where there is nothing. */
static const struct {
	const char *object, *value, *other;
} columns[1 << TRACE_OP_BITS] = {
#define X(number, name, text, object, value, other) [number] = {object, value, other},
	TRACE_OPS(X)
#undef X
};

/* In the order of the enums in abi/hooks.h. */
static const char *const orders[] = {"plain",   "relaxed", "consume", "acquire",
				     "release", "acq_rel", "seq_cst"};
static const char *const bases[] = {"unknown", "global", "receiver", "parameter",
				    "local",   "member", "loaded",   "call"};
static const char *const site_flags[] = {"volatile", "bitfield", "range", "member", "array", "may fail"};
static const char *const function_flags[] = {"external",    "private",    "method",   "varargs", "artificial",
					     "constructor", "destructor", "accessor", "loop",    "walk"};
static const char *const variable_flags[] = {"atomic", "volatile", "lock", "static", "array"};
enum { ORDERS = sizeof orders / sizeof *orders, BASES = sizeof bases / sizeof *bases };

const char *describe_access(unsigned access)
{
	static const char *const texts[] = {"read",  "write", "atomic-load", "atomic-store", "atomic-rmw",
					    "fence", "call",  "object",      "update"};

	return access < sizeof texts / sizeof *texts ? texts[access] : "unknown";
}

static const char *event_text(const struct trace_event *e)
{
	switch (e->kind) {
	case TRACE_ACCESS:
		return describe_access(e->access);
	case TRACE_ENTER:
		return "enter";
	case TRACE_EXIT:
		return "exit";
	default:
		return trace_op_text(e->op);
	}
}

static bool is_lock(unsigned op)
{
	return op >= TRACE_OP_LOCK && op <= TRACE_OP_LOCK_DESTROY;
}

/* The flags by name, with commas between. */
static void put_flags(const struct trace_event *e, FILE *out, const char *quote)
{
	static const char *const locks[] = {"try", "timed", "recursive", "spin", "rw", "ownerdead", "c11"};
	unsigned n = 0;

	if (is_lock(e->op))
		for (unsigned i = 0; i < sizeof locks / sizeof *locks; i++)
			if (e->flags >> i & 1)
				fprintf(out, "%s%s%s%s", n++ ? "," : "", quote, locks[i], quote);
	if (e->op >= TRACE_OP_ATOMIC_LOAD && e->op <= TRACE_OP_FENCE && e->flags < ORDERS)
		fprintf(out, "%s%s%s", quote, orders[e->flags], quote);
}

char *describe_variable(const struct trace_site *site)
{
	if (site->type && site->member)
		return mem_textf("%s.%s", site->type, site->member);
	if (site->base)
		return mem_text(site->base);
	return site->type ? mem_text(site->type) : NULL;
}

char *describe_address(const struct trace *trace, uint64_t address)
{
	struct trace_variable v;
	char element[32] = "", inside[32] = "";
	uint64_t offset;

	if (!trace_variable_at(trace, address, &v) || !v.name)
		return NULL;
	offset = address - v.address;
	if (v.flags & ATOMSAN_VARIABLE_ARRAY && v.element_size) {
		snprintf(element, sizeof element, "[%" PRIu64 "]", offset / v.element_size);
		offset %= v.element_size;
	}
	if (offset)
		snprintf(inside, sizeof inside, "+%" PRIu64, offset);
	return mem_textf("%s%s%s", v.name, element, inside);
}

/* What an event is about, by the source's names: of a member the site knows best, of
 * anything else the address. */
static char *name_event(const struct trace *trace, const struct trace_event *e, const struct trace_site *site)
{
	char *name;

	if (e->kind == TRACE_OP)
		return strcmp(columns[e->op].object, "-") ? describe_address(trace, e->address) : NULL;
	if (e->kind != TRACE_ACCESS)
		return NULL;
	name = describe_variable(site);
	return name ? name : describe_address(trace, e->address);
}

/* The name that an imported trace has for what the event is about. */
static const char *imported_name(const struct trace *trace, const struct trace_event *e)
{
	if (!(trace->header.flags & TRACE_IMPORTED))
		return NULL;
	if (e->kind == TRACE_ACCESS)
		return trace_std_name(trace, TRACE_STD_VARIABLES, e->address);
	if (e->kind == TRACE_OP && is_lock(e->op))
		return trace_std_name(trace, TRACE_STD_LOCKS, e->address);
	if (e->kind == TRACE_OP && (e->op == TRACE_OP_UNIT_BEGIN || e->op == TRACE_OP_UNIT_END))
		return trace_std_name(trace, TRACE_STD_UNITS, e->address);
	return NULL;
}

static bool is_thread(const char *column)
{
	return strstr(column, "'s number") != NULL;
}

static const char *thread_by_number(const struct trace *trace, uint64_t number, char *room, size_t size)
{
	int64_t index = number <= UINT32_MAX ? trace_thread_index(trace, (uint32_t)number) : -1;

	if (index >= 0)
		return trace_thread_name(trace, (uint32_t)index);
	snprintf(room, size, "T?%" PRIu64, number);
	return room;
}

static void put_column(const struct trace *trace, FILE *out, const char *column, uint64_t value, bool address)
{
	char room[32];

	if (is_thread(column) && value == UINT32_MAX)
		return; /* the main thread has no parent */
	if (is_thread(column)) {
		fprintf(out, "  %.*s ", (int)(strstr(column, "'s number") - column), column);
		text_put(out, thread_by_number(trace, value, room, sizeof room));
	} else if (address) {
		fprintf(out, "  %s 0x%" PRIx64, column, value);
	} else {
		fprintf(out, "  %s %" PRIu64, column, value);
	}
}

static void put_place(FILE *out, const char *function, const char *file, uint32_t line, uint16_t column)
{
	if (function) {
		fputs("  in ", out);
		text_put(out, function);
	}
	if (file) {
		fputs("  ", out);
		text_put(out, file);
		if (line)
			fprintf(out, ":%" PRIu32, line);
		if (line && column)
			fprintf(out, ":%u", column);
	}
}

static void put_function(FILE *out, const struct trace_function *function)
{
	if (function->flags & ATOMSAN_FN_LOOP) {
		fputs("  loop at ", out);
		text_put(out, function->file ? function->file : "?");
		fprintf(out, ":%" PRIu32, function->line);
		put_place(out, function->name, NULL, 0, 0);
		return;
	}
	put_place(out, function->name, function->file, function->line, 0);
}

static void put_op(const struct trace *trace, const struct trace_event *e, FILE *out)
{
	const char *object = columns[e->op].object;

	if (strcmp(object, "-"))
		fprintf(out, "  0x%" PRIx64, e->address);
	if (e->prefixes & 1 << TRACE_PREFIX_VALUE)
		put_column(trace, out, columns[e->op].value, e->value,
			   e->op == TRACE_OP_WAIT || e->op == TRACE_OP_WAKE);
	if (e->prefixes & 1 << TRACE_PREFIX_OTHER)
		put_column(trace, out, columns[e->op].other, e->other, false);
	if (e->flags) {
		fputs("  [", out);
		put_flags(e, out, "");
		fputs("]", out);
	}
}

void describe_event(const struct trace *trace, const struct trace_event *e, FILE *out)
{
	const char *name = imported_name(trace, e);
	struct trace_site site = {0};
	struct trace_function function;
	char *variable = NULL;
	int64_t found;

	fprintf(out, "%8" PRIu64 "%c ", e->key, e->stamped ? '*' : ' ');
	text_put(out, trace_thread_name(trace, e->thread));
	fprintf(out, "  %s", event_text(e));
	if (e->site != TRACE_NO_SITE && (e->kind == TRACE_ACCESS || e->kind == TRACE_OP))
		trace_site(trace, e->site, &site, NULL);
	switch (e->kind) {
	case TRACE_ACCESS:
		fprintf(out, "  0x%" PRIx64 "+%" PRIu64, e->address, e->value);
		if (trace_event_found(e, &found))
			fprintf(out, "  finds %" PRId64, found);
		break;
	case TRACE_OP:
		put_op(trace, e, out);
		break;
	case TRACE_ENTER:
		if (e->address)
			fprintf(out, "  0x%" PRIx64, e->address);
		if (!trace_function(trace, e->function, &function, NULL))
			put_function(out, &function);
		break;
	case TRACE_EXIT:
		fprintf(out, "  frames %" PRIu32, e->frames);
		break;
	}
	if (!name)
		name = variable = name_event(trace, e, &site);
	if (name) {
		fputs("  ", out);
		text_put(out, name);
	}
	free(variable);
	put_place(out, site.function, site.file, site.line, site.column);
}

static void json_field(FILE *out, const char *name, const char *text)
{
	if (!text)
		return;
	fprintf(out, ",\"%s\":", name);
	text_json(out, text);
}

static void json_column(const struct trace *trace, FILE *out, const char *name, const char *column,
			uint64_t value, bool address)
{
	char room[32];

	if (is_thread(column) && value == UINT32_MAX)
		return;
	if (is_thread(column))
		json_field(out, strcmp(name, "value") ? "parent" : "child",
			   thread_by_number(trace, value, room, sizeof room));
	else if (address)
		fprintf(out, ",\"mutex\":\"0x%" PRIx64 "\"", value);
	else
		fprintf(out, ",\"%s\":%" PRIu64, name, value);
}

static void json_place(FILE *out, const char *function, const char *file, uint32_t line, uint16_t column)
{
	json_field(out, "function", function);
	json_field(out, "file", file);
	if (line)
		fprintf(out, ",\"line\":%" PRIu32, line);
	if (column)
		fprintf(out, ",\"column\":%u", column);
}

/* `names` has one per bit. */
static void json_flags(FILE *out, const char *const *names, unsigned count, unsigned flags)
{
	fputs(",\"flags\":[", out);
	for (unsigned i = 0, n = 0; i < count; i++)
		if (flags >> i & 1)
			fprintf(out, "%s\"%s\"", n++ ? "," : "", names[i]);
	fputs("]", out);
}

static void json_function(FILE *out, const struct trace_function *function)
{
	json_place(out, function->name, function->file, function->line, 0);
	json_flags(out, function_flags, sizeof function_flags / sizeof *function_flags, function->flags);
}

static void json_op(const struct trace *trace, const struct trace_event *e, FILE *out)
{
	if (strcmp(columns[e->op].object, "-"))
		fprintf(out, ",\"object\":\"0x%" PRIx64 "\"", e->address);
	if (e->prefixes & 1 << TRACE_PREFIX_VALUE)
		json_column(trace, out, "value", columns[e->op].value, e->value,
			    e->op == TRACE_OP_WAIT || e->op == TRACE_OP_WAKE);
	if (e->prefixes & 1 << TRACE_PREFIX_OTHER)
		json_column(trace, out, "other", columns[e->op].other, e->other, false);
	if (e->flags) {
		fputs(",\"flags\":[", out);
		put_flags(e, out, "\"");
		fputs("]", out);
	}
}

void describe_event_json(const struct trace *trace, const struct trace_event *e, FILE *out)
{
	const char *name = imported_name(trace, e);
	struct trace_site site = {0};
	struct trace_function function;
	char *variable = NULL;
	int64_t found;

	fprintf(out, "{\"key\":%" PRIu64 ",\"stamped\":%s,\"thread\":", e->key,
		e->stamped ? "true" : "false");
	text_json(out, trace_thread_name(trace, e->thread));
	fprintf(out, ",\"event\":\"%s\"", event_text(e));
	if (e->site != TRACE_NO_SITE && (e->kind == TRACE_ACCESS || e->kind == TRACE_OP)) {
		trace_site(trace, e->site, &site, NULL);
		fprintf(out, ",\"site\":%" PRIu32, e->site);
	}
	if (!name)
		name = variable = name_event(trace, e, &site);
	switch (e->kind) {
	case TRACE_ACCESS:
		fprintf(out, ",\"address\":\"0x%" PRIx64 "\",\"size\":%" PRIu64, e->address, e->value);
		if (trace_event_found(e, &found))
			fprintf(out, ",\"found\":%" PRId64, found);
		json_field(out, "variable", name);
		break;
	case TRACE_OP:
		json_op(trace, e, out);
		json_field(out, "name", name);
		break;
	case TRACE_ENTER:
		if (e->address)
			fprintf(out, ",\"receiver\":\"0x%" PRIx64 "\"", e->address);
		if (!trace_function(trace, e->function, &function, NULL))
			json_function(out, &function);
		break;
	case TRACE_EXIT:
		fprintf(out, ",\"frames\":%" PRIu32, e->frames);
		break;
	}
	free(variable);
	json_place(out, site.function, site.file, site.line, site.column);
	fputs("}", out);
}

void describe_site(const struct trace *trace, uint64_t number, FILE *out)
{
	struct trace_site site;
	char *variable;

	if (trace_site(trace, number, &site, NULL))
		return;
	variable = describe_variable(&site);
	fprintf(out, "%8" PRIu64 "  %s  %u", number, describe_access(site.kind), site.size);
	if (variable) {
		fputs("  ", out);
		text_put(out, variable);
	}
	put_place(out, site.function, site.file, site.line, site.column);
	if (*site.module->path) {
		fputs("  (", out);
		text_put(out, site.module->path);
		fputs(")", out);
	}
	free(variable);
}

void describe_site_json(const struct trace *trace, uint64_t number, FILE *out)
{
	struct trace_site site;
	char *variable;

	if (trace_site(trace, number, &site, NULL))
		return;
	variable = describe_variable(&site);
	fprintf(out, "{\"site\":%" PRIu64 ",\"kind\":\"%s\",\"size\":%u", number, describe_access(site.kind),
		site.size);
	json_field(out, "variable", variable);
	json_field(out, "type", site.type);
	json_field(out, "member", site.member);
	json_field(out, "base", site.base);
	json_field(out, "found_by", site.base_kind < BASES ? bases[site.base_kind] : NULL);
	if (site.order && site.order < ORDERS)
		json_field(out, "order", orders[site.order]);
	if (site.type_size)
		fprintf(out, ",\"offset\":%" PRIu32 ",\"type_size\":%" PRIu32, site.offset, site.type_size);
	json_flags(out, site_flags, sizeof site_flags / sizeof *site_flags, site.flags);
	json_place(out, site.function, site.file, site.line, site.column);
	json_field(out, "module", site.module->path);
	fputs("}", out);
	free(variable);
}

void describe_listed(const struct trace *trace, uint64_t i, FILE *out)
{
	struct trace_variable v;

	trace_variable(trace, i, &v);
	fprintf(out, "0x%" PRIx64 "+%" PRIu64 "  ", v.address, v.size);
	text_put(out, v.name ? v.name : "?");
	if (v.type) {
		fputs("  ", out);
		text_put(out, v.type);
	}
	put_place(out, NULL, v.file, v.line, 0);
}

void describe_listed_json(const struct trace *trace, uint64_t i, FILE *out)
{
	struct trace_variable v;

	trace_variable(trace, i, &v);
	fprintf(out, "{\"address\":\"0x%" PRIx64 "\",\"size\":%" PRIu64, v.address, v.size);
	json_field(out, "variable", v.name);
	json_field(out, "type", v.type);
	fprintf(out, ",\"element_size\":%" PRIu32, v.element_size);
	json_flags(out, variable_flags, sizeof variable_flags / sizeof *variable_flags, v.flags);
	json_place(out, NULL, v.file, v.line, 0);
	json_field(out, "module", v.module->path);
	fputs("}", out);
}

void describe_state(const struct trace *trace, char *text, size_t size)
{
	int status = trace->header.exit_status;

	if (trace->header.state == TRACE_RUNNING)
		snprintf(text, size, "not finished: the process still runs, or was killed without a word");
	else if (trace->header.state == TRACE_STOPPED)
		snprintf(text, size, "not complete: recording was given up while the process went on");
	else if (trace->header.flags & TRACE_IMPORTED)
		snprintf(text, size, "imported from text");
	else if (WIFSIGNALED(status))
		snprintf(text, size, "finished: killed by signal %d", WTERMSIG(status));
	else
		snprintf(text, size, "finished: exit status %d", WEXITSTATUS(status));
}
