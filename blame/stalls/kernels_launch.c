/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_launch.c - the launches of the sampled kernels: spans of GPU queues with their names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/stalls/kernels_internal.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "timeline/base/glob.h"
#include "timeline/scan/scan.h"

/* Texts are numbered by each store. */
struct launched_key {
	uint32_t context, store, attributes;
};

/* The time of one (context, attributes). */
struct launched {
	uint32_t context;
	size_t kernel; /* its place in the list; NO_KERNEL */
	struct kernel_shape shape;
	uint64_t time_ns, launches;
};
#define NO_KERNEL SIZE_MAX

struct launches {
	struct kernels *kernels;
	const struct select *select;
	struct key_ids ids; /* of launched_key */
	struct launched *list;
	size_t count, capacity;
};

/* The time of one shape of a kernel, from wherever it was launched. */
struct shaped {
	uint64_t kernel; /* its place in the list */
	struct kernel_shape shape;
};
_Static_assert(sizeof(struct shaped) == 56, "keys have no padding");

static uint32_t extent_get(const char *text, size_t size, const char *key, uint32_t extent[3])
{
	char value[64] = "";
	uint64_t product = 1;

	if (!attribute_get(text, size, key, value, sizeof value))
		return 0;
	if (sscanf(value, "%u:%u:%u", &extent[0], &extent[1], &extent[2]) != 3)
		return 0;
	for (unsigned i = 0; i < 3; i++) {
		product *= extent[i];
		product = product > UINT32_MAX ? UINT32_MAX : product;
	}
	return (uint32_t)product;
}

static struct kernel_shape shape_of(const char *text, size_t size)
{
	struct kernel_shape shape = {0};

	shape.grid = extent_get(text, size, "grid", shape.extent);
	shape.block = extent_get(text, size, "block", shape.extent + 3);
	shape.registers = (uint32_t)attribute_number(text, size, "registers", 0);
	shape.shared_bytes = (uint32_t)(attribute_number(text, size, "shared_static", 0) +
					attribute_number(text, size, "shared_dynamic", 0));
	return shape;
}

/* NULL: of no function. */
static const char *name_of(const struct kernels *kernels, uint32_t context)
{
	const struct run_context *c = run_context(kernels->run, context);

	return c->scope == UINT32_MAX
		       ? NULL
		       : run_function(kernels->run, run_scope(kernels->run, c->scope)->function)->name;
}

struct kernel *kernels_launched(struct kernels *kernels, uint32_t context)
{
	const char *name = name_of(kernels, context);

	for (size_t i = 0; name && i < kernels->count; i++)
		if (kernels->list[i].name == name || strcmp(kernels->list[i].name, name) == 0)
			return &kernels->list[i];
	return NULL;
}

const struct kernel *kernels_of_context(const struct kernels *kernels, uint32_t context)
{
	return kernels_launched((struct kernels *)kernels, context);
}

/* Puts kernels without samples into the list, if they are asked for. False: no memory. */
static bool kernel_find(struct kernels *kernels, uint32_t context, size_t *kernel)
{
	struct kernel *found = kernels_launched(kernels, context);
	const char *name = name_of(kernels, context);

	*kernel = NO_KERNEL;
	if (!found && kernels->has_unsampled && name && (!kernels->glob || glob_match(kernels->glob, name))) {
		found = kernels_named(kernels, name);
		if (!found)
			return false;
	}
	if (found)
		*kernel = (size_t)(found - kernels->list);
	return true;
}

/* A launch that has not ended lasts to the run's end. */
static uint64_t time_of(const struct kernels *kernels, const struct batch *batch, size_t i)
{
	uint64_t begin_ns = batch->begin_ns[i], end_ns = batch->end_ns[i];

	end_ns = end_ns == STORE_OPEN_NS ? run_end_ns(kernels->run) : end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static int batch_take(struct launches *launches, const struct batch *batch, struct error *error)
{
	struct kernels *kernels = launches->kernels;
	uint32_t store = run_stream(kernels->run, batch->stream)->store;

	for (size_t i = 0; i < batch->count; i++) {
		struct launched_key key = {batch->context[i], store, batch->attributes[i]};
		uint64_t time_ns = time_of(kernels, batch, i);
		struct launched *launched;
		bool is_new;
		uint32_t at;

		if (batch->what[i] != STORE_OP_KERNEL)
			continue;
		kernels->summary.kernel_ns += time_ns;
		at = key_ids_put(&launches->ids, &key, &is_new);
		if (at == KEY_IDS_NONE || (is_new && !array_widen(&launches->list, &launches->capacity, at,
							     sizeof *launches->list)))
			return error_memory(error);
		launched = &launches->list[at];
		if (is_new) {
			size_t size;
			const char *text = batch_attributes(kernels->run, batch, i, &size);

			*launched = (struct launched){.context = batch->context[i],
				.kernel = NO_KERNEL,
				.shape = shape_of(text, size)};
			if (select_wants_context(launches->select, batch->context[i]) &&
				!kernel_find(kernels, batch->context[i], &launched->kernel))
				return error_memory(error);
			launches->count = at + 1;
		}
		launched->time_ns += time_ns;
		launched->launches++;
	}
	return 0;
}

static int queue_read(
	struct launches *launches, uint32_t stream, const struct select *select, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int rc = scan_open(&scan, launches->kernels->run, stream, STORE_SPANS,
		select_records_begin_ns(select), select_records_end_ns(select),
		STORE_BEGIN | STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_ATTRIBUTES, SCAN_CLIP, error);

	if (rc < 0)
		return rc;
	while ((count = scan_next(scan, &batch, error)) > 0 && rc == 0)
		rc = batch_take(launches, batch, error);
	scan_close(scan);
	return count < 0 ? (int)count : rc;
}

static int launched_compare(const void *left, const void *right)
{
	const struct launched *a = left, *b = right;

	return a->context < b->context ? -1 : a->context > b->context;
}

/* Rows of one path stand together. */
static void sum_up(struct launches *launches)
{
	uint64_t path_ns = 0;

	if (launches->count)
		qsort(launches->list, launches->count, sizeof *launches->list, launched_compare);
	for (size_t i = 0; i < launches->count; i++) {
		const struct launched *at = &launches->list[i];
		bool is_first = !i || at->context != at[-1].context;
		struct kernel *kernel;

		if (at->kernel == NO_KERNEL)
			continue;
		kernel = &launches->kernels->list[at->kernel];
		path_ns = (is_first ? 0 : path_ns) + at->time_ns;
		kernel->time_ns += at->time_ns;
		kernel->launches += at->launches;
		kernel->paths += is_first;
		if (path_ns > kernel->context_ns || !kernel->context) {
			kernel->context_ns = path_ns;
			kernel->context = at->context;
		}
	}
}

/* Each kernel's shape of most time, the first of equal ones. times: of each shape; most: of each kernel. */
static bool shapes_sum(
	const struct launches *launches, struct key_ids *shapes, uint64_t *times, uint64_t *most)
{
	struct kernels *kernels = launches->kernels;

	for (size_t i = 0; i < launches->count; i++) {
		const struct launched *at = &launches->list[i];
		struct shaped key = {0};
		uint32_t shape;

		if (at->kernel == NO_KERNEL)
			continue;
		key.kernel = at->kernel;
		key.shape = at->shape;
		shape = key_ids_put(shapes, &key, NULL);
		if (shape == KEY_IDS_NONE)
			return false;
		times[shape] += at->time_ns;
	}
	for (uint32_t shape = 0; shape < shapes->count; shape++) {
		const struct shaped *key = key_ids_key(shapes, shape);

		if (times[shape] <= most[key->kernel])
			continue;
		most[key->kernel] = times[shape];
		kernels->list[key->kernel].shape = key->shape;
	}
	return true;
}

static int shapes_choose(const struct launches *launches, struct error *error)
{
	uint64_t *times = calloc(launches->count + 1, sizeof *times);
	uint64_t *most = calloc(launches->kernels->count + 1, sizeof *most);
	struct key_ids shapes;
	bool ok;

	key_ids_init(&shapes, sizeof(struct shaped));
	ok = times && most && shapes_sum(launches, &shapes, times, most);
	key_ids_fini(&shapes);
	free(times);
	free(most);
	return ok ? 0 : error_memory(error);
}

int kernels_launches(struct kernels *kernels, const struct select *select, struct error *error)
{
	struct launches launches = {.kernels = kernels, .select = select};
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	int rc = 0;

	key_ids_init(&launches.ids, sizeof(struct launched_key));
	for (uint32_t i = 0; i < count && rc == 0; i++)
		if (run_stream(kernels->run, streams[i])->s.kind == STORE_STREAM_GPU)
			rc = queue_read(&launches, streams[i], select, error);
	if (rc == 0) {
		sum_up(&launches);
		rc = shapes_choose(&launches, error);
	}
	key_ids_fini(&launches.ids);
	free(launches.list);
	return rc;
}
