/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_sum_open.c - monitored time minus the time that spans cover: both are few, and in order.
 */
#include "timeline/sum/state_sum_open.h"

#include <stdlib.h>

#include "store/base/id_table.h"
#include "timeline/scan/scan.h"

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
	last = store_id_table_add((void **)&to->at, &to->count, &to->capacity, sizeof *last);
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

int state_sum_open_find(struct state_sum_open *open, struct run *run, uint32_t stream,
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

uint64_t state_sum_open_end(const struct state_sum_open *open, uint64_t at_ns)
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

bool state_sum_open_holds(const struct state_sum_open *open, uint64_t first_ns, uint64_t last_ns)
{
	return last_ns < state_sum_open_end(open, first_ns);
}
