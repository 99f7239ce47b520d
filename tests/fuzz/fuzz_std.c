/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Any bytes as STD text. What is taken must come back as it was: the export of
 * the import has the same lines, empty ones left out.
 */
#include "trace/std.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text without empty lines, with a newline at its end. */
static char *plain(const char *text, size_t size, size_t *length)
{
	char *to = malloc(size + 2);

	if (!to)
		abort();
	*length = 0;
	for (size_t i = 0; i < size; i++)
		if (text[i] != '\n' || (*length && to[*length - 1] != '\n'))
			to[(*length)++] = text[i];
	if (*length && to[*length - 1] != '\n')
		to[(*length)++] = '\n';
	return to;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64], *text = NULL, *expected;
	size_t length, expected_length;
	struct trace *trace;
	struct err err;
	FILE *out;

	snprintf(path, sizeof path, "/tmp/atomsan-fuzz-%ld.atr", (long)getpid());
	if (std_import((const char *)data, size, "input", path, &err))
		return 0;
	trace = trace_open(path, &err);
	unlink(path);
	out = open_memstream(&text, &length);
	if (!trace || !out || std_export(trace, out, &(struct std_options){0}, &err))
		abort();
	fclose(out);
	trace_close(trace);
	expected = plain((const char *)data, size, &expected_length);
	if (length != expected_length || memcmp(text, expected, length))
		abort();
	free(expected);
	free(text);
	return 0;
}
