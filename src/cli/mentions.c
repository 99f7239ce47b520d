/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/mentions.h"

#include "elf/buildid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_build(const struct trace_module_table *module)
{
	char *now = buildid_read(module->path), then[2 * 64 + 1] = "";

	for (uint32_t i = 0; i < module->build_id_length && i < 64; i++)
		snprintf(then + 2 * i, 3, "%02x", module->build_id[i]);
	bool same = now && *then && !strcmp(now, then);

	free(now);
	return same;
}

/* Few ever ask, so the files are read when somebody does. */
static void look(struct mentions *mentions)
{
	mentions->looked = true;
	for (uint32_t i = 0; i < mentions->trace->module_count && !mentions->unknown; i++) {
		const struct trace_module_table *module = &mentions->trace->modules[i];
		int before = mentions->units.count;

		if (!module->sites && !module->functions)
			continue;
		mentions->unknown = !same_build(module) ||
				    units_read(&mentions->units, module->path, NULL) < 0 ||
				    mentions->units.count == before;
	}
}

bool mentions_word(void *user, const char *word)
{
	struct mentions *mentions = user;

	if (!mentions->looked)
		look(mentions);
	if (mentions->unknown)
		return true;
	for (int i = 0; i < mentions->units.count; i++)
		if (memmem(mentions->units.at[i].bytes, mentions->units.at[i].size, word, strlen(word)))
			return true;
	return false;
}

void mentions_release(struct mentions *mentions)
{
	units_release(&mentions->units);
}
