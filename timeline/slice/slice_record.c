/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_record.c - one record of a slice: cut at the window, and its fields as text.
 */
#include "timeline/slice/slice.h"

#include <math.h>
#include <stdlib.h>

#include "store/base/attribute.h"
#include "store/base/escape.h"
#include "timeline/run/run_internal.h"
#include "timeline/scan/extent.h"
#include "timeline/scan/scan.h"

struct slice_cut slice_cut_of(const struct select *select)
{
	bool all_metrics = select_wants_metric(select, UINT32_MAX); /* no --metric was given */
	bool all_ops = select_wants_op(select, STORE_OP_NONE);
	bool all_lengths = select_min_ns(select) == 0;

	return (struct slice_cut){.begin_ns = select_records_begin_ns(select),
		.end_ns = select_records_end_ns(select),
		.known_ns = STORE_OPEN_NS,
		.min_ns = select_min_ns(select),
		.samples = all_ops && all_lengths,
		.values = all_ops && all_lengths,
		.spans = all_metrics};
}

int slice_cut_stream(struct slice_cut *cut, struct run *run, uint32_t stream, struct error *error)
{
	const struct store_stream *s = &run_stream(run, stream)->s;
	const struct run_line *line;
	int code;

	cut->known_ns = s->end_ns; /* it has ended, and says so */
	if (cut->end_ns == STORE_OPEN_NS || (s->end_ns > s->begin_ns && s->end_ns != STORE_OPEN_NS))
		return 0;
	code = run_line(run, stream, &line, error);
	if (!code)
		cut->known_ns = line->complete_ns;
	return code;
}

int slice_cut_carry(const struct slice_cut *cut, struct run *run, uint32_t stream, uint64_t begin_ns,
	unsigned *flags, struct error *error)
{
	bool is_in_force;
	int rc;

	*flags = 0;
	if (begin_ns == 0 || begin_ns != cut->begin_ns || !cut->samples)
		return 0;
	rc = extent_in_force(run, stream, begin_ns, &is_in_force, error);
	if (rc == 0 && is_in_force)
		*flags = SCAN_CARRY;
	return rc;
}

void slice_cut_carried(const struct slice_cut *cut, enum store_track track, struct store_record *record)
{
	if (track != STORE_SAMPLES || record->begin_ns >= cut->begin_ns)
		return;
	record->begin_ns = record->end_ns = cut->begin_ns;
	record->amount = 0;
}

static bool cut_span(const struct slice_cut *cut, struct store_record *record)
{
	if (record->begin_ns >= cut->end_ns)
		return false;
	if (record->begin_ns < cut->begin_ns) {
		if (record->end_ns <= cut->begin_ns)
			return false;
		record->begin_ns = cut->begin_ns;
	}
	if (record->end_ns > cut->end_ns && (record->end_ns != STORE_OPEN_NS || cut->end_ns <= cut->known_ns))
		record->end_ns = cut->end_ns;
	return record->end_ns == STORE_OPEN_NS || record->end_ns - record->begin_ns >= cut->min_ns;
}

bool slice_cut_record(const struct slice_cut *cut, enum store_track track, struct store_record *record)
{
	if (track == STORE_SPANS)
		return cut->spans && cut_span(cut, record);
	return (track == STORE_SAMPLES ? cut->samples : cut->values) && record->begin_ns >= cut->begin_ns &&
	       record->begin_ns < cut->end_ns;
}

int slice_cut_monitored(const struct slice_cut *cut, struct run *run, uint32_t stream,
	struct store_record *record, struct error *error)
{
	const struct run_line *line;
	int rc;

	if (!store_stream_has_states(run_stream(run, stream)->s.kind) ||
		 (cut->begin_ns == 0 && cut->end_ns == STORE_OPEN_NS))
		return 0;
	rc = run_line(run, stream, &line, error);
	if (rc < 0 || line->has_monitored || line->first_ns >= line->last_ns ||
		(cut->begin_ns <= line->first_ns && line->last_ns <= cut->end_ns))
		return rc;
	*record = (struct store_record){
		.begin_ns = line->first_ns, .end_ns = line->last_ns, .what = STORE_OP_MONITORED};
	return slice_cut_record(cut, STORE_SPANS, record);
}

void slice_value_text(char text[SLICE_VALUE_MAX], uint64_t amount, bool is_real)
{
	double value;

	if (!is_real) {
		snprintf(text, SLICE_VALUE_MAX, "%llu", (unsigned long long)amount);
		return;
	}
	memcpy(&value, &amount, sizeof value);
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, SLICE_VALUE_MAX, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (isfinite(value) && !text[strcspn(text, ".e")])
		memcpy(text + strlen(text), ".0", 3);
}

/* The number behind "link=", 0 when it is not written as a link is: digits, no zero in front. */
static uint64_t link_number(const char *digits, size_t size)
{
	uint64_t link = 0;

	if (size == 0 || digits[0] == '0')
		return 0;
	for (size_t i = 0; i < size; i++) {
		uint64_t digit = (uint64_t)(digits[i] - '0');

		if (digits[i] < '0' || digits[i] > '9' || link > (UINT64_MAX - digit) / 10)
			return 0;
		link = link * 10 + digit;
	}
	return link;
}

uint64_t slice_find_link(const char *attributes, size_t size, size_t *begin, size_t *end)
{
	for (size_t at = 0; at < size;) {
		size_t length = attribute_find(attributes + at, size - at, ',');
		uint64_t link = 0;

		if (length > 5 && memcmp(attributes + at, "link=", 5) == 0)
			link = link_number(attributes + at + 5, length - 5);
		*begin = at;
		*end = at + length;
		if (link != 0)
			return link;
		at += length + 1;
	}
	*begin = *end = size;
	return 0;
}

static void put_behind(struct store_bytes *out, size_t begin, const char *attributes, size_t size)
{
	if (size == 0)
		return;
	if (out->size > begin)
		store_bytes_put(out, ",", 1);
	escape_composed(out, attributes, size);
}

void slice_put_attributes(struct store_bytes *out, const char *attributes, size_t size, uint64_t link)
{
	size_t start = out->size, begin = 0, end = 0;
	char text[32];

	if (link == 0) /* one that stands in the text comes to the front, as import leaves it */
		link = slice_find_link(attributes, size, &begin, &end);
	if (link != 0) {
		snprintf(text, sizeof text, "link=%llu", (unsigned long long)link);
		store_bytes_put(out, text, strlen(text));
	}
	put_behind(out, start, attributes, begin > 0 && end > begin ? begin - 1 : begin);
	end += end > begin && end < size;
	put_behind(out, start, attributes + end, size - end);
}
