/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/flowwork.h"

#include <string.h>

static uint64_t *slot(struct flow_work *w, uint64_t key)
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

uint64_t *flowset_peek(struct flow_work *w, uint64_t key)
{
	uint32_t n = map_get(&w->slots, key);

	return n ? w->sets + (size_t)(n - 1) * w->words * PLANES : NULL;
}

bool flowset_join(uint64_t *into, const uint64_t *from, uint32_t words)
{
	uint64_t news = 0;

	for (uint32_t i = 0; i < words; i++) {
		news |= from[i] & ~into[i];
		into[i] |= from[i];
	}
	return news != 0;
}

void flowset_add(struct flow_work *w, uint64_t to, const uint64_t *from, int as)
{
	uint64_t copy[PLANES * (MOST_SYMBOLS / 64 + 2)];

	if (!from)
		return;
	/* The slot may move what `from` points to. */
	memcpy(copy, from, w->words * PLANES * sizeof(*copy));
	uint64_t *into = slot(w, to);

	for (int plane = 0; plane < PLANES; plane++)
		w->changed |= flowset_join(into + (plane > as ? plane : as) * w->words,
					   copy + plane * w->words, w->words);
}

void flowset_add_symbol(struct flow_work *w, uint64_t to, uint32_t symbol, int plane)
{
	uint64_t *into = slot(w, to) + plane * w->words;
	uint64_t bit = 1ull << (symbol % 64);

	w->changed |= !(into[symbol / 64] & bit);
	into[symbol / 64] |= bit;
}

/* ---- memory that no other thread reaches ---- */

uint64_t flowset_memory(uint32_t base, int64_t at)
{
	return 1ull << 63 | (uint64_t)base << 24 | ((uint64_t)at & 0xffffff);
}

uint32_t flowset_base(const struct program *p, uint32_t value, int64_t *at)
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

bool flowset_is_private(struct flow_work *w, uint32_t pointer)
{
	const struct program *p = &w->lint->program;
	uint32_t node = pointsto_cell(&w->lint->pt, pointer).node, maker;
	const struct known *known;
	int64_t at;

	if (node && !access_node_shared(w->lint, node))
		return true;
	maker = program_maker(p, flowset_base(p, pointer, &at));
	known = maker ? pointsto_known(&w->lint->pt, &p->insts[maker]) : NULL;
	return maker && (p->insts[maker].op == PROGRAM_ALLOCA || (known && known->kind == KNOWN_ALLOCATE));
}

static bool is_local(const struct program *p, uint32_t base)
{
	uint32_t maker = program_maker(p, base);

	return maker && p->insts[maker].op == PROGRAM_ALLOCA;
}

uint32_t flowset_stored(const struct program *p, uint32_t load)
{
	const struct program_inst *inst = &p->insts[load];
	uint32_t first = p->blocks[inst->block].inst, base, other;
	int64_t at, there;

	base = flowset_base(p, program_operand(p, inst, 0), &at);
	if (!is_local(p, base))
		return 0;
	for (uint32_t i = load; i-- > first;) {
		const struct program_inst *before = &p->insts[i];

		switch ((enum program_op)before->op) {
		case PROGRAM_STORE:
			other = flowset_base(p, program_operand(p, before, 1), &there);
			if (other == base && there == at && before->size == inst->size)
				return program_operand(p, before, 0);
			if (other == base || !is_local(p, other))
				return 0;
			break;
		case PROGRAM_CALL:
		case PROGRAM_UPDATE:
		case PROGRAM_MOVE:
		case PROGRAM_FILL:
			return 0;
		default:
			break;
		}
	}
	return 0;
}
