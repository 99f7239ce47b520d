/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/checking.h"

#include "cli/mentions.h"
#include "model/spec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static int read_files(struct spec *spec, const char *names, int (*refuse)(const char *, struct err *),
		      struct err *err)
{
	char *files = mem_text(names), *rest = files, *file;
	int result = 0;

	while (!result && (file = strsep(&rest, ":")))
		if (*file)
			result = (refuse && refuse(file, err)) || spec_add_file(spec, file, err) ? -1 : 0;
	free(files);
	return result;
}

struct doubts {
	struct mentions mentions;
	struct finding_list *list;
};

static bool mentions(void *user, const char *word)
{
	struct doubts *doubts = user;

	return mentions_word(&doubts->mentions, word);
}

static void warn(void *user, const char *sentence)
{
	struct doubts *doubts = user;

	if (doubts->list)
		finding_add_blind_spot(doubts->list, sentence);
}

static int check_names(struct checking *checking, const struct trace *trace, struct err *err)
{
	struct doubts user = {{.trace = trace}, checking->list};
	struct spec_doubts doubts = {.user = &user, .mentions = mentions, .warn = warn};
	struct spec_names *names = spec_names_new();
	int result;

	spec_names_add_trace(names, trace);
	result = spec_check_names(checking->spec, names, &doubts, err);
	spec_names_free(names);
	mentions_release(&user.mentions);
	return result;
}

static int read_specs(struct checking *checking, const struct trace *trace, struct err *err)
{
	checking->spec = spec_new();
	if (spec_add_trace(checking->spec, trace, err) < 0)
		return -1;
	if (!checking->spec_files)
		return 0;
	return read_files(checking->spec, checking->spec_files, NULL, err) < 0
		       ? -1
		       : check_names(checking, trace, err);
}

/* Who asks beforehand reads them more than once, and a pipe has its text but once. */
static int refuse_pipe(const char *file, struct err *err)
{
	struct stat st;

	if (!stat(file, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return err_set(err,
			       "the spec file %s is no file but a pipe or a device, and it is read more than "
			       "once; write it to a file",
			       file);
	return 0;
}

int checking_files(const struct checking *checking, struct err *err)
{
	struct spec *spec = spec_new();
	int result = checking->spec_files ? read_files(spec, checking->spec_files, refuse_pipe, err) : 0;

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
