/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Would a call sleep? Asked for a thread that has a section, which it would have
 * to give up then: nobody can come and let it go on who waits for the section.
 * What has something to say does not sleep, nor does what was opened never to.
 * Asking takes nothing away from the call; between the two somebody else may,
 * and then the limit of others' waits is what helps.
 */
#include "rt/heal.h"
#include "rt/sys.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/select.h>

bool heal_may_sleep(int file)
{
	long flags = sys2(fcntl, file, F_GETFL);

	return !sys_failed(flags) && !(flags & O_NONBLOCK);
}

bool heal_would_sleep_poll(struct pollfd *files, unsigned long count)
{
	struct timespec none = {0, 0};

	/* An error is the call's to tell. */
	return sys6(ppoll, files, count, &none, NULL, 8, 0) == 0;
}

bool heal_would_sleep(int file, bool output)
{
	struct pollfd ask = {file, output ? POLLOUT : POLLIN, 0};

	return heal_would_sleep_poll(&ask, 1) && heal_may_sleep(file);
}

/* The kernel writes what it finds where it was asked, so it is asked in a copy. */
bool heal_would_sleep_select(int count, const fd_set *reads, const fd_set *writes, const fd_set *others)
{
	enum { WORD = 8 * sizeof(fd_mask) };
	const fd_set *given[3] = {reads, writes, others};
	fd_set asked[3];
	struct timespec none = {0, 0};

	if (count < 0 || count > FD_SETSIZE)
		return true;
	for (int i = 0; i < 3; i++)
		for (int word = 0; given[i] && word < (count + WORD - 1) / WORD; word++)
			asked[i].fds_bits[word] = given[i]->fds_bits[word];
	return sys6(pselect6, count, reads ? &asked[0] : NULL, writes ? &asked[1] : NULL,
		    others ? &asked[2] : NULL, &none, NULL) == 0;
}
