/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/watch_report.h"
#include "rt/digits.h"
#include "rt/spinlock.h"
#include "rt/sys.h"

#include <fcntl.h>

uint32_t watch_report_total;
static bool begun; /* the file has its first line */
static bool lost;  /* there was no room for something, and so the file is empty */

/* One record, written at once. What does not fit is cut off at a line's end, which a reader notices by the
 * missing end. */
struct text {
	uint64_t length;
	char bytes[12288];
};
static struct text text;
static uint32_t lock;

static void put(char c)
{
	if (text.length < sizeof text.bytes)
		text.bytes[text.length++] = c;
}

static void put_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\t' || *s == '\n' || *s == '\\') {
			put('\\');
			put(*s == '\t' ? 't' : *s == '\n' ? 'n' : '\\');
		} else {
			put(*s);
		}
	}
}

static void put_number(uint64_t n, unsigned base)
{
	struct rt_digits room;

	put_text(rt_digits(&room, n, base));
}

static void field(const char *s)
{
	put('\t');
	put_text(s);
}

static void field_number(uint64_t n)
{
	put('\t');
	put_number(n, 10);
}

static void write_out(void)
{
	char path[1024];
	uint64_t n = 0, done = 0;
	long fd;

	if (lost)
		return;
	for (const char *s = rt_options.results; *s && n < sizeof path - 32; s++)
		path[n++] = *s;
	for (const char *s = "/watched.%p"; *s; s++)
		path[n++] = *s;
	path[n] = 0;
	rt_path(path, sizeof path, path);
	fd = sys3(open, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (sys_failed(fd))
		return;
	while (done < text.length) {
		long wrote = sys3(write, fd, text.bytes + done, text.length - done);

		/* Half of it would look like all of it. */
		if (wrote <= 0) {
			lost = true;
			sys2(ftruncate, fd, 0);
			break;
		}
		done += (uint64_t)wrote;
	}
	sys1(close, fd);
}

static void begin(const char *word)
{
	text.length = 0;
	if (!begun) {
		begun = true;
		put_text("watched");
		field_number(1);
		put('\n');
	}
	put_text(word);
}

/* ---- names ---- */

static uint64_t append(char *to, uint64_t room, uint64_t at, const char *s)
{
	for (; *s && at + 1 < room; s++)
		to[at++] = *s;
	to[at] = 0;
	return at;
}

bool watch_report_variable(char *to, uint64_t room, uint64_t address, const struct atomsan_site *site)
{
	const struct atomsan_variable *variable;
	uint64_t at = append(to, room, 0, "");

	if (site && site->type && site->member) {
		at = append(to, room, at, watch_report_text(&site->type));
		at = append(to, room, at, ".");
		append(to, room, at, watch_report_text(&site->member));
		return true;
	}
	variable = rt_module_variable(address);
	if (variable && variable->name) {
		append(to, room, at, watch_report_text(&variable->name));
		return true;
	}
	if (site && site->type) {
		append(to, room, at, watch_report_text(&site->type));
		return true;
	}
	if (site && site->base && (site->base_kind & ATOMSAN_BASE_MASK) != ATOMSAN_BASE_UNKNOWN) {
		append(to, room, at, watch_report_text(&site->base));
		return true;
	}
	return false;
}

uint32_t watch_report_stack(const struct atomsan_function **frames, uint32_t room)
{
	const struct atomsan_frame *frame = __atomsan_thread.top;
	uint32_t depth = 0;

	if (!rt_self.frames)
		return 0;
	while (frame > rt_self.frames && depth < room) {
		const struct atomsan_function *function = (--frame)->function;

		/* Iterations of loops and further receivers are frames, too, and no functions. */
		if (function && !(function->flags & (ATOMSAN_FN_LOOP | ATOMSAN_FN_ARGUMENT)))
			frames[depth++] = function;
	}
	return depth;
}

/* ---- the file ---- */

static void file_access(const struct watch_report_access *a)
{
	const struct atomsan_site *site = a->site;
	char name[256], op[2] = {a->op, 0};

	watch_report_variable(name, sizeof name, a->address, site);
	put_text("access");
	field(op);
	field(a->thread);
	field(name);
	field_number(a->length);
	field(site ? watch_report_text(&site->function) : "");
	field(site ? watch_report_text(&site->file) : "");
	field_number(site ? site->line : 0);
	field_number(site ? site->column : 0);
	field(a->note);
	put('\n');
	for (uint32_t i = 0; i < a->depth; i++) {
		put_text("frame");
		field(watch_report_text(&a->frames[i]->name));
		field(watch_report_text(&a->frames[i]->file));
		field_number(a->frames[i]->line);
		put('\n');
	}
}

static void to_file(const struct watch_report *report)
{
	begin("report");
	field(report->kind);
	field_number(report->number);
	put('\n');
	for (uint32_t i = 0; i < report->access_count; i++)
		file_access(&report->accesses[i]);
	if (report->has_values) {
		put_text("values");
		put('\t');
		put_number(report->before, 16);
		put('\t');
		put_number(report->after, 16);
		put('\n');
	}
	for (uint32_t i = 0; i < report->fact_count; i++) {
		put_text("fact");
		field(report->facts[i].name);
		field(report->facts[i].text);
		put('\n');
	}
	put_text("end");
	put('\n');
	write_out();
}

/* ---- standard error ---- */

static void tell_access(const struct watch_report_access *a)
{
	const struct atomsan_site *site = a->site;
	const char *does = a->op == 'R' ? "reads" : a->op == 'W' ? "writes" : "updates";

	if (!site) {
		rt_say("    somebody %s it%s%s", does, *a->note ? ": " : "", a->note);
		return;
	}
	rt_say("    %s %s %u bytes in %s, %s:%u:%u%s%s", a->thread, does, a->length,
	       watch_report_text(&site->function), watch_report_text(&site->file), (uint64_t)site->line,
	       (uint64_t)site->column, *a->note ? ", " : "", a->note);
	for (uint32_t i = 0; i < a->depth; i++)
		rt_say("        in %s, %s:%u", watch_report_text(&a->frames[i]->name),
		       watch_report_text(&a->frames[i]->file), (uint64_t)a->frames[i]->line);
}

static void tell(const struct watch_report *report)
{
	const struct watch_report_access *first = &report->accesses[0];
	char name[256];

	watch_report_variable(name, sizeof name, first->address, first->site);
	rt_say("%s on %s", report->title, *name ? name : "memory without a name");
	for (uint32_t i = 0; i < report->access_count; i++)
		tell_access(&report->accesses[i]);
	if (report->has_values)
		rt_say("    the value was %x (hexadecimal) and is %x now", report->before, report->after);
	for (uint32_t i = 0; i < report->fact_count; i++)
		rt_say("    %s: %s", report->facts[i].name, report->facts[i].text);
}

void watch_report(const struct watch_report *report)
{
	rt_spin_enter(&lock);
	watch_report_total++;
	if (*rt_options.results)
		to_file(report);
	else
		tell(report);
	rt_spin_leave(&lock);
}

static void line_of_three(const char *word, const char *name, const uint64_t *number, uint64_t value)
{
	if (!*rt_options.results)
		return;
	rt_spin_enter(&lock);
	begin(word);
	field(name);
	if (number)
		field_number(*number);
	field_number(value);
	put('\n');
	write_out();
	rt_spin_leave(&lock);
}

void watch_report_seen(const char *kind, uint64_t number, uint64_t times)
{
	line_of_three("seen", kind, &number, times);
}

void watch_report_count(const char *name, uint64_t value)
{
	line_of_three("count", name, NULL, value);
}

void watch_report_start(void)
{
	if (*rt_options.results)
		watch_report_count("processes", 1);
}

void watch_report_fork_child(void)
{
	begun = lost = false;
	watch_report_total = 0;
	lock = 0;
}
