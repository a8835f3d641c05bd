/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.h - when the calls that launched work ended, by their links. Links are given in turn as a rule, by
 * all threads together or by each from a number of its own: then they number the rows of a few tables, in
 * which nothing is sought. Else pairs are sorted; and calls whose link another one has already.
 *
 *   pages  |  *  |  *  |  *  |  *  |   of a table; where nothing was put all share one
 *             |     |     |
 *             |     |     + | 0 | 510 | 802 | 0 | ...    of link first, first + 1 ...: end_ns; 0: none
 *             +-----+------ long over, and forgotten: the memory is that of later ones (launches_pass())
 */
#ifndef BLAME_LAUNCHES_H
#define BLAME_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAUNCHES_PAGE 8192u /* rows: 64 KiB, so that those of a second stay in the cache as a rule */

/* A bit of an end: the call is long, its work may have begun long before that. */
#define LAUNCHES_LONG (UINT64_C(1) << 63)

struct launch {
	uint64_t link, end_ns;
};

/* A table, or pairs. */
struct launches_part {
	uint64_t **pages;
	uint64_t first, rows; /* links of the table */
	uint64_t least, most; /* of those that were put */
	uint64_t passed;      /* pages: those before are forgotten, or stay as they are */
	struct launch *pairs;
	bool are_pairs;		     /* they are too far apart for a table */
	size_t count, pair_capacity; /* of pairs; of a table, all that was put */
};

#define LAUNCHES_PARTS 16u

/* All-zero is ready. */
struct launches {
	struct launches_part parts[LAUNCHES_PARTS];
	uint32_t count;
	struct launches_part again; /* pairs: their links have rows of tables, and other ends */
	bool overlap;		    /* a table reaches into another, or there are pairs */
	uint64_t passed_ns;	    /* see launches_pass() */
	void *unused;		    /* list of pages */
};

/* Link 0 is none, nor is an end of 0. False when memory is out. */
bool launches_put(struct launches *launches, const uint64_t *links, const uint64_t *ends_ns, size_t count);
/* Ends up to there may be forgotten from now on. */
void launches_pass(struct launches *launches, uint64_t time_ns);
/* Pairs must be sorted before a question, and again when something was put behind it. */
bool launches_have_pairs(const struct launches *launches);
void launches_sort(struct launches *launches);
void launches_fini(struct launches *launches);

/* Whether a call ended till then, or is long. */
static inline bool launches_counts(uint64_t end_ns, uint64_t until_ns)
{
	return (int64_t)end_ns <= (int64_t)until_ns;
}

#define LAUNCHES_TURN 8u

/* Of a loop over so many: they are to be looked at several at once, which written out they would not be. */
#define LAUNCHES_LOOP _Pragma("GCC unroll 1")

/* How many links are one more each, counted in turns of that many; 0 is none of them. */
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

/* The end of the call with this link that ends till then, or is long; of several the last; 0: none is known.
 */
uint64_t launches_end(const struct launches *launches, uint64_t link, uint64_t until_ns);

/* The one table that tells of this link; one that reaches but 0 where there is none, or more may. */
const struct launches_part *launches_table(const struct launches *launches, uint64_t link);
static inline bool launches_reach(const struct launches_part *table, uint64_t link)
{
	return link - table->least <= table->most - table->least;
}
/* The end of a link that it reaches, and of those behind it; 0: none is known. */
static inline const uint64_t *launches_row(const struct launches_part *table, uint64_t link)
{
	uint64_t row = link - table->first;

	return &table->pages[row / LAUNCHES_PAGE][row % LAUNCHES_PAGE];
}
/* How many links from there on are in turn, and their rows, too, where the first is reached. */
static inline size_t launches_rows(const struct launches_part *table, const uint64_t *links, size_t count)
{
	uint64_t left = table->most - links[0] + 1,
		 of_page = LAUNCHES_PAGE - (links[0] - table->first) % LAUNCHES_PAGE;

	left = left < of_page ? left : of_page;
	return launches_in_turn(links, count < left ? count : left);
}

#endif
