/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_metrics.h - metrics without sampling signals: running and waiting time of threads by call path, from
 * their state timelines (extent.h). In ns of the window; GPU queues have none.
 *
 *   REALTIME = work + SYNC + BLOCKED + RUNNABLE; the rest of the window is unknown, unmonitored, lost, absent
 *
 * A wait counts for the path of the waiting call, a runnable thread for the path of its last sample; a wait
 * without either has no path. The metrics add up over windows, streams and contexts.
 */
#ifndef TIMELINE_STATE_METRICS_H
#define TIMELINE_STATE_METRICS_H

#include "timeline/sum/window.h"

enum state_metric {
	STATE_METRIC_REALTIME,
	STATE_METRIC_BLOCKED,
	STATE_METRIC_RUNNABLE,
	STATE_METRIC_SYNC,
	STATE_METRIC_COUNT
};
#define STATE_METRICS_NAMES "REALTIME, BLOCKED, RUNNABLE and SYNC"
const char *state_metrics_name(enum state_metric metric);
int state_metrics_find(const char *name); /* -1: none */
/* True when time in that state counts. */
bool state_metrics_counts(enum state_metric metric, enum extent_state state);

/* Its number beside the run's own metrics. */
static inline uint32_t state_metrics_number(const struct run *run, enum state_metric metric)
{
	return run_metric_count(run) + (uint32_t)metric;
}

/* Adds the times of [begin, end) of CPU threads, runnable ones with their context; skips GPU queues. In
 * several processes if that pays off (parallel_sum.h). */
int state_metrics_add_times(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, struct error *error);

/* Adds the requested metrics (bits 1 << enum state_metric) of these streams as weights. */
int state_metrics_add_weights(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, unsigned wanted, struct error *error);

#endif
