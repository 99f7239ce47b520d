/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Completion for shells, made of the table of verbs: what a verb's help says
 * is what can be completed, so the two cannot differ.
 */
#include "cli/cli.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option as a line of the help has it: "  --db=FILE  the store" or "  -o, --output FOLDER  where ...". */
struct option_line {
	char name[48];
	bool value;       /* takes one */
	bool equals;      /* behind "=", not as a word of its own */
	const char *text; /* what it does, up to the end of the line; not terminated */
	int length;
};

/* Reads one name from the line, and returns what follows it; NULL if there is none. */
static const char *read_name(const char *at, struct option_line *option)
{
	size_t length = strspn(at, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	if (*at != '-' || length < 2 || length >= sizeof option->name)
		return NULL;
	memcpy(option->name, at, length);
	option->name[length] = 0;
	return at + length;
}

/* Calls `put` for each option that the help has a line for. */
static void each_option(const struct verb *verb, void (*put)(const struct option_line *option))
{
	for (const char *line = verb->help; line && *line;) {
		const char *end = strchr(line, '\n'), *at = line + strspn(line, " ");
		struct option_line options[4] = {0};
		int count = 0;

		if (!end)
			end = line + strlen(line);
		while (count < 4 && at - line <= 40) {
			struct option_line *option = &options[count];
			const char *rest = read_name(at, option);

			if (!rest)
				break;
			option->equals = *rest == '=' || (rest[0] == '[' && rest[1] == '=');
			/* A word in capitals right behind it is its value. */
			option->value = option->equals || (*rest == ' ' && rest[1] >= 'A' && rest[1] <= 'Z');
			count++;
			at = rest;
			if (*at != ',')
				break;
			at += 1 + strspn(at + 1, " ");
		}
		if (count) {
			const char *text = strstr(at, "  ");

			text = text && text < end ? text + strspn(text, " ") : end;
			for (int i = 0; i < count; i++) {
				options[i].text = text;
				options[i].length = text < end ? (int)(end - text) : 0;
				/* "-o, --output FOLDER": the value belongs to both. */
				if (options[count - 1].value && !options[i].value)
					options[i].value = true;
				put(&options[i]);
			}
		}
		line = *end ? end + 1 : end;
	}
}

/* Verbs that take findings as arguments. */
static bool takes_findings(const struct verb *verb)
{
	return strstr(verb->synopsis, "FINDING") || !strcmp(verb->name, "replay");
}

static void put_bash_option(const struct option_line *option)
{
	printf(" %s%s", option->name, option->equals ? "=" : "");
}

static void bash(void)
{
	fputs("# bash completion for atomsan, made by 'atomsan completion bash'\n"
	      "_atomsan()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
	      "\tlocal options= findings=\n"
	      "\tCOMPREPLY=()\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      stdout);
	for (const struct verb *const *v = cli_verbs(); *v; v++)
		printf("%s ", (*v)->name);
	fputs("--version -h' -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase $verb in\n", stdout);
	for (const struct verb *const *v = cli_verbs(); *v; v++) {
		printf("\t%s) options='-h", (*v)->name);
		each_option(*v, put_bash_option);
		printf("'%s ;;\n", takes_findings(*v) ? " findings=yes" : "");
	}
	/* "=" is a word of its own to bash. Behind it, and where no option begins, stands the name of a file.
	 */
	fputs("\tesac\n"
	      "\tif [[ $cur == '=' ]]; then\n\t\tcur=\n\telif [[ $prev != '=' && $cur == -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	      "\t\t[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
	      "\t\treturn\n\tfi\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	      "\t[[ $findings && $prev != '=' ]] &&\n"
	      "\t\tCOMPREPLY+=($(compgen -W \"$(\"${COMP_WORDS[0]}\" list --all 2>/dev/null | sed -n "
	      "'s/^\\(F-[0-9a-f]*\\) .*/\\1/p')\" -- \"$cur\"))\n"
	      "\treturn 0\n"
	      "}\ncomplete -F _atomsan atomsan\n",
	      stdout);
}

/* Inside single quotes and brackets. */
static void put_zsh(const char *text, int length)
{
	for (int i = 0; i < length; i++) {
		if (strchr("[]:\\", text[i]))
			putchar('\\');
		if (text[i] == '\'')
			fputs("'\\''", stdout);
		else
			putchar(text[i]);
	}
}

static void put_zsh_option(const struct option_line *option)
{
	printf(" \\\n\t\t\t'%s%s[", option->name, option->equals ? "=" : "");
	put_zsh(option->text, option->length);
	printf("]%s'", option->value ? ":value:_files" : "");
}

static void zsh(void)
{
	fputs("#compdef atomsan\n"
	      "# zsh completion for atomsan, made by 'atomsan completion zsh'\n"
	      "_atomsan_findings()\n{\n"
	      "\tlocal -a ids\n"
	      "\tids=(${(f)\"$(atomsan list --all 2>/dev/null | sed -n 's/^\\(F-[0-9a-f]*\\) .*/\\1/p')\"})\n"
	      "\tcompadd -a ids\n\t_files\n}\n\n"
	      "_atomsan()\n{\n"
	      "\tlocal -a verbs\n\tverbs=(\n",
	      stdout);
	for (const struct verb *const *v = cli_verbs(); *v; v++) {
		printf("\t\t'%s:", (*v)->name);
		put_zsh((*v)->summary, (int)strlen((*v)->summary));
		fputs("'\n", stdout);
	}
	fputs("\t)\n\tif ((CURRENT == 2)); then\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n"
	      "\tlocal verb=$words[2]\n\tshift words\n\t((CURRENT--))\n\tcase $verb in\n",
	      stdout);
	for (const struct verb *const *v = cli_verbs(); *v; v++) {
		printf("\t%s)\n\t\t_arguments -s", (*v)->name);
		each_option(*v, put_zsh_option);
		printf(" \\\n\t\t\t'-h[tell about this verb]' '*:argument:%s' ;;\n",
		       takes_findings(*v) ? "_atomsan_findings" : "_files");
	}
	fputs("\tesac\n}\n\n_atomsan \"$@\"\n", stdout);
}

static int completion_run(int argc, char **argv)
{
	const struct cli_option options[] = {{NULL, NULL, NULL}};
	int first = cli_options(&verb_completion, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (argc - first != 1)
		return cli_failf(&verb_completion, "needs the name of a shell; usage: atomsan completion %s",
				 verb_completion.synopsis);
	if (!strcmp(argv[first], "bash"))
		bash();
	else if (!strcmp(argv[first], "zsh"))
		zsh();
	else
		return cli_failf(&verb_completion,
				 "there is no completion for '%s'; there is one for bash and one for zsh",
				 argv[first]);
	return fflush(stdout) || ferror(stdout) ? cli_failf(&verb_completion, "cannot write the output")
						: CLI_OK;
}

const struct verb verb_completion = {
	.name = "completion",
	.synopsis = "bash|zsh",
	.summary = "Print a completion script for a shell",
	.help = "",
	.run = completion_run,
};
