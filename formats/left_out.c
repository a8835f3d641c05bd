/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_out.c - see left_out.h. Spans are looked at one by one, by their operation alone, where the format has
 * no place for some kinds of them.
 */
#include "formats/left_out.h"

#include <string.h>

#include "timeline/scan/scan.h"

struct counts {
	struct run *run;
	const struct select *select;
	uint64_t values, amounts, instructions, samples, causes, regions, others;
};

/* What says why a thread waited, and who ended the wait. */
static bool is_cause(const char *op)
{
	static const char *const causes[] = {"wait", "wake", "lock", "gil"};

	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		if (strcmp(causes[i], op) == 0)
			return true;
	return false;
}

static void count_span(struct counts *counts, uint32_t op)
{
	if (!select_wants_op(counts->select, op) || op == STORE_OP_MONITORED || op == STORE_OP_UNMONITORED)
		return;
	if (op == STORE_OP_RANGE || op == STORE_OP_MARK)
		counts->regions++;
	else if (op >= STORE_OP_COUNT && is_cause(run_op_name(counts->run, op)))
		counts->causes++;
	else
		counts->others++;
}

/* What adds up is no figure over time, unless its metric is asked for. */
static void count_value(struct counts *counts, uint32_t metric)
{
	counts->amounts += run_metric_kind(counts->run, metric) == STORE_METRIC_AMOUNT &&
			   !select_has_metric(counts->select);
}

static int count_track(struct counts *counts, uint32_t stream, enum store_track track,
	void (*count_one)(struct counts *counts, uint32_t what), struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count = scan_open(&scan, counts->run, stream, track, select_records_begin_ns(counts->select),
		select_records_end_ns(counts->select), STORE_WHAT, 0, error);

	if (count < 0)
		return (int)count;
	while ((count = scan_next(scan, &batch, error)) > 0)
		for (long i = 0; i < count; i++)
			count_one(counts, batch->what[i]);
	scan_close(scan);
	return (int)count;
}

static int count_stream(struct counts *counts, uint32_t stream, unsigned lacks, struct error *error)
{
	const struct store_stream *s = &run_stream(counts->run, stream)->s;
	int code = 0;

	if (s->kind == STORE_STREAM_PC) {
		counts->instructions += s->count[STORE_SAMPLES];
		return 0;
	}
	counts->values += s->count[STORE_VALUES] != 0;
	counts->samples += s->count[STORE_SAMPLES];
	if (lacks & FORMAT_LACKS_RECORDS && s->count[STORE_VALUES])
		code = count_track(counts, stream, STORE_VALUES, count_value, error);
	if (code == 0 && lacks & (FORMAT_LACKS_REGIONS | FORMAT_LACKS_RECORDS) && s->count[STORE_SPANS])
		code = count_track(counts, stream, STORE_SPANS, count_span, error);
	return code;
}

int left_out_list(struct run *run, const struct select *select, const struct format *format,
	struct store_bytes *list, struct error *error)
{
	struct counts counts = {.run = run, .select = select};
	bool lacks_spans = format->lacks & (FORMAT_LACKS_REGIONS | FORMAT_LACKS_RECORDS);
	uint32_t count;
	const uint32_t *streams = select_all_streams(select, &count);
	int code = 0;

	for (uint32_t i = 0; i < count && code == 0; i++)
		code = count_stream(&counts, streams[i], format->lacks, error);
	if (format->lacks & FORMAT_LACKS_PC)
		format_left_out(list, counts.instructions, "samples of GPU instructions");
	if (format->lacks & FORMAT_LACKS_VALUES && !select_has_metric(select))
		format_left_out(list, counts.values, "streams' values over time");
	if (format->lacks & FORMAT_LACKS_RECORDS) {
		format_left_out(list, counts.samples, "samples");
		format_left_out(list, counts.others, "calls, operations and states");
		format_left_out(list, counts.amounts, "amounts at moments");
	}
	if (lacks_spans) {
		format_left_out(list, counts.causes, "causes of waits");
		format_left_out(list, counts.regions, "ranges and marks");
	}
	return code;
}
