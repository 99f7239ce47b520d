/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/rank.h"

#include "base/err.h"

#include <stdlib.h>

struct item {
	uint32_t prediction;
	uint32_t group, place; /* numbers in the order of their first predictions */
	uint32_t turn;         /* of its place; later of its group */
	bool seen, disturber;
	uint32_t looks;  /* how often anybody came to the variable after who comes in between */
	uint32_t behind; /* and how often after the first access of the pattern */
	uint32_t moved;  /* events between the accesses that change places */
	uint8_t weight;  /* what moves who comes in between does; see weigh() */
};

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = compare(x->seen, y->seen);

	order = order ? order : compare(x->place, y->place);
	return order ? order : compare(x->prediction, y->prediction);
}

/* What has little weight is passed over every other time. */
static uint32_t round_of(const struct item *item)
{
	return item->weight < 2 ? item->turn * 2 : item->turn;
}

static int by_turn_of_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = compare(x->seen, y->seen);

	order = order ? order : compare(x->group, y->group);
	order = order ? order : compare(round_of(x), round_of(y));
	order = order ? order : compare(y->weight, x->weight);
	return order ? order : compare(x->place, y->place);
}

static int by_turn_of_group(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = compare(x->seen, y->seen);

	order = order ? order : compare(x->turn, y->turn);
	return order ? order : compare(x->group, y->group);
}

static void swap_ends(struct item *items, uint32_t n)
{
	uint32_t turn = items[0].turn;

	items[0].turn = items[n - 1].turn;
	items[n - 1].turn = turn;
}

/*
 * Gives each of n items in a row its turn: the first, the last, then the middle
 * of the longest stretches that are left. Every other place begins with the last.
 */
static void spread(struct item *items, uint32_t n)
{
	struct stretch {
		uint32_t low, high; /* both have their turn */
	} *queue = mem_alloc((n + 1ull) * sizeof(*queue));
	uint32_t turn = 0, first = 0, count = 0;

	items[0].turn = turn++;
	if (n > 1) {
		items[n - 1].turn = turn++;
		queue[count++] = (struct stretch){0, n - 1};
	}
	while (first < count) {
		struct stretch s = queue[first++];
		uint32_t middle = s.low + (s.high - s.low) / 2;

		if (middle == s.low)
			continue;
		items[middle].turn = turn++;
		/* Each item splits one stretch, so there are never more than items. */
		if (middle - s.low > 1)
			queue[count++] = (struct stretch){s.low, middle};
		if (s.high - middle > 1)
			queue[count++] = (struct stretch){middle, s.high};
	}
	BUG_ON(turn != n);
	if (!(items[0].place & 1))
		swap_ends(items, n);
	free(queue);
}

static int by_looks(const void *a, const void *b)
{
	const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
	int order = compare(x->looks, y->looks);

	order = order ? order : compare(x->behind, y->behind);
	return order ? order : compare(x->turn, y->turn);
}

static int by_move(const void *a, const void *b)
{
	const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
	int order = compare(y->moved, x->moved);

	return order ? order : compare(x->turn, y->turn);
}

static int by_turn(const void *a, const void *b)
{
	const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;

	return compare(x->turn, y->turn);
}

/*
 * Gives the turns of a place to those that stand out in one way or another, for
 * nobody knows which will break the program:
 *
 *   - what is looked at least afterwards: units that come to the variable
 *     later may mend what was broken;
 *   - what is moved farthest: the more there was between the two, the
 *     more went by the order that they had. Measured over the corpus, it is
 *     the likeliest to fail, so every other turn is for this;
 *   - what is farthest from the others (spread).
 *
 * The first run, one thread after the other, begins with the first kind, which is
 * where loops and limits end; others, in which threads met by chance, with the
 * second.
 */
static void mix_kinds(struct item *items, uint32_t n, uint32_t round)
{
	enum { LOOKS, SPREAD, MOVED, KINDS };
	static const uint8_t kinds[] = {LOOKS, SPREAD, MOVED, MOVED};
	struct item **orders[KINDS], **all = mem_alloc((KINDS * (uint64_t)n + 1) * sizeof(*all));
	uint32_t at[KINDS] = {0}, skip = round ? 2 : 0;

	for (unsigned k = 0; k < KINDS; k++) {
		orders[k] = all + k * (uint64_t)n;
		for (uint32_t i = 0; i < n; i++)
			orders[k][i] = &items[i];
	}
	qsort(orders[LOOKS], n, sizeof(*all), by_looks);
	qsort(orders[SPREAD], n, sizeof(*all), by_turn);
	qsort(orders[MOVED], n, sizeof(*all), by_move);
	for (uint32_t i = 0; i < n; i++)
		items[i].turn = UINT32_MAX;
	for (uint32_t turn = 0; turn < n; turn++) {
		unsigned k = kinds[(turn + skip) % 4];

		while (orders[k][at[k]]->turn != UINT32_MAX)
			at[k]++;
		orders[k][at[k]]->turn = turn;
	}
	free(all);
}

/* A group keeps one even if another has the same: it is what the group has to show. */
static uint64_t key_of(const struct prediction *p, const struct item *item)
{
	uint64_t key = predict_mix(item->group, item->disturber);

	for (uint32_t i = 0; i < p->goal.count; i++)
		key = predict_mix(key, (uint64_t)p->goal.threads[i] << 32 | p->goal.targets[i]);
	for (uint32_t i = 0; i < p->goal.edge_count; i++)
		key = predict_mix(key, (uint64_t)p->goal.edges[i].before << 32 | p->goal.edges[i].after);
	return key;
}

static uint32_t number_of(struct map *numbers, uint64_t key)
{
	uint32_t number = map_get(numbers, key);

	if (!number) {
		number = (uint32_t)numbers->count + 1;
		map_set(numbers, key, number);
	}
	return number;
}

/*
 * Nobody can tell whether the pattern happened: who comes in between leaves what
 * was there before, or what will be there in the end; or it reads what it
 * would have read anyway.
 */
static bool is_silent(const struct history *h, const struct prediction *p)
{
	uint32_t e1, f, e2;

	if (p->kind != PREDICT_SINGLE || p->accesses[2] >= h->count)
		return false;
	e1 = h->events[p->accesses[0]].value;
	f = h->events[p->accesses[1]].value;
	e2 = h->events[p->accesses[2]].value;
	if (h->events[p->accesses[1]].kind == HISTORY_READ)
		return e1 && e1 == e2;
	return f && f == (h->events[p->accesses[2]].kind == HISTORY_WRITE ? e2 : e1);
}

/* By variable: the first and the last event that wrote it, plus one. */
struct writes {
	uint32_t first, last;
};

/*
 * Which of the two was first in the observed run, and which of all writes it
 * was, is a difference like that of places. Who came second and is made to come
 * in between is overwritten: what others saw from then on was its doing, and no
 * longer is. If it was the last to write, nobody comes after it to mend that.
 * The first to write changes what was there from the beginning, where those
 * after it may write the same once more.
 */
static uint8_t weigh(const struct history *h, const struct prediction *p, const struct writes *writes)
{
	const struct writes *w = &writes[p->variables[1]];
	bool second = p->accesses[1] > p->accesses[0];

	if (is_silent(h, p))
		return 0;
	if (second && w->last == p->accesses[1] + 1)
		return 3;
	return w->first == p->accesses[1] + 1 ? 2 : second;
}

static struct writes *find_writes(const struct history *h)
{
	struct writes *writes = mem_zalloc(h->variable_count + 1ull, sizeof(*writes));

	for (uint32_t i = 0; i < h->count; i++) {
		struct writes *w = &writes[h->events[i].object];

		if (h->events[i].kind != HISTORY_WRITE)
			continue;
		if (!w->first)
			w->first = i + 1;
		w->last = i + 1;
	}
	return writes;
}

/* By event: how many accesses to the same variable come after it. */
static uint32_t *count_later(const struct history *h)
{
	uint32_t *later = mem_zalloc(h->count + 1ull, sizeof(*later));
	uint32_t *seen = mem_zalloc(h->variable_count + 1ull, sizeof(*seen));

	for (uint32_t i = h->count; i-- > 0;)
		if (history_is_access(&h->events[i]))
			later[i] = seen[history_variable_root(h, h->events[i].object)]++;
	free(seen);
	return later;
}

/*
 * How often the variable is accessed behind the pattern. Up to the first of its
 * accesses a schedule goes as the run did; whatever came after that, between them
 * or not, comes after all of them.
 */
static uint32_t behind_of(const struct prediction *p, const uint32_t *later)
{
	uint32_t first = p->accesses[1];

	for (uint32_t i = 0; i < p->access_count; i++)
		if (p->variables[i] == p->variables[1] && p->accesses[i] < first)
			first = p->accesses[i];
	return later[first];
}

static uint32_t moved_by(const struct prediction *p)
{
	uint32_t e = p->accesses[0], f = p->accesses[1];

	return e > f ? e - f : f - e;
}

static uint64_t place_of(const struct prediction *p, uint32_t group, uint8_t weight)
{
	return predict_mix(predict_mix(p->places, group), weight);
}

/* Turns of places become turns of groups; what has the same cut-points as one before is left out. */
static uint32_t take_turns(const struct predict *p, struct item *items, uint32_t count)
{
	struct map made = {0};
	uint32_t kept = 0, turn = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = key_of(&p->predictions[items[i].prediction], &items[i]);

		if (map_get(&made, key))
			continue;
		map_set(&made, key, 1);
		if (!kept || items[kept - 1].group != items[i].group || items[kept - 1].seen != items[i].seen)
			turn = 0;
		items[kept] = items[i];
		items[kept++].turn = turn++;
	}
	map_release(&made);
	return kept;
}

static struct rank_turn turn_of(const struct predict *p, const struct item *item)
{
	const struct prediction *it = &p->predictions[item->prediction];

	return (struct rank_turn){.prediction = item->prediction,
				  .sort = (uint32_t)predict_mix(it->places, it->late),
				  .weight = item->weight,
				  .moved = (uint8_t)(item->moved * 100ull / (p->history->count + 1ull)),
				  .disturber = item->disturber};
}

void ranking_make(struct ranking *r, const struct predict *p, const uint32_t *groups, bool both,
		  uint32_t round)
{
	struct item *items = mem_zalloc(2ull * p->count + 1, sizeof(*items));
	struct writes *writes = find_writes(p->history);
	uint32_t *later = count_later(p->history);
	struct map places = {0}, numbers = {0};
	uint32_t count = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		const struct prediction *it = &p->predictions[i];
		uint8_t weight = weigh(p->history, it, writes);

		if (groups[i] != RANK_LEFT_OUT)
			items[count++] =
				(struct item){.prediction = i,
					      .group = number_of(&numbers, groups[i] + 1ull),
					      .place = number_of(&places, place_of(it, groups[i], weight)),
					      .weight = weight,
					      .looks = later[it->accesses[1]],
					      .behind = behind_of(it, later),
					      .moved = moved_by(it),
					      .seen = it->seen};
	}
	free(writes);
	free(later);
	qsort(items, count, sizeof(*items), by_place);
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1;
		     end < count && items[end].place == items[i].place && items[end].seen == items[i].seen;)
			end++;
		spread(items + i, end - i);
		mix_kinds(items + i, end - i, round);
		for (uint32_t k = i; k < end; k++) {
			items[k].disturber = items[k].turn & 1;
			items[count + k] = items[k];
			items[count + k].disturber = !items[k].disturber;
			items[count + k].turn += end - i;
		}
	}
	if (both)
		count *= 2;
	qsort(items, count, sizeof(*items), by_turn_of_place);
	count = take_turns(p, items, count);
	qsort(items, count, sizeof(*items), by_turn_of_group);
	r->turns = mem_alloc((count + 1ull) * sizeof(*r->turns));
	r->count = count;
	for (uint32_t i = 0; i < count; i++)
		r->turns[i] = turn_of(p, &items[i]);
	map_release(&places);
	map_release(&numbers);
	free(items);
}

void ranking_release(struct ranking *r)
{
	free(r->turns);
	*r = (struct ranking){0};
}
