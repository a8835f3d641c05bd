/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_heap.c - the sources of a scan, least next record first, and open spans made to look like a chunk.
 */
#include "timeline/scan/scan_heap.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/heap.h"

/* ---- order ---- */

static int compare_column64(const uint64_t *a, size_t i, const uint64_t *b, size_t j)
{
	return a && b ? (a[i] > b[j]) - (a[i] < b[j]) : 0;
}

static int compare_column32(const uint32_t *a, size_t i, const uint32_t *b, size_t j)
{
	return a && b ? (a[i] > b[j]) - (a[i] < b[j]) : 0;
}

/* As store_record_compare(), begins being equal. */
static int compare_rows(const struct scan_source *x, const struct scan_source *y)
{
	const struct store_batch *a = &x->batch, *b = &y->batch;
	int order = compare_column64(a->end_ns, x->at, b->end_ns, y->at);

	if (!order)
		order = compare_column32(a->context, x->at, b->context, y->at);
	if (!order)
		order = compare_column32(a->what, x->at, b->what, y->at);
	if (!order)
		order = compare_column64(a->amount, x->at, b->amount, y->at);
	if (!order)
		order = compare_column64(a->bytes, x->at, b->bytes, y->at);
	if (!order)
		order = compare_column64(a->link, x->at, b->link, y->at);
	if (!order)
		order = compare_column32(a->attributes, x->at, b->attributes, y->at);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static bool is_before(const void *x, const void *y)
{
	const struct scan_source *a = *(struct scan_source *const *)x, *b = *(struct scan_source *const *)y;

	if (a->head_ns != b->head_ns)
		return a->head_ns < b->head_ns;
	/* What is not decoded cannot be compared yet: let it come up. */
	if (!a->is_decoded || !b->is_decoded)
		return !a->is_decoded;
	return compare_rows(a, b) < 0;
}

void scan_heap_settle(struct scan_heap *heap)
{
	heap_sink(heap->sources, heap->count, 0, sizeof(struct scan_source *), is_before);
}

/* ---- sources ---- */

void scan_source_free(struct scan_source *source)
{
	if (!source)
		return;
	if (source->own)
		free(source->own);
	else
		store_batch_fini(&source->batch);
	free(source);
}

static bool heap_widen(struct scan_heap *heap)
{
	size_t capacity = heap->capacity ? heap->capacity * 2 : 8;

	if (!array_resize(&heap->sources, capacity, sizeof(struct scan_source *)) ||
		!array_resize(&heap->spare, capacity, sizeof(struct scan_source *)))
		return false;
	heap->capacity = capacity;
	return true;
}

struct scan_source *scan_source_new(struct scan_heap *heap)
{
	struct scan_source *source;

	if (heap->spare_count) {
		source = heap->spare[--heap->spare_count];
	} else {
		source = calloc(1, sizeof *source);
		if (source)
			store_batch_init(&source->batch);
	}
	if (!source)
		return NULL;
	source->at = 0;
	source->is_decoded = false;
	source->order = heap->arrivals++;
	return source;
}

int scan_heap_push(struct scan_heap *heap, struct scan_source *source, struct error *error)
{
	if (heap->count + heap->spare_count >= heap->capacity && !heap_widen(heap)) {
		scan_source_free(source);
		return error_memory(error);
	}
	heap->sources[heap->count] = source;
	heap_rise(heap->sources, heap->count++, sizeof(struct scan_source *), is_before);
	return 0;
}

void scan_heap_pop(struct scan_heap *heap)
{
	struct scan_source *source = heap->sources[0];

	heap->sources[0] = heap->sources[--heap->count];
	scan_heap_settle(heap);
	if (source->own)
		scan_source_free(source);
	else
		heap->spare[heap->spare_count++] = source;
}

/* ---- open spans ---- */

static int compare_records(const void *a, const void *b)
{
	return store_record_compare(a, b);
}

/* Columns like those of a chunk, for `count` records. */
static int columns_of(struct scan_source *source, const struct store_record *records, size_t count)
{
	size_t capacity = count ? count : 1;
	uint64_t *wide = malloc(capacity * (5 * sizeof(uint64_t) + 4 * sizeof(uint32_t)));
	uint32_t *narrow = (uint32_t *)(wide + 5 * capacity);
	struct store_batch *b = &source->batch;

	if (!wide)
		return -1;
	store_batch_fini(b);
	source->own = wide;
	*b = (struct store_batch){.count = count,
		.begin_ns = wide,
		.end_ns = wide + capacity,
		.amount = wide + 2 * capacity,
		.bytes = wide + 3 * capacity,
		.link = wide + 4 * capacity,
		.context = narrow,
		.what = narrow + capacity,
		.attributes = narrow + 2 * capacity,
		.flags = narrow + 3 * capacity};
	for (size_t i = 0; i < count; i++) {
		b->begin_ns[i] = records[i].begin_ns;
		b->end_ns[i] = records[i].end_ns;
		b->amount[i] = records[i].amount;
		b->bytes[i] = records[i].bytes;
		b->link[i] = records[i].link;
		b->context[i] = records[i].context;
		b->what[i] = records[i].what;
		b->attributes[i] = records[i].attributes;
		b->flags[i] = records[i].flags;
	}
	return 0;
}

int scan_source_fill(struct scan_source *source, const struct store_record *records, size_t count)
{
	struct store_record *sorted = malloc((count ? count : 1) * sizeof *sorted);
	int code;

	if (!sorted)
		return -1;
	memcpy(sorted, records, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, compare_records);
	code = columns_of(source, sorted, count);
	source->is_decoded = !code;
	free(sorted);
	return code;
}

void scan_heap_fini(struct scan_heap *heap)
{
	for (size_t i = 0; i < heap->count; i++)
		scan_source_free(heap->sources[i]);
	for (size_t i = 0; i < heap->spare_count; i++)
		scan_source_free(heap->spare[i]);
	free(heap->sources);
	free(heap->spare);
}
