/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the store knows, as a list of findings. */
#include "finding/json.h"
#include "finding/store_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More runs and trials than these nobody looks through in a report. */
enum { MOST_RUNS = 1000, MOST_TRIALS = 5000 };

/* Column numbers of the query below. */
enum {
	ID,
	KIND,
	STATE,
	REVIEW,
	REASON,
	CONFIDENCE,
	TITLE,
	FUNCTION,
	FILE_NAME,
	LINE,
	SCHEDULE,
	DOCUMENT,
	RUNS,
	SEEN,
	FIRST,
	LAST,
	COMMAND,
	FORCED,
	INFEASIBLE,
	FAILED
};

/* The words of the run that a finding's schedule was tried in, or else of the last one that found it. */
#define COMMAND_OF                                                                                       \
	"ifnull((SELECT r.arguments FROM schedules s JOIN runs r ON r.id = s.run WHERE s.finding = f.id" \
	" AND s.path = f.schedule ORDER BY s.id DESC LIMIT 1), (SELECT r.arguments FROM occurrences o"   \
	" JOIN runs r ON r.id = o.run WHERE o.finding = f.id AND r.arguments <> '' ORDER BY o.run DESC"  \
	" LIMIT 1))"

/*
 * How sure a finding is that nobody saw happen: the less, the more schedules that
 * should have shown it were forced upon the program in vain. Four of them
 * halve it.
 */
#define CONFIDENCE_NOW                                                                             \
	"f.confidence * CASE WHEN f.state < 2 AND ifnull(t.failed, 0) = 0 THEN 4.0 / (4 + ifnull(" \
	"t.forced, 0)) ELSE 1 END"
_Static_assert(FINDING_OBSERVED == 2, "the number in CONFIDENCE_NOW");

static char *query_text(const struct store_query *query)
{
	const char *sort = query->sort ? query->sort : "";
	const char *order = !strcmp(sort, "confidence") ? "sure DESC, f.state DESC, f.id"
			    : !strcmp(sort, "seen")     ? "seen DESC, f.id"
			    : !strcmp(sort, "time")     ? "last DESC, f.id"
			    : !strcmp(sort, "id")       ? "f.id"
							: "f.state DESC, sure DESC, f.id";

	return mem_textf("SELECT f.id, f.kind, f.state, f.review, f.reason, " CONFIDENCE_NOW
			 " AS sure, f.title, f.function,"
			 " f.file, f.line, f.schedule, %s, count(o.run), total(o.seen) AS seen, min(r.time),"
			 " max(r.time) AS last, %s, t.forced, t.infeasible, t.failed"
			 " FROM findings f JOIN occurrences o ON o.finding = f.id JOIN runs r ON r.id = o.run"
			 " LEFT JOIN (SELECT finding, sum(runs) AS forced, sum(failures) AS failed,"
			 " sum(CASE verdict WHEN '" FINDING_INFEASIBLE "' THEN runs ELSE 0 END) AS infeasible"
			 " FROM schedules WHERE strategy = '" FINDING_PREDICTED_STRATEGY
			 "' GROUP BY finding) t"
			 " ON t.finding = f.id WHERE (?1 IS NULL OR substr(f.id, 1, length(?1)) = ?1)"
			 " AND (?2 < 0 OR f.kind = ?2) AND (?3 < 0 OR f.state = ?3)"
			 " AND (?4 = -1 OR f.review = ?4 OR (?4 = -2 AND f.review IN (0, 1)))"
			 " AND (?5 IS NULL OR f.title GLOB ?5 OR f.function GLOB ?5 OR f.file GLOB ?5)"
			 " GROUP BY f.id ORDER BY %s LIMIT ?6",
			 query->brief ? "NULL" : "f.document", query->brief ? "NULL" : COMMAND_OF, order);
}

/* A number of the database that stands for a word; what is out of range can only be damage. */
static int word(struct store *store, sqlite3_stmt *row, int column, int count, struct err *err)
{
	int64_t number = sqlite3_column_int64(row, column);

	if (number >= 0 && number < count)
		return (int)number;
	return err_set(err, "%s is damaged: a finding has the number %lld where a word should be",
		       store->path, (long long)number);
}

static struct finding *from_document(struct store *store, struct finding_list *list, sqlite3_stmt *row,
				     struct err *err)
{
	const char *id = (const char *)sqlite3_column_text(row, ID);
	const char *document = (const char *)sqlite3_column_text(row, DOCUMENT);
	json_error_t problem;
	json_t *object = json_loads(document ? document : "", 0, &problem);
	char *where = mem_textf("%s: finding %s", store->path, id ? id : "?");
	struct finding *finding = NULL;

	if (object)
		finding = finding_from_json(list, object, where, err);
	else
		err_set(err, "%s is damaged: %s", where, problem.text);
	json_decref(object);
	free(where);
	return finding;
}

static uint64_t count_at(sqlite3_stmt *row, int column)
{
	int64_t count = sqlite3_column_int64(row, column);

	return count > 0 ? (uint64_t)count : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int load_finding(struct store *store, struct finding_list *list, sqlite3_stmt *row, bool brief,
			struct err *err)
{
	const char *id = (const char *)sqlite3_column_text(row, ID);
	int kind = word(store, row, KIND, FINDING_KIND_COUNT, err);
	int state = kind < 0 ? -1 : word(store, row, STATE, FINDING_STATE_COUNT, err);
	int review = state < 0 ? -1 : word(store, row, REVIEW, FINDING_REVIEW_COUNT, err);

	if (review < 0)
		return -1;
	if (!id || !finding_id_is_valid(id))
		return err_set(err, "%s is damaged: a finding has no id", store->path);
	struct finding *finding = brief ? finding_add(list) : from_document(store, list, row, err);

	if (!finding)
		return -1;
	snprintf(finding->id, sizeof finding->id, "%s", id);
	finding->kind = (enum finding_kind)kind;
	finding->state = (enum finding_state)state;
	finding->review = (enum finding_review)review;
	finding->reason = store_column(list, row, REASON);
	finding->confidence = sqlite3_column_double(row, CONFIDENCE);
	if (!(finding->confidence >= 0 && finding->confidence <= 1))
		finding->confidence = 0;
	if (brief)
		finding->title = store_column(list, row, TITLE);
	finding->schedule = store_column(list, row, SCHEDULE);
	finding->runs = (uint64_t)sqlite3_column_int64(row, RUNS);
	finding->seen = (uint64_t)sqlite3_column_int64(row, SEEN);
	finding->first_seen = store_column(list, row, FIRST);
	finding->last_seen = store_column(list, row, LAST);
	finding->command = store_column(list, row, COMMAND);
	finding->forced.schedules = count_at(row, FORCED);
	finding->forced.infeasible = least(count_at(row, INFEASIBLE), finding->forced.schedules);
	finding->forced.failed =
		least(count_at(row, FAILED), finding->forced.schedules - finding->forced.infeasible);
	if (!brief)
		return 0;
	struct finding_unit *unit = finding_add_unit(list, finding);

	*unit = (struct finding_unit){.place = {.function = store_column(list, row, FUNCTION),
						.file = store_column(list, row, FILE_NAME),
						.line = (uint32_t)sqlite3_column_int64(row, LINE)}};
	return 0;
}

static int load_findings(struct store *store, struct finding_list *list, const struct store_query *query,
			 struct err *err)
{
	char *sql = query_text(query);
	sqlite3_stmt *rows = store_prepare(store, sql, err);
	int code = SQLITE_DONE, failed = rows ? 0 : -1;

	free(sql);
	if (!rows)
		return -1;
	store_bind(rows, "siiisi", query->id, (int64_t)query->kind, (int64_t)query->state,
		   (int64_t)query->review, query->match, query->limit ? (int64_t)query->limit : (int64_t)-1);
	while (!failed && (code = sqlite3_step(rows)) == SQLITE_ROW)
		failed = load_finding(store, list, rows, query->brief, err);
	if (!failed && code != SQLITE_DONE)
		failed = store_failed(store, err);
	sqlite3_finalize(rows);
	return failed;
}

int store_history(struct store *store, struct finding_list *list, struct err *err)
{
	sqlite3_stmt *rows = store_prepare(
		store, "SELECT time, what, old, new, reason FROM history WHERE finding = ? ORDER BY id", err);
	int code = SQLITE_DONE;

	if (!rows)
		return -1;
	for (uint32_t i = 0; i < list->finding_count && code == SQLITE_DONE; i++) {
		struct finding *f = &list->findings[i];

		f->history_count = 0;
		store_bind(rows, "s", f->id);
		while ((code = sqlite3_step(rows)) == SQLITE_ROW)
			finding_add_event(list, f,
					  &(struct finding_event){
						  .time = (const char *)sqlite3_column_text(rows, 0),
						  .what = (const char *)sqlite3_column_text(rows, 1),
						  .from = (const char *)sqlite3_column_text(rows, 2),
						  .to = (const char *)sqlite3_column_text(rows, 3),
						  .reason = (const char *)sqlite3_column_text(rows, 4),
					  });
		sqlite3_reset(rows);
	}
	if (code != SQLITE_DONE)
		store_failed(store, err);
	sqlite3_finalize(rows);
	return code == SQLITE_DONE ? 0 : -1;
}

static uint64_t large(sqlite3_stmt *row, int column)
{
	const char *digits = (const char *)sqlite3_column_text(row, column);

	return digits ? strtoull(digits, NULL, 10) : 0;
}

/* What the latest run did not see, and what it counted, are the report's. */
static void recall_run(struct finding_list *list, sqlite3_stmt *row)
{
	const char *blind = (const char *)sqlite3_column_text(row, 9);
	const char *counted = (const char *)sqlite3_column_text(row, 10);
	json_t *spots = json_loads(blind ? blind : "", 0, NULL), *value;
	json_t *counts = json_loads(counted ? counted : "", 0, NULL);
	const char *name;
	size_t i;

	json_array_foreach(spots, i, value) if (json_is_string(value))
		finding_add_blind_spot(list, json_string_value(value));
	json_object_foreach(counts, name, value) if (json_is_number(value))
		finding_add_count(list, name, json_number_value(value));
	json_decref(spots);
	json_decref(counts);
}

static int load_runs(struct store *store, struct finding_list *list, struct err *err)
{
	sqlite3_stmt *rows =
		store_prepare(store,
			      "SELECT time, verb, program, arguments, build_id, verdict, seed, findings,"
			      " overhead, blind_spots, counts FROM runs ORDER BY id DESC LIMIT ?",
			      err);
	int code;

	if (!rows)
		return -1;
	store_bind(rows, "i", (int64_t)MOST_RUNS);
	while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
		if (!list->run_count)
			recall_run(list, rows);
		finding_add_run(list, &(struct finding_run){
					      .time = (const char *)sqlite3_column_text(rows, 0),
					      .verb = (const char *)sqlite3_column_text(rows, 1),
					      .program = (const char *)sqlite3_column_text(rows, 2),
					      .arguments = (const char *)sqlite3_column_text(rows, 3),
					      .build_id = (const char *)sqlite3_column_text(rows, 4),
					      .verdict = (const char *)sqlite3_column_text(rows, 5),
					      .seed = large(rows, 6),
					      .findings = (uint64_t)sqlite3_column_int64(rows, 7),
					      .overhead = sqlite3_column_double(rows, 8),
				      });
	}
	if (code != SQLITE_DONE)
		store_failed(store, err);
	sqlite3_finalize(rows);
	/* The latest run says what the program is. */
	if (list->run_count) {
		list->program = list->runs[0].program;
		list->build_id = list->runs[0].build_id;
		list->seed = list->runs[0].seed;
	}
	return code == SQLITE_DONE ? 0 : -1;
}

static int load_trials(struct store *store, struct finding_list *list, const char *id, struct err *err)
{
	sqlite3_stmt *rows =
		store_prepare(store,
			      "SELECT path, strategy, verdict, finding, seed, runs, failures FROM schedules"
			      " WHERE ?1 IS NULL OR substr(finding, 1, length(?1)) = ?1 ORDER BY id DESC"
			      " LIMIT ?2",
			      err);
	int code;

	if (!rows)
		return -1;
	store_bind(rows, "si", id, (int64_t)MOST_TRIALS);
	while ((code = sqlite3_step(rows)) == SQLITE_ROW)
		finding_add_trial(list, &(struct finding_trial){
						.schedule = (const char *)sqlite3_column_text(rows, 0),
						.strategy = (const char *)sqlite3_column_text(rows, 1),
						.verdict = (const char *)sqlite3_column_text(rows, 2),
						.finding = (const char *)sqlite3_column_text(rows, 3),
						.seed = large(rows, 4),
						.runs = (uint64_t)sqlite3_column_int64(rows, 5),
						.failures = (uint64_t)sqlite3_column_int64(rows, 6),
					});
	if (code != SQLITE_DONE)
		store_failed(store, err);
	sqlite3_finalize(rows);
	return code == SQLITE_DONE ? 0 : -1;
}

struct finding_list *store_load(struct store *store, const struct store_query *query, struct err *err)
{
	struct finding_list *list = finding_list_new("report");
	/* One transaction, so that a writer in between does not make the parts contradict each other. */
	int failed = store_exec(store, "BEGIN", err);

	if (!failed) {
		failed = load_findings(store, list, query, err) || load_runs(store, list, err) ||
			 (!query->brief &&
			  (store_history(store, list, err) || load_trials(store, list, query->id, err)));
		sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
	}
	if (!failed)
		return list;
	finding_list_free(list);
	return NULL;
}
