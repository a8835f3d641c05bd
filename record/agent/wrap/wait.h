/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - wraps a call that may block the thread. A long enough wait is published with the waiting call
 * path; the kernel's switch records tell the collector which parts of it were switched out
 * (record/kernel/wait_paths.h).
 *
 *   wait_begin(&wait); result = REAL(read)(...); wait_end(&wait, real.read);
 *
 * During a wait event_ring.wait_begin_ns holds its begin: the collector holds back spans of the wait until it
 * is published, and unwinds threads remotely that wait for long. Keeps errno; a cancellation or a longjmp may
 * leave the wrapper.
 */
#ifndef RECORD_AGENT_WAIT_H
#define RECORD_AGENT_WAIT_H

#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include "record/agent/sample/sigaltstack.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/thread.h"

#define WAIT_LEAST_NS UINT64_C(20000) /* shorter waits are not published */

struct wait {
	struct thread *thread; /* NULL: not measured */
	uint64_t begin_ns;
	uint64_t outer_ns; /* begin of the wait that this thread's current signal handler interrupted; 0:
			      none */
};

/* A call that is also a span, however short. */
struct wait_call {
	uint32_t operation; /* enum store_op; STORE_OP_NONE: the function's name */
	const char *name;
	uint64_t begin_ns; /* 0: with the wait */
	uint64_t bytes;
	const char *attributes; /* "key=value,..." */
	uint32_t tally;		/* enum tally_metric to which the bytes are added */
	bool is_later;		/* it is no wait, or one that is published already */
	bool may_drop;		/* without room it is left out: it only explains what is known without it */
};

/* Publishes [begin, end) as a wait in `function`, if long enough, and as `call`. */
void wait_publish(
	const struct wait *wait, uint64_t end_ns, const void *function, const struct wait_call *call);

/* The part of it that publishes `call`, of which `span` has times and node. Within trace_begin and trace_end.
 */
void wait_publish_call(struct thread *thread, struct event_span *span, const struct wait_call *call);

/* The calling thread yielded its core, which is no wait, perhaps just before the kernel's tick: see
 * sample_catch_up. */
void wait_yielded(struct thread *thread);

/* Of a wait that begins while nothing is measured (start_stop.h), or somebody has asked for a change of that:
 * does what is asked. Afterwards wait->thread is NULL if the wait does not count. Keeps errno. */
void wait_begin_parked(struct wait *wait);

/* The parts of wait_begin, for callers with a clock of their own. Whether the wait counts. */
static inline bool wait_counts(struct wait *wait)
{
	struct thread *t = sigaltstack_is_scarce() ? NULL : thread_self();

	wait->thread = t;
	if (!t)
		return false;
	/* A signal would end some waits, so the collector sends none to who waits. */
	if (atomic_load_explicit(&process.is_parked, memory_order_relaxed) || start_stop_is_asked())
		wait_begin_parked(wait);
	if (wait->thread)
		sigaltstack_check();
	return wait->thread != NULL;
}

/* t->wait_frame may be of an outer wait that a longjmp has left: then it is not further out than our frame,
 * and does not count. */
static inline void wait_begin_at(struct wait *wait, uint64_t begin_ns)
{
	struct thread *t = wait->thread;

	wait->begin_ns = begin_ns;
	wait->outer_ns = (uintptr_t)wait < t->wait_frame
				 ? atomic_load_explicit(&t->ring.shared->wait_begin_ns, memory_order_relaxed)
				 : 0;
	if (wait->outer_ns)
		return;
	t->wait_frame = (uintptr_t)wait;
	atomic_store_explicit(&t->ring.shared->wait_begin_ns, wait->begin_ns, memory_order_relaxed);
}

/* Begins a wait. */
static inline void wait_begin(struct wait *wait)
{
	if (wait_counts(wait))
		wait_begin_at(wait, process_now_ns());
}

/* In the thread that began it. */
static inline void wait_end_at(
	const struct wait *wait, uint64_t end_ns, const void *function, const struct wait_call *call)
{
	if (call || end_ns - wait->begin_ns > WAIT_LEAST_NS)
		wait_publish(wait, end_ns, function, call);
	if (!wait->outer_ns)
		atomic_store_explicit(&wait->thread->ring.shared->wait_begin_ns, 0, memory_order_release);
}

static inline void wait_end_call(const struct wait *wait, const void *function, const struct wait_call *call)
{
	struct thread *t = wait->thread;

	/* Another one: a fork child made by the wait's signal handler. */
	if (t && t == thread_self())
		wait_end_at(wait, process_now_ns(), function, call);
}

static inline void wait_end(const struct wait *wait, const void *function)
{
	wait_end_call(wait, function, NULL);
}

/* Value of a call of a real function that may wait. */
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

/* Remaining part of a timeout that counts from the wait's begin; NULL: no timeout. The whole if the thread
 * is not measured. */
const struct timespec *wait_rest(
	const struct wait *wait, const struct timespec *whole, struct timespec *rest);
/* Likewise in milliseconds; negative: no timeout. */
int wait_rest_ms(const struct wait *wait, int whole_ms);

/* WAIT for a call that is repeated if it returned EINTR and the expression `is_missed` holds; `again`: a
 * statement before the repetition. */
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
