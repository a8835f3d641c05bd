/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - exact totals of a window: time by leaf context, operation and state (extents), and weight by
 * leaf context and metric (samples). The two are never mixed: extents look forward, weights look back.
 * Totals add up: over any partition of the window, and over streams. Weights come from rollups where the
 * store has them, to the last bit as a scan would sum them (store/rollup/rollup.h).
 */
#ifndef TIMELINE_WINDOW_H
#define TIMELINE_WINDOW_H

#include "timeline/scan/extent.h"

struct window_time {
	uint32_t context; /* run context; 0: none */
	uint32_t op;	  /* STORE_OP_NONE for samples' extents */
	enum extent_state state;
	uint64_t records; /* that begin in the window and own the line there */
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

/* The time of several streams; of all streams at the cost of what they did, where the store has summed it,
 * else by several processes where that is worth it (parallel_sum.h). */
int window_add_times(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* The weights of several streams, so too; of all streams and all time at the cost of their contexts. */
int window_add_weights(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* What counters have come by, of streams that have values with a context, as weights of their metrics. */
int window_add_values(struct window *window, const uint32_t *streams, uint32_t count, uint64_t begin_ns,
	uint64_t end_ns, struct error *error);

/* ERROR_USAGE: a sum of weights, or all of one metric together, are more than 64 bits hold. The adding calls
 * refuse what they see of that; this one must be asked when all is added. */
int window_check_weights(struct window *window, struct error *error);

/* Adds one sum: its own counts to those of its key. */
int window_put_time(struct window *window, const struct window_time *time, struct error *error);
int window_put_weight(struct window *window, const struct window_weight *weight, struct error *error);

/* What was added so far, in the order in which it was first met; valid until the next add. */
const struct window_time *window_times(const struct window *window, size_t *count);
const struct window_weight *window_weights(const struct window *window, size_t *count);

#endif
