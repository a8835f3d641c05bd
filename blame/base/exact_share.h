/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact_share.h - parts of time that sum to the whole: kept in 2^-64 ns by context, rounded to ns by largest
 * remainder only when rows are made of them.
 */
#ifndef BLAME_EXACT_SHARE_H
#define BLAME_EXACT_SHARE_H

#include "store/base/arena.h"
#include "timeline/run/row_key.h"
#include "timeline/select/select.h"

/* ns with 64 fractional bits: 128-bit integers have no name in C11. */
typedef unsigned __int128 exact_share_fixed;

static inline exact_share_fixed exact_share_of(uint64_t time_ns, uint64_t sharers)
{
	exact_share_fixed time = (exact_share_fixed)time_ns << 64;

	/* One, two or four as a rule: the same without a division of 128 bits. */
	return (sharers & (sharers - 1)) ? time / sharers : time >> __builtin_ctzll(sharers);
}

/* Sums are compared by this: each part was rounded down, so that the same time in other pieces is some 2^-64
 * ns apart, and what is equal must not depend on how a sweep cut it. */
static inline exact_share_fixed exact_share_rank(exact_share_fixed sum)
{
	return (sum + ((exact_share_fixed)1 << 39)) >> 40;
}

/* Of equal ones, that of the context with the least path hash: numbers are others in a slice of the run. */
bool exact_share_is_larger(
	const struct run *run, exact_share_fixed a, uint32_t context, exact_share_fixed b, uint32_t than);

/* What a context was charged. */
struct exact_share {
	uint32_t context; /* of the run */
	exact_share_fixed amount;
};

/* Sums by context, grown as contexts come. All-zero is ready. */
struct exact_share_sums {
	exact_share_fixed *amount;
	size_t count;
};
bool exact_share_sums_add(
	struct exact_share_sums *sums, uint32_t context, exact_share_fixed amount); /* false: memory */
/* Those that are not zero, by context; in `arena`. */
int exact_share_sums_list(const struct exact_share_sums *sums, struct exact_share **shares, size_t *count,
	struct arena *arena, struct error *error);
void exact_share_sums_clear(struct exact_share_sums *sums); /* to zero, with its room */
void exact_share_sums_fini(struct exact_share_sums *sums);

/* Writes whole ns that sum to the amounts' sum, itself rounded to the nearest ns: what is missing after
 * rounding down goes to the largest remainders, of equal ones to those with the least keys, which tell what
 * an amount belongs to: places in a table are others in a slice of the run. Returns the sum. `order` is
 * scratch of `count`.
 */
uint64_t exact_share_round(const exact_share_fixed *amounts, const uint64_t *keys, uint64_t *times_ns,
	size_t *order, size_t count);

/* Whether much of it, a quarter, is in what a script asked for (row_key_is_script). */
bool exact_share_is_script(const struct run *run, const struct exact_share *shares, size_t count);

struct exact_share_row {
	const char *key; /* escaped, as the TSV prints it */
	uint64_t time_ns;
	uint32_t context; /* the one of this key with the largest share */
};

struct exact_share_rows {
	struct exact_share_row *rows; /* by descending time, then key; none of 0 ns */
	size_t count;
	uint64_t total_ns; /* their sum */
};

/* Shares whose contexts the selector wants (NULL: all), by key. In `arena`. */
int exact_share_rows_make(struct exact_share_rows *rows, const struct run *run,
	const struct exact_share *shares, size_t count, const struct select *select, enum row_key_by by,
	uint32_t depth, struct arena *arena, struct error *error);

#endif
