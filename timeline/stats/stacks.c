/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - one look-up per stream, and its frames.
 */
#include "timeline/stats/stacks.h"

#include "store/base/arena.h"
#include "store/base/escape.h"
#include "timeline/report/report_fit.h"
#include "timeline/report/terminal.h"
#include "timeline/scan/extent.h"
#include "timeline/stats/arrivals.h"

#define BACK_MAX 4 /* consecutive waits to step back over, each with a look-up */

static void put_text(struct store_bytes *line, const char *text)
{
	escape_field(line, text, strlen(text));
}

static void write_line(struct store_bytes *line, FILE *out)
{
	store_bytes_put(line, "\n", 1);
	if (!line->failed)
		fwrite(line->data, 1, line->size, out);
	line->size = 0;
}

/* The name of a frame, then its place if it has one: on a terminal in one line, of which a place has half
 * where both want more. */
static void put_frame(struct store_bytes *line, const struct run_function *function, const char *file,
	uint32_t at_line, size_t terminal)
{
	struct store_bytes name = {0}, place = {0};
	size_t room = terminal > line->size ? terminal - line->size : SIZE_MAX, half = room / 2;
	size_t name_width, place_width;
	char number[16] = "";

	escape_field(&name, function->name, function->name_bytes);
	if (file[0]) {
		put_text(&name, "  "); /* goes with the name's end */
		put_text(&place, file);
		snprintf(number, sizeof number, ":%u", at_line);
		put_text(&place, number);
	}
	name_width = report_fit_width((const char *)name.data, name.size);
	place_width = report_fit_width((const char *)place.data, place.size);
	if (name_width + place_width > room && name_width <= half) {
		place_width = room - name_width;
	} else if (name_width + place_width > room) {
		place_width = place_width < half ? place_width : half;
		name_width = room - place_width;
	}
	line->failed |= name.failed | place.failed;
	report_fit_put(line, (const char *)name.data, name.size, name_width);
	report_fit_put(line, (const char *)place.data, place.size, place_width);
	store_bytes_fini(&name);
	store_bytes_fini(&place);
}

/* "  #2 solve  solver.c:81" for each frame. */
static void write_frames(
	struct run *run, uint32_t context, uint32_t depth, struct store_bytes *line, FILE *out)
{
	const struct run_context *leaf = run_context(run, context);
	uint32_t scope = leaf->scope, shown = scope == UINT32_MAX ? scope : run_scope_at(run, scope, depth);
	const char *file = leaf->file;
	uint32_t at_line = leaf->line;
	size_t terminal = terminal_columns(out);
	unsigned number = 0;
	char text[32];

	while (scope != UINT32_MAX && scope != RUN_SCOPE_PROGRAM_ROOT) {
		const struct run_scope *s = run_scope(run, scope);
		const struct run_function *function = run_function(run, s->function);

		if (s->depth <= run_scope(run, shown)->depth) {
			snprintf(text, sizeof text, "  #%-2u ", number++);
			store_bytes_put(line, text, strlen(text));
			put_frame(line, function, file, at_line, terminal);
			write_line(line, out);
		}
		file = s->call_file;
		at_line = s->call_line;
		scope = s->parent;
	}
}

/* `remark`: what is to be said of the frames that follow, or of there being none. */
static void write_stream(struct run *run, const struct run_stream *stream, const struct extent *extent,
	const char *remark, struct store_bytes *line, FILE *out)
{
	char since[REPORT_HUMAN_MAX];

	report_human_duration(since, extent->begin_ns - run_origin_ns(run));
	put_text(line, stream->text);
	if (stream->name[0]) {
		put_text(line, "  ");
		put_text(line, stream->name);
	}
	put_text(line, "  ");
	put_text(line, extent_state_name(extent->state));
	if (extent->begin_ns >= run_origin_ns(run)) {
		put_text(line, " since ");
		put_text(line, since);
	}
	put_text(line, remark);
	write_line(line, out);
}

static bool is_without_path(const struct extent *extent)
{
	return !extent->context && (extent->state == EXTENT_BLOCKED || extent->state == EXTENT_RUNNABLE ||
					   extent->state == EXTENT_UNKNOWN);
}

/* The kernel tells when a thread stops and not where. Where it was last seen at work before is close: less
 * than a period of its CPU time away. Nobody is seen: `before` is without context, and then the first that it
 * did or (too many waits in a row) a wait. */
static int find_before(struct run *run, uint32_t stream, const struct extent *now, struct extent *before,
	struct error *error)
{
	int rc = 0;

	*before = *now;
	for (int i = 0; i < BACK_MAX && !rc && is_without_path(before) && before->begin_ns; i++)
		rc = extent_at(run, stream, before->begin_ns - 1, before, error);
	return rc;
}

/* A thread begins with a record that stands for no sample: its path is the root alone, or nothing. */
static bool is_unsampled(const struct run *run, const struct extent *before)
{
	uint32_t scope = run_context(run, before->context)->scope;

	if (scope != UINT32_MAX && scope != RUN_SCOPE_PROGRAM_ROOT)
		return false;
	return before->state == EXTENT_WORK || before->state == EXTENT_ABSENT ||
	       (is_without_path(before) && !before->begin_ns);
}

static int write_stack(struct run *run, uint32_t stream, const struct extent *extent, uint32_t depth,
	struct store_bytes *line, FILE *out, struct error *error)
{
	struct extent before;
	const char *remark = "";
	int rc = find_before(run, stream, extent, &before, error);

	if (rc < 0)
		return rc;
	if (is_unsampled(run, &before))
		remark = ", was not sampled before";
	else if (before.context != extent->context)
		remark = ", last seen at work in";
	write_stream(run, run_stream(run, stream), extent, remark, line, out);
	write_frames(run, before.context, depth, line, out);
	return 0;
}

/* ---- collective calls ---- */

static void put_rank(struct store_bytes *line, const struct run *run, const struct arrivals_rank *rank)
{
	char number[32];

	if (rank->rank >= 0) {
		snprintf(number, sizeof number, "rank %lld", (long long)rank->rank);
		put_text(line, number);
	} else {
		put_text(line, run_stream(run, rank->stream)->text);
	}
}

/* "MPI_Allreduce 41 of world since 12.3 s: 3 are in it; rank 2 has not come, its last was MPI_Bcast 40" */
static void write_call(struct run *run, const struct arrivals_call *call, struct store_bytes *line, FILE *out)
{
	char since[REPORT_HUMAN_MAX], text[96];

	report_human_duration(
		since, call->since_ns > run_origin_ns(run) ? call->since_ns - run_origin_ns(run) : 0);
	put_text(line, call->call);
	snprintf(text, sizeof text, " %llu of ", (unsigned long long)call->number);
	put_text(line, text);
	put_text(line, call->communicator);
	snprintf(text, sizeof text, " since %s: %u %s in it", since, call->in, call->in == 1 ? "is" : "are");
	put_text(line, text);
	for (uint32_t i = 0; i < call->count; i++) {
		const struct arrivals_rank *rank = &call->list[i];

		if (rank->since_ns)
			continue;
		put_text(line, "; ");
		put_rank(line, run, rank);
		put_text(line, " has not come");
		if (!rank->last_number)
			continue;
		put_text(line, ", its last was ");
		put_text(line, rank->last);
		snprintf(text, sizeof text, " %llu", (unsigned long long)rank->last_number);
		put_text(line, text);
	}
	if (call->unknown) {
		snprintf(text, sizeof text, "; of %u more nothing is known", call->unknown);
		put_text(line, text);
	}
	write_line(line, out);
}

/* "in MPI_Allreduce 41 of world", of a process's first stream; "": nothing that others wait for. */
static const char *call_text(const struct arrivals *arrivals, uint32_t stream, struct arena *arena)
{
	for (uint32_t c = 0; c < arrivals->count; c++) {
		const struct arrivals_call *call = &arrivals->calls[c];

		for (uint32_t i = 0; i < call->count; i++)
			if (call->list[i].stream == stream)
				return arena_printf(arena, "%s %s %llu of %s",
					call->list[i].since_ns ? "in" : "not in", call->call,
					(unsigned long long)call->number, call->communicator);
	}
	return "";
}

static int report_stream(struct report *report, struct run *run, uint32_t number,
	const struct arrivals *arrivals, const struct extent *extent, uint32_t depth, struct error *error)
{
	const struct run_stream *stream = run_stream(run, number);
	struct arena arena = {0};
	const char *path = run_context_path(run, extent->context, depth, &arena);
	const char *call = call_text(arrivals, number, &arena);
	uint64_t origin_ns = run_origin_ns(run);

	if (path && call) {
		report_string(report, stream->text);
		report_string(report, stream->name);
		report_string(report, extent_state_name(extent->state));
		report_number(report, extent->begin_ns > origin_ns ? extent->begin_ns - origin_ns : 0);
		report_string(report, path);
		report_string(report, call);
		report_row(report);
	}
	arena_fini(&arena);
	return path && call ? 0 : error_memory(error);
}

/* Of a thousand short processes few are there at any one moment. */
static void write_absent(uint32_t absent, FILE *out)
{
	if (absent)
		fprintf(out, "%u stream%s not there: not born yet, or ended\n", absent,
			absent == 1 ? " is" : "s are");
}

/* All streams as rows, or (report NULL) those that are there as text, then calls to which somebody has not
 * come. */
static int print_streams(struct run *run, const struct select *select, uint64_t time_ns,
	const struct arrivals *arrivals, struct report *report, FILE *out, struct error *error)
{
	uint32_t count, absent = 0, depth = select_depth(select);
	const uint32_t *streams = select_streams(select, &count);
	struct store_bytes line = {0};
	int rc = 0;

	for (uint32_t i = 0; i < count && rc == 0; i++) {
		struct extent extent;

		rc = extent_at(run, streams[i], time_ns, &extent, error);
		if (rc < 0)
			break;
		if (report) {
			rc = report_stream(report, run, streams[i], arrivals, &extent, depth, error);
			continue;
		}
		if (extent.state == EXTENT_ABSENT) {
			absent++;
			continue;
		}
		rc = write_stack(run, streams[i], &extent, depth, &line, out, error);
	}
	if (rc == 0)
		write_absent(absent, out);
	for (uint32_t i = 0; i < arrivals->count && rc == 0 && !report; i++)
		write_call(run, &arrivals->calls[i], &line, out);
	if (rc == 0 && line.failed)
		rc = error_memory(error);
	store_bytes_fini(&line);
	return rc;
}

static double seconds(const struct run *run, uint64_t ns)
{
	return ((double)ns - (double)run_origin_ns(run)) / 1e9;
}

static int require_monitored(
	struct run *run, const struct select *select, uint64_t time_ns, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);

	for (uint32_t i = 0; i < count; i++) {
		struct extent extent;
		int rc = extent_at(run, streams[i], time_ns, &extent, error);

		if (rc < 0)
			return rc;
		if (extent.state != EXTENT_ABSENT && extent.state != EXTENT_UNMONITORED)
			return 0;
	}
	return error_set(error, ERROR_EMPTY,
		"%s: nothing was monitored at %.9f s in the chosen streams; the run covers %.9f s to %.9f s",
		run_path(run), seconds(run, time_ns), seconds(run, run_begin_ns(run)),
		seconds(run, run_end_ns(run)));
}

int stacks_print(struct run *run, const struct select *select, uint64_t time_ns, enum report_format format,
	FILE *out, struct error *error)
{
	static const struct report_column columns[] = {{"stream", REPORT_TEXT}, {"name", REPORT_TEXT},
		{"state", REPORT_TEXT}, {"since_ns", REPORT_NUMBER}, {"path", REPORT_COMPOSED},
		{"collective", REPORT_TEXT}};
	struct arena arena = {0};
	struct arrivals arrivals;
	struct report *report = NULL;
	int rc = require_monitored(run, select, time_ns, error), closed;

	if (rc == 0)
		rc = arrivals_find(&arrivals, run, time_ns, &arena, error);
	if (rc == 0 && format != REPORT_TABLE)
		rc = report_open(&report, out, format, "hpct-stacks", columns,
			sizeof columns / sizeof *columns, error);
	if (rc == 0)
		rc = print_streams(run, select, time_ns, &arrivals, report, out, error);
	arena_fini(&arena);
	if (report) {
		closed = report_close(report, rc == 0 ? error : NULL);
		return rc == 0 ? closed : rc;
	}
	if (rc == 0 && fflush(out) != 0)
		rc = error_unwritten(error);
	return rc;
}
