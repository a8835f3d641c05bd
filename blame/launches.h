/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launches.h - when the calls that launched work ended, by their links. Links are given in turn as a rule, by
 * all threads together or by each from a number of its own: then they number the rows of a few tables, in
 * which nothing is sought. Else pairs are sorted.
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

/* A table, or pairs. */
struct launches_part {
	uint64_t *ends;
	uint64_t first, rows; /* links of the table */
	uint64_t least, most; /* of those that it was made, and widened, for */
	struct launch *pairs;
	bool are_pairs;		 /* they are too far apart for a table */
	size_t count, pair_room; /* of pairs; of a table, all that was put */
};

#define LAUNCHES_PARTS 16u

/* All-zero is ready. */
struct launches {
	struct launches_part parts[LAUNCHES_PARTS];
	uint32_t count, last; /* parts; the one that was put into last */
	bool are_apart;	      /* tables alone, none of which reaches into another */
	uint64_t expected;    /* so many launches are to come, about: then a table need not grow */
};

/* Of one with several ends the first counts; link 0 is none. False when memory is out. */
bool launches_put(struct launches *launches, const uint64_t *links, const uint64_t *ends_ns, size_t count);
/* Before the first question. */
void launches_sort(struct launches *launches);
void launches_fini(struct launches *launches);
/* The end of the call with this link; UINT64_MAX: none is known. */
static inline uint64_t launches_row(const struct launches_part *part, uint64_t link)
{
	uint64_t row = link - part->first;

	return (row < part->rows ? part->ends[row] : 0) - 1;
}
uint64_t launches_end(const struct launches *launches, uint64_t link);
/* Whose launches_row() tells of all of these links what there is; NULL: there is no such table. */
const struct launches_part *launches_table(
	const struct launches *launches, const uint64_t *links, size_t count);

#endif
