/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - memory in use at a moment, by who allocated it: what `-e MEMLEAK` counted as allocated until then,
 * without what was freed of it, or the same of GPUs' memory; and the moment when it was most.
 */
#ifndef TIMELINE_LIVE_H
#define TIMELINE_LIVE_H

#include "store/base/arena.h"
#include "timeline/base/key_ids.h"
#include "timeline/stats/stats.h"

#define LIVE_METRIC "MEMLEAK:live"
#define LIVE_GPU_METRIC "GPUMEM:live" /* of GPUs' memory, from the operations that allocate and free it */

struct live_row {
	const char *key;    /* as in the TSV */
	int64_t live_bytes; /* negative: of what was allocated before the first count of it (a share was
			       followed) */
	uint64_t allocated_bytes, freed_bytes;
};

struct live {
	struct live_row *rows; /* by descending bytes in use, then key; in the arena */
	size_t count;
	int64_t live_bytes; /* of all rows */
};

/* For these streams at `at_ns`. `by`: a key of a context (stats_by_row_key). ERROR_USAGE: the run has no such
 * counts. */
struct select;
int live_compute(struct live *live, struct run *run, const struct select *select, uint64_t at_ns,
	enum stats_by by, struct arena *arena, struct error *error);
/* When most was in use, of these streams together, as far as counts came: with each sample of a thread. 0:
 * never any. */
int live_peak(
	uint64_t *at_ns, int64_t *bytes, struct run *run, const struct select *select, struct error *error);

/* The same of GPUs' memory, and when most of it was in use. `at_ns`: what happened before it counts.
 * ERROR_USAGE: the run has no such operations. */
struct live_peak {
	uint64_t at_ns;
	int64_t bytes;
};
int live_gpu_compute(struct live *live, struct live_peak *peak, struct run *run, const struct select *select,
	uint64_t at_ns, enum stats_by by, struct arena *arena, struct error *error);

/* Rows while they are summed up; for live*.c. */
struct live_folding {
	struct run *run;
	struct key_ids keys;
	struct live_row *rows;
	size_t room;
	struct store_bytes key;
	struct arena *arena;
	enum stats_by by;
	uint32_t depth;
};
void live_folding_init(
	struct live_folding *folding, struct run *run, enum stats_by by, uint32_t depth, struct arena *arena);
/* NULL: no memory. Valid until the next. */
struct live_row *live_row_of(struct live_folding *folding, uint32_t context, uint32_t stream);
/* Sorts the rows into `live` and ends the folding; `rc` is what happened before. */
int live_folding_end(struct live *live, struct live_folding *folding, int rc, struct error *error);

#endif
