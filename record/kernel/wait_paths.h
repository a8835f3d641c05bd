/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_paths.h - which call path waited while one thread was switched out: the waits that its wrappers
 * publish after the fact (record/agent/wrap/wait.h), laid over the spans that the kernel's switch records
 * make.
 *
 *   wait published   |------------- main;turn;pthread_mutex_lock -------------|
 *   switched out        |-----|        |--|                |---------------|        |---|
 *                        gets the path  too                too                       has none
 *
 * A span that began inside a wait that is still under way is kept back until that is published, KEPT_NS at
 * most: then it gets the path that was found from outside, if there is one. Belongs to the collector's
 * thread.
 */
#ifndef RECORD_WAIT_PATHS_H
#define RECORD_WAIT_PATHS_H

#include "record/kernel/kernel_callchains.h"
#include "store/write/writer.h"

#define WAIT_PATHS_KEPT_NS UINT64_C(1000000000)
/* Handles of store_writer_span_open: 0 is `monitored`, the agent's own count up from 1. */
#define WAIT_PATHS_HANDLE_SWITCH (UINT64_C(1) << 63) /* + begin_ns */
#define WAIT_PATHS_HANDLE_WAIT (UINT64_C(1) << 62)   /* + begin_ns: there are no switch records */

struct wait_known {
	uint64_t begin_ns, end_ns;
	uint32_t context;
};

struct wait_held {
	struct store_record span;
	uint64_t until_ns; /* a return from there on is another's */
	bool is_shown;
	uint32_t depth; /* of the kernel's part of its path */
	uint64_t address[KERNEL_CALLCHAIN_DEPTH_MAX];
};

/* The path that a thread came back to after a wait. */
struct wait_return {
	uint64_t time_ns;
	uint32_t context;
};

struct wait_paths {
	uint64_t since_ns;	     /* begin of the wait under way when the ring was read last; 0: none */
	struct wait_known *known;    /* by end */
	struct wait_held *held;	     /* by begin */
	struct wait_return *returns; /* by time */
	uint32_t return_count, return_capacity;
	uint32_t known_count, known_capacity, held_count, held_capacity;
	/* The path of what began at remote_ns, found from outside; 0: none. The thread may have woken up
	 * before looked_ns, when that was done, and have slept again: then it is the path of something else.
	 */
	uint64_t remote_ns, looked_ns;
	uint32_t remote_context;
	uint64_t look_ns;  /* not again before */
	uint64_t shown_ns; /* readers see the wait that began then open; 0: none */
};

void wait_paths_fini(struct wait_paths *waits);
/* Another thread has the ring: forgets all but the memory. */
void wait_paths_clear(struct wait_paths *waits);

/* What event_ring.wait_begin_ns was, read before the ring is. */
void wait_paths_look(struct wait_paths *waits, uint64_t since_ns);
/* A wait was published. */
void wait_paths_add(struct wait_paths *waits, uint64_t begin_ns, uint64_t end_ns, uint32_t context);
/* The thread came back to this path, just after it was switched in. */
void wait_paths_return(struct wait_paths *waits, uint64_t time_ns, uint32_t context);
/* A finished span of the switch records; is_shown: readers see it open; `callchain`: where in the kernel it
 * was switched out, NULL: not known; until_ns: a path that the thread came back to from there on is that of
 * another. In order of time. */
void wait_paths_put(struct wait_paths *waits, struct store_writer *writer, uint32_t stream,
	const struct store_record *span, bool is_shown, const struct kernel_callchain *callchain,
	uint64_t until_ns);
/* The context of what began at begin_ns and ended at end_ns, STORE_OPEN_NS: not yet; as far as it is known.
 */
uint32_t wait_paths_context(const struct wait_paths *waits, uint64_t begin_ns, uint64_t end_ns);
/* What began at since_ns was looked at from outside until looked_ns. */
void wait_paths_remote_put(struct wait_paths *waits, uint64_t since_ns, uint64_t looked_ns, uint32_t context);

/* Since when the thread is in a wait or else, by its switch records, out (out_ns, 0: it is not). 0: it is not
 * blocked. */
uint64_t wait_paths_blocked_since(const struct wait_paths *waits, uint64_t out_ns);

/* Without switch records: a wait that goes on for KEPT_NS is an open span until it is published. */
void wait_paths_show(struct wait_paths *waits, struct store_writer *writer, uint32_t stream, uint64_t now_ns);
void wait_paths_put_wait(struct wait_paths *waits, struct store_writer *writer, uint32_t stream,
	const struct store_record *span);

/* All switch records older than `known_ns` were put: what needs not be kept goes to the stream. UINT64_MAX:
 * nothing comes any more. */
void wait_paths_settle(
	struct wait_paths *waits, struct store_writer *writer, uint32_t stream, uint64_t known_ns);
/* Everything before is with the stream, at most `before_ns`. */
uint64_t wait_paths_complete(const struct wait_paths *waits, uint64_t before_ns);

#endif
