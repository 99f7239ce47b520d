/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A way to a pattern by trial and error, where the constraints of weave.h leave
 * more than one and the straight ones got stuck: who posts the token that is
 * missing, and has to be let through its locks before they are taken?
 *
 * It is a search in depth over the states of the machine. Threads stop only where
 * order matters: before what may have to wait, before what wakes others, and
 * where a constraint says so. What only lets others go on, or does not concern
 * them, is done at once, for to wait with it helps nobody. A state that was left
 * in vain is not entered again.
 */
#ifndef ATOMSAN_PREDICT_SEARCH_H
#define ATOMSAN_PREDICT_SEARCH_H

#include "predict/machine.h"
#include "predict/weave.h"

struct search_path {
	struct machine_undo *steps;
	uint32_t count, room;
};

/*
 * Brings the threads of the weave's goal to their targets, and the others as far
 * as that takes. At most `budget` moves, of which it takes those that it
 * needed. False, with the machine as it was: no way was found.
 */
bool search_goal(struct machine *machine, const struct weave *weave, uint32_t *budget,
		 struct search_path *path);
void search_path_release(struct search_path *path);

#endif
