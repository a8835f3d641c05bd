/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order.c - see row_order.h. Rows with unique times pass directly; others are kept until their time is
 * over, over any number of batches.
 */
#include "formats/base/row_order.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/hash.h"

/* A row as the run has it. */
struct row {
	struct store_record record;
	struct store_hash path;
	const char *attributes;
	size_t attributes_bytes;
};

struct tie {
	const struct run *run;
	struct row *rows;
	size_t count, capacity;
	enum store_track track;
	uint32_t stream;
};

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_whats(const struct tie *tie, uint32_t a, uint32_t b)
{
	if (tie->track != STORE_SPANS)
		return run_metric_compare(tie->run, a, b);
	return strcmp(run_op_name(tie->run, a), run_op_name(tie->run, b));
}

static int compare_attributes(const struct row *a, const struct row *b)
{
	size_t shorter =
		a->attributes_bytes < b->attributes_bytes ? a->attributes_bytes : b->attributes_bytes;
	int order = memcmp(a->attributes, b->attributes, shorter);

	return order ? order : compare(a->attributes_bytes, b->attributes_bytes);
}

static int row_compare(const void *left, const void *right, void *tie)
{
	const struct row *a = left, *b = right;
	int order = compare_whats(tie, a->record.what, b->record.what);

	order = order ? order : store_hash_compare(a->path, b->path);
	order = order ? order : compare(a->record.amount, b->record.amount);
	order = order ? order : compare(a->record.bytes, b->record.bytes);
	order = order ? order : compare(a->record.link, b->record.link);
	return order ? order : compare_attributes(a, b);
}

static bool tie_add(struct tie *tie, const struct batch *b, size_t i)
{
	struct row *row;

	if (!array_widen(&tie->rows, &tie->capacity, tie->count, sizeof *tie->rows))
		return false;
	row = &tie->rows[tie->count++];
	row->record = (struct store_record){b->begin_ns[i], b->end_ns[i], b->amount[i], b->bytes[i],
		b->link[i], b->context[i], b->what[i], b->attributes[i], b->flags[i]};
	row->path = run_context_hash(tie->run, b->context[i]);
	row->attributes = batch_attributes(tie->run, b, i, &row->attributes_bytes);
	return true;
}

static bool tie_end(struct tie *tie, bool (*put)(void *own, const struct batch *batch, size_t row), void *own)
{
	bool ok = true;

	if (tie->count > 1)
		qsort_r(tie->rows, tie->count, sizeof *tie->rows, row_compare, tie);
	for (size_t i = 0; i < tie->count && ok; i++) {
		struct store_record *r = &tie->rows[i].record;
		const struct batch one = {.stream = tie->stream,
			.track = tie->track,
			.columns = STORE_ALL,
			.count = 1,
			BATCH_COLUMNS_OF(r)};

		ok = put(own, &one, 0);
	}
	tie->count = 0;
	return ok;
}

/* Is the row alone in its time, as far as the batch tells? Its last row's time may go on in the next one. */
static bool is_alone(const struct tie *tie, const struct batch *b, size_t i)
{
	return !tie->count && i + 1 < b->count &&
	       (b->begin_ns[i] != b->begin_ns[i + 1] || b->end_ns[i] != b->end_ns[i + 1]);
}

static bool is_in_tie(const struct tie *tie, const struct batch *b, size_t i)
{
	return tie->count && tie->rows[0].record.begin_ns == b->begin_ns[i] &&
	       tie->rows[0].record.end_ns == b->end_ns[i];
}

int row_order_walk(const struct run *run, struct scan *scan,
	bool (*put)(void *own, const struct batch *batch, size_t row), void *own, struct error *error)
{
	struct tie tie = {.run = run};
	const struct batch *batch;
	bool ok = true;
	long count = 0;

	while (ok && (count = scan_next(scan, &batch, error)) > 0) {
		tie.stream = batch->stream;
		tie.track = batch->track;
		for (size_t i = 0; i < batch->count && ok; i++) {
			if (!is_in_tie(&tie, batch, i))
				ok = tie_end(&tie, put, own);
			if (ok)
				ok = is_alone(&tie, batch, i) ? put(own, batch, i) : tie_add(&tie, batch, i);
		}
	}
	ok = ok && tie_end(&tie, put, own);
	free(tie.rows);
	return ok ? (int)count : error_memory(error);
}
