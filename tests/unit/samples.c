/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "samples.h"

#include <string.h>

static const char *folder = "examples";

static struct finding_place at(struct finding_list *list, const char *function, const char *file,
			       uint32_t line, uint32_t column)
{
	return (struct finding_place){finding_text(list, function),
				      finding_textf(list, "%s/%s", folder, file), line, column};
}

static void unit(struct finding_list *list, struct finding *f, struct finding_place place, const char *thread,
		 const char *set, const char *why)
{
	struct finding_unit u = {.place = place,
				 .thread = finding_text(list, thread),
				 .set = finding_text(list, set),
				 .why = finding_text(list, why)};

	*finding_add_unit(list, f) = u;
}

static struct finding_access *access_of(struct finding_list *list, struct finding *f, uint32_t of_unit,
					const char *thread, char op, const char *variable,
					struct finding_place place)
{
	struct finding_access *a = finding_add_access(list, f);

	a->unit = of_unit;
	a->op = op;
	a->thread = finding_text(list, thread);
	a->variable = finding_text(list, variable);
	a->place = place;
	finding_add_frame(list, a, place);
	return a;
}

static struct finding *new_finding(struct finding_list *list, enum finding_kind kind,
				   enum finding_state state, const char *pattern, double confidence,
				   const char *title)
{
	struct finding *f = finding_add(list);

	f->kind = kind;
	f->state = state;
	f->pattern = finding_text(list, pattern);
	f->confidence = confidence;
	f->title = finding_text(list, title);
	return f;
}

static void add_bank(struct finding_list *list)
{
	struct finding *f = new_finding(list, FINDING_ATOMICITY, FINDING_OBSERVED, "RWW", 1,
					"deposit is not atomic over struct account");
	struct finding_place deposit = at(list, "deposit", "bank.c", 41, 0);
	struct finding_place get = at(list, "balance", "bank.c", 29, 11);
	struct finding_place set = at(list, "set_balance", "bank.c", 37, 13);
	static const char why[] = "its first parameter is a struct account";

	unit(list, f, deposit, "T2", "struct account", why);
	unit(list, f, deposit, "T1", "struct account", why);
	finding_add_variable(list, f, "account.balance");
	for (int i = 0; i < 4; i++) {
		static const char *const threads[] = {"T2", "T1", "T1", "T2"};
		static const uint32_t units[] = {0, 1, 1, 0};
		bool write = i >= 2;
		struct finding_access *a = access_of(list, f, units[i], threads[i], write ? 'W' : 'R',
						     "account.balance", write ? set : get);

		finding_add_frame(list, a, at(list, "deposit", "bank.c", write ? 47 : 43, 0));
		finding_add_frame(list, a, at(list, "teller", "bank.c", 53, 0));
		finding_add_lock(list, a, "account.lock");
		if (i == 3)
			a->note = finding_text(list, "undoes the deposit of T1");
	}
	finding_add_edge(list, f, (struct finding_edge){0, 1, 0, 2});
	finding_add_edge(list, f, (struct finding_edge){1, 0, 2, 3});
	f->advice = finding_text(list, "Hold account.lock from the read in line 43 to the write in line 47.");
	f->seen = 770;
	f->schedule = ".atomsan/schedules/bank 1.sched";
}

static struct finding_list *new_list(void)
{
	struct finding_list *list = finding_list_new("check");

	list->program = "./bank";
	list->build_id = "5f0c7a11d3";
	list->seed = 12345678901234567890ull;
	finding_add_argument(list, "./bank");
	finding_add_argument(list, "1000");
	finding_add_count(list, "events", 41213);
	finding_add_count(list, "overhead", 4.25);
	return list;
}

static void identify_all(struct finding_list *list)
{
	for (uint32_t i = 0; i < list->finding_count; i++)
		finding_identify(&list->findings[i]);
}

struct finding_list *samples_bank(const char *in_folder)
{
	struct finding_list *list = new_list();

	folder = in_folder;
	add_bank(list);
	identify_all(list);
	return list;
}

static void add_cycle(struct finding_list *list)
{
	struct finding *f = new_finding(list, FINDING_ATOMICITY, FINDING_REPRODUCED, "cycle", 0.9,
					"rotate, settle and audit form a cycle over globals of ledger.c");
	static const char *const functions[] = {"rotate", "settle", "audit"};
	static const char *const threads[] = {"T1", "T2", "T3.1"};
	static const char *const variables[] = {"head", "tail", "total"};

	for (uint32_t i = 0; i < 3; i++) {
		unit(list, f, at(list, functions[i], "ledger.c", 10 + 20 * i, 0), threads[i],
		     "globals of ledger.c", "it has external linkage");
		finding_add_variable(list, f, variables[i]);
	}
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t u = i < 3 ? i : (i + 1) % 3;

		access_of(list, f, u, threads[u], i < 3 ? 'R' : 'W', variables[i % 3],
			  at(list, functions[u], "ledger.c", 12 + 20 * u + (i >= 3), 3));
	}
	for (uint32_t i = 0; i < 3; i++)
		finding_add_edge(list, f, (struct finding_edge){i, (i + 1) % 3, i, 3 + i});
	f->seen = 2;
}

static void add_suspicions(struct finding_list *list)
{
	struct finding *f = new_finding(list, FINDING_STALE_VALUE, FINDING_SUSPECTED, "RW", 0.4,
					"refill uses stock.level after it was let go");
	unit(list, f, at(list, "refill", "shop.c", 70, 0), NULL, "struct stock", "it locks stock.lock twice");
	access_of(list, f, 0, NULL, 'R', "stock.level", at(list, "refill", "shop.c", 72, 0));
	access_of(list, f, 0, NULL, 'W', "stock.level", at(list, "refill", "shop.c", 80, 0));
	finding_add_variable(list, f, "stock.level");
	f->verb = "lint";

	f = new_finding(list, FINDING_RACE, FINDING_PREDICTED, "WR", 0.75, NULL);
	access_of(list, f, FINDING_NO_UNIT, "T1", 'W', "stopped", at(list, "stop", "pool.c", 5, 2));
	access_of(list, f, FINDING_NO_UNIT, "T2", 'R', "stopped", at(list, "work", "pool.c", 9, 9));
	finding_add_variable(list, f, "stopped");
	f->verb = "race";

	f = new_finding(list, FINDING_DEADLOCK, FINDING_HEALED, "cycle", 1,
			"left and right are taken both ways");
	access_of(list, f, FINDING_NO_UNIT, "T1", 'L', "left", at(list, "one", "fork.c", 5, 2));
	access_of(list, f, FINDING_NO_UNIT, "T2", 'L', "right", at(list, "two", "fork.c", 15, 2));
	access_of(list, f, FINDING_NO_UNIT, "T1", 'B', "right", at(list, "one", "fork.c", 6, 2));
	access_of(list, f, FINDING_NO_UNIT, "T2", 'B', "left", at(list, "two", "fork.c", 16, 2));
	finding_add_variable(list, f, "left");
	finding_add_variable(list, f, "right");

	f = new_finding(list, FINDING_HIGH_LEVEL_RACE, FINDING_SUSPECTED, "WRW", 0.5,
			"the pair point.x, point.y is read in two steps");
	unit(list, f, at(list, "move", "point.c", 3, 0), NULL, "struct point", "it is marked in the source");
	unit(list, f, at(list, "show", "point.c", 13, 0), NULL, "struct point", "it is marked in the source");
	access_of(list, f, 1, NULL, 'R', "point.x", at(list, "show", "point.c", 15, 0));
	access_of(list, f, 0, NULL, 'W', "point.x", at(list, "move", "point.c", 5, 0));
	access_of(list, f, 0, NULL, 'W', "point.y", at(list, "move", "point.c", 6, 0));
	access_of(list, f, 1, NULL, 'R', "point.y", at(list, "show", "point.c", 17, 0));
	finding_add_edge(list, f, (struct finding_edge){1, 0, 0, 1});
	finding_add_edge(list, f, (struct finding_edge){0, 1, FINDING_NO_ACCESS, FINDING_NO_ACCESS});
	f->verb = "lint";
}

struct finding_list *samples_all(const char *in_folder)
{
	struct finding_list *list = new_list();

	folder = in_folder;
	add_bank(list);
	add_cycle(list);
	add_suspicions(list);
	identify_all(list);
	finding_add_blind_spot(list, "libz.so.1 was not built with atomsan: its accesses were not seen.");
	finding_add_blind_spot(list, "3 events were dropped.");
	finding_add_trial(list, &(struct finding_trial){.schedule = ".atomsan/schedules/bank 1.sched",
							.strategy = "predicted",
							.verdict = "failed",
							.finding = list->findings[0].id,
							.seed = 1,
							.runs = 20,
							.failures = 19});
	finding_add_trial(list, &(struct finding_trial){.strategy = "PCT depth 3",
							.verdict = "passed",
							.seed = 99,
							.runs = 180,
							.failures = 2});
	return list;
}

#define NASTY                                                                                \
	"</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\x1b]0;x\x07" \
	"\xff\xfe\xc2\x9b"                                                                   \
	"&amp;\"'`${x}\n::error::gone\r\xe2\x80\xa8-->"

struct finding_list *samples_hostile(void)
{
	struct finding_list *list = finding_list_new(NASTY);
	char longest[5000];
	struct finding_place place = {
		.function = NASTY, .file = "/tmp/" NASTY ".c", .line = 4294967295u, .column = 1};

	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = 0;
	list->program = NASTY;
	list->build_id = NASTY;
	finding_add_argument(list, NASTY);
	finding_add_blind_spot(list, NASTY);
	finding_add_count(list, NASTY, 1);
	struct finding *f = new_finding(list, FINDING_ATOMICITY, FINDING_OBSERVED, NASTY, 1, NASTY);

	f->advice = NASTY;
	f->schedule = NASTY;
	f->verb = NASTY;
	unit(list, f, place, NASTY, NASTY, NASTY);
	unit(list, f, place, longest, longest, longest);
	for (uint32_t i = 0; i < 3; i++) {
		struct finding_access *a = access_of(list, f, i & 1, i & 1 ? longest : NASTY, i ? 'W' : 'R',
						     i & 1 ? longest : NASTY, place);

		finding_add_frame(list, a, place);
		finding_add_lock(list, a, NASTY);
		a->note = NASTY;
	}
	finding_add_variable(list, f, NASTY);
	finding_add_edge(list, f, (struct finding_edge){0, 1, 0, 1});
	finding_add_edge(list, f, (struct finding_edge){1, 0, 1, 2});
	finding_add_trial(list,
			  &(struct finding_trial){
				  .schedule = NASTY, .strategy = NASTY, .verdict = NASTY, .finding = NASTY});
	identify_all(list);
	return list;
}

struct finding_list *samples_many(unsigned count)
{
	struct finding_list *list = new_list();

	folder = "src";
	for (unsigned i = 0; i < count; i++) {
		const char *function = finding_textf(list, "step_%u", i);
		const char *file = finding_textf(list, "part%u/module%u.c", i % 17, i % 97);
		const char *type = finding_textf(list, "struct item_%u", i % 211);
		const char *variable = finding_textf(list, "item_%u.value", i % 211);
		struct finding *f = new_finding(
			list, (enum finding_kind)(i % FINDING_KIND_COUNT),
			(enum finding_state)(i % FINDING_STATE_COUNT), "RWR", (double)(i % 101) / 100,
			finding_textf(list, "%s is not atomic over %s", function, type));

		unit(list, f, at(list, function, file, 10 + i % 900, 0), "T1", type, "it locks twice");
		unit(list, f, at(list, "other", file, 30 + i % 900, 0), "T2", type, "it locks once");
		for (uint32_t k = 0; k < 3; k++) {
			struct finding_access *a =
				access_of(list, f, k & 1, k & 1 ? "T2" : "T1", k & 1 ? 'W' : 'R', variable,
					  at(list, k & 1 ? "other" : function, file, 12 + k, 2));

			finding_add_frame(list, a, at(list, "main", "main.c", 5, 0));
			finding_add_lock(list, a, "item.lock");
		}
		finding_add_edge(list, f, (struct finding_edge){0, 1, 0, 1});
		finding_add_edge(list, f, (struct finding_edge){1, 0, 1, 2});
		finding_add_variable(list, f, variable);
		f->seen = i % 13 + 1;
	}
	identify_all(list);
	return list;
}
