/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - merges the chunks of a stream and track. Chunks come in the order of their buckets' begins, so
 * all chunks that a record must be compared with are known once the next bucket begins after it:
 *
 *   cursor ->  [bucket 2^30, late]   heap of sources by next record  ->  rows until the second source's
 *              [bucket 2^20, #0]     (decoded when their turn comes)     next record, or the next bucket
 */
#include "timeline/scan/scan.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/avx2.h"
#include "timeline/base/progress.h"
#include "timeline/run/run_internal.h"
#include "timeline/scan/scan_heap.h"

#define PROGRESS_BATCHES 16u /* of 4096 rows: some ten million records a second are read */
#define OPS_KNOWN 8u

struct scan {
	struct run *run;
	const struct run_part *part;
	struct store_cursor *cursor;
	struct batch batch, lent;  /* with its own columns; with those of a source */
	bool is_lent;		   /* rows of the top source were returned without a copy */
	uint64_t begin_ns, end_ns; /* window in the store's time */
	uint64_t run_begin_ns, run_end_ns;
	unsigned flags, decode;	    /* columns to decode */
	struct store_chunk pending; /* read from the cursor, not in the heap yet */
	bool has_pending;
	struct scan_heap heap;
	struct store_record carry;
	bool has_carry;
	struct {
		uint32_t store, run;
	} ops[OPS_KNOWN]; /* text operations by the low bits of their id, and their translation */
};

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
	if (op != scan->ops[op % OPS_KNOWN].store) {
		scan->ops[op % OPS_KNOWN].run =
			run_op_of(scan->run, (unsigned)(scan->part - scan->run->parts), op);
		scan->ops[op % OPS_KNOWN].store = op;
	}
	return scan->ops[op % OPS_KNOWN].run;
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
static int scan_put_rows(
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

/* True when the top source's rows need no translation but of operations, and are enough to pay off. */
static bool scan_may_lend(const struct scan *scan, size_t to)
{
	const struct scan_source *source = scan->heap.sources[0];
	const struct store_batch *b = &source->batch;
	size_t at = source->at, count = to - at;

	if (scan->batch.count || count < LENT_ROWS || scan->flags & SCAN_CLIP || scan->part->shift_ns ||
		scan->batch.track != STORE_SPANS)
		return false;
	return !scan->batch.context ||
	       (!scan->part->contexts && are_below(b->context + at, count, scan->part->context_count));
}

/* Of lent rows; the scan's own where some have a name. */
static uint32_t *lend_whats(struct scan *scan, uint32_t *from, size_t count)
{
	if (are_below(from, count, STORE_OP_COUNT))
		return from;
	for (size_t i = 0; i < count; i++)
		scan->batch.what[i] = put_op(scan, from[i]);
	return scan->batch.what;
}

static void scan_lend_top(struct scan *scan, size_t to)
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
		.what = own->what ? lend_whats(scan, b->what + at, to - at) : NULL,
		.attributes = own->attributes ? b->attributes + at : NULL,
		.flags = own->flags ? b->flags + at : NULL};
	source->at = to;
	scan->is_lent = true;
}

static int push_chunk(struct scan *scan, const struct store_chunk *chunk, struct error *error)
{
	struct scan_source *source = scan_source_new(&scan->heap);

	if (!source)
		return error_memory(error);
	source->chunk = *chunk;
	/* A bucket is entered at its begin: no record of it is before. */
	source->head_ns = chunk->first_ns > chunk->bucket_ns ? chunk->first_ns : chunk->bucket_ns;
	return scan_heap_push(&scan->heap, source, error);
}

/* Chunks whose bucket begins at or before the least next record take part in the comparison. */
static int pull(struct scan *scan, struct error *error)
{
	while (scan->has_pending &&
		(!scan->heap.count || scan->pending.bucket_ns <= scan->heap.sources[0]->head_ns)) {
		int code = push_chunk(scan, &scan->pending, error);

		if (code)
			return code;
		code = store_cursor_next(scan->cursor, &scan->pending, error);
		if (code < 0)
			return code;
		scan->has_pending = code > 0;
	}
	return 0;
}

/* First row at or after time_ns. */
static size_t lower_bound(const uint64_t *begins, size_t from, size_t to, uint64_t time_ns)
{
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (begins[middle] < time_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Rows of the source that the window does not want are passed over; false: none is left. */
static bool skip(const struct scan *scan, struct scan_source *source)
{
	const struct store_batch *b = &source->batch;

	if (scan->batch.track != STORE_SPANS && source->at < b->count &&
		b->begin_ns[source->at] < scan->begin_ns)
		source->at = lower_bound(b->begin_ns, source->at, b->count, scan->begin_ns);
	while (source->at < b->count && b->begin_ns[source->at] < scan->begin_ns &&
		b->end_ns[source->at] <= scan->begin_ns)
		source->at++;
	if (source->at >= b->count || b->begin_ns[source->at] >= scan->end_ns)
		return false;
	source->head_ns = b->begin_ns[source->at];
	return true;
}

/* Moves the top source to its next row in the window; removes it if there is none. */
static int settle_top(struct scan *scan, struct error *error)
{
	struct scan_source *source = scan->heap.sources[0];

	while (!skip(scan, source)) {
		int more =
			source->at < source->batch.count ? 0 : store_chunk_decode_next(&source->batch, error);

		if (more <= 0) {
			scan_heap_pop(&scan->heap);
			return more;
		}
		source->at = 0;
	}
	scan_heap_settle(&scan->heap);
	return 0;
}

static int decode_top(struct scan *scan, struct error *error)
{
	struct scan_source *source = scan->heap.sources[0];
	int code = store_chunk_decode_begin(&source->chunk, scan->decode, &source->batch, error);

	if (code)
		return code;
	source->is_decoded = true;
	source->at = 0;
	return settle_top(scan, error);
}

static int push_open_spans(struct scan *scan, uint32_t id_in_store, struct error *error)
{
	const struct store_record *records;
	struct scan_source *source;
	size_t count;
	int code = store_reader_open_spans(scan->part->reader, id_in_store, &records, &count, error);

	if (code || !count)
		return code;
	source = scan_source_new(&scan->heap);
	if (!source || scan_source_fill(source, records, count)) {
		scan_source_free(source);
		return error_memory(error);
	}
	if (skip(scan, source))
		return scan_heap_push(&scan->heap, source, error);
	scan_source_free(source);
	return 0;
}

/* ---- rows out ---- */

/* Time before which the top source is the only one. */
static uint64_t alone_until(const struct scan *scan)
{
	uint64_t until = scan->end_ns;

	for (size_t i = 1; i <= 2 && i < scan->heap.count; i++)
		if (scan->heap.sources[i]->head_ns < until)
			until = scan->heap.sources[i]->head_ns;
	if (scan->has_pending && scan->pending.bucket_ns < until)
		until = scan->pending.bucket_ns;
	return until;
}

/* Rows of the top source up to where another may come in between, at least one. */
static size_t top_until(const struct scan *scan)
{
	const struct scan_source *source = scan->heap.sources[0];
	size_t room = BATCH_ROWS - scan->batch.count, to = source->at;
	size_t last = source->batch.count - source->at > room ? source->at + room : source->batch.count;

	/* After the window's begin every row counts; before it, each is checked. */
	if (source->head_ns >= scan->begin_ns)
		to = lower_bound(source->batch.begin_ns, source->at, last, alone_until(scan));
	return to > source->at ? to : source->at + 1;
}

/* The top source was read up to there. */
static int top_pass(struct scan *scan, size_t to, struct error *error)
{
	scan->heap.sources[0]->at = to;
	return settle_top(scan, error);
}

static int put_top(struct scan *scan, size_t to, struct error *error)
{
	struct scan_source *source = scan->heap.sources[0];
	int code = scan_put_rows(scan, &source->batch, source->at, to - source->at, error);

	return code ? code : top_pass(scan, to, error);
}

static int put_carry(struct scan *scan, struct error *error)
{
	struct store_record *r = &scan->carry;
	struct store_batch one = {.count = 1, BATCH_COLUMNS_OF(r)};

	scan->has_carry = false;
	if (scan->flags & SCAN_CLIP) {
		r->begin_ns = r->end_ns = scan->begin_ns;
		r->amount = 0;
	}
	return scan_put_rows(scan, &one, 0, 1, error);
}

/* Reports progress in the part of the window that the run covers. False: the watcher stops. */
static bool say_progress(const struct scan *scan, const struct batch *batch)
{
	uint64_t begin_ns = run_begin_ns(scan->run), end_ns = run_end_ns(scan->run), now_ns;

	if (!batch->count)
		return true;
	now_ns = batch->begin_ns[batch->count - 1];
	begin_ns = scan->run_begin_ns > begin_ns ? scan->run_begin_ns : begin_ns;
	end_ns = scan->run_end_ns < end_ns ? scan->run_end_ns : end_ns;
	if (begin_ns >= end_ns || now_ns < begin_ns)
		return true;
	return progress_at("reading", now_ns - begin_ns, end_ns - begin_ns);
}

/* Of all scans: one over a thousand streams opens many that are short. */
static unsigned batches;

long scan_next(struct scan *scan, const struct batch **batch, struct error *error)
{
	int code = 0;

	*batch = &scan->batch;
	scan->batch.count = 0;
	if (scan->is_lent)
		code = top_pass(scan, scan->heap.sources[0]->at, error);
	scan->is_lent = false;
	if (scan->has_carry && !code)
		code = put_carry(scan, error);
	while (!code && scan->batch.count < BATCH_ROWS && !scan->is_lent) {
		size_t to;

		code = pull(scan, error);
		if (code || !scan->heap.count)
			break;
		if (!scan->heap.sources[0]->is_decoded) {
			code = decode_top(scan, error);
			continue;
		}
		to = top_until(scan);
		if (scan_may_lend(scan, to))
			scan_lend_top(scan, to);
		else
			code = put_top(scan, to, error);
	}
	if (scan->is_lent)
		*batch = &scan->lent;
	if (!code && ++batches % PROGRESS_BATCHES == 0 && !say_progress(scan, *batch))
		code = progress_refuse(error);
	return code ? code : (long)(*batch)->count;
}

/* ---- begin and end ---- */

static int open_sources(struct scan *scan, const struct run_stream *r, struct error *error)
{
	struct store_record *carry = &scan->carry;
	int code = store_cursor_open(&scan->cursor, scan->part->reader, r->id_in_store, scan->batch.track,
		scan->begin_ns, scan->end_ns, error);

	if (!code)
		code = store_cursor_next(scan->cursor, &scan->pending, error);
	if (code < 0)
		return code;
	scan->has_pending = code > 0;
	if (scan->batch.track == STORE_SPANS)
		return push_open_spans(scan, r->id_in_store, error);
	if (!(scan->flags & SCAN_CARRY) || scan->batch.track != STORE_SAMPLES || scan->begin_ns == UINT64_MAX)
		return 0;
	code = store_reader_sample_before(
		scan->part->reader, r->id_in_store, scan->begin_ns + 1, carry, error);
	if (code < 0)
		return code;
	scan->has_carry = code > 0 && carry->begin_ns < scan->begin_ns;
	return 0;
}

int scan_open(struct scan **scan, struct run *run, uint32_t stream, enum store_track track, uint64_t begin_ns,
	uint64_t end_ns, unsigned columns, unsigned flags, struct error *error)
{
	const struct run_stream *r = run_stream(run, stream);
	struct scan *s = calloc(1, sizeof *s);
	int code;

	*scan = NULL;
	if (!s)
		return error_memory(error);
	code = batch_init(&s->batch, columns, error);
	s->run = run;
	s->part = &run->parts[r->store];
	s->batch.stream = stream;
	s->batch.track = track;
	s->run_begin_ns = begin_ns;
	s->run_end_ns = end_ns;
	s->begin_ns = run_part_store_time(s->part, begin_ns);
	s->end_ns = run_part_store_time(s->part, end_ns);
	s->flags = flags;
	s->decode = s->batch.columns | (track == STORE_SPANS ? STORE_END : 0);
	if (!code && begin_ns < end_ns)
		code = open_sources(s, r, error);
	if (code) {
		scan_close(s);
		return code;
	}
	*scan = s;
	return 0;
}

void scan_close(struct scan *scan)
{
	if (!scan)
		return;
	scan_heap_fini(&scan->heap);
	if (scan->cursor)
		store_cursor_close(scan->cursor);
	batch_fini(&scan->batch);
	free(scan);
}
