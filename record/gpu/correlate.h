/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate.h - matches GPU operations to the calls that launched them. One correlator per measured process:
 *
 *   rings of threads --EVENT_LAUNCH--> launches by correlation id ----+
 *   activity ring ----EVENT_GPU---------------------------------- matched: a span on the queue's stream,
 *                         \                                         at the call path of its launch
 *                          +-- no launch yet: waits a while for it, then <gpu root>;<unknown>
 *
 * A launch and its operations share a link id, unique in the store. One launch may have many operations (the
 * nodes of a graph). Only the collector's loop uses it.
 */
#ifndef RECORD_CORRELATE_H
#define RECORD_CORRELATE_H

#include "record/gpu/gpu_process.h"
#include "store/ring/ring.h"

#define CORRELATE_LAUNCHES_MAX (1u << 19)      /* kept per process */
#define CORRELATE_WAIT_NS UINT64_C(2000000000) /* how long an operation waits for its launch */
#define CORRELATE_WAITING_MAX (1u << 16)
#define CORRELATE_LATE_NS UINT64_C(1000000000) /* how long a GPU runtime may keep a finished operation */
#define CORRELATE_UNMATCHED_NS UINT64_C(30000000000) /* how long an unmatched launch holds the watermark */

enum correlate_work {
	CORRELATE_UNQUEUED, /* none in a queue: nothing waits for its operation */
	CORRELATE_QUEUED,
	CORRELATE_KERNEL /* exactly one kernel, which is lost if its operation never arrives */
};

/* Registers a call on `stream` that launched `correlation`, with its span. Returns its link id, 0 if it has
 * none. */
uint64_t correlate_launch(struct gpu_process *process, uint64_t correlation, uint32_t stream,
	enum correlate_work work, const struct store_record *call);

/* What a library said of the kernel that `correlation` launched: the span's attributes and bytes become the
 * kernel's, too. Returns the launch's link id, 0: there is no such launch. */
uint64_t correlate_said(struct gpu_process *process, uint64_t correlation, const struct store_record *span);

/* True if an eighth of the activity ring is unread. */
bool correlate_is_filling(const struct gpu_process *process);
/* Fixes how much of the activity ring correlate_drain will read; false: nothing. */
bool correlate_look(struct gpu_process *process);
/* Drains the activity ring and retries waiting operations; returns the number of operations. `now_ns` as
 * for measured_process_drain. */
size_t correlate_drain(
	struct gpu_process *process, struct store_writer *writer, uint32_t host, uint64_t now_ns);
/* Sets the watermarks of the queues' streams. */
void correlate_complete(struct gpu_process *process, struct store_writer *writer, uint64_t complete_ns);
/* Sets the rank in the queues' streams once it is known. */
void correlate_rank(struct gpu_process *process, struct store_writer *writer);
/* Marks the kernel that faulted, if one did. Call after the last drain, before the threads' streams close. */
void correlate_fault_tell(struct gpu_process *process, struct store_writer *writer, uint32_t host);
/* Ends the spans of calls that never finished. Call likewise. */
void correlate_calls_end(struct gpu_process *process, struct store_writer *writer, uint64_t end_ns);
/* Call after the last drain: counts kernels without an operation as lost and closes the queues' streams. */
void correlate_finish(
	struct gpu_process *process, struct store_writer *writer, uint32_t host, uint64_t end_ns);
void correlate_free(struct correlate *correlate);

#endif
