/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the tools tell the scheduler: a schedule to follow (docs/schedule-format.md),
 * or hints for a strategy from an earlier run, and the report that it fills.
 * Of a schedule's lines the runtime reads those that concern it, and believes
 * the rest: the tools have checked it.
 *
 * A schedule is followed as far as it can be. Where the thread that it wants
 * cannot go on, others run until it can, and the report has the place. So every
 * list of steps is some run, always the same one, which is what makes it
 * possible to shorten a schedule by leaving steps out.
 */
#include "rt/scheduler.h"
#include "rt/sys.h"

#include <fcntl.h>
#include <sys/mman.h>

/* A thread that polls this often waits for somebody else. */
enum { POLLS = 1000 };

struct name {
	const char *text;
	uint32_t length;
	uint32_t thread; /* index + 1, once created */
	uint64_t weight;
};

static struct {
	struct name *names; /* from 1 on */
	uint32_t name_count;
	struct step {
		uint32_t name;
		uint64_t events;
	} *steps;
	uint64_t step_count, next;
	uint64_t *sites; /* a bit for each that strategies need not look at */
	uint64_t site_limit;
	uint64_t total;
	bool has_sites;
	bool over;
} plan;

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

static bool same(const struct name *name, const char *text, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (name->length != length || name->text[i] != text[i])
			return false;
	return name->length == length;
}

static uint32_t find_name(const char *text, uint32_t length)
{
	for (uint32_t i = 1; i <= plan.name_count; i++)
		if (same(&plan.names[i], text, length))
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
	if (found || plan.name_count + 1 >= SCHED_THREADS)
		return found;
	plan.names[++plan.name_count] = (struct name){text, length, 0, 0};
	return plan.name_count;
}

static void read_line(const char *at, const char *end)
{
	if (word(&at, end, "run")) {
		struct step *step = &plan.steps[plan.step_count++];

		step->name = name(&at, end);
		step->events = number(&at, end);
	} else if (word(&at, end, "then")) {
		sched.frees = word(&at, end, "free");
	} else if (word(&at, end, "events")) {
		sched.counts_all = !word(&at, end, "first");
	} else if (word(&at, end, "skip")) {
		uint64_t site = number(&at, end);

		plan.has_sites = true;
		if (site / 64 < plan.site_limit)
			plan.sites[site / 64] |= 1ull << site % 64;
	} else if (word(&at, end, "thread")) {
		uint32_t n = name(&at, end);

		plan.names[n].weight = number(&at, end);
	} else if (word(&at, end, "points")) {
		plan.total = number(&at, end);
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
	if (!plan.names)
		plan.names = room(SCHED_THREADS, sizeof *plan.names);
	if (!plan.steps)
		plan.steps = room(lines, sizeof *plan.steps);
	if (!plan.sites) {
		plan.site_limit = 1 << 18;
		plan.sites = room(plan.site_limit, 8);
	}
	if (!plan.names || !plan.steps || !plan.sites)
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

static enum sched_mode mode_of(const char *text)
{
	static const struct {
		const char *name;
		enum sched_mode mode;
	} modes[] = {{"follow", SCHED_FOLLOW}, {"serial", SCHED_SERIAL}, {"random", SCHED_RANDOM},
		     {"pct", SCHED_PCT},       {"pos", SCHED_POS},       {"surw", SCHED_SURW}};

	for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
		if (is(text, modes[i].name))
			return modes[i].mode;
	rt_say("ATOMSAN_OPTIONS: sched=%s is none of follow, serial, random, pct, pos, surw; the program "
	       "runs unscheduled",
	       text);
	return SCHED_OFF;
}

bool sched_plan_read(void)
{
	enum sched_mode mode = mode_of(rt_options.sched);

	if (mode == SCHED_OFF || !open_report())
		return false;
	sched.counts_all = !is(rt_options.sched_events, "first");
	if ((*rt_options.sched_file && !read_lines(rt_options.sched_file)) ||
	    (mode == SCHED_FOLLOW && !plan.steps)) {
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
	return !plan.has_sites || site / 64 >= plan.site_limit || !(plan.sites[site / 64] >> site % 64 & 1);
}

uint64_t sched_plan_steps(void)
{
	return plan.total;
}

/* Is the thread an ancestor of the one of this name? T0 is everybody's. */
static bool descends(const struct name *name, const struct sched_thread *t)
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
	uint64_t weight = t->name_id ? plan.names[t->name_id].weight : 0;

	for (uint32_t i = 1; i <= plan.name_count; i++)
		if (i != t->name_id && !plan.names[i].thread && descends(&plan.names[i], t))
			weight += plan.names[i].weight;
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
		plan.names[t->name_id].thread = t->index + 1;
}

/* ---- following ---- */

struct writer {
	char *to;
	uint64_t at, room;
};

static void put(struct writer *w, const char *text)
{
	for (; text && *text && w->at + 1 < w->room; text++)
		w->to[w->at++] = *text;
	w->to[w->at] = 0;
}

static void put_number(struct writer *w, uint32_t n)
{
	char digits[16];
	unsigned count = sizeof digits - 1;

	digits[count] = 0;
	do {
		digits[--count] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	put(w, digits + count);
}

static void put_place(struct writer *w, const char *function, const char *file, uint32_t line)
{
	put(w, function ? function : "?");
	put(w, " ");
	put(w, file ? file : "?");
	put(w, ":");
	put_number(w, line);
}

/* A string of a table of the executable's. */
static const char *text_at(const int32_t *field)
{
	return *field ? (const char *)field + *field : NULL;
}

void sched_describe(char *to, uint64_t size, const struct atomsan_site *site)
{
	struct writer w = {to, 0, size};

	put(&w, "");
	/* Small numbers stand for places that are not known. */
	if ((uint64_t)site >= 2)
		put_place(&w, text_at(&site->function), text_at(&site->file), site->line);
}

void sched_say_assertion(const char *condition, const char *file, unsigned line, const char *function)
{
	struct writer w = {sched.report->message, 0, sizeof sched.report->message};

	put(&w, "assertion '");
	put(&w, condition);
	put(&w, "' failed in ");
	put_place(&w, function, file, line);
	sched_say_crash();
}

void sched_say_crash(void)
{
	struct writer w = {sched.report->stack, 0, sizeof sched.report->stack};
	const struct atomsan_site *site = rt_self.sched->last_site;

	/* The last event is the nearest place that is known. */
	if ((uint64_t)site >= 2)
		put_place(&w, text_at(&site->function), text_at(&site->file), site->line);
	for (const struct atomsan_frame *frame = __atomsan_thread.top; frame > rt_self.frames;) {
		const struct atomsan_function *f = (--frame)->function;

		if (!f || f->flags & ATOMSAN_FN_LOOP)
			continue;
		put(&w, w.at ? ", in " : "in ");
		put_place(&w, text_at(&f->name), text_at(&f->file), f->line);
	}
}

static void lost(const struct step *step, const struct sched_thread *t, enum sched_wait why)
{
	struct sched_report *report = sched.report;
	const struct name *n = &plan.names[step->name];
	uint32_t i = 0;

	if (report->diverged)
		return;
	report->diverged = 1;
	report->lost_step = plan.next + 1;
	report->lost_wanted = step->events;
	report->lost_waits = why;
	for (; i < n->length && i + 1 < sizeof report->lost_name; i++)
		report->lost_name[i] = n->text[i];
	report->lost_name[i] = 0;
	if (!t)
		return;
	report->lost_thread = t->index + 1;
	report->lost_events = t->events;
	report->lost_object = (uint64_t)t->object;
	sched_describe(report->lost_where, sizeof report->lost_where, t->site ? t->site : t->last_site);
}

/* Somebody else, and again a decision at every point until the right one can go on. */
static struct sched_thread *instead(struct sched_thread *me, const struct sched_thread *of)
{
	struct sched_thread *chosen;

	if (me == of)
		me = NULL;
	chosen = sched_pick(me);
	if (chosen)
		chosen->until = 0;
	return chosen;
}

/*
 * The right one waits for something. Somebody may bring that about without
 * doing an event: a thread that polls sees what it waited for, and ends, say;
 * that is no step of a schedule. So the others are let run, one by one, up to
 * their next event. NULL: they all stand before one.
 */
static struct sched_thread *silently(struct sched_thread *me, const struct sched_thread *of)
{
	if (me && me != of && me->status == SCHED_READY && !me->heard) {
		if (me->next_silent && me->repeats < POLLS)
			return me;
		me->heard = true;
	}
	for (uint32_t i = 0; i < sched.count; i++) {
		struct sched_thread *t = sched_thread(i);

		if (t == of || t->heard || t->status != SCHED_READY)
			continue;
		if (t->next_silent || !t->beat) {
			t->until = t->events;
			return t;
		}
		t->heard = true;
	}
	return NULL;
}

static void go_on(struct sched_thread *t, uint64_t until)
{
	t->until = until;
	for (uint32_t i = 0; i < sched.count; i++)
		sched_thread(i)->heard = false;
}

struct sched_thread *sched_plan_pick(struct sched_thread *me)
{
	struct sched_thread *other;

	for (; plan.next < plan.step_count; plan.next++, sched.report->steps = plan.next) {
		struct step *step = &plan.steps[plan.next];
		uint32_t index = plan.names[step->name].thread;
		struct sched_thread *t = index ? sched_thread(index - 1) : NULL;

		if (!t) {
			lost(step, NULL, SCHED_WAIT_UNBORN);
			return instead(me, NULL);
		}
		if (t->events >= step->events)
			continue;
		switch ((enum sched_status)t->status) {
		case SCHED_GONE:
			lost(step, t, SCHED_WAIT_ENDED);
			continue;
		case SCHED_READY:
			if (t->repeats < POLLS) {
				go_on(t, step->events);
				return t;
			}
			lost(step, t, SCHED_WAIT_REPEATING);
			return instead(me, t);
		case SCHED_AWAY:
			return NULL;
		case SCHED_BLOCKED:
			/* It is wanted because its time was over at this point. */
			if (t->deadline)
				return NULL;
			other = silently(me, t);
			if (other)
				return other;
			lost(step, t, t->waits);
			return instead(me, t);
		}
	}
	if (!plan.over) {
		plan.over = true;
		__atomsan_schedule_end();
	}
	if (sched.frees) {
		sched_release();
		return NULL;
	}
	sched.mode = sched.base;
	return sched_pick(me);
}

void sched_plan_lost(void)
{
	struct step *step = &plan.steps[plan.next];
	uint32_t index = plan.next < plan.step_count ? plan.names[step->name].thread : 0;

	if (plan.next >= plan.step_count)
		return;
	lost(step, index ? sched_thread(index - 1) : NULL, SCHED_WAIT_KERNEL);
	plan.next++;
	sched.report->steps = plan.next;
}
