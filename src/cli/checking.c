/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/checking.h"

#include "model/spec.h"

#include <stdlib.h>
#include <string.h>

static int choose(const char *option, const char *word, const char *const *words, unsigned fallback,
		  struct err *err)
{
	if (!word)
		return (int)fallback;
	for (int i = 0; words[i]; i++)
		if (!strcmp(word, words[i]))
			return i;
	const char *near = cli_nearest(word, words);

	return near ? err_set(err, "%s does not know '%s'; did you mean '%s'?", option, word, near)
		    : err_set(err, "%s does not know '%s'", option, word);
}

static int read_files(struct spec *spec, const char *names, struct err *err)
{
	char *files = mem_text(names), *rest = files, *file;
	int result = 0;

	while (!result && (file = strsep(&rest, ":")))
		if (*file)
			result = spec_add_file(spec, file, err);
	free(files);
	return result;
}

static int read_specs(struct checking *checking, const struct trace *trace, struct err *err)
{
	checking->spec = spec_new();
	if (spec_add_trace(checking->spec, trace, err) < 0)
		return -1;
	if (!checking->spec_files)
		return 0;
	return read_files(checking->spec, checking->spec_files, err) < 0
		       ? -1
		       : spec_check_trace(checking->spec, trace, err);
}

int checking_files(const struct checking *checking, struct err *err)
{
	struct spec *spec = spec_new();
	int result = checking->spec_files ? read_files(spec, checking->spec_files, err) : 0;

	spec_free(spec);
	return result;
}

int checking_prepare(struct checking *checking, const struct trace *trace, struct serial_options *options,
		     struct err *err)
{
	static const char *const sets[] = {"objects", "one", NULL};
	static const char *const units[] = {"functions", "sections", "loops", "declared", NULL};
	static const char *const engines[] = {"graph", "clocks", NULL};
	/* A text trace knows begin and end, and no objects. */
	bool imported = trace->header.flags & TRACE_IMPORTED;
	int set = choose("--sets", checking->sets, sets, imported ? MODEL_SETS_ONE : MODEL_SETS_OBJECTS, err);
	int unit = set < 0 ? -1
			   : choose("--units", checking->units, units,
				    imported ? MODEL_UNITS_DECLARED : MODEL_UNITS_FUNCTIONS, err);
	int engine = unit < 0 ? -1 : choose("--engine", checking->engine, engines, CHECK_CONFLICT_GRAPH, err);

	if (engine < 0 || read_specs(checking, trace, err) < 0)
		return -1;
	*options = (struct serial_options){
		.model = {.sets = (enum model_sets)set,
			  .units = (enum model_units)unit,
			  .keep_units_at_waits = checking->keep_at_waits,
			  .keep_loop_units = checking->keep_loops,
			  .atomics = checking->atomics,
			  .spec = checking->spec},
		.engine = (enum check_kind)engine,
		.conflicts_only = checking->conflicts_only,
		.every_cycle = checking->every_cycle,
	};
	return 0;
}

bool checking_beyond_calls(const struct checking *checking)
{
	return checking->sets || checking->units || checking->spec_files || checking->keep_at_waits ||
	       checking->keep_loops || checking->atomics || checking->every_cycle;
}

void checking_release(struct checking *checking)
{
	spec_free(checking->spec);
	checking->spec = NULL;
}
