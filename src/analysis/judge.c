/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/judge.h"

#include "base/err.h"

#include <stdlib.h>

/* How lenient to be. */
struct judge {
	struct model *model;
	const struct check_edge *edges;
	uint32_t length;
	bool taken, apart; /* which rules count */
};

static bool reads(const struct check_access_tag *tag)
{
	return tag->op == MODEL_READ || tag->op == MODEL_READ_AGAIN;
}

/* One of the pairs of accesses of an edge. */
static struct check_pair pair_of(const struct check_edge *edge, uint32_t number)
{
	return number ? edge->more[number - 1]
		      : (struct check_pair){.source = edge->source, .target = edge->target};
}

static bool holds(const struct model *model, uint32_t locks, uint64_t lock)
{
	const uint64_t *addresses;
	uint32_t count = model_locks(model, locks, &addresses);

	for (uint32_t i = 0; i < count; i++)
		if (addresses[i] == lock)
			return true;
	return false;
}

/*
 * Are the unit's two accesses in different critical sections of one lock? They
 * are if all four hold it, and one of the others' came in between.
 */
static bool two_sections(const struct model *model, const struct check_pair *in, const struct check_pair *out)
{
	const uint64_t *addresses;
	uint32_t count = model_locks(model, in->target.locks, &addresses);

	if (out->target.time > in->target.time && in->source.time < out->source.time)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (holds(model, in->source.locks, addresses[i]) &&
		    holds(model, out->source.locks, addresses[i]) &&
		    holds(model, out->target.locks, addresses[i]))
			return true;
	return false;
}

/* Looked whether it was free, marked it as taken, and later as free; others looked in the same place. */
static bool is_taken(struct model *model, const struct check_pair *in, const struct check_pair *out)
{
	return out->source.op == MODEL_CLAIM && in->target.op == MODEL_WRITE &&
	       out->source.address == in->target.address && reads(&out->target) && reads(&in->source) &&
	       model_claims(model, out->source.site, out->target.site) &&
	       model_claims(model, out->source.site, in->source.site);
}

/* Wrote it, and looks at it again to see where to go on: it goes by what others made of it. */
static bool is_looked_at(struct model *model, const struct check_pair *in, const struct check_pair *out)
{
	return !reads(&out->source) && reads(&in->target) && out->source.address == in->target.address &&
	       model_decides(model, in->target.site);
}

static bool counts(struct model *model, const struct check_access_tag *tag)
{
	return !reads(tag) && model_counts(model, tag->site);
}

/*
 * It is left where it counts itself in, or where it looks whether it may, or
 * entered where it counts itself out; others look at the number, or count as well.
 */
static bool is_counted(struct model *model, const struct check_pair *in, const struct check_pair *out)
{
	if (model_counts_in(model, out->source.site) &&
	    (reads(&out->target) || counts(model, &out->target)) &&
	    (counts(model, &out->source) || model_decides(model, out->source.site)))
		return true;
	return model_counts_out(model, in->target.site) && counts(model, &in->target) &&
	       (reads(&in->source) || counts(model, &in->source));
}

/* Made the object, gave it away, and looks at it later: it goes by what others made of it, as they do. Who
 * writes it without a look takes back what they did. */
static bool is_made(struct model *model, const struct check_pair *in, const struct check_pair *out,
		    uint64_t begin)
{
	return out->source.op == MODEL_WRITE && in->target.op != MODEL_WRITE &&
	       model_made(model, out->source.address, begin) && model_made(model, in->target.address, begin);
}

static bool is_apart(struct model *model, const struct check_pair *in, const struct check_pair *out)
{
	unsigned together = model_together(model, out->source.site, in->target.site);

	/* Who only writes carries nothing into its next critical section; others must see both at once. */
	return out->source.op == MODEL_WRITE ? !(together & MODEL_READ_TOGETHER)
					     : !(together & MODEL_TOGETHER);
}

/* An iteration looks again at what it has read before. */
static bool is_attempt(struct model *model, uint32_t rule, const struct check_pair *in,
		       const struct check_pair *out)
{
	return rule == MODEL_RULE_LOOP && in->target.op == MODEL_READ_AGAIN &&
	       (reads(&out->source) || model_counts_in(model, out->source.site));
}

/* Does a unit that the cycle enters and leaves by these accesses keep it together? */
static bool keeps(const struct judge *judge, uint32_t from, uint32_t in_pair, uint32_t to, uint32_t out_pair)
{
	const struct check_edge *enters = &judge->edges[from], *leaves = &judge->edges[to];
	struct check_pair in, out;

	if (enters->program_order || leaves->program_order)
		return true;
	in = pair_of(enters, in_pair);
	out = pair_of(leaves, out_pair);
	if (out.source.time >= in.target.time)
		return true;
	/* What the user declares is what the user means. */
	switch (leaves->from.rule) {
	case MODEL_RULE_NONE:
	case MODEL_RULE_DECLARED:
	case MODEL_RULE_UNITFOR:
	case MODEL_RULE_SECTION:
		return true;
	}
	if (judge->taken && is_attempt(judge->model, leaves->from.rule, &in, &out))
		return false;
	if (judge->taken && is_made(judge->model, &in, &out, leaves->from.begin))
		return false;
	if ((judge->taken && (is_taken(judge->model, &in, &out) || is_looked_at(judge->model, &in, &out) ||
			      is_counted(judge->model, &in, &out))) ||
	    (judge->apart && is_apart(judge->model, &in, &out)))
		return !two_sections(judge->model, &in, &out);
	return true;
}

static uint32_t pairs_of(const struct check_edge *edge)
{
	return edge->program_order ? 1 : 1 + edge->more_count;
}

/*
 * Chooses a pair for each edge such that every unit keeps the cycle together.
 * With the first edge's pair given, what can be chosen for the others is found
 * edge by edge: came[i][k] is a pair of edge i - 1 that pair k of edge i goes
 * with, plus one.
 */
static bool choose(const struct judge *judge, uint32_t first, uint8_t (*came)[CHECK_PAIRS], uint32_t *chosen)
{
	uint32_t last = judge->length - 1;

	for (uint32_t k = 0; k < CHECK_PAIRS; k++)
		came[0][k] = k == first;
	for (uint32_t i = 1; i <= last; i++)
		for (uint32_t k = 0; k < CHECK_PAIRS; k++) {
			came[i][k] = 0;
			if (k >= pairs_of(&judge->edges[i]))
				continue;
			for (uint32_t before = 0; before < pairs_of(&judge->edges[i - 1]) && !came[i][k];
			     before++)
				if (came[i - 1][before] && keeps(judge, i - 1, before, i, k))
					came[i][k] = (uint8_t)(before + 1);
		}
	for (uint32_t k = 0; k < pairs_of(&judge->edges[last]); k++)
		if (came[last][k] && keeps(judge, last, k, 0, first)) {
			for (uint32_t i = last; i; i--) {
				chosen[i] = k;
				k = came[i][k] - 1u;
			}
			chosen[0] = first;
			return true;
		}
	return false;
}

static bool is_one(const struct judge *judge, uint32_t *chosen)
{
	uint8_t (*came)[CHECK_PAIRS] = mem_zalloc(judge->length, sizeof(*came));
	bool found = false;

	for (uint32_t first = 0; first < pairs_of(&judge->edges[0]) && !found; first++)
		found = choose(judge, first, came, chosen);
	free(came);
	return found;
}

/*
 * An iteration read something, another thread changed it, and the iteration
 * reads it again and goes by what it says now: an attempt that failed, and that
 * the loop makes again.
 */
static bool is_retry(struct model *model, const struct check_edge *edges, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		const struct check_edge *out = &edges[i], *in = &edges[(i + length - 1) % length];

		if (out->from.rule == MODEL_RULE_NONE || out->program_order || in->program_order ||
		    out->source.time >= in->target.time)
			continue;
		return is_attempt(model, out->from.rule,
				  &(struct check_pair){.source = in->source, .target = in->target},
				  &(struct check_pair){.source = out->source, .target = out->target});
	}
	return false;
}

void judge_choose(struct check_edge *edges, uint32_t length, const uint32_t *chosen)
{
	for (uint32_t i = 0; i < length; i++)
		if (!edges[i].program_order && chosen[i]) {
			struct check_pair pair = pair_of(&edges[i], chosen[i]);

			edges[i].source = pair.source;
			edges[i].target = pair.target;
		}
}

enum judge_verdict judge_cycle(struct model *model, const struct check_edge *edges, uint32_t length,
			       uint32_t *chosen)
{
	struct judge judge = {.model = model, .edges = edges, .length = length, .taken = true, .apart = true};

	for (uint32_t i = 0; i < length; i++)
		chosen[i] = 0;
	if (length < 2)
		return JUDGE_VIOLATION;
	if (is_retry(model, edges, length))
		return JUDGE_RETRY;
	if (is_one(&judge, chosen))
		return JUDGE_VIOLATION;
	judge.apart = false;
	return is_one(&judge, chosen) ? JUDGE_APART : JUDGE_TAKEN;
}
