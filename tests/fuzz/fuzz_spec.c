/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Any bytes as a spec. What is taken can be taken again and says nothing new,
 * and every question about the words in it has an answer.
 */
#include "model/spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct answers {
	unsigned function;
	bool unitfor, ignored[4];
	const char *member, *variable, *type_merge, *variable_merge;
	int owned;
	struct spec_role role;
};

static void ask(const struct spec *spec, const char *a, const char *b, struct answers *to)
{
	memset(to, 0, sizeof *to);
	to->function = spec_function(spec, a, b, a);
	to->unitfor = spec_unitfor(spec, a, NULL, b);
	to->ignored[0] = spec_ignored_file(spec, a);
	to->ignored[1] = spec_ignored_type(spec, a);
	to->ignored[2] = spec_ignored_member(spec, a, b);
	to->ignored[3] = spec_ignored_variable(spec, a, b);
	to->member = spec_member_set(spec, a, b);
	to->variable = spec_variable_set(spec, a, b);
	to->type_merge = spec_type_merge(spec, a);
	to->variable_merge = spec_variable_merge(spec, a, b);
	to->owned = spec_owned(spec, a, b);
	to->role = spec_role(spec, a, b);
	/* Whoever has a role has a parameter for it. */
	if ((to->role.kind != SPEC_ROLE_NONE) != (to->role.what != 0) || to->role.what > 100)
		abort();
	/* A unit and none at once, or for a type that nobody named. */
	if ((to->function & SPEC_UNIT && to->function & SPEC_NOT_UNIT) ||
	    (to->unitfor && !(spec_function(spec, a, NULL, NULL) & SPEC_UNITFOR)))
		abort();
}

static bool mentions(void *user, const char *word)
{
	return strstr(user, word) != NULL;
}

static void warn(void *user, const char *sentence)
{
	(void)user;
	if (!*sentence)
		abort();
}

/* As if the text were a file, and the program had nothing but two words. */
static void check_names(const struct spec *spec, char *word, const char *other)
{
	const struct spec_doubts doubts = {word, mentions, warn, *word == 'l'};
	struct spec_names *names = spec_names_new();
	struct err err = {""};

	spec_names_add(names, SPEC_FUNCTION, word);
	spec_names_add_member(names, word, other);
	spec_names_add_variable(names, other, word);
	if (spec_check_names(spec, names, &doubts, &err) && !*err.text)
		abort();
	spec_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spec *spec = spec_new();
	char *text = malloc(size + 1), *rest = text, *word, *before;
	struct answers first, second;
	struct err err = {""};

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	if (spec_add_text(spec, "input", text, size, &err)) {
		if (!*err.text)
			abort();
		goto out;
	}
	before = mem_text("put");
	for (int n = 0; n < 50 && (word = strsep(&rest, " \n.")); n++) {
		ask(spec, word, before, &first);
		if (!n && spec_add_text(spec, "again", (const char *)data, size, &err))
			abort();
		ask(spec, word, before, &second);
		if (memcmp(&first, &second, sizeof first))
			abort();
		check_names(spec, word, before);
		free(before);
		before = mem_text(word);
	}
	free(before);
out:
	free(text);
	spec_free(spec);
	return 0;
}
