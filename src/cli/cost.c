/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/cost.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

int cost_read(struct cost *cost, struct err *err)
{
	cost->plain = cost->text ? strtod(cost->text, NULL) : 0;
	if (cost->text && (!(cost->plain > 0) || strspn(cost->text, "0123456789.") != strlen(cost->text)))
		return err_set(err, "--plain-seconds takes the CPU seconds of a plain run, not '%s'",
			       cost->text);
	return 0;
}

static double seconds_of(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage))
		return 0;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

double cost_own(void)
{
	return seconds_of(RUSAGE_SELF);
}

double cost_children(void)
{
	return seconds_of(RUSAGE_CHILDREN);
}

void cost_count(const struct cost *cost, struct finding_list *list, double program, double checker,
		uint64_t runs)
{
	finding_add_count(list, "program CPU seconds", program);
	if (checker > 0)
		finding_add_count(list, "checker CPU seconds", checker);
	if (cost->plain > 0 && runs)
		finding_add_count(list, "overhead", (program + checker) / ((double)runs * cost->plain));
}
