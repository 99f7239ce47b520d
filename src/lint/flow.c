/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/flow.h"

#include <string.h>

#include "base/map.h"
#include "lint/view.h"

/* Beyond these, values are not followed; the report says so. */
enum { MOST_SYMBOLS = 512, MOST_RESULTS = 48, MOST_USES = 96, MOST_ROUNDS = 12, MOST_EDGES = 4096 };

/* How something depends on a value: it is made of it, it happens because of it, or it happens because an
 * earlier iteration did. */
enum { DATA, CONTROL, CARRIED, PLANES };

/* WAITED_FOR: the function returns only if the value allows it. */
enum { RETURNED = -1, WAITED_FOR = -2 };

/* What callers need to know of a function. */
struct carried {
	struct flow_source source;
	uint8_t plane;
	int8_t out; /* parameter through whose pointer it is handed out, RETURNED or WAITED_FOR */
};

struct param_use {
	struct flow_use use;
	uint32_t parameter;
	uint8_t plane;
};

struct summary {
	VEC(struct carried) results;
	VEC(struct param_use) uses;
	VEC(struct flow_use) inside; /* every access in regions, for who calls it under a condition */
	uint64_t to_result_data, to_result_control; /* by parameter */
	bool done;
};

/* ---- the function at hand ---- */

struct work {
	struct lint *lint;
	struct flows *flows;
	struct summary *summaries;
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
	bool changed;
};

static uint32_t symbols(const struct work *w)
{
	return w->params + w->sources.count;
}

static uint64_t *slot(struct work *w, uint64_t key)
{
	uint32_t n = map_get(&w->slots, key);

	if (!n) {
		if (w->slot_count == w->slot_room) {
			uint32_t room = w->slot_room ? w->slot_room * 2 : 256;

			w->sets = mem_resize(w->sets, (size_t)room * w->words * PLANES, sizeof(*w->sets));
			memset(w->sets + (size_t)w->slot_room * w->words * PLANES, 0,
			       (size_t)(room - w->slot_room) * w->words * PLANES * sizeof(*w->sets));
			w->slot_room = room;
		}
		n = ++w->slot_count;
		map_set(&w->slots, key, n);
	}
	return w->sets + (size_t)(n - 1) * w->words * PLANES;
}

/* NULL if nothing is known of it. */
static uint64_t *peek(struct work *w, uint64_t key)
{
	uint32_t n = map_get(&w->slots, key);

	return n ? w->sets + (size_t)(n - 1) * w->words * PLANES : NULL;
}

static bool join(uint64_t *into, const uint64_t *from, uint32_t words)
{
	uint64_t news = 0;

	for (uint32_t i = 0; i < words; i++) {
		news |= from[i] & ~into[i];
		into[i] |= from[i];
	}
	return news != 0;
}

/* All that `from` depends on, `to` depends on: as it is, or by control alone. */
static void add_sets(struct work *w, uint64_t to, const uint64_t *from, int as)
{
	uint64_t copy[PLANES * (MOST_SYMBOLS / 64 + 2)];

	if (!from)
		return;
	/* The slot may move what `from` points to. */
	memcpy(copy, from, w->words * PLANES * sizeof(*copy));
	uint64_t *into = slot(w, to);

	for (int plane = 0; plane < PLANES; plane++)
		w->changed |=
			join(into + (plane > as ? plane : as) * w->words, copy + plane * w->words, w->words);
}

static void add_symbol(struct work *w, uint64_t to, uint32_t symbol, int plane)
{
	uint64_t *into = slot(w, to) + plane * w->words;
	uint64_t bit = 1ull << (symbol % 64);

	w->changed |= !(into[symbol / 64] & bit);
	into[symbol / 64] |= bit;
}

/* ---- memory that no other thread reaches ---- */

/* Places in an object; besides, all of it, and what was written somewhere in it. */
enum { ALL = -1, SOMEWHERE = -2 };

static uint64_t memory_key(uint32_t base, int64_t at)
{
	return 1ull << 63 | (uint64_t)base << 24 | ((uint64_t)at & 0xffffff);
}

/* The object that a pointer leads into, and where, if both are plain to see. */
static uint32_t base_of(const struct program *p, uint32_t value, int64_t *at)
{
	*at = 0;
	for (int depth = 0; depth < 32; depth++) {
		uint32_t maker = program_maker(p, value);
		const struct program_inst *inst = &p->insts[maker];

		if (maker && inst->op == PROGRAM_OFFSET)
			*at += inst->offset;
		else if (!maker || inst->op != PROGRAM_COPY || inst->operand_count != 1)
			break;
		value = program_operand(p, inst, 0);
	}
	return value;
}

/* Memory that never leaves its thread, or that this function has just made. */
static bool is_private(struct work *w, uint32_t pointer)
{
	const struct program *p = &w->lint->program;
	uint32_t node = pointsto_cell(&w->lint->pt, pointer).node, maker;
	const struct known *known;
	int64_t at;

	if (node && !access_node_shared(w->lint, node))
		return true;
	maker = program_maker(p, base_of(p, pointer, &at));
	known = maker ? pointsto_known(&w->lint->pt, &p->insts[maker]) : NULL;
	return maker && (p->insts[maker].op == PROGRAM_ALLOCA || (known && known->kind == KNOWN_ALLOCATE));
}

/* ---- symbols ---- */

static bool counts(const struct lint *lint, const struct access *a)
{
	const struct variable *v = &lint->accesses.variables.at[a->variable];

	return v->shared && !a->fresh && !a->quiet;
}

/* An old value may do harm in all of the set, not only in what others write. */
static bool is_use(const struct lint *lint, const struct access *a)
{
	return lint->accesses.variables.at[a->variable].in_shared_set && !a->fresh && !a->quiet;
}

uint32_t flow_region(const struct lint *lint, uint32_t inst)
{
	const struct lock_state *s = region_state(lint, inst);
	uint32_t last = 0;

	/* The innermost one: that begins last. An atomic operation outside is one itself. */
	for (uint32_t i = 0; i < s->held_count; i++)
		for (uint32_t n = 0; n < s->held[i].region_count; n++)
			if (s->held[i].regions[n] &&
			    (!last || lint->regions.regions.at[s->held[i].regions[n]].inst >
					      lint->regions.regions.at[last].inst))
				last = s->held[i].regions[n];
	uint32_t alone = lint->regions.by_inst[inst];

	return last || lint->regions.regions.at[alone].lock ? last : alone;
}

static void add_source(struct work *w, struct flow_source source)
{
	if (symbols(w) >= MOST_SYMBOLS) {
		w->flows->dropped++;
		return;
	}
	if (!map_get(&w->from_inst, source.via))
		map_set(&w->from_inst, source.via, symbols(w) + 1);
	vec_push(&w->sources, source);
}

static void find_symbols(struct work *w)
{
	const struct program *p = &w->lint->program;
	const struct program_function *f = &p->functions[w->function];

	for (uint32_t b = 0; b < f->block_count; b++) {
		const struct program_block *block = &p->blocks[f->block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			uint32_t count;
			const struct access *a = access_at(w->lint, i, &count);
			const struct call_edge *edges;

			for (uint32_t n = 0; n < count; n++)
				if (!a[n].write && counts(w->lint, &a[n]))
					add_source(w, (struct flow_source){
							      (uint32_t)(&a[n] - w->lint->accesses.at.at), i,
							      0});
			edges = callgraph_at(&w->lint->calls, i, &count);
			for (uint32_t e = 0; e < count; e++) {
				const struct summary *s = &w->summaries[edges[e].callee];

				for (uint32_t n = 0; n < s->results.count; n++) {
					struct flow_source source = s->results.at[n].source;

					/* What its function held is over now, what we hold is not. */
					if (!source.region)
						source.region = flow_region(w->lint, source.via);
					source.via = i;
					add_source(w, source);
				}
			}
		}
	}
}

static bool has(const uint64_t *set, uint32_t symbol)
{
	return set[symbol / 64] >> (symbol % 64) & 1;
}

/* In whatever way. */
static bool has_any(const struct work *w, const uint64_t *set, uint32_t symbol)
{
	for (int plane = 0; plane < PLANES; plane++)
		if (has(set + plane * w->words, symbol))
			return true;
	return false;
}

/* ---- spreading ---- */

static const uint64_t *of_value(struct work *w, uint32_t value)
{
	return value ? peek(w, value) : NULL;
}

/* What lies at a place in memory of our own. */
static void with_place(struct work *w, uint64_t to, uint32_t pointer)
{
	int64_t at;
	uint32_t base = base_of(&w->lint->program, pointer, &at);

	if (is_private(w, pointer)) {
		add_sets(w, to, peek(w, memory_key(base, at)), DATA);
		add_sets(w, to, peek(w, memory_key(base, SOMEWHERE)), DATA);
	}
}

/* A pointer into memory of our own carries what lies there. */
static void with_content(struct work *w, uint64_t to, uint32_t pointer)
{
	int64_t at;

	if (is_private(w, pointer))
		add_sets(w, to, peek(w, memory_key(base_of(&w->lint->program, pointer, &at), ALL)), DATA);
}

/* The object at `base` holds, at a place, what the slot with this key depends on. */
static void keep(struct work *w, uint32_t base, int64_t at, uint64_t key)
{
	add_sets(w, memory_key(base, at), peek(w, key), DATA);
	add_sets(w, memory_key(base, ALL), peek(w, key), DATA);
}

static void keep_symbol(struct work *w, uint32_t base, int64_t at, uint32_t symbol, int plane)
{
	add_symbol(w, memory_key(base, at), symbol, plane);
	add_symbol(w, memory_key(base, ALL), symbol, plane);
}

/* What comes behind a block happens because of the value. */
static void hold_behind(struct work *w, uint32_t block, uint32_t symbol)
{
	uint64_t bit = 1ull << (symbol % 64);

	for (uint32_t n = w->cfg->number[block]; n < w->cfg->order_count; n++) {
		uint64_t *control = w->control + ((size_t)w->cfg->order[n] * PLANES + CONTROL) * w->words;

		if (control[symbol / 64] & bit || !cfg_dominates(w->cfg, block, w->cfg->order[n]))
			continue;
		control[symbol / 64] |= bit;
		w->changed = true;
	}
}

static void spread_call(struct work *w, uint32_t i, uint32_t block)
{
	const struct program *p = &w->lint->program;
	const struct program_inst *inst = &p->insts[i];
	uint32_t count, symbol = map_get(&w->from_inst, i);
	const struct call_edge *edges = callgraph_at(&w->lint->calls, i, &count);
	const struct known *known = pointsto_known(&w->lint->pt, inst);
	uint32_t arguments = program_argument_count(inst);

	/* No number: there were too many. */
	bool numbered = symbol != 0;

	symbol -= numbered;
	for (uint32_t e = 0; e < count; e++) {
		const struct summary *s = &w->summaries[edges[e].callee];

		for (uint32_t n = 0; numbered && n < s->results.count; n++, symbol++) {
			const struct carried *c = &s->results.at[n];

			if (symbol >= symbols(w) || w->sources.at[symbol - w->params].via != i)
				break;
			if (c->out == WAITED_FOR) {
				hold_behind(w, block, symbol);
			} else if (c->out < 0) {
				if (inst->value)
					add_symbol(w, inst->value, symbol, c->plane);
			} else if (c->out < (int)arguments) {
				int64_t at;
				uint32_t pointer = program_operand(p, inst, (uint32_t)c->out);
				uint32_t base = base_of(p, pointer, &at);

				if (is_private(w, pointer))
					keep_symbol(w, base, at, symbol, c->plane);
			}
		}
		for (uint32_t n = 0; n < arguments && n < 64 && inst->value; n++) {
			uint32_t v = program_operand(p, inst, n);

			if (s->to_result_data >> n & 1)
				add_sets(w, inst->value, of_value(w, v), DATA);
			else if (s->to_result_control >> n & 1)
				add_sets(w, inst->value, of_value(w, v), CONTROL);
		}
	}
	if (count ||
	    (known && known->kind != KNOWN_SAME && known->kind != KNOWN_MOVE && known->kind != KNOWN_FILL))
		return;
	/* Code that we do not see: its result, and what it may write to, depend on all it gets. */
	for (uint32_t n = 0; n < arguments; n++) {
		uint32_t v = program_operand(p, inst, n);

		if (inst->value) {
			add_sets(w, inst->value, of_value(w, v), DATA);
			with_content(w, inst->value, v);
		}
		for (uint32_t m = 0; m < arguments; m++) {
			uint32_t to = program_operand(p, inst, m);
			int64_t at;

			if (m != n && p->values[to].kind == VALUE_RESULT && is_private(w, to)) {
				uint32_t base = base_of(p, to, &at);

				keep(w, base, SOMEWHERE, v);
			}
		}
	}
}

static void control_of(struct work *w, uint32_t block, uint64_t to)
{
	add_sets(w, to, w->control + (size_t)block * w->words * PLANES, CONTROL);
}

static void spread_phi(struct work *w, const struct program_inst *inst, uint32_t block)
{
	const struct program *p = &w->lint->program;
	uint32_t count = inst->operand_count / 2;

	for (uint32_t n = 0; n < count; n++) {
		uint32_t from = program_operand(p, inst, count + n) - w->block;

		add_sets(w, inst->value, of_value(w, program_operand(p, inst, n)), DATA);
		if (from >= w->cfg->count || w->cfg->number[from] == CFG_NONE)
			continue;
		/* Which value it is depends on what decided the way here. */
		for (uint32_t c = w->cfg->control_first[from]; c < w->cfg->control_first[from + 1]; c++) {
			uint32_t by = w->cfg->controls[c].block;
			bool both = false;

			for (uint32_t d = w->cfg->control_first[block]; d < w->cfg->control_first[block + 1];
			     d++)
				both |= w->cfg->controls[d].block == by &&
					w->cfg->controls[d].edge == w->cfg->controls[c].edge;
			const struct program_block *pb = &p->blocks[w->block + by];
			const struct program_inst *end = &p->insts[pb->inst + pb->inst_count - 1];

			if (!both && end->operand_count)
				add_sets(w, inst->value, of_value(w, program_operand(p, end, 0)), CONTROL);
		}
		const struct program_block *pb = &p->blocks[w->block + from];
		const struct program_inst *end = &p->insts[pb->inst + pb->inst_count - 1];

		if ((end->op == PROGRAM_BRANCH || end->op == PROGRAM_SWITCH) &&
		    w->cfg->edge_first[from + 1] - w->cfg->edge_first[from] > 1)
			add_sets(w, inst->value, of_value(w, program_operand(p, end, 0)), CONTROL);
	}
}

static void spread_inst(struct work *w, uint32_t i, uint32_t block)
{
	const struct program *p = &w->lint->program;
	const struct program_inst *inst = &p->insts[i];
	uint32_t symbol = map_get(&w->from_inst, i), base;
	int64_t at;

	switch ((enum program_op)inst->op) {
	case PROGRAM_LOAD:
	case PROGRAM_UPDATE:
		for (; symbol && symbol <= symbols(w) && w->sources.at[symbol - 1 - w->params].via == i;
		     symbol++)
			add_symbol(w, inst->value, symbol - 1, DATA);
		add_sets(w, inst->value, of_value(w, program_operand(p, inst, 0)), DATA);
		with_place(w, inst->value, program_operand(p, inst, 0));
		break;
	case PROGRAM_STORE:
		if (!is_private(w, program_operand(p, inst, 1)))
			break;
		base = base_of(p, program_operand(p, inst, 1), &at);
		keep(w, base, at, program_operand(p, inst, 0));
		control_of(w, block, memory_key(base, at));
		control_of(w, block, memory_key(base, ALL));
		break;
	case PROGRAM_MOVE:
		if (!is_private(w, program_operand(p, inst, 0)))
			break;
		base = base_of(p, program_operand(p, inst, 0), &at);
		for (; symbol && symbol <= symbols(w) && w->sources.at[symbol - 1 - w->params].via == i;
		     symbol++)
			keep_symbol(w, base, SOMEWHERE, symbol - 1, DATA);
		keep(w, base, SOMEWHERE, program_operand(p, inst, 2));
		with_content(w, memory_key(base, SOMEWHERE), program_operand(p, inst, 1));
		with_content(w, memory_key(base, ALL), program_operand(p, inst, 1));
		break;
	case PROGRAM_PHI:
		spread_phi(w, inst, block);
		break;
	case PROGRAM_COPY:
	case PROGRAM_COMPUTE:
	case PROGRAM_COMPARE:
	case PROGRAM_OFFSET:
		for (uint32_t n = 0; n < inst->operand_count && inst->value; n++)
			add_sets(w, inst->value, of_value(w, program_operand(p, inst, n)), DATA);
		break;
	case PROGRAM_CALL:
		spread_call(w, i, block);
		break;
	default:
		break;
	}
}

/* The loop around both of which the condition is asked again and again, or CFG_NONE: one that it may leave,
 * or through which it decides about the next iteration. */
static uint32_t asked_in(const struct work *w, uint32_t by, uint32_t block)
{
	uint32_t loop = w->cfg->loop[by];

	while (loop != CFG_NONE && !cfg_inside(w->cfg, block, loop))
		loop = w->cfg->loops[loop].parent;
	if (loop == CFG_NONE || w->cfg->number[by] >= w->cfg->number[block])
		return loop;
	for (uint32_t e = w->cfg->edge_first[by]; e < w->cfg->edge_first[by + 1]; e++)
		if (!cfg_inside(w->cfg, w->cfg->edges[e], loop))
			return loop;
	return CFG_NONE;
}

/* What decides whether a block runs: conditions, and what decides whether they are asked. Of a loop's
 * condition, what is read anew each time is one thing, a bound that was read before is another. */
static void spread_control(struct work *w, uint32_t block)
{
	const struct program *p = &w->lint->program;
	uint64_t *into = w->control + (size_t)block * w->words * PLANES;

	for (uint32_t c = w->cfg->control_first[block]; c < w->cfg->control_first[block + 1]; c++) {
		uint32_t by = w->cfg->controls[c].block, loop = asked_in(w, by, block);
		const struct program_block *pb = &p->blocks[w->block + by];
		const struct program_inst *end = &p->insts[pb->inst + pb->inst_count - 1];
		const uint64_t *set = end->operand_count ? of_value(w, program_operand(p, end, 0)) : NULL;
		const uint64_t *outer = by != block ? w->control + (size_t)by * w->words * PLANES : NULL;

		for (int plane = 0; plane < PLANES; plane++)
			for (uint32_t i = 0; i < w->words; i++) {
				uint64_t bits = (set ? set[plane * w->words + i] : 0) |
						(outer ? outer[plane * w->words + i] : 0);
				uint64_t anew = loop == CFG_NONE ? 0 : w->in_loop[loop * w->words + i];
				uint64_t now = plane == CARRIED ? 0 : bits & ~anew;
				uint64_t *to = into + CONTROL * w->words + i;

				w->changed |= (now & ~*to) != 0;
				*to |= now;
				to = into + CARRIED * w->words + i;
				w->changed |= (bits & ~now & ~*to) != 0;
				*to |= bits & ~now;
			}
	}
}

/* Control dependence the other way round. */
static void find_controlled(struct work *w)
{
	uint32_t count = w->cfg->control_first[w->cfg->count];

	w->controlled_first = mem_zalloc(w->cfg->count + 2, sizeof(*w->controlled_first));
	w->controlled = mem_alloc((count + 1) * sizeof(*w->controlled));
	for (uint32_t c = 0; c < count; c++)
		w->controlled_first[w->cfg->controls[c].block + 1]++;
	for (uint32_t b = 0; b < w->cfg->count; b++)
		w->controlled_first[b + 1] += w->controlled_first[b];
	for (uint32_t b = w->cfg->count; b-- > 0;)
		for (uint32_t c = w->cfg->control_first[b]; c < w->cfg->control_first[b + 1]; c++)
			w->controlled[--w->controlled_first[w->cfg->controls[c].block + 1]] =
				(struct cfg_control){b, w->cfg->controls[c].edge};
	/* Each first is now one too far to the right. */
	memmove(w->controlled_first, w->controlled_first + 1, w->cfg->count * sizeof(*w->controlled_first));
	w->controlled_first[w->cfg->count] = count;
}

/* Which values are read inside which loops. */
static void find_loops(struct work *w)
{
	w->in_loop = mem_zalloc((size_t)w->cfg->loop_count * w->words + 1, sizeof(*w->in_loop));
	for (uint32_t s = w->params; s < symbols(w); s++) {
		uint32_t loop = w->cfg->loop[lint_block(w->lint, w->sources.at[s - w->params].via)];

		for (; loop != CFG_NONE; loop = w->cfg->loops[loop].parent)
			w->in_loop[loop * w->words + s / 64] |= 1ull << (s % 64);
	}
}

/* Values that a loop around a wait looks at: who gets out of it goes on because of them. */
static void find_waits(struct work *w)
{
	const struct program *p = &w->lint->program;
	bool *waits = mem_zalloc(w->cfg->loop_count + 1, 1), any = false;

	for (uint32_t n = 0; n < w->cfg->order_count; n++) {
		uint32_t b = w->cfg->order[n], loop = w->cfg->loop[b];
		const struct program_block *block = &p->blocks[w->block + b];

		for (uint32_t i = block->inst; loop != CFG_NONE && i < block->inst + block->inst_count; i++) {
			const struct known *known = pointsto_known(&w->lint->pt, &p->insts[i]);

			if (known && (known->kind == KNOWN_WAIT || known->kind == KNOWN_WAIT_CXX))
				any = waits[loop] = true;
		}
	}
	for (uint32_t n = 0; any && n < w->cfg->order_count; n++) {
		uint32_t b = w->cfg->order[n], loop = w->cfg->loop[b];
		const struct program_block *block = &p->blocks[w->block + b];
		uint32_t end = block->inst + block->inst_count - 1;
		const uint64_t *set;

		if (loop == CFG_NONE || !waits[loop] || p->insts[end].op != PROGRAM_BRANCH ||
		    !(set = of_value(w, program_operand(p, &p->insts[end], 0))))
			continue;
		for (uint32_t e = w->cfg->edge_first[b]; e < w->cfg->edge_first[b + 1]; e++) {
			if (cfg_inside(w->cfg, w->cfg->edges[e], loop))
				continue;
			for (uint32_t s = w->params; s < symbols(w); s++)
				if (has_any(w, set, s)) {
					hold_behind(w, w->cfg->edges[e], s);
					w->waited[s / 64] |= 1ull << (s % 64);
				}
		}
	}
	free(waits);
}

static void spread(struct work *w)
{
	const struct program *p = &w->lint->program;

	for (uint32_t n = 0; n < w->params; n++)
		add_symbol(w, p->functions[w->function].parameter + n, n, DATA);
	w->changed = true;
	for (int round = 0; w->changed && round < MOST_ROUNDS; round++) {
		w->changed = false;
		for (uint32_t n = 0; n < w->cfg->order_count; n++) {
			uint32_t b = w->cfg->order[n];
			const struct program_block *block = &p->blocks[w->block + b];

			spread_control(w, b);
			for (uint32_t i = 0; i < block->inst_count; i++)
				spread_inst(w, block->inst + i, b);
		}
		find_waits(w);
	}
}

/* ---- uses ---- */

/* Do two instructions lie in the same region, whatever the way? */
bool flow_same_regions(const struct lint *lint, uint32_t a, uint32_t b)
{
	const struct lock_state *x = region_state(lint, a), *y = region_state(lint, b);

	for (uint32_t i = 0; i < x->held_count; i++)
		for (uint32_t n = 0; n < y->held_count; n++)
			if (x->held[i].lock == y->held[n].lock)
				for (uint32_t r = 0; r < y->held[n].region_count; r++)
					for (uint32_t q = 0; q < x->held[i].region_count; q++)
						if (x->held[i].regions[q] == y->held[n].regions[r])
							return true;
	return false;
}

/* Does a condition depend on something that came from outside the region? */
static bool compares_old(struct work *w, const uint64_t *set, uint32_t inst)
{
	for (uint32_t s = 0; s < symbols(w); s++)
		if (has_any(w, set, s) &&
		    (s < w->params
			     ? w->lint->program.values[w->lint->program.functions[w->function].parameter + s]
						       .kind == VALUE_PARAMETER &&
				       !pointsto_is_pointer(
					       &w->lint->pt,
					       w->lint->program.functions[w->function].parameter + s)
			     : !flow_same_regions(w->lint, w->sources.at[s - w->params].via, inst)))
			return true;
	return false;
}

/* If the condition goes the other way, is something written in the region all the same? Then it is no check
 * after which nothing happens. */
static bool acts_otherwise(struct work *w, uint32_t by, uint32_t edge, uint32_t inst)
{
	const struct program *p = &w->lint->program;

	for (uint32_t n = w->controlled_first[by]; n < w->controlled_first[by + 1]; n++) {
		const struct program_block *block = &p->blocks[w->block + w->controlled[n].block];

		if (w->controlled[n].edge == edge)
			continue;
		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			uint32_t count;
			const struct access *a = access_at(w->lint, i, &count);

			for (uint32_t k = 0; k < count; k++)
				if (a[k].write && !a[k].fresh && flow_same_regions(w->lint, i, inst))
					return true;
		}
	}
	return false;
}

/* The way that a branch goes if the two values that the condition compares are equal, or -1. */
static int equal_edge(const struct program *p, uint32_t condition, int depth)
{
	uint32_t maker = program_maker(p, condition);
	const struct program_inst *inst = &p->insts[maker];
	int found = -1;

	if (!maker || depth > 6)
		return -1;
	switch ((enum program_op)inst->op) {
	case PROGRAM_COPY:
		return inst->operand_count == 1 ? equal_edge(p, program_operand(p, inst, 0), depth + 1) : -1;
	case PROGRAM_COMPARE: {
		const struct program_value *with = &p->values[program_operand(p, inst, 1)];
		bool equal = inst->sub == SUB_EQUAL;

		if (inst->sub != SUB_EQUAL && inst->sub != SUB_UNEQUAL)
			return -1;
		if (with->kind == VALUE_NUMBER && !with->number &&
		    (found = equal_edge(p, program_operand(p, inst, 0), depth + 1)) >= 0)
			return equal ? !found : found;
		return equal ? 0 : 1;
	}
	case PROGRAM_COMPUTE:
		if (inst->sub == SUB_XOR) {
			found = equal_edge(p, program_operand(p, inst, 0), depth + 1);
			return found < 0 ? -1 : !found;
		}
		if (inst->sub != SUB_AND)
			return -1;
		/* fall through */
	case PROGRAM_PHI:
		/* All of several must hold. */
		for (uint32_t i = 0; i < 2 && i < inst->operand_count && found != 0; i++)
			found = equal_edge(p, program_operand(p, inst, i), depth + 1);
		return found == 0 ? 0 : -1;
	default:
		return -1;
	}
}

/* Variables read in the region of this instruction that decide whether it runs, and the conditions. */
static void find_guards(struct work *w, uint32_t inst, uint32_t block, struct flow_use *use)
{
	const struct program *p = &w->lint->program;
	struct vec_u32 waiting = {0}, seen = {0};

	w->conditions.count = 0;
	if (!region_state(w->lint, inst)->held_count)
		return;
	vec_push(&waiting, block);
	while (waiting.count) {
		uint32_t b = waiting.at[--waiting.count];

		if (!vec_add(&seen, b))
			continue;
		for (uint32_t c = w->cfg->control_first[b]; c < w->cfg->control_first[b + 1]; c++) {
			uint32_t by = w->cfg->controls[c].block;
			const struct program_block *pb = &p->blocks[w->block + by];
			uint32_t end = pb->inst + pb->inst_count - 1;
			const uint64_t *set;
			bool checks = false;

			vec_push(&waiting, by);
			if (!p->insts[end].operand_count || !flow_same_regions(w->lint, end, inst) ||
			    !(set = of_value(w, program_operand(p, &p->insts[end], 0))))
				continue;
			bool acts = acts_otherwise(w, by, w->cfg->controls[c].edge, inst);

			for (uint32_t s = w->params; s < symbols(w); s++) {
				const struct flow_source *source = &w->sources.at[s - w->params];
				uint32_t variable, g = 0;

				if (!has_any(w, set, s) || !flow_same_regions(w->lint, source->via, inst))
					continue;
				if (acts) {
					use->acts = true;
					break;
				}
				checks = true;
				variable = w->lint->accesses.at.at[source->access].variable;
				while (g < use->guard_count && use->guards[g] != variable)
					g++;
				if (g == use->guard_count && g < FLOW_GUARDS)
					use->guards[use->guard_count++] = variable;
				if (g < FLOW_GUARDS && compares_old(w, set, inst))
					use->versions |= 1u << g;
			}
			uint32_t condition = program_operand(p, &p->insts[end], 0);

			if (checks && equal_edge(p, condition, 0) == (int)w->cfg->controls[c].edge)
				vec_push(&w->conditions, condition);
		}
	}
	vec_free(&waiting);
	vec_free(&seen);
}

static bool reaches_back(struct work *w, uint32_t from, uint32_t to)
{
	uint32_t a = lint_block(w->lint, from), b = lint_block(w->lint, to);

	return a == b ? to <= from : w->cfg->number[b] < w->cfg->number[a];
}

/* Both lie in one region and in a loop: does the region end before the next iteration? */
static bool leaves_region(struct work *w, uint32_t a, uint32_t b)
{
	const struct program *p = &w->lint->program;
	uint32_t loop = w->cfg->loop[lint_block(w->lint, a)];

	while (loop != CFG_NONE && !cfg_inside(w->cfg, lint_block(w->lint, b), loop))
		loop = w->cfg->loops[loop].parent;
	if (loop == CFG_NONE)
		return false;
	return !flow_same_regions(w->lint, p->blocks[w->block + w->cfg->loops[loop].header].inst, a);
}

/* Is the second surely in a region of the first? It may lie behind a wait that only some ways pass. */
static bool stays_in_region(const struct lint *lint, uint32_t a, uint32_t b)
{
	const struct lock_state *x = region_state(lint, a), *y = region_state(lint, b);

	for (uint32_t i = 0; i < x->held_count; i++)
		for (uint32_t n = 0; n < y->held_count; n++) {
			bool all = x->held[i].lock == y->held[n].lock;

			for (uint32_t r = 0; all && r < y->held[n].region_count; r++) {
				bool found = false;

				for (uint32_t q = 0; q < x->held[i].region_count; q++)
					found |= x->held[i].regions[q] == y->held[n].regions[r];
				all = found;
			}
			if (all)
				return true;
		}
	return false;
}

static void add_edge(struct work *w, uint32_t symbol, struct flow_use use, int plane)
{
	const struct flow_source *source = &w->sources.at[symbol - w->params];
	struct flow_edge edge = {.function = w->function, .from = *source, .to = use, .data = plane == DATA};

	/* One call is no split of itself, unless its result comes back to it. */
	edge.again = reaches_back(w, source->via, use.via);
	edge.carried = plane == CARRIED;
	if (source->via == use.via && !edge.again)
		return;
	edge.around = edge.again && flow_same_regions(w->lint, source->via, use.via) &&
		      leaves_region(w, source->via, use.via);
	/* Outside any region there is a race, or the region is a caller's; one that is never left in between
	 * is no split. */
	if (!(source->region ? source->region : flow_region(w->lint, source->via)) ||
	    !(use.region ? use.region : flow_region(w->lint, use.via)) ||
	    (!source->region && !use.region && !edge.around &&
	     stays_in_region(w->lint, source->via, use.via)))
		return;
	uint64_t key = ((uint64_t)symbol << 32 | use.via) * 0x9e3779b97f4a7c15ull ^ use.access;
	uint32_t known = map_get(&w->known, key);

	if (known) {
		struct flow_edge *e = &w->flows->edges.at[known - 1];

		if (use.kind < e->to.kind)
			e->to.kind = use.kind;
		e->data |= edge.data;
		e->carried &= edge.carried;
		e->to.compared |= use.compared;
		return;
	}
	if (w->edges++ >= MOST_EDGES) {
		w->flows->dropped++;
		return;
	}
	vec_push(&w->flows->edges, edge);
	map_set(&w->known, key, w->flows->edges.count);
}

static void add_param_use(struct work *w, uint32_t parameter, struct flow_use use, int plane)
{
	struct summary *s = &w->summaries[w->function];
	uint32_t variable = w->lint->accesses.at.at[use.access].variable;

	for (uint32_t i = 0; i < s->uses.count; i++) {
		struct param_use *u = &s->uses.at[i];

		if (u->parameter == parameter && u->use.region == use.region && u->plane == plane &&
		    w->lint->accesses.at.at[u->use.access].variable == variable &&
		    w->lint->accesses.at.at[u->use.access].write == w->lint->accesses.at.at[use.access].write)
			return;
	}
	if (s->uses.count < MOST_USES)
		vec_push(&s->uses, (struct param_use){use, parameter, (uint8_t)plane});
	else
		w->flows->dropped++;
}

/* Everything in a set is used so. */
static void use_plane(struct work *w, const uint64_t *set, struct flow_use use, int plane, uint32_t block)
{
	uint64_t any = 0;

	for (uint32_t i = 0; set && i < w->words; i++)
		any |= set[i];
	if (!any)
		return;
	for (uint32_t s = 0; s < symbols(w); s++) {
		struct flow_use u = use;

		if (!has(set, s))
			continue;
		if (s >= w->params && w->edges >= MOST_EDGES) {
			w->flows->dropped++;
			return;
		}
		/* A use in here has its guards here; one further down brought its own. */
		for (uint32_t i = 0;
		     u.via == w->lint->accesses.at.at[u.access].inst && i < w->conditions.count; i++) {
			const uint64_t *condition = of_value(w, w->conditions.at[i]);

			u.compared |= condition && has_any(w, condition, s);
		}
		if (s < w->params)
			add_param_use(w, s, u, plane);
		else
			add_edge(w, s, u, plane);
	}
}

/* As the value depends on things, so does the use, but not closer than `closest`. */
static void use_set(struct work *w, const uint64_t *set, struct flow_use use, int closest, uint32_t block)
{
	for (int plane = 0; set && plane < PLANES; plane++)
		use_plane(w, set + plane * w->words, use, plane > closest ? plane : closest, block);
}

static void use_value(struct work *w, uint32_t value, struct flow_use use, int plane, uint32_t block)
{
	const uint64_t *set = of_value(w, value);

	use_set(w, set, use, plane, block);
}

/* What lies where a pointer leads, if that is memory of our own. */
static void use_content(struct work *w, uint32_t pointer, struct flow_use use, int plane, uint32_t block)
{
	const uint64_t *set;
	int64_t at;

	if (!is_private(w, pointer))
		return;
	set = peek(w, memory_key(base_of(&w->lint->program, pointer, &at), ALL));
	use_set(w, set, use, plane, block);
}

static void use_control(struct work *w, uint32_t block, struct flow_use use)
{
	const uint64_t *set = w->control + (size_t)block * w->words * PLANES;

	use.kind = USE_GUARDS;
	use_set(w, set, use, CONTROL, block);
}

static void add_inside(struct work *w, struct flow_use use)
{
	struct summary *s = &w->summaries[w->function];
	const struct access *a = &w->lint->accesses.at.at[use.access];

	for (uint32_t i = 0; i < s->inside.count; i++) {
		const struct access *b = &w->lint->accesses.at.at[s->inside.at[i].access];

		if (b->variable == a->variable && b->write == a->write &&
		    s->inside.at[i].region == use.region)
			return;
	}
	if (s->inside.count < MOST_USES)
		vec_push(&s->inside, use);
	else
		w->flows->dropped++;
}

static void use_access(struct work *w, uint32_t number, uint32_t block)
{
	const struct program *p = &w->lint->program;
	const struct access *a = &w->lint->accesses.at.at[number];
	const struct program_inst *inst = &p->insts[a->inst];
	struct flow_use use = {.access = number, .via = a->inst, .kind = USE_ADDRESSES};

	find_guards(w, a->inst, block, &use);
	struct flow_use plain = use;

	if (inst->op == PROGRAM_UPDATE && inst->sub == SUB_EQUAL) {
		use.guards[use.guard_count++] = a->variable;
		use.compared = true;
	}
	add_inside(w, plain);
	switch ((enum program_op)inst->op) {
	case PROGRAM_LOAD:
		use_value(w, program_operand(p, inst, 0), use, DATA, block);
		break;
	case PROGRAM_STORE:
		use_value(w, program_operand(p, inst, 1), use, DATA, block);
		use.kind = USE_STORED;
		use_value(w, program_operand(p, inst, 0), use, DATA, block);
		/* A new object is let in, and with it what was written to it. */
		if (inst->flags & PROGRAM_POINTER)
			use_content(w, program_operand(p, inst, 0), use, DATA, block);
		break;
	default:
		use_value(w, program_operand(p, inst, 0), use, DATA, block);
		use.kind = a->write ? USE_STORED : USE_ADDRESSES;
		for (uint32_t n = 1; n < inst->operand_count; n++)
			use_value(w, program_operand(p, inst, n), use, DATA, block);
		break;
	}
	use_control(w, block, use);
}

static void use_call(struct work *w, uint32_t i, uint32_t block)
{
	const struct program *p = &w->lint->program;
	const struct program_inst *inst = &p->insts[i];
	uint32_t count;
	const struct call_edge *edges = callgraph_at(&w->lint->calls, i, &count);

	for (uint32_t e = 0; e < count; e++) {
		const struct summary *s = &w->summaries[edges[e].callee];

		for (uint32_t n = 0; n < s->uses.count; n++) {
			struct param_use u = s->uses.at[n];
			uint32_t v = program_operand(p, inst, u.parameter);

			if (u.parameter >= program_argument_count(inst))
				continue;
			if (!u.use.region)
				u.use.region = flow_region(w->lint, u.use.via);
			u.use.via = i;
			use_value(w, v, u.use, u.plane, block);
			use_content(w, v, u.use, u.plane, block);
		}
		for (uint32_t n = 0; n < s->inside.count; n++) {
			struct flow_use use = s->inside.at[n];

			if (!use.region)
				use.region = flow_region(w->lint, use.via);
			use.via = i;
			use_control(w, block, use);
			add_inside(w, use);
		}
	}
}

/* ---- values that are used together ---- */

static void add_joint(struct work *w, const uint64_t *set, uint32_t sink, bool data)
{
	const struct lint *lint = w->lint;

	for (uint32_t s = w->params; s < symbols(w); s++) {
		if (!has(set, s))
			continue;
		for (uint32_t t = s + 1; t < symbols(w); t++) {
			const struct flow_source *a = &w->sources.at[s - w->params];
			const struct flow_source *b = &w->sources.at[t - w->params];

			if (!has(set, t) || lint->accesses.at.at[a->access].variable ==
						    lint->accesses.at.at[b->access].variable)
				continue;
			/* Both by one call: that function's own affair. */
			if (a->via == b->via ||
			    (!a->region && !b->region && flow_same_regions(lint, a->via, b->via)))
				continue;
			/* Only what somebody writes together is missed when it is read apart. */
			if (!view_together(w->lint, lint->accesses.at.at[a->access].variable,
					   lint->accesses.at.at[b->access].variable, true))
				continue;
			uint64_t key = ((uint64_t)s << 32 | t) * 0x9e3779b97f4a7c15ull ^ 1ull << 63;
			uint32_t known = map_get(&w->known, key);

			if (known) {
				struct flow_joint *j = &w->flows->joints.at[known - 1];

				if (data && !j->data) {
					j->data = true;
					j->sink = sink;
				}
				continue;
			}
			if (w->joints++ >= MOST_EDGES) {
				w->flows->dropped++;
				return;
			}
			vec_push(&w->flows->joints, (struct flow_joint){w->function, *a, *b, sink, data});
			map_set(&w->known, key, w->flows->joints.count);
		}
	}
}

static void joint_values(struct work *w, uint32_t inst, const uint32_t *values, uint32_t count)
{
	uint64_t *both = w->temporary;

	memset(both, 0, w->words * PLANES * sizeof(*both));
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *set = of_value(w, values[i]);

		if (set)
			join(both, set, w->words * PLANES);
	}
	add_joint(w, both, inst, true);
	join(both, both + CONTROL * w->words, w->words);
	add_joint(w, both, inst, false);
}

static void joint_at(struct work *w, uint32_t i)
{
	const struct program *p = &w->lint->program;
	const struct program_inst *inst = &p->insts[i];
	const uint32_t *operands = program_operands(p, inst);
	uint32_t count;

	switch ((enum program_op)inst->op) {
	case PROGRAM_RETURN:
	case PROGRAM_BRANCH:
	case PROGRAM_SWITCH:
		joint_values(w, i, operands, inst->operand_count);
		break;
	case PROGRAM_STORE:
		joint_values(w, i, operands, 1);
		break;
	case PROGRAM_CALL:
		callgraph_at(&w->lint->calls, i, &count);
		if (!count && !pointsto_known(&w->lint->pt, inst))
			joint_values(w, i, operands, program_argument_count(inst));
		break;
	default:
		break;
	}
}

/* ---- summaries ---- */

static void add_result(struct work *w, const uint64_t *set, int plane, int out)
{
	struct summary *s = &w->summaries[w->function];

	for (uint32_t n = 0; n < symbols(w); n++) {
		bool known = false;

		if (!has(set, n))
			continue;
		if (n < w->params) {
			if (out == RETURNED && n < 64)
				*(plane == DATA ? &s->to_result_data : &s->to_result_control) |= 1ull << n;
			continue;
		}
		struct flow_source source = w->sources.at[n - w->params];
		uint32_t variable = w->lint->accesses.at.at[source.access].variable;

		for (uint32_t i = 0; i < s->results.count && !known; i++) {
			struct carried *c = &s->results.at[i];

			known = c->out == out && c->source.region == source.region &&
				flow_region(w->lint, c->source.via) == flow_region(w->lint, source.via) &&
				w->lint->accesses.at.at[c->source.access].variable == variable;
			if (known && plane < c->plane)
				c->plane = (uint8_t)plane;
		}
		if (known)
			continue;
		if (s->results.count >= MOST_RESULTS) {
			w->flows->dropped++;
			continue;
		}
		vec_push(&s->results, (struct carried){source, (uint8_t)plane, (int8_t)out});
	}
}

static void summarise(struct work *w)
{
	const struct program *p = &w->lint->program;
	const struct program_function *f = &p->functions[w->function];

	for (uint32_t n = 0; n < w->cfg->order_count; n++) {
		const struct program_block *block = &p->blocks[w->block + w->cfg->order[n]];
		const struct program_inst *end = &p->insts[block->inst + block->inst_count - 1];
		const uint64_t *set = end->op == PROGRAM_RETURN && end->operand_count
					      ? of_value(w, program_operand(p, end, 0))
					      : NULL;

		if (!set)
			continue;
		for (int plane = 0; plane < PLANES; plane++) {
			add_result(w, set + plane * w->words, plane, RETURNED);
			/* Which return it is. */
			add_result(w, w->control + ((size_t)w->cfg->order[n] * PLANES + plane) * w->words,
				   plane == DATA ? CONTROL : plane, RETURNED);
		}
	}
	add_result(w, w->waited, CONTROL, WAITED_FOR);
	for (uint32_t n = 0; n < f->parameter_count && n < 64; n++) {
		for (uint64_t i = 0; i <= w->slots.mask && w->slots.slots; i++) {
			const struct map_slot *m = &w->slots.slots[i];

			if (!m->value || !(m->key >> 63) ||
			    (uint32_t)(m->key >> 24 & 0xffffffff) != f->parameter + n)
				continue;
			const uint64_t *set = w->sets + (size_t)(m->value - 1) * w->words * PLANES;

			for (int plane = 0; plane < PLANES; plane++)
				add_result(w, set + plane * w->words, plane, (int)n);
		}
	}
}

static bool worth_it(struct work *w)
{
	const struct program *p = &w->lint->program;
	const struct program_function *f = &p->functions[w->function];

	if (w->sources.count)
		return true;
	for (uint32_t b = 0; b < f->block_count; b++) {
		const struct program_block *block = &p->blocks[f->block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			uint32_t count;
			const struct call_edge *edges = callgraph_at(&w->lint->calls, i, &count);

			if (w->lint->accesses.first[i])
				return true;
			for (uint32_t e = 0; e < count; e++)
				if (w->summaries[edges[e].callee].uses.count ||
				    w->summaries[edges[e].callee].inside.count)
					return true;
		}
	}
	return false;
}

static void plain_summary(struct work *w)
{
	/* Nothing shared in it: its result depends on its arguments. */
	w->summaries[w->function].to_result_data = UINT64_MAX;
}

static void analyse(struct lint *lint, struct summary *summaries, uint32_t function)
{
	const struct program *p = &lint->program;
	struct work w = {.lint = lint,
			 .flows = lint->flows,
			 .summaries = summaries,
			 .function = function,
			 .block = p->functions[function].block,
			 .cfg = &lint->cfgs[function]};

	w.params = p->functions[function].parameter_count;
	if (w.params > 64)
		w.params = 64;
	find_symbols(&w);
	if (worth_it(&w)) {
		w.words = (symbols(&w) + 64) / 64;
		w.control = mem_zalloc((size_t)w.cfg->count * w.words * PLANES + 1, sizeof(*w.control));
		w.waited = mem_zalloc(w.words, sizeof(*w.waited));
		w.temporary = mem_zalloc(w.words * PLANES + 1, sizeof(*w.temporary));
		find_loops(&w);
		find_controlled(&w);
		spread(&w);
		for (uint32_t n = 0; n < w.cfg->order_count; n++) {
			uint32_t b = w.cfg->order[n];
			const struct program_block *block = &p->blocks[w.block + b];

			for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
				uint32_t count;
				const struct access *a = access_at(lint, i, &count);

				for (uint32_t k = 0; k < count; k++)
					if (is_use(lint, &a[k]))
						use_access(&w, (uint32_t)(&a[k] - lint->accesses.at.at), b);
				if (lint->calls.by_inst[i])
					use_call(&w, i, b);
				joint_at(&w, i);
			}
		}
		summarise(&w);
	} else {
		plain_summary(&w);
	}
	vec_free(&w.sources);
	vec_free(&w.conditions);
	map_release(&w.known);
	free(w.controlled_first);
	free(w.controlled);
	map_release(&w.from_inst);
	map_release(&w.slots);
	free(w.sets);
	free(w.control);
	free(w.temporary);
	free(w.in_loop);
	free(w.waited);
}

void flow_build(struct lint *lint)
{
	struct summary *summaries = mem_zalloc(lint->program.functions_count, sizeof(*summaries));
	const struct callgraph *c = &lint->calls;

	lint->flows = mem_zalloc(1, sizeof(*lint->flows));
	for (uint32_t i = 0; i < c->order_count;) {
		uint32_t end = i + 1;

		while (end < c->order_count && c->component[c->order[end]] == c->component[c->order[i]])
			end++;
		/* Members of a recursion know of each other the second time round. */
		for (int round = 0; round < (c->recursive[c->order[i]] ? 2 : 1); round++)
			for (uint32_t n = i; n < end; n++)
				if (lint->threads.reach[c->order[n]])
					analyse(lint, summaries, c->order[n]);
		i = end;
	}
	for (uint32_t f = 0; f < lint->program.functions_count; f++) {
		vec_free(&summaries[f].results);
		vec_free(&summaries[f].uses);
		vec_free(&summaries[f].inside);
	}
	free(summaries);
}

void flow_release(struct lint *lint)
{
	if (!lint->flows)
		return;
	vec_free(&lint->flows->edges);
	vec_free(&lint->flows->joints);
	free(lint->flows);
	lint->flows = NULL;
}
