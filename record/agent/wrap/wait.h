/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - around a call that may put the thread to sleep. A wait that lasted is
 * published as the call path that waited; which part of it the thread was switched
 * out the collector knows from the kernel (record/kernel/wait_paths.h).
 *
 *   wait_begin(&wait); result = REAL(read)(...); wait_end(&wait, real.read);
 *
 * While the thread is inside, event_ring.wait_begin_ns says since when: the collector
 * keeps back what belongs to the wait until it is published, and looks at threads that
 * are in it for long. errno is left alone; the wrapper may be left by a cancellation
 * or a longjmp.
 */
#ifndef RECORD_AGENT_WAIT_H
#define RECORD_AGENT_WAIT_H

#include <errno.h>
#include <time.h>

#include "record/agent/sample/sigaltstack.h"
#include "record/agent/sample/thread.h"

#define WAIT_LEAST_NS UINT64_C(20000) /* shorter waits are not published */

struct wait {
	struct thread *thread; /* NULL: not measured */
	uint64_t begin_ns;
	uint64_t outer_ns; /* begin of the wait whose signal handler we are in; 0: there is none */
};

/* What a call is besides a wait: a span of its own, however short it was. */
struct wait_call {
	uint32_t operation; /* enum store_op; STORE_OP_NONE: the one called */
	const char *name;
	uint64_t bytes;
	const char *attributes; /* "key=value,..." */
	uint32_t tally;		/* enum tally_metric that the bytes are added to */
};

/* Publishes [begin, end) as a wait in `function`, if it lasted, and as `call`. */
void wait_publish(
	const struct wait *wait, uint64_t end_ns, const void *function, const struct wait_call *call);

/* The calling thread has given its core to others, which is no wait, ahead of the kernel's tick perhaps: see
 * sample_catch_up. */
void wait_yielded(struct thread *thread);

/* The frame of the wait under way may be gone, by a longjmp: then it is shallower than ours, or as deep. */
static inline void wait_begin(struct wait *wait)
{
	struct thread *t = sigaltstack_is_scarce() ? NULL : thread_self();

	wait->thread = t;
	if (!t)
		return;
	sigaltstack_check();
	wait->begin_ns = process_now_ns();
	wait->outer_ns = (uintptr_t)wait < t->wait_frame
				 ? atomic_load_explicit(&t->ring.shared->wait_begin_ns, memory_order_relaxed)
				 : 0;
	if (wait->outer_ns)
		return;
	t->wait_frame = (uintptr_t)wait;
	atomic_store_explicit(&t->ring.shared->wait_begin_ns, wait->begin_ns, memory_order_relaxed);
}

static inline void wait_end_call(const struct wait *wait, const void *function, const struct wait_call *call)
{
	struct thread *t = wait->thread;
	uint64_t end_ns;

	if (!t || t != thread_self())
		return; /* a child that the wait's signal handler has forked */
	end_ns = process_now_ns();
	if (call || end_ns - wait->begin_ns > WAIT_LEAST_NS)
		wait_publish(wait, end_ns, function, call);
	if (!wait->outer_ns)
		atomic_store_explicit(&t->ring.shared->wait_begin_ns, 0, memory_order_release);
}

static inline void wait_end(const struct wait *wait, const void *function)
{
	wait_end_call(wait, function, NULL);
}

/* The value of a call of a real function, which is a wait. */
#define WAIT(name, arguments)                                         \
	__extension__({                                               \
		struct wait wait_;                                    \
		__typeof__(real.name arguments) result_;              \
                                                                      \
		wait_begin(&wait_);                                   \
		result_ = REAL(name) arguments;                       \
		wait_end(&wait_, (const void *)(uintptr_t)real.name); \
		result_;                                              \
	})

/* What is left of a time that is counted from the wait's begin; NULL: it has no end. The whole where the
 * thread is not measured. */
const struct timespec *wait_rest(
	const struct wait *wait, const struct timespec *whole, struct timespec *rest);
/* The same in milliseconds; negative: it has no end. */
int wait_rest_ms(const struct wait *wait, int whole_ms);

/* WAIT of a call that is made again if it has ended with EINTR and `is_missed`, an expression, holds;
 * `again`: a statement ahead of that. */
#define WAIT_ON(name, arguments, is_missed, again)                          \
	__extension__({                                                     \
		struct wait wait_;                                          \
		__typeof__(real.name arguments) result_;                    \
                                                                            \
		wait_begin(&wait_);                                         \
		for (;;) {                                                  \
			result_ = REAL(name) arguments;                     \
			if (result_ >= 0 || errno != EINTR || !(is_missed)) \
				break;                                      \
			again;                                              \
		}                                                           \
		wait_end(&wait_, (const void *)(uintptr_t)real.name);       \
		result_;                                                    \
	})

/* The whole wrapper of a call that waits; needs record/agent/base/wrap.h. */
#define WAITS(type, name, parameters, arguments) \
	WRAPPER type name parameters             \
	{                                        \
		return WAIT(name, arguments);    \
	}

#endif
