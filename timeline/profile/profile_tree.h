/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_tree.h - the nodes with sums that views build, and the scopes with sums they are built from. For
 * profile*.c only.
 */
#ifndef TIMELINE_PROFILE_TREE_H
#define TIMELINE_PROFILE_TREE_H

#include "timeline/base/key_ids.h"
#include "timeline/profile/profile.h"

struct window;

#define PROFILE_TREE_ROOT 0u
#define PROFILE_TREE_NONE UINT32_MAX

/* Key of a node: its parent and what it shows. The run interns strings. */
struct profile_tree_key {
	uint64_t what; /* function, loop: its id; line: 0; file, module: the string */
	uint64_t file; /* the string: file of the row's position */
	uint32_t parent, kind, line, is_definition;
};

struct profile_tree {
	const struct profile_metric *metrics;
	size_t metric_count;
	struct key_ids nodes;	     /* of tree_key */
	union profile_value *values; /* [node][inclusive, exclusive][metric] */
	size_t capacity;
	bool failed;
	const struct profile_row *const *like; /* by node: texts of the row; NULL: from its key */
};

/* Makes the root only; `metrics` must outlive the tree. Negative: no memory. */
int profile_tree_init(struct profile_tree *tree, const struct profile_metric *metrics, size_t metric_count);
void profile_tree_fini(struct profile_tree *tree);
/* The node, made if needed; PROFILE_TREE_NONE (and tree->failed): no memory. */
uint32_t profile_tree_node(struct profile_tree *tree, const struct profile_tree_key *key);
void profile_tree_add_inclusive(struct profile_tree *tree, uint32_t node, const union profile_value *values);
void profile_tree_add_exclusive(struct profile_tree *tree, uint32_t node, const union profile_value *values);

/* Sorted rows down to `depth`, in the arena. `run` names rows without `like`. */
int profile_tree_rows(struct profile_tree *tree, const struct run *run, uint32_t depth,
	struct profile *profile, struct arena *arena, struct error *error);

/* Puts metrics of the streams' time sources, other sampled ones, and derived ones into profile->metrics, in
 * the arena. 0 or negative. */
int profile_metrics_find(struct profile *profile, struct run *run, const struct select *select,
	const struct window *window, struct arena *arena, struct error *error);
/* Computes the ratios in rows of values, each as wide as there are metrics. */
void profile_ratios(const struct profile *profile, union profile_value *values, size_t rows);

/* Adds integers modulo 2^64, doubles as they are. */
void value_add(const struct profile_metric *metric, union profile_value *sum, union profile_value value);
bool values_are_zero(const union profile_value *values, size_t count);

/* Samples at one line of one scope, in one of its loops. */
struct line_key {
	uint64_t file; /* "": only the loop is known */
	uint32_t scope, line, loop, unused;
};

/* Where a scope's cost is; needed because sums may be 0 (integers wrap, values have signs). */
#define SCOPE_MET_OWN 1u   /* in the scope itself */
#define SCOPE_MET_BELOW 2u /* in its callees */

/* Sums by scope: arrays [scope][metric]. */
struct scope_sums {
	struct run *run;
	uint32_t scope_count;
	union profile_value *inclusive, *exclusive;
	uint8_t *met;			  /* [scope] SCOPE_MET_*; 0: no row */
	struct key_ids lines;		  /* of line_key */
	union profile_value *line_values; /* [line][metric] */
};

/* Sets the profile's metrics (no rows yet) and the sums of the selected samples; call fini also after a
 * failure. */
int scope_sums_init(struct scope_sums *sums, struct profile *profile, struct run *run,
	const struct select *select, struct arena *arena, struct error *error);
void scope_sums_fini(struct scope_sums *sums);
/* Adds to the line and loop of a sampled position. False: no memory. */
bool scope_sums_add_line(struct scope_sums *sums, const struct run_context *context,
	const struct profile *profile, size_t metric, union profile_value value);
/* The place of a metric of the run among the profile's; metric_count: not there. */
size_t profile_metric_index(const struct profile *profile, uint32_t metric);

static inline const union profile_value *scope_inclusive(
	const struct profile_tree *tree, const struct scope_sums *sums, uint32_t scope)
{
	return sums->inclusive + scope * tree->metric_count;
}

static inline const union profile_value *scope_exclusive(
	const struct profile_tree *tree, const struct scope_sums *sums, uint32_t scope)
{
	return sums->exclusive + scope * tree->metric_count;
}

/* A tree of some streams alone, with the metrics of a profile. */
struct profile_part {
	struct run *run;
	const struct select *select;
	enum profile_view view;
	const uint32_t *streams;
	uint32_t count;
	struct arena *arena;
	bool counts; /* put the count of samples behind the metrics: a row of few is marked */
};
/* The selected streams that a profile sums: with instruction samples only if metrics are asked for, since
 * they are of as many metrics as there are reasons to stall. */
const uint32_t *profile_streams(const struct select *select, uint32_t *count);
int profile_tree_of(struct profile_tree *tree, const struct profile *profile, const struct profile_part *part,
	struct error *error);
/* profile_compute(), and the tree whose nodes its rows are; the caller ends the tree after a success. */
int profile_compute_tree(struct profile *profile, struct profile_tree *tree, struct run *run,
	const struct select *select, enum profile_view view, struct arena *arena, struct error *error);

/* The views: fill the tree below its root. Negative: no memory. */
int profile_top_down(struct profile_tree *tree, const struct scope_sums *sums);
int profile_flat(struct profile_tree *tree, const struct scope_sums *sums);
int profile_bottom_up(struct profile_tree *tree, const struct scope_sums *sums, uint32_t depth);

#endif
