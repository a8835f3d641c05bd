/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h - the selector of every reader and of the view's `:` prompt: a time window, streams, contexts,
 * operations, metrics and depth.
 */
#ifndef TIMELINE_SELECT_H
#define TIMELINE_SELECT_H

#include "timeline/run/run.h"

struct select;

/* A new selector selects everything. */
int select_new(struct select **select, struct error *error);
void select_free(struct select *select);

/* Sets an option by name, without dashes: time streams context op metric min depth by top. ERROR_USAGE with
 * a sentence if the value is wrong. Returns 1 if the selector has no such option. */
int select_option(struct select *select, const char *name, const char *value, struct error *error);
/* ERROR_USAGE if one of these options ("by top") was given, which means nothing together with `with`
 * ("--gaps"). */
int select_refuse(const struct select *select, const char *names, const char *with, struct error *error);
/* From now on --metric may name derived metrics (state_metrics.h) as well; call before binding. */
void select_take_state_metrics(struct select *select);
/* From now on --metric may be that name, or one of several with commas, which the program knows what to do
 * with; it lives as long as the selector. */
void select_take_metric(struct select *select, const char *name);
/* From now on --metric may name what the bound run has not: another run may. After the last one
 * select_unmet_metric() tells what none of them had. */
void select_take_any_metric(struct select *select);
/* The first of --metric that matches none of these names; NULL: there is none. The selector's. */
const char *select_unmet_metric(const struct select *select, const char *const *names, size_t count);
/* The same for metrics of GPU operations (gpu_metric.h). */
void select_take_gpu(struct select *select);
/* From now on --metric 'NAME = FORMULA' adds a formula (formula_columns.h); such an option may be repeated,
 * and leaves the metrics as they are, but where metrics are columns those that formulas name are chosen, too.
 */
void select_take_formulas(struct select *select);
/* The same, and until it is bound --metric is nothing else: the name of a metric is an error. */
void select_take_only_formulas(struct select *select);
/* --metric several times in one text: names and formulas, with semicolons between them if there is a formula.
 * The errors of select_option(). */
int select_metrics(struct select *select, const char *text, struct error *error);
/* As given, in order; the selector's. */
char *const *select_formulas(const struct select *select, size_t *count);
/* --help text of the selector's options, the same in every program. */
const char *select_help(void);

/* Binds it to a run: resolves times (origin, wall clock, marks) and stream expressions. ERROR_EMPTY: no
 * stream matched. */
int select_bind(struct select *select, struct run *run, struct error *error);
/* For windows of two runs on one screen: select_bind() leaves --time alone, the window is the whole run's
 * until select_bind_time() resolves it. There a moment that is left out is one of these (absolute, of both
 * runs, on the clock of the bound one), and -10s counts from that end. */
void select_bind_time_later(struct select *select);
int select_bind_time(struct select *select, uint64_t begin_ns, uint64_t end_ns, struct error *error);

/* ---- after binding ---- */
uint64_t select_begin_ns(const struct select *select); /* absolute, half-open */
/* Sums of time are modulo 2^64: ERROR_USAGE if streams x window is larger, for programs that print them. */
int select_require_sums(const struct select *select, struct error *error);
uint64_t select_end_ns(const struct select *select);
/* The window for records: without a given end it includes every record, also the last one, which is at the
 * run's end and so outside the half-open window: 0, STORE_OPEN_NS. */
uint64_t select_records_begin_ns(const struct select *select);
uint64_t select_records_end_ns(const struct select *select);
bool select_has_time(const struct select *select); /* --time was given */
/* Indices of the selected streams of the run, ascending, without those of PC samples: these have no time. */
const uint32_t *select_streams(const struct select *select, uint32_t *count);
/* With them. */
const uint32_t *select_all_streams(const struct select *select, uint32_t *count);
bool select_wants_context(const struct select *select, uint32_t context);
bool select_wants_op(const struct select *select, uint32_t op);
bool select_has_op(const struct select *select); /* --op was given */
bool select_wants_metric(const struct select *select, uint32_t metric);
bool select_has_metric(const struct select *select); /* --metric was given */
/* Derived metrics in --metric, bits 1 << enum state_metric; 0 if not enabled. */
unsigned select_state_metrics(const struct select *select);
/* Metrics of GPU operations in --metric, bits of gpu_metric_find(); 0 if not enabled. */
uint64_t select_gpu(const struct select *select);
/* True when --metric is exactly this name, not a pattern. */
bool select_names_metric(const struct select *select, const char *name);
/* Index among --metric's names that this metric matches; 0 without --metric. */
size_t select_metric_rank(const struct select *select, const char *name);
bool select_has_record_filter(const struct select *select); /* any of context, op, metric, min */
bool select_has_context(const struct select *select);	    /* --context was given */
uint64_t select_min_ns(const struct select *select);	    /* 0: none */
uint32_t select_depth(const struct select *select);	    /* UINT32_MAX: none; see run_depth_below() */
/* A number, "auto" or "auto+1"; false: none of these. */
bool select_read_depth(const char *value, uint32_t *depth);
const char *select_by(const struct select *select); /* NULL: none */
uint64_t select_top(const struct select *select);   /* UINT64_MAX: none */
/* The equivalent command line, in `arena`: "--time 1.2s..1.4s --depth 4"; only the options with these names
 * ("time depth"), NULL: all. */
struct arena;
char *select_command(const struct select *select, const char *names, struct arena *arena);
/* The value quoted as one shell word; may be in `arena`. NULL: no memory. */
const char *select_word(const char *value, struct arena *arena);

#endif
