/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who is inside which section. A thread that comes to an entry publishes the
 * address in a hash table; whoever accesses it meanwhile leaves a note there;
 * at an end the notes are judged. Several threads may be inside sections of
 * one variable at once, and each is watched.
 *
 * Hooks come before accesses, and nothing is between a hook and its access, no
 * synchronisation above all. So in a program whose plain accesses are ordered a
 * note is made between the hooks of entry and end only if the access comes in
 * between, too, and where they are not ordered, nothing keeps it from doing
 * so. Atomic accesses need no order, and here the hooks on both sides decide:
 * a section begins behind an atomic entry, and a note counts if the atomic
 * access began and was over inside.
 *
 * Leaving the unit is seen by its frame: `low` of the thread is raised to `top`
 * when a section is entered, and falls to the frame when that is left.
 *
 * Synchronisation: a bucket's lock guards its list and the notes of sections
 * in it; an open section belongs to its thread, which alone links and unlinks
 * it. A section over two variables is in two buckets, so its notes have a lock
 * of their own (`busy`), taken inside the bucket's.
 */
#include "rt/sections.h"
#include "rt/sys.h"
#include "rt/watch.h"

#include <sys/mman.h>

#define HOOKED ATOMSAN_KEEPS_REGISTERS

enum {
	MINE = 16, /* sections that one thread can be in at once */
	WINGS = 4, /* addresses of one section: the entry's, and for two variables those of ends */
	NOTES = 2, /* per address: the first read and the first write of others */
	BUCKETS = 1024,
	SHORT = 16,   /* bytes of what lies in buckets; longer ones are in a list of their own */
	GRANULES = 3, /* that so many bytes can touch */
	PENDING = 4,
};

struct node {
	struct node *next;
	struct wing *wing;
	uint32_t bucket;
};

struct wing {
	struct node nodes[GRANULES]; /* one for each granule */
	uint32_t node_count;
	struct open *open;
	uint64_t address, length;
	uint32_t end; /* as in struct section_link; of the entry's it is 0 */
	struct section_access notes[NOTES];
	uint32_t note_count;
};

struct open {
	uint64_t serial; /* changes with every section entered; 0: none */
	const struct section *section;
	struct atomsan_frame *frame; /* of the unit */
	struct atomsan_frame *exit;  /* leaving this one ends it */
	bool through;                /* the unit has none, and this is its caller's */
	bool late;                   /* the trace has yet to hear of frames that were left before */
	bool ended;                  /* an atomic operation decides */
	uint32_t depth;              /* times entered, if recursive */
	uint32_t busy;
	struct section_access entry;
	struct wing wings[WINGS];
	uint32_t wing_count;
};

struct block {
	struct block *next, *next_free;
	struct open opens[MINE];
};

static struct bucket {
	struct node *first;
	uint32_t lock;
} buckets[BUCKETS + 1]; /* the last one has what is long */

static struct block *blocks, *free_blocks;
static uint32_t blocks_lock;
static uint64_t serials;
static uint32_t open_total;      /* in all threads: while there is none, accesses have nothing to look for */
__thread uint32_t sections_mine; /* of this thread */

static __thread struct {
	struct block *block;
	uint64_t epoch;
	struct pending {
		struct wing *wing;
		uint64_t serial;
	} pending[PENDING]; /* notes of an atomic operation under way */
	uint32_t pending_count;
	uint32_t holding; /* a bucket's lock: a handler that comes now must not want one */
} self __attribute__((tls_model("local-exec")));

/* ---- locks ---- */

/* Never waited for without end: the holder may have been taken away by a handler that does not return. */
static void lock(uint32_t *word) HOOKED
{
	enum { SPINS = 256, YIELDS = 4096 };

	self.holding++;
	for (unsigned tries = 0; tries < SPINS + YIELDS; tries++) {
		/* Acquire pairs with the release in unlock(). */
		if (!__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
			return;
		if (tries < SPINS)
			__asm__ volatile("pause");
		else
			sys0(sched_yield);
	}
}

static void unlock(uint32_t *word) HOOKED
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
	self.holding--;
}

/* ---- frames ---- */

static bool is_function(const struct atomsan_frame *frame) HOOKED
{
	return frame->function && !(frame->function->flags & (ATOMSAN_FN_LOOP | ATOMSAN_FN_ARGUMENT));
}

static bool is_unit(const struct section *section, const struct atomsan_function *function) HOOKED
{
	for (uint32_t i = 0; i < section->unit_count; i++)
		if (section->units[i] == function)
			return true;
	return false;
}

/*
 * The frame of the innermost call of the unit. A static function that calls
 * nobody has none; then it is that of its caller, and it must be certain that
 * an end is only reached behind an entry of the same call. NULL: the section
 * does not apply here.
 */
static struct atomsan_frame *unit_frame(const struct section *section, bool *through) HOOKED
{
	enum { DEEP = 256 };
	struct atomsan_frame *top = __atomsan_thread.top, *around = NULL;

	*through = false;
	if (!rt_self.frames)
		return NULL;
	for (struct atomsan_frame *f = top; f-- > rt_self.frames && top - f < DEEP;) {
		if (!is_function(f))
			continue;
		if (is_unit(section, f->function))
			return f;
		if (!around)
			around = f;
	}
	*through = true;
	return section->given_unit || !section->dominated || section->unit_count ? NULL : around;
}

/* The innermost iteration that is under way in the call of this frame, or the call itself: invariants are
 * learned within one. */
static struct atomsan_frame *iteration(struct atomsan_frame *frame) HOOKED
{
	struct atomsan_frame *found = frame;

	for (struct atomsan_frame *f = frame + 1; f < __atomsan_thread.top && f->function && !is_function(f);
	     f++)
		if (f->function->flags & ATOMSAN_FN_LOOP)
			found = f;
	return found;
}

static void take_stack(struct section_access *access) HOOKED
{
	access->depth = 0;
	if (!rt_self.frames)
		return;
	for (struct atomsan_frame *f = __atomsan_thread.top;
	     f-- > rt_self.frames && access->depth < SECTIONS_STACK;)
		if (is_function(f))
			access->frames[access->depth++] = f->function;
}

static uint64_t value_at(const void *p, uint64_t length) HOOKED
{
	uint64_t value = 0;

	for (uint64_t i = 0; i < length && i < 8; i++)
		value |= (uint64_t)((const volatile unsigned char *)p)[i] << 8 * i;
	return value;
}

static void take_access(struct section_access *access, const void *p, uint64_t length, unsigned kinds,
			const struct atomsan_site *site) HOOKED
{
	access->site = site;
	access->address = (uint64_t)p;
	access->length = length;
	access->thread = rt_self.number;
	for (uint32_t i = 0; i < SECTIONS_NAME - 1 && (!i || access->name[i - 1]); i++)
		access->name[i] = watch_self.birth.name[i];
	access->name[SECTIONS_NAME - 1] = 0;
	access->kinds = kinds;
	access->value = value_at(p, length);
	access->epoch = self.epoch;
	take_stack(access);
}

/* ---- entering and leaving ---- */

static inline uint32_t bucket_of(uint64_t granule)
{
	return (uint32_t)(granule * 0x9e3779b97f4a7c15ull >> 54);
}

static inline bool is_empty(uint32_t bucket)
{
	return !__atomic_load_n(&buckets[bucket].first, __ATOMIC_RELAXED);
}

bool sections_idle(const void *p, uint64_t length, const struct atomsan_site *site) HOOKED
{
	uint64_t first = (uint64_t)p >> 3, last = ((uint64_t)p + length - 1) >> 3;

	if (sections_mine || sections_link(site))
		return false;
	return !__atomic_load_n(&open_total, __ATOMIC_RELAXED) ||
	       (last - first <= 1 && is_empty(bucket_of(first)) && is_empty(bucket_of(last)) &&
		is_empty(BUCKETS));
}

static void link_wing(struct wing *wing) HOOKED
{
	uint64_t first = wing->address >> 3, last = (wing->address + wing->length - 1) >> 3;

	wing->node_count = wing->length > SHORT ? 1 : (uint32_t)(last - first) + 1;
	for (uint32_t i = 0; i < wing->node_count; i++) {
		struct node *node = &wing->nodes[i];
		struct bucket *bucket;

		node->wing = wing;
		node->bucket = wing->length > SHORT ? BUCKETS : bucket_of(first + i);
		bucket = &buckets[node->bucket];
		lock(&bucket->lock);
		node->next = bucket->first;
		__atomic_store_n(&bucket->first, node, __ATOMIC_RELAXED);
		unlock(&bucket->lock);
	}
}

static void unlink_wing(struct wing *wing) HOOKED
{
	for (uint32_t i = 0; i < wing->node_count; i++) {
		struct bucket *bucket = &buckets[wing->nodes[i].bucket];

		lock(&bucket->lock);
		for (struct node **p = &bucket->first; *p; p = &(*p)->next)
			if (*p == &wing->nodes[i]) {
				__atomic_store_n(p, wing->nodes[i].next, __ATOMIC_RELAXED);
				break;
			}
		unlock(&bucket->lock);
	}
	wing->node_count = 0;
}

/* From here on nobody leaves a note. */
static void close_wings(struct open *open) HOOKED
{
	for (uint32_t i = 0; i < open->wing_count; i++)
		unlink_wing(&open->wings[i]);
	open->wing_count = 0;
}

static void forget(struct open *open) HOOKED
{
	close_wings(open);
	__atomic_store_n(&open->serial, 0, __ATOMIC_RELAXED);
	sections_mine--;
	__atomic_fetch_sub(&open_total, 1, __ATOMIC_RELAXED);
}

#define FOR_MINE(one)                                                     \
	for (struct open *one = sections_mine ? self.block->opens : NULL; \
	     one && one < self.block->opens + MINE; one++)                \
		if (one->serial)

/* Sections whose unit was left. */
static void forget_left(void) HOOKED
{
	FOR_MINE(open)
	if (!open->late && __atomsan_thread.low <= open->exit)
		forget(open);
}

void sections_frames(void) HOOKED
{
	forget_left();
	if (rt_self.frames && __atomsan_thread.low <= rt_self.frames + 1)
		self.epoch = 0;
	FOR_MINE(open)
	open->late = false;
}

/* The thread's outermost unit is the function that its start function calls; each call has an epoch. */
static void look_at_epoch(void) HOOKED
{
	if (!rt_self.frames || __atomsan_thread.top <= rt_self.frames + 1) {
		self.epoch = 0;
		return;
	}
	forget_left();
	if (!self.epoch || (!rt_recording && __atomsan_thread.low <= rt_self.frames + 1))
		self.epoch = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
	if (!rt_recording)
		__atomsan_thread.low = __atomsan_thread.top;
}

static void add_wing(struct open *open, uint64_t address, uint64_t length, uint32_t end) HOOKED
{
	struct wing *wing = &open->wings[open->wing_count++];

	wing->open = open;
	wing->address = address;
	wing->length = length;
	wing->end = end;
	wing->note_count = 0;
	link_wing(wing);
}

/* The other variables of a section over two: members of the same object. */
static void add_others(struct open *open, const void *p, const struct atomsan_site *site) HOOKED
{
	const struct section *section = open->section;

	for (uint32_t i = 0; i < section->end_count && open->wing_count < WINGS; i++) {
		const struct atomsan_site *other = section->ends[i].site;
		const char *a, *b;

		if (!other || !other->type_size || other->type_size != site->type_size || !site->type ||
		    !other->type || other->offset == site->offset)
			continue;
		a = (const char *)&site->type + site->type;
		b = (const char *)&other->type + other->type;
		while (*a && *a == *b)
			a++, b++;
		if (*a == *b)
			add_wing(open, (uint64_t)p - site->offset + other->offset, other->size, i + 1);
	}
}

static struct block *new_block(void)
{
	struct block *block;

	lock(&blocks_lock);
	block = free_blocks;
	if (block) {
		free_blocks = block->next_free;
	} else {
		block = (struct block *)sys6(mmap, 0, sizeof *block, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_failed(block)) {
			block = NULL;
		} else {
			block->next = blocks;
			__atomic_store_n(&blocks, block, __ATOMIC_RELEASE);
		}
	}
	unlock(&blocks_lock);
	return block;
}

static void enter(const struct section *section, const void *p, uint64_t length,
		  const struct atomsan_site *site) HOOKED
{
	struct open *open = NULL;
	struct atomsan_frame *frame;
	bool through;

	if (!self.block && !(self.block = new_block()))
		return;
	frame = unit_frame(section, &through);
	if (!frame)
		return;
	FOR_MINE(other)
	{
		if (other->section != section || other->ended)
			continue;
		if (section->recursive && other->entry.address == (uint64_t)p) {
			other->depth++;
			return;
		}
		/* The same call comes by again: it begins anew. */
		if (other->frame == frame && (section->any || other->entry.address == (uint64_t)p))
			forget(other);
	}
	for (uint32_t i = 0; i < MINE && !open; i++)
		if (!self.block->opens[i].serial)
			open = &self.block->opens[i];
	if (!open)
		return;
	open->section = section;
	open->frame = frame;
	open->exit = section->consecutive ? iteration(frame) : frame;
	open->through = through;
	open->ended = false;
	open->depth = 1;
	open->wing_count = 0;
	open->late = rt_recording && __atomsan_thread.low <= open->exit;
	if (sections_over_two)
		look_at_epoch();
	if (!rt_recording)
		__atomsan_thread.low = __atomsan_thread.top;
	take_access(&open->entry, p, length, section->kind, site);
	open->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
	sections_mine++;
	__atomic_fetch_add(&open_total, 1, __ATOMIC_RELAXED);
	add_wing(open, (uint64_t)p, length, 0);
	if (section->any)
		add_others(open, p, site);
}

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
	close_wings(open);
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

	lock(&open->busy);
	for (uint32_t i = 0; i < wing->note_count; i++)
		seen |= wing->notes[i].kinds;
	/* One that does more than those before is worth a note. */
	if (kinds & ~seen && wing->note_count < NOTES)
		take_access(&wing->notes[wing->note_count++], p, length, kinds, site);
	unlock(&open->busy);
}

static void visit(struct wing *wing, const void *p, uint64_t length, unsigned kinds,
		  const struct atomsan_site *site, bool atomic) HOOKED
{
	if (wing->open->entry.thread == rt_self.number || !overlap(wing, (uint64_t)p, length))
		return;
	if (!atomic) {
		note(wing, p, length, kinds, site);
	} else if (self.pending_count < PENDING) {
		self.pending[self.pending_count].wing = wing;
		self.pending[self.pending_count++].serial = wing->open->serial;
	}
}

static void look_into(uint32_t number, const void *p, uint64_t length, unsigned kinds,
		      const struct atomsan_site *site, bool atomic) HOOKED
{
	struct bucket *bucket = &buckets[number];

	if (!__atomic_load_n(&bucket->first, __ATOMIC_RELAXED))
		return;
	lock(&bucket->lock);
	for (struct node *node = bucket->first; node; node = node->next)
		visit(node->wing, p, length, kinds, site, atomic);
	unlock(&bucket->lock);
}

/* Leaves notes with other threads that are inside a section of these bytes. */
static void meet(const void *p, uint64_t length, unsigned kinds, const struct atomsan_site *site,
		 bool atomic) HOOKED
{
	uint64_t first = (uint64_t)p >> 3, last = ((uint64_t)p + length - 1) >> 3;

	if (likely(__atomic_load_n(&open_total, __ATOMIC_RELAXED) == sections_mine) || !length)
		return;
	if (sections_over_two)
		look_at_epoch();
	if (last - first >= BUCKETS)
		for (uint32_t i = 0; i < BUCKETS; i++)
			look_into(i, p, length, kinds, site, atomic);
	else
		for (uint64_t g = first; g <= last; g++)
			look_into(bucket_of(g), p, length, kinds, site, atomic);
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

/* A unit without a frame calls nobody: if the thread is elsewhere, it was left. */
static void forget_through(const struct atomsan_site *site) HOOKED
{
	FOR_MINE(open)
	if (open->through && !same_text(&open->entry.site->function, &site->function))
		forget(open);
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
		frame = unit_frame(section, &through);
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
			take_access(&last, p, length, kind, site);
			judge(open, link->end, &last);
			forget(open);
		}
	}
	FOR_MINE(open)
	if (open->section->consecutive && !open->ended && overlap(&open->wings[0], (uint64_t)p, length))
		forget(open);
}

static void enter_here(const void *p, uint64_t length, unsigned kind, const struct atomsan_site *site) HOOKED
{
	for (uint32_t i = sections_link(site); i; i = sections_links[i].next) {
		const struct section_link *link = &sections_links[i];

		if (!link->end && sections_all[link->section].kind == kind)
			enter(&sections_all[link->section], p, length, site);
	}
}

static void step(const void *p, uint64_t length, unsigned kind, const struct atomsan_site *site) HOOKED
{
	if (sections_mine) {
		forget_left();
		forget_through(site);
	}
	meet(p, length, kind, site, false);
	own(p, length, kind, site, true);
	enter_here(p, length, kind, site);
}

void sections_access(const void *p, uint64_t length, unsigned kinds, const struct atomsan_site *site) HOOKED
{
	if (likely(!self.holding))
		step(p, length, kinds & ATOMICITY_READ ? ATOMICITY_READ : ATOMICITY_WRITE, site);
}

/* ---- atomic operations ---- */

void sections_atomic(const void *p, const struct atomsan_site *site) HOOKED
{
	unsigned kinds = atomicity_site_kinds(site);

	if (unlikely(self.holding))
		return;
	if (sections_mine) {
		forget_left();
		forget_through(site);
	}
	self.pending_count = 0;
	meet(p, site->size, kinds, site, true);
	/* What ends with the operation gets no more notes; whether it ends, the operation shows. */
	if (sections_mine && kinds & ATOMICITY_READ)
		own(p, site->size, ATOMICITY_READ, site, site->kind != ATOMSAN_ATOMIC_RMW);
	if (sections_mine && kinds & ATOMICITY_WRITE)
		own(p, site->size, ATOMICITY_WRITE, site, site->kind != ATOMSAN_ATOMIC_RMW);
}

static void confirm(const void *p, unsigned kinds, const struct atomsan_site *site) HOOKED
{
	for (uint32_t i = 0; i < self.pending_count; i++) {
		struct wing *wing = self.pending[i].wing;
		struct bucket *bucket = &buckets[wing->nodes[0].bucket];

		lock(&bucket->lock);
		for (struct node *node = bucket->first; node; node = node->next)
			if (node == &wing->nodes[0] && wing->open->serial == self.pending[i].serial)
				note(wing, p, site->size, kinds, site);
		unlock(&bucket->lock);
	}
	self.pending_count = 0;
}

void sections_atomic_done(const void *p, bool wrote, const struct atomsan_site *site) HOOKED
{
	unsigned kinds = atomicity_site_kinds(site) & (wrote ? ~0u : (unsigned)ATOMICITY_READ);
	bool compared = site->flags & ATOMSAN_SITE_MAY_FAIL;

	if (unlikely(self.holding))
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
			take_access(&last, p, site->size, kind, site);
			judge(open, open->depth, &last);
		}
		if (kinds & kind)
			forget(open);
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

	if (!sections_mine || self.holding)
		return;
	forget_left();
	/* libc has the size of a block in the word before it. */
	if (op == TRACE_OP_FREE)
		length = ((const uint64_t *)object)[-1] & ~7ull;
	FOR_MINE(open)
	/* Who waits for a condition lets others in, and knows. Freed memory may be another's next. */
	if (open->through || op == TRACE_OP_WAIT || open->entry.address - (uint64_t)object < length)
		forget(open);
}

void sections_thread_end(void)
{
	FOR_MINE(open)
	forget(open);
	if (!self.block)
		return;
	lock(&blocks_lock);
	self.block->next_free = free_blocks;
	free_blocks = self.block;
	unlock(&blocks_lock);
	self.block = NULL;
}

void sections_fork_child(void)
{
	for (uint32_t i = 0; i <= BUCKETS; i++) {
		buckets[i].first = NULL;
		buckets[i].lock = 0;
	}
	for (struct block *block = blocks; block; block = block->next)
		for (uint32_t i = 0; i < MINE; i++)
			block->opens[i].serial = block->opens[i].busy = 0;
	blocks_lock = 0;
	open_total = sections_mine = self.pending_count = self.holding = 0;
}
