/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_internal.h - for findings*.c only. findings.c reads the spans once; findings_sync.c judges
 * synchronization calls, findings_devices.c queues, findings_use.c and findings_judge.c a process's use of
 * devices, contexts, buffers and arguments.
 */
#ifndef BLAME_FINDINGS_INTERNAL_H
#define BLAME_FINDINGS_INTERNAL_H

#include "blame/base/process.h"
#include "blame/base/time_slices.h"
#include "blame/findings/findings.h"
#include "timeline/base/key_ids.h"
#include "timeline/run/batch.h"

#define FINDINGS_WHOLE UINT64_MAX
#define FINDINGS_PUT 256u

/* A copy to or from a named buffer. */
struct findings_transfer {
	uint64_t begin_ns, time_ns, bytes;
	uint64_t at;	 /* offset in the buffer; FINDINGS_WHOLE: all of it, or unknown */
	uint32_t buffer; /* its number */
	uint32_t context, stream;
	bool is_back; /* device to host */
};

/* A kernel by its context. */
struct findings_kernel {
	uint64_t count, time_ns;
	uint32_t context, stream;
	bool is_aliased;
};

struct findings_queue {
	uint64_t kernels, kernel_ns, longest_ns;
	uint32_t stream;
	bool is_in_order;
};

struct findings_kernel_home {
	uint32_t function, device, context;
};

/* What a place compiled. */
struct findings_compile {
	uint64_t count, time_ns, longest_ns;
	uint32_t stream;
};

struct findings_use {
	const struct process *process;
	struct key_ids buffers, kernels,
		homes; /* by hash of the name; by context; by struct findings_kernel_home */
	struct findings_transfer *transfers;
	size_t transfer_count, transfer_capacity;
	struct findings_kernel *cases;
	size_t case_capacity;
	struct findings_queue *queues;
	uint32_t queue_count, queue_at; /* the queue used last */
	struct {
		uint32_t context, stream;
	} put[FINDINGS_PUT]; /* contexts of kernels whose home has been added */
	uint8_t *has_none;   /* by attributes (text ids of the process's store): bits of missing values */
	size_t text_capacity;
	uint64_t devices_there; /* 0: unknown */
	uint64_t compiles, compile_ns, copies, alloc_bytes, allocs;
	uint32_t compile_context, compile_stream;
	uint64_t compile_most_ns;
	struct key_ids compile_places;	     /* contexts */
	struct findings_compile *compile_of; /* by place */
	size_t compile_capacity;
	uint32_t compile_count;
};

struct findings_search {
	struct run *run;
	const struct idle_question *question;
	const uint8_t
		*related; /* bits of related.h: cases on other streams than the chosen ones do not count */
	struct key_ids keys;
	struct finding *list; /* by number */
	uint64_t *longest_ns;
	uint32_t capacity;
	/* of the process and range being read */
	struct time_slices block;
	struct sweep_span *work; /* disjoint, from the last one before the range on */
	size_t work_count;
	struct findings_use *use;
	struct findings_sync *sync;
	struct arena *arena;
};

/* The part of a span inside the window. */
static inline uint64_t findings_begin(
	const struct findings_search *search, const struct batch *batch, size_t row)
{
	uint64_t begin_ns = search->question->begin_ns;

	return batch->begin_ns[row] > begin_ns ? batch->begin_ns[row] : begin_ns;
}

static inline uint64_t findings_time(
	const struct findings_search *search, const struct batch *batch, size_t row)
{
	uint64_t end_ns = search->question->end_ns;

	end_ns = batch->end_ns[row] < end_ns ? batch->end_ns[row] : end_ns;
	return end_ns - findings_begin(search, batch, row);
}

/* Adds a case to the finding of this kind and context. False: no memory. */
bool findings_add(struct findings_search *search, const struct finding *one);
/* Adds a complete finding, with save_ns. Without a context, findings are distinguished by stream. False: no
 * memory. */
bool findings_put(struct findings_search *search, const struct finding *finding);

/* Finds queues of a device that never work at the same time. */
int findings_read_devices(struct findings_search *search, const struct process *process, struct error *error);

/* One process: take every span of its streams, in any order of streams, then judge. */
struct findings_use *findings_use_new(const struct process *process);
void findings_use_free(struct findings_use *use);
bool findings_use_take(struct findings_search *search, const struct batch *batch, size_t row, bool is_gpu);
bool findings_use_judge(struct findings_search *search);

/* Synchronizations of one process, range by range: take the spans that begin in it, in any order of streams,
 * then judge, which needs `work`. */
struct findings_sync *findings_sync_new(void);
void findings_sync_free(struct findings_sync *sync);
bool findings_sync_take(struct findings_search *search, const struct batch *batch, size_t row, bool is_gpu);
bool findings_sync_judge(struct findings_search *search);
/* Work that ended before this is no longer needed, except the last. */
uint64_t findings_sync_judged(const struct findings_sync *sync);

#endif
