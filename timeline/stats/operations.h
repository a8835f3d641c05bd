/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.h - what GPU queues did in a window: kernels by name, copies and memory sets by kind, with
 * durations and delays after their launch; and how long 0, 1, 2 ... queues were busy: the union of a queue's
 * operations, never their sum.
 */
#ifndef TIMELINE_OPERATIONS_H
#define TIMELINE_OPERATIONS_H

#include "store/base/arena.h"
#include "timeline/select/select.h"

struct operations_row {
	uint32_t op;	 /* of the run */
	const char *key; /* raw bytes: the kernel's name, the copy's kind */
	uint64_t count, total_ns;
	uint64_t p50_ns, p99_ns, max_ns; /* of their durations */
	uint64_t bytes;
	uint64_t launched;		     /* of them with a known launch */
	uint64_t delay_p50_ns, delay_p99_ns; /* from the end of the launching call to the operation's
						begin */
};

struct operations {
	struct operations_row *rows; /* by descending time */
	size_t count;
	uint64_t *at_work_ns; /* [0, queues]: time with so many queues busy */
	uint32_t queues;
	uint64_t queued_max; /* most operations launched but not ended */
};

/* For the selector's window, streams, contexts and operations; launches are searched on all streams. In
 * `arena`. ERROR_EMPTY: no queue among the streams. */
int operations_count(struct operations *operations, struct run *run, const struct select *select,
	struct arena *arena, struct error *error);

#endif
