/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What runs and people add to the store. */
#include "base/text.h"
#include "finding/json.h"
#include "finding/store_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct adding {
	struct store *store;
	struct finding_list *list;
	struct err *err;
	char now[24];
	int64_t run;
	sqlite3_stmt *find, *insert, *update, *better, *occurred, *happened, *known;
};

static void now_text(char text[24])
{
	time_t now = time(NULL);
	struct tm parts;

	gmtime_r(&now, &parts);
	strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static char *command_of(const struct finding_list *list)
{
	char *command = NULL;
	size_t size;
	FILE *out = open_memstream(&command, &size);

	BUG_ON(!out);
	for (uint32_t i = 0; i < list->argument_count; i++) {
		fputs(i ? " " : "", out);
		text_shell(out, list->arguments[i]);
	}
	fclose(out);
	return command;
}

static double count_of(const struct finding_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->count_count; i++)
		if (!strcmp(list->counts[i].name, name))
			return list->counts[i].value;
	return 0;
}

/* A part of the list's document, as text. */
static char *part_of(const struct finding_list *list, const char *name)
{
	struct finding_list alone = *list;

	alone.finding_count = alone.trial_count = alone.run_count = 0;
	json_t *root = finding_list_to_json(&alone);
	char *text = json_dumps(json_object_get(root, name), JSON_COMPACT);

	json_decref(root);
	BUG_ON(!text);
	return text;
}

static int add_run(struct adding *a)
{
	sqlite3_stmt *insert = store_prepare(
		a->store,
		"INSERT INTO runs (time, verb, program, arguments, build_id, seed, verdict, findings,"
		" overhead, blind_spots, counts) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
		a->err);
	char *command = command_of(a->list), seed[24];
	char *blind_spots = part_of(a->list, "blind_spots"), *counts = part_of(a->list, "counts");

	snprintf(seed, sizeof seed, "%" PRIu64, a->list->seed);
	if (insert)
		store_bind(insert, "sssssssidss", a->now, a->list->verb, a->list->program, command,
			   a->list->build_id, seed, a->list->finding_count ? "findings" : "clean",
			   (int64_t)a->list->finding_count, count_of(a->list, "overhead"), blind_spots,
			   counts);
	int failed = !insert || store_step(a->store, insert, a->err);

	sqlite3_finalize(insert);
	free(command);
	free(blind_spots);
	free(counts);
	a->run = sqlite3_last_insert_rowid(a->store->db);
	return failed ? -1 : 0;
}

static int happened(struct adding *a, const char *id, const char *what, const char *old, const char *new,
		    const char *reason)
{
	store_bind(a->happened, "ssssss", id, a->now, what, old, new, reason);
	return store_step(a->store, a->happened, a->err);
}

/* What became of it has tables of its own, from which it is told anew. */
static char *document_of(const struct finding *finding)
{
	struct finding alone = *finding;

	alone.history_count = 0;
	json_t *object = finding_to_json(&alone);
	char *document = json_dumps(object, JSON_COMPACT);

	json_decref(object);
	BUG_ON(!document);
	return document;
}

/* Where the finding is, for those who look for it: its first unit, or its first access. */
static struct finding_place place_of(const struct finding *f)
{
	return f->unit_count     ? f->units[0].place
	       : f->access_count ? f->accesses[0].place
				 : (struct finding_place){0};
}

static int add_new(struct adding *a, struct finding *f, const char *title, const char *document)
{
	struct finding_place place = place_of(f);

	store_bind(a->insert, "siiidsssiss", f->id, (int64_t)f->kind, (int64_t)f->state, (int64_t)FINDING_NEW,
		   f->confidence, title, place.function, place.file, (int64_t)place.line, f->schedule,
		   document);
	if (store_step(a->store, a->insert, a->err))
		return -1;
	return happened(a, f->id, "state", NULL, finding_state_text(f->state), a->list->verb);
}

/* The row of `find` is the finding as it was. */
static int add_again(struct adding *a, struct finding *f, const char *title, const char *document)
{
	int64_t state = sqlite3_column_int64(a->find, 0), review = sqlite3_column_int64(a->find, 1);
	double confidence = sqlite3_column_double(a->find, 2);
	bool later = f->state > state, came_back = review == FINDING_FIXED;
	/* Of two interleavings the one of the later state is kept, then the more certain, then the newer.
	 * What comes back after it was fixed begins a new life: how far the old one had come says nothing of
	 * it. */
	bool better = later || came_back || (f->state == state && f->confidence >= confidence);
	struct finding_place place = place_of(f);

	sqlite3_reset(a->find);
	if (state < 0 || state >= FINDING_STATE_COUNT)
		return err_set(a->err, "%s is damaged: %s has no state", a->store->path, f->id);
	if ((later || (came_back && f->state != state)) &&
	    happened(a, f->id, "state", finding_state_text((enum finding_state)state),
		     finding_state_text(f->state), a->list->verb))
		return -1;
	if (came_back && happened(a, f->id, "review", finding_review_text(FINDING_FIXED),
				  finding_review_text(FINDING_NEW), "it was found again"))
		return -1;
	if (better) {
		store_bind(a->better, "idsssiss", (int64_t)f->kind, f->confidence, title, place.function,
			   place.file, (int64_t)place.line, document, f->id);
		if (store_step(a->store, a->better, a->err))
			return -1;
	}
	store_bind(a->update, "iiss", later || came_back ? (int64_t)f->state : state,
		   came_back ? (int64_t)FINDING_NEW : review, f->schedule, f->id);
	return store_step(a->store, a->update, a->err);
}

static int add_finding(struct adding *a, struct finding *f)
{
	char *document = document_of(f), *title = finding_title(f);
	int failed;

	store_bind(a->find, "s", f->id);
	switch (sqlite3_step(a->find)) {
	case SQLITE_ROW:
		failed = add_again(a, f, title, document);
		break;
	case SQLITE_DONE:
		sqlite3_reset(a->find);
		failed = add_new(a, f, title, document);
		break;
	default:
		failed = store_failed(a->store, a->err);
	}
	sqlite3_reset(a->find);
	free(document);
	free(title);
	if (failed)
		return -1;
	store_bind(a->occurred, "siii", f->id, a->run, (int64_t)f->state, (int64_t)(f->seen & INT64_MAX));
	return store_step(a->store, a->occurred, a->err);
}

/* What the store knows now. */
static int recall(struct adding *a, struct finding *f)
{
	store_bind(a->known, "s", f->id);
	if (sqlite3_step(a->known) != SQLITE_ROW)
		return store_failed(a->store, a->err);
	int64_t review = sqlite3_column_int64(a->known, 0);

	if (review >= 0 && review < FINDING_REVIEW_COUNT)
		f->review = (enum finding_review)review;
	f->reason = store_column(a->list, a->known, 1);
	f->runs = (uint64_t)sqlite3_column_int64(a->known, 2);
	f->first_seen = store_column(a->list, a->known, 3);
	f->last_seen = store_column(a->list, a->known, 4);
	sqlite3_reset(a->known);
	return 0;
}

static int add_trials(struct adding *a)
{
	sqlite3_stmt *insert =
		store_prepare(a->store,
			      "INSERT INTO schedules (run, finding, path, strategy, verdict, seed,"
			      " runs, failures) VALUES (?,?,?,?,?,?,?,?)",
			      a->err);
	int failed = insert ? 0 : -1;

	for (uint32_t i = 0; i < a->list->trial_count && !failed; i++) {
		const struct finding_trial *t = &a->list->trials[i];
		char seed[24];

		snprintf(seed, sizeof seed, "%" PRIu64, t->seed);
		store_bind(insert, "isssssii", a->run, t->finding, t->schedule, t->strategy, t->verdict, seed,
			   (int64_t)(t->runs & INT64_MAX), (int64_t)(t->failures & INT64_MAX));
		failed = store_step(a->store, insert, a->err);
	}
	sqlite3_finalize(insert);
	return failed;
}

static int add_all(struct adding *a)
{
	struct store *s = a->store;

	if (add_run(a))
		return -1;
	a->find = store_prepare(s, "SELECT state, review, confidence FROM findings WHERE id = ?", a->err);
	a->insert =
		store_prepare(s,
			      "INSERT INTO findings (id, kind, state, review, confidence, title, function,"
			      " file, line, schedule, document) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
			      a->err);
	a->update = store_prepare(
		s, "UPDATE findings SET state = ?, review = ?, schedule = ifnull(?, schedule) WHERE id = ?",
		a->err);
	a->better = store_prepare(s,
				  "UPDATE findings SET kind = ?, confidence = ?, title = ?, function = ?,"
				  " file = ?, line = ?, document = ? WHERE id = ?",
				  a->err);
	a->occurred = store_prepare(s,
				    "INSERT INTO occurrences VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET"
				    " seen = seen + excluded.seen, state = max(state, excluded.state)",
				    a->err);
	a->happened = store_prepare(
		s, "INSERT INTO history (finding, time, what, old, new, reason) VALUES (?,?,?,?,?,?)",
		a->err);
	a->known = store_prepare(
		s,
		"SELECT f.review, f.reason, count(*), min(r.time), max(r.time) FROM findings f"
		" JOIN occurrences o ON o.finding = f.id JOIN runs r ON r.id = o.run WHERE f.id = ?",
		a->err);
	if (!a->find || !a->insert || !a->update || !a->better || !a->occurred || !a->happened || !a->known)
		return -1;
	for (uint32_t i = 0; i < a->list->finding_count; i++)
		if (add_finding(a, &a->list->findings[i]))
			return -1;
	for (uint32_t i = 0; i < a->list->finding_count; i++)
		if (recall(a, &a->list->findings[i]))
			return -1;
	return store_history(s, a->list, a->err) ? -1 : add_trials(a);
}

int store_add(struct store *store, struct finding_list *list, struct err *err)
{
	struct adding a = {.store = store, .list = list, .err = err};
	sqlite3_stmt **statements[] = {&a.find,     &a.insert,   &a.update, &a.better,
				       &a.occurred, &a.happened, &a.known};

	now_text(a.now);
	if (store_exec(store, "BEGIN IMMEDIATE", err))
		return -1;
	int failed = add_all(&a);

	for (unsigned i = 0; i < sizeof statements / sizeof *statements; i++)
		sqlite3_finalize(*statements[i]);
	if (!failed)
		failed = store_exec(store, "COMMIT", err);
	if (failed)
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return failed;
}

int store_review(struct store *store, const char *id, enum finding_review review, const char *reason,
		 struct err *err)
{
	char now[24];
	int failed = -1;

	now_text(now);
	if (store_exec(store, "BEGIN IMMEDIATE", err))
		return -1;
	/* The texts of reviews are data here, so that history reads the same if their numbers ever change. */
	sqlite3_stmt *remember = store_prepare(
		store,
		"INSERT INTO history (finding, time, what, old, new, reason) SELECT id, ?1, 'review',"
		" CASE review WHEN 0 THEN 'new' WHEN 1 THEN 'confirmed' WHEN 2 THEN 'false-alarm'"
		" WHEN 3 THEN 'intended' ELSE 'fixed' END, ?2, ?3 FROM findings WHERE id = ?4",
		err);
	sqlite3_stmt *update =
		store_prepare(store, "UPDATE findings SET review = ?, reason = ? WHERE id = ?", err);

	if (remember && update) {
		store_bind(remember, "ssss", now, finding_review_text(review), reason, id);
		store_bind(update, "iss", (int64_t)review, reason, id);
		if (!store_step(store, remember, err) && !store_step(store, update, err))
			failed = sqlite3_changes(store->db) == 1
					 ? 0
					 : err_set(err, "there is no finding %s in %s", id, store->path);
	}
	sqlite3_finalize(remember);
	sqlite3_finalize(update);
	if (!failed)
		failed = store_exec(store, "COMMIT", err);
	if (failed)
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return failed;
}
