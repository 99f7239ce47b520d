/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Would a predicted order be a violation, or one of those that the checker
 * counts and does not report (judge.h)? A pattern names three or four accesses;
 * what would come of it depends on those around them. So the order is looked at
 * as far as it is certain: what the unit did before the other thread came, all
 * of the other's critical section, and what the unit does then, up to the end
 * of the critical section in which the pattern ends. That is a cycle of two units like one that a run had,
 * and it is judged by the same rules.
 *
 * Some things are known of values without having them:
 *
 *   - Who looks at something that is marked as taken, in the place where it
 *     would go on to mark it so itself, does not go on.
 *   - Who found something taken, and looks before it was, in the place where
 *     others looked who then took it, takes it instead of them. The predicted
 *     order does not exist.
 *   - Nor does one in which two have taken the same thing at the same time.
 */
#ifndef ATOMSAN_ANALYSIS_HARMLESS_H
#define ATOMSAN_ANALYSIS_HARMLESS_H

#include "base/map.h"
#include "check/engine.h"
#include "predict/load.h"
#include "predict/predict.h"

struct harmless_access {
	struct check_access_tag tag;
	struct check_unit_tag unit;
};

struct harmless {
	struct predict *predict;
	struct map wanted; /* named_key of an access to its event, plus one */
	struct map index;  /* event to what is known of it, plus one */
	struct harmless_access *accesses;
	uint32_t count, room;
	uint32_t *times; /* of the events that are wanted */
	uint32_t time_count, time_room;
};

/* What has to be known of accesses to judge this prediction. */
void harmless_want(struct harmless *harmless, uint32_t prediction);
void harmless_seen(struct harmless *harmless, const struct load_access *access);
/* Once everything was seen. */
bool harmless_is(struct harmless *harmless, struct model *model, uint32_t prediction);
void harmless_release(struct harmless *harmless);

#endif
