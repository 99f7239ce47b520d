/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/values.h"

#include <inttypes.h>
#include <stdlib.h>

/* A longer run has as many accesses with values, and the rest has none. */
#define VALUES_MOST (1u << 24)
/* What is further from 0 is more of a pointer or a pattern than a number. */
#define LARGEST_NUMBER (1ll << 40)

void values_event(struct values *values, const struct trace_event *event, uint64_t time)
{
	uint64_t key = event->address << 4 | event->value;
	int64_t value;
	uint32_t before;

	if (!trace_event_found(event, &value) || values->count == VALUES_MOST)
		return;
	if (values->count == values->room) {
		values->room = values->room ? values->room * 2 : 1024;
		values->found = mem_resize(values->found, values->room, sizeof(*values->found));
	}
	values->found[values->count++] =
		(struct value_found){.time = time, .value = value, .size = (uint8_t)event->value};
	before = map_get(&values->latest, key);
	if (before)
		values->found[before - 1].next = values->count;
	map_set(&values->latest, key, values->count);
}

void values_want(struct values *values, struct finding_access *access, uint64_t time)
{
	if (!values->count)
		return;
	if (values->wanted_count == values->wanted_room) {
		values->wanted_room = values->wanted_room ? values->wanted_room * 2 : 64;
		values->wanted = mem_resize(values->wanted, values->wanted_room, sizeof(*values->wanted));
	}
	values->wanted[values->wanted_count++] = (struct value_wanted){.access = access, .time = time};
}

static const struct value_found *find(const struct values *values, uint64_t time)
{
	uint32_t low = 0, high = values->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (values->found[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low < values->count && values->found[low].time == time ? &values->found[low] : NULL;
}

static const char *number(struct finding_list *list, int64_t value)
{
	if (value > LARGEST_NUMBER || value < -LARGEST_NUMBER)
		return finding_textf(list, "0x%" PRIx64, (uint64_t)value);
	return finding_textf(list, "%" PRId64, value);
}

void values_tell(struct values *values, struct finding_list *list)
{
	for (uint32_t i = 0; i < values->wanted_count; i++) {
		struct finding_access *access = values->wanted[i].access;
		const struct value_found *found = find(values, values->wanted[i].time), *after = NULL;

		if (!found)
			continue;
		if (found->next)
			after = &values->found[found->next - 1];
		if (access->op == 'R')
			access->value = number(list, found->value);
		else if (after && access->op == 'W')
			access->value = number(list, after->value);
		else if (after)
			access->value = finding_textf(list, "%s to %s", number(list, found->value),
						      number(list, after->value));
	}
	values->wanted_count = 0;
}

void values_release(struct values *values)
{
	free(values->found);
	free(values->wanted);
	map_release(&values->latest);
}
