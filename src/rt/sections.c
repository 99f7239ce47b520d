/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What happens to sections that threads are in: whoever accesses the address of
 * one leaves a note there, and at an end the notes are judged.
 *
 * Hooks come before accesses, and nothing is between a hook and its access, no
 * synchronisation above all. So in a program whose plain accesses are ordered a
 * note is made between the hooks of entry and end only if the access comes in
 * between, too, and where they are not ordered, nothing keeps it from doing
 * so. Atomic accesses need no order, and here the hooks on both sides decide:
 * a section begins behind an atomic entry, and a note counts if the atomic
 * access began and was over inside.
 */
#include "rt/sections_open.h"
#include "rt/watch.h"

/* ---- verdicts ---- */

static bool conflict(unsigned a, unsigned b)
{
	return (a | b) & ATOMICITY_WRITE;
}

/* What was noted at the wings before they were closed. */
struct notes {
	const struct section_access *at[WINGS * NOTES];
	uint32_t end[WINGS * NOTES];
	uint32_t count;
};

static void collect(const struct open *open, struct notes *notes) HOOKED
{
	notes->count = 0;
	for (uint32_t i = 0; i < open->wing_count; i++)
		for (uint32_t n = 0; n < open->wings[i].note_count; n++) {
			notes->at[notes->count] = &open->wings[i].notes[n];
			notes->end[notes->count++] = open->wings[i].end;
		}
}

/*
 * Over two variables: one unit of another thread must have come behind the
 * entry on the first and before the end on the second. If it did one of the
 * two only, it is as if it had come before or after the whole.
 */
static void judge_two(const struct open *open, const struct section_end *end, uint32_t number,
		      const struct notes *notes, const struct section_access *last) HOOKED
{
	for (uint32_t i = 0; i < notes->count; i++)
		for (uint32_t k = 0; k < notes->count; k++) {
			const struct section_access *pair[2] = {notes->at[i], notes->at[k]};

			if (notes->end[i] || notes->end[k] != number || pair[0]->thread != pair[1]->thread ||
			    !pair[0]->epoch || pair[0]->epoch != pair[1]->epoch ||
			    !conflict(pair[0]->kinds, open->section->kind) ||
			    !conflict(pair[1]->kinds, end->kind))
				continue;
			sections_report(open->section, end, &open->entry, pair, 2, last);
			return;
		}
}

static void judge(struct open *open, uint32_t number, const struct section_access *last) HOOKED
{
	const struct section_end *end = &open->section->ends[number - 1];
	struct notes notes;

	collect(open, &notes);
	sections_close_wings(open);
	if (open->section->any && last->address != open->entry.address) {
		judge_two(open, end, number, &notes, last);
		return;
	}
	for (uint32_t i = 0; i < notes.count; i++)
		if (!notes.end[i] && notes.at[i]->kinds & ~end->allow) {
			sections_report(open->section, end, &open->entry, &notes.at[i], 1, last);
			return;
		}
}

/* ---- others ---- */

static bool overlap(const struct wing *wing, uint64_t p, uint64_t length)
{
	return p < wing->address + wing->length && wing->address < p + length;
}

static void note(struct wing *wing, const void *p, uint64_t length, unsigned kinds,
		 const struct atomsan_site *site) HOOKED
{
	struct open *open = wing->open;
	unsigned seen = 0;

	sections_lock(&open->busy);
	for (uint32_t i = 0; i < wing->note_count; i++)
		seen |= wing->notes[i].kinds;
	/* One that does more than those before is worth a note. */
	if (kinds & ~seen && wing->note_count < NOTES)
		sections_take(&wing->notes[wing->note_count++], p, length, kinds, site);
	sections_unlock(&open->busy);
}

static void visit(struct wing *wing, const void *p, uint64_t length, unsigned kinds,
		  const struct atomsan_site *site, bool atomic) HOOKED
{
	if (wing->open->entry.thread == rt_self.number || !overlap(wing, (uint64_t)p, length))
		return;
	if (!atomic) {
		note(wing, p, length, kinds, site);
	} else if (sections_self.pending_count < PENDING) {
		sections_self.pending[sections_self.pending_count].wing = wing;
		sections_self.pending[sections_self.pending_count++].serial = wing->open->serial;
	}
}

static void look_into(uint32_t number, const void *p, uint64_t length, unsigned kinds,
		      const struct atomsan_site *site, bool atomic) HOOKED
{
	struct bucket *bucket = &sections_buckets[number];

	if (!__atomic_load_n(&bucket->first, __ATOMIC_RELAXED))
		return;
	sections_lock(&bucket->lock);
	for (struct node *node = bucket->first; node; node = node->next)
		visit(node->wing, p, length, kinds, site, atomic);
	sections_unlock(&bucket->lock);
}

/* Leaves notes with other threads that are inside a section of these bytes. */
static void meet(const void *p, uint64_t length, unsigned kinds, const struct atomsan_site *site,
		 bool atomic) HOOKED
{
	uint64_t first = (uint64_t)p >> 3, last = ((uint64_t)p + length - 1) >> 3;

	if (likely(__atomic_load_n(&sections_open_total, __ATOMIC_RELAXED) == sections_mine) || !length)
		return;
	if (sections_over_two)
		sections_look_at_epoch();
	if (last - first >= BUCKETS)
		for (uint32_t i = 0; i < BUCKETS; i++)
			look_into(i, p, length, kinds, site, atomic);
	else
		for (uint64_t g = first; g <= last; g++)
			look_into(sections_bucket(g), p, length, kinds, site, atomic);
	look_into(BUCKETS, p, length, kinds, site, atomic);
}

/* ---- the thread's own ---- */

static bool same_text(const int32_t *a, const int32_t *b)
{
	const char *x = *a ? (const char *)a + *a : "", *y = *b ? (const char *)b + *b : "";

	while (*x && *x == *y)
		x++, y++;
	return *x == *y;
}

/* A unit without a frame calls nobody of interest: if the thread is elsewhere, it was left. */
static void forget_through(const struct atomsan_site *site) HOOKED
{
	FOR_MINE(open)
	if (open->through && !same_text(&open->entry.site->function, &site->function))
		sections_forget(open);
}

static bool ends_here(const struct open *open, const struct section_link *link, uint64_t p)
{
	return open->section == &sections_all[link->section] && !open->ended &&
	       (open->section->any || open->entry.address == p);
}

/* Ends first, then entries: a place may be both. `decided` is false for an atomic operation that is yet to
 * show whether it ends what it is an end of. */
static void own(const void *p, uint64_t length, unsigned kind, const struct atomsan_site *site,
		bool decided) HOOKED
{
	uint32_t first = sections_link(site);
	for (uint32_t i = sections_mine ? first : 0; i; i = sections_links[i].next) {
		const struct section_link *link = &sections_links[i];
		const struct section *section = &sections_all[link->section];
		struct atomsan_frame *frame;
		bool through;

		if (!link->end || section->ends[link->end - 1].kind != kind)
			continue;
		frame = sections_unit_frame(section, &through);
		FOR_MINE(open)
		{
			struct section_access last;

			/* Of the same call; entered again in a call of its own, it may also be left there. */
			if (!ends_here(open, link, (uint64_t)p) ||
			    (!section->recursive && frame != open->frame))
				continue;
			if (section->recursive && --open->depth)
				continue;
			if (!decided) {
				open->ended = true;
				open->depth = link->end;
				continue;
			}
			sections_take(&last, p, length, kind, site);
			judge(open, link->end, &last);
			sections_forget(open);
		}
	}
	FOR_MINE(open)
	if (open->section->consecutive && !open->ended && overlap(&open->wings[0], (uint64_t)p, length))
		sections_forget(open);
}

static void enter_here(const void *p, uint64_t length, unsigned kind, const struct atomsan_site *site) HOOKED
{
	for (uint32_t i = sections_link(site); i; i = sections_links[i].next) {
		const struct section_link *link = &sections_links[i];

		if (!link->end && sections_all[link->section].kind == kind)
			sections_enter(&sections_all[link->section], p, length, site);
	}
}

static void step(const void *p, uint64_t length, unsigned kind, const struct atomsan_site *site) HOOKED
{
	if (sections_mine) {
		sections_forget_left();
		forget_through(site);
	}
	meet(p, length, kind, site, false);
	own(p, length, kind, site, true);
	enter_here(p, length, kind, site);
}

void sections_access(const void *p, uint64_t length, unsigned kinds, const struct atomsan_site *site) HOOKED
{
	if (likely(!sections_self.holding))
		step(p, length, kinds & ATOMICITY_READ ? ATOMICITY_READ : ATOMICITY_WRITE, site);
}

/* ---- atomic operations ---- */

void sections_atomic(const void *p, const struct atomsan_site *site) HOOKED
{
	unsigned kinds = atomicity_site_kinds(site);

	if (unlikely(sections_self.holding))
		return;
	if (sections_mine) {
		sections_forget_left();
		forget_through(site);
	}
	sections_self.pending_count = 0;
	meet(p, site->size, kinds, site, true);
	/* What ends with the operation gets no more notes; whether it ends, the operation shows. */
	if (sections_mine && kinds & ATOMICITY_READ)
		own(p, site->size, ATOMICITY_READ, site, site->kind != ATOMSAN_ATOMIC_RMW);
	if (sections_mine && kinds & ATOMICITY_WRITE)
		own(p, site->size, ATOMICITY_WRITE, site, site->kind != ATOMSAN_ATOMIC_RMW);
}

static void confirm(const void *p, unsigned kinds, const struct atomsan_site *site) HOOKED
{
	for (uint32_t i = 0; i < sections_self.pending_count; i++) {
		struct wing *wing = sections_self.pending[i].wing;
		struct bucket *bucket = &sections_buckets[wing->nodes[0].bucket];

		sections_lock(&bucket->lock);
		for (struct node *node = bucket->first; node; node = node->next)
			if (node == &wing->nodes[0] && wing->open->serial == sections_self.pending[i].serial)
				note(wing, p, site->size, kinds, site);
		sections_unlock(&bucket->lock);
	}
	sections_self.pending_count = 0;
}

void sections_atomic_done(const void *p, bool wrote, const struct atomsan_site *site) HOOKED
{
	unsigned kinds = atomicity_site_kinds(site) & (wrote ? ~0u : (unsigned)ATOMICITY_READ);
	bool compared = site->flags & ATOMSAN_SITE_MAY_FAIL;

	if (unlikely(sections_self.holding))
		return;
	confirm(p, kinds, site);
	FOR_MINE(open)
	{
		struct section_access last;
		unsigned kind;

		if (!open->ended)
			continue;
		open->ended = false;
		kind = open->section->ends[open->depth - 1].kind;
		/* A compare-exchange that went through has found what the entry had left. */
		if (kinds & kind && !(compared && wrote)) {
			sections_take(&last, p, site->size, kind, site);
			judge(open, open->depth, &last);
		}
		if (kinds & kind)
			sections_forget(open);
		else
			open->depth = 1;
	}
	if (kinds & ATOMICITY_WRITE)
		enter_here(p, site->size, ATOMICITY_WRITE, site);
	if (kinds & ATOMICITY_READ)
		enter_here(p, site->size, ATOMICITY_READ, site);
}

bool sections_start(void)
{
	static const char none[] = "none";
	const char *option = rt_options.sections, *p = none;

	while (*p && *option == *p)
		option++, p++;
	/* What is healed is not watched, unless somebody asks for both. */
	if (!*rt_options.repository || *option == *p || (rt_options.heal && !rt_options.race))
		return false;
	return sections_load(rt_options.repository);
}

/* ---- operations, threads, processes ---- */

void sections_op(enum trace_op op, const void *object) HOOKED
{
	uint64_t length = 0;

	if (!sections_mine || sections_self.holding)
		return;
	sections_forget_left();
	/* libc has the size of a block in the word before it. */
	if (op == TRACE_OP_FREE)
		length = ((const uint64_t *)object)[-1] & ~7ull;
	FOR_MINE(open)
	/* Who waits for a condition lets others in, and knows. Freed memory may be another's next. */
	if (open->through || op == TRACE_OP_WAIT || open->entry.address - (uint64_t)object < length)
		sections_forget(open);
}
