/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.h - maps a link to the end of the call that launched it. Links are mostly consecutive, over all
 * threads or per thread; then they index the rows of a few tables, without a search. Other links are kept as
 * sorted pairs; so are calls with a link that another call has.
 *
 *   pages  |  *  |  *  |  *  |  *  |   of a table; empty pages share one
 *             |     |     |
 *             |     |     + | 0 | 510 | 802 | 0 | ...    of link first, first + 1 ...: end_ns; 0: none
 *             +-----+------ long past: their memory is reused for later pages (launches_pass())
 */
#ifndef BLAME_LAUNCHES_H
#define BLAME_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAUNCHES_PAGE 8192u /* rows: 64 KiB, so that the rows of a second mostly stay in the cache */

/* A bit of an end: the call is long, its work may have begun long before the end. */
#define LAUNCHES_LONG (UINT64_C(1) << 63)

struct launch {
	uint64_t link, end_ns;
};

/* A table, or pairs. */
struct launches_part {
	uint64_t **pages;
	uint64_t first, rows; /* links of the table */
	uint64_t least, most; /* of the links added */
	uint64_t passed;      /* earlier pages are dropped, or do not change */
	struct launch *pairs;
	bool are_pairs;		     /* links too far apart for a table */
	size_t count, pair_capacity; /* of pairs; of a table, all links added */
};

#define LAUNCHES_PARTS 16u

/* All-zero is ready. */
struct launches {
	struct launches_part parts[LAUNCHES_PARTS];
	uint32_t count;
	struct launches_part again; /* pairs: links that have another end in a table */
	bool overlap;		    /* a table overlaps another, or there are pairs */
	uint64_t passed_ns;	    /* see launches_pass() */
	void *unused;		    /* list of pages */
};

/* Adds launches; link 0 and end 0 mean none. False: no memory. */
bool launches_put(struct launches *launches, const uint64_t *links, const uint64_t *ends_ns, size_t count);
/* Ends up to this time may be dropped from now on. */
void launches_pass(struct launches *launches, uint64_t time_ns);
/* Pairs must be sorted before a look-up, and again after more are added. */
bool launches_have_pairs(const struct launches *launches);
void launches_sort(struct launches *launches);
void launches_fini(struct launches *launches);

/* True when a call ended by then, or is long. */
static inline bool launches_counts(uint64_t end_ns, uint64_t until_ns)
{
	return (int64_t)end_ns <= (int64_t)until_ns;
}

#define LAUNCHES_TURN 8u

/* Keeps a loop rolled, so that the compiler vectorizes it. */
#define LAUNCHES_LOOP _Pragma("GCC unroll 1")

/* Number of leading links that are consecutive; 0 is never one of them. */
static inline size_t launches_in_turn(const uint64_t *links, size_t count)
{
	uint64_t least = links[0], until_zero = 0 - least;
	size_t n = 0;

	count = count < until_zero ? count : until_zero;
	for (; n + LAUNCHES_TURN <= count; n += LAUNCHES_TURN) {
		uint64_t differ = 0;

		LAUNCHES_LOOP
		for (uint64_t k = 0; k < LAUNCHES_TURN; k++)
			differ |= links[n + k] - (least + n) - k;
		if (differ)
			break;
	}
	return n;
}

/* End of the call with this link that ends by then, or is long; of several the last; 0: unknown. */
uint64_t launches_end(const struct launches *launches, uint64_t link, uint64_t until_ns);

/* The only table with this link; an empty one if there is none, or if several may have it. */
const struct launches_part *launches_table(const struct launches *launches, uint64_t link);
static inline bool launches_reach(const struct launches_part *table, uint64_t link)
{
	return link - table->least <= table->most - table->least;
}
/* The ends of a link in the table and of those after it; 0: unknown. */
static inline const uint64_t *launches_row(const struct launches_part *table, uint64_t link)
{
	uint64_t row = link - table->first;

	return &table->pages[row / LAUNCHES_PAGE][row % LAUNCHES_PAGE];
}
/* Number of consecutive links from there on whose rows are in the table, given that the first is. */
static inline size_t launches_rows(const struct launches_part *table, const uint64_t *links, size_t count)
{
	uint64_t left = table->most - links[0] + 1,
		 of_page = LAUNCHES_PAGE - (links[0] - table->first) % LAUNCHES_PAGE;

	left = left < of_page ? left : of_page;
	return launches_in_turn(links, count < left ? count : left);
}

#endif
