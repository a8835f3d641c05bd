/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice.c - rows of all streams in one order. Time is cut into stretches that hold few enough rows
 * to be sorted in memory; a stretch that turns out too full is halved.
 *
 *   [stretch][stretch][stretch]...   scan every stream -> rows that begin in it -> sort -> report
 */
#include "timeline/slice.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/arena.h"
#include "timeline/coverage.h"
#include "timeline/escape.h"
#include "timeline/extent.h"
#include "timeline/run_parts.h"
#include "timeline/scan.h"
#include "timeline/slice_shared.h"

#define ROWS_MAX (1u << 19)	      /* of a stretch; more are halved */
#define PATHS_MAX ((uint64_t)1 << 40) /* bytes of paths that are kept; then they are made anew */
#define STRETCHES_WORTH 4	      /* fewer are printed before processes have begun */
#define EVEN_SHARE 8 /* stretches are cut for this part of it, as if records were spread evenly */

struct row {
	struct store_record record; /* ids of the run, attributes of the stream's store */
	uint32_t stream;	    /* of the run */
	uint32_t rank;		    /* of the stream's text among all */
	enum store_track track;
};

struct slice {
	struct run *run;
	const struct select *select;
	struct report *report;
	struct slice_cut cut;
	uint64_t origin_ns, rows_left; /* rows_left: of --top */
	struct row *rows;
	size_t count, capacity;
	size_t rows_max, limit; /* limit: of the stretch at hand */
	uint32_t *ranks;	/* [stream] */
	const char **paths;	/* [run context], made when first asked for */
	uint32_t path_count;
	uint64_t paths_max; /* bytes */
	struct arena arena;
	struct store_bytes left, right; /* scratch */
	bool failed;			/* memory was out in a comparison */
};

/* ---- fields ---- */

static const char *path_of(struct slice *slice, uint32_t context)
{
	if (context >= slice->path_count) {
		uint32_t count = run_context_count(slice->run);
		const char **paths = realloc(slice->paths, (size_t)(count + 1) * sizeof *paths);

		if (!paths || context >= count) {
			slice->failed |= !paths;
			slice->paths = paths ? paths : slice->paths;
			return "";
		}
		for (uint32_t i = slice->path_count; i < count; i++)
			paths[i] = NULL;
		slice->paths = paths;
		slice->path_count = count;
	}
	if (!slice->paths[context])
		slice->paths[context] =
			run_context_path(slice->run, context, select_depth(slice->select), &slice->arena);
	slice->failed |= !slice->paths[context];
	return slice->paths[context] ? slice->paths[context] : "";
}

static void put_attributes(const struct slice *slice, struct store_bytes *out, const struct row *row)
{
	const struct run_stream *stream = run_stream(slice->run, row->stream);
	size_t size;
	const char *text =
		store_reader_text(run_store(slice->run, stream->store), row->record.attributes, &size);

	slice_put_attributes(out, text, size, row->record.link);
}

static void put_number(struct store_bytes *out, uint64_t number, bool is_there)
{
	char text[32];

	snprintf(text, sizeof text, "%llu", (unsigned long long)number);
	if (is_there)
		store_bytes_put(out, text, strlen(text));
	store_bytes_put(out, "\t", 1);
}

static void put_name(struct store_bytes *out, const char *name)
{
	escape_field(out, name, strlen(name));
	store_bytes_put(out, "\t", 1);
}

/* Between rows: then nobody has a path in hand. */
static void forget_paths(struct slice *slice)
{
	if (slice->arena.total_bytes < slice->paths_max)
		return;
	arena_fini(&slice->arena);
	memset(slice->paths, 0, slice->path_count * sizeof *slice->paths);
}

/* The columns behind the end, as TSV has them: a tab is less than any byte of a field, so the whole
 * compares as its columns do. */
static void put_rest(struct slice *slice, struct store_bytes *out, const struct row *row)
{
	const struct store_record *record = &row->record;
	bool is_span = row->track == STORE_SPANS, is_value = row->track == STORE_VALUES;
	const char *path = path_of(slice, record->context);
	char value[SLICE_VALUE_MAX] = "";

	out->size = 0;
	store_bytes_put(out, path, strlen(path));
	store_bytes_put(out, "\t", 1);
	put_name(out, is_span ? run_op_name(slice->run, record->what) : "");
	put_number(out, record->bytes, is_span && record->bytes != 0);
	put_number(out, record->amount, row->track == STORE_SAMPLES || (is_span && record->amount != 0));
	put_name(out, is_span ? "" : run_metric_name(slice->run, record->what));
	if (is_value)
		slice_value_text(value, record->amount, run_metric_is_real(slice->run, record->what));
	put_name(out, value);
	if (is_span)
		put_attributes(slice, out, row);
	slice->failed |= out->failed;
}

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_rest(struct slice *slice, const struct row *a, const struct row *b)
{
	size_t shorter;
	int order;

	put_rest(slice, &slice->left, a);
	put_rest(slice, &slice->right, b);
	shorter = slice->left.size < slice->right.size ? slice->left.size : slice->right.size;
	order = memcmp(slice->left.data, slice->right.data, shorter);
	return order ? order : compare_numbers(slice->left.size, slice->right.size);
}

static int compare_rows(const void *left, const void *right, void *own)
{
	const struct row *a = left, *b = right;
	int order = compare_numbers(a->record.begin_ns, b->record.begin_ns);

	if (!order)
		order = compare_numbers(a->rank, b->rank);
	if (!order)
		order = compare_numbers(a->track, b->track);
	if (!order && a->track == STORE_SPANS)
		order = compare_numbers(a->record.end_ns, b->record.end_ns);
	return order ? order : compare_rest(own, a, b);
}

static int compare_texts(const void *left, const void *right, void *own)
{
	const struct run *run = own;

	return strcmp(run_stream(run, *(const uint32_t *)left)->text,
		run_stream(run, *(const uint32_t *)right)->text);
}

/* Streams in the order of their texts; equal texts are one rank. Escaping keeps the order but for control
 * bytes, which no host's name has. */
static int rank_streams(struct slice *slice, struct error *error)
{
	uint32_t total = run_stream_count(slice->run), count, rank = 0;
	const uint32_t *streams = select_streams(slice->select, &count);
	uint32_t *order = malloc((size_t)(count + 1) * sizeof *order);

	slice->ranks = calloc((size_t)total + 1, sizeof *slice->ranks);
	if (!order || !slice->ranks) {
		free(order);
		return error_memory(error);
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = streams[i];
	qsort_r(order, count, sizeof *order, compare_texts, slice->run);
	for (uint32_t i = 0; i < count; i++) {
		if (i > 0 && compare_texts(&order[i - 1], &order[i], slice->run) != 0)
			rank++;
		slice->ranks[order[i]] = rank;
	}
	free(order);
	return 0;
}

/* ---- one stretch ---- */

static bool is_wanted(const struct slice *slice, const struct row *row)
{
	if (!select_wants_context(slice->select, row->record.context))
		return false;
	if (row->track == STORE_SPANS)
		return select_wants_op(slice->select, row->record.what);
	return select_wants_metric(slice->select, row->record.what);
}

static bool keep(struct slice *slice, const struct row *row)
{
	if (slice->count == slice->capacity) {
		size_t capacity = slice->capacity ? slice->capacity * 2 : 1024;
		void *rows = reallocarray(slice->rows, capacity, sizeof *slice->rows);

		if (!rows)
			return false;
		slice->rows = rows;
		slice->capacity = capacity;
	}
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
		struct row row = {.record = record_of(batch, i),
			.stream = batch->stream,
			.rank = slice->ranks[batch->stream],
			.track = batch->track};

		/* the sample in force before the window opens it */
		if (row.track == STORE_SAMPLES && row.record.begin_ns < slice->cut.begin_ns) {
			row.record.begin_ns = row.record.end_ns = slice->cut.begin_ns;
			row.record.amount = 0;
		}
		if (!slice_cut_record(&slice->cut, row.track, &row.record) ||
			row.record.begin_ns < begin_ns || !is_wanted(slice, &row))
			continue;
		/* what readers call 0 may lie behind a stream's first record: the order is that of what is
		 * shown */
		row.record.begin_ns = no_earlier(row.record.begin_ns, slice->origin_ns);
		row.record.end_ns = no_earlier(row.record.end_ns, slice->origin_ns);
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

/* SCAN_CARRY where a sample's context is in force at the window's begin. */
static int carry_flags(
	const struct slice *slice, uint32_t stream, uint64_t begin_ns, unsigned *flags, struct error *error)
{
	struct extent extent;
	int rc;

	*flags = 0;
	if (begin_ns == 0 || begin_ns != slice->cut.begin_ns || !slice->cut.samples)
		return 0;
	rc = extent_at(slice->run, stream, begin_ns, &extent, error);
	if (rc == 0 && extent.state == EXTENT_WORK && extent.op == STORE_OP_NONE)
		*flags = SCAN_CARRY;
	return rc;
}

static int keep_stream(
	struct slice *slice, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	const struct store_stream *s = &run_stream(slice->run, stream)->s;
	const bool wanted[STORE_TRACK_COUNT] = {slice->cut.samples, slice->cut.spans, slice->cut.values};
	unsigned flags;
	int rc = carry_flags(slice, stream, begin_ns, &flags, error);

	for (int track = 0; track < STORE_TRACK_COUNT && rc == 0; track++)
		if (wanted[track] && (s->count[track] > 0 || track == STORE_SPANS))
			rc = keep_track(slice, stream, (enum store_track)track, begin_ns, end_ns,
				track == STORE_SAMPLES ? flags : 0, error);
	return rc;
}

static void report_record(struct slice *slice, const struct row *row)
{
	const struct store_record *record = &row->record;
	struct report *report = slice->report;
	const char *at, *end;

	report_string(report, run_stream(slice->run, row->stream)->text);
	report_string(report, store_track_name(row->track));
	report_number(report, record->begin_ns - slice->origin_ns);
	if (row->track == STORE_SPANS && record->end_ns != STORE_OPEN_NS)
		report_number(report, record->end_ns - slice->origin_ns);
	else
		report_none(report);
	put_rest(slice, &slice->left, row);
	at = (const char *)slice->left.data;
	end = at + slice->left.size;
	for (int column = 0; column < 7 && !slice->failed; column++) {
		const char *tab = column < 6 ? memchr(at, '\t', (size_t)(end - at)) : end;

		if (tab > at)
			report_text(report, at, (size_t)(tab - at));
		else
			report_none(report);
		at = tab + 1;
	}
	if (!slice->failed)
		report_row(report);
}

static int print_rows(struct slice *slice, struct error *error)
{
	qsort_r(slice->rows, slice->count, sizeof *slice->rows, compare_rows, slice);
	for (size_t i = 0; i < slice->count && slice->rows_left > 0 && !slice->failed; i++) {
		report_record(slice, &slice->rows[i]);
		forget_paths(slice);
		slice->rows_left--;
	}
	slice->count = 0;
	return slice->failed ? error_memory(error) : 0;
}

/* ---- all stretches ---- */

static int print_stretch(struct slice *slice, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(slice->select, &count);
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
	const uint32_t *streams = select_streams(slice->select, &count);
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
	uint64_t first_ns = no_earlier(run_begin_ns(slice->run), slice->origin_ns);
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

/* The first one takes what lies before the run, too, the last one what lies behind. */
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
 * with
 * --mem there is no room for texts that wait. */
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
	free(slice->ranks);
	free(slice->paths);
	arena_fini(&slice->arena);
	store_bytes_fini(&slice->left);
	store_bytes_fini(&slice->right);
}

int slice_print_within(struct run *run, const struct select *select, enum report_format format, FILE *out,
	size_t rows_max, struct error *error)
{
	static const struct report_column columns[] = {{"stream", REPORT_TEXT}, {"track", REPORT_TEXT},
		{"begin_ns", REPORT_NUMBER}, {"end_ns", REPORT_NUMBER}, {"path", REPORT_COMPOSED},
		{"op", REPORT_COMPOSED}, {"bytes", REPORT_FIGURES}, {"weight", REPORT_FIGURES},
		{"metric", REPORT_COMPOSED}, {"value", REPORT_FIGURES}, {"attributes", REPORT_COMPOSED}};
	struct slice slice = {.run = run,
		.select = select,
		.cut = slice_cut_of(select),
		.origin_ns = run_origin_ns(run),
		.rows_left = select_top(select),
		.rows_max = rows_max,
		.paths_max = run_mem_bytes(run, 6, PATHS_MAX)};
	int rc = select_has_time(select) ? coverage_require(run, select, error) : 0, closed;

	if (rc == 0)
		rc = rank_streams(&slice, error);
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
	const uint64_t rows_max =
		run_mem_bytes(run, 6, (uint64_t)ROWS_MAX * sizeof(struct row)) / sizeof(struct row);

	return slice_print_within(run, select, format, out, rows_max, error);
}
