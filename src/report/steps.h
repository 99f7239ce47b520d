/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A page of text, and on it the steps of an interleaving in columns. */
#ifndef ATOMSAN_REPORT_STEPS_H
#define ATOMSAN_REPORT_STEPS_H

#include "report/report.h"
#include "report/source.h"

struct text_page {
	FILE *out;
	const struct report_options *options; /* with a width */
	struct source_files *sources;
};

enum text_style { TEXT_PLAIN, TEXT_BOLD, TEXT_DIM, TEXT_RED, TEXT_YELLOW, TEXT_CYAN };

/* What follows looks like this, if the page has colours. */
void text_page_style(const struct text_page *page, enum text_style style);
/* The text as text_put would show it, tabs as spaces; the caller frees it. */
char *text_page_safe(const char *text);

void text_steps(const struct text_page *page, const struct finding *finding);

#endif
