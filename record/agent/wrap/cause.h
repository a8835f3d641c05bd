/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - what a wait was for, and who may have ended it: spans `wait` of waits that are published anyway
 * (WAIT_LEAST_NS), and spans `wake` of calls that may end one. hpct-blame joins them by the thing they name
 * (blame/wait/wait_causes.h).
 *
 *   reader   |~~read~~~~~~~~~~~~~|                wait: call=read,cause=pipe,from=pipe:4711
 *   writer   ==work=========|write|==             wake: call=write,wakes=pipe:4711
 *
 * Only a write that follows the last one of its descriptor by more than WAIT_LEAST_NS can end a published
 * wait of a single reader: the pipe was empty that long. So frequent writers pay a comparison. A signal or a
 * post is a wake only if somebody waits; and of a single waiter only if this thread has not woken a single
 * one within that time: whoever waits now came after that. Which descriptor ended a poll is told by the next
 * one that is read.
 */
#ifndef RECORD_AGENT_CAUSE_H
#define RECORD_AGENT_CAUSE_H

#include "record/agent/wrap/wait.h"

/* A thing and its number: "pipe:4711". */
#define CAUSE_THING_BYTES 48

/* End of a wait that reads `fd`, of one that writes it, in the real `function` called `name`; `is_done`:
 * bytes were moved. Keep errno. */
void cause_read(const struct wait *wait, uint64_t end_ns, const void *function, const char *name, int fd);
void cause_write(const struct wait *wait, uint64_t end_ns, const void *function, const char *name, int fd,
	bool is_done);
/* Whether a write from begin_ns to end_ns may end a wait; notes it. */
bool cause_write_is_due(int fd, uint64_t begin_ns, uint64_t end_ns);
/* Writes "cause=pipe,from=pipe:4711" of what reading `fd` waits for; false: nothing is known. */
bool cause_of_read(char to[128], int fd);

/* End of any other wait: `cause` is a word of blame/wait/wait_causes.h, NULL: not known; `key`, as ",pid=",
 * and `number` are one more attribute, NULL: none. */
void cause_end(const struct wait *wait, const void *function, const char *name, const char *cause,
	const char *key, unsigned long number);
/* The same with from=0x1f; `is_over`: its time was. */
void cause_end_at(const struct wait *wait, const void *function, const char *name, const char *cause,
	const void *object, bool is_over);
/* A poll, select or epoll: it ended with that many descriptors. */
void cause_end_poll(const struct wait *wait, const void *function, const char *name, long ready);

/* The calling thread may have woken those who wait for `object`, by the real `function`; `waiters`: how many
 * there were. */
void cause_wake(
	uint64_t begin_ns, const void *function, const char *name, const void *object, unsigned waiters);

/* The calling thread has sent another process a signal. Keeps errno. */
void cause_signal(uint64_t begin_ns, const void *function, const char *name, int pid);
/* Linux has the thread's number in the number of its clock. 0: it is over, or not known. */
unsigned long cause_thread_number(pthread_t thread);

/* The program made these descriptors. */
void cause_socketpair(const int ends[2]);
void cause_eventfd(int fd);

static inline void cause_end_read(const struct wait *wait, const void *function, const char *name, int fd)
{
	struct thread *t = wait->thread;
	uint64_t end_ns;

	if (!t || t != thread_self())
		return;
	end_ns = process_now_ns();
	if (end_ns - wait->begin_ns > WAIT_LEAST_NS || t->polled_end_ns)
		cause_read(wait, end_ns, function, name, fd);
	else
		wait_end_at(wait, end_ns, function, NULL);
}

static inline void cause_end_write(
	const struct wait *wait, const void *function, const char *name, int fd, bool is_done)
{
	struct thread *t = wait->thread;
	uint64_t end_ns;

	if (!t || t != thread_self())
		return;
	end_ns = process_now_ns();
	if (cause_write_is_due(fd, wait->begin_ns, end_ns) || end_ns - wait->begin_ns > WAIT_LEAST_NS)
		cause_write(wait, end_ns, function, name, fd, is_done);
	else
		wait_end_at(wait, end_ns, function, NULL);
}

/* Value of a call of a real function that waits for `cause`. */
#define WAIT_CAUSED(name, arguments, end, ...)                                       \
	__extension__({                                                              \
		struct wait wait_;                                                   \
		__typeof__(real.name arguments) result_;                             \
                                                                                     \
		wait_begin(&wait_);                                                  \
		result_ = REAL(name) arguments;                                      \
		end(&wait_, (const void *)(uintptr_t)real.name, #name, __VA_ARGS__); \
		result_;                                                             \
	})

/* The whole wrapper; `end` is one of the functions above, its last arguments may use result_. */
#define WAITS_FOR(type, name, parameters, arguments, end, ...)         \
	WRAPPER type name parameters                                   \
	{                                                              \
		return WAIT_CAUSED(name, arguments, end, __VA_ARGS__); \
	}

#endif
