/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Signal handlers. The program's handler is kept in a table and ours is
 * installed in its place, which calls it between SIGNAL_BEGIN and SIGNAL_END
 * (a handler that leaves by longjmp has no END). Flags and mask are passed on
 * as they are: on x86-64 the kernel hands all three arguments to every
 * handler, so one shape serves with SA_SIGINFO and without. Asked for the old
 * handler, we answer with the program's.
 */
#include "rt/follow.h"
#include "rt/real.h"
#include "rt/scheduler.h"

#include <signal.h>
#include <stddef.h>

/* The two shapes that a handler may have; as far as the kernel goes they are one. */
union handler {
	void *address;
	sighandler_t simple;
	void (*full)(int number, siginfo_t *info, void *context);
};

static void *handlers[_NSIG]; /* the program's, by signal */
bool rt_signal_handlers;

static void deliver(int number, siginfo_t *info, void *context)
{
	/* pairs with the exchange in install() */
	union handler theirs = {__atomic_load_n(&handlers[number], __ATOMIC_ACQUIRE)};
	/* The handler may have interrupted a call that is watched, or libc at work
	 * for the runtime; its own calls are the program's all the same. */
	const struct atomsan_site *at = rt_take_site();
	int inside = rt_self.inside;
	/* The frame that is about to be entered may be filled, and not yet claimed. */
	struct atomsan_frame *next = __atomsan_thread.top, filled = *next;
	/* Whether an iteration synchronised is up to the thread alone, whenever signals come. */
	uint64_t operations = __atomsan_thread.operations;

	rt_self.inside = 0;
	rt_self.handlers++;
	follow_handler();
	rt_op_value(TRACE_OP_SIGNAL_BEGIN, 0, NULL, number, NULL);
	theirs.full(number, info, context);
	rt_op_value(TRACE_OP_SIGNAL_END, 0, NULL, number, NULL);
	rt_self.handlers--;
	if (unlikely(rt_self.sched))
		sched_signal_ran();
	rt_self.inside = inside;
	__atomsan_thread.at = at;
	*next = filled;
	__atomsan_thread.operations = operations;
}

static const union handler ours = {.full = deliver};

/* A crash of a scheduled program is told of before it takes its course. The program sees no handler. */
static void crashed(int number, siginfo_t *info, void *context)
{
	if (rt_self.sched)
		sched_say_crash();
	/* With SA_RESETHAND a fault comes again when this returns, and this time it is the end. What
	 * somebody sent does not. */
	if (info->si_code <= 0)
		raise(number);
}

static const union handler at_crash = {.full = crashed};

void rt_signal_watch_crashes(void)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct sigaction action = {.sa_sigaction = crashed,
				   .sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_ONSTACK};

	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		REAL(sigaction)(numbers[i], &action, NULL);
}

/* What the program may know of a handler that the kernel has. */
static void *shown(void *there, void *theirs)
{
	return there == ours.address ? theirs : there == at_crash.address ? (void *)SIG_DFL : there;
}

/* SIG_DFL, SIG_IGN, SIG_HOLD and SIG_ERR are no functions. */
static bool is_function(union handler theirs)
{
	return (uintptr_t)theirs.address > (uintptr_t)SIG_HOLD && theirs.simple != SIG_ERR;
}

static bool in_table(int number)
{
	return number > 0 && number < _NSIG;
}

/*
 * The table is changed before the kernel is told, so that no signal finds it
 * empty. One that arrives in between is given to the new handler a moment early.
 */
static void *install(int number, void *theirs)
{
	rt_signal_handlers = true;
	return __atomic_exchange_n(&handlers[number], theirs, __ATOMIC_ACQ_REL);
}

static void *installed(int number)
{
	return __atomic_load_n(&handlers[number], __ATOMIC_ACQUIRE);
}

INTERPOSER int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction changed, previous;
	union handler theirs = {NULL};
	void *before;
	bool replace;
	int result;

	rt_take_site();
	if (!in_table(number))
		return REAL(sigaction)(number, action, old);
	if (action)
		theirs.full = action->sa_sigaction;
	replace = is_function(theirs);
	if (replace) {
		changed = *action;
		changed.sa_sigaction = deliver;
		action = &changed;
		before = install(number, theirs.address);
	} else {
		before = installed(number);
	}
	result = REAL(sigaction)(number, action, &previous);
	if (result) {
		if (replace)
			install(number, before);
		return result;
	}
	if (old) {
		union handler was = {.full = previous.sa_sigaction};

		was.address = shown(was.address, before);
		*old = previous;
		old->sa_sigaction = was.full;
	}
	return 0;
}

/* signal() and its older relatives, which differ in flags and mask alone. */
static sighandler_t set(sighandler_t (*real)(int, sighandler_t), int number, sighandler_t simple)
{
	union handler theirs = {.simple = simple};
	bool replace = in_table(number) && is_function(theirs);
	union handler was;
	void *before;

	rt_take_site();
	if (!in_table(number))
		return real(number, simple);
	before = replace ? install(number, theirs.address) : installed(number);
	was.simple = real(number, replace ? ours.simple : simple);
	if (was.simple == SIG_ERR && replace)
		install(number, before);
	was.address = shown(was.address, before);
	return was.simple;
}

INTERPOSER sighandler_t signal(int number, sighandler_t theirs)
{
	return set(REAL(signal), number, theirs);
}

INTERPOSER sighandler_t bsd_signal(int number, sighandler_t theirs);
INTERPOSER sighandler_t bsd_signal(int number, sighandler_t theirs)
{
	return set(REAL(signal), number, theirs);
}

INTERPOSER sighandler_t sysv_signal(int number, sighandler_t theirs)
{
	return set(REAL(sysv_signal), number, theirs);
}

/* What signal() becomes in a program that asks for System V semantics. */
INTERPOSER sighandler_t __sysv_signal(int number, sighandler_t theirs)
{
	return set(REAL(sysv_signal), number, theirs);
}

INTERPOSER sighandler_t sigset(int number, sighandler_t theirs)
{
	return set(REAL(sigset), number, theirs);
}
