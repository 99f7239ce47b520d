/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What came of healing: a file for the tools, or a line per section for whoever started the program. */
#include "rt/digits.h"
#include "rt/heal_gate.h"
#include "rt/rt.h"
#include "rt/sys.h"

#include <fcntl.h>

struct line {
	char bytes[2048];
	uint32_t length;
};

static void put(struct line *line, const char *s)
{
	while (*s && line->length < sizeof line->bytes - 1)
		line->bytes[line->length++] = *s++;
}

static void put_number(struct line *line, uint64_t n)
{
	struct rt_digits room;

	put(line, " ");
	put(line, rt_digits(&room, n, 10));
}

/* One line a section: its id, and its counters in the order of enum atomsan_heal_counter. */
static void write_results(void)
{
	const struct atomsan_heal_section *section;
	static struct line line;
	char path[1024];
	long fd;

	line.length = 0;
	put(&line, rt_options.results);
	put(&line, "/heal.%p");
	line.bytes[line.length] = 0;
	rt_path(path, sizeof path, line.bytes);
	fd = sys3(open, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (sys_failed(fd))
		return;
	for (uint32_t i = 0; (section = heal_nth(i)); i++) {
		line.length = 0;
		put(&line, "section ");
		put(&line, section->id);
		for (int k = 0; k < ATOMSAN_HEAL_COUNTERS; k++)
			put_number(&line, section->counter[k]);
		put(&line, "\n");
		/* Half of it would look like all of it. */
		if (sys3(write, fd, line.bytes, line.length) != (long)line.length) {
			sys2(ftruncate, fd, 0);
			break;
		}
	}
	sys1(close, fd);
}

void heal_finish(void)
{
	const struct atomsan_heal_section *section;

	if (!heal_nth(0))
		return;
	heal_count_all();
	if (*rt_options.results) {
		write_results();
		return;
	}
	for (uint32_t i = 0; (section = heal_nth(i)); i++) {
		const uint64_t *n = section->counter;

		if (n[ATOMSAN_HEAL_HEALED] || n[ATOMSAN_HEAL_SCHEDULED] || n[ATOMSAN_HEAL_TIMEOUTS] ||
		    n[ATOMSAN_HEAL_CUT_SHORT] || (n[ATOMSAN_HEAL_ENTERED] && rt_options.verbosity))
			rt_say("section %s on %s was entered %u times, healed %u, by scheduling %u, too late "
			       "%u, cut short %u, given up %u; %u microseconds were waited; gates were "
			       "closed %u times",
			       section->id, section->variable->name, n[ATOMSAN_HEAL_ENTERED],
			       n[ATOMSAN_HEAL_HEALED], n[ATOMSAN_HEAL_SCHEDULED], n[ATOMSAN_HEAL_TIMEOUTS],
			       n[ATOMSAN_HEAL_CUT_SHORT], n[ATOMSAN_HEAL_GIVEN_UP],
			       n[ATOMSAN_HEAL_WAITED] / 1000, n[ATOMSAN_HEAL_GATED]);
	}
}
