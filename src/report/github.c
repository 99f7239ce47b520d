/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/github.h"

#include "base/err.h"
#include "base/text.h"
#include "report/sarif.h"
#include "report/steps.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OF_LEVEL = 10 };

/* A line is a command, so nothing in it may end the line or, in a property, the property. */
static void put(FILE *out, const char *text, bool property)
{
	char *safe = text_page_safe(text);

	for (const char *p = safe; *p; p++) {
		if (*p == '%')
			fputs("%25", out);
		else if (property && *p == ':')
			fputs("%3A", out);
		else if (property && *p == ',')
			fputs("%2C", out);
		else
			putc(*p, out);
	}
	free(safe);
}

static void annotate(FILE *out, const struct finding *finding, const char *level,
		     const struct report_options *options)
{
	struct finding_place place = report_place(finding);
	char *title = finding_title(finding);

	fprintf(out, "::%s ", strcmp(level, "note") ? level : "notice");
	if (place.file) {
		fputs("file=", out);
		put(out, report_path(options, place.file), true);
		fprintf(out, ",line=%u", place.line ? place.line : 1);
		if (place.line && place.column)
			fprintf(out, ",col=%u", place.column);
		putc(',', out);
	}
	fprintf(out, "title=%s (%s)::", finding_kind_title(finding->kind),
		finding_state_text(finding->state));
	put(out, title, false);
	fprintf(out, " [%s]", finding->id);
	if (finding->advice) {
		fputs("%0A", out);
		put(out, finding->advice, false);
	}
	putc('\n', out);
	free(title);
}

void report_github(FILE *out, const struct finding_list *list, const struct report_options *options)
{
	static const char *const levels[] = {"error", "warning", "note"};
	uint32_t *order = report_by_weight(list), left = 0;

	for (unsigned l = 0; l < 3; l++) {
		/* One notice is kept for the sum. */
		unsigned room = l == 2 ? MOST_OF_LEVEL - 1 : MOST_OF_LEVEL;

		for (uint32_t i = 0; i < list->finding_count; i++) {
			const struct finding *finding = &list->findings[order[i]];

			if (strcmp(report_level(finding), levels[l]) != 0)
				continue;
			if (room) {
				annotate(out, finding, levels[l], options);
				room--;
			} else {
				left++;
			}
		}
	}
	if (left)
		fprintf(out, "::notice title=atomsan::%u more findings are not shown here\n", left);
	free(order);
}
