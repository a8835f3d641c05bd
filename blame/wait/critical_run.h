/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critical_run.h - the critical path (critical_path.h) of a run's window, over its threads, processes, ranks
 * and GPU queues; and the code that is on it.
 *
 * It ends in the CPU thread that was last at work in the window, of several in the first; threads that are
 * killed in a wait for nobody known, or woken from one by the exit of their main thread, were not. A thread
 * was begun by the main thread of its process, a process by the main thread of its parent.
 */
#ifndef BLAME_CRITICAL_RUN_H
#define BLAME_CRITICAL_RUN_H

#include "blame/wait/critical_path.h"

/* Work of a stream in one context. */
struct critical_piece {
	uint64_t begin_ns, end_ns;
	uint32_t stream, context;
};

struct critical_run {
	struct run *run;
	const struct idle_question *question;
	struct wait_causes causes;
	struct critical_graph graph;
	struct critical_path path;
	uint8_t *is_reported; /* by stream: the question is about it */
	/* Of the segments on such streams: sums to window - others - core - unknown - absent. */
	struct exact_share *shares;
	size_t share_count;
	uint64_t others_ns;  /* on other streams */
	uint64_t core_ns;    /* on the path a thread had no core */
	uint64_t unknown_ns; /* nobody knows what the stream did */
	uint64_t absent_ns;  /* the stream did not exist: begun by one that is not in the run, or ended */
	size_t code_count;   /* segments on reported streams */
	bool keeps_work;
	struct critical_piece *pieces; /* what any stream worked, by stream, begin; if they are kept */
	size_t piece_count, piece_capacity;
	uint64_t wait_ns; /* of all: in waits that lead nowhere, and hand-overs */
};

/* The question's streams are reported; the path goes over all of the run. In `arena`; critical_run_fini()
 * ends it, also on failure. Work is kept, for critical_run_work(), where the graph has at most `work_most`
 * causes and streams. ERROR_EMPTY: no thread lives in the window. */
int critical_run_find(struct critical_run *critical, struct run *run, const struct idle_question *question,
	size_t work_most, struct arena *arena, struct error *error);
void critical_run_fini(struct critical_run *critical);

/* The context that takes most of a segment; 0: none is known. */
int critical_run_context(struct critical_run *critical, const struct critical_segment *segment,
	uint32_t *context, struct error *error);

/* Of one row: where any stream works in it. */
struct critical_work {
	struct critical_change *list;
	size_t count, capacity;
};
#define CRITICAL_NO_ROW UINT32_MAX
/* Work of `rows` rows, of what is kept, by stream, begin; row_of() says of which a context is,
 * CRITICAL_NO_ROW: of none. The caller frees the lists. */
int critical_run_work(struct critical_run *critical, struct critical_work *works, uint32_t rows,
	uint32_t (*row_of)(void *own, uint32_t context), void *own, struct error *error);

#endif
