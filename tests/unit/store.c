/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The store: a finding's life in it, its older formats, and what is not a store. */
#include "helper.h"

#include "finding/store.h"
#include "samples.h"

#include <fnmatch.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct store *opened(const char *path, enum store_mode mode)
{
	struct err err;
	struct store *store = store_open(path, mode, &err);

	if (!store)
		fail_msg("%s", err.text);
	return store;
}

static void add(const char *path, struct finding_list *list)
{
	struct err err;
	struct store *store = opened(path, STORE_WRITE);

	if (store_add(store, list, &err))
		fail_msg("%s", err.text);
	store_close(store);
}

static struct finding_list *load(const char *path, struct store_query query)
{
	struct err err;
	struct store *store = opened(path, STORE_READ);
	struct finding_list *list = store_load(store, &query, &err);

	if (!list)
		fail_msg("%s", err.text);
	store_close(store);
	return list;
}

static int64_t sql(const char *path, const char *text)
{
	sqlite3 *db;
	sqlite3_stmt *statement;
	int64_t number = 0;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return number;
}

/* Suspected, observed, reviewed, fixed, and back again. */
static void life(void **state)
{
	const char *path = helper_path("life/findings.db");
	struct finding_list *list = samples_bank("examples");
	struct store *store;
	struct err err;

	list->findings[0].state = FINDING_SUSPECTED;
	list->findings[0].confidence = 0.5;
	list->findings[0].schedule = NULL;
	list->findings[0].title = "an older title";
	list->verb = "lint";
	add(path, list);
	assert_int_equal(list->findings[0].runs, 1);
	assert_int_equal(list->findings[0].review, FINDING_NEW);
	finding_list_free(list);

	list = samples_bank("/elsewhere");
	add(path, list);
	assert_int_equal(list->findings[0].runs, 2);
	finding_list_free(list);

	/* A weaker word for it changes neither its state nor its interleaving. */
	list = samples_bank("weaker");
	list->findings[0].state = FINDING_PREDICTED;
	list->findings[0].schedule = NULL;
	add(path, list);
	finding_list_free(list);

	list = load(path, STORE_QUERY_ALL);
	assert_int_equal(list->finding_count, 1);
	struct finding *f = &list->findings[0];

	assert_int_equal(f->state, FINDING_OBSERVED);
	assert_int_equal(f->runs, 3);
	assert_int_equal(f->seen, 3 * 770);
	assert_true(f->confidence == 1);
	assert_string_equal(f->schedule, ".atomsan/schedules/bank 1.sched");
	assert_string_equal(f->title, "deposit is not atomic over struct account");
	assert_string_equal(f->units[0].place.file, "/elsewhere/bank.c");
	assert_int_equal(f->access_count, 4);
	assert_int_equal(f->history_count, 2);
	assert_string_equal(f->history[0].to, "suspected");
	assert_string_equal(f->history[0].reason, "lint");
	assert_string_equal(f->history[1].from, "suspected");
	assert_string_equal(f->history[1].to, "observed");
	assert_int_equal(list->run_count, 3);
	assert_string_equal(list->runs[0].arguments, "./bank 1000");
	assert_true(list->runs[0].seed == 12345678901234567890ull);
	assert_true(list->runs[0].overhead == 4.25);
	char id[20];

	memcpy(id, f->id, sizeof id);
	finding_list_free(list);

	store = opened(path, STORE_WRITE);
	assert_int_equal(store_review(store, id, FINDING_FIXED, "now in one section", &err), 0);
	assert_int_equal(store_review(store, "F-0000", FINDING_FIXED, NULL, &err), -1);
	assert_contains(err.text, "there is no finding F-0000");
	store_close(store);
	list = samples_bank("examples");
	add(path, list);
	assert_int_equal(list->findings[0].review, FINDING_NEW);
	finding_list_free(list);

	store = opened(path, STORE_WRITE);
	assert_int_equal(store_review(store, id, FINDING_INTENDED, "as designed", &err), 0);
	store_close(store);
	list = samples_bank("examples");
	add(path, list);
	assert_int_equal(list->findings[0].review, FINDING_INTENDED);
	assert_string_equal(list->findings[0].reason, "as designed");
	finding_list_free(list);
	list = load(path, STORE_QUERY_ALL);
	assert_int_equal(list->findings[0].history_count, 5);
	assert_string_equal(list->findings[0].history[3].reason, "it was found again");
	assert_string_equal(list->findings[0].history[4].from, "new");
	finding_list_free(list);
}

/* What was loaded is stored again, as heal does: its history is there once, and so is its command. */
static void again(void **state)
{
	const char *path = helper_path("again.db");
	struct finding_list *list = samples_bank("examples");
	struct store_query query = STORE_QUERY_ALL;
	struct store *store;
	struct err err;

	list->findings[0].state = FINDING_REPRODUCED;
	finding_add_trial(list, &(struct finding_trial){.finding = list->findings[0].id,
							.schedule = list->findings[0].schedule,
							.strategy = "kept",
							.runs = 5,
							.failures = 5});
	add(path, list);
	finding_list_free(list);
	for (int i = 0; i < 2; i++) {
		store = opened(path, STORE_WRITE);
		list = store_load(store, &query, &err);
		assert_non_null(list);
		list->trial_count = 0;
		list->findings[0].state = FINDING_HEALED;
		list->verb = "heal";
		finding_add_argument(list, "./other");
		assert_int_equal(store_add(store, list, &err), 0);
		store_close(store);
		finding_list_free(list);
	}
	list = load(path, query);
	assert_int_equal(list->findings[0].history_count, 2);
	assert_string_equal(list->findings[0].history[1].to, "healed");
	assert_string_equal(list->runs[0].arguments, "./other");
	assert_string_equal(list->findings[0].command, "./bank 1000");
	assert_int_equal(sql(path, "SELECT count(*) FROM findings WHERE document LIKE '%\"time\"%'"), 0);

	/* Fixed, and found again by somebody who is less certain: that is how far the new life has come. */
	store = opened(path, STORE_WRITE);
	assert_int_equal(store_review(store, list->findings[0].id, FINDING_FIXED, NULL, &err), 0);
	store_close(store);
	finding_list_free(list);
	list = samples_bank("examples");
	list->findings[0].state = FINDING_SUSPECTED;
	add(path, list);
	finding_list_free(list);
	list = load(path, query);
	assert_int_equal(list->findings[0].state, FINDING_SUSPECTED);
	assert_int_equal(list->findings[0].review, FINDING_NEW);
	assert_int_equal(list->findings[0].history_count, 5);
	assert_string_equal(list->findings[0].history[3].from, "healed");
	assert_string_equal(list->findings[0].history[3].to, "suspected");
	assert_string_equal(list->findings[0].history[4].reason, "it was found again");
	finding_list_free(list);
}

static void trials(void **state)
{
	const char *path = helper_path("trials.db");
	struct finding_list *list = samples_all("examples");
	struct store_query query = STORE_QUERY_ALL;

	add(path, list);
	query.id = list->findings[0].id;
	struct finding_list *one = load(path, query), *all = load(path, STORE_QUERY_ALL);

	assert_int_equal(one->finding_count, 1);
	assert_int_equal(one->trial_count, 1);
	assert_int_equal(one->trials[0].failures, 19);
	assert_int_equal(all->finding_count, 6);
	assert_int_equal(all->trial_count, 2);
	/* The latest run says what was not seen. */
	assert_int_equal(all->blind_spot_count, 2);
	assert_string_equal(all->blind_spots[1], "3 events were dropped.");
	assert_int_equal(all->count_count, 2);
	finding_list_free(one);
	finding_list_free(all);
	finding_list_free(list);
}

static uint32_t count(const char *path, struct store_query query)
{
	struct finding_list *list = load(path, query);
	uint32_t n = list->finding_count;

	finding_list_free(list);
	return n;
}

static void queries(void **state)
{
	const char *path = helper_path("queries.db");
	struct finding_list *list = samples_many(500);
	struct store_query query = STORE_QUERY_ALL;

	add(path, list);
	finding_list_free(list);
	query.brief = true;
	assert_int_equal(count(path, query), 500);
	query.state = FINDING_OBSERVED;
	assert_int_equal(count(path, query), 100);
	query.kind = FINDING_RACE;
	assert_int_equal(count(path, query), 0);
	query.kind = FINDING_HIGH_LEVEL_RACE;
	assert_int_equal(count(path, query), 100);
	query.match = "step_?7*";
	uint32_t expected = 0;

	for (int i = FINDING_OBSERVED; i < 500; i += 5) {
		char name[16];

		snprintf(name, sizeof name, "step_%d", i);
		expected += !fnmatch(query.match, name, 0);
	}
	assert_true(expected > 10);
	assert_int_equal(count(path, query), expected);
	query = STORE_QUERY_ALL;
	query.limit = 7;
	assert_int_equal(count(path, query), 7);
	query.limit = 0;
	query.sort = "confidence";
	list = load(path, query);
	for (uint32_t i = 1; i < list->finding_count; i++)
		assert_true(list->findings[i - 1].confidence >= list->findings[i].confidence);
	finding_list_free(list);
	query.sort = NULL;
	list = load(path, query);
	for (uint32_t i = 1; i < list->finding_count; i++)
		assert_true(list->findings[i - 1].state >= list->findings[i].state);
	finding_list_free(list);
}

static void refused(const char *path, enum store_mode mode, const char *part)
{
	struct err err = {""};

	assert_null(store_open(path, mode, &err));
	assert_contains(err.text, part);
}

static void not_a_store(void **state)
{
	const char *path = helper_path("other.db");
	size_t size, after;
	char *before, *content;

	refused(helper_path("none.db"), STORE_READ, "there is no ");
	helper_write(path,
		     "this is a text of more than one hundred bytes, which is what SQLite reads first of a "
		     "file to see what it is\n",
		     106);
	refused(path, STORE_READ, "is not a database");
	refused(path, STORE_WRITE, "is not a database");
	unlink(path);
	sql(path, "CREATE TABLE cookies (name TEXT)");
	before = helper_read(path, &size);
	refused(path, STORE_WRITE, "another program");
	content = helper_read(path, &after);
	assert_int_equal(size, after);
	assert_memory_equal(before, content, size);
	free(before);
	free(content);
	path = helper_path("newer.db");
	struct finding_list *list = samples_bank("x");

	add(path, list);
	finding_list_free(list);
	sql(path, "PRAGMA user_version = 99");
	refused(path, STORE_WRITE, "newer atomsan (format 99");
	refused(path, STORE_READ, "newer atomsan");
	refused(helper_path("no/such/folder/x.db"), STORE_WRITE, "cannot make the folder");
}

/* A database of format 1 had no schedules. It becomes one of today, with all that was in it. */
static void older(void **state)
{
	const char *path = helper_path("older.db");
	struct finding_list *list = samples_bank("x");

	add(path, list);
	finding_list_free(list);
	sql(path, "DROP TABLE schedules");
	sql(path, "PRAGMA user_version = 1");
	assert_int_equal(count(path, STORE_QUERY_ALL), 1);
	assert_int_equal(sql(path, "PRAGMA user_version"), 2);
	list = samples_all("x");
	add(path, list);
	finding_list_free(list);
	assert_int_equal(count(path, STORE_QUERY_ALL), 6);
	assert_int_equal(sql(path, "SELECT count(*) FROM schedules"), 2);
}

/* Whatever bytes a database holds, it is read or there is a sentence. */
static void damaged(void **state)
{
	const char *path = helper_path("damaged.db");
	struct finding_list *list = samples_many(40);
	size_t size;
	uint64_t seed = 5;

	add(path, list);
	finding_list_free(list);
	char *content = helper_read(path, &size);

	for (int i = 0; i < 300; i++) {
		char *copy = mem_alloc(size);
		struct store_query query = STORE_QUERY_ALL;
		struct store *store;
		struct err err = {""};

		memcpy(copy, content, size);
		for (int k = 0; k < 20; k++)
			copy[helper_random(&seed) % size] = (char)helper_random(&seed);
		helper_write(path, copy, i % 5 ? size : helper_random(&seed) % size);
		free(copy);
		store = store_open(path, STORE_READ, &err);
		list = store ? store_load(store, &query, &err) : NULL;
		assert_true(list || *err.text);
		finding_list_free(list);
		store_close(store);
	}
	sql(helper_path("words.db"), "SELECT 1");
	list = samples_bank("x");
	add(helper_path("words.db"), list);
	finding_list_free(list);
	sql(helper_path("words.db"), "UPDATE findings SET state = 77");
	struct store *store = opened(helper_path("words.db"), STORE_READ);
	struct err err;

	assert_null(store_load(store, &(struct store_query){.kind = -1, .state = -1, .review = -1}, &err));
	assert_contains(err.text, "damaged");
	store_close(store);
	free(content);
}

/* Writers at once, one of which is killed somewhere: each run is there whole or not at all, and those that
 * were told that theirs is stored find it. */
static void writers(void **state)
{
	enum { RUNS = 20, EACH = 50 };
	const char *path = helper_path("writers.db");
	int told[2];
	pid_t children[2];
	char byte, acknowledged[2] = {0, 0};

	assert_int_equal(pipe(told), 0);
	for (int c = 0; c < 2; c++) {
		children[c] = fork();
		if (children[c])
			continue;
		for (int i = 0; i < RUNS; i++) {
			struct err err;
			struct store *store = store_open(path, STORE_WRITE, &err);
			struct finding_list *list = samples_many(EACH);

			/* Nobody else finds these. */
			for (uint32_t k = 0; k < EACH; k++) {
				list->findings[k].units[0].place.function =
					finding_textf(list, "of_%d_run_%d_number_%u", c, i, k);
				finding_identify(&list->findings[k]);
			}
			list->verb = c ? "killed" : "kept";
			if (!store || store_add(store, list, &err)) {
				fprintf(stderr, "run %d of child %d: %s\n", i, c, err.text);
				_exit(1);
			}
			finding_list_free(list);
			store_close(store);
			if (write(told[1], c ? "1" : "0", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	close(told[1]);
	while (read(told[0], &byte, 1) == 1) {
		acknowledged[byte - '0']++;
		if (byte == '1' && acknowledged[1] == RUNS / 2)
			kill(children[1], SIGKILL);
	}
	close(told[0]);
	for (int c = 0; c < 2; c++) {
		int status;

		assert_int_equal(waitpid(children[c], &status, 0), children[c]);
		if (c)
			assert_int_equal(WTERMSIG(status), SIGKILL);
		else
			assert_int_equal(status, 0);
	}
	/* Opening rolls back what the killed one left half done. */
	uint32_t all = count(path, STORE_QUERY_ALL);

	assert_int_equal(acknowledged[0], RUNS);
	assert_true(all >= (uint32_t)(RUNS + acknowledged[1]) * EACH);
	assert_int_equal(all, sql(path, "SELECT count(*) FROM runs") * EACH);
	assert_int_equal(sql(path, "SELECT count(*) FROM findings WHERE function LIKE 'of_0_%'"),
			 RUNS * EACH);
	assert_int_equal(sql(path, "SELECT count(*) FROM runs WHERE verb = 'kept'"), RUNS);
	assert_true(sql(path, "SELECT count(*) FROM runs WHERE verb = 'killed'") >= acknowledged[1]);
	assert_int_equal(sql(path, "SELECT count(*) FROM (SELECT run FROM occurrences GROUP BY run "
				   "HAVING count(*) = 50)"),
			 sql(path, "SELECT count(*) FROM runs"));
	/* Each was found once, and nothing was written twice. */
	assert_int_equal(sql(path, "SELECT count(*) FROM history"), all);
	assert_int_equal(sql(path, "SELECT count(*) FROM occurrences"), all);
	assert_int_equal(
		sql(path, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
}

/* Killed when half of a transaction is on the disk already: who reads next puts the old state back first. */
static void half_way(void **state)
{
	const char *path = helper_path("half.db");
	struct finding_list *list = samples_many(400);
	pid_t child;
	int status;

	add(path, list);
	finding_list_free(list);
	child = fork();
	if (!child) {
		sqlite3 *db;

		if (sqlite3_open(path, &db) != SQLITE_OK)
			_exit(1);
		sqlite3_exec(db,
			     "PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE findings SET title = 'half', "
			     "document = document || document",
			     NULL, NULL, NULL);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	char *journal = mem_textf("%s-journal", path);

	assert_int_equal(access(journal, F_OK), 0);
	free(journal);
	list = load(path, STORE_QUERY_ALL);
	assert_int_equal(list->finding_count, 400);
	for (uint32_t i = 0; i < list->finding_count; i++)
		assert_string_not_equal(list->findings[i].title, "half");
	finding_list_free(list);
}

static void paths(void **state)
{
	char *path = store_default_path("./build/bank");

	assert_string_equal(path, "./build/.atomsan/findings.db");
	free(path);
	path = store_default_path("bank");
	assert_string_equal(path, ".atomsan/findings.db");
	free(path);
	path = store_default_path("/bank");
	assert_string_equal(path, "/.atomsan/findings.db");
	free(path);
	setenv("ATOMSAN_DB", "/x/y.db", 1);
	path = store_default_path("bank");
	assert_string_equal(path, "/x/y.db");
	free(path);
	unsetenv("ATOMSAN_DB");
}

static void hostile(void **state)
{
	const char *path = helper_path("hostile.db");
	struct finding_list *list = samples_hostile();

	add(path, list);
	assert_int_equal(count(path, STORE_QUERY_ALL), 1);
	finding_list_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(life),    cmocka_unit_test(again),       cmocka_unit_test(trials),
		cmocka_unit_test(queries), cmocka_unit_test(not_a_store), cmocka_unit_test(older),
		cmocka_unit_test(damaged), cmocka_unit_test(writers),     cmocka_unit_test(half_way),
		cmocka_unit_test(paths),   cmocka_unit_test(hostile),
	};

	unsetenv("ATOMSAN_DB");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
