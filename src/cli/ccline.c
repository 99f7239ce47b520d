/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/ccline.h"
#include "model/spec.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ccwords.h"

/*
 * Options of clang 22 whose value is the next word; found by asking clang
 * which options swallow a word that follows. Most can also have the value
 * joined (-Idir), and then they are longer than what stands here.
 */
/* clang-format off */
static const char *const with_value[] = {
	"--analyzer-output", "--assert", "--config", "--define-macro", "--for-linker", "--force-link",
	"--imacros", "--include", "--include-directory", "--include-directory-after",
	"--include-prefix", "--include-with-prefix", "--include-with-prefix-after",
	"--include-with-prefix-before", "--language", "--library-directory", "--output", "--param",
	"--prefix", "--print-file-name", "--print-prog-name", "--serialize-diagnostics", "--std",
	"--sysroot", "--undefine-macro", "--vfsoverlay", "-A", "-B", "-D", "-F", "-G", "-I", "-L",
	"-MF", "-MJ", "-MQ", "-MT", "-T", "-U", "-V", "-Xanalyzer", "-Xarch_device", "-Xarch_host",
	"-Xassembler", "-Xclang", "-Xclangas", "-Xcuda-fatbinary", "-Xcuda-ptxas", "-Xlinker",
	"-Xoffload-linker", "-Xopenmp-target", "-Xpreprocessor", "-arch", "-b", "-ccc-gcc-name",
	"-ccc-install-dir", "-cxx-isystem", "-dependency-dot", "-dependency-file", "-dumpdir", "-e",
	"-fdebug-compilation-dir", "-filelist", "-fmodules-user-build-path", "-framework",
	"-ftrapv-handler", "-gen-cdb-fragment-path", "-idirafter", "-iframework", "-imacros",
	"-imultilib", "-include", "-include-pch", "-init", "-iprefix", "-iquote", "-isysroot",
	"-isystem", "-isystem-after", "-ivfsoverlay", "-iwithprefix", "-iwithprefixbefore",
	"-iwithsysroot", "-l", "-meabi", "-mllvm", "-mmlir", "-module-dependency-dir",
	"-mthread-model", "-o", "-resource-dir", "-rpath", "-serialize-diagnostics", "-specs",
	"-stdlib++-isystem", "-target", "-u", "-undefined", "-vfsoverlay", "-working-directory", "-x",
	"-z", NULL,
};

/* Options after which clang stops before it links. */
static const char *const no_link[] = {
	"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--compile", "--assemble", "--preprocess",
	"--dependencies", "--user-dependencies", "--precompile", "--analyze", "-emit-ast",
	"-emit-interface-stubs", "-extract-api", "-verify-pch", "-module-file-info", "-rewrite-objc",
	"-rewrite-legacy-objc", "-help", "--help", "--help-hidden", "--version", "-dumpmachine",
	"-dumpversion", NULL,
};
/* clang-format on */

/* Links, but not to a program that libc starts. */
static const char *const bare_link[] = {
	"-r", "-nostdlib", "-nodefaultlibs", "-nolibc", "--no-standard-libraries", NULL};

static const char *const header_endings[] = {".h", ".hh", ".H", ".hp", ".hpp", ".hxx", ".h++", ".iih", NULL};

/* Each of them lays its own shadow over memory and stands before libc too. */
static const char *const rivals[] = {"thread", "address", "memory", "hwaddress", "leak", NULL};

static int one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return 1;
	return 0;
}

static int starts(const char *word, const char *with)
{
	return !strncmp(word, with, strlen(with));
}

/* What the line has said so far. */
struct state {
	const char *language; /* of -x; NULL: by the file's name */
	int headers;          /* inputs that become precompiled headers */
	int present;          /* inputs that are there */
	int moved;            /* names are relative to another folder */
	int stops, bare, shared, is_static;
	unsigned rivals; /* bit i: rivals[i] is on */
	const char *target;
};

static int is_header(const struct state *state, const char *name)
{
	const char *dot = strrchr(name, '.');

	if (state->language)
		return strstr(state->language, "-header") != NULL;
	return dot && one_of(dot, header_endings);
}

static void input(struct ccline *line, struct state *state, const char *name)
{
	line->inputs++;
	state->headers += is_header(state, name);
	state->present += !strcmp(name, "-") || !access(name, F_OK);
}

static void sanitize(struct state *state, const char *list, int on)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		for (int i = 0; rivals[i]; i++)
			if ((strlen(rivals[i]) == n && !strncmp(list, rivals[i], n)) ||
			    (!on && n == 3 && !strncmp(list, "all", n)))
				state->rivals = on ? state->rivals | 1u << i : state->rivals & ~(1u << i);
		list += n + (list[n] == ',');
	}
}

static int add_spec(struct ccline *line, const char *name, struct err *err)
{
	char *path = realpath(name, NULL);
	char *all;

	if (!path || access(path, R_OK)) {
		free(path);
		return err_set(err, "cannot read the specification file '%s': %s", name, strerror(errno));
	}
	if (strchr(path, ':')) {
		err_set(err,
			"the specification file '%s' has a colon in its path, which separates files; rename "
			"it",
			path);
		free(path);
		return -1;
	}
	/* The compiler heeds what it ignores, and would not see what is wrong with the rest. */
	struct spec *spec = spec_new();
	int failed = spec_add_file(spec, path, err);

	spec_free(spec);
	if (failed) {
		free(path);
		return -1;
	}
	all = line->specs ? mem_textf("%s:%s", line->specs, path) : mem_text(path);
	free(line->specs);
	free(path);
	line->specs = all;
	return 0;
}

static int environment_specs(struct ccline *line, struct err *err)
{
	const char *list = getenv("ATOMSAN_SPEC");
	char *copy, *rest, *name;
	int failed = 0;

	if (!list || !*list)
		return 0;
	rest = copy = mem_text(list);
	while (!failed && (name = strsep(&rest, ":")))
		if (*name)
			failed = add_spec(line, name, err);
	free(copy);
	return failed;
}

static int set_heal(struct ccline *line, const char *name, struct err *err)
{
	free(line->heal);
	line->heal = realpath(name, NULL);
	if (!line->heal || access(line->heal, R_OK))
		return err_set(err, "cannot read the atomicity repository '%s': %s", name, strerror(errno));
	return 0;
}

/* For builds that cannot be told a flag. */
static int environment_heal(struct ccline *line, struct err *err)
{
	const char *name = getenv("ATOMSAN_HEAL");

	return line->heal || !name || !*name ? 0 : set_heal(line, name, err);
}

/* The wrapper's own options; 1 if this was one. */
static int ours(struct ccline *line, struct ccline_word *word, struct err *err)
{
	if (starts(word->text, "--spec="))
		word->is_ours = add_spec(line, word->text + 7, err) ? -1 : 1;
	else if (!strcmp(word->text, "--no-bitcode"))
		word->is_ours = line->no_bitcode = 1;
	else if (!strcmp(word->text, "--early"))
		word->is_ours = line->early = 1;
	else if (starts(word->text, "--heal="))
		word->is_ours = set_heal(line, word->text + 7, err) ? -1 : 1;
	return word->is_ours;
}

/* What reaches the linker past clang; a list separated by commas. */
static void linker_words(struct state *state, const char *list)
{
	static const char *const relocatable[] = {"-r", "-i", "-Ur", "--relocatable", NULL};
	static const char *const shared[] = {"-shared", "--shared", "-Bshareable", NULL};

	while (*list) {
		size_t n = strcspn(list, ",");
		char word[16] = "";

		if (n < sizeof word)
			memcpy(word, list, n);
		if (one_of(word, relocatable))
			state->bare = 1;
		else if (one_of(word, shared))
			state->shared = 1;
		list += n + (list[n] == ',');
	}
}

static void option(struct ccline *line, struct state *state, const char *word, const char *value)
{
	if (one_of(word, no_link) || starts(word, "-print-") || starts(word, "--print-"))
		state->stops = 1;
	else if (one_of(word, bare_link))
		state->bare = 1;
	else if (!strcmp(word, "-shared") || !strcmp(word, "--shared"))
		state->shared = 1;
	else if (!strcmp(word, "-static") || !strcmp(word, "--static") || !strcmp(word, "-static-pie"))
		state->is_static = 1;
	else if (starts(word, "-fsanitize="))
		sanitize(state, strchr(word, '=') + 1, 1);
	else if (starts(word, "-fno-sanitize="))
		sanitize(state, strchr(word, '=') + 1, 0);
	else if (!strcmp(word, "-m32") || !strcmp(word, "-mx32") || !strcmp(word, "-m16") ||
		 starts(word, "--target="))
		state->target = word;
	else if (!strcmp(word, "-m64"))
		state->target = NULL;
	else if (!strcmp(word, "-target") && value)
		state->target = value;
	else if (!strcmp(word, "-x") || !strcmp(word, "--language"))
		state->language = value && strcmp(value, "none") ? value : NULL;
	else if (starts(word, "-x"))
		state->language = strcmp(word, "-xnone") ? word + 2 : NULL;
	else if (starts(word, "-working-directory"))
		state->moved = 1;
	if (starts(word, "-Wl,"))
		linker_words(state, word + 4);
	else if (!strcmp(word, "-Xlinker") && value)
		linker_words(state, value);
	else if (!starts(word, "-l") && strcmp(word, "-z"))
		return;
	/* Clang runs the linker for these alone. */
	line->inputs++;
	state->present++;
}

static int scan(struct ccline *line, struct state *state, struct err *err)
{
	for (int i = 0; i < line->word_count; i++) {
		struct ccline_word *word = &line->words[i];
		const char *text = word->text;
		int takes_value;

		if (text[0] != '-' || !text[1] || line->end < line->argument_count) {
			input(line, state, text);
			continue;
		}
		if (!strcmp(text, "--")) {
			line->end = word->argument;
			continue;
		}
		if (ours(line, word, err)) {
			if (word->is_ours < 0)
				return -1;
			continue;
		}
		takes_value = one_of(text, with_value);
		if (takes_value && i + 1 == line->word_count) {
			/* Clang shall miss the value, and not take a flag of ours for it. */
			line->end = word->argument;
			break;
		}
		option(line, state, text, takes_value ? line->words[i + 1].text : NULL);
		i += takes_value;
	}
	return 0;
}

static int refuse(const struct ccline *line, const struct state *state, struct err *err)
{
	const char *target = state->target;

	for (int i = 0; rivals[i]; i++)
		if (state->rivals & 1u << i)
			return err_set(err,
				       "-fsanitize=%s and atomsan both need the shadow of all memory for "
				       "themselves: build twice, once with each",
				       rivals[i]);
	if (target && line->inputs) {
		const char *triple = starts(target, "--target=") ? target + 9 : target;

		if (!starts(triple, "x86_64") || !strstr(triple, "linux"))
			return err_set(
				err, "atomsan works on Linux x86-64 alone, and '%s' asks for something else",
				target);
	}
	if (line->link == CCLINE_EXECUTABLE && state->is_static)
		return err_set(
			err, "a fully static program cannot be watched, since the runtime sees "
			     "synchronisation by standing before libc's dynamic symbols: leave out -static, "
			     "perhaps in favour of '-static-libgcc -static-libstdc++'");
	return 0;
}

int ccline_read(struct ccline *line, int count, char **arguments, struct err *err)
{
	struct state state = {0};

	*line = (struct ccline){.arguments = arguments, .argument_count = count, .end = count};
	ccwords_read(line);
	if (environment_specs(line, err) || scan(line, &state, err) || environment_heal(line, err))
		return -1;
	/* With nothing but headers, clang writes precompiled ones; with nothing at
	 * all it says so, unless a flag for the linker looks like something. */
	if (state.stops || (!state.present && !state.moved) || state.headers == line->inputs)
		line->link = CCLINE_NO_LINK;
	else if (state.bare)
		line->link = CCLINE_BARE_LINK;
	else
		line->link = state.shared ? CCLINE_SHARED : CCLINE_EXECUTABLE;
	return refuse(line, &state, err);
}

void ccline_release(struct ccline *line)
{
	for (int i = 0; i < line->word_count; i++)
		free(line->words[i].text);
	free(line->words);
	free(line->specs);
	free(line->heal);
	*line = (struct ccline){0};
}

const char *ccline_output(const struct ccline *line)
{
	const char *name = "a.out";

	for (int i = 0; i < line->word_count; i++) {
		const char *word = line->words[i].text;

		if (!strcmp(word, "-o") && i + 1 < line->word_count)
			name = line->words[++i].text;
		else if (starts(word, "-o") && word[2])
			name = word + 2;
		else if (starts(word, "--output="))
			name = word + 9;
	}
	return name;
}

void ccline_rest(const struct ccline *line, int from, int to, char **out, int *n)
{
	int first = 0;

	for (int i = from; i < to; i++) {
		int last, is_ours = 0;

		while (first < line->word_count && line->words[first].argument < i)
			first++;
		for (last = first; last < line->word_count && line->words[last].argument == i; last++)
			is_ours |= line->words[last].is_ours;
		if (!is_ours)
			out[(*n)++] = line->arguments[i];
		/* A response file with a word of ours in it is handed on word by word. */
		for (int w = first; is_ours && w < last; w++)
			if (!line->words[w].is_ours)
				out[(*n)++] = line->words[w].text;
	}
}
