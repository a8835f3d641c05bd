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
 * read in the window, or the work is queued from the window's begin on, or for QUEUED_REACH_NS; what begins
 * behind the window is looked at for so long, with its calls. So the answers of windows add up to that of the
 * time that they are parts of, whatever is queued for how long.
 */
#ifndef BLAME_GPU_PENDING_H
#define BLAME_GPU_PENDING_H

#include "blame/base/process.h"
#include "blame/base/sweep.h"
#include "blame/gpu/launches.h"
#include "timeline/run/batch.h"

/* Work counts as queued for so long at most before it begins. */
#define QUEUED_REACH_NS 1000000000ull
/* For people. */
#define QUEUED_TEXT "at most 1 s before it begins"
/* A call begins before its work does, or so much later where clocks differ: one that ends later is not its,
 * unless it lasts for as long. A power of two: several are compared at once. */
#define QUEUED_EARLY_NS (UINT64_C(1) << 27)

/* Whoever wants to see the spans, too: those of all threads, then of all queues, stream by stream, of the
 * window and some of what is behind it. False: memory is out. */
struct queued_reader {
	bool (*take)(void *own, const struct batch *batch);
	void *own;
	unsigned columns;
};

/* Spans in order, without overlap, on the heap (free()). Unless there is a reader, or they are wanted anyway:
 * none, without reading the queues, when no thread is in a synchronization call in the window. */
int queued_find(struct sweep_span **spans, size_t *count, struct run *run, const struct process *process,
	uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway, const struct queued_reader *reader,
	struct error *error);

static inline uint64_t queued_before(uint64_t time_ns)
{
	return time_ns > QUEUED_REACH_NS ? time_ns - QUEUED_REACH_NS : 0;
}

/* Work that begins till then may be queued before `time_ns`. */
static inline uint64_t queued_after(uint64_t time_ns)
{
	return time_ns < UINT64_MAX - QUEUED_REACH_NS ? time_ns + QUEUED_REACH_NS : UINT64_MAX;
}

/* The calls of work that begins before `time_ns` begin before that. */
static inline uint64_t queued_calls_until(uint64_t time_ns)
{
	return time_ns < UINT64_MAX - QUEUED_EARLY_NS ? time_ns + QUEUED_EARLY_NS : UINT64_MAX;
}

/* Since when an operation is queued whose call ended at `call_ns` (launches.h; 0: it is not known): not later
 * than it begins. */
static inline uint64_t queued_since_of(uint64_t call_ns, uint64_t begin_ns)
{
	uint64_t least_ns = queued_before(begin_ns);

	call_ns = launches_counts(call_ns, begin_ns + QUEUED_EARLY_NS) ? call_ns & ~LAUNCHES_LONG : 0;
	call_ns = call_ns > least_ns ? call_ns : least_ns;
	return call_ns < begin_ns ? call_ns : begin_ns;
}

/* Whether one of a thread's spans is a synchronization call in the window. */
static inline bool queued_waits_in(const struct batch *batch, uint64_t begin_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->what[i] == STORE_OP_SYNC && batch->end_ns[i] > begin_ns &&
			batch->begin_ns[i] < end_ns)
			return true;
	return false;
}

/* Puts a thread's launches. */
struct queued_calls { /* memory for a batch */
	uint64_t links[BATCH_ROWS], ends_ns[BATCH_ROWS];
};
bool queued_put_calls(struct launches *launches, const struct batch *batch, struct queued_calls *memory);

/* Since when operations with these links that begin then are queued: not later than that; what has no link is
 * not queued. It may be written in the place of the links. */
void queued_find_since(const struct launches *launches, const uint64_t *links, const uint64_t *begins_ns,
	uint64_t *since_ns, size_t count);

/* What a process's threads did, read once and no farther than is asked for: the calls that launched its work,
 * by link, and the spans that their lines are made of. */
struct queued_launches;
/* Unless it is wanted anyway, nothing counts as queued until a thread is in a synchronization call. */
int queued_launches_new(struct queued_launches **launches, struct run *run, const struct process *process,
	uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway, struct error *error);
void queued_launches_free(struct queued_launches *launches);
/* For extent_open_read(), of the process's `thread`th CPU thread; to be asked for once. */
struct extent_source queued_thread_spans(struct queued_launches *launches, uint32_t thread);
/* All calls of work that begins before that time. */
int queued_launches_read(struct queued_launches *launches, uint64_t until_ns, struct error *error);
/* Nobody asks any more for operations that begin before that time. */
void queued_launches_pass(struct queued_launches *launches, uint64_t time_ns);
/* The same; calls are to be read up to there. */
void queued_since(const struct queued_launches *launches, const uint64_t *links, const uint64_t *begins_ns,
	uint64_t *since_ns, size_t count);

#endif
