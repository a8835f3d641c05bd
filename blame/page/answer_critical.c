/* SPDX-License-Identifier: Apache-2.0 */
/* answer_critical.c - hpct-blame --critical-path: by code with what shorter work would save, by rank or
 * stream, or segment by segment. */
#include <stdlib.h>
#include <string.h>

#include "blame/base/process.h"
#include "blame/page/answer.h"
#include "blame/wait/critical_run.h"
#include "store/base/bytes.h"
#include "store/base/escape.h"
#include "timeline/base/progress.h"
#include "timeline/report/coverage.h"
#include "timeline/report/report_fit.h"

#define WHAT_IF_ROWS 10
#define WHAT_IF_MOST 20000000 /* happenings of all runs forward together: about two seconds */
#define RUNS_OF_ROW 4u

/* ---- what if ---- */

struct what_if {
	bool is_known;
	uint64_t half_least_ns, half_most_ns, drag_ns;
};

/* Which of the first rows a context is. */
struct row_finder {
	struct run *run;
	enum row_key_by by;
	uint32_t depth;
	const struct exact_share_rows *rows;
	uint32_t count;
	uint32_t *row_of; /* by context: 0: not looked at, else the row plus 2, 1: none */
	uint32_t context_count;
	struct store_bytes key;
};

static uint32_t row_find(void *own, uint32_t context)
{
	struct row_finder *finder = own;
	uint32_t *known = context < finder->context_count ? &finder->row_of[context] : NULL;
	uint32_t row = CRITICAL_NO_ROW;

	if (known && *known)
		return *known == 1 ? CRITICAL_NO_ROW : *known - 2;
	finder->key.size = 0;
	if (row_key_put(&finder->key, finder->run, context, finder->by, finder->depth))
		for (uint32_t i = 0; i < finder->count && row == CRITICAL_NO_ROW; i++)
			if (strlen(finder->rows->rows[i].key) == finder->key.size &&
				!memcmp(finder->rows->rows[i].key, finder->key.data, finder->key.size))
				row = i;
	if (known)
		*known = row == CRITICAL_NO_ROW ? 1 : row + 2;
	return row;
}

static int row_ask(struct critical_replay *replay, const struct critical_work *work, struct what_if *answer,
	struct error *error)
{
	static const struct critical_what whats[CRITICAL_WHATS] = {
		{1, 2, true}, {1, 2, false}, {0, 1, false}};
	uint64_t saved_ns[CRITICAL_WHATS] = {0};
	int result = critical_replay_saved(
		replay, work->list, work->count, whats, CRITICAL_WHATS, saved_ns, error);

	answer->half_least_ns = saved_ns[0];
	answer->half_most_ns = saved_ns[1];
	answer->drag_ns = saved_ns[2];
	answer->is_known = !result;
	return result;
}

/* As many of the first rows as runs forward pay for. */
static uint32_t affordable(const struct critical_run *critical, uint64_t rows)
{
	uint64_t runs = WHAT_IF_MOST / (critical->graph.cause_count + critical->graph.stream_count + 1);

	rows = rows < WHAT_IF_ROWS ? rows : WHAT_IF_ROWS;
	return (uint32_t)(rows < runs / RUNS_OF_ROW ? rows : runs / RUNS_OF_ROW);
}

static int ask_rows(struct critical_run *critical, struct row_finder *finder, struct what_if *answers,
	struct error *error)
{
	struct critical_work works[WHAT_IF_ROWS] = {{0}};
	struct critical_replay *replay = NULL;
	int result = critical_run_work(critical, works, finder->count, row_find, finder, error);

	if (!result)
		result = critical_replay_new(&replay, &critical->graph, error);
	for (uint32_t i = 0; i < finder->count && !result; i++)
		result = row_ask(replay, &works[i], &answers[i], error);
	critical_replay_free(replay);
	for (uint32_t i = 0; i < finder->count; i++)
		free(works[i].list);
	return result;
}

static int what_if(struct program_call *call, struct critical_run *critical,
	const struct exact_share_rows *rows, enum row_key_by by, struct what_if answers[WHAT_IF_ROWS],
	struct error *error)
{
	uint64_t most = select_top(call->select) < rows->count ? select_top(call->select) : rows->count;
	struct row_finder finder = {.run = call->run,
		.by = by,
		.depth = select_depth(call->select),
		.rows = rows,
		.count = affordable(critical, most),
		.context_count = run_context_count(call->run)};
	int result;

	if (!finder.count)
		return 0;
	finder.row_of = arena_calloc(&call->arena, finder.context_count + 1, sizeof(*finder.row_of));
	if (!finder.row_of)
		return error_memory(error);
	result = ask_rows(critical, &finder, answers, error);
	store_bytes_fini(&finder.key);
	return result;
}

/* ---- by code ---- */

static const struct report_column code_columns[] = {{"key", REPORT_COMPOSED}, {"blame_ns", REPORT_DURATION},
	{"percent", REPORT_PERCENT}, {"half_least_ns", REPORT_DURATION}, {"half_most_ns", REPORT_DURATION},
	{"drag_ns", REPORT_DURATION}};

static void put_row(struct report *report, const char *key, uint64_t time_ns, uint64_t whole_ns,
	const struct what_if *answer)
{
	report_string(report, key);
	report_number(report, time_ns);
	report_real(report, answer_percent(time_ns, whole_ns));
	if (answer && answer->is_known) {
		report_number(report, answer->half_least_ns);
		report_number(report, answer->half_most_ns);
		report_number(report, answer->drag_ns);
	} else {
		report_none(report);
		report_none(report);
		report_none(report);
	}
	report_row(report);
}

static int print_code(
	struct program_call *call, struct critical_run *critical, enum row_key_by by, struct error *error)
{
	uint64_t whole_ns = critical->graph.end_ns - critical->graph.begin_ns, top = program_top(call);
	struct what_if answers[WHAT_IF_ROWS] = {{0}};
	struct exact_share_rows rows;
	struct report *report;
	int result = exact_share_rows_make(&rows, call->run, critical->shares, critical->share_count,
		call->select, by, select_depth(call->select), NULL, &call->arena, error);

	if (!result)
		result = what_if(call, critical, &rows, by, answers, error);
	progress_end();
	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame", code_columns,
			sizeof code_columns / sizeof *code_columns, error);
	if (result)
		return result;
	for (size_t i = 0; i < rows.count && i < top; i++)
		put_row(report, rows.rows[i].key, rows.rows[i].time_ns, whole_ns,
			i < WHAT_IF_ROWS ? &answers[i] : NULL);
	if (critical->others_ns)
		put_row(report, ANSWER_OTHERS, critical->others_ns, whole_ns, NULL);
	if (critical->core_ns)
		put_row(report, "<no core>", critical->core_ns, whole_ns, NULL);
	if (critical->unknown_ns)
		put_row(report, "<unknown>", critical->unknown_ns, whole_ns, NULL);
	if (critical->absent_ns)
		put_row(report, "<absent>", critical->absent_ns, whole_ns, NULL);
	result = report_close(report, error);
	program_say_left_out(call, rows.count);
	return result;
}

/* ---- by stream, rank, or another group of streams ---- */

enum place_by { PLACE_STREAM, PLACE_RANK, PLACE_GROUP };

struct place {
	const char *key;
	uint64_t time_ns;
	uint32_t number;
};

static int place_compare(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* The place of each stream: its own, or, of ranks, that of its process's first; of groups, the group's first.
 */
static int places_number(struct program_call *call, struct place *places, uint32_t count, enum place_by by,
	const struct stream_groups *groups, struct error *error)
{
	uint32_t *streams = arena_calloc(&call->arena, count + 1, sizeof(*streams)), process_count = 0;
	struct process *processes;
	int result = streams ? 0 : error_memory(error);

	for (uint32_t s = 0; s < count && !result; s++)
		streams[s] = places[s].number = s;
	for (uint32_t g = 0; by == PLACE_GROUP && g < groups->count && !result; g++)
		for (uint32_t i = 0; i < groups->groups[g].count; i++)
			places[groups->streams[groups->groups[g].first + i]].number =
				groups->streams[groups->groups[g].first];
	if (!result && by == PLACE_RANK)
		result = process_list(
			&processes, &process_count, call->run, streams, count, &call->arena, error);
	for (uint32_t p = 0; p < process_count && !result; p++)
		for (uint32_t i = 0; i < processes[p].stream_count; i++)
			places[processes[p].streams[i]].number = processes[p].streams[0];
	return result;
}

/* As the column wants it: names of programs are never trusted. NULL: no memory. */
static const char *group_text(const struct stream_groups *groups, uint32_t stream, struct arena *arena)
{
	const char *text = stream_groups_text(groups, groups->of[stream]);
	struct store_bytes escaped = {0};
	const char *copy = NULL;

	escape_field(&escaped, text, strlen(text));
	if (!escaped.failed)
		copy = arena_copy(arena, (const char *)escaped.data, escaped.size);
	store_bytes_fini(&escaped);
	return copy;
}

static int places_make(struct place **made, struct program_call *call, const struct critical_run *critical,
	enum place_by by, const struct stream_groups *groups, struct error *error)
{
	const struct critical_path *path = &critical->path;
	uint32_t count = critical->graph.stream_count;
	struct place *places = arena_calloc(&call->arena, count + 1, sizeof(*places));
	int result = places ? places_number(call, places, count, by, groups, error) : error_memory(error);

	*made = places;
	if (result)
		return result;
	for (size_t i = 0; i < path->count; i++)
		if (!path->segments[i].is_absent)
			places[places[path->segments[i].stream].number].time_ns +=
				path->segments[i].end_ns - path->segments[i].begin_ns;
	for (uint32_t s = 0; s < count && !result; s++) {
		places[s].key = by == PLACE_RANK    ? answer_party_name(call->run, s, &call->arena)
				: by == PLACE_GROUP ? group_text(groups, s, &call->arena)
						    : run_stream(call->run, s)->text;
		result = places[s].key ? 0 : error_memory(error);
	}
	return result;
}

static int print_places(struct program_call *call, struct critical_run *critical, enum place_by by,
	const struct stream_groups *groups, struct error *error)
{
	uint64_t whole_ns = critical->graph.end_ns - critical->graph.begin_ns, top = program_top(call);
	struct place *places;
	struct report *report;
	uint32_t count = 0;
	int result = places_make(&places, call, critical, by, groups, error);

	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame", code_columns, 3, error);
	if (result)
		return result;
	qsort(places, critical->graph.stream_count, sizeof(*places), place_compare);
	for (uint32_t i = 0; i < critical->graph.stream_count && places[i].time_ns; i++) {
		count++;
		if (i >= top)
			continue;
		report_string(report, places[i].key);
		report_number(report, places[i].time_ns);
		report_real(report, answer_percent(places[i].time_ns, whole_ns));
		report_row(report);
	}
	result = report_close(report, error);
	program_say_left_out(call, count);
	return result;
}

/* ---- segments ---- */

static const struct report_column segment_columns[] = {{"begin_ns", REPORT_NUMBER}, {"end_ns", REPORT_NUMBER},
	{"blame_ns", REPORT_DURATION}, {"stream", REPORT_TEXT}, {"state", REPORT_TEXT},
	{"key", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}, {"party", REPORT_TEXT}, {"drag_ns", REPORT_DURATION}};

/* What the window would be shorter without the segment's work; false: not asked. */
static int segment_drag(struct critical_replay *replay, const struct critical_segment *segment,
	uint64_t *drag_ns, struct error *error)
{
	static const struct critical_what nothing = {0, 1, false};
	const struct critical_change change = {segment->begin_ns, segment->end_ns, segment->stream};

	return critical_replay_saved(replay, &change, 1, &nothing, 1, drag_ns, error);
}

static int print_segment(struct program_call *call, struct critical_run *critical, struct report *report,
	const struct critical_segment *segment, struct critical_replay *replay, struct error *error)
{
	struct store_bytes key = {0};
	uint64_t drag_ns = 0;
	uint32_t context;
	int result = critical_run_context(critical, segment, &context, error);

	if (!result && replay && !segment->is_wait && !segment->is_absent)
		result = segment_drag(replay, segment, &drag_ns, error);
	if (!result && context &&
		!row_key_put(&key, call->run, context, ROW_KEY_FUNCTION, select_depth(call->select)))
		result = error_memory(error);
	if (!result) {
		report_number(report, segment->begin_ns - run_origin_ns(call->run));
		report_number(report, segment->end_ns - run_origin_ns(call->run));
		report_number(report, segment->end_ns - segment->begin_ns);
		report_string(report, run_stream(call->run, segment->stream)->text);
		report_string(report, segment->is_absent ? "absent"
				      : segment->is_wait ? wait_cause_names[segment->kind]
							 : "work");
		report_text(report, (const char *)key.data, key.size);
		report_string(report, segment->is_wait && segment->party != CAUSE_NOBODY
					      ? run_stream(call->run, segment->party)->text
					      : "-");
		if (replay && !segment->is_wait && !segment->is_absent)
			report_number(report, drag_ns);
		else
			report_none(report);
		report_row(report);
	}
	store_bytes_fini(&key);
	return result;
}

static int print_segments(struct program_call *call, struct critical_run *critical, struct error *error)
{
	const struct critical_path *path = &critical->path;
	uint64_t top = program_top(call), most = path->count < top ? path->count : top;
	uint64_t runs = WHAT_IF_MOST / (critical->graph.cause_count + critical->graph.stream_count + 1);
	struct critical_replay *replay = NULL;
	struct report *report;
	int result = most <= runs ? critical_replay_new(&replay, &critical->graph, error) : 0;

	if (!result)
		result = report_open(&report, stdout, call->format, "hpct-blame", segment_columns,
			sizeof segment_columns / sizeof *segment_columns, error);
	if (result) {
		critical_replay_free(replay);
		return result;
	}
	for (size_t i = 0; i < most && !result; i++)
		result = print_segment(call, critical, report, &path->segments[i], replay, error);
	critical_replay_free(replay);
	if (result) {
		struct error unused = {0};

		report_close(report, &unused);
		return result;
	}
	result = report_close(report, error);
	program_say_left_out(call, path->count);
	return result;
}

/* ---- all ---- */

/* Ranks are parties here, called as --late calls them. */
static bool is_by_group(const char *by)
{
	int found = by ? stream_groups_find(by) : -1;

	return found >= 0 && found != STREAM_GROUPS_RANK &&
	       stream_groups_is_row((enum stream_groups_by)found);
}

static bool is_by_place(const char *by)
{
	return by &&
	       (!strcmp(by, "segment") || !strcmp(by, "rank") || !strcmp(by, "stream") || is_by_group(by));
}

/* Of all streams of the run: the path leads over any. */
static int groups_make(struct stream_groups *groups, struct program_call *call,
	const struct critical_run *critical, struct error *error)
{
	uint32_t count = critical->graph.stream_count;
	uint32_t *streams = arena_calloc(&call->arena, count + 1, sizeof(*streams));

	if (!streams)
		return error_memory(error);
	for (uint32_t s = 0; s < count; s++)
		streams[s] = s;
	return stream_groups_make(groups, call->run, streams, count,
		(enum stream_groups_by)stream_groups_find(select_by(call->select)),
		call->format == REPORT_TABLE, &call->arena, error);
}

static void print_head(struct program_call *call, const struct critical_run *critical)
{
	char waits[REPORT_HUMAN_MAX];

	if (call->format != REPORT_TABLE)
		return;
	report_human_duration(waits, critical->wait_ns);
	report_fit_say(
		"What the end of the window waited for: %zu segments, %s of them in hand-overs and in waits "
		"that lead to nobody known",
		critical->path.count, waits);
	answer_print_definition(call, "half: how much shorter the window were, at least and at most, if that "
				      "took half; drag: if it "
				      "took no time");
}

static int print(
	struct program_call *call, struct critical_run *critical, enum row_key_by code, struct error *error)
{
	const char *by = select_by(call->select);
	struct stream_groups groups;
	int result;

	print_head(call, critical);
	if (!is_by_place(by))
		return print_code(call, critical, code, error);
	if (!strcmp(by, "segment"))
		return print_segments(call, critical, error);
	if (!is_by_group(by))
		return print_places(
			call, critical, !strcmp(by, "rank") ? PLACE_RANK : PLACE_STREAM, NULL, error);
	result = groups_make(&groups, call, critical, error);
	return result ? result : print_places(call, critical, PLACE_GROUP, &groups, error);
}

int answer_critical(struct program_call *call, const struct ask *ask, struct error *error)
{
	struct idle_question question = answer_idle_question(call, ask);
	struct critical_run critical;
	enum row_key_by code = ROW_KEY_FUNCTION;
	int result = is_by_place(select_by(call->select)) ? 0 : answer_find_by(call, &code, error);

	if (!result)
		result = coverage_require(call->run, call->select, error);
	if (result)
		return result;
	result = critical_run_find(&critical, call->run, &question,
		is_by_place(select_by(call->select)) ? 0 : WHAT_IF_MOST / RUNS_OF_ROW, &call->arena, error);
	if (!result)
		result = print(call, &critical, code, error);
	critical_run_fini(&critical);
	return result;
}
