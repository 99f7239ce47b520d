/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct store *findings_open(const struct verb *verb, const char *db, enum store_mode mode)
{
	char *path = db ? mem_text(db) : store_default_path(NULL);
	struct err err;
	/* Who wants to change a finding wants one that is there. */
	struct store *store = store_open(path, STORE_READ, &err);

	if (store && mode == STORE_WRITE) {
		store_close(store);
		store = store_open(path, STORE_WRITE, &err);
	}
	if (!store)
		cli_fail(verb, &err);
	free(path);
	return store;
}

struct finding_list *findings_one(const struct verb *verb, struct store *store, const char *word)
{
	struct store_query query = STORE_QUERY_ALL;
	char *id = strncmp(word, "F-", 2) ? mem_textf("F-%s", word) : mem_text(word);
	struct finding_list *list;
	struct err err;

	query.id = id;
	list = store_load(store, &query, &err);
	if (!list) {
		cli_fail(verb, &err);
	} else if (list->finding_count != 1) {
		if (list->finding_count)
			cli_failf(verb, "%u findings begin with %s; 'atomsan list' shows them",
				  list->finding_count, id);
		else
			cli_failf(verb, "there is no finding %s; 'atomsan list --all' shows what there is",
				  id);
		finding_list_free(list);
		list = NULL;
	}
	free(id);
	return list;
}

/* The number of a word that one of the texts is, -1 for NULL, -3 after a sentence. */
static int number_of(const struct verb *verb, const char *option, const char *word, int (*of)(const char *))
{
	int number = word ? of(word) : -1;

	if (word && number < 0) {
		cli_failf(verb, "there is no %s '%s'; 'atomsan %s -h' names them", option, word, verb->name);
		return -3;
	}
	return number;
}

int findings_query(const struct verb *verb, const struct findings_filter *filter, struct store_query *query)
{
	static const char *const orders[] = {"state", "confidence", "seen", "time", "id", NULL};
	const char *const *order = orders;

	*query = STORE_QUERY_ALL;
	query->kind = number_of(verb, "kind", filter->kind, finding_kind_of);
	query->state = number_of(verb, "state", filter->state, finding_state_of);
	query->review = number_of(verb, "review", filter->review, finding_review_of);
	if (query->kind < -2 || query->state < -2 || query->review < -2)
		return -1;
	if (!filter->review && !filter->all)
		query->review = STORE_OPEN;
	query->match = filter->match;
	query->sort = filter->sort;
	while (filter->sort && *order && strcmp(*order, filter->sort) != 0)
		order++;
	if (!*order) {
		cli_failf(verb, "there is no order '%s'; 'atomsan %s -h' names them", filter->sort,
			  verb->name);
		return -1;
	}
	if (filter->limit) {
		char *end;

		errno = 0;
		query->limit = strtoull(filter->limit, &end, 10);
		if (errno || *end || !query->limit || query->limit > INT64_MAX || *filter->limit == '-') {
			cli_failf(verb, "--limit=%s is not a number", filter->limit);
			return -1;
		}
	}
	return 0;
}
