/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.c - rows of all streams in one order (slice_row.h). Splits the window into parts with few enough
 * rows to be sorted in memory; a part with too many is halved.
 *
 *   [part][part][part]...   scan every stream -> rows that begin in it -> sort -> report
 */
#include <stdlib.h>
#include <unistd.h>

#include "store/base/array.h"
#include "timeline/report/coverage.h"
#include "timeline/run/run_internal.h"
#include "timeline/scan/extent.h"
#include "timeline/scan/scan.h"
#include "timeline/slice/slice_row.h"
#include "timeline/slice/slice_shared.h"

#define ROWS_MAX (1u << 19) /* of a stretch; more are halved */
#define STRETCHES_WORTH 4   /* fewer are printed before processes have begun */
#define EVEN_SHARE 8	    /* stretches are cut for this part of it, as if records were spread evenly */

struct slice {
	struct run *run;
	const struct select *select;
	struct report *report;
	struct slice_cut cut;
	uint64_t rows_left; /* of --top */
	struct slice_row *rows;
	size_t count, capacity;
	size_t rows_max, limit; /* limit: of the current part */
	struct slice_texts texts;
};

/* ---- one stretch ---- */

static bool is_wanted(const struct slice *slice, const struct slice_row *row)
{
	if (!select_wants_context(slice->select, row->record.context))
		return false;
	if (row->track == STORE_SPANS)
		return select_wants_op(slice->select, row->record.what);
	return select_wants_metric(slice->select, row->record.what);
}

static bool keep(struct slice *slice, const struct slice_row *row)
{
	if (!array_widen(&slice->rows, &slice->capacity, slice->count, sizeof *slice->rows))
		return false;
	slice->rows[slice->count++] = *row;
	return true;
}

static struct store_record record_of(const struct batch *batch, size_t i)
{
	return (struct store_record){.begin_ns = batch->begin_ns[i],
		.end_ns = batch->end_ns[i],
		.amount = batch->amount[i],
		.bytes = batch->bytes[i],
		.link = batch->link[i],
		.context = batch->context[i],
		.what = batch->what[i],
		.attributes = batch->attributes[i],
		.flags = batch->flags[i]};
}

static uint64_t no_earlier(uint64_t time_ns, uint64_t than_ns)
{
	return time_ns < than_ns ? than_ns : time_ns;
}

/* Rows of a batch that begin in the stretch once they are cut. */
static int keep_batch(struct slice *slice, const struct batch *batch, uint64_t begin_ns, struct error *error)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct slice_row row = {.record = record_of(batch, i),
			.stream = batch->stream,
			.rank = slice->texts.ranks[batch->stream],
			.track = batch->track};

		slice_cut_carried(&slice->cut, row.track, &row.record);
		if (!slice_cut_record(&slice->cut, row.track, &row.record) ||
			row.record.begin_ns < begin_ns || !is_wanted(slice, &row))
			continue;
		/* the printed origin may be after a stream's first record: rows are sorted by printed times
		 */
		row.record.begin_ns = no_earlier(row.record.begin_ns, slice->texts.origin_ns);
		row.record.end_ns = no_earlier(row.record.end_ns, slice->texts.origin_ns);
		if (!keep(slice, &row))
			return error_memory(error);
	}
	return 0;
}

static int keep_track(struct slice *slice, uint32_t stream, enum store_track track, uint64_t begin_ns,
	uint64_t end_ns, unsigned flags, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	int rc = scan_open(&scan, slice->run, stream, track, begin_ns, end_ns, STORE_ALL, flags, error);

	if (rc < 0)
		return rc;
	while (rc == 0 && slice->count <= slice->limit && (count = scan_next(scan, &batch, error)) > 0)
		rc = keep_batch(slice, batch, begin_ns, error);
	scan_close(scan);
	return count < 0 ? (int)count : rc;
}

/* See slice_cut_monitored(). */
static int keep_monitored(
	struct slice *slice, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct slice_row row = {
		.stream = stream, .rank = slice->texts.ranks[stream], .track = STORE_SPANS};
	int rc = slice_cut_monitored(&slice->cut, slice->run, stream, &row.record, error);

	if (rc <= 0 || row.record.begin_ns < begin_ns || row.record.begin_ns >= end_ns || !is_wanted(slice, &row))
		return rc < 0 ? rc : 0;
	row.record.begin_ns = no_earlier(row.record.begin_ns, slice->texts.origin_ns);
	row.record.end_ns = no_earlier(row.record.end_ns, slice->texts.origin_ns);
	return keep(slice, &row) ? 0 : error_memory(error);
}

static int keep_stream(
	struct slice *slice, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	const struct store_stream *s = &run_stream(slice->run, stream)->s;
	const bool wanted[STORE_TRACK_COUNT] = {slice->cut.samples, slice->cut.spans, slice->cut.values};
	unsigned flags;
	int rc = slice_cut_carry(&slice->cut, slice->run, stream, begin_ns, &flags, error);

	if (rc == 0)
		rc = slice_cut_stream(&slice->cut, slice->run, stream, error);
	for (int track = 0; track < STORE_TRACK_COUNT && rc == 0; track++)
		if (wanted[track] && (s->count[track] > 0 || track == STORE_SPANS))
			rc = keep_track(slice, stream, (enum store_track)track, begin_ns, end_ns,
				track == STORE_SAMPLES ? flags : 0, error);
	return rc == 0 && slice->cut.spans ? keep_monitored(slice, stream, begin_ns, end_ns, error) : rc;
}

static int print_rows(struct slice *slice, struct error *error)
{
	if (slice->count)
		qsort_r(slice->rows, slice->count, sizeof *slice->rows, slice_row_compare, &slice->texts);
	for (size_t i = 0; i < slice->count && slice->rows_left > 0 && !slice->texts.failed; i++) {
		slice_row_report(&slice->texts, slice->report, &slice->rows[i]);
		slice->rows_left--;
	}
	slice->count = 0;
	return slice->texts.failed ? error_memory(error) : 0;
}

/* ---- all stretches ---- */

static int print_stretch(struct slice *slice, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_all_streams(slice->select, &count);
	int rc = 0;

	slice->limit = end_ns - begin_ns > 1 ? slice->rows_max : SIZE_MAX; /* a nanosecond cannot be halved */
	for (uint32_t i = 0; i < count && rc == 0 && slice->count <= slice->limit; i++)
		rc = keep_stream(slice, streams[i], begin_ns, end_ns, error);
	if (rc < 0)
		return rc;
	if (slice->count > slice->limit) {
		uint64_t middle_ns = begin_ns + (end_ns - begin_ns) / 2;

		slice->count = 0;
		rc = print_stretch(slice, begin_ns, middle_ns, error);
		return rc < 0 ? rc : print_stretch(slice, middle_ns, end_ns, error);
	}
	return print_rows(slice, error);
}

static uint64_t count_records(const struct slice *slice)
{
	uint32_t count;
	const uint32_t *streams = select_all_streams(slice->select, &count);
	uint64_t records = 0;

	for (uint32_t i = 0; i < count; i++)
		for (int track = 0; track < STORE_TRACK_COUNT; track++)
			records += run_stream(slice->run, streams[i])->s.count[track];
	return records;
}

/* The stretches of the window: some of as many as cut the run evenly. */
struct stretches {
	uint64_t first_ns, step_ns, count; /* of the run */
	uint64_t from, to;		   /* that the window touches */
};

static struct stretches cut_evenly(const struct slice *slice)
{
	uint64_t first_ns = no_earlier(run_begin_ns(slice->run), slice->texts.origin_ns);
	uint64_t length_ns = no_earlier(run_end_ns(slice->run), first_ns) - first_ns;
	struct stretches cut = {
		.first_ns = first_ns, .count = count_records(slice) / (slice->rows_max / EVEN_SHARE + 1) + 1};

	cut.step_ns = length_ns / cut.count + 1;
	if (slice->cut.begin_ns > first_ns)
		cut.from = (slice->cut.begin_ns - first_ns) / cut.step_ns;
	cut.from = cut.from < cut.count ? cut.from : cut.count - 1;
	cut.to = cut.count;
	if (slice->cut.end_ns <= first_ns)
		cut.to = 0;
	else if ((slice->cut.end_ns - first_ns - 1) / cut.step_ns < cut.count)
		cut.to = (slice->cut.end_ns - first_ns - 1) / cut.step_ns + 1;
	cut.to = cut.to > cut.from ? cut.to : cut.from + 1;
	return cut;
}

/* Where a stretch of the run begins, in the window. */
static uint64_t edge_of(const struct slice *slice, const struct stretches *cut, uint64_t number)
{
	uint64_t edge_ns = slice->cut.end_ns;

	if (number <= (UINT64_MAX - cut->first_ns) / cut->step_ns)
		edge_ns = no_earlier(cut->first_ns + number * cut->step_ns, slice->cut.begin_ns);
	return edge_ns < slice->cut.end_ns ? edge_ns : slice->cut.end_ns;
}

/* The first part includes earlier records, the last part later ones. */
static int print_nth(struct slice *slice, const struct stretches *cut, uint64_t number, struct error *error)
{
	uint64_t begin_ns = number > cut->from ? edge_of(slice, cut, number) : slice->cut.begin_ns;
	uint64_t end_ns = number + 1 < cut->to ? edge_of(slice, cut, number + 1) : slice->cut.end_ns;

	return begin_ns < end_ns ? print_stretch(slice, begin_ns, end_ns, error) : 0;
}

struct making {
	struct slice *slice;
	const struct stretches *cut;
};

static int make_nth(void *own, uint64_t number, struct error *error)
{
	const struct making *making = own;

	return print_nth(making->slice, making->cut, making->cut->from + number, error);
}

/* How many processes are worth it. A table's columns are as wide as its first rows, --top counts rows, and
 * with --mem there is no room for texts that wait. */
static unsigned jobs_for(const struct slice *slice, enum report_format format, uint64_t stretches)
{
	uint64_t jobs = slice->run->options.jobs;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (format == REPORT_TABLE || slice->rows_left != UINT64_MAX || slice->run->options.mem_bytes)
		return 1;
	if (!jobs)
		jobs = stretches >= STRETCHES_WORTH && cores > 1 ? (uint64_t)cores : 1;
	return (unsigned)(jobs < stretches ? jobs : stretches);
}

static int print_stretches(struct slice *slice, enum report_format format, struct error *error)
{
	struct stretches cut = cut_evenly(slice);
	unsigned jobs = jobs_for(slice, format, cut.to - cut.from);
	int rc = 0;

	if (jobs > 1)
		return slice_share(slice->report, cut.to - cut.from, jobs, make_nth,
			&(struct making){slice, &cut}, error);
	for (uint64_t i = cut.from; rc == 0 && i < cut.to && slice->rows_left > 0; i++)
		rc = print_nth(slice, &cut, i, error);
	return rc;
}

static void slice_fini(struct slice *slice)
{
	free(slice->rows);
	slice_texts_fini(&slice->texts);
}

int slice_print_within(struct run *run, const struct select *select, enum report_format format, FILE *out,
	size_t rows_max, struct error *error)
{
	static const struct report_column columns[] = {{"stream", REPORT_TEXT}, {"track", REPORT_TEXT},
		{"begin_ns", REPORT_NUMBER}, {"end_ns", REPORT_NUMBER},
		{"path", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}, {"op", REPORT_COMPOSED},
		{"bytes", REPORT_FIGURES}, {"weight", REPORT_FIGURES}, {"metric", REPORT_COMPOSED},
		{"value", REPORT_FIGURES}, {"attributes", REPORT_COMPOSED}};
	struct slice slice = {.run = run,
		.select = select,
		.cut = slice_cut_of(select),
		.rows_left = select_top(select),
		.rows_max = rows_max};
	int rc = select_has_time(select) ? coverage_require(run, select, error) : 0, closed;

	if (rc == 0)
		rc = slice_texts_init(&slice.texts, run, select, error);
	if (rc == 0)
		rc = report_open(&slice.report, out, format, "hpct-slice", columns,
			sizeof columns / sizeof *columns, error);
	if (rc == 0) {
		rc = print_stretches(&slice, format, error);
		closed = report_close(slice.report, rc == 0 ? error : NULL);
		rc = rc == 0 ? closed : rc;
	}
	slice_fini(&slice);
	return rc;
}

int slice_print(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error)
{
	/* Sorting takes a pointer and a copy for each, and a list that grows is there twice. */
	const uint64_t rows_max = run_mem_bytes(run, 6, (uint64_t)ROWS_MAX * sizeof(struct slice_row)) /
				  sizeof(struct slice_row);

	return slice_print_within(run, select, format, out, rows_max, error);
}
