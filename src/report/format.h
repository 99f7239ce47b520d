/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The formats of a report, by name. */
#ifndef ATOMSAN_REPORT_FORMAT_H
#define ATOMSAN_REPORT_FORMAT_H

#include "report/report.h"

struct report_format {
	const char *name;   /* "html" */
	const char *ending; /* of files: ".html" */
	void (*write)(FILE *out, const struct finding_list *list, const struct report_options *options);
};

extern const struct report_format report_formats[]; /* the last one has no name */

/* NULL if there is none of this name. */
const struct report_format *report_format_of(const char *name);
/* The format that the name of a file asks for, or NULL. */
const struct report_format *report_format_for(const char *path);

#endif
