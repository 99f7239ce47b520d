/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/watch.h"
#include "rt/heal.h"
#include "rt/noise.h"
#include "rt/race.h"
#include "rt/sections.h"
#include "rt/watch_report.h"

uint32_t rt_watching;
__thread struct watch_thread watch_self = {.birth = {.name = "T0"}};

/* Every access differs from a cell like this: without a recording, hooks are called for all of them. */
static uint64_t news_cell[4];

/* The program's own doing, and not in a signal handler: there nothing may wait. */
static inline bool mine(void)
{
	return rt_self.number != RT_NO_THREAD && !rt_self.inside && !rt_self.handlers;
}

void watch_start(void)
{
	noise_start();
	race_start();
	if (heal_start()) {
		rt_watching |= WATCH_HEAL;
		rt_module_each(heal_module);
	}
	if (sections_start())
		rt_watching |= WATCH_SECTIONS;
	watch_self.birth.seed = noise_seed(0, 0);
	if (rt_watching)
		watch_report_start();
}

void watch_created(struct watch_birth *birth)
{
	const char *parent = watch_self.birth.name;
	uint32_t nth = ++watch_self.children, digits = 0, n = 0;
	char number[12];

	birth->seed = noise_seed(watch_self.birth.seed, nth);
	do {
		number[digits++] = (char)('0' + nth % 10);
		nth /= 10;
	} while (nth);
	/* Children of the first thread are T1, T2, ...; theirs are T1.1 and so on. */
	if (parent[0] == 'T' && parent[1] == '0' && !parent[2])
		birth->name[n++] = 'T';
	else
		for (; parent[n] && n < sizeof birth->name - 14; n++)
			birth->name[n] = parent[n];
	if (n > 1)
		birth->name[n++] = '.';
	while (digits)
		birth->name[n++] = number[--digits];
	birth->name[n] = 0;
	if (rt_watching & WATCH_RACE)
		race_creates();
	if (rt_watching & WATCH_HEAL)
		heal_creates();
}

void watch_born(const struct watch_birth *birth)
{
	watch_self.birth = *birth;
}

void watch_thread_begin(uint32_t number)
{
	noise_thread_begin();
	rt_self.number = number;
	if (rt_watching & WATCH_HEAL)
		heal_thread_begin();
	if (rt_recording)
		return;
	__atomsan_thread.shadow_mask = 0;
	if (rt_watching == WATCH_RACE) {
		race_thread_begin();
		return;
	}
	__atomsan_thread.shadow_base = __atomsan_thread.reader_base = (char *)news_cell;
	__atomsan_thread.fresh = WATCHPOINT_CLEAR;
	__atomsan_thread.segment = __atomsan_thread.fresh;
	/* So that the write of an update is told of. */
	__atomsan_thread.scheduled = news_cell;
}

void watch_thread_end(void)
{
	if (rt_watching & WATCH_HEAL)
		heal_thread_end();
	if (rt_watching & WATCH_SECTIONS)
		sections_thread_end();
	if (rt_watching == WATCH_RACE && !rt_recording)
		race_thread_end();
	noise_thread_end();
}

int watch_finish(int status)
{
	if (rt_watching & WATCH_HEAL) {
		heal_say_lost();
		heal_finish();
	}
	if (rt_watching & WATCH_SECTIONS)
		sections_finish();
	if (rt_watching & WATCH_RACE)
		race_finish();
	noise_finish();
	/* Who asked for results gives the verdict. */
	if (watch_report_total && rt_options.exitcode && !*rt_options.results)
		return (int)(rt_options.exitcode & 0xff);
	return status;
}

void watch_fork_child(void)
{
	watch_report_fork_child();
	if (rt_watching & WATCH_RACE)
		race_fork_child();
	if (rt_watching & WATCH_HEAL)
		heal_fork_child();
	if (rt_watching & WATCH_SECTIONS)
		sections_fork_child();
}

void watch_module(const struct atomsan_site *sites, uint64_t count, uint64_t first,
		  const struct atomsan_function *functions, uint64_t function_count)
{
	if (rt_watching & WATCH_HEAL)
		heal_module(sites, count, first, functions, function_count);
	if (rt_watching & WATCH_SECTIONS)
		sections_module(sites, count, first, functions, function_count);
}

/* Inside a section noise comes before the access is looked at: an end is an end once the pause is over. */
static void pause_inside(struct watch_pause *pause) ATOMSAN_KEEPS_REGISTERS
{
	if (!pause->kind || !sections_inside())
		return;
	noise_pause(pause);
	pause->kind = WATCH_NO_PAUSE;
}

/* Healing begins to look at frames anew; what was left until now must be known before. */
static void before_heal(void) ATOMSAN_KEEPS_REGISTERS
{
	if (rt_watching & WATCH_SECTIONS && sections_inside())
		sections_frames();
}

void watch_access(const void *p, uint64_t length, unsigned kinds,
		  const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	struct watch_pause pause = {WATCH_NO_PAUSE, 0};

	if (!mine() || !length)
		return;
	if (rt_watching & WATCH_HEAL) {
		before_heal();
		heal_on_access(p, length, kinds, site);
	}
	if (rt_watching & WATCH_NOISE)
		noise_access(p, length, site, &pause);
	if (kinds == (WATCH_READ | WATCH_WRITE)) {
		watch_self.update = p;
		watch_self.update_site = site;
	}
	if (rt_watching & WATCH_SECTIONS) {
		pause_inside(&pause);
		sections_access(p, length, kinds, site);
	}
	if (rt_watching & WATCH_RACE)
		race_access(p, length, kinds, site, &pause);
	else if (pause.kind)
		noise_pause(&pause);
	if (rt_watching & WATCH_HEAL)
		heal_on_return();
}

void watch_store(const void *p) ATOMSAN_KEEPS_REGISTERS
{
	const struct atomsan_site *site = watch_self.update_site;
	struct watch_pause pause = {WATCH_NO_PAUSE, 0};

	if (!mine() || watch_self.update != p)
		return;
	watch_self.update = NULL;
	if (rt_watching & WATCH_HEAL) {
		before_heal();
		heal_on_store(p);
	}
	if (rt_watching & WATCH_NOISE)
		noise_access(p, site->size, site, &pause);
	if (rt_watching & WATCH_SECTIONS) {
		pause_inside(&pause);
		sections_access(p, site->size, WATCH_WRITE, site);
	}
	if (rt_watching & WATCH_RACE)
		race_access(p, site->size, WATCH_WRITE, site, &pause);
	else if (pause.kind)
		noise_pause(&pause);
	if (rt_watching & WATCH_HEAL)
		heal_on_return();
}

void watch_atomic(const void *p, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	struct watch_pause pause = {WATCH_NO_PAUSE, 0};
	unsigned kinds = WATCH_READ;

	if (!mine())
		return;
	if (rt_watching & WATCH_HEAL) {
		before_heal();
		heal_on_atomic(p, site);
	}
	if (site->kind == ATOMSAN_ATOMIC_STORE)
		kinds = WATCH_WRITE;
	/* A compare-exchange may fail, and is a read then. */
	else if (site->kind == ATOMSAN_ATOMIC_RMW && !(site->flags & ATOMSAN_SITE_MAY_FAIL))
		kinds = WATCH_READ | WATCH_WRITE;
	if (rt_watching & WATCH_NOISE)
		noise_access(p, site->size, site, &pause);
	if (rt_watching & WATCH_SECTIONS) {
		pause_inside(&pause);
		sections_atomic(p, site);
	}
	if (rt_watching & WATCH_RACE)
		race_access(p, site->size, kinds, site, &pause);
	else if (pause.kind)
		noise_pause(&pause);
	if (rt_watching & WATCH_HEAL)
		heal_on_return();
}

void watch_atomic_done(const void *p, bool wrote, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	if (!mine())
		return;
	if (rt_watching & WATCH_SECTIONS)
		sections_atomic_done(p, wrote, site);
	if (rt_watching & WATCH_HEAL)
		heal_on_atomic_done();
}

void watch_before(const void *object, const struct atomsan_site *site)
{
	struct watch_pause pause = {WATCH_NO_PAUSE, 0};

	if (!mine())
		return;
	if (rt_watching & WATCH_HEAL)
		heal_on_before(object, site);
	if (rt_watching & WATCH_NOISE)
		noise_access(object, 1, site, &pause);
	if (pause.kind)
		noise_pause(&pause);
}

void watch_op(enum trace_op op, const void *object, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	(void)site;
	if (!mine())
		return;
	if (rt_watching & WATCH_SECTIONS)
		sections_op(op, object);
	if (rt_watching & WATCH_HEAL)
		heal_on_op(op, object);
}
