/* SPDX-License-Identifier: Apache-2.0 */
/* launch_samples_launches.c - see launch_samples_internal.h. */
#include "timeline/sum/launch_samples_internal.h"

#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/merge_sort.h"
#include "timeline/scan/scan.h"

int launch_samples_launches_init(
	struct launch_samples_launches *launches, struct run *run, struct error *error)
{
	uint64_t none = 0;

	*launches = (struct launch_samples_launches){.run = run, .context_count = run_context_count(run)};
	key_ids_init(&launches->kernels, sizeof(uint64_t));
	launches->kernel_of = calloc((size_t)launches->context_count + 1, sizeof *launches->kernel_of);
	return launches->kernel_of && key_ids_put(&launches->kernels, &none, NULL) == 0 ? 0
											: error_memory(error);
}

void launch_samples_launches_fini(struct launch_samples_launches *launches)
{
	key_ids_fini(&launches->kernels);
	free(launches->kernel_of);
	free(launches->list);
	free(launches->first);
	free(launches->end);
}

uint32_t launch_samples_kernel(struct launch_samples_launches *launches, uint32_t context)
{
	uint32_t *known = context < launches->context_count ? &launches->kernel_of[context] : NULL;
	const struct run_function *function;
	uint64_t name;
	uint32_t kernel;

	if (known && *known)
		return *known - 1;
	function = run_context_kernel(launches->run, context);
	name = (uint64_t)(uintptr_t)(function ? function->name : NULL);
	kernel = key_ids_put(&launches->kernels, &name, NULL);
	if (known && kernel != KEY_IDS_NONE)
		*known = kernel + 1;
	return kernel;
}

const char *launch_samples_name(const struct launch_samples_launches *launches, uint32_t kernel)
{
	const char *name =
		(const char *)(uintptr_t) * (const uint64_t *)key_ids_key(&launches->kernels, kernel);

	return name ? name : "";
}

/* ---- launches ---- */

static bool is_queue_of(const struct store_stream *queue, const struct store_stream *samples)
{
	return queue->kind == STORE_STREAM_GPU && queue->host == samples->host &&
	       queue->rank == samples->rank && queue->pid == samples->pid &&
	       queue->generation == samples->generation && queue->device == samples->device &&
	       queue->context == samples->context;
}

static bool batch_take(struct launch_samples_launches *launches, const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t kernel;

		if (batch->what[i] != STORE_OP_KERNEL)
			continue;
		kernel = launch_samples_kernel(launches, batch->context[i]);
		if (kernel == KEY_IDS_NONE || !array_widen(&launches->list, &launches->capacity,
						      launches->count, sizeof *launches->list))
			return false;
		launches->list[launches->count++] = (struct launch_samples_launch){
			batch->begin_ns[i], batch->end_ns[i], batch->context[i], kernel};
	}
	return true;
}

static int queue_read(struct launch_samples_launches *launches, uint32_t queue, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	bool ok = true;
	long count;
	int rc = scan_open(&scan, launches->run, queue, STORE_SPANS, begin_ns, end_ns,
		STORE_BEGIN | STORE_END | STORE_CONTEXT | STORE_WHAT, 0, error);

	if (rc < 0)
		return rc;
	while ((count = scan_next(scan, &batch, error)) > 0 && ok)
		ok = batch_take(launches, batch);
	scan_close(scan);
	return ok ? (int)(count < 0 ? count : 0) : error_memory(error);
}

static int begin_compare(const void *left, const void *right)
{
	const struct launch_samples_launch *a = left, *b = right;

	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Where each kernel's launches stand. */
static bool firsts_find(struct launch_samples_launches *launches)
{
	uint32_t count = launches->kernels.count;

	if (!array_resize(&launches->first, count, sizeof *launches->first) ||
		!array_resize(&launches->end, count, sizeof *launches->end))
		return false;
	launches->first_count = count;
	for (uint32_t k = 0; k < count; k++)
		launches->first[k] = launches->end[k] = 0;
	for (size_t i = 0; i < launches->count; i++) {
		uint32_t kernel = launches->list[i].kernel;

		if (!i || launches->list[i - 1].kernel != kernel)
			launches->first[kernel] = i;
		launches->end[kernel] = i + 1;
	}
	return true;
}

int launch_samples_launches_read(struct launch_samples_launches *launches, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	struct store_stream samples = run_stream(launches->run, stream)->s;
	unsigned store = run_stream(launches->run, stream)->store;
	int rc = 0;

	launches->count = 0;
	for (uint32_t s = 0; s < run_stream_count(launches->run) && rc == 0; s++)
		if (run_stream(launches->run, s)->store == store &&
			is_queue_of(&run_stream(launches->run, s)->s, &samples))
			rc = queue_read(launches, s, begin_ns, end_ns, error);
	merge_sort(launches->list, launches->count, sizeof *launches->list, begin_compare);
	return rc == 0 && !firsts_find(launches) ? error_memory(error) : rc;
}

const struct launch_samples_launch *launch_samples_covered(struct launch_samples_launches *launches,
	uint32_t kernel, uint64_t begin_ns, uint64_t end_ns, size_t *count)
{
	size_t at;

	*count = 0;
	if (kernel >= launches->first_count)
		return NULL;
	at = launches->first[kernel];
	while (at < launches->end[kernel] && launches->list[at].end_ns <= begin_ns)
		at++;
	launches->first[kernel] = at;
	while (at + *count < launches->end[kernel] && launches->list[at + *count].begin_ns < end_ns)
		(*count)++;
	return *count ? &launches->list[at] : NULL;
}
