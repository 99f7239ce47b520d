/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/noise.h"

#include "finding/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The runtime takes an option of so many bytes, and others need room beside it. */
enum { LONGEST = 6000, MOST_MICROSECONDS = 10000000 };

static bool is_number(const char *text, size_t length)
{
	return length && strspn(text, "0123456789") >= length;
}

/* Bytes that mean something to the runtime go by their numbers. */
static void put_escaped(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c <= ' ' || strchr(":;,%=", c))
			fprintf(out, "%%%02x", c);
		else
			putc(c, out);
	}
}

/* PERMILLE[:KIND[:MICROSECONDS]], as the runtime has it. */
static int put_strength(FILE *out, const char *text, const char *whole, struct err *err)
{
	size_t length = strcspn(text, ":");

	if (!is_number(text, length) || length > 4 || strtoul(text, NULL, 10) > 1000)
		return err_set(err, "--noise=%s: where is the strength, a number from 0 to 1000?", whole);
	fprintf(out, ",%.*s", (int)length, text);
	text += length;
	if (!*text++)
		return 0;
	length = strcspn(text, ":");
	if (!(length == 5 && (!strncmp(text, "sleep", 5) || !strncmp(text, "yield", 5))) &&
	    !(length == 4 && !strncmp(text, "busy", 4)))
		return err_set(err, "--noise=%s: '%.*s' is none of sleep, yield and busy", whole, (int)length,
			       text);
	fprintf(out, ",%.*s", (int)length, text);
	text += length;
	if (!*text++)
		return 0;
	if (!is_number(text, strlen(text)) || strlen(text) > 8 || strtoul(text, NULL, 10) > MOST_MICROSECONDS)
		return err_set(err, "--noise=%s: '%s' are no microseconds (at most %d)", whole, text,
			       MOST_MICROSECONDS);
	fprintf(out, ",%s", text);
	return 0;
}

/* Where a name ends, which may have colons in it: before the first field that is a number. */
static const char *end_of_name(const char *text)
{
	for (const char *p = strchr(text, ':'); p; p = strchr(p + 1, ':'))
		if (p > text && is_number(p + 1, strcspn(p + 1, ":")))
			return p;
	return NULL;
}

/* Each place that a finding names once. */
static int put_findings(FILE *out, const char *strength, const char *whole, const char *program,
			const char *db, struct err *err)
{
	char *path = db ? mem_text(db) : store_default_path(program);
	struct store *store = store_open(path, STORE_READ, err);
	struct store_query query = STORE_QUERY_ALL;
	struct finding_list *list;
	int failed = 0;
	bool any = false;

	query.review = STORE_OPEN;
	list = store ? store_load(store, &query, err) : NULL;
	for (uint32_t i = 0; list && i < list->finding_count && !failed; i++) {
		const struct finding *finding = &list->findings[i];

		for (uint32_t a = 0; a < finding->access_count && !failed; a++) {
			const struct finding_place *place = &finding->accesses[a].place;
			const char *slash = place->file ? strrchr(place->file, '/') : NULL;
			const char *file = slash ? slash + 1 : place->file;

			if (!file || !place->line || ftell(out) > LONGEST - 200 || strlen(file) > 60)
				continue;
			fputs(any ? ";place," : "place,", out);
			put_escaped(out, file, strlen(file));
			fprintf(out, ",%u", place->line);
			failed = put_strength(out, strength, whole, err);
			any = true;
		}
	}
	if (!list)
		failed = -1;
	else if (!failed && !any)
		failed = err_set(err, "--noise=%s: no finding in %s has a place", whole, path);
	finding_list_free(list);
	store_close(store);
	free(path);
	return failed;
}

static int put_one(FILE *out, const char *text, const char *program, const char *db, struct err *err)
{
	const char *rest = strchr(text, ':'), *end, *line;

	if (!strncmp(text, "random:", 7)) {
		fputs("random", out);
		return put_strength(out, rest + 1, text, err);
	}
	if (!strcmp(text, "findings") || !strncmp(text, "findings:", 9))
		return put_findings(out, rest ? rest + 1 : "500", text, program, db, err);
	if (strncmp(text, "var:", 4) && strncmp(text, "place:", 6))
		return err_set(err,
			       "--noise=%s: that is none of random:N, var:NAME:N, place:FILE:LINE:N and "
			       "findings",
			       text);
	end = end_of_name(rest + 1);
	if (!end)
		return err_set(err, "--noise=%s: where is the strength, a number from 0 to 1000?", text);
	fputs(text[0] == 'v' ? "var," : "place,", out);
	put_escaped(out, rest + 1, (size_t)(end - rest - 1));
	if (text[0] == 'v')
		return put_strength(out, end + 1, text, err);
	line = end + 1;
	end = strchr(line, ':');
	if (!end)
		return err_set(err, "--noise=%s: where is the strength, a number from 0 to 1000?", text);
	fprintf(out, ",%.*s", (int)(end - line), line);
	return put_strength(out, end + 1, text, err);
}

char *noise_text(const struct noise *noise, const char *program, const char *db, struct err *err)
{
	char *text = NULL, *copy = mem_text(noise->given ? noise->given : ""), *rest = copy, *one;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int failed = out ? 0 : err_set(err, "no memory for the noise");
	bool any = false;

	if (noise->budget && (!is_number(noise->budget, strlen(noise->budget)) || strlen(noise->budget) > 6))
		failed = err_set(err, "--noise-budget=%s is no number of percents", noise->budget);
	while (out && !failed && (one = strsep(&rest, "\n"))) {
		if (!*one)
			continue;
		fputs(any ? ";" : "", out);
		failed = put_one(out, one, program, db, err);
		any = true;
	}
	if (out)
		fclose(out);
	free(copy);
	if (!failed && length > LONGEST)
		failed = err_set(err, "so much noise at once is more than the runtime reads");
	if (failed) {
		free(text);
		return NULL;
	}
	return text;
}

int noise_choose_seed(const char *given, uint64_t *seed, struct err *err)
{
	char *end;

	if (given) {
		errno = 0;
		*seed = strtoull(given, &end, 10);
		if (errno || !is_number(given, strlen(given)) || !*seed)
			return err_set(err, "--seed=%s is no seed: that is a number from 1 on", given);
		return 0;
	}
	*seed = 1;
	if (getrandom(seed, sizeof *seed, GRND_NONBLOCK) < 0)
		*seed = 1;
	/* A number that people can type. */
	*seed = *seed % 999999999 + 1;
	return 0;
}

int noise_apply(const struct noise *noise, const char *program, const char *db, struct err *err)
{
	const char *old = getenv("ATOMSAN_OPTIONS");
	char *text, *options;
	uint64_t seed;

	text = noise_text(noise, program, db, err);
	if (!text || noise_choose_seed(noise->seed, &seed, err) < 0) {
		free(text);
		return -1;
	}
	if (!*text && !noise->seed) {
		free(text);
		return 0;
	}
	if (!noise->seed)
		fprintf(stderr, "atomsan: noise with --seed=%llu\n", (unsigned long long)seed);
	options = mem_textf("noise=%s:noise_budget=%s:seed=%llu%s%s", text,
			    noise->budget ? noise->budget : "200", (unsigned long long)seed,
			    old && *old ? ":" : "", old ? old : "");
	setenv("ATOMSAN_OPTIONS", options, 1);
	free(options);
	free(text);
	return 0;
}
