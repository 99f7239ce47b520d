/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a schedule. What is taken must come back as it was. */
#include "predict/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct schedule *s, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	if (!out)
		abort();
	schedule_print(s, out);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	struct schedule *first = schedule_parse((const char *)data, size, "input", &err), *second;
	char *text, *again;
	size_t length, again_length;

	if (!first)
		return 0;
	text = print(first, &length);
	second = schedule_parse(text, length, "printed", &err);
	if (!second)
		abort();
	again = print(second, &again_length);
	if (length != again_length || memcmp(text, again, length))
		abort();
	schedule_free(first);
	schedule_free(second);
	free(text);
	free(again);
	return 0;
}
