/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/format.h"

#include "report/github.h"
#include "report/html.h"
#include "report/json.h"
#include "report/perfetto.h"
#include "report/sarif.h"
#include "report/text.h"

#include <string.h>

const struct report_format report_formats[] = {
	{"text", ".txt", report_text},
	{"json", ".json", report_json},
	{"html", ".html", report_html},
	{"sarif", ".sarif", report_sarif},
	{"github", ".github", report_github},
	{"perfetto", ".perfetto.json", report_perfetto},
	{NULL, NULL, NULL},
};

const struct report_format *report_format_of(const char *name)
{
	for (const struct report_format *format = report_formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}

const struct report_format *report_format_for(const char *path)
{
	const struct report_format *best = NULL;
	size_t length = strlen(path), longest = 0;

	for (const struct report_format *format = report_formats; format->name; format++) {
		size_t n = strlen(format->ending);

		if (n > longest && n < length && !strcmp(path + length - n, format->ending)) {
			longest = n;
			best = format;
		}
	}
	return best;
}
