/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What `atomsan doctor` finds out, one line each: a state, what was looked at,
 * and the command that mends it.
 */
#ifndef ATOMSAN_CLI_DOCTOR_H
#define ATOMSAN_CLI_DOCTOR_H

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_BROKEN };

struct doctor_line {
	enum doctor_state state;
	char *what;
	char *mend; /* NULL if there is nothing to mend */
};

struct doctor {
	struct doctor_line *lines;
	int count;
};

/* Takes over both texts. */
void doctor_say(struct doctor *doctor, enum doctor_state state, char *what, char *mend);

/* Builds a small program in a folder of its own and runs it. */
void doctor_toolchain(struct doctor *doctor);
/* Settings of the kernel, limits of this process, room on disks. */
void doctor_machine(struct doctor *doctor);

#endif
