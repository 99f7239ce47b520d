/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints sample findings, for tests that are scripts, and for a look at a report:
 * sample-findings text|json bank|all|hostile|NUMBER [FOLDER] */
#include "report/json.h"
#include "report/text.h"
#include "samples.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "all", *in = argc > 3 ? argv[3] : "examples";
	struct finding_list *list = !strcmp(what, "bank")      ? samples_bank(in)
				    : !strcmp(what, "all")     ? samples_all(in)
				    : !strcmp(what, "hostile") ? samples_hostile()
							       : samples_many((unsigned)atoi(what));
	struct report_options options;

	report_options_init(&options, stdout);
	if (argc > 1 && !strcmp(argv[1], "text"))
		report_text(stdout, list, &options);
	else
		report_json(stdout, list, &options);
	finding_list_free(list);
	return fflush(stdout) || ferror(stdout);
}
