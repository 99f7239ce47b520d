/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes the inputs that fuzzing starts from: seeds TRACE STD SPEC SCHEDULE ATOMICITY, all folders. */
#include "squeezed.h"
#include "trace/pack.h"
#include "trace/std.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void must(int failed, const struct err *err)
{
	if (!failed)
		return;
	fprintf(stderr, "seeds: %s\n", err->text);
	exit(1);
}

/* Two threads that do every operation there is. */
static void every_event(const char *path)
{
	static const uint8_t ops[] = {
#define X(number, name, text, object, value, other) number,
		TRACE_OPS(X)
#undef X
	};
	struct err err;
	struct trace_writer *w = trace_writer_open(path, 0, &err);
	uint32_t site, function;

	must(!w, &err);
	trace_writer_meta(w, TRACE_META_ARGV, 0, "./a\0b", 6);
	trace_writer_module(w, "/bin/a", "\1", 1);
	site = trace_writer_site(w,
				 &(struct trace_site){.function = "f", .file = "f.c", .line = 1, .size = 8});
	function = trace_writer_function(w, &(struct trace_function){.name = "f", .file = "f.c"});
	trace_writer_variable(
		w, &(struct trace_variable){
			   .name = "v", .type = "s", .address = 0x2000, .size = 8, .element_size = 8});
	trace_writer_spec(w, "unit function f\n");
	for (uint32_t i = 0; i < sizeof ops; i++) {
		struct trace_event op = {.kind = TRACE_OP,
					 .op = ops[i],
					 .thread = i % 2,
					 .address = 0x1000,
					 .site = i % 3 ? site : 0,
					 .value = i % 4,
					 .flags = (uint16_t)(i % 8)};
		struct trace_event read = {
			.kind = TRACE_ACCESS, .thread = i % 2, .address = 0x2000, .site = site};
		struct trace_event enter = {.kind = TRACE_ENTER, .thread = i % 2, .function = function};
		struct trace_event leave = {.kind = TRACE_EXIT, .thread = i % 2, .frames = 1};

		trace_writer_event(w, &op);
		trace_writer_event(w, &enter);
		trace_writer_event(w, &read);
		trace_writer_event(w, &leave);
	}
	must(trace_writer_finish(w, &err), &err);
}

static void long_one(const char *path)
{
	struct err err;
	struct trace_writer *w = trace_writer_open(path, 0, &err);

	must(!w, &err);
	trace_writer_site(w, &(struct trace_site){.file = "f.c", .line = 1, .size = 8});
	for (uint64_t i = 0; i < 1500; i++) {
		struct trace_event e = {
			.kind = TRACE_ACCESS, .thread = (uint32_t)(i / 750), .address = 0x2000, .site = 1};

		trace_writer_event(w, &e);
	}
	must(trace_writer_finish(w, &err), &err);
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		exit(1);
}

int main(int argc, char **argv)
{
	static const char text[] = "A|fork(B)|1\nA|begin|2\nA|acq(l)|3\nA|r(x)|4\nB|w(x)|5\nB|begin()|6\n"
				   "B|end(u)|7\nA|rel(l)|8\nA|end|9\n\nA|join(B)|a|b\n";
	static const char statements[] =
		"# every statement\nunit function put\nnotunit function *_debug\nwait function [a-z]*\n"
		"unitfor function sum \"pair<int, long>\"\nset a list.head list.items[] list.*\n"
		"set b variable hits bank.c:total\nowned list.next\nnotowned list.parent\n"
		"merge all type list node\nmerge world variable t*\nignore function f?\nignore file x/*\n"
		"ignore type s\nignore member s.hits\nignore variable v\n"
		"section s.hits entry a.c:1 end a.c:2 allow none end b.c:3 unit f\n#line 7 a b.c\nunit "
		"function put\n";
	static const char schedule[] = "atomsan schedule 1\n# all lines\nprogram ./a%20b\nargument "
				       "x\nenvironment A=%25\nbuild-id 0f\n"
				       "strategy pct\nseed 7\nverdict crash: x\nevents first\nrun T0 3 # "
				       "note\nrun T1.2 9\nthen free\n";
	static const char atomicity[] =
		"atomicity 1\n# all words\nprogram \"a b\"\nbuild 00ff\norder a.lock b.lock\n"
		"section A-5d1c0a2f account.balance\n  entry R account.balance put bank.c:43:15 #1/2\n"
		"  end W \"pair<int, \\\"x\\\">.first\" put bank.c:45:18 #1/1 allow R W\n"
		"  end R x put bank.c:46:1 allow none\n  unit put bank.c\n  instance any\n  circular\n"
		"  recursive\n  consecutive\n  from lint load-store 800\n  from learned 12 runs 34 times\n"
		"  from finding F-1234 observed\n  from spec s:1\n  from annotation\n  heal lock\n"
		"broken R x get bank.c:20:9 #1/1 W x get bank.c:21:9\n";
	char path[4096], other[4096];
	struct trace *trace;
	struct err err;

	if (argc != 6)
		return 2;
	mkdir(argv[1], 0777);
	mkdir(argv[2], 0777);
	mkdir(argv[3], 0777);
	snprintf(path, sizeof path, "%s/events", argv[1]);
	every_event(path);
	snprintf(path, sizeof path, "%s/imported", argv[1]);
	must(std_import(text, strlen(text), "text", path, &err), &err);
	snprintf(path, sizeof path, "%s/long", argv[1]);
	long_one(path);
	trace = trace_open(path, &err);
	must(!trace, &err);
	snprintf(path, sizeof path, "%s/packed", argv[1]);
	must(trace_repack(trace, path, true, &err), &err);
	trace_close(trace);
	snprintf(path, sizeof path, "%s/events", argv[1]);
	snprintf(other, sizeof other, "%s/squeezed", argv[1]);
	squeezed_copy(path, other);
	snprintf(path, sizeof path, "%s/text", argv[2]);
	put(path, text);
	snprintf(path, sizeof path, "%s/text", argv[3]);
	put(path, statements);
	mkdir(argv[4], 0777);
	mkdir(argv[5], 0777);
	snprintf(path, sizeof path, "%s/all", argv[5]);
	put(path, atomicity);
	snprintf(path, sizeof path, "%s/text", argv[4]);
	put(path, schedule);
	return 0;
}
