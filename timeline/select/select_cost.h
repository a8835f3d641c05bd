/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_cost.h - what @cost and @own of a pattern compare: how much time of a window and of some streams
 * lies in each node of the expanded tree, at work and in waits, of threads and of GPU queues.
 *
 *   contexts' sums --own--> scopes, loops, lines --children first--> inclusive, of the callers' loops and
 * lines too
 */
#ifndef TIMELINE_SELECT_COST_H
#define TIMELINE_SELECT_COST_H

#include "timeline/run/run.h"

struct select_cost;

struct select_cost_time {
	uint64_t inclusive_ns, own_ns;
};

/* Reads the window's sums. The caller frees it. */
int select_cost_new(struct select_cost **cost, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, struct error *error);
void select_cost_free(struct select_cost *cost);

uint64_t select_cost_total_ns(const struct select_cost *cost);
/* What lies in no context of the window costs nothing; without costs (NULL) nothing costs anything. */
struct select_cost_time select_cost_scope(const struct select_cost *cost, uint32_t scope);
struct select_cost_time select_cost_loop(const struct select_cost *cost, uint32_t scope, uint32_t loop);
struct select_cost_time select_cost_line(
	const struct select_cost *cost, uint32_t scope, const char *file, uint32_t line);

#endif
