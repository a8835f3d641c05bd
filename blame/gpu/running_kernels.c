/* SPDX-License-Identifier: Apache-2.0 */
/* running_kernels.c - see running_kernels.h: spans by begin from each queue, running ones in a heap by end.
 */
#include "blame/gpu/running_kernels.h"

#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/heap.h"
#include "timeline/scan/scan.h"

struct kernel_queue {
	uint32_t stream;
	struct scan *scan;
	const struct batch *batch;
	size_t row;
	uint64_t next_ns; /* UINT64_MAX: no more */
};

struct running_kernel {
	uint64_t end_ns;
	uint32_t stream, context;
	exact_share_fixed entered;
};

struct running_kernels {
	struct run *run;
	uint64_t begin_ns, end_ns;
	struct kernel_queue *queues;
	uint32_t queue_count;
	struct running_kernel *heap;
	uint32_t count;
	size_t capacity;
};

int running_kernels_new(struct running_kernels **running, struct run *run, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	*running = calloc(1, sizeof(**running));
	if (!*running)
		return error_memory(error);
	(*running)->run = run;
	(*running)->begin_ns = begin_ns;
	(*running)->end_ns = end_ns;
	return 0;
}

void running_kernels_free(struct running_kernels *running)
{
	if (!running)
		return;
	for (uint32_t i = 0; i < running->queue_count; i++)
		scan_close(running->queues[i].scan);
	free(running->queues);
	free(running->heap);
	free(running);
}

/* ---- queues ---- */

static bool is_kernel(const struct batch *batch, size_t row)
{
	return (batch->what[row] == STORE_OP_KERNEL || batch->what[row] == STORE_OP_GRAPH) &&
	       batch->end_ns[row] > batch->begin_ns[row];
}

/* To the queue's next kernel. */
static int queue_advance(struct kernel_queue *queue, struct error *error)
{
	for (;;) {
		queue->row++;
		if (!queue->batch || queue->row >= queue->batch->count) {
			long count = scan_next(queue->scan, &queue->batch, error);

			queue->row = 0;
			queue->next_ns = UINT64_MAX;
			if (count <= 0)
				return (int)count;
		}
		if (!is_kernel(queue->batch, queue->row))
			continue;
		queue->next_ns = queue->batch->begin_ns[queue->row];
		return 0;
	}
}

int running_kernels_add_queue(struct running_kernels *running, uint32_t stream, struct error *error)
{
	struct kernel_queue *queue;
	int result;

	if (!array_resize(&running->queues, running->queue_count + 1, sizeof(*running->queues)))
		return error_memory(error);
	queue = &running->queues[running->queue_count];
	*queue = (struct kernel_queue){.stream = stream, .next_ns = UINT64_MAX};
	result = scan_open(&queue->scan, running->run, stream, STORE_SPANS, running->begin_ns,
		running->end_ns, STORE_BEGIN | STORE_END | STORE_CONTEXT | STORE_WHAT, SCAN_CLIP, error);
	if (result)
		return result;
	running->queue_count++;
	return queue_advance(queue, error);
}

/* ---- the heap ---- */

static bool ends_before(const void *a, const void *b)
{
	return ((const struct running_kernel *)a)->end_ns < ((const struct running_kernel *)b)->end_ns;
}

static bool heap_push(struct running_kernels *running, struct running_kernel kernel)
{
	if (!array_widen(&running->heap, &running->capacity, running->count, sizeof *running->heap))
		return false;
	running->heap[running->count] = kernel;
	heap_rise(running->heap, running->count++, sizeof kernel, ends_before);
	return true;
}

static struct running_kernel heap_pop(struct running_kernels *running)
{
	struct running_kernel first = running->heap[0];

	running->heap[0] = running->heap[--running->count];
	heap_sink(running->heap, running->count, 0, sizeof first, ends_before);
	return first;
}

/* ---- changes ---- */

uint64_t running_kernels_next_ns(const struct running_kernels *running)
{
	uint64_t next_ns = running->count ? running->heap[0].end_ns : UINT64_MAX;

	for (uint32_t i = 0; i < running->queue_count; i++)
		if (running->queues[i].next_ns < next_ns)
			next_ns = running->queues[i].next_ns;
	return next_ns;
}

int running_kernels_take(struct running_kernels *running, exact_share_fixed clock,
	struct exact_share_sums *sums, struct error *error)
{
	uint64_t now_ns = running_kernels_next_ns(running);

	while (running->count && running->heap[0].end_ns == now_ns) {
		struct running_kernel kernel = heap_pop(running);

		if (clock != kernel.entered &&
			!exact_share_sums_add_of(sums, kernel.stream, kernel.context, clock - kernel.entered))
			return error_memory(error);
	}
	for (uint32_t i = 0; i < running->queue_count; i++) {
		struct kernel_queue *queue = &running->queues[i];

		while (queue->next_ns == now_ns) {
			int result;

			if (!heap_push(running,
				    (struct running_kernel){queue->batch->end_ns[queue->row], queue->stream,
					    queue->batch->context[queue->row], clock}))
				return error_memory(error);
			result = queue_advance(queue, error);
			if (result)
				return result;
		}
	}
	return 0;
}

uint32_t running_kernels_count(const struct running_kernels *running)
{
	return running->count;
}
