/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure.h - figures over time: which there are, their values in the columns of a window, and when they meet
 * a condition. Counters are shown as rates: growth from one value to the next, over the time between them;
 * amounts, such as events since the last sample, likewise.
 *
 *   values     |   3      5        5    |    9      4      as recorded
 *   columns    | 3..5, mean 4.33, last 5| 4..9 ...         a gauge holds until its next value
 *   a counter  |  its steps, each over the columns that it spans
 */
#ifndef TIMELINE_FIGURE_H
#define TIMELINE_FIGURE_H

#include "store/base/arena.h"
#include "timeline/run/run.h"

/* A metric of a stream that has values. */
struct figure {
	uint32_t stream, metric; /* of the run */
	const char *name;	 /* of the metric */
	uint64_t count;
	double least, most; /* of all its values, in its unit */
};

/* In what unit a metric is shown, and the factor to it from the stored number or its rate per second: B/s, %,
 * W ... */
struct figure_unit {
	const char *text;
	double factor;
};
struct figure_unit figure_unit(const struct run *run, uint32_t metric);

/* Whether that is meant: its name matches the glob, or does without its labels where the glob has none
 * (node_load1 for node_load1{cpu=0}). Names longer than FIGURE_NAME_MAX have to match as a whole. */
#define FIGURE_NAME_MAX 256
bool figure_is_named(const char *name, const char *glob);

/* All figures of gauge streams, and of other streams' values without contexts, whose name matches one of
 * `count` globs (0: all); in the order of streams, then of names. In `arena`. */
int figures_list(struct figure **figures, uint32_t *figure_count, struct run *run, const char *const *globs,
	size_t glob_count, struct arena *arena, struct error *error);
/* Whose figure it is: "host vm", "python3 23103", "gpu0"; in `text`. */
#define FIGURE_OWNER_MAX 96u
void figure_owner(char text[FIGURE_OWNER_MAX], struct run *run, uint32_t stream);

/* A figure in one column, in its unit. */
struct figure_column {
	bool is_there;
	double least, most, mean, last;
};
/* Columns [edges[i], edges[i + 1]) ns, absolute and rising; count + 1 edges. */
int figure_columns(struct run *run, const struct figure *figure, const uint64_t *edges, uint32_t count,
	struct figure_column *columns, struct error *error);

/* Each value in [begin, end), as it was recorded, a double's as its number. Values come in order of time; if
 * `restart` is called those before it are to be forgotten, and all come again. */
int figure_values(struct run *run, const struct figure *figure, uint64_t begin_ns, uint64_t end_ns,
	void (*value)(void *own, uint64_t time_ns, double value), void (*restart)(void *own), void *own,
	struct error *error);

/* "1.5 GiB", "12.3 MB/s", "45 %". */
#define FIGURE_TEXT_MAX 32u
void figure_text(char text[FIGURE_TEXT_MAX], double value, const char *unit);

/* ---- conditions: resident>2GB, threads<8 ---- */

struct figure_condition {
	char name[FIGURE_NAME_MAX];
	char op; /* < > */
	bool or_equal;
	double bound; /* in the figure's unit */
};
int figure_condition_parse(struct figure_condition *condition, const char *text, struct error *error);
bool figure_condition_holds(const struct figure_condition *condition, double value);

struct figure_stretch {
	uint64_t begin_ns, end_ns;
};
/* When a figure meets the condition within [begin, end): disjoint stretches in order, in `arena`. A gauge
 * holds until its next value, the last one to the end; a rate from the value before. */
int figure_stretches(struct figure_stretch **stretches, uint32_t *count, struct run *run,
	const struct figure *figure, const struct figure_condition *condition, uint64_t begin_ns,
	uint64_t end_ns, struct arena *arena, struct error *error);

#endif
