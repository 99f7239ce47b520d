/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The order of locks and gates: an edge leads from what a thread has to what it
 * takes while it has it. Two threads that take things in different orders can
 * come to wait for each other, so a gate is not waited for by a thread from
 * whose things the gate can be reached the other way round. The program's own
 * locks are waited for in any case; that is the program's business.
 *
 * Edges are bits. One is taken away where a section turns out to need a lock at
 * its end: from then on it takes the lock's gate first (heal_section.c). What is missing, because it has not
 * happened yet, is found by the circle while waiting (heal_circle.c).
 */
#include "rt/heal_gate.h"

enum { WORDS = HEAL_WORDS };
uint64_t heal_edges[HEAL_NODES][WORDS];
/* Which of a node's words have bits, so that walking need not look at all. */
static uint64_t used[HEAL_NODES];
_Static_assert(WORDS <= 64, "one bit for each word");

void heal_order_add(uint32_t from, uint32_t to)
{
	if (from == to || heal_order_has(from, to))
		return;
	__atomic_fetch_or(&heal_edges[from][to / 64], 1ull << to % 64, __ATOMIC_RELAXED);
	__atomic_fetch_or(&used[from], 1ull << to / 64, __ATOMIC_RELEASE);
}

void heal_order_remove(uint32_t from, uint32_t to)
{
	__atomic_fetch_and(&heal_edges[from][to / 64], ~(1ull << to % 64), __ATOMIC_RELAXED);
}

void heal_order_taken(uint32_t node)
{
	const struct heal_thread *me = &heal_self;

	for (uint32_t i = 0; i < me->held_count; i++)
		heal_order_add(heal_lock_node(me->held[i].object), node);
	for (uint32_t i = 0; i < me->open_count; i++)
		for (uint32_t j = 0; j < me->open[i].gates; j++)
			heal_order_add(me->open[i].nodes[j], node);
}

static bool has(uint32_t node)
{
	const struct heal_thread *me = &heal_self;

	for (uint32_t i = 0; i < me->held_count; i++)
		if (heal_lock_node(me->held[i].object) == node)
			return true;
	for (uint32_t i = 0; i < me->open_count; i++)
		for (uint32_t j = 0; j < me->open[i].gates; j++)
			if (me->open[i].nodes[j] == node)
				return true;
	return false;
}

bool heal_order_forbids(uint32_t node)
{
	enum { MOST = 256 };
	uint64_t seen[WORDS];
	uint16_t stack[MOST];
	uint32_t depth = 0;

	if (!heal_self.held_count && !heal_self.open_count)
		return false;
	for (unsigned i = 0; i < WORDS; i++)
		seen[i] = 0;
	stack[depth++] = (uint16_t)node;
	while (depth) {
		uint32_t at = stack[--depth];
		uint64_t words = __atomic_load_n(&used[at], __ATOMIC_ACQUIRE);

		for (; words; words &= words - 1) {
			unsigned word = (unsigned)__builtin_ctzll(words);
			uint64_t bits =
				__atomic_load_n(&heal_edges[at][word], __ATOMIC_RELAXED) & ~seen[word];

			seen[word] |= bits;
			for (; bits; bits &= bits - 1) {
				uint32_t next = word * 64 + (unsigned)__builtin_ctzll(bits);

				/* What the thread takes again behind this one is its own already. */
				if (next != node && has(next))
					return true;
				if (depth < MOST)
					stack[depth++] = (uint16_t)next;
			}
		}
	}
	return false;
}
