/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - exact totals of a window: time by leaf context, operation and state (extents), and weight by
 * leaf context and metric (samples). The two are never mixed: an extent follows its sample, a weight
 * precedes it. Totals add up over any partition of the window, and over streams. Weights come from rollups
 * where the store has them, equal bit for bit to those of a scan (store/rollup/rollup.h).
 */
#ifndef TIMELINE_WINDOW_H
#define TIMELINE_WINDOW_H

#include "timeline/scan/extent.h"

struct window_time {
	uint32_t context; /* run context; 0: none */
	uint32_t op;	  /* STORE_OP_NONE for samples' extents */
	enum extent_state state;
	uint64_t records; /* that begin in the window and own the timeline there */
	uint64_t time_ns;
};

struct window_weight {
	uint32_t context;
	uint32_t metric; /* of the run */
	uint64_t samples;
	uint64_t weight; /* in the metric's unit */
	double real;	 /* the weight of a metric of doubles (run_metric_is_real) */
};

struct window;

int window_new(struct window **window, struct run *run, struct error *error);
void window_free(struct window *window);

/* Adds what a stream did in [begin, end). */
int window_add_time(
	struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error);
int window_add_weight(
	struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, struct error *error);

/* The time of several streams; of all streams at a cost independent of their number, if the store has summed
 * them; else in several processes if that pays off (parallel_sum.h). */
int window_add_times(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* The weights of several streams, likewise; of all streams and all time at the cost of their contexts. */
int window_add_weights(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* Increments of counters, of streams that have values with a context, as weights of their metrics. */
int window_add_values(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* ERROR_USAGE: a sum of weights, or all of one metric together, exceeds 64 bits. Adding calls refuse what
 * they detect; call this one at the end. */
int window_check_weights(struct window *window, struct error *error);

/* Adds one sum to that of its key. */
int window_put_time(struct window *window, const struct window_time *time, struct error *error);
int window_put_weight(struct window *window, const struct window_weight *weight, struct error *error);

/* All rows so far, in order of first use; valid until the next add. */
const struct window_time *window_times(const struct window *window, size_t *count);
const struct window_weight *window_weights(const struct window *window, size_t *count);

#endif
