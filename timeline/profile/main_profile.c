/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_profile.c - hpct-profile: weights of a window by calling context, of one run or of several in one
 * tree.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "timeline/base/progress.h"
#include "timeline/names/names_fill.h"
#include "timeline/profile/flame.h"
#include "timeline/profile/profile.h"
#include "timeline/profile/profile_each_report.h"
#include "timeline/profile/profile_merge.h"
#include "timeline/profile/profile_report.h"
#include "timeline/profile/profile_sort.h"
#include "timeline/profile/source_report.h"
#include "timeline/report/coverage.h"
#include "timeline/report/program.h"
#include "timeline/report/report_fit.h"
#include "timeline/report/terminal.h"

#define MERGE_RUNS 26 /* they are called by letters */

struct choice {
	enum profile_view view;
	bool all, has_view;
	bool is_flame;
	bool is_list;			/* functions alone, no tree */
	const char *sort;		/* NULL: as the view wants */
	const char *svg;		/* where the flame graph goes as a picture; NULL: text */
	const char *others[MERGE_RUNS]; /* runs merged with the first one */
	size_t other_count;
	bool is_union;	    /* their metrics as those of one run */
	int over, each;	    /* enum stream_groups_by; -1: no such question */
	const char *source; /* FILE[:LINE]; NULL: a view */
	struct source_file file;
};

static int take_view(void *own, const char *value, struct error *error)
{
	struct choice *choice = own;
	int view = profile_view_find(value);

	if (view < 0)
		return error_set(error, ERROR_USAGE, "--view %s: say top-down, bottom-up or flat", value);
	choice->view = (enum profile_view)view;
	choice->has_view = true;
	return 0;
}

static int take_svg(void *own, const char *value, struct error *error)
{
	struct choice *choice = own;

	choice->svg = value;
	choice->is_flame = true;
	return *value ? 0 : error_set(error, ERROR_USAGE, "--flame-svg: say a file, or - for stdout");
}

static int take_merge(void *own, const char *value, struct error *error)
{
	struct choice *choice = own;

	if (choice->other_count + 1 == MERGE_RUNS)
		return error_set(error, ERROR_USAGE, "--merge: at most %d runs in one tree", MERGE_RUNS);
	choice->others[choice->other_count++] = value;
	return 0;
}

static int take_union(void *own, const char *value, struct error *error)
{
	((struct choice *)own)->is_union = true;
	return take_merge(own, value, error);
}

static int take_over(void *own, const char *value, struct error *error)
{
	int over = stream_groups_find(value);

	if (over < 0)
		return error_set(error, ERROR_USAGE, "--over %s: say " STREAM_GROUPS_NAMES, value);
	((struct choice *)own)->over = over;
	return 0;
}

static int take_each(void *own, const char *value, struct error *error)
{
	int each = stream_groups_find(value);

	if (each < 0)
		return error_set(error, ERROR_USAGE, "--each %s: say " STREAM_GROUPS_NAMES, value);
	((struct choice *)own)->each = each;
	return 0;
}

/* --by KEY of streams asks as --each KEY does: other readers have that name for it. Of code only functions
 * are a plain list: the view of callers without callers. */
static int take_by(const struct program_call *call, struct choice *choice, struct error *error)
{
	const char *by = select_by(call->select);
	int rc = 0;

	if (!by)
		return 0;
	choice->is_list = strcmp(by, "function") == 0;
	if (!choice->is_list) {
		choice->each = stream_groups_find(by);
		return choice->each < 0 ? error_set(error, ERROR_USAGE,
						  "--by %s: say function, or " STREAM_GROUPS_NAMES
						  "; --view flat has modules, files and lines",
						  by)
					: 0;
	}
	if ((choice->has_view && choice->view != PROFILE_FLAT) || choice->is_flame || choice->source)
		return error_set(error, ERROR_USAGE,
			"--by function is a list of --view flat: leave out --flame, --source and other "
			"views");
	rc = select_refuse(call->select, "depth", "--by function", error);
	choice->view = PROFILE_BOTTOM_UP;
	return rc ? rc : select_option(call->select, "depth", "1", error);
}

static int take_source(void *own, const char *value, struct error *error)
{
	struct choice *choice = own;

	choice->source = value;
	return *value ? 0 : error_set(error, ERROR_USAGE, "--source: say FILE or FILE:LINE");
}

static int take_map(void *own, const char *value, struct error *error)
{
	struct choice *choice = own;
	const char *to = strchr(value, '=');
	char from[SOURCE_PATH];

	if (to && to > value && to - value < SOURCE_PATH) {
		memcpy(from, value, (size_t)(to - value));
		from[to - value] = '\0';
		if (source_file_map(&choice->file, from, to + 1) == 0)
			return 0;
	}
	return error_set(error, ERROR_USAGE,
		"-R %.200s: say OLD=NEW, up to %d times: paths that begin with OLD are looked for below NEW",
		value, SOURCE_MAPS);
}

static int take_include(void *own, const char *value, struct error *error)
{
	struct choice *choice = own;

	if (*value && source_file_include(&choice->file, value) == 0)
		return 0;
	return error_set(error, ERROR_USAGE,
		"-I %.200s: say a directory, or DIR/+ for all below it, up to %d times", value, SOURCE_MAPS);
}

/* ---- what is printed ---- */

static void print_coverage(const struct coverage *coverage, const struct run *run, const char *name)
{
	char text[COVERAGE_TEXT_MAX];

	coverage_print(coverage, text);
	progress_end();
	report_fit_say("%s%s%s%s%s", name ? name : "", name ? " " : "", name ? run_path(run) : "",
		name ? ": " : "", text);
}

static int print_own_coverage(const struct program_call *call, struct error *error)
{
	struct coverage coverage;
	int rc = coverage_compute(&coverage, call->run, call->select, error);

	if (rc == 0)
		print_coverage(&coverage, call->run, NULL);
	return rc;
}

/* How far the numbers can be trusted. */
static void print_trust(const struct profile *profile, const struct profile_printed *printed)
{
	uint64_t samples = profile->has_samples && profile->count
				   ? profile->rows[0].inclusive[profile->metric_count - 1].number
				   : 0;
	if (samples && samples < PROFILE_ROUGH_WINDOW)
		printf("this window has only %llu sample%s: shares of it are rough\n",
			(unsigned long long)samples, samples == 1 ? "" : "s");
	if (printed->rough)
		printf("? marks rows of fewer than %u samples\n", PROFILE_ROUGH_SAMPLES);
}

/* Who did the work stands first where callers are below; scripts get the order that other readers give. */
static int sort_rows(
	struct program_call *call, struct profile *profile, struct profile_over *over, struct error *error)
{
	const struct choice *choice = call->own;
	bool is_self = choice->is_list || (choice->view == PROFILE_BOTTOM_UP && call->format == REPORT_TABLE);
	const char *word = choice->sort ? choice->sort : is_self ? "self" : NULL;
	struct profile_sort sort;
	int rc = word && profile->count ? profile_sort_find(&sort, profile, word, error) : 0;

	if (word && profile->count && rc == 0)
		rc = profile_sort_rows(profile, over, &sort, &call->arena, error);
	return rc;
}

static int print_rows(struct program_call *call, const struct profile *profile,
	const struct profile_over *over, struct error *error)
{
	const struct choice *choice = call->own;
	struct formula_columns formulas = {0};
	struct profile_extras extras = {over, &formulas};
	struct profile_printed printed = {0};
	/* A tree from the root is short by what is small in it. */
	uint64_t top = choice->view == PROFILE_TOP_DOWN || choice->all ? select_top(call->select)
								       : program_top(call);
	const char *const *names = profile_extras_names(profile, over, &call->arena);
	int rc = names ? formula_columns_init(&formulas, call->select, names,
				 profile_extras_width(profile, over), &call->arena, error)
		       : error_memory(error);

	if (!names)
		return rc;
	if (rc == 0 && over && call->format == REPORT_TABLE)
		report_fit_say("min to cov: over %zu group%s, of inclusive values; absent ones count as 0",
			over->groups, over->groups == 1 ? "" : "s");
	if (rc == 0)
		rc = profile_report(profile, &extras, call->format, top, choice->all, &printed, error);
	formula_columns_fini(&formulas);
	if (rc == 0 && call->format == REPORT_TABLE)
		print_trust(profile, &printed);
	if (rc == 0 && printed.beyond)
		program_say_left_out(call, PROGRAM_TERMINAL_ROWS + printed.beyond);
	if (rc == 0 && printed.left_out > 0)
		printf("%zu row%s below %.1f %% %s left out; --all shows %s\n", printed.left_out,
			printed.left_out == 1 ? "" : "s", PROFILE_LEAST_PERCENT,
			printed.left_out == 1 ? "is" : "are", printed.left_out == 1 ? "it" : "them");
	return rc;
}

/* ---- flame graph ---- */

#define FLAME_COLUMNS 120u /* where stdout is no terminal */

static const struct report_column flame_columns[] = {{"depth", REPORT_NUMBER}, {"begin", REPORT_NUMBER},
	{"value", REPORT_NUMBER}, {"self", REPORT_NUMBER}, {"name", REPORT_TEXT}};

static int flame_rows(const struct flame *flame, enum report_format format, struct error *error)
{
	struct report *report;
	int rc = report_open(&report, stdout, format, "hpct-profile-flame", flame_columns,
		sizeof flame_columns / sizeof *flame_columns, error);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < flame->count; i++) {
		report_number(report, flame->boxes[i].depth);
		report_number(report, flame->boxes[i].begin);
		report_number(report, flame->boxes[i].value);
		report_number(report, flame->boxes[i].self);
		report_string(report, flame->boxes[i].name);
		report_row(report);
	}
	return report_close(report, error);
}

/* The picture is whole, or it is not there. */
static int flame_picture(
	const struct program_call *call, const struct flame *flame, const char *path, struct error *error)
{
	const struct choice *choice = call->own;
	bool is_stdout = strcmp(path, "-") == 0, has_failed;
	FILE *out = is_stdout ? stdout : fopen(path, "wxe");
	char title[512];

	if (!out && errno == EEXIST)
		return error_set(error, ERROR_USAGE,
			"%s exists and is not overwritten; remove it, or choose another name", path);
	if (!out)
		return error_set(error, ERROR_IO, "%s cannot be written: %s", path, strerror(errno));
	snprintf(title, sizeof title, "%s of %.400s, %s", flame->metric ? flame->metric : "nothing",
		run_path(call->run), profile_view_name(choice->view));
	flame_svg(flame, title, out);
	has_failed = ferror(out);
	if (!is_stdout && (fclose(out) || has_failed)) {
		unlink(path);
		return error_set(error, ERROR_IO, "%s cannot be written; nothing is left of it", path);
	}
	return 0;
}

static int print_flame(struct program_call *call, const struct profile *profile, struct error *error)
{
	const struct choice *choice = call->own;
	size_t terminal = terminal_columns(stdout);
	uint32_t columns = terminal ? (uint32_t)terminal : FLAME_COLUMNS;
	struct flame flame;
	int rc = flame_lay(&flame, profile, choice->view == PROFILE_BOTTOM_UP, 0, &call->arena, error);

	if (rc < 0 || choice->svg)
		return rc < 0 ? rc : flame_picture(call, &flame, choice->svg, error);
	if (call->format != REPORT_TABLE)
		return flame_rows(&flame, call->format, error);
	if (!flame.count)
		return 0;
	printf("%s, %s: a column is %.2f %%\n", flame.metric, profile_view_name(choice->view),
		100.0 / (double)columns);
	flame_print(&flame, columns, stdout);
	return 0;
}

/* ---- the whole ---- */

static int work_source(struct program_call *call, struct choice *choice, struct error *error)
{
	struct source_ask ask = {.file = &choice->file, .is_whole = choice->all};
	int rc = source_ask_parse(&ask, choice->source, &call->arena, error);

	choice->file.run = call->run;
	if (rc == 0 && call->format == REPORT_TABLE)
		rc = print_own_coverage(call, error);
	if (rc == 0)
		rc = source_report(call->run, call->select, &ask, call->format, &call->arena, error);
	source_file_fini(&choice->file);
	return rc;
}

/* One of the runs of a merged tree: its window is chosen as if it were alone. */
static int take_part(struct program_call *call, struct run *run, struct profile *profile,
	struct coverage *coverage, struct error *error)
{
	const struct choice *choice = call->own;
	int rc = select_bind(call->select, run, error);

	if (rc == 0)
		rc = coverage_require(run, call->select, error);
	if (rc == 0)
		rc = profile_compute(profile, run, call->select, choice->view, &call->arena, error);
	return rc == 0 ? coverage_compute(coverage, run, call->select, error) : rc;
}

/* What no other run has: in a table, since rows alone do not tell it. */
static int say_lone(struct program_call *call, struct run *const *runs, const struct profile *profiles,
	size_t count, struct error *error)
{
	const struct choice *choice = call->own;
	const struct profile_lone *lone;
	int rc = profile_merge_lone(
		&lone, profiles, count, choice->view == PROFILE_TOP_DOWN, &call->arena, error);

	for (size_t i = 0; i < count && rc == 0; i++)
		if (lone[i].lone && lone[i].metric)
			report_fit_say("%zu of %zu rows of %s are in no other run: %.1f %% of its %s",
				lone[i].lone, lone[i].rows, run_path(runs[i]), lone[i].percent,
				lone[i].metric);
	return rc;
}

/* A union's --metric is of any of the runs. */
static int check_metrics(struct program_call *call, const struct profile *merged, struct error *error)
{
	const struct choice *choice = call->own;
	const char **names = arena_calloc(&call->arena, merged->metric_count + 1, sizeof *names), *unmet;

	if (!names)
		return error_memory(error);
	for (size_t m = 0; m < merged->metric_count; m++)
		names[m] = merged->metrics[m].name;
	unmet = choice->is_union ? select_unmet_metric(call->select, names, merged->metric_count) : NULL;
	return unmet ? error_set(error, ERROR_USAGE,
			       "--metric: no run of the union has '%s'; hpct-info --metrics lists what each "
			       "has",
			       unmet)
		     : 0;
}

/* Nothing is printed until all runs are read. */
static int work_merge(struct program_call *call, const struct choice *choice, struct error *error)
{
	struct run *runs[MERGE_RUNS] = {call->run};
	struct profile profiles[MERGE_RUNS] = {{0}}, merged;
	struct coverage coverages[MERGE_RUNS];
	static char letters[MERGE_RUNS][2];
	const char *names[MERGE_RUNS] = {NULL};
	size_t count = choice->other_count + 1;
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		letters[i][0] = (char)('A' + i);
		names[i] = letters[i];
		if (i)
			rc = names_run_open(&runs[i], choice->others[i - 1], &call->run_options, error);
		if (rc == 0)
			rc = take_part(call, runs[i], &profiles[i], &coverages[i], error);
	}
	if (rc == 0)
		rc = profile_merge(&merged, profiles, choice->is_union ? NULL : names, count,
			choice->view == PROFILE_TOP_DOWN, false, &call->arena, error);
	if (rc == 0)
		rc = check_metrics(call, &merged, error);
	for (size_t i = 0; i < count && rc == 0 && call->format == REPORT_TABLE; i++)
		print_coverage(&coverages[i], runs[i], names[i]);
	if (rc == 0 && call->format == REPORT_TABLE)
		rc = say_lone(call, runs, profiles, count, error);
	if (rc == 0)
		rc = sort_rows(call, &merged, NULL, error);
	if (rc == 0)
		rc = print_rows(call, &merged, NULL, error);
	for (size_t i = 1; i < count; i++)
		if (runs[i])
			run_close(runs[i]);
	return rc;
}

/* What says nothing together. */
static int check_choice(const struct program_call *call, const struct choice *choice, struct error *error)
{
	size_t formulas;

	select_formulas(call->select, &formulas);
	if (choice->sort && (choice->is_flame || choice->source || choice->each >= 0))
		return error_set(error, ERROR_USAGE,
			"--sort is of the rows of a view: leave out --flame, --source, --each and --by");
	if (choice->is_flame && (choice->other_count || choice->source || choice->view == PROFILE_FLAT))
		return error_set(error, ERROR_USAGE,
			"--flame is of one run and of --view top-down or bottom-up: leave out --merge, "
			"--source and --view flat");
	if (choice->other_count && choice->source)
		return error_set(error, ERROR_USAGE, "--source is of one run, not with --merge");
	if (choice->over >= 0 && (choice->other_count || choice->source || choice->is_flame))
		return error_set(error, ERROR_USAGE,
			"--over adds columns to the rows of one run: leave out --merge, --source and "
			"--flame");
	if (choice->each >= 0 &&
		(choice->over >= 0 || choice->other_count || choice->source || choice->is_flame))
		return error_set(error, ERROR_USAGE,
			"--each and --by have rows of their own, of one run: leave out --over, --merge, "
			"--union, "
			"--source "
			"and --flame");
	if (formulas && (choice->source || choice->is_flame))
		return error_set(error, ERROR_USAGE,
			"--metric 'NAME = FORMULA' adds a column to rows: leave out --source and --flame");
	return 0;
}

static int work_each(struct program_call *call, const struct choice *choice, struct error *error)
{
	struct profile profile = {0};
	struct profile_each *each;
	size_t count;
	int rc = profile_each_compute(&profile, &each, &count, call->run, call->select,
		(enum stream_groups_by)choice->each, call->format == REPORT_TABLE, &call->arena, error);

	if (rc == 0 && call->format == REPORT_TABLE)
		rc = print_own_coverage(call, error);
	return rc ? rc
		  : profile_each_report(
			    &profile, each, count, call->select, call->format, &call->arena, error);
}

static int work_rows(struct program_call *call, struct choice *choice, struct error *error)
{
	struct profile profile = {0};
	struct profile_over over;
	int rc = choice->over >= 0
			 ? profile_over_compute(&profile, &over, call->run, call->select, choice->view,
				   (enum stream_groups_by)choice->over, &call->arena, error)
			 : (call->format == REPORT_TABLE && !choice->is_flame ? profile_compute_counted
									      : profile_compute)(
				   &profile, call->run, call->select, choice->view, &call->arena, error);

	if (rc == 0 && !choice->is_flame)
		rc = sort_rows(call, &profile, choice->over >= 0 ? &over : NULL, error);
	if (rc == 0 && call->format == REPORT_TABLE && !(choice->svg && strcmp(choice->svg, "-") == 0))
		rc = print_own_coverage(call, error);
	if (rc < 0)
		return rc;
	return choice->is_flame ? print_flame(call, &profile, error)
				: print_rows(call, &profile, choice->over >= 0 ? &over : NULL, error);
}

static int work(struct program_call *call, struct error *error)
{
	struct choice *choice = call->own;
	int rc = take_by(call, choice, error);

	if (rc == 0)
		rc = check_choice(call, choice, error);

	if (rc < 0 || choice->other_count)
		return rc < 0 ? rc : work_merge(call, choice, error);
	rc = coverage_require(call->run, call->select, error);
	if (rc == 0 && select_state_metrics(call->select))
		rc = select_require_sums(call->select, error);
	if (rc < 0)
		return rc;
	if (choice->each >= 0)
		return work_each(call, choice, error);
	return choice->source ? work_source(call, choice, error) : work_rows(call, choice, error);
}

static void prepare(struct program_call *call)
{
	const struct choice *choice = call->own;

	if (choice->is_union)
		select_take_any_metric(call->select);
}

static const struct program_option options[] = {
	{0, "view", "VIEW", "top-down (default), bottom-up or flat", take_view},
	{'a', "all", NULL, "tables: also rows below 0.1 %; --source: all lines",
		.to = offsetof(struct choice, all)},
	{0, "sort", "WHAT", "siblings by self, total (default), name, or a METRIC; bottom-up: self",
		.to = offsetof(struct choice, sort)},
	{0, "over", "KEY", "how metrics are spread over: " STREAM_GROUPS_NAMES, take_over},
	{0, "each", "KEY", "instead of the tree: what each of them has, by themselves", take_each},
	{0, "flame", NULL, "a flame graph as text; --metric chooses what is wide",
		.to = offsetof(struct choice, is_flame)},
	{0, "flame-svg", "FILE", "the same as a picture that browsers open, searched and zoomed; - is stdout",
		take_svg},
	{0, "merge", "RUN", "one tree of both runs, or of more, the metrics of each beside the others'",
		take_merge},
	{0, "union", "RUN",
		"the same of runs of one program with different events: their metrics as one run's",
		take_union},
	{0, "source", "FILE[:LINE]", "the lines of a source file, or around one, with their text",
		take_source},
	{'R', "replace-path", "OLD=NEW", "sources whose path begins with OLD are below NEW", take_map},
	{'I', "include", "DIR", "look for sources in DIR; DIR/+: and in all below it", take_include}};

static const struct program program = {
	.name = "hpct-profile",
	.about = "weights of a window by calling context",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUN | PROGRAM_STATE_METRICS | PROGRAM_GPU |
		PROGRAM_FORMULAS,
	.refused = "op min",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = "KEY is function (with --view flat a plain list by self time), rank, thread, process, "
		 "program, "
		 "host, device or stream: what each of them has.\n"
		 "incl: with callees, recursion counted once; excl: without. ~ marks inlined functions, "
		 "? rows of fewer than 20 samples. "
		 "The position is the call site; for the topmost row, the definition.\n"
		 "--metric REALTIME counts the wall time of threads, working or waiting; BLOCKED, "
		 "RUNNABLE and SYNC count only waits, by the waiting call path.\n"
		 "--metric GKER, GMEM:*, GXCOPY:H2D, GSYNC:COUNT, GKER:THR_REG ... count GPU "
		 "operations.\n"
		 "--metric 'waste = $2 * 4 - $1' adds a column: $n is the row's n-th number, from 0, or "
		 "$CPUTIME:excl, @n the root's; hpct-view(1) lists operators and functions, and "
		 "~/.config/hpct/formulas keeps them by name.\n",
	.prepare = prepare,
	.work = work,
};

int main(int argc, char **argv)
{
	static struct choice choice = {.view = PROFILE_TOP_DOWN, .over = -1, .each = -1};

	return program_main(&program, &choice, argc, argv);
}
