/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads findings from JSON. The first thing that is wrong is what the error names. */
#include "finding/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A place in the document, for sentences, and whether something was wrong already. */
struct reader {
	struct finding_list *list;
	const char *where;
	struct err *err;
	bool failed;
};

static void wrong(struct reader *r, const char *name, const char *what)
{
	if (!r->failed)
		err_set(r->err, "%s: \"%s\" is not %s", r->where, name, what);
	r->failed = true;
}

static const char *get_text(struct reader *r, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (!value || json_is_null(value))
		return NULL;
	if (!json_is_string(value)) {
		wrong(r, name, "a text");
		return NULL;
	}
	return finding_text(r->list, json_string_value(value));
}

static uint64_t get_number(struct reader *r, const json_t *object, const char *name, uint64_t most)
{
	const json_t *value = json_object_get(object, name);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > most) {
		wrong(r, name, "a number in range");
		return 0;
	}
	return (uint64_t)json_integer_value(value);
}

/* An index below count; the other number stands for null. */
static uint32_t get_index(struct reader *r, const json_t *object, const char *name, uint32_t count,
			  uint32_t otherwise)
{
	const json_t *value = json_object_get(object, name);

	if (!value || json_is_null(value))
		return otherwise;
	if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) >= count) {
		wrong(r, name, "the number of something that is there");
		return otherwise;
	}
	return (uint32_t)json_integer_value(value);
}

/* Seeds are texts, for they have 64 bits; a number is taken as well. */
static uint64_t get_large(struct reader *r, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_string(value))
		return get_number(r, object, name, UINT64_MAX);
	const char *digits = json_string_value(value);
	char *end;

	errno = 0;
	uint64_t n = strtoull(digits, &end, 10);
	if (errno || *end || *digits < '0' || *digits > '9')
		wrong(r, name, "a number");
	return n;
}

static const json_t *get_array(struct reader *r, const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (value && !json_is_null(value) && !json_is_array(value)) {
		wrong(r, name, "an array");
		return NULL;
	}
	return value;
}

static const json_t *element(struct reader *r, const json_t *array, size_t i, const char *name)
{
	const json_t *value = json_array_get(array, i);

	if (!json_is_object(value)) {
		wrong(r, name, "an array of objects");
		return NULL;
	}
	return value;
}

static const char *text_element(struct reader *r, const json_t *array, size_t i, const char *name)
{
	const json_t *value = json_array_get(array, i);

	if (!json_is_string(value)) {
		wrong(r, name, "an array of texts");
		return "";
	}
	return json_string_value(value);
}

static struct finding_place get_place(struct reader *r, const json_t *object)
{
	return (struct finding_place){
		.function = get_text(r, object, "function"),
		.file = get_text(r, object, "file"),
		.line = (uint32_t)get_number(r, object, "line", UINT32_MAX),
		.column = (uint32_t)get_number(r, object, "column", UINT32_MAX),
	};
}

static void read_access(struct reader *r, struct finding *finding, const json_t *object)
{
	struct finding_access *access = finding_add_access(r->list, finding);
	const char *op = get_text(r, object, "op");
	const json_t *locks = get_array(r, object, "locks"), *stack = get_array(r, object, "stack");

	access->unit = get_index(r, object, "unit", finding->unit_count, FINDING_NO_UNIT);
	if (!op || strlen(op) != 1 || !strchr("RWULAB", *op))
		wrong(r, "op", "one of R, W, U, L, A, B");
	else
		access->op = *op;
	access->thread = get_text(r, object, "thread");
	access->variable = get_text(r, object, "variable");
	access->place = get_place(r, object);
	access->note = get_text(r, object, "note");
	access->value = get_text(r, object, "value");
	for (size_t i = 0; i < json_array_size(locks); i++)
		finding_add_lock(r->list, access, text_element(r, locks, i, "locks"));
	for (size_t i = 0; i < json_array_size(stack); i++) {
		const json_t *frame = element(r, stack, i, "stack");

		if (frame)
			finding_add_frame(r->list, access, get_place(r, frame));
	}
}

static void read_edge(struct reader *r, struct finding *finding, const json_t *object)
{
	struct finding_edge edge = {
		.from = get_index(r, object, "from", finding->unit_count, FINDING_NO_UNIT),
		.to = get_index(r, object, "to", finding->unit_count, FINDING_NO_UNIT),
		.source = get_index(r, object, "source", finding->access_count, FINDING_NO_ACCESS),
		.target = get_index(r, object, "target", finding->access_count, FINDING_NO_ACCESS),
	};

	if (edge.from == FINDING_NO_UNIT || edge.to == FINDING_NO_UNIT)
		wrong(r, "edges", "an array of edges between units");
	else
		finding_add_edge(r->list, finding, edge);
}

static void read_parts(struct reader *r, struct finding *finding, const json_t *object)
{
	const json_t *variables = get_array(r, object, "variables"), *units = get_array(r, object, "units");
	const json_t *accesses = get_array(r, object, "accesses"), *edges = get_array(r, object, "edges");
	const json_t *part;

	for (size_t i = 0; i < json_array_size(variables); i++)
		finding_add_variable(r->list, finding, text_element(r, variables, i, "variables"));
	for (size_t i = 0; i < json_array_size(units); i++) {
		part = element(r, units, i, "units");
		if (!part)
			return;
		struct finding_unit unit = {.place = get_place(r, part),
					    .thread = get_text(r, part, "thread"),
					    .set = get_text(r, part, "set"),
					    .why = get_text(r, part, "why")};
		*finding_add_unit(r->list, finding) = unit;
	}
	for (size_t i = 0; i < json_array_size(accesses); i++)
		if ((part = element(r, accesses, i, "accesses")))
			read_access(r, finding, part);
	for (size_t i = 0; i < json_array_size(edges); i++)
		if ((part = element(r, edges, i, "edges")))
			read_edge(r, finding, part);
}

static void read_id(struct reader *r, struct finding *finding, const json_t *object)
{
	const char *id = get_text(r, object, "id");

	if (!id) {
		finding_identify(finding);
		return;
	}
	if (!finding_id_is_valid(id)) {
		wrong(r, "id", "\"F-\" and hexadecimal digits");
		return;
	}
	snprintf(finding->id, sizeof finding->id, "%s", id);
}

static double get_real(struct reader *r, const json_t *object, const char *name, double most)
{
	const json_t *value = json_object_get(object, name);
	double n = json_number_value(value);

	if (value && !json_is_null(value) && (!json_is_number(value) || !(n >= 0 && n <= most))) {
		wrong(r, name, "a number in range");
		return 0;
	}
	return n;
}

static void read_forced(struct reader *r, struct finding_forced *forced, const json_t *object)
{
	if (!object)
		return;
	forced->schedules = get_number(r, object, "schedules", INT64_MAX);
	forced->infeasible = get_number(r, object, "not_feasible", INT64_MAX);
	forced->failed = get_number(r, object, "failed", INT64_MAX);
	if (forced->infeasible > forced->schedules || forced->failed > forced->schedules - forced->infeasible)
		wrong(r, "forced",
		      "an object whose schedules are at least those that failed or were not feasible");
}

static void read_life(struct reader *r, struct finding *finding, const json_t *object)
{
	const char *review = get_text(r, object, "review");
	const json_t *history = get_array(r, object, "history"), *event;
	int number = review ? finding_review_of(review) : FINDING_NEW;

	if (number < 0)
		wrong(r, "review", "a word for what people said");
	else
		finding->review = (enum finding_review)number;
	finding->reason = get_text(r, object, "reason");
	finding->runs = get_number(r, object, "runs", INT64_MAX);
	finding->first_seen = get_text(r, object, "first_seen");
	finding->last_seen = get_text(r, object, "last_seen");
	read_forced(r, &finding->forced, json_object_get(object, "forced"));
	for (size_t i = 0; i < json_array_size(history); i++)
		if ((event = element(r, history, i, "history")))
			finding_add_event(r->list, finding,
					  &(struct finding_event){.time = get_text(r, event, "time"),
								  .what = get_text(r, event, "what"),
								  .from = get_text(r, event, "from"),
								  .to = get_text(r, event, "to"),
								  .reason = get_text(r, event, "reason")});
}

static struct finding *read_finding(struct reader *r, const json_t *object)
{
	struct finding *finding = finding_add(r->list);
	const char *kind = get_text(r, object, "kind"), *state = get_text(r, object, "state");
	int k = kind ? finding_kind_of(kind) : -1, s = state ? finding_state_of(state) : -1;

	if (k < 0)
		wrong(r, "kind", "a kind of finding");
	else
		finding->kind = (enum finding_kind)k;
	if (s < 0)
		wrong(r, "state", "a state of a finding");
	else
		finding->state = (enum finding_state)s;
	finding->pattern = get_text(r, object, "pattern");
	finding->confidence = get_real(r, object, "confidence", 1);
	finding->verb = get_text(r, object, "verb");
	if (!finding->verb)
		finding->verb = r->list->verb;
	finding->title = get_text(r, object, "title");
	finding->advice = get_text(r, object, "advice");
	if (json_object_get(object, "seen"))
		finding->seen = get_number(r, object, "seen", INT64_MAX);
	finding->schedule = get_text(r, object, "schedule");
	read_parts(r, finding, object);
	read_life(r, finding, object);
	read_id(r, finding, object);
	return finding;
}

struct finding *finding_from_json(struct finding_list *list, const json_t *object, const char *where,
				  struct err *err)
{
	struct reader r = {.list = list, .where = where, .err = err};

	if (!json_is_object(object)) {
		err_set(err, "%s: a finding is an object", where);
		return NULL;
	}
	struct finding *finding = read_finding(&r, object);

	if (!r.failed)
		return finding;
	list->finding_count--;
	return NULL;
}

static void read_run(struct reader *r, const json_t *root)
{
	const json_t *arguments = get_array(r, root, "arguments"), *blind = get_array(r, root, "blind_spots");
	json_t *counts = json_object_get(root, "counts"), *value;
	const char *verb = get_text(r, root, "verb"), *name;

	if (verb)
		r->list->verb = verb;
	r->list->program = get_text(r, root, "program");
	r->list->build_id = get_text(r, root, "build_id");
	r->list->seed = get_large(r, root, "seed");
	for (size_t i = 0; i < json_array_size(arguments); i++)
		finding_add_argument(r->list, text_element(r, arguments, i, "arguments"));
	for (size_t i = 0; i < json_array_size(blind); i++)
		finding_add_blind_spot(r->list, text_element(r, blind, i, "blind_spots"));
	if (counts && !json_is_object(counts))
		wrong(r, "counts", "an object");
	json_object_foreach(counts, name, value)
	{
		if (json_is_number(value))
			finding_add_count(r->list, name, json_number_value(value));
		else
			wrong(r, name, "a number");
	}
}

static void read_trial(struct reader *r, const json_t *object)
{
	finding_add_trial(r->list, &(struct finding_trial){
					   .schedule = get_text(r, object, "schedule"),
					   .strategy = get_text(r, object, "strategy"),
					   .verdict = get_text(r, object, "verdict"),
					   .finding = get_text(r, object, "finding"),
					   .seed = get_large(r, object, "seed"),
					   .runs = get_number(r, object, "runs", INT64_MAX),
					   .failures = get_number(r, object, "failures", INT64_MAX),
				   });
}

static void read_past_run(struct reader *r, const json_t *object)
{
	finding_add_run(r->list, &(struct finding_run){
					 .time = get_text(r, object, "time"),
					 .verb = get_text(r, object, "verb"),
					 .program = get_text(r, object, "program"),
					 .arguments = get_text(r, object, "arguments"),
					 .build_id = get_text(r, object, "build_id"),
					 .verdict = get_text(r, object, "verdict"),
					 .seed = get_large(r, object, "seed"),
					 .findings = get_number(r, object, "findings", INT64_MAX),
					 .overhead = get_real(r, object, "overhead", 1e300),
				 });
}

static void read_document(struct reader *r, const json_t *root)
{
	const json_t *findings = get_array(r, root, "findings"), *trials = get_array(r, root, "trials");
	const json_t *runs = get_array(r, root, "runs"), *part;

	if (json_integer_value(json_object_get(root, "version")) != 1) {
		wrong(r, "version", "1, the only one that this atomsan reads");
		return;
	}
	if (!findings)
		wrong(r, "findings", "an array");
	read_run(r, root);
	for (size_t i = 0; i < json_array_size(findings) && !r->failed; i++)
		if ((part = element(r, findings, i, "findings")))
			read_finding(r, part);
	for (size_t i = 0; i < json_array_size(trials) && !r->failed; i++)
		if ((part = element(r, trials, i, "trials")))
			read_trial(r, part);
	for (size_t i = 0; i < json_array_size(runs) && !r->failed; i++)
		if ((part = element(r, runs, i, "runs")))
			read_past_run(r, part);
}

static struct finding_list *from_root(json_t *root, const json_error_t *problem, const char *where,
				      struct err *err)
{
	struct reader r = {.where = where, .err = err};

	if (!root) {
		err_set(err, "%s is not JSON: %s in line %d", where, problem->text, problem->line);
		return NULL;
	}
	r.list = finding_list_new("report");
	if (json_is_object(root))
		read_document(&r, root);
	else
		wrong(&r, "findings", "in an object");
	json_decref(root);
	if (!r.failed)
		return r.list;
	finding_list_free(r.list);
	return NULL;
}

struct finding_list *finding_list_from_json(const char *text, size_t length, const char *where,
					    struct err *err)
{
	json_error_t problem;
	json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);

	return from_root(root, &problem, where, err);
}

struct finding_list *finding_list_read(const char *path, struct err *err)
{
	json_error_t problem;
	FILE *in = fopen(path, "re");

	if (!in) {
		err_set(err, "cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	json_t *root = json_loadf(in, JSON_REJECT_DUPLICATES, &problem);

	fclose(in);
	return from_root(root, &problem, path, err);
}
