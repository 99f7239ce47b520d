/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The account is kept as the time at which it will be full again, so that it
 * fills by itself. Threads that change it at once may lose a wait or two, which
 * nobody minds.
 */
#include "rt/heal_patience.h"

enum {
	LIMITS = 4,         /* that may be waited in vain before it counts */
	SHARE = 16,         /* of the time that goes by, one part may be waited in vain */
	LEAST_NS = 2000000, /* what is worth going to sleep for */
};

uint64_t heal_patience(const struct atomsan_heal_section *section, uint64_t limit, uint64_t now)
{
	uint64_t full_at = section ? __atomic_load_n(&section->full_at, __ATOMIC_RELAXED) : 0;
	uint64_t missing = full_at > now ? (full_at - now) / SHARE : 0, most = LIMITS * limit;

	if (missing + limit <= most)
		return limit;
	return missing + LEAST_NS <= most ? most - missing : 0;
}

void heal_patience_lost(struct atomsan_heal_section *section, uint64_t limit, uint64_t since, uint64_t now)
{
	uint64_t full_at, counted;

	if (!section)
		return;
	counted = __atomic_load_n(&section->vain_until, __ATOMIC_RELAXED);
	if (since < counted)
		since = counted;
	if (since >= now)
		return;
	__atomic_store_n(&section->vain_until, now, __ATOMIC_RELAXED);
	full_at = __atomic_load_n(&section->full_at, __ATOMIC_RELAXED);
	if (full_at < now)
		full_at = now;
	full_at += (now - since) * SHARE;
	/* What was waited beyond the account is not to be paid for ever: the owner may have been stopped. */
	if (full_at > now + (LIMITS + 1) * limit * SHARE)
		full_at = now + (LIMITS + 1) * limit * SHARE;
	__atomic_store_n(&section->full_at, full_at, __ATOMIC_RELAXED);
}
