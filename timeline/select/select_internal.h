/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_internal.h - the parts of a selector; for select*.c only. select_options.c sets options, select.c
 * binds them to a run, select_command.c prints them.
 */
#ifndef TIMELINE_SELECT_INTERNAL_H
#define TIMELINE_SELECT_INTERNAL_H

#include "timeline/select/select.h"
#include "timeline/select/select_context.h"
#include "timeline/select/select_streams.h"
#include "timeline/select/select_time.h"

enum select_option_id {
	SELECT_OPTION_TIME,
	SELECT_OPTION_STREAMS,
	SELECT_OPTION_CONTEXT,
	SELECT_OPTION_OP,
	SELECT_OPTION_METRIC,
	SELECT_OPTION_MIN,
	SELECT_OPTION_DEPTH,
	SELECT_OPTION_BY,
	SELECT_OPTION_TOP,
	SELECT_OPTION_COUNT
};

struct select {
	char *values[SELECT_OPTION_COUNT]; /* as given; NULL: not */
	struct select_window window;
	struct select_streams *expression;
	struct select_context *context;
	struct select_cost *cost; /* of the context's conditions; NULL: none asked for */
	char **ops, **metrics;	  /* patterns, ended by NULL */
	uint64_t min_ns, top;
	uint32_t depth;
	bool takes_state_metrics, takes_gpu, takes_formulas, takes_only_formulas, takes_any_metric,
		binds_time_later;
	const char *takes_name; /* a metric beside the run's: select_take_metric(); NULL: none */
	char **formulas;	/* as given */
	size_t formula_count, constant_count; /* the first ones: numbers alone */
	/* -- after binding -- */
	struct run *run;
	uint64_t begin_ns, end_ns;
	uint32_t *streams, stream_count; /* without those of PC samples */
	uint32_t *all, all_count;
	unsigned derived;
	uint64_t gpu;
};

/* What conditions of the pattern compare, if it has any: the time of the bound window in the selected
 * streams.
 */
int select_bind_cost(struct select *select, struct error *error);

/* ---- select_formulas.c ---- */

/* "NAME = FORMULA": it names columns, which the name of a metric does not, or is a number alone. */
bool select_is_formula(const char *value);
/* Adds such a formula behind the others, a number behind the other numbers, which come first; once. */
int select_add_formula(struct select *select, const char *text, struct error *error);
/* What --metric names of formulas that are kept (formula_file.h) becomes formulas, with those that they name;
 * without other names there is no choice of metrics. */
int select_bind_kept(struct select *select, struct error *error);
/* Where metrics are columns, those that formulas name are chosen, too. */
int select_bind_needed(struct select *select, struct error *error);
bool select_run_has_metric(const struct select *select, const char *pattern);

/* Names of the options, by enum select_option_id. */
extern const char *const select_option_names[SELECT_OPTION_COUNT];

#endif
