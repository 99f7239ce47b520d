/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The id of a finding. It is made of what stays the same when the program is
 * compiled again, lines move and addresses change, and of what the static side
 * knows as well as a run: which functions should have been atomic (with the
 * last part of their file's path), and for which atomic sets. Marathon counts
 * its violations the same way: accesses to several members of a set that close
 * the same cycle are one violation.
 *
 * High-level races and stale values are words of the static analyses for what
 * a run sees as an atomicity violation, so the three share their ids.
 */
#include "finding/finding.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a with 64 bits: ids name some thousand findings of one program. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)(text ? text : ""); *p; p++)
		hash = (hash ^ *p) * 0x100000001b3ull;
	return (hash ^ 0xff) * 0x100000001b3ull; /* a byte that ends the word */
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

static char *word_of(const struct finding_place *place, const char *what)
{
	return mem_textf("%s\n%s\n%s", place->function ? place->function : "", last_part(place->file),
			 what ? what : "");
}

void finding_identify(struct finding *finding)
{
	uint32_t count = finding->unit_count ? finding->unit_count : finding->access_count;
	char **words = mem_zalloc(count ? count : 1, sizeof(*words));
	uint64_t hash = 0xcbf29ce484222325ull;

	switch (finding->kind) {
	case FINDING_RACE:
	case FINDING_DEADLOCK:
		hash = hash_text(hash, finding_kind_text(finding->kind));
		break;
	default:
		hash = hash_text(hash, "atomicity");
	}
	for (uint32_t i = 0; i < count; i++)
		words[i] = finding->unit_count
				   ? word_of(&finding->units[i].place, finding->units[i].set)
				   : word_of(&finding->accesses[i].place, finding->accesses[i].variable);
	qsort(words, count, sizeof(*words), compare_words);
	for (uint32_t i = 0; i < count; i++)
		if (!i || strcmp(words[i], words[i - 1]))
			hash = hash_text(hash, words[i]);
	/* Where nothing is known but that it happened, what happened tells two of them apart. */
	if (!count && finding->title)
		hash = hash_text(hash, finding->title);
	for (uint32_t i = 0; i < count; i++)
		free(words[i]);
	free(words);
	snprintf(finding->id, sizeof(finding->id), "F-%012llx",
		 (unsigned long long)((hash ^ (hash >> 48)) & 0xffffffffffffull));
}

bool finding_id_is_valid(const char *id)
{
	size_t digits = strspn(id[0] == 'F' && id[1] == '-' ? id + 2 : "", "0123456789abcdef");

	return digits >= 4 && digits <= 17 && !id[2 + digits];
}

/* Findings by id, the first one of the list first. */
static int compare_findings(const void *a, const void *b)
{
	const struct finding *const *x = a, *const *y = b;
	int order = strcmp((*x)->id, (*y)->id);

	return order ? order : *x < *y ? -1 : *x > *y;
}

void finding_list_merge(struct finding_list *list)
{
	uint32_t count = list->finding_count, kept = 0;
	struct finding **sorted = mem_zalloc(count + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = &list->findings[i];
		if (!sorted[i]->id[0])
			finding_identify(sorted[i]);
	}
	qsort(sorted, count, sizeof(*sorted), compare_findings);
	for (uint32_t i = 0, first = 0; i < count; i++) {
		if (strcmp(sorted[i]->id, sorted[first]->id) != 0)
			first = i;
		if (i == first)
			continue;
		uint64_t seen = sorted[first]->seen + sorted[i]->seen;

		if (sorted[i]->state > sorted[first]->state)
			*sorted[first] = *sorted[i];
		sorted[first]->seen = seen;
		sorted[i]->seen = 0; /* is part of the first */
		sorted[i]->id[0] = 0;
	}
	free(sorted);
	for (uint32_t i = 0; i < count; i++)
		if (list->findings[i].id[0])
			list->findings[kept++] = list->findings[i];
	list->finding_count = kept;
}
