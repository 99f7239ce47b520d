/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What values are used for: each access in a shared set depends on some, by what
 * is stored, by its address, or because it happens at all. A use of a value that
 * was read here is an edge if a region ends in between; a use of a parameter is
 * noted for callers.
 */
#include "lint/flowwork.h"

#include <string.h>

#include "lint/view.h"

/* Control dependence the other way round. */
static void find_controlled(struct flow_work *w)
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

static uint64_t inside_key(const struct flow_work *w, const struct flow_use *use)
{
	const struct access *a = &w->lint->accesses.at.at[use->access];

	return (uint64_t)a->variable << 33 | (uint64_t)use->region << 1 | a->write;
}

/* Places of parameters have 6 bits, and planes 2: what is left is enough for any program that fits here. */
static uint64_t param_key(const struct flow_work *w, uint32_t parameter, const struct flow_use *use,
			  int plane)
{
	const struct access *a = &w->lint->accesses.at.at[use->access];

	return (uint64_t)a->variable << 36 | (uint64_t)use->region << 9 | parameter << 3 |
	       (uint32_t)plane << 1 | a->write;
}

void flowuse_prepare(struct flow_work *w)
{
	const struct lint *lint = w->lint;
	const struct flow_summary *s = &w->summaries[w->function];
	uint32_t always = lint->contexts.always[w->function];
	bool locked = always != UINT32_MAX && lint->contexts.locksets.at[always].count;

	find_controlled(w);
	w->source_region = mem_alloc((w->sources.count + 1) * sizeof(*w->source_region));
	w->via_region = mem_alloc((w->sources.count + 1) * sizeof(*w->via_region));
	w->ways = mem_zalloc(w->sources.count + 1, sizeof(*w->ways));
	w->may_edge = mem_zalloc(w->words + 1, sizeof(*w->may_edge));
	w->may_joint = mem_zalloc(w->words + 1, sizeof(*w->may_joint));
	for (uint32_t n = 0; n < w->params; n++)
		w->may_edge[n / 64] |= 1ull << (n % 64);
	for (uint32_t i = 0; i < w->sources.count; i++) {
		const struct flow_source *source = &w->sources.at[i];
		uint32_t n = w->params + i;

		w->via_region[i] = flow_region(lint, source->via);
		w->source_region[i] = source->region ? source->region : w->via_region[i];
		/* Read in no region, and in none of the callers': there is nothing that could end. */
		if (w->source_region[i] || locked)
			w->may_edge[n / 64] |= 1ull << (n % 64);
		if (w->source_region[i] &&
		    lint->views->writers[lint->accesses.at.at[source->access].variable].count)
			w->may_joint[n / 64] |= 1ull << (n % 64);
	}
	/* Of a member of a recursion, what the round before found. */
	for (uint32_t i = 0; i < s->inside.count; i++)
		map_set(&w->inside, inside_key(w, &s->inside.at[i]), 1);
	for (uint32_t i = 0; i < s->uses.count; i++)
		map_set(&w->uses,
			param_key(w, s->uses.at[i].parameter, &s->uses.at[i].use, s->uses.at[i].plane), 1);
}

/* Does a condition depend on something that came from outside the region? */
static bool compares_old(struct flow_work *w, const uint64_t *set, uint32_t inst)
{
	for (uint32_t s = 0; s < flowset_symbols(w); s++)
		if (flowset_has_any(w, set, s) &&
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
static bool acts_otherwise(struct flow_work *w, uint32_t by, uint32_t edge, uint32_t inst)
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
static void find_guards(struct flow_work *w, uint32_t inst, uint32_t block, struct flow_use *use)
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
			    !(set = flowset_of(w, program_operand(p, &p->insts[end], 0))))
				continue;
			bool acts = acts_otherwise(w, by, w->cfg->controls[c].edge, inst);

			for (uint32_t s = w->params; s < flowset_symbols(w); s++) {
				const struct flow_source *source = &w->sources.at[s - w->params];
				uint32_t variable, g = 0;

				if (!flowset_has_any(w, set, s) ||
				    !flow_same_regions(w->lint, source->via, inst))
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

static bool reaches_back(struct flow_work *w, uint32_t from, uint32_t to)
{
	uint32_t a = lint_block(w->lint, from), b = lint_block(w->lint, to);

	return a == b ? to <= from : w->cfg->number[b] < w->cfg->number[a];
}

/* Both lie in one region and in a loop: does the region end before the next iteration? */
static bool leaves_region(struct flow_work *w, uint32_t a, uint32_t b)
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

static bool gave_up(const struct lock_state *s, uint32_t lock)
{
	for (uint32_t i = 0; i < s->given_up_count; i++)
		if (s->given_up[i] == lock)
			return true;
	return false;
}

/* A lock that it is always called with is given up between the two: then the first lies in its callers'
 * region, and that has ended when the second comes. */
static bool breaks_callers(const struct flow_work *w, uint32_t from, uint32_t to)
{
	const struct lint *lint = w->lint;
	uint32_t always = lint->contexts.always[w->function];

	for (uint32_t i = 0; always != UINT32_MAX && i < lint->contexts.locksets.at[always].count; i++) {
		uint32_t lock = lint->contexts.locksets.at[always].locks[i];

		if (!gave_up(region_state(lint, from), lock) && gave_up(region_state(lint, to), lock))
			return true;
	}
	return false;
}

/* The value was read in a region that a call left to us; is the use surely in that one? */
static bool stays_in_left(const struct lint *lint, const struct flow_source *source, uint32_t via)
{
	const struct lock_state *s = region_state(lint, via);

	if (!source->region || source->region != lint->regions.by_inst[source->via])
		return false;
	for (uint32_t i = 0; i < s->held_count; i++)
		if (s->held[i].region_count == 1 && s->held[i].regions[0] == source->region)
			return true;
	return false;
}

/* It is asked for each of the many accesses that a call leads to. */
static const struct flow_way *way_to(struct flow_work *w, uint32_t number, uint32_t via)
{
	const struct flow_source *source = &w->sources.at[number];
	struct flow_way *way = &w->ways[number];

	if (way->via == via)
		return way;
	way->via = via;
	way->again = reaches_back(w, source->via, via);
	way->around = way->again && flow_same_regions(w->lint, source->via, via) &&
		      leaves_region(w, source->via, via);
	/* One call is no split of itself, unless its result comes back to it; and the region may be a
	 * caller's, and go on. */
	way->never = (source->via == via && !way->again) || stays_in_left(w->lint, source, via) ||
		     (!w->source_region[number] && !breaks_callers(w, source->via, via));
	/* One that is never left in between is no split. */
	way->together = !source->region && !way->around && stays_in_region(w->lint, source->via, via);
	return way;
}

static void add_edge(struct flow_work *w, uint32_t symbol, struct flow_use use, int plane)
{
	const struct flow_source *source = &w->sources.at[symbol - w->params];
	const struct flow_way *way = way_to(w, symbol - w->params, use.via);
	struct flow_edge edge = {.function = w->function,
				 .from = *source,
				 .to = use,
				 .data = plane == DATA,
				 .carried = plane == CARRIED,
				 .in_rounds = plane == CARRIED,
				 .again = way->again,
				 .around = way->around};

	if (way->never || (way->together && !use.region))
		return;
	uint64_t key = ((uint64_t)symbol << 32 | use.via) * 0x9e3779b97f4a7c15ull ^ use.access;
	uint32_t known = map_get(&w->known, key);

	if (known) {
		struct flow_edge *e = &w->flows->edges.at[known - 1];

		if (use.kind < e->to.kind)
			e->to.kind = use.kind;
		e->data |= edge.data;
		e->carried &= edge.carried;
		e->in_rounds |= edge.in_rounds;
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

static void add_param_use(struct flow_work *w, uint32_t parameter, struct flow_use use, int plane)
{
	struct flow_summary *s = &w->summaries[w->function];
	uint64_t key = param_key(w, parameter, &use, plane);

	if (map_get(&w->uses, key))
		return;
	if (s->uses.count >= MOST_USES) {
		w->flows->dropped++;
		return;
	}
	vec_push(&s->uses, (struct flow_param_use){use, parameter, (uint8_t)plane});
	map_set(&w->uses, key, 1);
}

/* Was the value compared in one of the conditions of the access at hand? */
static bool is_compared(struct flow_work *w, uint32_t symbol)
{
	for (uint32_t i = 0; i < w->conditions.count; i++) {
		const uint64_t *condition = flowset_of(w, w->conditions.at[i]);

		if (condition && flowset_has_any(w, condition, symbol))
			return true;
	}
	return false;
}

/* Everything in a set is used so. */
static void use_plane(struct flow_work *w, const uint64_t *set, const struct flow_use *use, int plane,
		      uint32_t count)
{
	/* A use in here has its guards here; one further down brought its own. */
	bool here = use->via == w->lint->accesses.at.at[use->access].inst;

	for (uint32_t i = 0; i < (count + 63) / 64; i++)
		for (uint64_t bits = set[i] & w->may_edge[i]; bits; bits &= bits - 1) {
			uint32_t s = i * 64 + (uint32_t)__builtin_ctzll(bits);
			struct flow_use u = *use;

			if (s >= count)
				return;
			if (s >= w->params && w->edges >= MOST_EDGES) {
				w->flows->dropped++;
				return;
			}
			u.compared |= here && is_compared(w, s);
			if (s < w->params)
				add_param_use(w, s, u, plane);
			else
				add_edge(w, s, u, plane);
		}
}

/* As the value depends on things, so does the use, but not closer than `closest`. */
static void use_set(struct flow_work *w, const uint64_t *set, struct flow_use use, int closest)
{
	/* Outside any region there is a race, or the region is a caller's: for callers to see. */
	uint32_t count = use.region || flow_region(w->lint, use.via) ? flowset_symbols(w) : w->params;

	for (int plane = 0; set && plane < PLANES; plane++)
		use_plane(w, set + plane * w->words, &use, plane > closest ? plane : closest, count);
}

static void use_value(struct flow_work *w, uint32_t value, struct flow_use use, int plane)
{
	const uint64_t *set = flowset_of(w, value);

	use_set(w, set, use, plane);
}

/* What lies where a pointer leads, if that is memory of our own. */
static void use_content(struct flow_work *w, uint32_t pointer, struct flow_use use, int plane)
{
	const uint64_t *set;
	int64_t at;

	if (!flowset_is_private(w, pointer))
		return;
	set = flowset_peek(w, flowset_memory(flowset_base(&w->lint->program, pointer, &at), ALL));
	use_set(w, set, use, plane);
}

static void use_control(struct flow_work *w, uint32_t block, struct flow_use use)
{
	const uint64_t *set = w->control + (size_t)block * w->words * PLANES;

	use.kind = USE_GUARDS;
	use_set(w, set, use, CONTROL);
}

static void add_inside(struct flow_work *w, struct flow_use use)
{
	struct flow_summary *s = &w->summaries[w->function];
	uint64_t key = inside_key(w, &use);

	if (map_get(&w->inside, key))
		return;
	if (s->inside.count >= MOST_USES) {
		w->flows->dropped++;
		return;
	}
	vec_push(&s->inside, use);
	map_set(&w->inside, key, 1);
}

void flowuse_access(struct flow_work *w, uint32_t number, uint32_t block)
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
		use_value(w, program_operand(p, inst, 0), use, DATA);
		break;
	case PROGRAM_STORE:
		use_value(w, program_operand(p, inst, 1), use, DATA);
		use.kind = USE_STORED;
		use_value(w, program_operand(p, inst, 0), use, DATA);
		/* A new object is let in, and with it what was written to it. */
		if (inst->flags & PROGRAM_POINTER)
			use_content(w, program_operand(p, inst, 0), use, DATA);
		break;
	default:
		use_value(w, program_operand(p, inst, 0), use, DATA);
		use.kind = a->write ? USE_STORED : USE_ADDRESSES;
		for (uint32_t n = 1; n < inst->operand_count; n++)
			use_value(w, program_operand(p, inst, n), use, DATA);
		break;
	}
	use_control(w, block, use);
}

void flowuse_call(struct flow_work *w, uint32_t i, uint32_t block)
{
	const struct program *p = &w->lint->program;
	const struct program_inst *inst = &p->insts[i];
	uint32_t count;
	const struct call_edge *edges = callgraph_at(&w->lint->calls, i, &count);

	for (uint32_t e = 0; e < count; e++) {
		const struct flow_summary *s = &w->summaries[edges[e].callee];

		for (uint32_t n = 0; n < s->uses.count; n++) {
			struct flow_param_use u = s->uses.at[n];
			uint32_t v = program_operand(p, inst, u.parameter);

			if (u.parameter >= program_argument_count(inst))
				continue;
			if (!u.use.region)
				u.use.region = flow_region(w->lint, u.use.via);
			u.use.via = i;
			use_value(w, v, u.use, u.plane);
			use_content(w, v, u.use, u.plane);
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
