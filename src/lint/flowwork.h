/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One function at work: what flow.c and its parts share. A value's dependencies
 * are sets of symbols, the function's parameters first and then its sources, in
 * three planes (how it depends on them); a slot has the three sets of a value, or of a
 * place in memory that no other thread reaches.
 *
 *   flowset     slots, and memory of our own
 *   flowspread  dependencies, spread over the function until nothing changes
 *   flowguard   what is looked at again before it is used
 *   flowedge    values that are used after their region
 *   flowreads   places of handed objects that are read
 *   flowways    calls that are made whichever way a condition goes
 *   flowuse     what values are used for, here and by callers
 *   flowjoint   values that are used together
 */
#ifndef ATOMSAN_LINT_FLOWWORK_H
#define ATOMSAN_LINT_FLOWWORK_H

#include "base/map.h"
#include "lint/flow.h"

/* Beyond these, values are not followed; the report says so. */
enum { MOST_SYMBOLS = 512, MOST_RESULTS = 48, MOST_USES = 96, MOST_ROUNDS = 12, MOST_EDGES = 4096 };

/* How something depends on a value: it is made of it, it happens because of it, or it happens because an
 * earlier iteration did. */
enum { DATA, CONTROL, CARRIED, PLANES };

/* WAITED_FOR: the function returns only if the value allows it. */
enum { RETURNED = -1, WAITED_FOR = -2 };

/* What callers need to know of a function. */
struct flow_carried {
	struct flow_source source;
	uint8_t plane;
	int8_t out; /* parameter through whose pointer it is handed out, RETURNED or WAITED_FOR */
	int64_t at; /* where in what that points to; SOMEWHERE if at several places */
};

/* `outer` is the region as callers see it: what its function held is over for them, what they hold is not. */
struct flow_param_use {
	struct flow_use use;
	uint32_t outer;
	uint32_t parameter;
	uint8_t plane;
};

struct flow_inside {
	struct flow_use use;
	uint32_t outer;
};

/* Places of a parameter's object that are read. */
enum { FLOW_READS = 8, FLOW_READS_PARAMS = 6 };

struct flow_reads {
	int64_t at[FLOW_READS];
	uint32_t count;
	bool anything; /* or it is not known which */
};

struct flow_summary {
	VEC(struct flow_carried) results;
	VEC(struct flow_param_use) uses;
	VEC(struct flow_inside) inside; /* every access in regions, for who calls it under a condition */
	uint64_t to_result_data, to_result_control; /* by parameter */
	struct flow_reads reads[FLOW_READS_PARAMS];
	bool has_reads;
	bool cut; /* some values were not followed */
};

/* ---- the function at hand ---- */

/* How a source lies to the instruction by which values are used just now. */
struct flow_way {
	uint32_t via;  /* that instruction; another one: not known */
	bool again;    /* the use comes first */
	bool around;   /* both lie in one region, which is left in between */
	bool never;    /* no region ends in between, or none of ours */
	bool together; /* the same, unless the use has a region of its own further down */
};

struct flow_work {
	struct lint *lint;
	struct flows *flows;
	struct flow_summary *summaries;
	uint32_t function, block; /* first block */
	const struct cfg *cfg;
	uint32_t params;
	VEC(struct flow_source) sources; /* symbols behind the parameters */
	struct map from_inst;            /* access or call -> first symbol + 1 of that instruction */
	uint32_t words;                  /* of a set */
	struct map slots;                /* value -> its sets + 1; memory: key with bit 63 */
	uint64_t *sets;                  /* PLANES per slot */
	uint32_t slot_count, slot_room;
	uint64_t *control; /* by block: what decides whether it runs */
	uint64_t *waited;  /* symbols that a wait was for */
	uint64_t *in_loop; /* by loop: symbols that are read in it */
	uint64_t *temporary;
	struct vec_u32 conditions; /* that guard the access at hand, and read something again */
	struct map known;          /* edges, and joints, that were found */
	uint32_t edges, joints;
	uint32_t *controlled_first; /* by block: where in controlled the blocks begin that it decides about */
	struct cfg_control *controlled;
	uint32_t *source_region; /* by source: the region that it is read in, or 0 */
	uint32_t *via_region;    /* by source: the region around its instruction, or 0 */
	struct flow_way *ways;   /* by source */
	uint64_t *may_edge;      /* parameters, and sources that an edge may begin with */
	uint64_t *joined;        /* values whose pairs were looked at last: used together, and by control */
	uint64_t *may_joint;     /* sources that may be missed in being read together */
	struct map inside, uses, results; /* what is in the summary, by what makes it one */
	struct map merged;                /* functions whose `inside` is in ours */
	bool changed;
};

static inline uint32_t flowset_symbols(const struct flow_work *w)
{
	return w->params + w->sources.count;
}

static inline bool flowset_has(const uint64_t *set, uint32_t symbol)
{
	return set[symbol / 64] >> (symbol % 64) & 1;
}

/* In whatever way. */
static inline bool flowset_has_any(const struct flow_work *w, const uint64_t *set, uint32_t symbol)
{
	for (int plane = 0; plane < PLANES; plane++)
		if (flowset_has(set + plane * w->words, symbol))
			return true;
	return false;
}

/* The sets of a slot; NULL if nothing is known of it. They move when slots are added. */
uint64_t *flowset_peek(struct flow_work *w, uint64_t key);
static inline const uint64_t *flowset_of(struct flow_work *w, uint32_t value)
{
	return value ? flowset_peek(w, value) : NULL;
}
/* True if there was news. */
bool flowset_join(uint64_t *into, const uint64_t *from, uint32_t words);
/* All that `from` depends on, `to` depends on: as it is, or by control alone. */
void flowset_add(struct flow_work *w, uint64_t to, const uint64_t *from, int as);
void flowset_add_symbol(struct flow_work *w, uint64_t to, uint32_t symbol, int plane);

/* Places in an object; besides, all of it, and what was written somewhere in it. */
enum { ALL = -1, SOMEWHERE = -2 };

uint64_t flowset_memory(uint32_t base, int64_t at);
/* The object that a pointer leads into, and where, if both are plain to see. */
uint32_t flowset_base(const struct program *p, uint32_t value, int64_t *at);
/* Does it lead to memory that never leaves its thread, or that this function has just made? */
bool flowset_is_private(struct flow_work *w, uint32_t pointer);
/* The value that was stored right before where the load finds it: what lay there earlier is gone. 0: not
 * known.
 */
uint32_t flowset_stored(const struct program *p, uint32_t load);

void flowspread_all(struct flow_work *w);
/* Adds what a block depends on because of the condition at the end of another; true if there was news. */
bool flowspread_condition(struct flow_work *w, uint32_t block, uint32_t by, uint64_t *into);

/* Fills in the summary's reads. */
void flowreads_find(struct flow_work *w);

void flowguard_prepare(struct flow_work *w);
/* Variables read in the region of this instruction that decide whether it runs, and the conditions. */
void flowguard_find(struct flow_work *w, uint32_t inst, uint32_t block, struct flow_use *use);

/* The use depends on the source, if that makes an edge. */
void flowedge_add(struct flow_work *w, uint32_t symbol, struct flow_use use, int plane);

/* What decides whether the function is called in the block and not somewhere beside it; good until the next
 * question. */
const uint64_t *flowways_control(struct flow_work *w, uint32_t block, uint32_t callee);

/* Before the others. */
void flowuse_prepare(struct flow_work *w);
void flowuse_access(struct flow_work *w, uint32_t access, uint32_t block);
void flowuse_call(struct flow_work *w, uint32_t inst, uint32_t block);

void flowjoint_at(struct flow_work *w, uint32_t inst);

#endif
