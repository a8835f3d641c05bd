/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_share.h - parts of time that sum to the whole: kept in 2^-64 ns by context, and rounded to ns by
 * largest remainder only for output rows.
 */
#ifndef BLAME_EXACT_SHARE_H
#define BLAME_EXACT_SHARE_H

#include "store/base/arena.h"
#include "timeline/base/key_ids.h"
#include "timeline/report/stream_groups.h"
#include "timeline/run/row_key.h"
#include "timeline/select/select.h"

/* ns with 64 fractional bits; C11 has no name for 128-bit integers. */
typedef unsigned __int128 exact_share_fixed;

static inline exact_share_fixed exact_share_of(uint64_t time_ns, uint64_t sharers)
{
	exact_share_fixed time = (exact_share_fixed)time_ns << 64;

	/* Mostly one, two or four: avoids a 128-bit division. */
	return (sharers & (sharers - 1)) ? time / sharers : time >> __builtin_ctzll(sharers);
}

/* Sort key of sums: each part was rounded down, so equal times split differently differ by a few 2^-64 ns;
 * rounding removes that, so that ties do not depend on how a sweep split the time. */
static inline exact_share_fixed exact_share_rank(exact_share_fixed sum)
{
	return (sum + ((exact_share_fixed)1 << 39)) >> 40;
}

/* Ties: the context with the smallest path hash is larger, because a slice of the run has other context
 * numbers. */
bool exact_share_is_larger(
	const struct run *run, exact_share_fixed a, uint32_t context, exact_share_fixed b, uint32_t than);

/* Time charged to a context. */
struct exact_share {
	uint32_t context; /* of the run */
	uint32_t group;	  /* of streams, in which the time was; STREAM_GROUPS_NONE where nobody asks */
	exact_share_fixed amount;
};

/* Sums by context, growing as needed. All-zero is ready. With `groups` they are by context and group. */
struct exact_share_sums {
	exact_share_fixed *amount; /* by context; with `groups` by number in `pairs` */
	size_t count;
	const struct stream_groups *groups;
	struct key_ids pairs; /* context, group */
};
/* Without groups. Each: false: no memory. */
bool exact_share_sums_add(struct exact_share_sums *sums, uint32_t context, exact_share_fixed amount);
/* Of that stream of the run. */
bool exact_share_sums_add_of(
	struct exact_share_sums *sums, uint32_t stream, uint32_t context, exact_share_fixed amount);
/* A share as exact_share_sums_next() gives it. */
bool exact_share_sums_put(struct exact_share_sums *sums, const struct exact_share *share);
/* The nonzero sums one by one, *at from 0; false: no more. */
bool exact_share_sums_next(const struct exact_share_sums *sums, size_t *at, struct exact_share *share);
/* Adds all of another's, which has the same groups. */
bool exact_share_sums_join(struct exact_share_sums *to, const struct exact_share_sums *from);
/* The nonzero sums, by context; in `arena`. */
int exact_share_sums_list(const struct exact_share_sums *sums, struct exact_share **shares, size_t *count,
	struct arena *arena, struct error *error);
void exact_share_sums_clear(struct exact_share_sums *sums); /* sets all to zero, keeps the memory */
void exact_share_sums_fini(struct exact_share_sums *sums);

/* Writes whole ns that sum to the amounts' sum, itself rounded to the nearest ns: the rest after rounding
 * down goes to the largest remainders, of equal ones to the smallest keys. Keys identify what an amount
 * belongs to (array indices differ in a slice of the run). Returns the sum. `order` is scratch for `count`
 * entries. */
uint64_t exact_share_round(const exact_share_fixed *amounts, const uint64_t *keys, uint64_t *times_ns,
	size_t *order, size_t count);

/* True when at least a quarter of the time is in work that a script caused (row_key_is_script). */
bool exact_share_is_script(const struct run *run, const struct exact_share *shares, size_t count);

struct exact_share_row {
	const char *key; /* escaped as in the TSV */
	uint64_t time_ns;
	uint32_t context; /* the context of this key with the largest share */
};

struct exact_share_rows {
	struct exact_share_row *rows; /* by descending time, then key; without rows of 0 ns */
	size_t count;
	uint64_t total_ns; /* their sum */
};

/* Rows by key, of shares whose contexts the selector includes (NULL: all); or by the groups that the shares
 * were summed by (NULL: none). In `arena`. */
int exact_share_rows_make(struct exact_share_rows *rows, const struct run *run,
	const struct exact_share *shares, size_t count, const struct select *select, enum row_key_by by,
	uint32_t depth, const struct stream_groups *groups, struct arena *arena, struct error *error);

#endif
