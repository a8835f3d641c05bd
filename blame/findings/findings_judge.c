/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_judge.c - decides which uses of devices, queues, contexts, buffers and arguments (findings_use.c)
 * are findings, and computes their largest saving.
 */
#include <stdlib.h>

#include "blame/findings/findings_internal.h"

#define LOOK_BACK 256u /* transfers of a buffer */

static int transfer_compare(const void *left, const void *right)
{
	const struct findings_transfer *a = left, *b = right;

	if (a->buffer != b->buffer)
		return a->buffer < b->buffer ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->is_back != b->is_back)
		return (int)a->is_back - (int)b->is_back;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static int case_compare(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;

	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static int queue_compare(const void *left, const void *right)
{
	const struct findings_queue *a = left, *b = right;

	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static bool do_meet(const struct findings_transfer *a, const struct findings_transfer *b)
{
	return a->at == FINDINGS_WHOLE || b->at == FINDINGS_WHOLE ||
	       (a->at < b->at + b->bytes && b->at < a->at + a->bytes);
}

/* The last transfer before it that touched what it sends to the device, if it came from there; NULL: none. */
static const struct findings_transfer *back_of(const struct findings_use *use, size_t at)
{
	const struct findings_transfer *again = &use->transfers[at];

	for (size_t i = at, seen = 0; !again->is_back && i > 0 && seen < LOOK_BACK; i--, seen++) {
		const struct findings_transfer *before = &use->transfers[i - 1];

		if (before->buffer != again->buffer)
			return NULL;
		if (do_meet(before, again))
			return before->is_back ? before : NULL;
	}
	return NULL;
}

/* Both ways of every round trip, by the place that sends the buffer back to the device. */
static bool judge_round_trips(struct findings_search *search)
{
	struct findings_use *use = search->use;
	struct finding *found = calloc(use->transfer_count + 1, sizeof(*found));
	size_t count = 0;
	bool is_kept = found != NULL;

	if (use->transfer_count)
		qsort(use->transfers, use->transfer_count, sizeof(*use->transfers), transfer_compare);
	for (size_t i = 1; is_kept && i < use->transfer_count; i++) {
		const struct findings_transfer *again = &use->transfers[i], *back = back_of(use, i);

		if (!back)
			continue;
		found[count] = (struct finding){.kind = FINDING_ROUND_TRIP,
			.context = again->context,
			.stream = again->stream,
			.count = 1,
			.time_ns = back->time_ns + again->time_ns,
			.bytes = back->bytes + again->bytes};
		count++;
	}
	if (is_kept && count)
		qsort(found, count, sizeof(*found), case_compare);
	for (size_t i = 0, next; is_kept && i < count; i = next) {
		struct finding *finding = &found[i];

		for (next = i + 1; next < count && found[next].context == finding->context; next++) {
			finding->count++;
			finding->time_ns += found[next].time_ns;
			finding->bytes += found[next].bytes;
		}
		finding->save_ns = finding->time_ns;
		is_kept = findings_put(search, finding);
	}
	free(found);
	return is_kept;
}

static bool judge_arguments(struct findings_search *search)
{
	const struct findings_use *use = search->use;

	for (uint32_t i = 0; i < use->kernels.count; i++) {
		const struct findings_kernel *of = &use->cases[i];

		if (!of->is_aliased && !findings_put(search, &(struct finding){.kind = FINDING_NOT_ALIASED,
								     .context = of->context,
								     .stream = of->stream,
								     .count = of->count,
								     .time_ns = of->time_ns}))
			return false;
	}
	return true;
}

/* At most all kernels of a queue run beside its longest. */
static bool judge_queues(struct findings_search *search)
{
	const struct findings_use *use = search->use;

	for (uint32_t i = 0; i < use->queue_count; i++) {
		const struct findings_queue *queue = &use->queues[i];

		if (queue->is_in_order && queue->kernels > 1 &&
			!findings_put(search, &(struct finding){.kind = FINDING_IN_ORDER,
						      .stream = queue->stream,
						      .count = queue->kernels,
						      .time_ns = queue->kernel_ns,
						      .save_ns = queue->kernel_ns - queue->longest_ns}))
			return false;
	}
	return true;
}

static uint64_t devices_used(const struct findings_search *search, uint64_t *kernel_ns, uint32_t *stream)
{
	const struct findings_use *use = search->use;
	uint64_t count = 0;

	for (uint32_t i = 0; i < use->queue_count; i++) {
		uint32_t device = run_stream(search->run, use->queues[i].stream)->s.device;
		bool is_new = use->queues[i].kernels != 0;

		for (uint32_t j = 0; j < i; j++)
			is_new &= !use->queues[j].kernels ||
				  run_stream(search->run, use->queues[j].stream)->s.device != device;
		count += is_new;
		*kernel_ns += use->queues[i].kernel_ns;
	}
	*stream = use->queue_count ? use->queues[0].stream : 0;
	return count;
}

static bool judge_devices(struct findings_search *search)
{
	const struct findings_use *use = search->use;
	uint64_t kernel_ns = 0, used;
	uint32_t stream;

	used = devices_used(search, &kernel_ns, &stream);
	return !used || use->devices_there <= used ||
	       findings_put(search, &(struct finding){.kind = FINDING_UNUSED_DEVICES,
					    .stream = stream,
					    .count = use->devices_there - used,
					    .time_ns = kernel_ns,
					    .save_ns = kernel_ns - kernel_ns / use->devices_there * used});
}

/* ---- compiling ----
 *
 * Each ns of it is in one finding. Further contexts of a device take all compilations but the longest; else a
 * place that repeats itself all of its own but its longest; what is left could be done ahead of time. */

/* Kernels that run in a further context of the same device: each compiles for itself. */
static uint32_t count_again(const struct findings_use *use)
{
	struct key_ids kernels;
	uint32_t again = 0;

	key_ids_init(&kernels, 2 * sizeof(uint32_t));
	for (uint32_t i = 0; i < use->homes.count; i++) {
		const struct findings_kernel_home *home = key_ids_key(&use->homes, i);
		const uint32_t kernel[2] = {home->function, home->device};
		bool is_new = true;

		key_ids_put(&kernels, kernel, &is_new);
		again += !is_new;
	}
	key_ids_fini(&kernels);
	return again;
}

static bool put_contexts(struct findings_search *search, uint32_t again)
{
	const struct findings_use *use = search->use;

	if (again && use->compiles > 1)
		return findings_put(search, &(struct finding){.kind = FINDING_MANY_CONTEXTS,
						    .context = use->compile_context,
						    .stream = use->compile_stream,
						    .count = again,
						    .time_ns = use->compile_ns - use->compile_most_ns,
						    .save_ns = use->compile_ns - use->compile_most_ns});
	return !again || findings_put(search, &(struct finding){.kind = FINDING_MANY_CONTEXTS,
						      .stream = use->queues[0].stream,
						      .count = again});
}

/* Compilations that were needed: of the only device that is used, all together. */
static bool put_needed(struct findings_search *search, uint32_t context, uint32_t stream, uint64_t count,
	uint64_t time_ns, bool is_single)
{
	const struct findings_use *use = search->use;

	return !time_ns || findings_add(search, &(struct finding){.kind = is_single ? FINDING_SINGLE_DEVICE
										    : FINDING_COMPILE,
							.context = is_single ? use->compile_context : context,
							.stream = is_single ? use->compile_stream : stream,
							.count = count,
							.time_ns = time_ns,
							.save_ns = time_ns});
}

static bool judge_compiles(struct findings_search *search)
{
	const struct findings_use *use = search->use;
	uint64_t kernel_ns = 0;
	uint32_t again = count_again(use), stream;
	bool is_single = devices_used(search, &kernel_ns, &stream) == 1;

	if (!put_contexts(search, again))
		return false;
	if (again && use->compiles > 1)
		return put_needed(search, use->compile_context, use->compile_stream, 1, use->compile_most_ns,
			is_single);
	for (uint32_t i = 0; i < use->compile_places.count; i++) {
		const struct findings_compile *of = &use->compile_of[i];
		uint32_t context = *(const uint32_t *)key_ids_key(&use->compile_places, i);
		const struct finding repeated = {.kind = FINDING_REPEATED_COMPILE,
			.context = context,
			.stream = of->stream,
			.count = of->count,
			.time_ns = of->time_ns,
			.save_ns = of->time_ns - of->longest_ns};

		if (of->count > 1 && !findings_add(search, &repeated))
			return false;
		if (!put_needed(search, context, of->stream, 1, of->longest_ns, is_single))
			return false;
	}
	return true;
}

/* Memory and kernels, but no copy: what fills the memory was not seen. */
static bool judge_implicit(struct findings_search *search)
{
	const struct findings_use *use = search->use;
	uint64_t kernel_ns = 0;
	uint32_t stream;

	if (!use->allocs || use->copies || !devices_used(search, &kernel_ns, &stream))
		return true;
	return findings_put(search, &(struct finding){.kind = FINDING_IMPLICIT_COPIES,
					    .stream = stream,
					    .count = use->allocs,
					    .bytes = use->alloc_bytes});
}

bool findings_use_judge(struct findings_search *search)
{
	struct findings_use *use = search->use;

	if (use->queue_count)
		qsort(use->queues, use->queue_count, sizeof(*use->queues), queue_compare);
	return judge_round_trips(search) && judge_arguments(search) && judge_queues(search) &&
	       judge_devices(search) && judge_compiles(search) && judge_implicit(search);
}
