/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a section of the repository means to healing; the runtime and the pass agree on it here. */
#ifndef ATOMSAN_ATOMICITY_HEAL_H
#define ATOMSAN_ATOMICITY_HEAL_H

#include "abi/heal.h"
#include "atomicity/atomicity.h"

/*
 * A finding says which unit must be whole, and shows one way in which it was
 * not. The accesses of that one way need not be the unit's first: in a loop
 * that fetches elements two of them are shown, and not how many there were.
 */
static inline bool atomicity_is_whole(const struct atomicity_section *section)
{
	for (uint32_t i = 0; i < section->from_count; i++)
		if (section->from[i].origin == ATOMICITY_FINDING && section->unit.length)
			return true;
	return false;
}

/*
 * In all runs that it was learned from a lock of the program's, that everybody
 * used the variable under, was held from its entry to its end, or there was
 * nobody else: a gate in front of the lock's would stop nobody. Who says more of
 * the section than a run, a person or a finding, wants it kept all the same.
 */
static inline bool atomicity_is_guarded(const struct atomicity_section *section)
{
	bool guarded = false;

	if (section->heal != ATOMICITY_HEAL_DEFAULT)
		return false;
	for (uint32_t i = 0; i < section->from_count; i++) {
		const struct atomicity_from *from = &section->from[i];

		if (from->origin != ATOMICITY_LINT && (from->origin != ATOMICITY_LEARNED || !from->guarded))
			return false;
		guarded |= from->guarded;
	}
	return guarded;
}

static inline uint32_t atomicity_heal_flags(const struct atomicity_section *section)
{
	return (section->any ? ATOMSAN_HEAL_ANY : 0) | (section->recursive ? ATOMSAN_HEAL_RECURSIVE : 0) |
	       (section->consecutive ? ATOMSAN_HEAL_CONSECUTIVE : 0) |
	       (section->heal == ATOMICITY_HEAL_SCHEDULE ? ATOMSAN_HEAL_SCHEDULE : 0) |
	       (section->heal == ATOMICITY_HEAL_OFF ? ATOMSAN_HEAL_OFF : 0) |
	       (atomicity_is_whole(section) ? ATOMSAN_HEAL_WHOLE : 0);
}

static inline uint32_t atomicity_heal_allow(const struct atomicity_section *section)
{
	uint32_t allow = ATOMSAN_HEAL_READ | ATOMSAN_HEAL_WRITE;

	for (uint32_t i = 0; i < section->end_count; i++)
		allow &= section->ends[i].allow;
	/* That a write is overwritten is true of one variable only. */
	return section->any || atomicity_is_whole(section) ? allow & ATOMSAN_HEAL_READ : allow;
}

/* Is it a place in the unit's function, or in one that the section names? */
static inline bool atomicity_is_inside(const struct atomicity_section *section,
				       const struct atomsan_site *site)
{
	bool is = atomicity_site_function(site, section->unit, section->unit_file) ||
		  atomicity_site_function(site, section->entry.function, section->entry.file);

	for (uint32_t i = 0; !is && i < section->end_count; i++)
		is = atomicity_site_function(site, section->ends[i].place.function,
					     section->ends[i].place.file);
	return is;
}

/* Does the section name the variable that is accessed? */
static inline bool atomicity_is_named(const struct atomicity_section *section,
				      const struct atomsan_site *site)
{
	bool is = atomicity_site_variable(site, section->entry.variable) > 0;

	for (uint32_t i = 0; !is && i < section->end_count; i++)
		is = atomicity_site_variable(site, section->ends[i].place.variable) > 0;
	return is;
}

/* Is a member accessed of the variable of this name? */
static inline bool atomicity_is_part(const struct atomsan_site *site, struct atomicity_word variable)
{
	return (site->base_kind & ATOMSAN_BASE_MASK) == ATOMSAN_BASE_GLOBAL && site->base && site->member &&
	       atomicity_word_is(variable, (const char *)&site->base + site->base);
}

/* Of the set that the variable is of: a member of the same struct, or a global if it is one. */
static inline bool atomicity_is_akin(const struct atomsan_site *site, const char *variable)
{
	const char *type = site->type ? (const char *)&site->type + site->type : "";

	if (!*type) {
		while (*variable && *variable != '.')
			variable++;
		return (site->base_kind & ATOMSAN_BASE_MASK) == ATOMSAN_BASE_GLOBAL && site->base &&
		       !*variable;
	}
	while (*type && *type == *variable)
		type++, variable++;
	return !*type && *variable == '.';
}

#endif
