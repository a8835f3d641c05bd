/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_paths.h - finds the call path of each span in which one thread was switched out. The agent's wrappers
 * publish waits after they end (record/agent/wrap/wait.h); these are laid over the spans of the kernel's
 * switch records.
 *
 *   wait published   |------------- main;turn;pthread_mutex_lock -------------|
 *   switched out        |-----|        |--|                |---------------|        |---|
 *                        gets the path  too                too                       has none
 *
 * A span that began inside an unfinished wait is held until that wait is published, at most KEPT_NS; then it
 * gets the path from remote_unwind.h, if there is one. Only the collector's thread uses it.
 */
#ifndef RECORD_WAIT_PATHS_H
#define RECORD_WAIT_PATHS_H

#include "record/kernel/kernel_callchains.h"
#include "store/write/writer.h"

#define WAIT_PATHS_KEPT_NS UINT64_C(1000000000)
/* Handles of store_writer_span_open: 0 is `monitored`, the agent's handles count up from 1. */
#define WAIT_PATHS_HANDLE_SWITCH (UINT64_C(1) << 63) /* + begin_ns */
#define WAIT_PATHS_HANDLE_WAIT (UINT64_C(1) << 62)   /* + begin_ns: a wait without switch records */

struct wait_known {
	uint64_t begin_ns, end_ns;
	uint32_t context;
};

struct wait_held {
	struct store_record span;
	uint64_t until_ns; /* later returns belong to a later wait */
	bool is_shown;
	uint32_t depth; /* kernel frames in its path */
	uint64_t address[KERNEL_CALLCHAIN_DEPTH_MAX];
};

/* The call path to which a thread returned after a wait. */
struct wait_return {
	uint64_t time_ns;
	uint32_t context;
};

struct wait_paths {
	uint64_t since_ns;	     /* begin of the unfinished wait at the last read of the ring; 0: none */
	struct wait_known *known;    /* by end */
	struct wait_held *held;	     /* by begin */
	struct wait_return *returns; /* by time */
	uint32_t return_count, return_capacity;
	uint32_t known_count, known_capacity, held_count, held_capacity;
	/* Path of the wait that began at remote_ns, from remote_unwind.h; 0: none. It was read at
	 * looked_ns; if the thread had woken up before that and blocked again, the path is of the later
	 * wait. */
	uint64_t remote_ns, looked_ns;
	uint32_t remote_context;
	/* Path of the time switched out since stopped_ns, in which a signal or a debugger had stopped the
	 * thread at stop_seen_ns; 0: none. A stop cuts a wait: the time before it is no part of it. */
	uint64_t stopped_ns, stop_seen_ns;
	uint32_t stopped_context;
	uint64_t look_ns;  /* earliest time of the next remote unwind */
	uint64_t shown_ns; /* begin of the wait published as open; 0: none */
};

void wait_paths_fini(struct wait_paths *waits);
/* A new thread has claimed the ring: forgets everything but the memory. */
void wait_paths_clear(struct wait_paths *waits);

/* Takes event_ring.wait_begin_ns, which the caller read before the ring. */
void wait_paths_look(struct wait_paths *waits, uint64_t since_ns);
/* Adds a published wait. */
void wait_paths_add(struct wait_paths *waits, uint64_t begin_ns, uint64_t end_ns, uint32_t context);
/* The thread returned to this path right after it was switched in. */
void wait_paths_return(struct wait_paths *waits, uint64_t time_ns, uint32_t context);
/* Takes a finished span of the switch records, in order of time. is_shown: it is published as open.
 * `callchain`: kernel frames at the switch-out, NULL: not known. until_ns: returns from then on belong to
 * a later span. */
void wait_paths_put(struct wait_paths *waits, struct store_writer *writer, uint32_t stream,
	const struct store_record *span, bool is_shown, const struct kernel_callchain *callchain,
	uint64_t until_ns);
/* Call path of the span [begin_ns, end_ns), as far as known; end_ns STORE_OPEN_NS: still open. */
uint32_t wait_paths_context(const struct wait_paths *waits, uint64_t begin_ns, uint64_t end_ns);
/* Adds the path that remote_unwind.h read at looked_ns for the wait since since_ns. */
void wait_paths_remote_put(struct wait_paths *waits, uint64_t since_ns, uint64_t looked_ns, uint32_t context);

/* The thread, switched out since out_ns, was seen stopped at looked_ns. */
void wait_paths_stopped_put(struct wait_paths *waits, uint64_t out_ns, uint64_t looked_ns, uint32_t context);

/* Begin of the current wait; out_ns is the switch-out time by the thread's switch records, 0 if it runs.
 * Returns 0 if it is not blocked. */
uint64_t wait_paths_blocked_since(const struct wait_paths *waits, uint64_t out_ns);

/* Without switch records: publishes a wait longer than KEPT_NS as an open span until it ends. */
void wait_paths_show(struct wait_paths *waits, struct store_writer *writer, uint32_t stream, uint64_t now_ns);
void wait_paths_put_wait(struct wait_paths *waits, struct store_writer *writer, uint32_t stream,
	const struct store_record *span);

/* All switch records before `known_ns` were taken: writes the spans that need not be held any more.
 * UINT64_MAX: no more records will come. */
void wait_paths_settle(
	struct wait_paths *waits, struct store_writer *writer, uint32_t stream, uint64_t known_ns);
/* The time up to which all spans are written, at most `before_ns`. */
uint64_t wait_paths_complete(const struct wait_paths *waits, uint64_t before_ns);

#endif
