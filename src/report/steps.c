/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The interleaving in columns. Every step is a cell of some lines; all of them
 * but the first are optional. Where the threads are too many for columns of a
 * readable width, all steps stand in one column and name their thread.
 */
#include "report/steps.h"

#include "base/err.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { NARROWEST = 26, MARGIN = 7 };

void text_page_style(const struct text_page *page, enum text_style style)
{
	static const char *const codes[] = {"", "1", "2", "1;31", "33", "36"};

	if (page->options->color)
		fprintf(page->out, "\033[%sm", codes[style]);
}

char *text_page_safe(const char *text)
{
	char *plain = mem_text(text), *safe = NULL;
	size_t size;
	FILE *out = open_memstream(&safe, &size);

	BUG_ON(!out);
	for (char *p = plain; *p; p++)
		if (*p == '\t')
			*p = ' ';
	text_put(out, plain);
	fclose(out);
	free(plain);
	return safe;
}

struct line {
	enum text_style style;
	char *text;
};

struct cell {
	struct line lines[64];
	unsigned count, width;
};

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Takes the text over, and breaks it where the column ends: at a space if there is one far enough to the
 * right. */
static void add(struct cell *cell, enum text_style style, char *text)
{
	char *safe = text_page_safe(text), *rest = safe;
	unsigned indent = 0;

	free(text);
	while (*rest && cell->count < sizeof(cell->lines) / sizeof(*cell->lines)) {
		size_t bytes = 0, space = 0;
		unsigned room = cell->width > indent ? cell->width - indent : 1;

		for (unsigned columns = 0; rest[bytes] && columns < room; columns++) {
			if (rest[bytes] == ' ' && columns > room / 2)
				space = bytes;
			bytes++;
			while (is_continuation(rest[bytes]))
				bytes++;
		}
		if (rest[bytes] && rest[bytes] != ' ' && space)
			bytes = space;
		cell->lines[cell->count++] =
			(struct line){style, mem_textf("%*s%.*s", (int)indent, "", (int)bytes, rest)};
		rest += bytes;
		while (*rest == ' ')
			rest++;
		indent = 2;
	}
	free(safe);
}

static void add_source(struct cell *cell, const struct text_page *page, const struct finding_place *place)
{
	const char *line = source_line(page->sources, place->file, place->line);

	if (!line)
		return;
	line += strspn(line, " \t");
	if (!*line)
		return;
	/* Two rows of it are enough to know the line. */
	int most = 2 * (int)cell->width - 8;
	char *text = mem_textf("| %.*s%s", most, line, strlen(line) > (size_t)most ? " ..." : "");

	add(cell, TEXT_CYAN, text);
}

static void add_place(struct cell *cell, const struct text_page *page, const struct finding_place *place)
{
	const char *path = report_path(page->options, place->file);
	const char *slash = strrchr(path, '/');

	/* The last part of the path tells the files of one finding apart; the stacks have all of it. */
	if (place->file && place->line)
		add(cell, TEXT_PLAIN,
		    mem_textf("in %s  %s:%u", place->function ? place->function : "?",
			      slash ? slash + 1 : path, place->line));
	else if (place->function)
		add(cell, TEXT_PLAIN, mem_textf("in %s", place->function));
}

/* Whether who made the finding knew of locks: none held is worth a line only then. */
static bool knows_locks(const struct finding *finding)
{
	for (uint32_t i = 0; i < finding->access_count; i++)
		if (finding->accesses[i].lock_count)
			return true;
	return false;
}

static char *stale_text(const struct finding *finding, uint32_t stale)
{
	const struct finding_access *access = &finding->accesses[stale];

	if (access->op != 'W' || !access->value)
		return mem_textf("stale from step %u on", stale + 1);
	return mem_textf("stale from step %u on: %s there", stale + 1, access->value);
}

static void fill(struct cell *cell, const struct text_page *page, const struct finding *finding,
		 uint32_t step, const char *thread)
{
	const struct finding_access *access = &finding->accesses[step];
	uint32_t stale = report_stale_at(finding, step);
	bool is_lock = report_op_is_lock(access->op);

	add(cell, is_lock ? TEXT_DIM : TEXT_BOLD,
	    mem_textf("%s%s%s %s%s%s", thread ? thread : "", thread ? ": " : "", report_op_text(access->op),
		      access->variable ? access->variable
		      : is_lock        ? "a lock"
				       : "memory",
		      access->value ? ": " : "", access->value ? access->value : ""));
	add_place(cell, page, &access->place);
	if (!is_lock)
		add_source(cell, page, &access->place);
	for (uint32_t i = 0; i < access->lock_count; i++)
		add(cell, TEXT_DIM, mem_textf("holds %s", access->locks[i]));
	if (!access->lock_count && !is_lock && knows_locks(finding))
		add(cell, TEXT_DIM, mem_text("holds no lock"));
	if (access->note)
		add(cell, TEXT_YELLOW, mem_textf("%s", access->note));
	if (stale != FINDING_NO_ACCESS)
		add(cell, TEXT_RED, stale_text(finding, stale));
}

static void put_cell(const struct text_page *page, uint32_t step, unsigned left, struct cell *cell)
{
	for (unsigned i = 0; i < cell->count; i++) {
		if (i)
			fprintf(page->out, "%*s", MARGIN, "");
		else
			fprintf(page->out, "%5u  ", step + 1);
		fprintf(page->out, "%*s", (int)left, "");
		text_page_style(page, cell->lines[i].style);
		fputs(cell->lines[i].text, page->out);
		text_page_style(page, TEXT_PLAIN);
		putc('\n', page->out);
		free(cell->lines[i].text);
	}
	cell->count = 0;
}

static void put_names(const struct text_page *page, const struct report_lanes *lanes, unsigned width)
{
	fprintf(page->out, "\n%*s", MARGIN, "");
	for (uint32_t i = 0; i < lanes->count; i++) {
		char *safe = text_page_safe(lanes->names[i]);
		int pad = (int)width - (int)text_width(safe);

		text_page_style(page, TEXT_BOLD);
		fputs(safe, page->out);
		text_page_style(page, TEXT_PLAIN);
		if (i + 1 < lanes->count)
			fprintf(page->out, "%*s", pad > 1 ? pad : 1, "");
		free(safe);
	}
	putc('\n', page->out);
}

void text_steps(const struct text_page *page, const struct finding *finding)
{
	struct report_lanes lanes;
	struct cell cell = {.count = 0};
	unsigned room = page->options->width > MARGIN + NARROWEST ? page->options->width - MARGIN : NARROWEST;

	if (!finding->access_count)
		return;
	report_lanes_init(&lanes, finding);
	unsigned width = room / lanes.count;
	bool columns = width >= NARROWEST;

	if (columns)
		put_names(page, &lanes, width);
	else
		putc('\n', page->out);
	/* Two columns stay free between one lane and the next. */
	cell.width = columns ? width - 2 : room;
	for (uint32_t i = 0; i < finding->access_count; i++) {
		uint32_t lane = lanes.of_step[i];

		fill(&cell, page, finding, i, columns ? NULL : lanes.names[lane]);
		put_cell(page, i, columns ? lane * width : 0, &cell);
	}
	report_lanes_release(&lanes);
}
