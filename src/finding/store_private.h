/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the store share. */
#ifndef ATOMSAN_FINDING_STORE_PRIVATE_H
#define ATOMSAN_FINDING_STORE_PRIVATE_H

#include "finding/store.h"

#include <sqlite3.h>

struct store {
	sqlite3 *db;
	char *path;
};

/* Turns what SQLite last complained about into a sentence; returns -1. */
int store_failed(struct store *store, struct err *err);
/* NULL with err set. */
sqlite3_stmt *store_prepare(struct store *store, const char *sql, struct err *err);
/* Binds what the letters of `types` say (s: text or NULL, i: int64_t, d: double) from the first parameter on.
 */
void store_bind(sqlite3_stmt *statement, const char *types, ...);
/* Runs a statement that gives no rows, and makes it ready for the next time. */
int store_step(struct store *store, sqlite3_stmt *statement, struct err *err);
int store_exec(struct store *store, const char *sql, struct err *err);

/* A text of a row as the list's own, NULL for NULL. */
const char *store_column(struct finding_list *list, sqlite3_stmt *row, int column);
/* What became of each finding of the list, from the store instead of whatever it had. -1 with err set. */
int store_history(struct store *store, struct finding_list *list, struct err *err);

#endif
