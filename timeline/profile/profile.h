/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - weights of a window by calling context (S4 10.2-10.4): top-down, bottom-up, flat. Computed
 * from the window's samples, never stored; a sample is in a window if its time is. Derived metrics
 * (state_metrics.h) come from the state timelines of the window, those of GPU operations (gpu_metric.h) from
 * its spans, if the selector names them.
 *
 *   samples --sum by context--> scopes (inclusive, exclusive) --view--> tree of rows
 *
 * Exclusive cost: of a function or inlined function, what was spent in it without its callees (functions
 * inlined into it are scopes of their own); of a loop, what was spent in its code and its inner loops; of
 * files and modules, the sum of their functions; of a line or an instruction of a GPU, its own, which is also
 * its function's. Inclusive cost: the subtree in the top-down view; in other views a row sums only the
 * outermost of its scopes on every path, so that recursion counts once (S4 10.4.2).
 */
#ifndef TIMELINE_PROFILE_H
#define TIMELINE_PROFILE_H

#include "timeline/select/select.h"

enum profile_view { PROFILE_TOP_DOWN, PROFILE_BOTTOM_UP, PROFILE_FLAT, PROFILE_VIEW_COUNT };
const char *profile_view_name(enum profile_view view);
int profile_view_find(const char *name); /* -1: none */

enum profile_kind {
	PROFILE_ROOT,
	PROFILE_FUNCTION,
	PROFILE_INLINE,
	PROFILE_LOOP,
	PROFILE_LINE,
	PROFILE_INSTRUCTION, /* of a GPU's code, below its line */
	PROFILE_FILE,
	PROFILE_MODULE
};
const char *profile_kind_name(enum profile_kind kind);

union profile_value {
	uint64_t number;
	double real; /* of a metric with is_real */
};

struct profile_metric {
	uint32_t metric; /* of the run, or state_metrics_number(), gpu_metric_number() */
	const char *name, *unit;
	bool is_real;
	uint32_t counted; /* of has_samples: the metric whose samples it counts */
};

static inline double profile_value_real(const struct profile_metric *metric, union profile_value value)
{
	return metric->is_real ? value.real : (double)value.number;
}

struct profile_row {
	uint32_t depth, parent; /* parent: index of its row; UINT32_MAX for the root */
	enum profile_kind kind;
	const char *name; /* raw bytes */
	size_t name_bytes;
	const char *module, *file; /* "" if unknown */
	const char *home;	   /* file that defines the function, "" or NULL: unknown, or none */
	uint32_t line;		   /* 0: unknown. Call site of callers and callees, definition of the topmost
				      function, sampled line of a line */
	const union profile_value *inclusive, *exclusive; /* one for each metric */
};

/* Everything is in the given arena, or the run's. */
struct profile {
	struct profile_metric *metrics; /* in the selector's order, else time sources first */
	size_t metric_count;
	bool has_samples; /* the last metric counts the samples of a time source: profile_compute_counted() */
	struct profile_row *rows; /* parents before children, siblings by the first metric's inclusive value,
				     descending, then name; row 0 is the root; no rows without samples */
	size_t count;
};

/* Callers shown in the bottom-up view unless a depth is given: a recursion 1e5 deep has 5e9. */
#define PROFILE_CALLERS_MAX 128u

/* For the streams, window, contexts and metrics of the selector; rows below its depth are left out. */
int profile_compute(struct profile *profile, struct run *run, const struct select *select,
	enum profile_view view, struct arena *arena, struct error *error);

/* The same; the last metric then counts the samples of the first time source among the metrics, if any is. */
int profile_compute_counted(struct profile *profile, struct run *run, const struct select *select,
	enum profile_view view, struct arena *arena, struct error *error);

#endif
