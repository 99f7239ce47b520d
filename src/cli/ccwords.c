/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Response files. Clang replaces an argument @FILE by the words in FILE before
 * it looks at anything else, so the wrapper has to as well. Words are separated
 * by white space; a backslash takes the next character as it is, also inside
 * quotes; nested names are relative to the working directory.
 */
#include "cli/ccwords.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The response files that are being read, innermost first. */
struct open_file {
	const struct open_file *outer;
	dev_t device;
	ino_t inode;
};

/* Clang refuses a file that contains itself; for us it is a word as any other. */
static int is_open(const struct open_file *files, FILE *file, struct open_file *this)
{
	struct stat status;

	if (fstat(fileno(file), &status))
		return 1;
	*this = (struct open_file){files, status.st_dev, status.st_ino};
	for (; files; files = files->outer)
		if (files->device == status.st_dev && files->inode == status.st_ino)
			return 1;
	return 0;
}

static char *read_all(const char *path, size_t *length, const struct open_file *outer, struct open_file *this)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0, n = 0;

	if (!file)
		return NULL;
	if (is_open(outer, file, this)) {
		fclose(file);
		return NULL;
	}
	do {
		if (n + 1 >= room) {
			room = room ? 2 * room : 4096;
			text = mem_resize(text, room, 1);
		}
		n += fread(text + n, 1, room - n - 1, file);
	} while (!feof(file) && !ferror(file));
	text[n] = 0;
	*length = n;
	if (ferror(file)) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static void add(struct ccline *line, char *text, int argument)
{
	struct ccline_word *word;

	if (!(line->word_count & (line->word_count - 1)))
		line->words = mem_resize(line->words, line->word_count ? 2 * line->word_count : 1,
					 sizeof *line->words);
	word = &line->words[line->word_count++];
	*word = (struct ccline_word){.text = text, .argument = argument};
}

/* Takes one word off the text at *at, in place; NULL at the end. */
static char *next_word(char **at, const char *end)
{
	char *from = *at, *to, *start;

	while (from < end && isspace((unsigned char)*from))
		from++;
	if (from == end)
		return NULL;
	start = to = from;
	while (from < end && !isspace((unsigned char)*from)) {
		char quote = *from == '"' || *from == '\'' ? *from : 0;

		if (!quote) {
			if (*from == '\\' && from + 1 < end)
				from++;
			*to++ = *from++;
			continue;
		}
		for (from++; from < end && *from != quote; from++) {
			if (*from == '\\' && from + 1 < end)
				from++;
			*to++ = *from;
		}
		if (from < end)
			from++;
	}
	/* The separator is consumed first: the word may end right where it stands. */
	*at = from < end ? from + 1 : from;
	*to = 0;
	return start;
}

static void expand(struct ccline *line, const char *text, int argument, const struct open_file *outer)
{
	struct open_file this;
	size_t length = 0;
	char *file = text[0] == '@' && text[1] ? read_all(text + 1, &length, outer, &this) : NULL;
	char *at = file, *word;

	if (!file) {
		add(line, mem_text(text), argument);
		return;
	}
	if (length >= 3 && !memcmp(file, "\xef\xbb\xbf", 3))
		at += 3;
	while ((word = next_word(&at, file + length)))
		expand(line, word, argument, &this);
	free(file);
}

void ccwords_read(struct ccline *line)
{
	for (int i = 0; i < line->argument_count; i++)
		expand(line, line->arguments[i], i, NULL);
}
