/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which loops wait until something holds. A loop does if it calls a function of
 * the C library that waits for a condition, or one of the program's that does
 * nothing but that, through any number of such wrappers. The compiler notes
 * names (pass/waits.c), since it sees one file at a time; that a loop waits by
 * looking at atomic data it notes as such (pass/spins.c).
 */
#include "abi/hooks.h"
#include "model/inside.h"

#include <string.h>

/* More wrappers than that lie around nothing. */
enum { MOST_DEPTH = 16 };

static bool is_wait(const char *name, size_t length)
{
	static const char *const waits[] = {
		"pthread_cond_wait",      "pthread_cond_timedwait",
		"pthread_cond_clockwait", "cnd_wait",
		"cnd_timedwait",          "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
	};

	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
		if (strlen(waits[i]) == length && !memcmp(waits[i], name, length))
			return true;
	return false;
}

/* The place for the function of this name; 0 there: it is none that could wait. */
static uint32_t *wrapper_of(struct model *model, const char *name, size_t length)
{
	uint32_t known = model->wrappers.count;
	uint32_t number = nametable_number(&model->wrappers, name, length);

	if (number >= model->wrapper_room) {
		model->wrapper_room = model->wrapper_room ? model->wrapper_room * 2 : 64;
		model->wrapper_functions = mem_resize(model->wrapper_functions, model->wrapper_room,
						      sizeof(*model->wrapper_functions));
	}
	if (number == known)
		model->wrapper_functions[number] = 0;
	return &model->wrapper_functions[number];
}

void waits_learn(struct model *model, const struct trace_module_table *module)
{
	for (uint64_t i = 0; i < module->functions; i++) {
		uint64_t number = module->first_function + i;
		struct trace_function function;
		const char *name;

		if (trace_function(model->trace, number, &function, NULL) < 0 ||
		    function.flags & (ATOMSAN_FN_LOOP | ATOMSAN_FN_ARGUMENT) || !function.calls ||
		    !strchr(function.calls, ATOMSAN_CALLS_WAIT))
			continue;
		name = function.linkage_name ? function.linkage_name : function.name;
		if (name)
			*wrapper_of(model, name, strlen(name)) = (uint32_t)number + 1;
	}
}

static bool wait_by(struct model *model, const char *lines, uint32_t depth)
{
	for (const char *line = lines; line && *line && depth < MOST_DEPTH;) {
		size_t length = strcspn(line, "\n");

		if (*line == ATOMSAN_CALLS_WAIT) {
			uint32_t number = *wrapper_of(model, line + 1, length - 1);
			struct trace_function function;

			if (length == strlen(ATOMSAN_CALLS_SPINS) || is_wait(line + 1, length - 1) ||
			    (number && trace_function(model->trace, number - 1, &function, NULL) >= 0 &&
			     wait_by(model, function.calls, depth + 1)))
				return true;
		}
		line += length + (line[length] != 0);
	}
	return false;
}

bool waits_by(struct model *model, const char *calls)
{
	return wait_by(model, calls, 0);
}
