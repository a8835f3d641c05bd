/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.c - resolves the selector in the run that it is bound to.
 */
#include "timeline/select/select_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/base/glob.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/dividing.h"
#include "timeline/sum/gpu_metric.h"
#include "timeline/sum/state_metrics.h"

static int bind_streams(struct select *select, struct error *error)
{
	uint32_t count = run_stream_count(select->run);

	select->stream_count = select->all_count = 0;
	if (!array_resize(&select->streams, (size_t)count + 1, sizeof *select->streams) ||
		!array_resize(&select->all, (size_t)count + 1, sizeof *select->all))
		return error_memory(error);
	for (uint32_t i = 0; i < count; i++) {
		const struct run_stream *stream = select->expression
							  ? run_stream_peek(select->run, i)
							  : run_stream_peek_unnamed(select->run, i);

		if (select->expression && !select_streams_match(select->expression, stream))
			continue;
		select->all[select->all_count++] = i;
		if (stream->s.kind != STORE_STREAM_PC && stream->s.kind != STORE_STREAM_GAUGES)
			select->streams[select->stream_count++] = i;
	}
	if (select->all_count)
		return 0;
	if (!count)
		return error_set(error, ERROR_EMPTY, "%s has no streams%s", run_path(select->run),
			run_is_live(select->run) ? " yet: its recording has just begun; ask again in a second"
						 : ": nothing was recorded");
	return error_set(error, ERROR_EMPTY,
		"none of the %u stream%s of %s matches '%s'; hpct-info --streams lists them", count,
		count == 1 ? "" : "s", run_path(select->run), select->values[SELECT_OPTION_STREAMS]);
}

static bool list_matches(char *const *list, const char *name)
{
	for (size_t i = 0; list[i]; i++)
		if (glob_match(list[i], name))
			return true;
	return false;
}

#define LIST_MAX 400 /* characters */

/* Adds a name to a list in words; what has no room is an ellipsis. */
static void list_add(char list[LIST_MAX], const char *name)
{
	size_t used = strlen(list);

	if (used + strlen(name) + 8 < LIST_MAX)
		snprintf(list + used, LIST_MAX - used, "%s%s", used ? ", " : "", name);
	else if (used < 4 || strcmp(list + used - 3, "...") != 0)
		snprintf(list + used, LIST_MAX - used, ", ...");
}

/* Operations of a recording beside the store's own: a run without any has none, and may be asked for them. */
static const char *const recorded_ops[] = {"lock", "gil", "barrier", "mpi-summed"};

static bool is_recorded_op(const char *pattern)
{
	for (size_t i = 0; i < sizeof(recorded_ops) / sizeof(recorded_ops[0]); i++)
		if (glob_match(pattern, recorded_ops[i]))
			return true;
	return false;
}

/* An operation that there is nowhere is a slip of the pen, as a metric is. */
static int bind_ops(const struct select *select, struct error *error)
{
	char names[LIST_MAX] = "";

	for (uint32_t op = STORE_OP_NONE + 1; op < STORE_OP_COUNT; op++)
		list_add(names, store_op_name(op));
	for (size_t i = 0; i < sizeof(recorded_ops) / sizeof(recorded_ops[0]); i++)
		list_add(names, recorded_ops[i]);
	for (size_t i = 0; select->ops && select->ops[i]; i++)
		if (!run_has_op(select->run, select->ops[i]) && !is_recorded_op(select->ops[i]))
			return error_set(error, ERROR_USAGE, "--op: %s has no operation '%s'; there are %s",
				run_path(select->run), select->ops[i], names);
	return 0;
}

bool select_run_has_metric(const struct select *select, const char *pattern)
{
	for (uint32_t m = 0; m < run_metric_count(select->run); m++)
		if (glob_match(pattern, run_metric_name(select->run, m)))
			return true;
	return false;
}

/* Of names separated by commas; NULL: none. */
static bool is_one_of(const char *names, const char *name)
{
	const size_t size = strlen(name);

	for (; names && *names; names += strcspn(names, ","), names += *names == ',')
		if (strcspn(names, ",") == size && !memcmp(names, name, size))
			return true;
	return false;
}

/* A metric that the run has not is a slip of the pen, not a selection. What was recorded under the name of a
 * derived metric (by another tool) goes before it. */
static int bind_metrics(struct select *select, struct error *error)
{
	const struct run *run = select->run;
	char names[LIST_MAX] = "";

	for (uint32_t m = 0; m < run_metric_count(run); m++)
		list_add(names, run_metric_name(run, m));
	select->derived = 0;
	select->gpu = 0;
	if (select->takes_only_formulas && select->metrics)
		return error_set(error, ERROR_USAGE,
			"--metric '%s': no formula of that name is kept; here --metric adds a column, 'NAME "
			"= "
			"FORMULA'",
			select->metrics[0]);
	select->takes_only_formulas = false; /* what the program itself chooses later is its own */
	for (size_t i = 0; select->metrics && select->metrics[i]; i++) {
		int derived = select->takes_state_metrics ? state_metrics_find(select->metrics[i]) : -1;
		uint64_t gpu = gpu_metric_find(select->metrics[i]);

		if (select_run_has_metric(select, select->metrics[i]) ||
			is_one_of(select->takes_name, select->metrics[i]))
			continue;
		if (derived < 0 && !(gpu && select->takes_gpu) && select->takes_any_metric)
			continue;
		if (derived < 0 && !(gpu && select->takes_gpu))
			return error_set(error, ERROR_USAGE,
				"--metric: %s has no metric '%s' (it has %s)%s%s", run_path(run),
				select->metrics[i], names[0] ? names : "none",
				select->takes_state_metrics ? "; every run has " STATE_METRICS_NAMES : "",
				gpu		    ? "; of GPU operations, hpct-profile shows it"
				: select->takes_gpu ? "; GPU operations have " GPU_METRIC_NAMES
						    : "");
		if (derived >= 0)
			select->derived |= 1u << derived;
		else
			select->gpu |= gpu;
	}
	return 0;
}

void select_take_metric(struct select *select, const char *name)
{
	select->takes_name = name;
}

void select_take_any_metric(struct select *select)
{
	select->takes_any_metric = true;
}

const char *select_unmet_metric(const struct select *select, const char *const *names, size_t count)
{
	for (size_t i = 0; select->metrics && select->metrics[i]; i++) {
		size_t at = 0;

		while (at < count && !glob_match(select->metrics[i], names[at]))
			at++;
		if (at == count)
			return select->metrics[i];
	}
	return NULL;
}

void select_bind_time_later(struct select *select)
{
	select->binds_time_later = true;
}

int select_bind_cost(struct select *select, struct error *error)
{
	int code;

	if (!select->context || !select_context_needs_cost(select->context))
		return 0;
	select_cost_free(select->cost);
	select->cost = NULL;
	code = select_cost_new(&select->cost, select->run, select->streams, select->stream_count,
		select->begin_ns, select->end_ns, error);
	select_context_set_cost(select->context, select->cost);
	return code;
}

int select_bind_time(struct select *select, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	const struct select_limits limits = {begin_ns, end_ns};
	int code = 0;

	select->begin_ns = begin_ns;
	select->end_ns = end_ns;
	if (select->values[SELECT_OPTION_TIME])
		code = select_window_resolve(
			&select->window, select->run, &limits, &select->begin_ns, &select->end_ns, error);
	return code || !select->binds_time_later ? code : select_bind_cost(select, error);
}

/* A depth that depends on the path needs to know which frames divide the window's time. */
static int bind_depth(struct select *select, struct error *error)
{
	struct dividing dividing;
	int code;

	if (!run_depth_is_below(select->depth))
		return 0;
	code = dividing_find(select->run, select->begin_ns, select->end_ns, &dividing, error);
	if (!code)
		dividing_fini(&dividing);
	return code;
}

int select_bind(struct select *select, struct run *run, struct error *error)
{
	int code = 0;

	select->run = run;
	select->begin_ns = run_begin_ns(run);
	select->end_ns = run_end_ns(run);
	if (select->context)
		select_context_bind(select->context, run);
	if (!select->binds_time_later)
		code = select_bind_time(select, select->begin_ns, select->end_ns, error);
	if (!code)
		code = bind_ops(select, error);
	if (!code)
		code = select_bind_kept(select, error);
	if (!code)
		code = select_bind_needed(select, error);
	if (!code)
		code = bind_metrics(select, error);
	if (!code)
		code = bind_streams(select, error);
	if (!code)
		code = bind_depth(select, error);
	return code || select->binds_time_later ? code : select_bind_cost(select, error);
}

/* ---- what it says ---- */

uint64_t select_begin_ns(const struct select *select)
{
	return select->begin_ns;
}

uint64_t select_end_ns(const struct select *select)
{
	return select->end_ns;
}

int select_require_sums(const struct select *select, struct error *error)
{
	uint64_t sum_ns,
		length_ns = select->end_ns > select->begin_ns ? select->end_ns - select->begin_ns : 0;
	uint32_t count;

	select_streams(select, &count);
	if (!__builtin_mul_overflow(length_ns, (uint64_t)count, &sum_ns))
		return 0;
	return error_set(error, ERROR_USAGE,
		"the time of %u streams is more than 2^64 ns (584 years) in this window: choose fewer "
		"--streams, or a part of it with --time",
		count);
}

uint64_t select_records_begin_ns(const struct select *select)
{
	bool is_left_out = !select->values[SELECT_OPTION_TIME] ||
			   (!select->window.is_mark && select->window.begin.kind == SELECT_LEFT_OUT);

	return is_left_out ? 0 : select->begin_ns;
}

uint64_t select_records_end_ns(const struct select *select)
{
	bool is_left_out = !select->values[SELECT_OPTION_TIME] ||
			   (!select->window.is_mark && select->window.end.kind == SELECT_LEFT_OUT);

	return is_left_out ? STORE_OPEN_NS : select->end_ns;
}

bool select_has_time(const struct select *select)
{
	return select->values[SELECT_OPTION_TIME] != NULL;
}

const uint32_t *select_streams(const struct select *select, uint32_t *count)
{
	*count = select->stream_count;
	return select->streams;
}

const uint32_t *select_all_streams(const struct select *select, uint32_t *count)
{
	*count = select->all_count;
	return select->all;
}

bool select_wants_context(const struct select *select, uint32_t context)
{
	return !select->context || select_context_match(select->context, context);
}

bool select_wants_op(const struct select *select, uint32_t op)
{
	return !select->ops ||
	       (op != STORE_OP_NONE && list_matches(select->ops, run_op_name(select->run, op)));
}

bool select_has_op(const struct select *select)
{
	return select->ops != NULL;
}

bool select_wants_metric(const struct select *select, uint32_t metric)
{
	return !select->metrics || list_matches(select->metrics, run_metric_name(select->run, metric));
}

void select_take_state_metrics(struct select *select)
{
	select->takes_state_metrics = true;
}

void select_take_gpu(struct select *select)
{
	select->takes_gpu = true;
}

void select_take_formulas(struct select *select)
{
	select->takes_formulas = true;
}

void select_take_only_formulas(struct select *select)
{
	select->takes_formulas = select->takes_only_formulas = true;
}

char *const *select_formulas(const struct select *select, size_t *count)
{
	*count = select->formula_count;
	return select->formulas;
}

bool select_names_metric(const struct select *select, const char *name)
{
	for (size_t i = 0; select->metrics && select->metrics[i]; i++)
		if (!strcmp(select->metrics[i], name))
			return true;
	return false;
}

bool select_has_metric(const struct select *select)
{
	return select->metrics != NULL;
}

unsigned select_state_metrics(const struct select *select)
{
	return select->derived;
}

uint64_t select_gpu(const struct select *select)
{
	return select->gpu;
}

size_t select_metric_rank(const struct select *select, const char *name)
{
	size_t i = 0;

	while (select->metrics && select->metrics[i] && !glob_match(select->metrics[i], name))
		i++;
	return i;
}

bool select_has_record_filter(const struct select *select)
{
	return select->context || select->ops || select->metrics || select->min_ns;
}

bool select_has_context(const struct select *select)
{
	return select->context != NULL;
}

uint64_t select_min_ns(const struct select *select)
{
	return select->min_ns;
}

uint32_t select_depth(const struct select *select)
{
	return select->depth;
}

const char *select_by(const struct select *select)
{
	return select->values[SELECT_OPTION_BY];
}

uint64_t select_top(const struct select *select)
{
	return select->top;
}
