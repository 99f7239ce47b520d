/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any text as a file of suppressions, matched with findings that have everything. */
#include "finding/suppress.h"
#include "samples.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void say(void *user, const char *sentence)
{
	if (!*sentence)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct finding_list *list;
	struct suppress_list suppressions = {0};
	struct err err = {""};
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (!list)
		list = samples_all("src");
	memcpy(text, data, size);
	text[size] = 0;
	if (suppress_parse(&suppressions, text, "input", 1781524800, &err)) {
		if (!*err.text)
			abort();
	} else {
		for (uint32_t i = 0; i < list->finding_count; i++)
			suppress_match(&suppressions, &list->findings[i]);
		suppress_report(&suppressions, say, NULL);
	}
	suppress_release(&suppressions);
	free(text);
	return 0;
}
