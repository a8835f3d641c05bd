/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.h - when the calls that launched work ended, by their links. Links are given in turn as a rule:
 * then they number the rows of a table, in which nothing is sought. Else pairs are sorted.
 *
 *   ends   | 0 | 511 | 803 | 0 | 906 | ...        of link first, first + 1 ...: end_ns + 1; 0: no such launch
 */
#ifndef BLAME_LAUNCHES_H
#define BLAME_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch {
	uint64_t link, end_ns;
};

/* All-zero is ready. */
struct launches {
	uint64_t *ends;
	uint64_t first, rows; /* links of the table */
	struct launch *pairs;
	bool are_pairs;		 /* they are too far apart for a table */
	size_t count, pair_room; /* of pairs; of a table, all that was put */
	uint64_t expected;	 /* so many are to come, about: then the table need not grow */
};

/* Of one with several ends the first counts; link 0 is none. False when memory is out. */
bool launches_put(struct launches *launches, const uint64_t *links, const uint64_t *ends_ns, size_t count);
/* Before the first question. */
void launches_sort(struct launches *launches);
void launches_fini(struct launches *launches);
/* The end of the call with this link; UINT64_MAX: none is known. */
static inline uint64_t launches_row(const struct launches *launches, uint64_t link)
{
	uint64_t row = link - launches->first;

	return (row < launches->rows ? launches->ends[row] : 0) - 1;
}
uint64_t launches_find(const struct launches *launches, uint64_t link);
static inline uint64_t launches_end(const struct launches *launches, uint64_t link)
{
	return launches->are_pairs ? launches_find(launches, link) : launches_row(launches, link);
}

#endif
