/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the tools tell the scheduler: a schedule to follow (docs/schedule-format.md),
 * or hints for a strategy from an earlier run, and the report that it fills.
 * Of a schedule's lines the runtime reads those that concern it, and believes
 * the rest: the tools have checked it.
 */
#include "rt/sched_plan.h"
#include "rt/sys.h"

#include <fcntl.h>
#include <sys/mman.h>

struct sched_plan sched_plan;

/* ---- reading ---- */

static const char *load(const char *path, uint64_t *length)
{
	long fd = sys3(open, path, O_RDONLY | O_CLOEXEC, 0), size, p;

	if (sys_failed(fd))
		return NULL;
	size = sys3(lseek, fd, 0, 2);
	p = size > 0 ? sys6(mmap, 0, size, PROT_READ, MAP_PRIVATE, fd, 0) : -1;
	sys1(close, fd);
	if (sys_failed(p))
		return NULL;
	*length = (uint64_t)size;
	return (const char *)p;
}

static void *room(uint64_t count, uint64_t size)
{
	long p = sys6(mmap, 0, count * size + 1, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return sys_failed(p) ? NULL : (void *)p;
}

static bool word(const char **at, const char *end, const char *wanted)
{
	const char *p = *at;

	while (*wanted && p < end && *p == *wanted) {
		p++;
		wanted++;
	}
	if (*wanted || (p < end && *p != ' ' && *p != '\n'))
		return false;
	while (p < end && *p == ' ')
		p++;
	*at = p;
	return true;
}

static uint64_t number(const char **at, const char *end)
{
	uint64_t n = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
		n = n * 10 + (uint64_t)(**at - '0');
	return n;
}

static bool same(const struct sched_name *name, const char *text, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (name->length != length || name->text[i] != text[i])
			return false;
	return name->length == length;
}

static uint32_t find_name(const char *text, uint32_t length)
{
	for (uint32_t i = 1; i <= sched_plan.name_count; i++)
		if (same(&sched_plan.names[i], text, length))
			return i;
	return 0;
}

/* The number of the name that begins here. */
static uint32_t name(const char **at, const char *end)
{
	const char *text = *at;
	uint32_t length = 0, found;

	while (*at < end && **at != ' ' && **at != '\n') {
		++*at;
		length++;
	}
	while (*at < end && **at == ' ')
		++*at;
	found = find_name(text, length);
	if (found || sched_plan.name_count + 1 >= SCHED_THREADS)
		return found;
	sched_plan.names[++sched_plan.name_count] = (struct sched_name){text, length, 0, 0};
	return sched_plan.name_count;
}

static void read_line(const char *at, const char *end)
{
	if (word(&at, end, "run")) {
		struct sched_step *step = &sched_plan.steps[sched_plan.step_count++];

		step->name = name(&at, end);
		step->events = number(&at, end);
	} else if (word(&at, end, "then")) {
		sched.frees = word(&at, end, "free");
		if (word(&at, end, "serial") && at < end)
			sched_plan.first = name(&at, end);
	} else if (word(&at, end, "events")) {
		sched.counts_all = !word(&at, end, "first");
	} else if (word(&at, end, "skip")) {
		uint64_t site = number(&at, end);

		sched_plan.has_sites = true;
		if (site / 64 < sched_plan.site_limit)
			sched_plan.sites[site / 64] |= 1ull << site % 64;
	} else if (word(&at, end, "thread")) {
		uint32_t n = name(&at, end);

		sched_plan.names[n].weight = number(&at, end);
	} else if (word(&at, end, "points")) {
		sched_plan.total = number(&at, end);
	}
}

static bool read_lines(const char *path)
{
	uint64_t length = 0, lines = 1;
	const char *text = load(path, &length), *end = text + length;

	if (!text)
		return false;
	for (const char *p = text; p < end; p++)
		lines += *p == '\n';
	if (!sched_plan.names)
		sched_plan.names = room(SCHED_THREADS, sizeof *sched_plan.names);
	if (!sched_plan.steps)
		sched_plan.steps = room(lines, sizeof *sched_plan.steps);
	if (!sched_plan.sites) {
		sched_plan.site_limit = 1 << 18;
		sched_plan.sites = room(sched_plan.site_limit, 8);
	}
	if (!sched_plan.names || !sched_plan.steps || !sched_plan.sites)
		return false;
	for (const char *p = text; p < end;) {
		const char *line = p;

		while (p < end && *p != '\n')
			p++;
		read_line(line, p);
		p++;
	}
	return true;
}

static bool open_report(void)
{
	uint32_t unclaimed = SCHED_UNCLAIMED;
	long fd = -1, p;

	if (*rt_options.sched_report) {
		fd = sys3(open, rt_options.sched_report, O_RDWR | O_CLOEXEC, 0);
		/* Whoever wanted one has it no more: a process that outlived it. */
		if (sys_failed(fd) || sys3(lseek, fd, 0, 2) < (long)sizeof *sched.report) {
			if (!sys_failed(fd))
				sys1(close, fd);
			return false;
		}
	}
	p = sys6(mmap, 0, sizeof *sched.report, PROT_READ | PROT_WRITE,
		 fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0);
	if (fd >= 0)
		sys1(close, fd);
	if (sys_failed(p))
		return false;
	sched.report = (struct sched_report *)p;
	if (fd >= 0 && sched.report->version != SCHED_REPORT_VERSION)
		return false;
	if (!__atomic_compare_exchange_n(&sched.report->state, &unclaimed, SCHED_RUNNING, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	sched.report->pid = (uint32_t)sys0(getpid);
	return true;
}

static bool is(const char *text, const char *wanted)
{
	while (*text && *text == *wanted) {
		text++;
		wanted++;
	}
	return *text == *wanted;
}

static enum sched_mode mode_of(const char *option, const char *text)
{
	static const struct {
		const char *name;
		enum sched_mode mode;
	} modes[] = {{"follow", SCHED_FOLLOW}, {"serial", SCHED_SERIAL}, {"random", SCHED_RANDOM},
		     {"pct", SCHED_PCT},       {"pos", SCHED_POS},       {"surw", SCHED_SURW}};

	for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
		if (is(text, modes[i].name))
			return modes[i].mode;
	rt_say("ATOMSAN_OPTIONS: %s=%s is none of follow, serial, random, pct, pos, surw; the program "
	       "runs unscheduled",
	       option, text);
	return SCHED_OFF;
}

bool sched_plan_read(void)
{
	enum sched_mode mode = mode_of("sched", rt_options.sched), lost = SCHED_OFF;

	if (mode == SCHED_OFF)
		return false;
	if (*rt_options.sched_lost) {
		lost = mode_of("sched_lost", rt_options.sched_lost);
		if (lost == SCHED_OFF)
			return false;
	}
	if (!open_report())
		return false;
	sched_plan.lost = lost == SCHED_FOLLOW ? SCHED_OFF : lost;
	sched.counts_all = !is(rt_options.sched_events, "first");
	if ((*rt_options.sched_file && !read_lines(rt_options.sched_file)) ||
	    (mode == SCHED_FOLLOW && !sched_plan.steps)) {
		rt_say("the schedule %s cannot be read; the program runs unscheduled", rt_options.sched_file);
		sched_copy(sched.report->message, sizeof sched.report->message, "it cannot be read");
		sched.report->state = SCHED_REFUSED;
		return false;
	}
	sched.mode = mode;
	sched.base = mode == SCHED_FOLLOW ? SCHED_SERIAL : mode;
	return true;
}

/* ---- hints ---- */

bool sched_plan_site(uint64_t site)
{
	return !sched_plan.has_sites || site / 64 >= sched_plan.site_limit ||
	       !(sched_plan.sites[site / 64] >> site % 64 & 1);
}

struct sched_thread *sched_plan_first(void)
{
	uint32_t thread = sched_plan.first ? sched_plan.names[sched_plan.first].thread : 0;

	return thread ? sched_thread(thread - 1) : NULL;
}

uint64_t sched_plan_steps(void)
{
	return sched_plan.total;
}

/* Is the thread an ancestor of the one of this name? T0 is everybody's. */
static bool descends(const struct sched_name *name, const struct sched_thread *t)
{
	const char *mine = sched_entry(t)->name;
	uint32_t i = 0;

	if (!t->index)
		return name->length > 1;
	while (mine[i] && i < name->length && mine[i] == name->text[i])
		i++;
	return !mine[i] && i < name->length && name->text[i] == '.';
}

uint64_t sched_plan_weight(const struct sched_thread *t)
{
	uint64_t weight = t->name_id ? sched_plan.names[t->name_id].weight : 0;

	for (uint32_t i = 1; i <= sched_plan.name_count; i++)
		if (i != t->name_id && !sched_plan.names[i].thread && descends(&sched_plan.names[i], t))
			weight += sched_plan.names[i].weight;
	return weight;
}

void sched_plan_named(struct sched_thread *t)
{
	const char *text = sched_entry(t)->name;
	uint32_t length = 0;

	while (text[length])
		length++;
	t->name_id = find_name(text, length);
	if (t->name_id)
		sched_plan.names[t->name_id].thread = t->index + 1;
}
