/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who is inside which section. A thread that comes to an entry publishes the
 * address in a hash table, where others find it (sections.c). Several threads may
 * be inside sections of one variable at once, and each is watched.
 *
 * Leaving the unit is seen by its frame: `low` of the thread is raised to `top`
 * when a section is entered, and falls to the frame when that is left.
 *
 * Synchronisation: a bucket's lock guards its list and the notes of sections
 * in it; an open section belongs to its thread, which alone links and unlinks
 * it. A section over two variables is in two buckets, so its notes have a lock
 * of their own (`busy`), taken inside the bucket's.
 */
#include "rt/sections_open.h"
#include "rt/sys.h"
#include "rt/watch.h"

#include <sys/mman.h>

struct bucket sections_buckets[BUCKETS + 1];
static struct block *blocks, *free_blocks;
static uint32_t blocks_lock;
static uint64_t serials;
uint32_t sections_open_total;
__thread uint32_t sections_mine; /* of this thread */
__thread struct sections_thread sections_self;

/* ---- locks ---- */

/* Never waited for without end: the holder may have been taken away by a handler that does not return. */
void sections_lock(uint32_t *word) HOOKED
{
	enum { SPINS = 256, YIELDS = 4096 };

	sections_self.holding++;
	for (unsigned tries = 0; tries < SPINS + YIELDS; tries++) {
		/* Acquire pairs with the release in sections_unlock(). */
		if (!__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
			return;
		if (tries < SPINS)
			__asm__ volatile("pause");
		else
			sys0(sched_yield);
	}
}

void sections_unlock(uint32_t *word) HOOKED
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
	sections_self.holding--;
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
struct atomsan_frame *sections_unit_frame(const struct section *section, bool *through) HOOKED
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

void sections_take(struct section_access *access, const void *p, uint64_t length, unsigned kinds,
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
	access->epoch = sections_self.epoch;
	take_stack(access);
}

/* ---- entering and leaving ---- */

static inline bool is_empty(uint32_t bucket)
{
	return !__atomic_load_n(&sections_buckets[bucket].first, __ATOMIC_RELAXED);
}

bool sections_idle(const void *p, uint64_t length, const struct atomsan_site *site) HOOKED
{
	uint64_t first = (uint64_t)p >> 3, last = ((uint64_t)p + length - 1) >> 3;

	if (sections_mine || sections_link(site))
		return false;
	return !__atomic_load_n(&sections_open_total, __ATOMIC_RELAXED) ||
	       (last - first <= 1 && is_empty(sections_bucket(first)) && is_empty(sections_bucket(last)) &&
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
		node->bucket = wing->length > SHORT ? BUCKETS : sections_bucket(first + i);
		bucket = &sections_buckets[node->bucket];
		sections_lock(&bucket->lock);
		node->next = bucket->first;
		__atomic_store_n(&bucket->first, node, __ATOMIC_RELAXED);
		sections_unlock(&bucket->lock);
	}
}

static void unlink_wing(struct wing *wing) HOOKED
{
	for (uint32_t i = 0; i < wing->node_count; i++) {
		struct bucket *bucket = &sections_buckets[wing->nodes[i].bucket];

		sections_lock(&bucket->lock);
		for (struct node **p = &bucket->first; *p; p = &(*p)->next)
			if (*p == &wing->nodes[i]) {
				__atomic_store_n(p, wing->nodes[i].next, __ATOMIC_RELAXED);
				break;
			}
		sections_unlock(&bucket->lock);
	}
	wing->node_count = 0;
}

/* From here on nobody leaves a note. */
void sections_close_wings(struct open *open) HOOKED
{
	for (uint32_t i = 0; i < open->wing_count; i++)
		unlink_wing(&open->wings[i]);
	open->wing_count = 0;
}

void sections_forget(struct open *open) HOOKED
{
	sections_close_wings(open);
	__atomic_store_n(&open->serial, 0, __ATOMIC_RELAXED);
	sections_mine--;
	__atomic_fetch_sub(&sections_open_total, 1, __ATOMIC_RELAXED);
}

/* Sections whose unit was left. */
void sections_forget_left(void) HOOKED
{
	FOR_MINE(open)
	if (!open->late && __atomsan_thread.low <= open->exit)
		sections_forget(open);
}

void sections_frames(void) HOOKED
{
	sections_forget_left();
	if (rt_self.frames && __atomsan_thread.low <= rt_self.frames + 1)
		sections_self.epoch = 0;
	FOR_MINE(open)
	open->late = false;
}

/* The thread's outermost unit is the function that its start function calls; each call has an epoch. */
void sections_look_at_epoch(void) HOOKED
{
	if (!rt_self.frames || __atomsan_thread.top <= rt_self.frames + 1) {
		sections_self.epoch = 0;
		return;
	}
	sections_forget_left();
	if (!sections_self.epoch || (!rt_recording && __atomsan_thread.low <= rt_self.frames + 1))
		sections_self.epoch = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
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

	sections_lock(&blocks_lock);
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
	sections_unlock(&blocks_lock);
	return block;
}

void sections_enter(const struct section *section, const void *p, uint64_t length,
		    const struct atomsan_site *site) HOOKED
{
	struct open *open = NULL;
	struct atomsan_frame *frame;
	bool through;

	if (!sections_self.block && !(sections_self.block = new_block()))
		return;
	frame = sections_unit_frame(section, &through);
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
			sections_forget(other);
	}
	for (uint32_t i = 0; i < MINE && !open; i++)
		if (!sections_self.block->opens[i].serial)
			open = &sections_self.block->opens[i];
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
		sections_look_at_epoch();
	if (!rt_recording)
		__atomsan_thread.low = __atomsan_thread.top;
	sections_take(&open->entry, p, length, section->kind, site);
	open->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
	sections_mine++;
	__atomic_fetch_add(&sections_open_total, 1, __ATOMIC_RELAXED);
	add_wing(open, (uint64_t)p, length, 0);
	if (section->any)
		add_others(open, p, site);
}

/* ---- threads and processes ---- */

void sections_thread_end(void)
{
	FOR_MINE(open)
	sections_forget(open);
	if (!sections_self.block)
		return;
	sections_lock(&blocks_lock);
	sections_self.block->next_free = free_blocks;
	free_blocks = sections_self.block;
	sections_unlock(&blocks_lock);
	sections_self.block = NULL;
}

void sections_fork_child(void)
{
	for (uint32_t i = 0; i <= BUCKETS; i++) {
		sections_buckets[i].first = NULL;
		sections_buckets[i].lock = 0;
	}
	for (struct block *block = blocks; block; block = block->next)
		for (uint32_t i = 0; i < MINE; i++)
			block->opens[i].serial = block->opens[i].busy = 0;
	blocks_lock = 0;
	sections_open_total = sections_mine = sections_self.pending_count = sections_self.holding = 0;
}
