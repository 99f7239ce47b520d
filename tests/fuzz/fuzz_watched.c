/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any text as what a runtime left behind, made into findings and merged. */
#include "cli/watched.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watched watched = {.list = finding_list_new("race"), .verb = "race"};
	struct err err = {""};
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	if (watched_parse(&watched, text, &err) < 0) {
		if (!*err.text || watched.list->finding_count)
			abort();
	} else {
		finding_list_merge(watched.list);
	}
	watched_release(&watched);
	finding_list_free(watched.list);
	free(text);
	return 0;
}
