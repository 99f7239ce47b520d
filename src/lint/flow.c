/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/flow.h"

#include "lint/flowwork.h"

/* ---- regions ---- */

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

bool flow_same_or_callers(const struct lint *lint, uint32_t a, uint32_t b)
{
	uint32_t always = lint->contexts.always[program_function_of(&lint->program, a)];

	if (flow_same_regions(lint, a, b))
		return true;
	/* Nothing was taken or given up since the call, or the same before both. */
	return lint->regions.state[a] == lint->regions.state[b] && always != UINT32_MAX &&
	       lint->contexts.locksets.at[always].count;
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

static void add_source(struct flow_work *w, struct flow_source source)
{
	if (flowset_symbols(w) >= MOST_SYMBOLS) {
		w->summaries[w->function].cut = true;
		return;
	}
	if (!map_get(&w->from_inst, source.via))
		map_set(&w->from_inst, source.via, flowset_symbols(w) + 1);
	vec_push(&w->sources, source);
}

static void find_symbols(struct flow_work *w)
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
				const struct flow_summary *s = &w->summaries[edges[e].callee];

				for (uint32_t n = 0; n < s->results.count; n++) {
					struct flow_source source = s->results.at[n].source;

					/* What its function held is over now, what we hold is not. */
					if (!source.region)
						source.region = flow_region(w->lint, source.via);
					/* Unless it goes on: then it is the one that begins for us here. */
					if (w->lint->regions.regions.at[source.region].is_left &&
					    w->lint->regions.by_inst[i])
						source.region = w->lint->regions.by_inst[i];
					source.via = i;
					add_source(w, source);
				}
			}
		}
	}
}

/* ---- summaries ---- */

/* One of the same variable, read in the same region; its number + 1, or 0 and where it belongs. */
static uint32_t find_result(const struct flow_work *w, const struct flow_source *source, uint32_t via_region,
			    int out, uint64_t *key)
{
	const struct flow_summary *s = &w->summaries[w->function];
	const struct lint *lint = w->lint;
	uint32_t variable = lint->accesses.at.at[source->access].variable, found;

	*key = map_hash(map_hash((uint64_t)variable << 32 | source->region) ^ via_region) +
	       (uint64_t)(out + 2);
	for (; (found = map_get(&w->results, *key)); ++*key) {
		const struct flow_carried *c = &s->results.at[found - 1];

		if (c->out == out && c->source.region == source->region &&
		    lint->accesses.at.at[c->source.access].variable == variable &&
		    flow_region(lint, c->source.via) == via_region)
			break;
	}
	return found;
}

static void add_result(struct flow_work *w, const uint64_t *set, int plane, int out, int64_t at)
{
	struct flow_summary *s = &w->summaries[w->function];

	for (uint32_t i = 0; i < w->words; i++)
		for (uint64_t bits = set[i]; bits; bits &= bits - 1) {
			uint32_t n = i * 64 + (uint32_t)__builtin_ctzll(bits), known;
			uint64_t key;

			if (n < w->params) {
				if (out == RETURNED && n < 64)
					*(plane == DATA ? &s->to_result_data : &s->to_result_control) |= 1ull
													 << n;
				continue;
			}
			const struct flow_source *source = &w->sources.at[n - w->params];

			if ((known = find_result(w, source, w->via_region[n - w->params], out, &key))) {
				if (plane < s->results.at[known - 1].plane)
					s->results.at[known - 1].plane = (uint8_t)plane;
				if (at != s->results.at[known - 1].at)
					s->results.at[known - 1].at = SOMEWHERE;
				continue;
			}
			if (s->results.count >= MOST_RESULTS) {
				s->cut = true;
				continue;
			}
			vec_push(&s->results,
				 (struct flow_carried){*source, (uint8_t)plane, (int8_t)out, at});
			map_set(&w->results, key, s->results.count);
		}
}

static uint32_t base_of(uint64_t memory)
{
	return (uint32_t)(memory >> 24 & 0xffffffff);
}

static int64_t place_of(uint64_t memory)
{
	return (int32_t)((uint32_t)memory << 8) >> 8;
}

/* What is handed out through pointers that the function got. */
static void hand_out(struct flow_work *w)
{
	const struct program_function *f = &w->lint->program.functions[w->function];
	VEC(struct map_slot) places = {0};

	for (uint64_t i = 0; i <= w->slots.mask && w->slots.slots; i++) {
		const struct map_slot *m = &w->slots.slots[i];

		/* What is somewhere is in all of it as well. */
		if (m->value && m->key >> 63 && place_of(m->key) != ALL &&
		    base_of(m->key) - f->parameter < f->parameter_count)
			vec_push(&places, *m);
	}
	for (uint32_t n = 0; places.count && n < f->parameter_count && n < 64; n++)
		for (uint32_t i = 0; i < places.count; i++) {
			const uint64_t *set = w->sets + (size_t)(places.at[i].value - 1) * w->words * PLANES;

			for (int plane = 0; base_of(places.at[i].key) == f->parameter + n && plane < PLANES;
			     plane++)
				add_result(w, set + plane * w->words, plane, (int)n,
					   place_of(places.at[i].key));
		}
	vec_free(&places);
}

static void summarise(struct flow_work *w)
{
	const struct program *p = &w->lint->program;
	const struct flow_summary *s = &w->summaries[w->function];

	for (uint32_t i = 0; i < s->results.count; i++) {
		const struct flow_carried *c = &s->results.at[i];
		uint64_t key;

		find_result(w, &c->source, flow_region(w->lint, c->source.via), c->out, &key);
		map_set(&w->results, key, i + 1);
	}

	for (uint32_t n = 0; n < w->cfg->order_count; n++) {
		const struct program_block *block = &p->blocks[w->block + w->cfg->order[n]];
		const struct program_inst *end = &p->insts[block->inst + block->inst_count - 1];
		const uint64_t *set = end->op == PROGRAM_RETURN && end->operand_count
					      ? flowset_of(w, program_operand(p, end, 0))
					      : NULL;

		if (!set)
			continue;
		for (int plane = 0; plane < PLANES; plane++) {
			add_result(w, set + plane * w->words, plane, RETURNED, 0);
			/* Which return it is. */
			add_result(w, w->control + ((size_t)w->cfg->order[n] * PLANES + plane) * w->words,
				   plane == DATA ? CONTROL : plane, RETURNED, 0);
		}
	}
	add_result(w, w->waited, CONTROL, WAITED_FOR, 0);
	hand_out(w);
}

static bool worth_it(struct flow_work *w)
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

static void plain_summary(struct flow_work *w)
{
	/* Nothing shared in it: its result depends on its arguments. */
	w->summaries[w->function].to_result_data = UINT64_MAX;
}

static void analyse(struct lint *lint, struct flow_summary *summaries, uint32_t function)
{
	const struct program *p = &lint->program;
	struct flow_work w = {.lint = lint,
			      .flows = lint->flows,
			      .summaries = summaries,
			      .function = function,
			      .block = p->functions[function].block,
			      .cfg = &lint->cfgs[function]};

	w.params = p->functions[function].parameter_count;
	if (w.params > 64)
		w.params = 64;
	flowreads_find(&w);
	find_symbols(&w);
	if (worth_it(&w)) {
		w.words = (flowset_symbols(&w) + 64) / 64;
		w.control = mem_zalloc((size_t)w.cfg->count * w.words * PLANES + 1, sizeof(*w.control));
		w.waited = mem_zalloc(w.words, sizeof(*w.waited));
		w.temporary = mem_zalloc(w.words * PLANES + 1, sizeof(*w.temporary));
		flowspread_all(&w);
		flowuse_prepare(&w);
		for (uint32_t n = 0; n < w.cfg->order_count; n++) {
			uint32_t b = w.cfg->order[n];
			const struct program_block *block = &p->blocks[w.block + b];

			for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
				uint32_t count;
				const struct access *a = access_at(lint, i, &count);

				for (uint32_t k = 0; k < count; k++)
					if (is_use(lint, &a[k]))
						flowuse_access(&w, (uint32_t)(&a[k] - lint->accesses.at.at),
							       b);
				if (lint->calls.by_inst[i])
					flowuse_call(&w, i, b);
				flowjoint_at(&w, i);
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
	free(w.source_region);
	free(w.via_region);
	free(w.ways);
	free(w.may_edge);
	free(w.may_joint);
	free(w.joined);
	map_release(&w.inside);
	map_release(&w.merged);
	map_release(&w.uses);
	map_release(&w.results);
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
	struct flow_summary *summaries = mem_zalloc(lint->program.functions_count, sizeof(*summaries));
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
		lint->flows->cut += summaries[f].cut;
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
