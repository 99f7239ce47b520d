/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/rules.h"

#include "base/err.h"
#include "finding/finding.h"

#include <stdlib.h>

struct rule {
	const char *name, *brief, *full, *mend;
};

static const struct rule rules[] = {
	[FINDING_ATOMICITY] =
		{"AtomicityViolation", "A block that should be atomic is not.",
		 "Between two steps of a block that works on related data, another thread reads or "
		 "writes the same data. No order of whole blocks explains the result, though every "
		 "single access may be under a lock.",
		 "Hold one lock over the whole block, or check again what was read before it is used."},
	[FINDING_RACE] = {"DataRace", "Two threads access the same memory at once, and one of them writes.",
			  "Nothing orders the two accesses: no lock that both hold, no creation or end of a "
			  "thread, no "
			  "condition between them. In C and C++ this is undefined behaviour.",
			  "Guard both accesses with the same lock, or make the variable atomic."},
	[FINDING_HIGH_LEVEL_RACE] =
		{"HighLevelDataRace", "Variables that belong together are accessed in pieces.",
		 "Some code treats several variables as one under a lock; other code accesses them "
		 "in more than one critical section and may see half of a change.",
		 "Access variables that belong together in one critical section."},
	[FINDING_STALE_VALUE] =
		{"StaleValue", "A value is used after the lock that it was read under was released.",
		 "A shared value is copied in one critical section and used in a later one. Meanwhile "
		 "another thread may have changed the original.",
		 "Read the value again, or use it before the lock is released."},
	[FINDING_DEADLOCK] =
		{"Deadlock", "Locks are taken in different orders.",
		 "Threads that take the same locks in different orders can each hold what the other "
		 "waits for.",
		 "Take the locks in the same order everywhere."},
};

json_t *report_rules(void)
{
	json_t *array = json_array();

	for (int kind = 0; kind < FINDING_KIND_COUNT; kind++) {
		const struct rule *rule = &rules[kind];
		char *text = mem_textf("%s %s", rule->full, rule->mend);
		char *markdown = mem_textf("%s\n\n**To mend it:** %s", rule->full, rule->mend);
		json_t *object = json_pack("{ss,ss,s{ss},s{ss},s{ss,ss},s{ss},s{s[sss],ss,ss}}", "id",
					   finding_kind_text((enum finding_kind)kind), "name", rule->name,
					   "shortDescription", "text", rule->brief, "fullDescription", "text",
					   rule->full, "help", "text", text, "markdown", markdown,
					   "defaultConfiguration", "level", "warning", "properties", "tags",
					   "concurrency", "correctness", "atomsan", "precision", "high",
					   "problem.severity", "warning");

		BUG_ON(!object);
		json_array_append_new(array, object);
		free(text);
		free(markdown);
	}
	return array;
}
