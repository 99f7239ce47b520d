/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What libc reads and writes on the program's behalf: for each function the
 * bytes that it had to look at or changed, and not the whole buffer. Names are
 * those of the places; the sizes are in the expectation.
 */
#include "seen.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define PLACE(name) static char name[64] __attribute__((aligned(64)))

PLACE(strlen_from);
PLACE(strcpy_to);
PLACE(strncpy_to);
PLACE(strcat_to);
PLACE(strcmp_a);
PLACE(strcmp_b);
PLACE(memchr_from);
PLACE(memcpy_to);
PLACE(memset_to);
PLACE(memcmp_a);
PLACE(strchr_from);
PLACE(strstr_from);
PLACE(strtok_from);
PLACE(strdup_from);
PLACE(strtol_from);
PLACE(strtod_from);
PLACE(atoi_from);
PLACE(snprintf_to);
PLACE(sprintf_to);
PLACE(cut_to);
PLACE(printf_whole);
PLACE(printf_part);
PLACE(read_to);
PLACE(write_from);
PLACE(readv_a);
PLACE(readv_b);
PLACE(recv_to);
PLACE(fgets_to);
PLACE(fread_to);
PLACE(fputs_from);
PLACE(fwrite_from);
static int numbers[10] __attribute__((aligned(64)));
static int counted __attribute__((aligned(64)));
static int scanned_number __attribute__((aligned(64)));
PLACE(scanned_word);
static char *strtol_end __attribute__((aligned(64)));
static char *line __attribute__((aligned(64)));
static size_t line_room;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Sizes that the compiler cannot know. */
static volatile int ten = 10;

/* Nobody can write there, so nobody need know that it is read; to the compiler it is any text. */
static const char *volatile constant = "constant";

static void texts(void)
{
	char *rest;

	NAME(strlen_from);
	NAME(strcpy_to);
	NAME(strncpy_to);
	NAME(strcat_to);
	NAME(strcmp_a);
	NAME(strcmp_b);
	NAME(strchr_from);
	NAME(strstr_from);
	NAME(strtok_from);
	NAME(strdup_from);
	NAME_AT("constant", constant);
	MUST(strlen(constant) == 8);
	strcpy(strcpy_to, "hello");
	MUST(strlen(strlen_from) == 0);
	strncpy(strncpy_to, strcpy_to, (size_t)ten);
	strcpy(strcat_to, "ab");
	strcat(strcat_to, strcpy_to);
	strcpy(strcmp_a, "same here");
	strcpy(strcmp_b, "same there");
	MUST(strcmp(strcmp_a, strcmp_b) < 0);
	strcpy(strchr_from, "one two three");
	MUST(strchr(strchr_from, 't') == strchr_from + 4);
	strcpy(strstr_from, "one two three");
	MUST(strstr(strstr_from, strcpy_to) == NULL);
	strcpy(strtok_from, ",a,bc");
	MUST(strtok_r(strtok_from, ",", &rest) == strtok_from + 1);
	MUST(strtok_r(NULL, ",", &rest) == strtok_from + 3);
	strcpy(strdup_from, "copy");
	rest = strdup(strdup_from);
	NAME_AT("strdup_to", rest);
	free(rest);
}

static void blocks(void)
{
	NAME(memcpy_to);
	NAME(memset_to);
	NAME(memchr_from);
	NAME(memcmp_a);
	NAME(numbers);
	memcpy(memcpy_to, memcmp_a, (size_t)ten + 3);
	memset(memset_to, 1, (size_t)ten + 7);
	memchr_from[5] = 'x';
	MUST(memchr(memchr_from, 'x', sizeof(memchr_from)) == memchr_from + 5);
	memcmp_a[20] = 1;
	MUST(memcmp(memcmp_a, memchr_from + 10, 30) > 0);
	for (int i = 0; i < 10; i++)
		numbers[i] = 10 - i;
	qsort(numbers, (size_t)ten, sizeof(int), compare);
	MUST(numbers[0] == 1);
}

static void conversions(void)
{
	NAME(strtol_from);
	NAME(strtol_end);
	NAME(strtod_from);
	NAME(atoi_from);
	strcpy(strtol_from, "1234 rest");
	MUST(strtol(strtol_from, &strtol_end, 10) == 1234 && strtol_end == strtol_from + 4);
	strcpy(strtod_from, "2.5x");
	MUST(strtod(strtod_from, NULL) == 2.5);
	strcpy(atoi_from, "-17");
	MUST(atoi(atoi_from) == -17);
}

static void formats(void)
{
	FILE *out = fopen("/dev/null", "w");

	NAME(snprintf_to);
	NAME(sprintf_to);
	NAME(cut_to);
	NAME(printf_whole);
	NAME(printf_part);
	NAME(counted);
	NAME(scanned_number);
	NAME(scanned_word);
	strcpy(printf_whole, "whole");
	strcpy(printf_part, "parts of it");
	MUST(snprintf(snprintf_to, sizeof(snprintf_to), "%d %s %.1f", ten, printf_whole, ten / 4.0) == 12);
	MUST(sprintf(sprintf_to, "%5.3s|%Lf", printf_part, (long double)ten) == 15);
	MUST(snprintf(cut_to, 4, "%ld", 1234567890L) == 10);
	MUST(fprintf(out, "%*d%c%s%n", ten, 5, 'x', printf_whole, &counted) == 16);
	MUST(sscanf(sprintf_to, "%*[ ]%3s|%d", scanned_word, &scanned_number) == 2);
	MUST(counted == 16 && scanned_number == 10);
	fclose(out);
}

static void files(void)
{
	char name[] = "/tmp/atomsan-libc-XXXXXX";
	struct iovec parts[2] = {{readv_a, 4}, {readv_b, 64}};
	int file = mkstemp(name), pair[2];
	FILE *stream;

	NAME(read_to);
	NAME(write_from);
	NAME(readv_a);
	NAME(readv_b);
	NAME(recv_to);
	NAME(fgets_to);
	NAME(fread_to);
	NAME(fputs_from);
	NAME(fwrite_from);
	NAME(line);
	strcpy(write_from, "first\nsecond\nthird\n");
	MUST(write(file, write_from, 19) == 19);
	MUST(pread(file, read_to, sizeof(read_to), 6) == 13);
	MUST(lseek(file, 0, SEEK_SET) == 0 && readv(file, parts, 2) == 19);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	MUST(send(pair[0], write_from, 3, 0) == 3 && recv(pair[1], recv_to, sizeof(recv_to), 0) == 3);
	stream = fopen(name, "r+");
	MUST(fgets(fgets_to, sizeof(fgets_to), stream) == fgets_to);
	MUST(getline(&line, &line_room, stream) == 7);
	NAME_AT("line_text", line);
	MUST(fread(fread_to, 2, ten, stream) == 3);
	strcpy(fputs_from, "more");
	MUST(fputs(fputs_from, stream) >= 0);
	MUST(fwrite(fwrite_from, 3, (size_t)ten, stream) == 10);
	fclose(stream);
	close(file);
	unlink(name);
}

int main(void)
{
	texts();
	blocks();
	conversions();
	formats();
	files();
	return 0;
}
