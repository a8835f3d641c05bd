/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_pending.h - when a process had work on its GPUs, queued or running: only then does a thread of its in a
 * synchronization call wait for something (S0 8.5: a synchronization of an idle GPU is work to be saved).
 *
 *   thread   |launch 7|        |sync~~~~~~~~~~~~~~~~|
 *   queue               .......|##### 7 ####|
 *   queued            |---------------------|       from the end of the call, by the same link
 *   queued   <--------- REACH -|------------|       where its call ended before that, or is not known
 *
 * What names a launch was launched: so nobody has to look for its call behind the window. The call is either
 * read in the window, or the work is queued from the window's begin on, or for GPU_PENDING_REACH_NS; what
 * begins behind the window is looked at for so long, with its calls. So the answers of windows add up to that
 * of the time that they are parts of, whatever is queued for how long.
 */
#ifndef BLAME_GPU_PENDING_H
#define BLAME_GPU_PENDING_H

#include "blame/base/process.h"
#include "blame/base/sweep.h"
#include "blame/gpu/launches.h"
#include "timeline/run/batch.h"

/* Work counts as queued for so long at most before it begins. */
#define GPU_PENDING_REACH_NS 1000000000ull
/* For people. */
#define GPU_PENDING_TEXT "at most 1 s before it begins"
/* A call begins before its work does, or so much later where clocks differ: one that ends later is not its,
 * unless it lasts for as long. A power of two: several are compared at once. */
#define GPU_PENDING_EARLY_NS (UINT64_C(1) << 27)

/* Whoever wants to see the spans, too: those of all threads, then of all queues, stream by stream, of the
 * window and some of what is behind it. False: memory is out. */
struct gpu_pending_reader {
	bool (*take)(void *own, const struct batch *batch);
	void *own;
	unsigned columns;
};

/* Spans in order, without overlap, on the heap (free()). Unless there is a reader, or they are wanted anyway:
 * none, without reading the queues, when no thread is in a synchronization call in the window. */
int gpu_pending_find(struct sweep_span **spans, size_t *count, struct run *run, const struct process *process,
	uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway, const struct gpu_pending_reader *reader,
	struct error *error);

static inline uint64_t gpu_pending_before(uint64_t time_ns)
{
	return time_ns > GPU_PENDING_REACH_NS ? time_ns - GPU_PENDING_REACH_NS : 0;
}

/* Work that begins till then may be queued before `time_ns`. */
static inline uint64_t gpu_pending_after(uint64_t time_ns)
{
	return time_ns < UINT64_MAX - GPU_PENDING_REACH_NS ? time_ns + GPU_PENDING_REACH_NS : UINT64_MAX;
}

/* The calls of work that begins before `time_ns` begin before that. */
static inline uint64_t gpu_pending_calls_until(uint64_t time_ns)
{
	return time_ns < UINT64_MAX - GPU_PENDING_EARLY_NS ? time_ns + GPU_PENDING_EARLY_NS : UINT64_MAX;
}

/* Since when an operation is queued whose call ended at `call_ns` (launches.h; 0: it is not known): not later
 * than it begins. */
static inline uint64_t gpu_pending_since_of(uint64_t call_ns, uint64_t begin_ns)
{
	uint64_t least_ns = gpu_pending_before(begin_ns);

	call_ns = launches_counts(call_ns, begin_ns + GPU_PENDING_EARLY_NS) ? call_ns & ~LAUNCHES_LONG : 0;
	call_ns = call_ns > least_ns ? call_ns : least_ns;
	return call_ns < begin_ns ? call_ns : begin_ns;
}

/* Whether one of a thread's spans is a synchronization call in the window. */
static inline bool gpu_pending_waits_in(const struct batch *batch, uint64_t begin_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->what[i] == STORE_OP_SYNC && batch->end_ns[i] > begin_ns &&
			batch->begin_ns[i] < end_ns)
			return true;
	return false;
}

/* Puts a thread's launches. */
struct gpu_pending_calls { /* memory for a batch */
	uint64_t links[BATCH_ROWS], ends_ns[BATCH_ROWS];
};
bool gpu_pending_put_calls(
	struct launches *launches, const struct batch *batch, struct gpu_pending_calls *memory);

/* Since when operations with these links that begin then are queued: not later than that; what has no link is
 * not queued. It may be written in the place of the links. */
void gpu_pending_find_since(const struct launches *launches, const uint64_t *links, const uint64_t *begins_ns,
	uint64_t *since_ns, size_t count);

/* What a process's threads did, read once and no farther than is asked for: the calls that launched its work,
 * by link, and the spans that their lines are made of. */
struct gpu_pending_launches;
/* Unless it is wanted anyway, nothing counts as queued until a thread is in a synchronization call. */
int gpu_pending_launches_new(struct gpu_pending_launches **launches, struct run *run,
	const struct process *process, uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway,
	struct error *error);
void gpu_pending_launches_free(struct gpu_pending_launches *launches);
/* For extent_open_read(), of the process's `thread`th CPU thread; to be asked for once. */
struct extent_source gpu_pending_thread_spans(struct gpu_pending_launches *launches, uint32_t thread);
/* All calls of work that begins before that time. */
int gpu_pending_launches_read(struct gpu_pending_launches *launches, uint64_t until_ns, struct error *error);
/* Nobody asks any more for operations that begin before that time. */
void gpu_pending_launches_pass(struct gpu_pending_launches *launches, uint64_t time_ns);
/* The same; calls are to be read up to there. */
void gpu_pending_since(const struct gpu_pending_launches *launches, const uint64_t *links,
	const uint64_t *begins_ns, uint64_t *since_ns, size_t count);

#endif
