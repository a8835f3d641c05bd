/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate.h - operations on GPUs to the calls that launched them. One join per measured process:
 *
 *   rings of threads --EVENT_LAUNCH--> launches by correlation ---+
 *   activity ring ----EVENT_GPU------------------------------- joined: a span on the queue's stream,
 *                         \                                         at the call path of its launch
 *                          +-- no launch yet: waits for it a while, then <gpu root>;<unknown>
 *
 * A launch and its operations share a link, unique in the store. One launch may have many operations (a
 * graph's nodes). Belongs to the collector's loop.
 */
#ifndef RECORD_CORRELATE_H
#define RECORD_CORRELATE_H

#include "record/gpu/gpu_process.h"
#include "store/ring/ring.h"

#define CORRELATE_LAUNCHES_MAX (1u << 19)      /* kept per process */
#define CORRELATE_WAIT_NS UINT64_C(2000000000) /* so long an operation waits for its launch */
#define CORRELATE_WAITING_MAX (1u << 16)
#define CORRELATE_LATE_NS UINT64_C(1000000000) /* so long a runtime may keep a finished operation */
#define CORRELATE_UNMATCHED_NS \
	UINT64_C(30000000000) /* a launch without operation holds the watermark so long */

/* A call on `stream` launched `correlation`: the span of the call. `is_kernel`: one kernel for certain, which
 * is lost where its operation never comes. Returns its link, 0 when it has none. */
uint64_t correlate_launch(struct gpu_process *process, uint64_t correlation, uint32_t stream, bool is_kernel,
	const struct store_record *call);

/* Has the activity ring an eighth to be taken? */
bool correlate_is_filling(const struct gpu_process *process);
/* Marks how much of the activity ring correlate_drain will take; false: nothing. */
bool correlate_look(struct gpu_process *process);
/* Takes it and what waits; returns the number of operations. `now_ns` as for process_drain. */
size_t correlate_drain(
	struct gpu_process *process, struct store_writer *writer, uint32_t host, uint64_t now_ns);
/* Sets the watermarks of the queues. */
void correlate_complete(struct gpu_process *process, struct store_writer *writer, uint64_t complete_ns);
/* The process's rank was learnt. */
void correlate_rank(struct gpu_process *process, struct store_writer *writer);
/* All is drained, the streams of its threads are still open: where a kernel has faulted, says which. */
void correlate_fault_tell(struct gpu_process *process, struct store_writer *writer, uint32_t host);
/* The process has ended, all is drained: counts kernels that never came as lost, closes the queues' streams.
 */
void correlate_finish(
	struct gpu_process *process, struct store_writer *writer, uint32_t host, uint64_t end_ns);
void correlate_free(struct correlate *correlate);

#endif
