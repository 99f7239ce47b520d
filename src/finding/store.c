/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The database itself: opening, its schema and how older ones become the
 * present one, and sentences for what can go wrong.
 *
 * The journal is SQLite's default one. Write-ahead logging would let readers
 * and a writer go on side by side, but then a database in a folder that may
 * only be read cannot be opened, and writers here are short.
 */
#include "finding/store_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "atsn": tells our databases from others'. */
enum { APPLICATION = 0x6174736e, WAIT_MILLISECONDS = 60000 };

/*
 * What makes a database of version n one of version n + 1. A step that was
 * released is never changed; a new one is added.
 *
 *   runs         every run of a verb that added something
 *   findings     one row per id; `document` is the JSON of the best interleaving; kind, state and
 *                review are the numbers of finding.h, which therefore never change
 *   occurrences  which run found what, and how often
 *   history      every change of a state or a review
 *   schedules    what was forced upon the program, and what came of it
 */
static const char *const steps[] = {
	"CREATE TABLE runs (id INTEGER PRIMARY KEY, time TEXT NOT NULL, verb TEXT, program TEXT,"
	" arguments TEXT, build_id TEXT, seed TEXT NOT NULL, verdict TEXT NOT NULL, findings INTEGER NOT "
	"NULL,"
	" overhead REAL NOT NULL, blind_spots TEXT NOT NULL, counts TEXT NOT NULL);"
	"CREATE TABLE findings (id TEXT PRIMARY KEY, kind INTEGER NOT NULL, state INTEGER NOT NULL,"
	" review INTEGER NOT NULL, reason TEXT, confidence REAL NOT NULL, title TEXT NOT NULL, function TEXT,"
	" file TEXT, line INTEGER NOT NULL, schedule TEXT, document TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE occurrences (finding TEXT NOT NULL REFERENCES findings(id),"
	" run INTEGER NOT NULL REFERENCES runs(id), state INTEGER NOT NULL, seen INTEGER NOT NULL,"
	" PRIMARY KEY (finding, run)) WITHOUT ROWID;"
	"CREATE TABLE history (id INTEGER PRIMARY KEY, finding TEXT NOT NULL REFERENCES findings(id),"
	" time TEXT NOT NULL, what TEXT NOT NULL, old TEXT, new TEXT NOT NULL, reason TEXT);"
	"CREATE INDEX history_of ON history (finding);",

	"CREATE TABLE schedules (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs(id), finding "
	"TEXT,"
	" path TEXT, strategy TEXT, verdict TEXT, seed TEXT NOT NULL, runs INTEGER NOT NULL,"
	" failures INTEGER NOT NULL);"
	"CREATE INDEX schedules_of ON schedules (finding);",
};

enum { VERSION = sizeof(steps) / sizeof(*steps) };

int store_failed(struct store *store, struct err *err)
{
	int code = sqlite3_errcode(store->db);

	switch (code & 0xff) {
	case SQLITE_NOTADB:
		return err_set(err,
			       "%s is not a database of atomsan; move it away, or name another one with --db",
			       store->path);
	case SQLITE_CORRUPT:
		return err_set(err, "%s is damaged (%s); move it away, and a new one is made", store->path,
			       sqlite3_errmsg(store->db));
	case SQLITE_FULL:
		return err_set(err, "cannot write %s: no room is left on its disk", store->path);
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return err_set(err, "cannot write %s: it or its folder may only be read", store->path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, "%s has been locked by another process for %d seconds", store->path,
			       WAIT_MILLISECONDS / 1000);
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR: {
		int number = sqlite3_system_errno(store->db);

		return err_set(err, "cannot open or write %s: %s", store->path,
			       number ? strerror(number) : sqlite3_errmsg(store->db));
	}
	default:
		return err_set(err, "%s: %s", store->path, sqlite3_errmsg(store->db));
	}
}

sqlite3_stmt *store_prepare(struct store *store, const char *sql, struct err *err)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK)
		return statement;
	store_failed(store, err);
	return NULL;
}

void store_bind(sqlite3_stmt *statement, const char *types, ...)
{
	va_list args;

	va_start(args, types);
	for (int i = 1; *types; types++, i++) {
		if (*types == 's')
			sqlite3_bind_text(statement, i, va_arg(args, const char *), -1, SQLITE_TRANSIENT);
		else if (*types == 'd')
			sqlite3_bind_double(statement, i, va_arg(args, double));
		else
			sqlite3_bind_int64(statement, i, va_arg(args, int64_t));
	}
	va_end(args);
}

int store_step(struct store *store, sqlite3_stmt *statement, struct err *err)
{
	int code = sqlite3_step(statement);

	if (code != SQLITE_DONE && code != SQLITE_ROW)
		store_failed(store, err);
	sqlite3_reset(statement);
	return code == SQLITE_DONE || code == SQLITE_ROW ? 0 : -1;
}

int store_exec(struct store *store, const char *sql, struct err *err)
{
	return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_failed(store, err);
}

const char *store_column(struct finding_list *list, sqlite3_stmt *row, int column)
{
	return finding_text(list, (const char *)sqlite3_column_text(row, column));
}

/* The number that a query gives, -1 with err set if it fails. */
static int64_t number_of(struct store *store, const char *sql, struct err *err)
{
	sqlite3_stmt *statement = store_prepare(store, sql, err);
	int64_t number = -1;

	if (!statement)
		return -1;
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	else
		store_failed(store, err);
	sqlite3_finalize(statement);
	return number;
}

/* Whose it is, and of which version; an empty one has version 0. Returns -1 with err set. */
static int version_of(struct store *store, struct err *err)
{
	int64_t application = number_of(store, "PRAGMA application_id", err);
	int64_t version = application < 0 ? -1 : number_of(store, "PRAGMA user_version", err);
	int64_t tables = version < 0 ? -1 : number_of(store, "SELECT count(*) FROM sqlite_master", err);

	if (tables < 0)
		return -1;
	if (application != APPLICATION && (application || version || tables))
		return err_set(err, "%s is the database of another program; name another file with --db",
			       store->path);
	if (version > VERSION)
		return err_set(
			err,
			"%s was written by a newer atomsan (format %lld; this one knows %d); use that one, "
			"or name another file with --db",
			store->path, (long long)version, VERSION);
	return (int)version;
}

/* Its three numbers are of one moment: somebody else may be about to make the database. */
static int version_now(struct store *store, struct err *err)
{
	int version = store_exec(store, "BEGIN", err) ? -1 : version_of(store, err);

	/* After a failure it is closed, and until then SQLite knows best what is wrong. */
	return version < 0 || store_exec(store, "COMMIT", err) ? -1 : version;
}

/* Makes the database one of the present version, or leaves it as it was. */
static int migrate(struct store *store, struct err *err)
{
	char pragma[80];

	if (store_exec(store, "BEGIN IMMEDIATE", err))
		return -1;
	/* Somebody else may have done it while we waited. */
	int version = version_of(store, err);

	for (int v = version; v >= 0 && v < VERSION; v++)
		if (store_exec(store, steps[v], err))
			version = -1, v = VERSION;
	snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION,
		 VERSION);
	if (version >= 0 && !store_exec(store, pragma, err) && !store_exec(store, "COMMIT", err))
		return 0;
	sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

/* The folder that the database lies in, if there is none yet. */
static int make_folder(const char *path, struct err *err)
{
	char *folder = mem_text(path);
	char *slash = strrchr(folder, '/');
	int failed = 0;

	if (slash && slash != folder) {
		*slash = 0;
		if (mkdir(folder, 0777) && errno != EEXIST)
			failed = err_set(err, "cannot make the folder %s: %s", folder, strerror(errno));
	}
	free(folder);
	return failed;
}

static int open_as(struct store *store, int flags, struct err *err)
{
	if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK)
		return store_failed(store, err);
	sqlite3_busy_timeout(store->db, WAIT_MILLISECONDS);
	/* The file may come from anywhere. */
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return version_now(store, err);
}

struct store *store_open(const char *path, enum store_mode mode, struct err *err)
{
	struct store *store = mem_zalloc(1, sizeof(*store));
	int version;

	store->path = mem_text(path);
	if (mode == STORE_READ && access(path, F_OK)) {
		err_set(err,
			"there is no %s; it lies beside the program that findings were stored for, and --db "
			"names it",
			path);
		version = -1;
	} else if (mode == STORE_WRITE && make_folder(path, err)) {
		version = -1;
	} else {
		version = open_as(store,
				  mode == STORE_READ ? SQLITE_OPEN_READONLY
						     : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
				  err);
	}
	/* Who only reads must write all the same where a killed writer's half transaction is to be taken
	 * back, or where the format is an older one. */
	if (mode == STORE_READ && store->db &&
	    (version < 0 ? sqlite3_extended_errcode(store->db) == SQLITE_READONLY_ROLLBACK
			 : version < VERSION)) {
		sqlite3_close(store->db);
		store->db = NULL;
		version = open_as(store, SQLITE_OPEN_READWRITE, err);
	}
	if (version >= 0 && (version == VERSION || !migrate(store, err)))
		return store;
	store_close(store);
	return NULL;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}

char *store_default_path(const char *program)
{
	const char *named = getenv("ATOMSAN_DB");
	const char *slash = program ? strrchr(program, '/') : NULL;

	if (named && *named)
		return mem_text(named);
	if (!slash)
		return mem_text(".atomsan/findings.db");
	return mem_textf("%.*s/.atomsan/findings.db", slash == program ? 0 : (int)(slash - program), program);
}
