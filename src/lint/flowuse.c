/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What values are used for: each access in a shared set depends on some, by what
 * is stored, by its address, or because it happens at all. A use of a value that
 * was read here is an edge if a region ends in between; a use of a parameter is
 * noted for callers.
 */
#include "lint/flowwork.h"
#include "lint/view.h"

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

	flowguard_prepare(w);
	w->source_region = mem_alloc((w->sources.count + 1) * sizeof(*w->source_region));
	w->via_region = mem_alloc((w->sources.count + 1) * sizeof(*w->via_region));
	w->ways = mem_zalloc(w->sources.count + 1, sizeof(*w->ways));
	w->may_edge = mem_zalloc(w->words + 1, sizeof(*w->may_edge));
	w->joined = mem_zalloc(w->words * 2 + 1, sizeof(*w->joined));
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
		map_set(&w->inside, inside_key(w, &s->inside.at[i].use), 1);
	for (uint32_t i = 0; i < s->uses.count; i++)
		map_set(&w->uses,
			param_key(w, s->uses.at[i].parameter, &s->uses.at[i].use, s->uses.at[i].plane), 1);
}

static uint32_t outer_region(const struct flow_work *w, const struct flow_use *use)
{
	return use->region ? use->region : flow_region(w->lint, use->via);
}

static void add_param_use(struct flow_work *w, uint32_t parameter, struct flow_use use, int plane)
{
	struct flow_summary *s = &w->summaries[w->function];
	uint64_t key = param_key(w, parameter, &use, plane);

	if (map_get(&w->uses, key))
		return;
	if (s->uses.count >= MOST_USES) {
		s->cut = true;
		return;
	}
	vec_push(&s->uses, (struct flow_param_use){use, outer_region(w, &use), parameter, (uint8_t)plane});
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
				w->summaries[w->function].cut = true;
				return;
			}
			u.compared |= here && is_compared(w, s);
			if (s < w->params)
				add_param_use(w, s, u, plane);
			else
				flowedge_add(w, s, u, plane);
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

/* The same of what is handed to a function, as far as it reads that. */
static void use_handed(struct flow_work *w, uint32_t pointer, const struct flow_reads *reads,
		       struct flow_use use, int plane)
{
	uint32_t base;
	int64_t at;

	if (!reads || reads->anything) {
		use_content(w, pointer, use, plane);
		return;
	}
	if (!flowset_is_private(w, pointer))
		return;
	base = flowset_base(&w->lint->program, pointer, &at);
	for (uint32_t i = 0; i < reads->count; i++)
		use_set(w, flowset_peek(w, flowset_memory(base, at + reads->at[i])), use, plane);
	if (reads->count)
		use_set(w, flowset_peek(w, flowset_memory(base, SOMEWHERE)), use, plane);
}

static void use_control(struct flow_work *w, const uint64_t *set, struct flow_use use)
{
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
		s->cut = true;
		return;
	}
	vec_push(&s->inside, (struct flow_inside){use, outer_region(w, &use)});
	map_set(&w->inside, key, 1);
}

void flowuse_access(struct flow_work *w, uint32_t number, uint32_t block)
{
	const struct program *p = &w->lint->program;
	const struct access *a = &w->lint->accesses.at.at[number];
	const struct program_inst *inst = &p->insts[a->inst];
	struct flow_use use = {.access = number, .via = a->inst, .kind = USE_ADDRESSES};

	flowguard_find(w, a->inst, block, &use);
	struct flow_use plain = use;

	if (inst->op == PROGRAM_UPDATE && inst->sub == SUB_EQUAL) {
		if (use.guard_count < FLOW_GUARDS)
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
	use_control(w, w->control + (size_t)block * w->words * PLANES, use);
}

/* What of a set a use could be noted for: parameters, for callers, and sources, for an edge from here. */
struct interest {
	bool asked, params, sources;
};

static void look_at(const struct flow_work *w, const uint64_t *set, struct interest *interest)
{
	for (uint32_t i = 0; set && i < w->words; i++) {
		uint64_t any = set[i] | set[w->words + i] | set[2 * w->words + i];
		uint64_t below = w->params >= (i + 1) * 64 ? UINT64_MAX
				 : w->params > i * 64      ? (1ull << (w->params - i * 64)) - 1
							   : 0;

		interest->params |= (any & below) != 0;
		interest->sources |= (any & ~below & w->may_edge[i]) != 0;
	}
}
_Static_assert(PLANES == 3, "all planes are looked at");

/* Would anything come of a use of it in a region, or in none? */
static bool is_worth_it(struct flow_work *w, const struct interest *interest, bool in_region)
{
	struct flow_summary *s = &w->summaries[w->function];

	w->lint->effort->steps[EFFORT_FLOWS]++;
	if (interest->params && s->uses.count < MOST_USES)
		return true;
	s->cut |= interest->params;
	return interest->sources && in_region;
}

/* What the function that is called does with what it gets. */
static void use_arguments(struct flow_work *w, uint32_t i, const struct flow_summary *s,
			  struct interest *known)
{
	const struct program *p = &w->lint->program;
	const struct program_inst *inst = &p->insts[i];
	uint32_t here = flow_region(w->lint, i);

	for (uint32_t n = 0; n < s->uses.count; n++) {
		const struct flow_param_use *u = &s->uses.at[n];
		struct interest *interest = &known[u->parameter];
		uint32_t v = program_operand(p, inst, u->parameter);
		int64_t at;

		if (u->parameter >= program_argument_count(inst))
			continue;
		if (!interest->asked) {
			interest->asked = true;
			look_at(w, flowset_of(w, v), interest);
			if (flowset_is_private(w, v))
				look_at(w, flowset_peek(w, flowset_memory(flowset_base(p, v, &at), ALL)),
					interest);
		}
		if (!is_worth_it(w, interest, here || u->outer))
			continue;
		struct flow_use use = u->use;
		uint8_t plane = u->plane;
		uint32_t parameter = u->parameter;

		/* If the function calls itself, its uses may move from here on. */
		use.region = u->outer;
		use.via = i;
		use_value(w, v, use, plane);
		use_handed(w, v, s->has_reads && parameter < FLOW_READS_PARAMS ? &s->reads[parameter] : NULL,
			   use, plane);
	}
}

/* What is accessed there at all: because of what decides about the call, and for our callers. */
static void use_inside(struct flow_work *w, uint32_t i, uint32_t callee, const uint64_t *set,
		       const struct interest *control)
{
	const struct flow_summary *s = &w->summaries[callee];
	struct flow_summary *own = &w->summaries[w->function];
	uint32_t here = flow_region(w->lint, i);
	/* What it has does not change while we are at it, unless it is us. */
	bool merged = callee != w->function && map_get(&w->merged, callee);

	if (!s->inside.count)
		return;
	own->cut |= own->inside.count >= MOST_USES || (control->params && own->uses.count >= MOST_USES);
	if ((merged || own->inside.count >= MOST_USES) && !control->sources &&
	    (!control->params || own->uses.count >= MOST_USES))
		return;
	for (uint32_t n = 0; n < s->inside.count; n++) {
		struct flow_use use = s->inside.at[n].use;

		use.region = s->inside.at[n].outer;
		use.via = i;
		if (is_worth_it(w, control, here || use.region))
			use_control(w, set, use);
		if (own->inside.count >= MOST_USES)
			own->cut = true;
		else if (!merged)
			add_inside(w, use);
	}
	if (!merged)
		map_set(&w->merged, callee, 1);
}

void flowuse_call(struct flow_work *w, uint32_t i, uint32_t block)
{
	uint32_t count;
	const struct call_edge *edges = callgraph_at(&w->lint->calls, i, &count);
	struct interest arguments[64] = {0}, control = {0};
	const uint64_t *set = NULL;

	for (uint32_t e = 0; e < count; e++) {
		use_arguments(w, i, &w->summaries[edges[e].callee], arguments);
		if (!set && w->summaries[edges[e].callee].inside.count) {
			set = flowways_control(w, block, w->lint->program.insts[i].callee);
			look_at(w, set, &control);
		}
		use_inside(w, i, edges[e].callee, set, &control);
	}
}
