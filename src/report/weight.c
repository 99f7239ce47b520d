/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What comes first where only some findings have room. */
#include "base/err.h"
#include "report/sarif.h"

#include <stdlib.h>

const char *report_level(const struct finding *finding)
{
	switch (finding->state) {
	case FINDING_OBSERVED:
	case FINDING_REPRODUCED:
		return "error";
	case FINDING_PREDICTED:
		return "warning";
	case FINDING_SUSPECTED:
	case FINDING_HEALED:
	case FINDING_STATE_COUNT:
		break;
	}
	return "note";
}

struct weighed {
	uint32_t index;
	int weight;
	double confidence;
};

static int compare(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return y->weight - x->weight;
	if (x->confidence < y->confidence || x->confidence > y->confidence)
		return x->confidence < y->confidence ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

uint32_t *report_by_weight(const struct finding_list *list)
{
	static const int weights[] = {[FINDING_HEALED] = 0,
				      [FINDING_SUSPECTED] = 1,
				      [FINDING_PREDICTED] = 2,
				      [FINDING_OBSERVED] = 3,
				      [FINDING_REPRODUCED] = 4};
	uint32_t count = list->finding_count;
	struct weighed *order = mem_zalloc(count + 1, sizeof(*order));
	uint32_t *indices = mem_zalloc(count + 1, sizeof(*indices));

	for (uint32_t i = 0; i < count; i++)
		order[i] =
			(struct weighed){i, weights[list->findings[i].state], list->findings[i].confidence};
	qsort(order, count, sizeof(*order), compare);
	for (uint32_t i = 0; i < count; i++)
		indices[i] = order[i].index;
	free(order);
	return indices;
}

struct finding_place report_place(const struct finding *finding)
{
	for (uint32_t i = 0; i < finding->unit_count; i++)
		if (finding->units[i].place.file)
			return finding->units[i].place;
	for (uint32_t i = 0; i < finding->access_count; i++)
		if (finding->accesses[i].place.file)
			return finding->accesses[i].place;
	return (struct finding_place){0};
}
