/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_pending.h - when a process had work on its GPUs, queued or running: only then does a thread in a
 * synchronization call wait for something (S0 8.5: a synchronization of an idle GPU could be saved).
 *
 *   thread   |launch 7|        |sync~~~~~~~~~~~~~~~~|
 *   queue               .......|##### 7 ####|
 *   queued            |---------------------|       from the end of the call, by the same link
 *   queued   <--------- REACH -|------------|       where its call ended before that, or is unknown
 *
 * An operation with a link was launched by some call, so its call need not be found outside the window.
 * Either the call is in the window, or the work counts as queued from the window's begin, or for
 * GPU_PENDING_REACH_NS before it begins; work that begins up to that long after the window is read too, with
 * its calls. So the answers of adjacent windows add up to that of the whole, however long work is queued.
 */
#ifndef BLAME_GPU_PENDING_H
#define BLAME_GPU_PENDING_H

#include "blame/base/process.h"
#include "blame/base/sweep.h"
#include "blame/gpu/launches.h"
#include "timeline/run/batch.h"

/* Longest time that work counts as queued before it begins. */
#define GPU_PENDING_REACH_NS 1000000000ull
/* The same for users. */
#define GPU_PENDING_TEXT "at most 1 s before it begins"
/* A call begins before its work does, or at most this much later if clocks differ. So a call that ends later
 * is not the work's, unless the call is that long. A power of two: several are compared at once. */
#define GPU_PENDING_EARLY_NS (UINT64_C(1) << 27)

/* Also receives the spans: of all threads, then of all queues, stream by stream, in the window and some time
 * after it. False: no memory. */
struct gpu_pending_reader {
	bool (*take)(void *own, const struct batch *batch);
	void *own;
	unsigned columns;
};

/* Spans in order, disjoint, on the heap (free()). Without a reader, and unless required, none if no thread
 * is in a synchronization call in the window; then the queues are not read. */
int gpu_pending_find(struct sweep_span **spans, size_t *count, struct run *run, const struct process *process,
	uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway, const struct gpu_pending_reader *reader,
	struct error *error);

static inline uint64_t gpu_pending_before(uint64_t time_ns)
{
	return time_ns > GPU_PENDING_REACH_NS ? time_ns - GPU_PENDING_REACH_NS : 0;
}

/* Latest begin of work that may be queued before `time_ns`. */
static inline uint64_t gpu_pending_after(uint64_t time_ns)
{
	return time_ns < UINT64_MAX - GPU_PENDING_REACH_NS ? time_ns + GPU_PENDING_REACH_NS : UINT64_MAX;
}

/* Calls of work that begins before `time_ns` begin before this. */
static inline uint64_t gpu_pending_calls_until(uint64_t time_ns)
{
	return time_ns < UINT64_MAX - GPU_PENDING_EARLY_NS ? time_ns + GPU_PENDING_EARLY_NS : UINT64_MAX;
}

/* When an operation whose call ended at `call_ns` (launches.h; 0: unknown) became queued: at or before its
 * begin. */
static inline uint64_t gpu_pending_since_of(uint64_t call_ns, uint64_t begin_ns)
{
	uint64_t least_ns = gpu_pending_before(begin_ns);

	call_ns = launches_counts(call_ns, begin_ns + GPU_PENDING_EARLY_NS) ? call_ns & ~LAUNCHES_LONG : 0;
	call_ns = call_ns > least_ns ? call_ns : least_ns;
	return call_ns < begin_ns ? call_ns : begin_ns;
}

/* True when one of a thread's spans is a synchronization call in the window. */
static inline bool gpu_pending_waits_in(const struct batch *batch, uint64_t begin_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->what[i] == STORE_OP_SYNC && batch->end_ns[i] > begin_ns &&
			batch->begin_ns[i] < end_ns)
			return true;
	return false;
}

/* Collects a thread's launches. */
struct gpu_pending_calls { /* memory for a batch */
	uint64_t links[BATCH_ROWS], ends_ns[BATCH_ROWS];
};
bool gpu_pending_put_calls(
	struct launches *launches, const struct batch *batch, struct gpu_pending_calls *memory);

/* For operations with these links and begins, when they became queued: at or before their begin; without a
 * link, not queued. `links` may be overwritten. */
void gpu_pending_find_since(const struct launches *launches, const uint64_t *links, const uint64_t *begins_ns,
	uint64_t *since_ns, size_t count);

/* The threads of a process, read once and only as far as requested: the calls that launched its work, by
 * link, and the spans of their timelines. */
struct gpu_pending_launches;
/* Unless required, nothing counts as queued until a thread is in a synchronization call. */
int gpu_pending_launches_new(struct gpu_pending_launches **launches, struct run *run,
	const struct process *process, uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway,
	struct error *error);
void gpu_pending_launches_free(struct gpu_pending_launches *launches);
/* For extent_open_read(), of the process's `thread`th CPU thread; call once for each. */
struct extent_source gpu_pending_thread_spans(struct gpu_pending_launches *launches, uint32_t thread);
/* Reads all calls of work that begins before that time. */
int gpu_pending_launches_read(struct gpu_pending_launches *launches, uint64_t until_ns, struct error *error);
/* Operations that begin before that time will not be requested any more. */
void gpu_pending_launches_pass(struct gpu_pending_launches *launches, uint64_t time_ns);
/* The same as gpu_pending_find_since(); the calls must have been read up to there. */
void gpu_pending_since(const struct gpu_pending_launches *launches, const uint64_t *links,
	const uint64_t *begins_ns, uint64_t *since_ns, size_t count);

#endif
