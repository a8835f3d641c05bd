/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_tree.h - inside the profile: what views build (nodes with sums) and what they build it from
 * (scopes with sums). Only profile*.c include it.
 */
#ifndef TIMELINE_PROFILE_TREE_H
#define TIMELINE_PROFILE_TREE_H

#include "timeline/base/key_ids.h"
#include "timeline/profile/profile.h"

struct window;

#define PROFILE_TREE_ROOT 0u
#define PROFILE_TREE_NONE UINT32_MAX

/* Where a node hangs and what it is: the same key is the same node. Strings are interned by the run. */
struct profile_tree_key {
	uint64_t what; /* function, loop: its id; line: 0; file, module: the string */
	uint64_t file; /* the string: position of the row */
	uint32_t parent, kind, line, is_definition;
};

struct profile_tree {
	const struct profile_metric *metrics;
	size_t metric_count;
	struct key_ids nodes;	     /* of tree_key */
	union profile_value *values; /* [node][inclusive, exclusive][metric] */
	size_t capacity;
	bool failed;
	const struct profile_row *const *like; /* by node: what the row says; NULL: what its key does */
};

/* With the root alone; `metrics` must outlive it. Negative: memory is out. */
int profile_tree_init(struct profile_tree *tree, const struct profile_metric *metrics, size_t metric_count);
void profile_tree_fini(struct profile_tree *tree);
/* The node, made if need be; PROFILE_TREE_NONE (and tree->failed) when memory is out. */
uint32_t profile_tree_node(struct profile_tree *tree, const struct profile_tree_key *key);
void profile_tree_add_inclusive(struct profile_tree *tree, uint32_t node, const union profile_value *values);
void profile_tree_add_exclusive(struct profile_tree *tree, uint32_t node, const union profile_value *values);

/* Sorted rows down to `depth`, in the arena. `run` names them, where `like` does not. */
int profile_tree_rows(struct profile_tree *tree, const struct run *run, uint32_t depth,
	struct profile *profile, struct arena *arena, struct error *error);

/* Metrics of the streams' time sources, those that were sampled besides, and derived ones go
 * to profile->metrics, which the arena has. 0 or negative. */
int profile_metrics_find(struct profile *profile, struct run *run, const struct select *select,
	const struct window *window, struct arena *arena, struct error *error);
/* Fills what is a ratio of others in rows of values, each as wide as there are metrics. */
void profile_ratios(const struct profile *profile, union profile_value *values, size_t rows);

/* Whole numbers modulo 2^64, the others as they are. */
void value_add(const struct profile_metric *metric, union profile_value *sum, union profile_value value);
bool values_are_zero(const union profile_value *values, size_t count);

/* Samples at one line of one scope, in one of its loops. */
struct line_key {
	uint64_t file; /* "": only the loop is known */
	uint32_t scope, line, loop, unused;
};

/* What adds to a scope's sums, which may come out as nothing: numbers are summed modulo 2^64, values have
 * signs. */
#define SCOPE_MET_OWN 1u   /* it is right in the scope */
#define SCOPE_MET_BELOW 2u /* it is in what the scope calls */

/* Sums by scope: arrays [scope][metric]. */
struct scope_sums {
	struct run *run;
	uint32_t scope_count;
	union profile_value *inclusive, *exclusive;
	uint8_t *met;			  /* [scope] SCOPE_MET_*; 0: it has no row */
	struct key_ids lines;		  /* of line_key */
	union profile_value *line_values; /* [line][metric] */
};

/* Metrics of the profile (rows stay none) and sums of the selected samples; fini also after a failure. */
int scope_sums_init(struct scope_sums *sums, struct profile *profile, struct run *run,
	const struct select *select, struct arena *arena, struct error *error);
void scope_sums_fini(struct scope_sums *sums);

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

/* The views: fill the tree, whose root is there. Negative: memory is out. */
int profile_top_down(struct profile_tree *tree, const struct scope_sums *sums);
int profile_flat(struct profile_tree *tree, const struct scope_sums *sums);
int profile_bottom_up(struct profile_tree *tree, const struct scope_sums *sums, uint32_t depth);

#endif
