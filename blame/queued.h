/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queued.h - when a process had work on its GPUs, queued or running: only then does a thread of its in a
 * synchronization call wait for something (S0 8.5: a synchronization of an idle GPU is work to be saved).
 *
 *   thread   |launch 7|        |sync~~~~~~~~~~~~~~~~|
 *   queue               .......|##### 7 ####|
 *   queued            |---------------------|       from the end of the call, by the same link
 */
#ifndef BLAME_QUEUED_H
#define BLAME_QUEUED_H

#include "blame/process.h"
#include "blame/sweep.h"

/* Work counts as queued for so long at most before it begins; so far beyond the window launches are sought.
 */
#define QUEUED_REACH_NS 1000000000ull

/* Spans in order, without overlap, on the heap (free()). Unless they are wanted anyway: none, without reading
 * the queues, when no thread is in a synchronization call in the window. */
int queued_find(struct sweep_span **spans, size_t *count, struct run *run, const struct process *process,
	uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway, struct error *error);

/* What a process's threads did, read once: the calls that launched its work, by link, and the spans that
 * their lines are made of. */
struct queued_launches;
/* Of the window and QUEUED_REACH_NS before it. */
int queued_launches_new(struct queued_launches **launches, struct run *run, const struct process *process,
	uint64_t begin_ns, uint64_t end_ns, struct error *error);
/* Whether a thread is in a synchronization call in the window: else nobody needs to know what is queued. */
bool queued_is_wanted(const struct queued_launches *launches);
/* For extent_open_read(), of the process's `thread`th CPU thread. */
const struct batch *queued_thread_spans(
	const struct queued_launches *launches, uint32_t thread, uint64_t *since_ns);
void queued_launches_free(struct queued_launches *launches);
/* Since when operations with these links that begin then are queued: not later than that. */
void queued_since(const struct queued_launches *launches, const uint64_t *links, const uint64_t *begins_ns,
	uint64_t *since_ns, size_t count);

#endif
