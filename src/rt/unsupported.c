/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Primitives that order threads or make them, and that the runtime does not
 * model: System V semaphores and message queues, POSIX message queues, clone.
 * Their calls are counted, so that reports can say that something was missed.
 */
#include "rt/real.h"
#include "rt/scheduler.h"

#include <stdarg.h>

/* All but the last may sleep for a thread that waits for its turn. */
#define AWAY(call)                                       \
	({                                               \
		struct sched_thread *me_ = sched_me();   \
		__typeof__(call) value_;                 \
                                                         \
		if (unlikely(me_))                       \
			sched_away(me_, me_->last_site); \
		value_ = (call);                         \
		if (unlikely(me_))                       \
			sched_back(me_);                 \
		value_;                                  \
	})

static void count(void)
{
	rt_take_site();
	if (rt_on())
		rt_count(TRACE_COUNT_UNSUPPORTED);
}

INTERPOSER int semop(int set, struct sembuf *operations, size_t length)
{
	count();
	return AWAY(REAL(semop)(set, operations, length));
}

INTERPOSER int semtimedop(int set, struct sembuf *operations, size_t length, const struct timespec *time)
{
	count();
	return AWAY(REAL(semtimedop)(set, operations, length, time));
}

INTERPOSER int msgsnd(int queue, const void *message, size_t length, int flags)
{
	count();
	return AWAY(REAL(msgsnd)(queue, message, length, flags));
}

INTERPOSER ssize_t msgrcv(int queue, void *message, size_t length, long type, int flags)
{
	count();
	return AWAY(REAL(msgrcv)(queue, message, length, type, flags));
}

INTERPOSER int mq_send(mqd_t queue, const char *message, size_t length, unsigned priority)
{
	count();
	return AWAY(REAL(mq_send)(queue, message, length, priority));
}

INTERPOSER int mq_timedsend(mqd_t queue, const char *message, size_t length, unsigned priority,
			    const struct timespec *until)
{
	count();
	return AWAY(REAL(mq_timedsend)(queue, message, length, priority, until));
}

INTERPOSER ssize_t mq_receive(mqd_t queue, char *message, size_t length, unsigned *priority)
{
	count();
	return AWAY(REAL(mq_receive)(queue, message, length, priority));
}

INTERPOSER ssize_t mq_timedreceive(mqd_t queue, char *message, size_t length, unsigned *priority,
				   const struct timespec *until)
{
	count();
	return AWAY(REAL(mq_timedreceive)(queue, message, length, priority, until));
}

INTERPOSER int clone(int (*start)(void *), void *stack, int flags, void *argument, ...)
{
	void *parent, *storage, *child;
	va_list list;

	count();
	va_start(list, argument);
	parent = va_arg(list, void *);
	storage = va_arg(list, void *);
	child = va_arg(list, void *);
	va_end(list);
	return REAL(clone)(start, stack, flags, argument, parent, storage, child);
}
