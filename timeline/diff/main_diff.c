/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_diff.c - hpct-diff: what changed between two runs, repeats of them, or two windows of one.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/base/array.h"
#include "timeline/base/progress.h"
#include "timeline/diff/diff.h"
#include "timeline/diff/scaling_report.h"
#include "timeline/names/names_fill.h"
#include "timeline/report/formula_columns.h"
#include "timeline/report/program.h"
#include "timeline/report/report_fit.h"
#include "timeline/report/terminal.h"

#define GATES_MAX 64
#define LEAST_COVERAGE 0.9
#define SIDES_MAX 256u

struct ask {
	struct diff_question question;
	const char *time_b; /* NULL: the same window */
	const char *gates[GATES_MAX];
	size_t gate_count;
	double least_coverage;
	bool has_coverage;
	uint64_t parts[SIDES_MAX]; /* of --scaling HOW:P,Q,... */
	size_t part_count;
};

/* Stays open while rows are made: the selector keeps what it learnt of a run by the run's address. */
struct opened {
	struct run **runs;
	size_t count;
	const char *names[SIDES_MAX];
	uint64_t windows_ns[SIDES_MAX]; /* of the last repeat */
};

/* ---- options ---- */

static int take_gate(void *own, const char *value, struct error *error)
{
	struct ask *ask = own;

	if (ask->gate_count == GATES_MAX)
		return error_set(error, ERROR_USAGE, "--gate: no more than %d", GATES_MAX);
	ask->gates[ask->gate_count++] = value;
	return 0;
}

/* "P,Q,...", numbers of parts. */
static bool take_parts(struct ask *ask, const char *at)
{
	for (;;) {
		char *end;
		unsigned long long parts = strtoull(at, &end, 10);

		if (*at < '0' || *at > '9' || !parts || ask->part_count == SIDES_MAX)
			return false;
		ask->parts[ask->part_count++] = parts;
		if (*end != ',')
			return !*end;
		at = end + 1;
	}
}

static int take_scaling(void *own, const char *value, struct error *error)
{
	struct ask *ask = own;
	size_t size = strcspn(value, ":");
	bool is_strong = size == strlen("strong") && strncmp(value, "strong", size) == 0;
	bool is_weak = size == strlen("weak") && strncmp(value, "weak", size) == 0;

	ask->question.scaling = is_strong ? DIFF_SCALING_STRONG : DIFF_SCALING_WEAK;
	ask->part_count = 0;
	if ((is_strong || is_weak) && (!value[size] || take_parts(ask, value + size + 1)))
		return 0;
	return error_set(error, ERROR_USAGE,
		"--scaling %s: say strong, weak or weak:P,Q, the parts of A and of B (and of more, "
		"P,Q,R,...)",
		value);
}

static int take_coverage(void *own, const char *value, struct error *error)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || *end || !(percent >= 0 && percent <= 100))
		return error_set(error, ERROR_USAGE, "--coverage %s: say per cent, 0 to 100", value);
	((struct ask *)own)->least_coverage = percent / 100;
	((struct ask *)own)->has_coverage = true;
	return 0;
}

static int find_by(struct ask *ask, const struct select *select, struct error *error)
{
	const char *name = select_by(select);
	int found = name ? stats_by_find(name) : STATS_FUNCTION;

	ask->question.is_mark = name && strcmp(name, "mark") == 0;
	if (found < 0 && !ask->question.is_mark)
		return error_set(
			error, ERROR_USAGE, "--by %s: say function, path, module, line, op or mark", name);
	ask->question.by = found < 0 ? STATS_FUNCTION : (enum stats_by)found;
	if (ask->question.is_mark)
		return select_refuse(select, "context op depth metric", "--by mark", error);
	return 0;
}

/* ---- runs ---- */

static int add_run(struct program_call *call, struct opened *opened, struct diff *diff, unsigned side,
	const char *path, struct error *error)
{
	struct run **runs;
	int code;

	if (!array_resize(&opened->runs, opened->count + 1, sizeof *runs))
		return error_memory(error);
	runs = opened->runs;
	code = names_run_open(&runs[opened->count], path, &call->run_options, error);
	if (code)
		return code;
	opened->count++;
	code = select_bind(call->select, runs[opened->count - 1], error);
	opened->windows_ns[side] = code ? 0 : select_end_ns(call->select) - select_begin_ns(call->select);
	return code ? code : diff_add(diff, side, runs[opened->count - 1], call->select, error);
}

/* "run1.hpct,run2.hpct"; a run whose own name has a comma is one. */
static int add_side(struct program_call *call, struct opened *opened, struct diff *diff, unsigned side,
	struct error *error)
{
	const char *names = opened->names[side];
	int code = 0;

	if (access(names, F_OK) == 0)
		return add_run(call, opened, diff, side, names, error);
	for (const char *at = names; !code;) {
		size_t size = strcspn(at, ",");
		const char *name = arena_copy(&call->arena, at, size);

		if (!size)
			return error_set(
				error, ERROR_USAGE, "a name is missing in '%s': write RUN or RUN,RUN", names);
		code = name ? add_run(call, opened, diff, side, name, error) : error_memory(error);
		if (!at[size])
			break;
		at += size + 1;
	}
	return code;
}

static int add_sides(struct program_call *call, struct opened *opened, struct diff *diff, struct error *error)
{
	const struct ask *ask = call->own;
	int code;

	opened->names[DIFF_A] = call->operands[0];
	opened->names[DIFF_B] = call->operands[call->operand_count - 1];
	if (call->operand_count < 2 && !ask->time_b)
		return error_set(error, ERROR_USAGE,
			"what is %s to be compared with? Name a second run, or a second window with --time-b",
			opened->names[DIFF_A]);
	code = add_side(call, opened, diff, DIFF_A, error);
	if (!code && ask->time_b)
		code = select_option(call->select, "time", ask->time_b, error);
	return code ? code : add_side(call, opened, diff, DIFF_B, error);
}

/* ---- the report ---- */

static const struct report_column script_columns[] = {{"key", REPORT_COMPOSED}, {"a_ns", REPORT_NUMBER},
	{"b_ns", REPORT_NUMBER}, {"delta_ns", REPORT_FIGURES}, {"ratio", REPORT_FIGURES},
	{"noise_ns", REPORT_NUMBER}, {"a_records", REPORT_NUMBER}, {"b_records", REPORT_NUMBER},
	{"loss_percent", REPORT_PERCENT}, {"exclusive_loss_percent", REPORT_PERCENT},
	{"verdict", REPORT_TEXT}};
/* Amounts of a metric that is no time. */
static const struct report_column metric_columns[] = {{"key", REPORT_COMPOSED}, {"a", REPORT_NUMBER},
	{"b", REPORT_NUMBER}, {"delta", REPORT_FIGURES}, {"ratio", REPORT_FIGURES}, {"noise", REPORT_NUMBER},
	{"a_records", REPORT_NUMBER}, {"b_records", REPORT_NUMBER}, {"loss_percent", REPORT_PERCENT},
	{"exclusive_loss_percent", REPORT_PERCENT}, {"verdict", REPORT_TEXT}};
static const struct report_column table_columns[] = {{"delta", REPORT_FIGURES}, {"noise", REPORT_FIGURES},
	{"ratio", REPORT_FIGURES}, {"A", REPORT_FIGURES}, {"B", REPORT_FIGURES},
	{"key", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};
static const struct report_column scaling_columns[] = {{"loss %", REPORT_PERCENT},
	{"own loss %", REPORT_PERCENT}, {"verdict", REPORT_TEXT}, {"delta", REPORT_FIGURES},
	{"noise", REPORT_FIGURES}, {"A", REPORT_FIGURES}, {"B", REPORT_FIGURES},
	{"key", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};

static const char *verdict_name(const struct diff_row *row)
{
	return row->verdict == 0 ? "within noise" : row->verdict > 0 ? "sublinear" : "superlinear";
}

/* B / A; nothing over nothing has none. */
static void put_ratio(struct report *report, const struct diff_row *row, bool is_table)
{
	char text[REPORT_HUMAN_MAX];

	snprintf(text, sizeof text, "%.4f", (double)row->time_ns[DIFF_B] / (double)row->time_ns[DIFF_A]);
	if (!row->time_ns[DIFF_A])
		report_string(report, is_table && row->time_ns[DIFF_B] ? "new" : NULL);
	else
		report_string(report, is_table && !row->time_ns[DIFF_B] ? "gone" : text);
}

static void put_noise(struct report *report, const struct diff_row *row)
{
	if (row->is_noise_known)
		report_number(report, row->noise_ns);
	else
		report_none(report);
}

/* ---- formulas, over the numbers of a row for scripts ---- */

#define NUMBERS 9 /* the columns behind the key, but for the verdict */

struct formula_row {
	struct formula_columns columns;
	double *numbers, *whole; /* whole: of all rows together */
};

static void numbers_of(double numbers[NUMBERS], const struct diff_row *row)
{
	const double all[NUMBERS] = {(double)row->time_ns[DIFF_A], (double)row->time_ns[DIFF_B],
		(double)row->delta_ns,
		row->time_ns[DIFF_A] ? (double)row->time_ns[DIFF_B] / (double)row->time_ns[DIFF_A] : NAN,
		row->is_noise_known ? (double)row->noise_ns : NAN, (double)row->records[DIFF_A],
		(double)row->records[DIFF_B], row->loss, row->exclusive_loss};

	memcpy(numbers, all, sizeof all);
}

static int formula_row_init(struct formula_row *row, struct program_call *call,
	const struct diff_result *result, const struct report_column *columns, bool has_scaling,
	struct error *error)
{
	size_t width = has_scaling ? NUMBERS : NUMBERS - 2;
	const char *names[NUMBERS];
	int code;

	for (size_t i = 0; i < width; i++)
		names[i] = columns[1 + i].name;
	code = formula_columns_init(&row->columns, call->select, names, width, &call->arena, error);
	row->numbers = arena_calloc(&call->arena, NUMBERS + row->columns.count, sizeof *row->numbers);
	row->whole = arena_calloc(&call->arena, NUMBERS + row->columns.count, sizeof *row->whole);
	if (code || !row->numbers || !row->whole)
		return code ? code : error_memory(error);
	for (size_t i = 0; i < result->count; i++) {
		double numbers[NUMBERS];

		numbers_of(numbers, &result->rows[i]);
		for (size_t n = 0; n < width; n++)
			row->whole[n] += numbers[n];
	}
	row->whole[3] = row->whole[0] > 0 ? row->whole[1] / row->whole[0] : NAN;
	formula_columns_fill(&row->columns, row->whole, row->whole);
	return 0;
}

static void put_formulas(struct report *report, struct formula_row *formulas, const struct diff_row *row)
{
	double numbers[NUMBERS];

	if (!formulas->columns.count)
		return;
	numbers_of(numbers, row);
	memcpy(formulas->numbers, numbers, formulas->columns.width * sizeof *numbers);
	formula_columns_fill(&formulas->columns, formulas->numbers, formulas->whole);
	formula_columns_report(&formulas->columns, report, formulas->numbers);
}

/* `count` columns with those of formulas: before the key of a table, which may be long, else at the end. */
static const struct report_column *with_formulas(const struct report_column *columns, size_t count,
	bool is_table, const struct formula_columns *formulas, struct arena *arena)
{
	size_t before = is_table ? count - 1 : count;
	struct report_column *all = arena_calloc(arena, count + formulas->count, sizeof *all);

	if (!all)
		return NULL;
	memcpy(all, columns, before * sizeof *all);
	for (size_t i = 0; i < formulas->count; i++)
		all[before + i] = (struct report_column){formulas->columns[i].name, REPORT_NUMBER};
	if (is_table)
		all[before + formulas->count] = columns[before];
	return all;
}

static void script_row(
	struct report *report, const struct diff_row *row, bool has_scaling, struct formula_row *formulas)
{
	char delta[REPORT_HUMAN_MAX];

	snprintf(delta, sizeof delta, "%" PRId64, row->delta_ns);
	report_string(report, row->key);
	report_number(report, row->time_ns[DIFF_A]);
	report_number(report, row->time_ns[DIFF_B]);
	report_string(report, delta);
	put_ratio(report, row, false);
	put_noise(report, row);
	report_number(report, row->records[DIFF_A]);
	report_number(report, row->records[DIFF_B]);
	if (has_scaling) {
		report_real(report, row->loss);
		report_real(report, row->exclusive_loss);
		report_string(report, verdict_name(row));
	}
	put_formulas(report, formulas, row);
	report_row(report);
}

static void put_amount(struct report *report, uint64_t amount, const char *unit)
{
	char text[REPORT_HUMAN_MAX];

	diff_amount_text(text, amount, unit);
	report_string(report, text);
}

static void table_row(struct report *report, const struct diff_row *row, bool has_scaling, const char *unit,
	struct formula_row *formulas)
{
	char size[REPORT_HUMAN_MAX], delta[REPORT_HUMAN_MAX + 1];

	diff_amount_text(size, (uint64_t)llabs(row->delta_ns), unit);
	snprintf(delta, sizeof delta, "%s%s", row->delta_ns < 0 ? "-" : "+", size);
	if (has_scaling) {
		report_real(report, row->loss);
		report_real(report, row->exclusive_loss);
		report_string(report, verdict_name(row));
	}
	report_string(report, delta);
	if (row->is_noise_known)
		put_amount(report, row->noise_ns, unit);
	else
		report_string(report, "-");
	if (!has_scaling)
		put_ratio(report, row, true);
	put_amount(report, row->time_ns[DIFF_A], unit);
	put_amount(report, row->time_ns[DIFF_B], unit);
	put_formulas(report, formulas, row);
	report_string(report, report_shown_path(row->key));
	report_row(report);
}

static void print_head(const struct opened *opened, const struct ask *ask, const struct diff_result *result)
{
	for (int side = DIFF_A; side <= DIFF_B; side++) {
		char window[REPORT_HUMAN_MAX];

		report_human_duration(window, opened->windows_ns[side]);
		report_fit_say("%c  %s, %s, %.1f %% of the streams' time is known",
			side == DIFF_A ? 'A' : 'B', opened->names[side], window,
			100 * result->coverage[side]);
	}
	if (ask->question.scaling == DIFF_SCALING_WEAK)
		report_fit_say("weak scaling: times are those of one of %" PRIu64 " and of %" PRIu64 " %s",
			result->parts[DIFF_A], result->parts[DIFF_B], result->part_name);
}

static int print_rows(struct program_call *call, const struct diff_result *result, struct error *error)
{
	const struct ask *ask = call->own;
	bool is_table = call->format == REPORT_TABLE;
	bool has_scaling = ask->question.scaling != DIFF_SCALING_NONE;
	const struct report_column *script = !strcmp(result->unit, "ns") ? script_columns : metric_columns;
	const struct report_column *columns = !is_table	    ? script
					      : has_scaling ? scaling_columns
							    : table_columns;
	size_t count = !is_table ? (has_scaling ? 11 : 8) : (has_scaling ? 8 : 6);
	struct formula_row formulas = {0};
	struct report *report;
	int code = formula_row_init(&formulas, call, result, script, has_scaling, error);

	columns = code ? NULL : with_formulas(columns, count, is_table, &formulas.columns, &call->arena);
	if (!code)
		code = columns ? report_open(&report, stdout, call->format, "hpct-diff", columns,
					 count + formulas.columns.count, error)
			       : error_memory(error);
	for (size_t i = 0; !code && i < result->count && i < program_top(call); i++) {
		if (is_table)
			table_row(report, &result->rows[i], has_scaling, result->unit, &formulas);
		else
			script_row(report, &result->rows[i], has_scaling, &formulas);
	}
	if (!code)
		code = report_close(report, error);
	program_say_left_out(call, result->count);
	formula_columns_fini(&formulas.columns);
	return code;
}

/* ---- gates ---- */

/* The sentence of the gravest gate becomes the error, all others are printed here. */
static int judge(const struct diff_gate *gates, size_t count, double least_coverage,
	const struct diff_result *result, struct error *error)
{
	enum diff_verdict gravest = DIFF_HOLDS;

	for (size_t i = 0; i < count; i++) {
		struct error why, other;
		enum diff_verdict verdict = diff_gate_judge(&gates[i], result, least_coverage, &why);
		bool is_graver = verdict == DIFF_HIT ? gravest != DIFF_HIT
						     : verdict == DIFF_UNJUDGED && gravest == DIFF_HOLDS;

		other = is_graver ? *error : why;
		if (is_graver) {
			*error = why;
			gravest = verdict;
		}
		if (other.text[0])
			error_report(&other, "hpct-diff");
	}
	return gravest == DIFF_HOLDS ? 0 : -error->code;
}

static int compare(struct program_call *call, struct opened *opened, struct diff *diff, struct error *error)
{
	const struct ask *ask = call->own;
	struct diff_gate gates[GATES_MAX];
	struct diff_result result;
	int code = 0;

	for (size_t i = 0; i < ask->gate_count && !code; i++)
		code = diff_gate_parse(&gates[i], ask->gates[i], &call->arena, error);
	if (!code)
		code = add_sides(call, opened, diff, error);
	if (!code)
		code = diff_finish(diff, &result, &call->arena, error);
	if (code)
		return code;
	progress_end();
	if (call->format == REPORT_TABLE)
		print_head(opened, ask, &result);
	code = print_rows(call, &result, error);
	return code ? code : judge(gates, ask->gate_count, ask->least_coverage, &result, error);
}

/* ---- many runs ---- */

static int scale(struct program_call *call, struct opened *opened, struct diff *diff, struct error *error)
{
	const struct ask *ask = call->own;
	struct scaling scaling;
	int code = 0;

	if (ask->part_count && ask->part_count != call->operand_count)
		return error_set(error, ERROR_USAGE,
			"--scaling names the parts of %zu runs, but %zu are given", ask->part_count,
			call->operand_count);
	for (unsigned side = 0; side < call->operand_count && !code; side++) {
		opened->names[side] = call->operands[side];
		code = add_side(call, opened, diff, side, error);
	}
	if (!code)
		code = scaling_make(&scaling, diff, call->operand_count, ask->part_count ? ask->parts : NULL,
			&call->arena, error);
	if (code)
		return code;
	progress_end();
	code = scaling_report(
		&scaling, call->format, ask->question.scaling == DIFF_SCALING_WEAK, program_top(call), error);
	if (!code)
		program_say_left_out(call, scaling.count);
	return code;
}

/* What of the question is of two sides alone. */
static int check_sides(const struct program_call *call, const struct ask *ask, struct error *error)
{
	size_t formulas;

	if (ask->has_coverage && !ask->gate_count)
		return error_set(error, ERROR_USAGE, "--coverage says something with --gate only");
	if (call->operand_count <= DIFF_SIDES) {
		if (ask->part_count && ask->part_count != DIFF_SIDES)
			return error_set(
				error, ERROR_USAGE, "--scaling: two runs have two numbers of parts, P,Q");
		return 0;
	}
	if (!ask->question.scaling)
		return error_set(error, ERROR_USAGE,
			"%s is one run too many: two are compared; of more, --scaling strong or weak says "
			"how "
			"they scale, and repeats are joined by commas",
			call->operands[DIFF_SIDES]);
	select_formulas(call->select, &formulas);
	if (formulas)
		return error_set(error, ERROR_USAGE,
			"--metric 'NAME = FORMULA' is of two sides: leave it out with more than two runs");
	if (ask->gate_count || ask->time_b || ask->question.is_inclusive)
		return error_set(error, ERROR_USAGE,
			"--scaling of more than two runs: leave out --gate, --time-b and --inclusive");
	return 0;
}

static int work(struct program_call *call, struct error *error)
{
	struct ask *ask = call->own;
	struct opened opened = {0};
	struct diff *diff = NULL;
	int code = find_by(ask, call->select, error);

	if (ask->gate_count) /* their verdict is the exit code */
		terminal_stay();
	if (!code)
		code = check_sides(call, ask, error);
	if (!code && call->operand_count <= DIFF_SIDES)
		for (size_t i = 0; i < ask->part_count && ask->question.scaling == DIFF_SCALING_WEAK; i++)
			ask->question.parts[i] = ask->parts[i];
	if (!code)
		code = diff_new(&diff, &ask->question, error);
	if (!code)
		code = (call->operand_count > DIFF_SIDES ? scale : compare)(call, &opened, diff, error);
	diff_free(diff);
	for (size_t i = 0; i < opened.count; i++)
		run_close(opened.runs[i]);
	free(opened.runs);
	return code;
}

static const struct program_option options[] = {
	{0, "gate", "GLOB>+N%", "fail (1) when a key that matches grew by more; >+20ms, repeatable",
		take_gate},
	{0, "coverage", "PERCENT", "monitored part of A and B that gates need, else exit 3 (90)",
		take_coverage},
	{0, "inclusive", NULL, "by function or path: time with callees",
		.to = offsetof(struct ask, question.is_inclusive)},
	{0, "scaling", "HOW",
		"strong, weak or weak:P,Q: loss against the ideal, in per cent of B; of more runs, growth",
		take_scaling},
	{0, "time-b", "A..B", "the window of B, if it differs from A's", .to = offsetof(struct ask, time_b)}};

static const struct program program = {
	.name = "hpct-diff",
	.about = "what changed between two runs, repeats of them, or two windows",
	.operands = "A [B...]",
	.operands_min = 1,
	.operands_max = SIDES_MAX,
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUNS | PROGRAM_STATE_METRICS | PROGRAM_GPU |
		PROGRAM_FORMULAS,
	.refused = "min",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = "A and B are runs, or repeats of a run: RUN,RUN,RUN. KEY is function (default), path, "
		 "module, line, op or mark; keys are joined by name.\n"
		 "Noise: half the 95 % interval of the delta, from the scatter of repeats and from "
		 "sampling; - where a single run tells nothing of it.\n"
		 "--scaling of three runs or more: what each key's cost grows like with the number of parts, "
		 "constant, log, linear or a power.\n"
		 "--metric compares a metric instead (BLOCKED, CPUTIME, IO:read, GKER ...), waits at their "
		 "path.\n"
		 "--metric 'share = 100 * $delta_ns / @b_ns' adds a column: $n or $NAME of the row, @ of all "
		 "rows.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	struct ask ask = {.least_coverage = LEAST_COVERAGE};

	return program_main(&program, &ask, argc, argv);
}
