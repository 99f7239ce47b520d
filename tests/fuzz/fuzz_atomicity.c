/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is read from any bytes and written again must be read the same a second time. */
#include "repository/repository.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *printed(const struct repository *repository)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	repository_print(repository, out);
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct repository one = {0}, two = {0};
	struct err err = {""};

	if (repository_parse(&one, (const char *)data, size, "x", &err) < 0) {
		if (!*err.text)
			abort();
	} else {
		char *first = printed(&one), *second;

		if (repository_parse(&two, first, strlen(first), "x", &err) < 0)
			abort();
		second = printed(&two);
		if (strcmp(first, second) != 0)
			abort();
		free(first);
		free(second);
	}
	repository_release(&one);
	repository_release(&two);
	return 0;
}
