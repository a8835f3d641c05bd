/* SPDX-License-Identifier: Apache-2.0 */
/* record_scan.c - see record_scan.h. */
#include "formats/library/record_scan.h"

#include "timeline/report/coverage.h"

const char *const record_scan_numbers[RECORD_SCAN_NUMBERS] = {
	"begin_ns", "end_ns", "bytes", "weight", "value"};

int record_scan_init(struct record_scan *scan, struct run *run, const struct select *select,
	enum store_track track, struct error *error)
{
	int rc = 0;

	*scan = (struct record_scan){.run = run,
		.select = select,
		.track = track,
		.end_ns = STORE_OPEN_NS,
		.columns = STORE_ALL,
		.stream_count = run_stream_count(run)};
	if (!select)
		return 0;
	if (select_has_time(select))
		rc = coverage_require(run, select, error);
	if (rc < 0)
		return rc;
	scan->cut = slice_cut_of(select);
	scan->begin_ns = scan->cut.begin_ns;
	scan->end_ns = scan->cut.end_ns;
	scan->streams = select_all_streams(select, &scan->stream_count);
	return 0;
}

static bool wants_track(const struct record_scan *scan)
{
	const struct slice_cut *cut = &scan->cut;

	return !scan->select || (scan->track == STORE_SPANS	      ? cut->spans
					: scan->track == STORE_VALUES ? cut->values
								      : cut->samples);
}

bool record_scan_is_empty(const struct record_scan *scan)
{
	return scan->begin_ns >= scan->end_ns || !wants_track(scan);
}

bool record_scan_takes_all(const struct record_scan *scan)
{
	return !scan->select || !(select_has_time(scan->select) || select_has_record_filter(scan->select));
}

static unsigned columns_of(const struct record_scan *scan)
{
	if (record_scan_takes_all(scan))
		return scan->columns;
	return scan->columns | STORE_BEGIN | STORE_CONTEXT | STORE_WHAT | STORE_AMOUNT |
	       (scan->track == STORE_SPANS ? STORE_END : 0);
}

static int open_stream(struct record_scan *scan, struct error *error)
{
	uint32_t stream = scan->streams ? scan->streams[scan->stream_at] : scan->stream_at;
	unsigned flags = 0;
	int rc = 0;

	scan->stream_at++;
	scan->stream = stream;
	if (!run_stream_peek_unnamed(scan->run, stream)->s.count[scan->track] && scan->track != STORE_SPANS)
		return 0;
	if (scan->select && scan->track == STORE_SAMPLES)
		rc = slice_cut_carry(&scan->cut, scan->run, stream, scan->begin_ns, &flags, error);
	if (rc == 0 && scan->select)
		rc = slice_cut_stream(&scan->cut, scan->run, stream, error);
	if (rc == 0 && scan->select && scan->track == STORE_SPANS) {
		rc = slice_cut_monitored(&scan->cut, scan->run, stream, &scan->monitored, error);
		scan->has_monitored = rc > 0 && scan->monitored.begin_ns < scan->end_ns &&
				      scan->monitored.end_ns > scan->begin_ns;
		rc = rc < 0 ? rc : 0;
	}
	if (rc == 0)
		rc = scan_open(&scan->scan, scan->run, stream, scan->track, scan->begin_ns, scan->end_ns,
			columns_of(scan), flags, error);
	return rc;
}

/* It begins no later than the stream's others. */
static long give_monitored(struct record_scan *scan, const struct batch **batch)
{
	scan->has_monitored = false;
	scan->own = (struct batch){.stream = scan->stream,
		.track = STORE_SPANS,
		.columns = STORE_ALL,
		.count = 1,
		BATCH_COLUMNS_OF(&scan->monitored)};
	*batch = &scan->own;
	return 1;
}

long record_scan_next(struct record_scan *scan, const struct batch **batch, struct error *error)
{
	long count = 0;

	if (record_scan_is_empty(scan))
		return 0;
	for (;;) {
		if (scan->has_monitored)
			return give_monitored(scan, batch);
		if (scan->scan)
			count = scan_next(scan->scan, batch, error);
		if (count != 0)
			return count;
		record_scan_fini(scan);
		if (scan->stream_at >= scan->stream_count)
			return 0;
		count = open_stream(scan, error);
		if (count < 0)
			return count;
	}
}

bool record_scan_take(const struct record_scan *scan, struct store_record *record)
{
	const struct select *select = scan->select;

	if (!select)
		return true;
	slice_cut_carried(&scan->cut, scan->track, record);
	return slice_cut_record(&scan->cut, scan->track, record) &&
	       select_wants_context(select, record->context) &&
	       (scan->track == STORE_SPANS ? select_wants_op(select, record->what)
					   : select_wants_metric(select, record->what));
}

void record_scan_fini(struct record_scan *scan)
{
	scan_close(scan->scan);
	scan->scan = NULL;
	scan->has_monitored = false;
}
