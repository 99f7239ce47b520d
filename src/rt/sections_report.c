/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is said about a section that was broken: once for each section, end and
 * place that came in between, with how often it happened. Records have the
 * kind `section`, and these facts beside the accesses:
 *
 *   section    its id
 *   from       where it comes from, as in the repository
 *   unit       function and file, with a blank between
 *   other      the same of whoever came in between
 *   set        atomic set of the variable, as findings name it
 *   pattern    RWR, ...
 */
#include "rt/sections.h"
#include "rt/sys.h"
#include "rt/watch_report.h"

#define HOOKED ATOMSAN_KEEPS_REGISTERS

enum { REPORTS = 512 };

static struct report {
	const struct section *section;
	const struct section_end *end;
	const struct atomsan_site *other;
	uint64_t times;
} reports[REPORTS];
static uint32_t report_count;
static uint32_t report_lock;
static uint64_t lost; /* did not fit */

/* 0: it is known already, or there is no room. */
static uint32_t number_of(const struct section *section, const struct section_end *end,
			  const struct atomsan_site *other) HOOKED
{
	uint32_t number = 0;

	while (__atomic_exchange_n(&report_lock, 1, __ATOMIC_ACQUIRE))
		sys0(sched_yield);
	for (uint32_t i = 0; i < report_count; i++)
		if (reports[i].section == section && reports[i].end == end && reports[i].other == other) {
			reports[i].times++;
			goto out;
		}
	if (report_count < REPORTS) {
		reports[report_count] = (struct report){section, end, other, 1};
		number = ++report_count;
	} else {
		lost++;
	}
out:
	__atomic_store_n(&report_lock, 0, __ATOMIC_RELEASE);
	return number;
}

static char *put(char *to, const char *end, const char *text) HOOKED
{
	while (*text && to < end - 1)
		*to++ = *text++;
	*to = 0;
	return to;
}

static char *put_word(char *to, const char *end, struct atomicity_word word) HOOKED
{
	uint32_t length = atomicity_word_copy(word, to, (uint32_t)(end - to));

	return to + (length < end - to ? length : end - to - 1);
}

static char *put_number(char *to, const char *end, uint64_t n) HOOKED
{
	char digits[24];
	unsigned at = sizeof digits - 1;

	digits[at] = 0;
	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	return put(to, end, digits + at);
}

static void put_from(char *to, const char *end, const struct section *section) HOOKED
{
	static const char *const origins[] = {"spec ", "annotation", "finding ", "lint ", "learned "};
	const struct atomicity_from *from = &section->from;

	*to = 0;
	if (!section->from_count) {
		put(to, end, "the repository");
		return;
	}
	to = put(to, end, origins[from->origin]);
	if (from->what.length)
		to = put_word(to, end, from->what);
	if (from->origin == ATOMICITY_LEARNED) {
		to = put_number(to, end, from->runs);
		put(to, end, " runs");
	}
}

/* As in model_set_name(): the struct, or the variables of a file. */
static void put_set(char *to, const char *end, const struct section_access *access) HOOKED
{
	const struct atomsan_site *site = access->site;
	const struct atomsan_variable *variable;

	*to = 0;
	if (site->type && site->member) {
		put(to, end, watch_report_text(&site->type));
		return;
	}
	variable = rt_module_variable(access->address);
	if (variable && variable->file) {
		to = put(to, end, "globals of ");
		put(to, end, watch_report_text(&variable->file));
	}
}

static bool same(const char *a, const char *b) HOOKED
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/*
 * Whose unit the access is made in, as checkers see it (docs/units.md), so that
 * both give the violation one id: the outermost function that is handed the
 * object, or that belongs to the variable's file. The bottom frame is none.
 */
static const struct atomsan_function *unit_of(const struct section_access *access) HOOKED
{
	const struct atomsan_site *site = access->site;
	const struct atomsan_variable *variable = NULL;
	uint32_t outermost =
		access->depth < SECTIONS_STACK && access->depth ? access->depth - 1 : access->depth;
	const struct atomsan_function *innermost = NULL;

	if (!(site->type && site->member))
		variable = rt_module_variable(access->address);
	for (uint32_t i = outermost; i--;) {
		const struct atomsan_function *f = access->frames[i];

		if (f->flags & ATOMSAN_FN_ACCESSOR)
			continue;
		if (!variable ? site->type && f->receiver_type &&
					same(watch_report_text(&f->receiver_type),
					     watch_report_text(&site->type))
			      : f->flags & ATOMSAN_FN_EXTERNAL && f->file && variable->file &&
					same(watch_report_text(&f->file), watch_report_text(&variable->file)))
			return f;
		innermost = f;
	}
	return innermost;
}

static void put_unit(char *to, const char *end, const struct section_access *access) HOOKED
{
	const struct atomsan_function *f = unit_of(access);

	to = put(to, end, watch_report_text(f ? &f->name : &access->site->function));
	to = put(to, end, " ");
	put(to, end, watch_report_text(f ? &f->file : &access->site->file));
}

static char letter(unsigned kinds)
{
	return kinds & ATOMICITY_WRITE ? 'W' : 'R';
}

static void fill(struct watch_report_access *to, const struct section_access *from, const char *thread,
		 const char *note) HOOKED
{
	to->op = letter(from->kinds);
	to->thread = thread;
	to->site = from->site;
	to->address = from->address;
	to->length = from->length;
	to->frames = from->frames;
	to->depth = from->depth;
	to->note = note;
}

void sections_report(const struct section *section, const struct section_end *end,
		     const struct section_access *entry, const struct section_access *const *others,
		     uint32_t count, const struct section_access *last) HOOKED
{
	char id[32], from[128], unit[256], other[256], set[256], pattern[8], *p = unit;
	struct watch_report report;
	uint32_t number = number_of(section, end, others[0]->site), n = 0;

	if (!number)
		return;
	report.kind = "section";
	report.title = "atomicity violation";
	report.number = number;
	fill(&report.accesses[n++], entry, entry->name, "the section begins");
	for (uint32_t i = 0; i < count; i++)
		fill(&report.accesses[n++], others[i], others[i]->name, "comes in between");
	fill(&report.accesses[n++], last, last->name, "the section ends");
	report.access_count = n;
	report.has_values = last->length <= 8;
	report.before = entry->value;
	report.after = last->value;
	atomicity_word_copy(section->id, id, sizeof id);
	put_from(from, from + sizeof from, section);
	if (section->given_unit) {
		p = put_word(p, unit + sizeof unit, section->unit);
		p = put(p, unit + sizeof unit, " ");
		put_word(p, unit + sizeof unit, section->unit_file);
	} else {
		put_unit(unit, unit + sizeof unit, entry);
	}
	put_unit(other, other + sizeof other, others[0]);
	put_set(set, set + sizeof set, entry);
	pattern[0] = letter(entry->kinds);
	pattern[1] = letter(others[0]->kinds);
	pattern[2] = letter(last->kinds);
	pattern[3] = 0;
	report.facts[0] = (struct watch_report_fact){"section", id};
	report.facts[1] = (struct watch_report_fact){"from", from};
	report.facts[2] = (struct watch_report_fact){"unit", unit};
	report.facts[3] = (struct watch_report_fact){"set", set};
	report.facts[4] = (struct watch_report_fact){"pattern", pattern};
	report.facts[5] = (struct watch_report_fact){"other", other};
	report.fact_count = 6;
	watch_report(&report);
}

void sections_finish(void)
{
	static bool done;

	if (__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		return;
	for (uint32_t i = 0; i < report_count; i++)
		watch_report_seen("section", i + 1, reports[i].times);
	watch_report_count("sections watched", sections_count);
	if (lost)
		watch_report_count("violations of sections beyond those reported", lost);
}
