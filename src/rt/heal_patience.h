/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How long a section is worth waiting for. A section that was learned wrongly, or
 * in which its thread waits in a way that nobody can see, keeps others waiting
 * as long as is allowed, and for nothing, each time that it is passed. That must
 * not make a program slow without end. So each section has an account of what may
 * be waited for it in vain: four times the limit at first, and then a sixteenth
 * of the time that goes by. A wait is no longer than what is left in there;
 * waits that were not in vain cost nothing.
 *
 *   all that was waited for it in vain, up to a time t  <=  5 limits + t / 16
 *
 * (The fifth is the last one's, which was let begin.) Time in which several
 * wait at once counts once.
 */
#ifndef ATOMSAN_RT_HEAL_PATIENCE_H
#define ATOMSAN_RT_HEAL_PATIENCE_H

#include "abi/heal.h"

#pragma GCC visibility push(hidden)

/* How long it may be waited for now, in nanoseconds; `limit` if there is no section. 0: not at all. */
uint64_t heal_patience(const struct atomsan_heal_section *section, uint64_t limit, uint64_t now);
/* From then until now somebody has waited for it, and in vain. */
void heal_patience_lost(struct atomsan_heal_section *section, uint64_t limit, uint64_t since, uint64_t now);

#pragma GCC visibility pop

#endif
