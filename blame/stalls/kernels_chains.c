/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels_chains.c - kernels whose queue stood idle until their own launch: chains of kernels shorter than a
 * launch call.
 *
 *   thread   |launch 1||launch 2||launch 3|
 *   queue             |##|      |##|      |##|      2 and 3 wait for their launch: kernel 1 was over when the
 *                                                   call of launch 2 ended, and calls follow each other
 */
#include <stdlib.h>

#include "blame/base/process.h"
#include "blame/gpu/gpu_pending.h"
#include "blame/stalls/kernels_internal.h"
#include "timeline/scan/scan.h"

#define CALLS_APART_NS 20000u /* longer: the thread did something else between two launches */

struct chains {
	struct kernels *kernels;
	const struct select *select;
	struct launches calls;
	struct gpu_pending_calls memory;
	struct kernel **by_context; /* [contexts of the run] */
	bool *is_known;
	uint64_t last_end_ns, last_call_ns, last_link; /* of the queue */
};

static struct kernel *kernel_of(struct chains *chains, uint32_t context)
{
	if (!chains->is_known[context]) {
		if (select_wants_context(chains->select, context))
			chains->by_context[context] = kernels_launched(chains->kernels, context);
		chains->is_known[context] = true;
	}
	return chains->by_context[context];
}

static void kernel_take(struct chains *chains, const struct batch *batch, size_t i)
{
	uint64_t begin_ns = batch->begin_ns[i], link = batch->link[i];
	uint64_t call_ns = link ? launches_end(&chains->calls, link, gpu_pending_calls_until(begin_ns)) : 0;
	struct kernel *kernel =
		batch->what[i] == STORE_OP_KERNEL ? kernel_of(chains, batch->context[i]) : NULL;

	call_ns = call_ns & LAUNCHES_LONG ? 0 : call_ns;
	/* One that has not ended is in no chain: what it takes is not known. */
	if (kernel && batch->end_ns[i] != STORE_OPEN_NS && link != chains->last_link && chains->last_end_ns &&
		begin_ns > chains->last_end_ns && call_ns > chains->last_end_ns && chains->last_call_ns &&
		call_ns > chains->last_call_ns && call_ns - chains->last_call_ns < CALLS_APART_NS) {
		kernel->chained++;
		kernel->chained_gap_ns += begin_ns - chains->last_end_ns;
		kernel->chained_ns += batch->end_ns[i] - begin_ns;
	}
	if (batch->end_ns[i] > chains->last_end_ns)
		chains->last_end_ns = batch->end_ns[i];
	if (link != chains->last_link)
		chains->last_call_ns = call_ns;
	chains->last_link = link;
}

/* Hands the spans of a stream over; of a queue to the chains, of a thread to the calls. */
static int stream_read(struct chains *chains, uint32_t stream, bool is_queue, const struct select *select,
	struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int rc = scan_open(&scan, chains->kernels->run, stream, STORE_SPANS, select_records_begin_ns(select),
		select_records_end_ns(select),
		STORE_BEGIN | STORE_END | STORE_WHAT | STORE_LINK | (is_queue ? STORE_CONTEXT : 0),
		is_queue ? SCAN_CLIP : 0, error);

	if (rc < 0)
		return rc;
	chains->last_end_ns = chains->last_call_ns = chains->last_link = 0;
	while ((count = scan_next(scan, &batch, error)) > 0 && rc == 0) {
		if (!is_queue && !gpu_pending_put_calls(&chains->calls, batch, &chains->memory))
			rc = error_memory(error);
		for (size_t i = 0; i < batch->count && is_queue; i++)
			if (!store_op_is_state(batch->what[i]) && batch->what[i] != STORE_OP_NONE &&
				batch->what[i] != STORE_OP_MONITORED)
				kernel_take(chains, batch, i);
	}
	scan_close(scan);
	return count < 0 ? (int)count : rc;
}

static int process_read(struct chains *chains, const struct process *process, const struct select *select,
	struct error *error)
{
	int rc = 0;

	for (unsigned queues = 0; queues < 2 && rc == 0; queues++) {
		for (uint32_t i = 0; i < process->stream_count && rc == 0; i++) {
			unsigned kind = run_stream(chains->kernels->run, process->streams[i])->s.kind;

			if (kind == (queues ? STORE_STREAM_GPU : STORE_STREAM_CPU))
				rc = stream_read(chains, process->streams[i], queues, select, error);
		}
		if (!queues)
			launches_sort(&chains->calls);
	}
	launches_fini(&chains->calls);
	chains->calls = (struct launches){0};
	return rc;
}

int kernels_chains(struct kernels *kernels, const struct select *select, struct error *error)
{
	struct chains *chains = calloc(1, sizeof *chains);
	struct process *processes;
	struct arena arena = {0};
	size_t room = (size_t)run_context_count(kernels->run) + 1;
	uint32_t count, stream_count;
	const uint32_t *streams = select_streams(select, &stream_count);
	int rc;

	if (!chains)
		return error_memory(error);
	chains->kernels = kernels;
	chains->select = select;
	chains->by_context = calloc(room, sizeof *chains->by_context);
	chains->is_known = calloc(room, sizeof *chains->is_known);
	rc = chains->by_context && chains->is_known ? 0 : error_memory(error);
	if (rc == 0)
		rc = process_list(&processes, &count, kernels->run, streams, stream_count, &arena, error);
	for (uint32_t p = 0; rc == 0 && p < count; p++)
		if (processes[p].gpu_count)
			rc = process_read(chains, &processes[p], select, error);
	arena_fini(&arena);
	free(chains->by_context);
	free(chains->is_known);
	free(chains);
	return rc;
}
