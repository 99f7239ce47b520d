/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/noise.h"
#include "atomicity/atomicity.h"
#include "rt/sys.h"
#include "rt/watch_report.h"

#include <time.h>

/*
 * The option noise: items separated by ';', of fields separated by ',' (in a
 * field %XX stands for the byte with this hexadecimal number):
 *
 *   random,PERMILLE[,KIND[,MICROSECONDS]]
 *   var,NAME,PERMILLE[,KIND[,MICROSECONDS]]
 *   place,FILE,LINE,PERMILLE[,KIND[,MICROSECONDS]]
 *
 * Where several apply, the one with the highest per mille does.
 */
enum { SPECS = 256, RANGES = 4, DEFAULT_MICROSECONDS = 200 };
enum spec_kind { RANDOM, VARIABLE, PLACE };
struct spec {
	enum spec_kind kind;
	const char *name; /* of the variable, or the file's last part */
	uint64_t line;
	uint64_t permille;
	struct watch_pause pause;
	struct {
		uint64_t begin, size;
	} ranges[RANGES]; /* where variables of this name lie */
};
static struct spec specs[SPECS];
static uint32_t spec_count;

/* A thread may always pause for so long, in nanoseconds, whatever its budget. */
#define GRACE 20000000ull

static struct {
	uint64_t decisions, strikes, skipped, paused, digest;
} total;

uint64_t noise_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint64_t noise_seed(uint64_t parent, uint32_t nth)
{
	return noise_mix(nth ? parent + nth : rt_options.seed);
}

uint64_t noise_now(void)
{
	struct timespec t = {0, 0};

	sys2(clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* ---- reading the option ---- */

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* The next field, ended and without escapes, in place; NULL if there is none. */
static char *next_field(char **rest)
{
	char *field = *rest, *to = field, *p = field;

	if (!p)
		return NULL;
	for (; *p && *p != ','; p++) {
		int high = *p == '%' ? digit(p[1]) : -1, low = high >= 0 ? digit(p[2]) : -1;

		*to++ = low >= 0 ? (char)(high << 4 | low) : *p;
		p += low >= 0 ? 2 : 0;
	}
	*rest = *p ? p + 1 : NULL;
	*to = 0;
	return field;
}

static bool read_number(const char *field, uint64_t most, uint64_t *number)
{
	uint64_t n = 0;

	if (!field || !*field)
		return false;
	for (; *field; field++) {
		if (*field < '0' || *field > '9' || n > most)
			return false;
		n = n * 10 + (uint64_t)(*field - '0');
	}
	*number = n;
	return n <= most;
}

static bool read_spec(char *item, struct spec *spec)
{
	char *rest = item, *what = next_field(&rest), *kind;
	uint64_t microseconds = DEFAULT_MICROSECONDS;

	*spec = (struct spec){.kind = same(what, "var") ? VARIABLE : same(what, "place") ? PLACE : RANDOM};
	if (spec->kind == RANDOM && !same(what, "random"))
		return false;
	if (spec->kind != RANDOM) {
		spec->name = next_field(&rest);
		if (!spec->name || !*spec->name)
			return false;
	}
	if (spec->kind == PLACE) {
		spec->name = atomicity_last_part(spec->name);
		if (!read_number(next_field(&rest), UINT32_MAX, &spec->line))
			return false;
	}
	if (!read_number(next_field(&rest), 1000, &spec->permille))
		return false;
	kind = next_field(&rest);
	spec->pause.kind = !kind || same(kind, "sleep") ? WATCH_SLEEP
			   : same(kind, "yield")        ? WATCH_YIELD
			   : same(kind, "busy")         ? WATCH_BUSY
							: WATCH_NO_PAUSE;
	if (!spec->pause.kind || (rest && !read_number(next_field(&rest), 10000000, &microseconds)))
		return false;
	spec->pause.microseconds = (uint32_t)microseconds;
	return !rest;
}

static void find_ranges(struct spec *spec)
{
	for (uint32_t i = 0; i < RANGES; i++) {
		const struct atomsan_variable *variable = rt_module_variable_named(spec->name, i);

		if (!variable)
			return;
		spec->ranges[i].begin = variable->address;
		spec->ranges[i].size = variable->size;
	}
}

void noise_start(void)
{
	static char copy[8192];
	uint64_t n = 0;
	char *item = copy;

	if (!*rt_options.noise)
		return;
	for (; rt_options.noise[n] && n < sizeof copy - 1; n++)
		copy[n] = rt_options.noise[n];
	while (*item) {
		char *end = item;
		bool last;

		while (*end && *end != ';')
			end++;
		last = !*end;
		*end = 0;
		if (spec_count == SPECS || !read_spec(item, &specs[spec_count])) {
			rt_say("ATOMSAN_OPTIONS: this noise is not understood and is not made: %s", item);
		} else {
			if (specs[spec_count].kind == VARIABLE)
				find_ranges(&specs[spec_count]);
			spec_count++;
		}
		item = last ? end : end + 1;
	}
	if (!spec_count)
		return;
	rt_watching |= WATCH_NOISE;
	if (rt_options.verbosity)
		rt_say("noise with seed=%u", rt_options.seed);
}

/* ---- where which noise applies ---- */

/* Is it "type.member", its type, what is in front of one of its dots, or the variable's own name? */
static bool is_called(const struct atomsan_site *site, const char *name)
{
	const char *type = watch_report_text(&site->type), *member = watch_report_text(&site->member);

	if (!*type)
		return site->base && (site->base_kind & ATOMSAN_BASE_MASK) == ATOMSAN_BASE_GLOBAL &&
		       same(watch_report_text(&site->base), name);
	while (*name && *name == *type) {
		name++;
		type++;
	}
	if (*type)
		return false;
	if (!*name)
		return true;
	if (*name++ != '.')
		return false;
	while (*name && *name == *member) {
		name++;
		member++;
	}
	return !*name && (!*member || *member == '.' || *member == '[');
}

static bool applies(const struct spec *spec, const struct atomsan_site *site)
{
	switch (spec->kind) {
	case RANDOM:
		return true;
	case VARIABLE:
		return site && is_called(site, spec->name);
	case PLACE:
		return site && site->line == spec->line &&
		       same(atomicity_last_part(watch_report_text(&site->file)), spec->name);
	}
	return false;
}

static uint32_t best_for(const struct atomsan_site *site)
{
	uint32_t best = SPECS;

	for (uint32_t i = 0; i < spec_count; i++)
		if ((best == SPECS || specs[i].permille > specs[best].permille) && applies(&specs[i], site))
			best = i;
	return best;
}

/* What was found for a site is kept, in one word with the site's address. */
static uint32_t best_known(const struct atomsan_site *site)
{
	enum { KEPT = 4096, BITS = 16 };
	static uint64_t kept[KEPT];
	uint64_t *word = &kept[(uint64_t)site / sizeof *site % KEPT];
	uint64_t key = (uint64_t)site << BITS, value = __atomic_load_n(word, __ATOMIC_RELAXED);

	if (!site)
		return best_for(NULL);
	if ((value ^ key) >> BITS || !value) {
		value = key | best_for(site);
		__atomic_store_n(word, value, __ATOMIC_RELAXED);
	}
	return value & ((1 << BITS) - 1);
}

/* Variables that are reached by way of pointers are known by their addresses. */
static uint32_t best_at(uint64_t address, uint32_t best)
{
	for (uint32_t i = 0; i < spec_count; i++)
		for (uint32_t r = 0; r < RANGES && specs[i].ranges[r].size; r++)
			if (address - specs[i].ranges[r].begin < specs[i].ranges[r].size &&
			    (best == SPECS || specs[i].permille > specs[best].permille))
				best = i;
	return best;
}

static bool affordable(const struct watch_pause *pause)
{
	uint64_t length = (uint64_t)pause->microseconds * 1000, elapsed;

	if (!rt_options.noise_budget || pause->kind == WATCH_YIELD)
		return true;
	elapsed = noise_now() - watch_self.begun;
	elapsed = elapsed > watch_self.paused ? elapsed - watch_self.paused : 0;
	return watch_self.paused + length <= GRACE + elapsed / 100 * rt_options.noise_budget;
}

void noise_access(const void *p, uint64_t length, const struct atomsan_site *site, struct watch_pause *pause)
{
	uint64_t event = watch_self.events++;
	uint32_t best = best_at((uint64_t)p, best_known(site));

	(void)length;
	if (best == SPECS)
		return;
	watch_self.decisions++;
	if (noise_mix(watch_self.birth.seed + event * 0xd1342543de82ef95ull) % 1000 >= specs[best].permille)
		return;
	watch_self.strikes++;
	watch_self.digest = noise_mix(watch_self.digest ^ event << 8 ^ best);
	/* A scheduled thread comes to a point here anyway, and others wait for their turn, not for time. */
	if (rt_self.sched || !affordable(&specs[best].pause)) {
		__atomic_fetch_add(&total.skipped, 1, __ATOMIC_RELAXED);
		return;
	}
	*pause = specs[best].pause;
}

void noise_pause(const struct watch_pause *pause)
{
	struct timespec length = {pause->microseconds / 1000000, (long)pause->microseconds % 1000000 * 1000};
	uint64_t start = noise_now(), end = start + (uint64_t)pause->microseconds * 1000;

	switch (pause->kind) {
	case WATCH_SLEEP:
		sys2(nanosleep, &length, NULL);
		break;
	case WATCH_YIELD:
		sys0(sched_yield);
		break;
	case WATCH_BUSY:
		while (noise_now() < end)
			for (int i = 0; i < 64; i++)
				__asm__ volatile("pause");
		break;
	case WATCH_NO_PAUSE:
		break;
	}
	watch_self.paused += noise_now() - start;
}

void noise_thread_begin(void)
{
	watch_self.begun = noise_now();
}

void noise_thread_end(void)
{
	__atomic_fetch_add(&total.decisions, watch_self.decisions, __ATOMIC_RELAXED);
	__atomic_fetch_add(&total.strikes, watch_self.strikes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&total.paused, watch_self.paused, __ATOMIC_RELAXED);
	__atomic_fetch_xor(&total.digest, noise_mix(watch_self.digest + watch_self.birth.seed),
			   __ATOMIC_RELAXED);
	if (rt_options.verbosity && rt_watching & WATCH_NOISE)
		rt_say("noise in %s: %u events, %u decisions, %u strikes, digest %x", watch_self.birth.name,
		       watch_self.events, watch_self.decisions, watch_self.strikes, watch_self.digest);
	watch_self.decisions = watch_self.strikes = watch_self.paused = watch_self.digest = 0;
}

void noise_finish(void)
{
	if (!(rt_watching & WATCH_NOISE))
		return;
	/* Of the thread that ends the process, too, if it has not ended. */
	if (rt_self.number != RT_NO_THREAD)
		noise_thread_end();
	watch_report_count("noise decisions", total.decisions);
	watch_report_count("noise strikes", total.strikes);
	watch_report_count("noise left out", total.skipped);
	watch_report_count("noise microseconds", total.paused / 1000);
	watch_report_count("noise digest", total.digest & 0xffffffff);
}
