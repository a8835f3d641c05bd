/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_pool.h - runs several workers (timeline/names/names_worker.h) at once: modules with many addresses
 * one after another, each in parts (timeline/names/names_fork.h), then the others in parallel.
 *
 *   tasks  t0 t1 t2 t3 ...   --next task to the next free one-->   worker 0, worker 1 ...
 */
#ifndef TIMELINE_NAMES_POOL_H
#define TIMELINE_NAMES_POOL_H

#include "timeline/names/names_worker.h"

#define NAMES_POOL_MAX 16u

struct names_pool;

/* One request. */
struct names_task {
	struct symbol_request request;
	names_take *take;
	void *context;
	char note[NAMES_NOTE_BYTES]; /* as of names_worker_ask() */
};

/* `jobs`: at most so many workers; 0: one for every two processors available to this process. */
int names_pool_open(
	struct names_pool **pool, const struct names_options *options, unsigned jobs, struct error *error);
void names_pool_close(struct names_pool *pool);
/* Sends all requests; `take` gets one answer at a time, in the order of a task's offsets, with several tasks
 * interleaved. Returns 0, or negative at the first failure, which skips the rest. */
int names_pool_ask(struct names_pool *pool, struct names_task *tasks, size_t count, struct error *error);

#endif
