/* SPDX-License-Identifier: Apache-2.0 */
/* scan_rows.c - see scan.h: copies rows of a store to a batch with the run's ids and clock; or returns them
 * without a copy. */
#include "timeline/scan/scan_internal.h"

#include <string.h>

#include "store/base/avx2.h"

#define LENT_ROWS 256u

static int damaged(const struct scan *scan, const char *what, uint32_t id, struct error *error)
{
	return error_set(error, ERROR_RUN,
		"%s is damaged: a record names %s %u, which is not there; record again, or use a copy",
		scan->part->path, what, id);
}

static int put_contexts(struct scan *scan, const uint32_t *from, size_t count, struct error *error)
{
	const struct run_part *part = scan->part;
	uint32_t *to = scan->batch.context + scan->batch.count;

	for (size_t i = 0; i < count; i++) {
		if (from[i] >= part->context_count)
			return damaged(scan, "context", from[i], error);
		to[i] = part->contexts ? part->contexts[from[i]] : from[i];
	}
	return 0;
}

static uint32_t put_op(struct scan *scan, uint32_t op)
{
	if (op < STORE_OP_COUNT)
		return op;
	if (op != scan->op_store) {
		scan->op_run = run_op_of(scan->run, (unsigned)(scan->part - scan->run->parts), op);
		scan->op_store = op;
	}
	return scan->op_run;
}

static int put_whats(struct scan *scan, const uint32_t *from, size_t count, struct error *error)
{
	uint32_t *to = scan->batch.what + scan->batch.count;

	for (size_t i = 0; i < count; i++) {
		if (scan->batch.track == STORE_SPANS) {
			to[i] = put_op(scan, from[i]);
			continue;
		}
		if (from[i] >= scan->part->metric_count)
			return damaged(scan, "metric", from[i], error);
		to[i] = scan->part->metrics[from[i]];
	}
	return 0;
}

static void put_times(const struct scan *scan, uint64_t *to, const uint64_t *from, size_t count)
{
	memcpy(to, from, count * sizeof *to);
	for (size_t i = 0; scan->part->shift_ns && i < count; i++)
		to[i] = run_part_time(scan->part, from[i]);
}

/* Where the run ends, or behind it where the span begins. */
static uint64_t open_until(const struct scan *scan, uint64_t begin_ns)
{
	uint64_t end_ns = run_end_ns(scan->run);

	return end_ns > begin_ns ? end_ns : begin_ns;
}

static void clip(const struct scan *scan, size_t row)
{
	const struct batch *b = &scan->batch;

	if (b->begin_ns[row] < scan->run_begin_ns)
		b->begin_ns[row] = scan->run_begin_ns;
	if (b->end_ns && b->end_ns[row] == STORE_OPEN_NS && scan->run_end_ns != STORE_OPEN_NS)
		b->end_ns[row] = open_until(scan, b->begin_ns[row]);
	if (b->end_ns && b->end_ns[row] > scan->run_end_ns)
		b->end_ns[row] = scan->run_end_ns;
}

/* Appends rows [at, at + count) of a source. */
int scan_put_rows(
	struct scan *scan, const struct store_batch *s, size_t at, size_t count, struct error *error)
{
	struct batch *b = &scan->batch;
	size_t to = b->count;
	int code = 0;

	put_times(scan, b->begin_ns + to, s->begin_ns + at, count);
	if (b->end_ns)
		put_times(scan, b->end_ns + to, s->end_ns + at, count);
	if (b->amount)
		memcpy(b->amount + to, s->amount + at, count * sizeof *b->amount);
	if (b->context)
		code = put_contexts(scan, s->context + at, count, error);
	if (b->what && !code)
		code = put_whats(scan, s->what + at, count, error);
	if (b->bytes)
		memcpy(b->bytes + to, s->bytes + at, count * sizeof *b->bytes);
	if (b->link)
		memcpy(b->link + to, s->link + at, count * sizeof *b->link);
	if (b->attributes)
		memcpy(b->attributes + to, s->attributes + at, count * sizeof *b->attributes);
	if (b->flags)
		memcpy(b->flags + to, s->flags + at, count * sizeof *b->flags);
	b->count += count;
	for (size_t row = to; scan->flags & SCAN_CLIP && row < b->count; row++)
		clip(scan, row);
	return code;
}

/* ---- rows lent ---- */

/* True when all values are below the limit: differences have no sign, unless they are huge. Without
 * comparisons the loop is vectorized. */
static bool are_all_below(const uint32_t *values, size_t count, uint32_t limit)
{
	uint32_t signs = limit - 1;

	for (size_t i = 0; i < count; i++)
		signs |= (limit - 1 - values[i]) | values[i];
	return !(signs >> 31);
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static bool are_below_wide(const uint32_t *values, size_t count, uint32_t limit)
{
	return are_all_below(values, count, limit);
}
#endif

static bool are_below(const uint32_t *values, size_t count, uint32_t limit)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2())
		return are_below_wide(values, count, limit);
#endif
	return are_all_below(values, count, limit);
}

/* True when the top source's rows need no translation, and are enough to pay off. */
bool scan_may_lend(const struct scan *scan, size_t to)
{
	const struct scan_source *source = scan->heap.sources[0];
	const struct store_batch *b = &source->batch;
	size_t at = source->at, count = to - at;

	if (scan->batch.count || count < LENT_ROWS || scan->flags & SCAN_CLIP || scan->part->shift_ns ||
		scan->batch.track != STORE_SPANS)
		return false;
	if (scan->batch.context &&
		(scan->part->contexts || !are_below(b->context + at, count, scan->part->context_count)))
		return false;
	return !scan->batch.what || are_below(b->what + at, count, STORE_OP_COUNT);
}

void scan_lend_top(struct scan *scan, size_t to)
{
	struct scan_source *source = scan->heap.sources[0];
	const struct store_batch *b = &source->batch;
	const struct batch *own = &scan->batch;
	size_t at = source->at;

	scan->lent = (struct batch){.stream = own->stream,
		.track = own->track,
		.columns = own->columns,
		.count = to - at,
		.begin_ns = b->begin_ns + at,
		.end_ns = own->end_ns ? b->end_ns + at : NULL,
		.amount = own->amount ? b->amount + at : NULL,
		.bytes = own->bytes ? b->bytes + at : NULL,
		.link = own->link ? b->link + at : NULL,
		.context = own->context ? b->context + at : NULL,
		.what = own->what ? b->what + at : NULL,
		.attributes = own->attributes ? b->attributes + at : NULL,
		.flags = own->flags ? b->flags + at : NULL};
	source->at = to;
	scan->is_lent = true;
}
