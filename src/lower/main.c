/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * atomsan-lower FD FILE...: writes the program in the files to the descriptor.
 * Not for people: `atomsan lint` calls it. What goes wrong is one sentence on
 * standard error, and status 1.
 */
#include <llvm-c/ErrorHandling.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lower/lower.h"

static void fatal(const char *reason)
{
	fprintf(stderr, "LLVM gave up: %.300s\n", reason);
	_exit(1);
}

int main(int argc, char **argv)
{
	LLVMContextRef context;
	LLVMModuleRef module;
	struct err err;

	if (argc < 3) {
		fprintf(stderr, "usage: atomsan-lower FD FILE...\n");
		return 1;
	}
	LLVMInstallFatalErrorHandler(fatal);
	context = LLVMContextCreate();
	tables_begin();
	module = input_read(context, argc - 2, argv + 2, &err);
	if (module)
		places_mark(module);
	if (!module || prepare(module, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	flatten(module);
	places_end();
	if (tables_write(atoi(argv[1]))) {
		fprintf(stderr, "the program that was read does not fit into memory\n");
		return 1;
	}
	/* Taking LLVM's memory apart would be most of the time. */
	fflush(NULL);
	_exit(0);
}
