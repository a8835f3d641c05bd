/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_samples.c - decides where sums may replace the timeline: between two samples if the stream lives and
 * is monitored all the time, no span owns the timeline, and no extent reaches its limit. Walks the rest, and
 * the window's edges.
 */
#include <stdlib.h>

#include "store/base/id_table.h"
#include "store/rollup/rollup.h"
#include "timeline/run/run_internal.h"
#include "timeline/scan/scan.h"
#include "timeline/sum/state_sum.h"
#include "timeline/sum/state_sum_internal.h"

#define EXTENTS 512
#define PERIODS 2 /* as in extent.c */

struct state_sum_open {
	struct state_sum_stretch {
		uint64_t begin_ns, end_ns;
	} * at; /* in order, disjoint */
	uint32_t count, capacity;
};

struct state_sum_job {
	struct run *run;
	const struct run_part *part;
	const struct run_line *line;
	const struct state_sum_sink *sink;
	uint32_t stream;
	uint64_t begin_ns, end_ns;
	uint64_t limit_ns; /* of an extent */
	unsigned shift_max;
	struct state_sum_open open; /* ranges in which only samples make the timeline */
	uint64_t at_ns;		    /* all before it has been given */
	uint64_t last_bucket_ns;    /* of the last sum, in the store's time */
	uint64_t clear_ns;	    /* store_line_parts(), likewise */
	uint64_t thinned_ns;	    /* chunks before it may be dropped; 0 if spans may be too */
	bool is_after_sum;	    /* a sample holds at at_ns, and is still to be counted */
	bool is_even;		    /* the last part has been given */
	uint32_t last_context;	    /* its context in the store */
	struct store_batch batch;
};

static inline uint32_t state_sum_job_context(const struct state_sum_job *job, uint32_t context)
{
	return job->part->contexts ? job->part->contexts[context] : context;
}

struct search {
	struct run *run;
	const struct run_line *line;
	uint64_t begin_ns, end_ns;
	uint32_t stream;
	bool has_all_spans;
};

/* Adds a stretch that begins at or behind the last one's begin. */
static bool add(struct state_sum_open *to, uint64_t begin_ns, uint64_t end_ns)
{
	struct state_sum_stretch *last = to->count ? &to->at[to->count - 1] : NULL;

	if (begin_ns >= end_ns)
		return true;
	if (last && begin_ns <= last->end_ns) {
		last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
		return true;
	}
	last = store_id_table_add(&to->at, &to->count, &to->capacity, sizeof *last);
	if (last)
		*last = (struct state_sum_stretch){begin_ns, end_ns};
	return last != NULL;
}

static bool take_spans(const struct search *search, const struct batch *b, struct state_sum_open *monitored,
	struct state_sum_open *covered)
{
	for (size_t i = 0; i < b->count; i++) {
		enum span_kind kind = span_kind_of(b->what[i], false, true);
		uint64_t end_ns = b->end_ns[i];

		/* No span was dropped: rollups of samples still hold. */
		if (kind == SPAN_KIND_COUNT || (kind == SPAN_KIND_THINNED && search->has_all_spans))
			continue;
		if (kind == SPAN_KIND_MONITORED && end_ns == STORE_OPEN_NS)
			end_ns = search->line->complete_ns;
		if (!add(kind == SPAN_KIND_MONITORED ? monitored : covered, b->begin_ns[i], end_ns))
			return false;
	}
	return true;
}

static int find_spans(const struct search *search, struct state_sum_open *monitored,
	struct state_sum_open *covered, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int code = scan_open(&scan, search->run, search->stream, STORE_SPANS, search->begin_ns,
		search->end_ns, STORE_BEGIN | STORE_END | STORE_WHAT, 0, error);

	if (code)
		return code;
	while ((count = scan_next(scan, &batch, error)) > 0)
		if (!take_spans(search, batch, monitored, covered)) {
			count = error_memory(error);
			break;
		}
	scan_close(scan);
	return (int)count;
}

/* What of the stretch is alive and not covered. */
static bool add_open(struct state_sum_open *open, const struct run_line *line,
	struct state_sum_stretch stretch, const struct state_sum_open *covered, uint32_t *next)
{
	uint64_t at_ns = stretch.begin_ns > line->begin_ns ? stretch.begin_ns : line->begin_ns;
	uint64_t end_ns = stretch.end_ns < line->end_ns ? stretch.end_ns : line->end_ns;

	while (*next < covered->count && covered->at[*next].end_ns <= at_ns)
		++*next;
	for (uint32_t i = *next; i < covered->count && covered->at[i].begin_ns < end_ns; i++) {
		if (at_ns < covered->at[i].begin_ns && !add(open, at_ns, covered->at[i].begin_ns))
			return false;
		at_ns = covered->at[i].end_ns > at_ns ? covered->at[i].end_ns : at_ns;
	}
	return at_ns >= end_ns || add(open, at_ns, end_ns);
}

/* The part of [begin, end) in which the stream lives, is monitored and no span owns the timeline.
 * `has_all_spans`: only samples were dropped. The caller frees open->at in any case. */
static int state_sum_open_find(struct state_sum_open *open, struct run *run, uint32_t stream,
	const struct run_line *line, uint64_t begin_ns, uint64_t end_ns, bool has_all_spans,
	struct error *error)
{
	const struct search search = {run, line, begin_ns, end_ns, stream, has_all_spans};
	struct state_sum_open monitored = {0}, covered = {0};
	uint32_t next = 0;
	int code = 0;

	if (!line->only_end_ns)
		code = find_spans(&search, &monitored, &covered, error);
	else if (!add(&monitored, line->only_begin_ns, line->only_end_ns))
		code = error_memory(error);
	if (!code && !line->has_monitored && !add(&monitored, line->first_ns, line->last_ns))
		code = error_memory(error);
	for (uint32_t i = 0; i < monitored.count && !code; i++)
		if (!add_open(open, line, monitored.at[i], &covered, &next))
			code = error_memory(error);
	free(monitored.at);
	free(covered.at);
	return code;
}

/* End of the open range that contains at_ns; 0: none. */
static uint64_t state_sum_open_end(const struct state_sum_open *open, uint64_t at_ns)
{
	uint32_t from = 0, to = open->count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (open->at[middle].end_ns <= at_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from < open->count && open->at[from].begin_ns <= at_ns ? open->at[from].end_ns : 0;
}

/* True when the range from one moment to the other, both included, is open. */
static bool state_sum_open_holds(const struct state_sum_open *open, uint64_t first_ns, uint64_t last_ns)
{
	return last_ns < state_sum_open_end(open, first_ns);
}

/* Are all buckets that may hold samples between the two moments of the query's parts? */
static bool are_among_parts(const struct state_sum_job *job, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t shifts = run_stream(job->run, job->stream)->s.shifts[STORE_SAMPLES];

	for (; shifts; shifts &= shifts - 1) {
		const unsigned shift = (unsigned)__builtin_ctzll(shifts);

		if (from_ns >> shift != to_ns >> shift)
			return false;
	}
	return true;
}

/* True when only samples make the timeline from there to the window's begin. */
static int is_open_before(struct state_sum_job *job, uint64_t from_ns, struct error *error)
{
	const struct store_stream *s = &run_stream(job->run, job->stream)->s;
	struct state_sum_open before = {0};
	int code;

	if (s->end_ns != STORE_OPEN_NS &&
		s->count[STORE_SPANS] <= 1) /* which is known if it is in the window */
		return state_sum_open_holds(&job->open, from_ns, job->begin_ns);
	code = state_sum_open_find(
		&before, job->run, job->stream, job->line, from_ns, job->begin_ns + 1, false, error);
	if (!code)
		code = state_sum_open_holds(&before, from_ns, job->begin_ns);
	free(before.at);
	return code;
}

/* Of several samples at one moment, the owner need not be the last: checks the row before. */
static bool is_of_its_moment_alone(const struct store_batch *batch, size_t row)
{
	return row && batch->begin_ns[row - 1] != batch->begin_ns[row];
}

/* The sample in force at the window's begin may have been read with those behind it: `first` is in it. */
static int state_edge_begin(
	struct state_sum_job *job, const struct store_line_query *query, size_t first, struct error *error)
{
	const struct store_batch *batch = &job->batch;
	const size_t before = first - 1;
	uint64_t before_ns;
	int code;

	if (job->at_ns > job->begin_ns || job->is_after_sum || !first ||
		batch->begin_ns[first] <= query->begin_ns || !is_of_its_moment_alone(batch, before) ||
		batch->begin_ns[before] < job->clear_ns || !(batch->flags[before] & STORE_RECORD_EXTENT) ||
		batch->begin_ns[first] - batch->begin_ns[before] > job->limit_ns || job->thinned_ns ||
		run_part_is_bent(job->part, batch->begin_ns[before], batch->begin_ns[first]) ||
		!are_among_parts(job, batch->begin_ns[before], query->begin_ns))
		return 0;
	before_ns = run_part_time(job->part, batch->begin_ns[before]);
	code = is_open_before(job, before_ns, error);
	if (code == 1) {
		job->is_after_sum = true;
		job->last_context = batch->context[before];
	}
	return code < 0 ? code : 0;
}

/* Outside its life the stream is absent. */
static int state_edge_absent(struct state_sum_job *job, uint64_t until_ns, struct error *error)
{
	const struct extent piece = {.begin_ns = job->at_ns,
		.end_ns = until_ns < job->end_ns ? until_ns : job->end_ns,
		.op = STORE_OP_NONE,
		.state = EXTENT_ABSENT};

	if (piece.begin_ns >= piece.end_ns)
		return 0;
	job->at_ns = piece.end_ns;
	return job->sink->piece(job->sink->own, &piece, error);
}

/* The last sample of the window is in force at its end, too, or at that of its life. */
static int state_edge_end(struct state_sum_job *job, struct error *error)
{
	struct extent piece = {.begin_ns = job->at_ns,
		.end_ns = job->end_ns < job->line->end_ns ? job->end_ns : job->line->end_ns,
		.context = job->is_after_sum ? state_sum_job_context(job, job->last_context) : 0,
		.op = STORE_OP_NONE,
		.state = EXTENT_WORK};
	int code;

	if (!job->is_even || !job->is_after_sum || job->at_ns >= piece.end_ns ||
		piece.end_ns - job->at_ns > job->limit_ns || job->thinned_ns ||
		!state_sum_open_holds(&job->open, job->at_ns, piece.end_ns - 1))
		return 0;
	job->at_ns = piece.end_ns;
	code = job->sink->piece(job->sink->own, &piece, error);
	return code ? code : state_edge_absent(job, job->end_ns, error);
}

static int walk_until(struct state_sum_job *job, uint64_t end_ns, struct error *error)
{
	struct extent extents[EXTENTS];
	struct extent_walk *walk;
	long count;
	int code;

	if (job->at_ns >= end_ns)
		return 0;
	code = extent_open(&walk, job->run, job->stream, job->at_ns, end_ns, error);
	if (code)
		return code;
	while (!code && (count = extent_next(walk, extents, EXTENTS, error)) != 0) {
		if (count < 0) {
			code = (int)count;
			break;
		}
		/* The sample at the end of a sum is counted there. */
		if (job->is_after_sum)
			extents[0].is_record_begin = false;
		job->is_after_sum = false;
		for (long i = 0; i < count && !code; i++)
			code = job->sink->piece(job->sink->own, &extents[i], error);
	}
	extent_close(walk);
	job->at_ns = end_ns;
	return code;
}

static uint64_t part_begin(const struct store_line_part *part)
{
	return part->at.is_roll ? part->at.roll.begin_ns : part->at.key.bucket_ns;
}

static uint64_t part_last(const struct store_line_part *part)
{
	return store_rollup_last(
		part_begin(part), part->at.is_roll ? part->at.roll.shift : part->at.key.shift);
}

/* May chunks that are gone have held samples between the last sum and this part? */
static bool may_miss(const struct state_sum_job *job, const struct store_line_part *part)
{
	return job->at_ns < job->thinned_ns && part_begin(part) != job->last_bucket_ns + 1;
}

/* From the sample at the end of the last sum to the first of the next one. */
static int go_on_until(
	struct state_sum_job *job, const struct store_line_part *part, uint64_t first_ns, struct error *error)
{
	struct extent piece = {.begin_ns = job->at_ns,
		.end_ns = first_ns,
		.context = job->is_after_sum ? state_sum_job_context(job, job->last_context) : 0,
		.op = STORE_OP_NONE,
		.state = EXTENT_WORK};

	if (!job->is_after_sum || first_ns - job->at_ns > job->limit_ns || may_miss(job, part) ||
		!state_sum_open_holds(&job->open, job->at_ns, first_ns))
		return walk_until(job, first_ns, error);
	job->is_after_sum = false;
	job->at_ns = first_ns;
	return job->sink->piece(job->sink->own, &piece, error);
}

static bool may_be_sum(const struct state_sum_job *job, uint64_t first_ns, uint64_t last_ns)
{
	return state_sum_sink_is_one(job->sink, job->shift_max, first_ns, last_ns) &&
	       state_sum_open_holds(&job->open, first_ns, last_ns);
}

static bool is_usable(const struct state_sum_job *job, const struct store_sum_row *line)
{
	uint64_t first_ns = run_part_time(job->part, line->first_ns);
	uint64_t last_ns = run_part_time(job->part, line->last_ns);

	return !run_part_is_bent(job->part, line->first_ns, line->last_ns) && line->gap_ns <= job->limit_ns &&
	       may_be_sum(job, first_ns, last_ns);
}

static bool wants(void *own, const struct store_sum_row *line)
{
	return is_usable(own, line);
}

static int give_each(struct state_sum_job *job, const struct store_sum_columns *columns, struct error *error)
{
	struct extent key = {.op = STORE_OP_NONE, .state = EXTENT_WORK};
	int code = 0;

	for (uint32_t i = 0; i < columns->count && !code; i++) {
		key.context = state_sum_job_context(job, columns->contexts[i]);
		code = job->sink->sum(job->sink->own, &key, columns->times_ns[i], columns->samples[i], error);
	}
	return code;
}

static int give_columns(struct state_sum_job *job, const struct store_line_part *part,
	const struct store_sum_columns *columns, struct error *error)
{
	const struct store_sum_row *line = &columns->line;
	uint64_t first_ns = run_part_time(job->part, line->first_ns);
	int code = go_on_until(job, part, first_ns, error);

	if (!code)
		code = job->sink->columns
			       ? job->sink->columns(job->sink->own, columns, job->part->contexts, error)
			       : give_each(job, columns, error);
	job->at_ns = run_part_time(job->part, line->last_ns);
	job->is_after_sum = true;
	job->last_bucket_ns = part_last(part);
	job->last_context = line->last_context;
	return code;
}

static int give_pieces(
	const struct state_sum_job *job, const struct state_sum_rows *rows, struct error *error)
{
	struct extent piece = {.op = STORE_OP_NONE, .state = EXTENT_WORK, .is_record_begin = true};
	int code = 0;

	for (size_t i = 0; i + 1 < rows->count && !code; i++) {
		piece.begin_ns = rows->begin_ns[i] + rows->shift_ns;
		piece.end_ns = rows->begin_ns[i + 1] + rows->shift_ns;
		piece.context = state_sum_job_context(job, rows->context[i]);
		code = job->sink->piece(job->sink->own, &piece, error);
	}
	return code;
}

/* Each sample's time until the next one. The last one is counted, its time follows. */
static int give_rows(struct state_sum_job *job, const struct store_line_part *part,
	const struct state_sum_rows *rows, struct error *error)
{
	const struct state_sum_sink *sink = job->sink;
	uint32_t last_context = rows->context[rows->count - 1];
	struct extent last = {.context = state_sum_job_context(job, last_context),
		.op = STORE_OP_NONE,
		.state = EXTENT_WORK};
	int code = go_on_until(job, part, rows->begin_ns[0] + rows->shift_ns, error);

	if (!code)
		code = sink->rows ? sink->rows(sink->own, rows, error) : give_pieces(job, rows, error);
	job->at_ns = rows->begin_ns[rows->count - 1] + rows->shift_ns;
	job->is_after_sum = true;
	job->last_bucket_ns = part_last(part);
	job->last_context = last_context;
	return code ? code : sink->sum(sink->own, &last, 0, 1, error);
}

/* Gives a part by its stored sums: 1; 0: they span several buckets, or are not the timeline. `is_next`: the
 * part before it was given too. */
static int try_sums(
	struct state_sum_job *job, const struct store_line_part *part, bool is_next, struct error *error)
{
	uint64_t first_ns = run_part_time(job->part, part->first_ns);
	const struct store_sum_columns *columns;
	int code;

	if (!part->is_whole || !may_be_sum(job, first_ns, run_part_time(job->part, part->last_ns)))
		return 0;
	code = store_line_works(job->part->reader, part, &columns, error);
	if (code <= 0 || !is_usable(job, &columns->line))
		return code < 0 ? code : 0;
	/* What was passed over in between ends the sums. */
	code = is_next ? 0 : walk_until(job, first_ns, error);
	code = code ? code : give_columns(job, part, columns, error);
	return code ? code : 1;
}

/* ---- a chunk with one edge in it ---- */

/* A chunk whose sums belong to two buckets: the smaller of its two sides is read as rows, the other is what
 * remains of the sums. So an edge costs a quarter of a chunk, not the whole.
 *
 *   first            edge                                  last
 *   |s s s s s s s s s|s s s s s s s s s s s s s s s s s s s|
 *   | rows ------------->| less the same rows, sums of all  |      `rows` reach across the edge
 */
struct cut {
	uint64_t edge_ns, shift_ns; /* of the store's clock; added to it, the run's */
	struct state_sum_rows rows; /* of the smaller side, and the sample at its other end */
	bool is_before;		    /* that side is before the edge */
};

static bool find_cut(struct state_sum_job *job, const struct store_line_part *part, struct cut *cut)
{
	const struct state_sum_sink *sink = job->sink;
	uint64_t first_ns = run_part_time(job->part, part->first_ns);
	uint64_t last_ns = run_part_time(job->part, part->last_ns);

	if (!sink->edge || part->at.is_roll || !part->is_whole ||
		run_part_is_bent(job->part, part->first_ns, part->last_ns) ||
		!state_sum_open_holds(&job->open, first_ns, last_ns))
		return false;
	cut->edge_ns = sink->edge(sink->own, first_ns, last_ns);
	cut->shift_ns = first_ns - part->first_ns;
	if (!cut->edge_ns)
		return false;
	cut->edge_ns -= cut->shift_ns;
	cut->is_before = cut->edge_ns - part->first_ns < part->last_ns - cut->edge_ns;
	return true;
}

/* Reads the rows; 0: they are not what the sums are of. `gap_ns`: no two samples are farther apart. */
static int read_cut(struct state_sum_job *job, const struct store_line_query *all,
	const struct store_line_part *part, uint64_t gap_ns, struct cut *cut, struct error *error)
{
	const struct store_batch *batch = &job->batch;
	struct store_line_query query = *all;
	size_t from, to, at;
	int code;

	query.begin_ns = part->first_ns;
	query.end_ns = part->last_ns + 1;
	if (cut->is_before && gap_ns < part->last_ns - cut->edge_ns)
		query.end_ns = cut->edge_ns + gap_ns + 1;
	else if (!cut->is_before && gap_ns < cut->edge_ns - part->first_ns)
		query.begin_ns = cut->edge_ns - gap_ns;
	code = store_line_rows(
		job->part->reader, part, &query, job->limit_ns, &job->batch, &from, &to, error);
	if (code <= 0)
		return code;
	at = store_batch_row_at(batch, cut->edge_ns); /* the first that does not begin before it */
	if (cut->is_before) {
		if (batch->begin_ns[from] != part->first_ns || at >= to)
			return 0;
		to = at + 1;
	} else {
		from = at < to && batch->begin_ns[at] == cut->edge_ns ? at : at ? at - 1 : to;
		if (from >= to || batch->begin_ns[to - 1] != part->last_ns ||
			batch->begin_ns[from] > cut->edge_ns)
			return 0;
	}
	cut->rows = (struct state_sum_rows){.begin_ns = batch->begin_ns + from,
		.context = batch->context + from,
		.count = to - from,
		.shift_ns = cut->shift_ns,
		.contexts = job->part->contexts};
	return 1;
}

static int give_rest(struct state_sum_job *job, const struct store_sum_columns *columns,
	const struct cut *cut, struct error *error)
{
	int code = job->sink->columns(job->sink->own, columns, job->part->contexts, error);

	return code ? code : job->sink->less(job->sink->own, &cut->rows, !cut->is_before, error);
}

static int give_cut_rows(const struct state_sum_job *job, const struct cut *cut, struct error *error)
{
	const struct state_sum_rows *rows = &cut->rows;
	struct extent last = {.context = state_sum_job_context(job, rows->context[rows->count - 1]),
		.op = STORE_OP_NONE,
		.state = EXTENT_WORK};
	int code = job->sink->rows(job->sink->own, rows, error);

	return code || cut->is_before ? code : job->sink->sum(job->sink->own, &last, 0, 1, error);
}

static int give_cut(struct state_sum_job *job, const struct store_line_part *part,
	const struct store_sum_columns *columns, const struct cut *cut, struct error *error)
{
	int code = go_on_until(job, part, part->first_ns + cut->shift_ns, error);

	if (!code && !cut->is_before)
		code = give_rest(job, columns, cut, error);
	if (!code)
		code = give_cut_rows(job, cut, error);
	if (!code && cut->is_before)
		code = give_rest(job, columns, cut, error);
	job->at_ns = part->last_ns + cut->shift_ns;
	job->is_after_sum = true;
	job->last_bucket_ns = part_last(part);
	job->last_context = columns->line.last_context;
	return code;
}

/* 1: the part was given so; 0: it cannot be. */
static int try_cut(struct state_sum_job *job, const struct store_line_query *query,
	const struct store_line_part *part, bool is_next, struct error *error)
{
	const struct store_sum_columns *columns;
	struct cut cut;
	int code;

	if (!find_cut(job, part, &cut))
		return 0;
	code = store_line_works(job->part->reader, part, &columns, error);
	if (code <= 0 || columns->line.gap_ns > job->limit_ns)
		return code < 0 ? code : 0;
	code = read_cut(job, query, part, columns->line.gap_ns, &cut, error);
	if (code <= 0)
		return code;
	code = is_next ? 0 : walk_until(job, part->first_ns + cut.shift_ns, error);
	code = code ? code : give_cut(job, part, columns, &cut, error);
	return code ? code : 1;
}

/* The same from the rows of the chunk, up to where the timeline is no longer open: a thread's last record is
 * at its life's end. */
static int try_rows(struct state_sum_job *job, const struct store_line_query *query,
	const struct store_line_part *part, bool is_next, struct error *error)
{
	const struct store_batch *batch = &job->batch;
	uint64_t first_ns, open_ns;
	struct state_sum_rows rows;
	size_t from, to;
	int code = store_line_rows(
		job->part->reader, part, query, job->limit_ns, &job->batch, &from, &to, error);

	if (code <= 0)
		return code;
	first_ns = run_part_time(job->part, batch->begin_ns[from]);
	if (run_part_is_bent(job->part, batch->begin_ns[from], batch->begin_ns[to - 1]))
		return 0;
	open_ns = state_sum_open_end(&job->open, first_ns);
	while (to > from && batch->begin_ns[to - 1] - batch->begin_ns[from] + first_ns >= open_ns)
		to--;
	if (to == from)
		return 0;
	rows = (struct state_sum_rows){.begin_ns = batch->begin_ns + from,
		.context = batch->context + from,
		.count = to - from,
		.shift_ns = first_ns - batch->begin_ns[from],
		.contexts = job->part->contexts};
	code = is_next ? state_edge_begin(job, query, from, error) : walk_until(job, first_ns, error);
	code = code ? code : give_rows(job, part, &rows, error);
	return code ? code : 1;
}

static int give_parts(struct state_sum_job *job, const struct store_line_query *query,
	const struct store_line_part *parts, uint32_t count, struct error *error)
{
	bool is_next = true;
	int code = 0;

	for (uint32_t i = 0; i < count && code >= 0; i++) {
		code = try_sums(job, &parts[i], is_next, error);
		code = code ? code : try_cut(job, query, &parts[i], is_next, error);
		code = code ? code : try_rows(job, query, &parts[i], is_next, error);
		is_next = code == 1;
	}
	job->is_even = is_next;
	return code < 0 ? code : 0;
}

static bool may_sum(const struct state_sum_job *job)
{
	const struct run_stream *r = run_stream(job->run, job->stream);

	return !job->run->options.no_rollups && r->s.kind == STORE_STREAM_CPU && r->s.count[STORE_SAMPLES] &&
	       job->begin_ns < job->line->end_ns && job->end_ns > job->line->begin_ns;
}

static int sum_up(struct state_sum_job *job, struct error *error)
{
	struct store_line_query query = {.reader = job->part->reader,
		.stream = run_stream(job->run, job->stream)->id_in_store,
		.begin_ns = run_part_store_time(job->part, job->begin_ns),
		.end_ns = run_part_store_time(job->part, job->end_ns),
		.shift_max = job->shift_max,
		.wants = wants,
		.own = job};
	struct store_line_part *parts = NULL;
	uint32_t count = 0;
	int code = state_sum_open_find(&job->open, job->run, job->stream, job->line, job->begin_ns,
		job->end_ns, job->thinned_ns != 0, error);

	store_batch_init(&job->batch);
	if (!code && query.begin_ns < query.end_ns)
		code = store_line_parts(&query, &parts, &count, &job->clear_ns, error);
	if (!code)
		code = state_edge_absent(job, job->line->begin_ns, error);
	if (!code)
		code = give_parts(job, &query, parts, count, error);
	code = code ? code : state_edge_end(job, error);
	free(parts);
	store_batch_fini(&job->batch);
	free(job->open.at);
	return code;
}

int state_samples_sum(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	unsigned shift_max, const struct state_sum_sink *sink, struct error *error)
{
	struct state_sum_job job = {.run = run,
		.part = &run->parts[run_stream(run, stream)->store],
		.sink = sink,
		.stream = stream,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.shift_max = shift_max,
		.limit_ns = UINT64_MAX,
		.at_ns = begin_ns};
	const struct store_stream *s = &run_stream(run, stream)->s;
	int code = run_line(run, stream, &job.line, error);

	if (code)
		return code;
	if (s->thinned_ns && !s->dropped[STORE_SPANS])
		job.thinned_ns = s->thinned_ns;
	if (job.line->period_ns && !job.line->has_switches &&
		job.line->period_ns < UINT64_MAX / (2 * PERIODS))
		job.limit_ns = PERIODS * job.line->period_ns;
	if (may_sum(&job))
		code = sum_up(&job, error);
	return code ? code : walk_until(&job, end_ns, error);
}
