/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of together.c that most accesses go through. */
#ifndef ATOMSAN_MODEL_TOGETHER_INL_H
#define ATOMSAN_MODEL_TOGETHER_INL_H

#include "model/inside.h"

#define SECTION_STEPS 4096u
/* Where the step is remembered that an access takes the section on by. NULL: the section's content is one of
 * too many. */
static inline struct section_step *together_step(struct model *model, const struct section *section,
						 uint32_t site)
{
	if ((!section->state && section->loose.count) || !model->section_steps)
		return NULL;
	return &model->section_steps[(site * 0x9e3779b1u ^ section->state * 0x85ebca6bu) >> 7 &
				     (SECTION_STEPS - 1)];
}
static inline uint32_t together_what(uint64_t size, bool reads, bool writes)
{
	return (uint32_t)size << 2 | writes << 1 | reads;
}
/* An access of a struct's member. True if it claims: writes what the same critical section has read. */
static inline bool together_access(struct model *model, struct thread *thread, uint32_t site,
				   const struct place *place, uint64_t size, bool reads, bool writes)
{
	struct section *section = &thread->section;
	const struct section_step *step;

	if (!place->type_size || (!thread->held_count && (model->live_threads > 1 || !reads)))
		return false;
	if (section->last_site == site + 1 && section->last_how == (reads | writes << 1) &&
	    section->last_size == size)
		return section->last_claims;
	step = together_step(model, section, site);
	if (!step || step->from != section->state || step->site != site ||
	    step->what != together_what(size, reads, writes))
		return together_note(model, thread, site, place, size, reads, writes);
	section->state = step->to;
	section->last_site = site + 1;
	section->last_size = size;
	section->last_how = (uint8_t)(reads | writes << 1);
	section->last_claims = step->claims;
	return step->claims;
}

#endif
