/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - see gate.h. */
#include "blame/report/gate.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/base/related.h"
#include "store/base/array.h"
#include "timeline/base/glob.h"
#include "timeline/report/report.h"
#include "timeline/select/bookmark.h"
#include "timeline/select/select_context.h"

void gate_value_text(char text[GATE_TEXT], enum gate_unit unit, double value)
{
	char human[REPORT_HUMAN_MAX];

	if (unit == GATE_PERCENT) {
		snprintf(text, GATE_TEXT, "%.2f %%", value);
	} else if (unit == GATE_TIME) {
		report_human_duration(human, value > 0 ? (uint64_t)value : 0);
		snprintf(text, GATE_TEXT, "%s", human);
	} else {
		snprintf(text, GATE_TEXT, "%.15g", value);
	}
}

/* ---- reading ---- */

#define SHAPE "write FIGURE < LIMIT, such as gpu_busy > 60%% or p99(step) < 200 ms"

static const char *skip(const char *at)
{
	return at + strspn(at, " \t");
}

static int wrong(const struct gates *gates, const struct gate *gate, const char *why, struct error *error)
{
	return error_set(
		error, ERROR_USAGE, "%s:%u: '%.200s': %s; " SHAPE, gates->path, gate->line, gate->text, why);
}

/* NAME, NAME(ARGUMENT) or NAME('GLOB'): what follows it; NULL: none of these. */
static const char *take_figure(struct gate *gate, const char *at, struct arena *arena)
{
	size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
	const char *end;
	char quote;

	gate->name = arena_copy(arena, at, size);
	at = skip(at + size);
	if (!size || *at != '(')
		return size ? at : NULL;
	at = skip(at + 1);
	quote = *at == '\'' || *at == '"' ? *at : 0;
	gate->is_glob = quote;
	at += quote != 0;
	end = strchr(at, quote ? quote : ')');
	if (!end)
		return NULL;
	size = (size_t)(end - at);
	while (!quote && size && isspace((unsigned char)at[size - 1]))
		size--;
	gate->argument = arena_copy(arena, at, size);
	at = quote ? skip(end + 1) : end;
	return size && *at == ')' ? skip(at + 1) : NULL;
}

static const char *take_sign(struct gate *gate, const char *at)
{
	static const char *const signs[] = {"<=", ">=", "==", "!=", "<", ">"};

	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (strncmp(at, signs[i], strlen(signs[i])) == 0) {
			strcpy(gate->sign, signs[i]);
			return skip(at + strlen(signs[i]));
		}
	return NULL;
}

static bool take_limit(struct gate *gate, const char *at)
{
	static const struct {
		const char *name;
		enum gate_unit unit;
		double factor;
	} units[] = {{"", GATE_NUMBER, 1}, {"%", GATE_PERCENT, 1}, {"ns", GATE_TIME, 1},
		{"us", GATE_TIME, 1e3}, {"ms", GATE_TIME, 1e6}, {"s", GATE_TIME, 1e9}};
	char *end;

	gate->limit = strtod(at, &end);
	if (end == at || !isfinite(gate->limit))
		return false;
	at = skip(end);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(at, units[i].name) == 0) {
			gate->unit = units[i].unit;
			gate->limit *= units[i].factor;
			return true;
		}
	return false;
}

static int take_line(struct gates *gates, struct gate *gate, struct arena *arena, struct error *error)
{
	const char *at = take_figure(gate, gate->text, arena);

	if (!at)
		return wrong(gates, gate, "there is no figure", error);
	at = take_sign(gate, at);
	if (!at)
		return wrong(gates, gate, "there is no sign behind the figure", error);
	if (!take_limit(gate, at))
		return wrong(gates, gate, "the limit is no number with %, ns, us, ms, s or nothing", error);
	return gate->name ? 0 : error_memory(error);
}

/* Without a comment and blanks around it; a '#' within quotes belongs to the text. */
static char *trim(char *line)
{
	char quote = 0;
	size_t size;

	for (char *c = line; *c; c++)
		if (quote) {
			quote = *c == quote ? 0 : quote;
		} else if (*c == '#' || *c == '\n') {
			*c = '\0';
			break;
		} else if (*c == '\'' || *c == '"') {
			quote = *c;
		}
	line += strspn(line, " \t\r");
	for (size = strlen(line); size && isspace((unsigned char)line[size - 1]); size--)
		line[size - 1] = '\0';
	return line;
}

static int add_line(struct gates *gates, size_t *room, char *line, unsigned number, struct arena *arena,
	struct error *error)
{
	const char *text = trim(line);
	struct gate *gate;

	if (!*text)
		return 0;
	if (!array_widen(&gates->list, room, gates->count, sizeof *gates->list))
		return error_memory(error);
	gate = &gates->list[gates->count++];
	*gate = (struct gate){.line = number, .text = arena_copy(arena, text, strlen(text))};
	return gate->text ? take_line(gates, gate, arena, error) : error_memory(error);
}

static int read_lines(struct gates *gates, FILE *file, struct arena *arena, struct error *error)
{
	char *line = NULL;
	size_t capacity = 0, room = 0;
	struct gate *kept;
	int result = 0;

	for (unsigned number = 1; !result && (errno = 0, getline(&line, &capacity, file) >= 0); number++)
		result = add_line(gates, &room, line, number, arena, error);
	if (!result && !feof(file))
		result = error_set(
			error, ERROR_USAGE, "--gate %s cannot be read: %s", gates->path, strerror(errno));
	if (!result && !gates->count)
		result = error_set(error, ERROR_USAGE, "--gate %s has no line; " SHAPE, gates->path);
	free(line);
	kept = result ? NULL : arena_alloc(arena, gates->count * sizeof *kept);
	if (kept)
		memcpy(kept, gates->list, gates->count * sizeof *kept);
	else if (!result)
		result = error_memory(error);
	free(gates->list);
	gates->list = kept;
	return result;
}

int gates_read(struct gates *gates, const char *path, struct arena *arena, struct error *error)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	int result;

	*gates = (struct gates){.path = is_stdin ? "stdin" : path};
	if (!file)
		return error_set(error, ERROR_USAGE, "--gate %s cannot be read: %s", path, strerror(errno));
	result = read_lines(gates, file, arena, error);
	if (!is_stdin)
		fclose(file);
	return result;
}

/* ---- figures of the page ---- */

struct figure {
	const char *name;
	enum gate_unit unit;
	double value; /* negative: this run has none */
};
#define FIGURES 20

static size_t page_figures(struct figure figures[FIGURES], const struct run_report *report)
{
	const struct figure all[] = {{"wall", GATE_TIME, (double)report->window_ns},
		{"threads", GATE_NUMBER, report->threads}, {"queues", GATE_NUMBER, report->queues},
		{"coverage", GATE_PERCENT, coverage_percent(&report->coverage)},
		{"lost", GATE_NUMBER, (double)report->coverage.lost},
		{"parallel", GATE_PERCENT, report->parallel},
		{"load_balance", GATE_PERCENT, report->load_balance},
		{"communication", GATE_PERCENT, report->communication},
		{"serialization", GATE_PERCENT, report->serialization},
		{"transfer", GATE_PERCENT, report->transfer}, {"gpu_busy", GATE_PERCENT, report->gpu_busy},
		{"gpu_kernel", GATE_PERCENT, report->gpu_kernel}, {"offload", GATE_PERCENT, report->offload},
		{"gpu_balance", GATE_PERCENT, report->gpu_balance},
		{"gpu_idle", GATE_TIME, report->has_gpu ? (double)report->idle.idle_ns : -1},
		{"kernels", GATE_NUMBER, report->has_gpu ? (double)report->operations[0].count : -1},
		{"copies", GATE_NUMBER, report->has_gpu ? (double)report->operations[1].count : -1}};

	memcpy(figures, all, sizeof all);
	return sizeof all / sizeof *all;
}

static int cannot(const struct gates *gates, const struct gate *gate, const char *why, struct error *error)
{
	return error_set(error, ERROR_EMPTY, "%s:%u: '%.200s' cannot be judged: %s", gates->path, gate->line,
		gate->text, why);
}

static int judge_page(const struct gates *gates, struct gate *gate, enum gate_unit *unit,
	const struct run_report *report, struct error *error)
{
	struct figure figures[FIGURES];
	size_t count = page_figures(figures, report);

	for (size_t i = 0; i < count && !gate->argument; i++) {
		if (strcmp(figures[i].name, gate->name) != 0)
			continue;
		if (figures[i].value < 0)
			return cannot(gates, gate, "this run has no such figure", error);
		gate->value = figures[i].value;
		*unit = figures[i].unit;
		return 0;
	}
	return wrong(gates, gate, "there is no such figure; hpct-report(1) lists them", error);
}

/* ---- shares ---- */

/* Of paths that match: all time of the page's threads in these contexts, waits with their path included. */
static int share_of_glob(struct gate *gate, struct run *run, const struct select *select,
	const struct run_report *report, struct error *error)
{
	struct select_context *pattern;
	struct select_cost *cost = NULL;
	uint64_t sum_ns = 0;
	int result = select_context_new(&pattern, gate->argument, error);

	if (result)
		return result;
	select_context_bind(pattern, run);
	if (select_context_needs_cost(pattern))
		result = select_cost_new(&cost, run, report->streams, report->stream_count,
			select_begin_ns(select), select_end_ns(select), error);
	select_context_set_cost(pattern, cost);
	for (uint32_t context = 1; context < report->contexts && !result; context++) {
		uint64_t ns = run_report_context_ns(report, context);

		if (ns && select_context_match(pattern, context))
			sum_ns += ns;
	}
	gate->value = 100 * (double)sum_ns / (double)(report->total_ns - report->class_ns[TIME_ABSENT]);
	select_context_free(pattern);
	select_cost_free(cost);
	return result;
}

static int judge_share(const struct gates *gates, struct gate *gate, struct run *run,
	const struct select *select, const struct run_report *report, struct error *error)
{
	int class = gate->is_glob ? -1 : time_class_find(gate->argument);

	if (report->total_ns == report->class_ns[TIME_ABSENT])
		return cannot(gates, gate, "no thread lives in the window", error);
	if (gate->is_glob)
		return share_of_glob(gate, run, select, report, error);
	if (class < 0)
		return wrong(gates, gate, "there is no such class; a path needs quotes: share('main;io;*')",
			error);
	gate->value = run_report_class_percent(report, (enum time_class) class);
	return 0;
}

/* ---- marks ---- */

static int compare_lengths(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static double statistic(const char *name, const uint64_t *lengths, size_t count)
{
	double percent, sum = 0;
	size_t rank;

	if (strcmp(name, "count") == 0)
		return (double)count;
	for (size_t i = 0; i < count; i++)
		sum += (double)lengths[i];
	if (strcmp(name, "mean") == 0)
		return sum / (double)count;
	percent = strcmp(name, "min") == 0 ? 0 : strcmp(name, "max") == 0 ? 100 : strtod(name + 1, NULL);
	rank = (size_t)ceil(percent * (double)count / 100); /* exact where whole, as in SQL */
	return (double)lengths[rank ? rank - 1 : 0];
}

static bool is_statistic(const char *name)
{
	static const char *const names[] = {"p50", "p90", "p95", "p99", "min", "max", "mean", "count"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* A bookmark is nobody's; marks of processes of which no stream is chosen are left out. */
static bool is_meant(const struct gate *gate, const struct mark *mark, const struct select *select,
	const struct run_report *report)
{
	return glob_match(gate->argument, mark->name) && mark->begin_ns >= select_begin_ns(select) &&
	       mark->begin_ns < select_end_ns(select) &&
	       (mark->stream == UINT32_MAX || related_is_process(report->related, mark->stream));
}

static int judge_marks(const struct gates *gates, struct gate *gate, struct run *run,
	const struct select *select, const struct run_report *report, struct arena *arena,
	struct error *error)
{
	const struct mark *marks;
	uint64_t *lengths;
	size_t count, kept = 0;
	int result = mark_instances(run, select_end_ns(select), arena, &marks, &count, error);

	if (result)
		return result;
	lengths = arena_alloc(arena, (count + 1) * sizeof *lengths);
	if (!lengths)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		if (is_meant(gate, &marks[i], select, report))
			lengths[kept++] = marks[i].end_ns - marks[i].begin_ns;
	if (!kept && strcmp(gate->name, "count") != 0)
		return cannot(gates, gate, "no mark of that name begins in the window", error);
	qsort(lengths, kept, sizeof *lengths, compare_lengths);
	gate->value = statistic(gate->name, lengths, kept);
	return 0;
}

/* ---- judging ---- */

static bool holds(const struct gate *gate)
{
	double value = gate->value, limit = gate->limit;

	switch (gate->sign[0]) {
	case '<':
		return gate->sign[1] ? value <= limit : value < limit;
	case '>':
		return gate->sign[1] ? value >= limit : value > limit;
	case '=':
		return value == limit;
	default:
		return value != limit;
	}
}

static int judge(const struct gates *gates, struct gate *gate, struct run *run, const struct select *select,
	const struct run_report *report, struct arena *arena, struct error *error)
{
	enum gate_unit unit = GATE_NUMBER;
	int result;

	if (gate->argument && strcmp(gate->name, "share") == 0) {
		unit = GATE_PERCENT;
		result = judge_share(gates, gate, run, select, report, error);
	} else if (gate->argument && is_statistic(gate->name)) {
		unit = strcmp(gate->name, "count") == 0 ? GATE_NUMBER : GATE_TIME;
		result = judge_marks(gates, gate, run, select, report, arena, error);
	} else {
		result = judge_page(gates, gate, &unit, report, error);
	}
	if (!result && unit != gate->unit)
		return wrong(gates, gate,
			unit == GATE_PERCENT ? "the figure is in per cent: its limit needs a %"
			: unit == GATE_TIME  ? "the figure is a time: its limit needs ns, us, ms or s"
					     : "the figure is a number: its limit has no unit",
			error);
	gate->holds = !result && holds(gate);
	return result;
}

int gates_judge(struct gates *gates, struct run *run, const struct select *select,
	const struct run_report *report, struct arena *arena, struct error *error)
{
	int result = 0;

	for (size_t i = 0; i < gates->count && !result; i++)
		result = judge(gates, &gates->list[i], run, select, report, arena, error);
	return result;
}

int gates_verdict(const struct gates *gates, struct error *error)
{
	const struct gate *first = NULL;
	char text[GATE_TEXT];
	size_t others = 0;

	for (size_t i = 0; i < gates->count; i++) {
		if (gates->list[i].holds)
			continue;
		others += first != NULL;
		first = first ? first : &gates->list[i];
	}
	if (!first)
		return 0;
	gate_value_text(text, first->unit, first->value);
	if (others)
		return error_set(error, ERROR_GATE,
			"%s:%u: '%.200s' does not hold: it is %s; nor do%s %zu other%s", gates->path,
			first->line, first->text, text, others == 1 ? "es" : "", others,
			others == 1 ? "" : "s");
	return error_set(error, ERROR_GATE, "%s:%u: '%.200s' does not hold: it is %s", gates->path,
		first->line, first->text, text);
}
