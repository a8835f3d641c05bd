/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c - see launches.h. */
#include "blame/launches.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define APART 4u /* rows of the table for a launch, at most */
#define ROWS_LEAST 65536u
#define HUGE_BYTES (UINT64_C(2) << 20)

/* ---- the table ---- */

/* All-zero. Large ones lie in huge pages where there are any: most of what a table costs is to get its
 * memory. */
static uint64_t *ends_new(uint64_t rows)
{
	size_t bytes = rows * sizeof(uint64_t);
	void *ends;

	if (bytes < HUGE_BYTES)
		return calloc(rows, sizeof(uint64_t));
	ends = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ends == MAP_FAILED)
		return NULL;
	madvise(ends, bytes, MADV_HUGEPAGE);
	return ends;
}

static void ends_free(uint64_t *ends, uint64_t rows)
{
	if (rows * sizeof(*ends) < HUGE_BYTES)
		free(ends);
	else
		munmap(ends, rows * sizeof(*ends));
}

/* Rows of links from `first` on, `rows` of them, with what was there. */
static bool table_move(struct launches *launches, uint64_t first, uint64_t rows)
{
	uint64_t *ends = ends_new(rows);

	if (!ends)
		return false;
	if (launches->rows)
		memcpy(ends + (launches->first - first), launches->ends, launches->rows * sizeof(*ends));
	ends_free(launches->ends, launches->rows);
	launches->ends = ends;
	launches->first = first;
	launches->rows = rows;
	return true;
}

/* To more than twice the size, on the side where it is needed. */
static bool table_widen(struct launches *launches, uint64_t least, uint64_t most)
{
	uint64_t first = launches->first, end = first + launches->rows,
		 more = 2 * (launches->rows + ROWS_LEAST);

	if (!launches->rows)
		return table_move(launches, least,
			most - least < launches->expected ? launches->expected : most - least + 1);
	if (least < first)
		first = least > more ? least - more : 0;
	if (most >= end)
		end = most < UINT64_MAX - more ? most + more : UINT64_MAX;
	return table_move(launches, first, end - first);
}

/* Whether the table may reach so far. */
static bool is_near(const struct launches *launches, uint64_t least, uint64_t most, size_t count)
{
	if (launches->rows) {
		least = least < launches->first ? least : launches->first;
		most = most > launches->first + launches->rows - 1 ? most
								   : launches->first + launches->rows - 1;
	}
	return most < UINT64_MAX / 2 &&
	       most - least <= APART * (uint64_t)(launches->count + count) + 4 * ROWS_LEAST;
}

/* Up to the first link that the table does not hold: its place, or `count`. */
static size_t table_put(
	struct launches *launches, const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	uint64_t first = launches->first, rows = launches->rows, *ends = launches->ends;

	for (size_t i = 0; i < count; i++) {
		uint64_t row = links[i] - first, end = ends_ns[i] + 1;

		if (row < rows && links[i])
			ends[row] = ends[row] - 1 < end - 1 ? ends[row] : end;
		else if (links[i])
			return i;
	}
	return count;
}

/* ---- pairs ---- */

static bool pairs_put(struct launches *launches, uint64_t link, uint64_t end_ns)
{
	if (launches->count == launches->pair_room) {
		size_t room = launches->pair_room ? 2 * launches->pair_room : 256;
		struct launch *pairs = realloc(launches->pairs, room * sizeof(*pairs));

		if (!pairs)
			return false;
		launches->pairs = pairs;
		launches->pair_room = room;
	}
	launches->pairs[launches->count++] = (struct launch){link, end_ns};
	return true;
}

/* From now on. */
static bool pairs_begin(struct launches *launches)
{
	uint64_t rows = launches->rows;
	bool is_put = true;

	launches->are_pairs = true;
	launches->count = 0;
	for (uint64_t row = 0; row < rows && is_put; row++)
		if (launches->ends[row])
			is_put = pairs_put(launches, launches->first + row, launches->ends[row] - 1);
	ends_free(launches->ends, rows);
	launches->ends = NULL;
	launches->rows = 0;
	return is_put;
}

static int pair_compare(const void *left, const void *right)
{
	const struct launch *a = left, *b = right;

	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

/* By link; of equal ones the first counts, and the others go. */
void launches_sort(struct launches *launches)
{
	struct launch *pairs = launches->pairs;
	size_t count = 0;

	if (!launches->are_pairs || !launches->count)
		return;
	qsort(pairs, launches->count, sizeof(*pairs), pair_compare);
	for (size_t i = 0; i < launches->count; i++)
		if (!count || pairs[count - 1].link != pairs[i].link)
			pairs[count++] = pairs[i];
	launches->count = count;
}

uint64_t launches_find(const struct launches *launches, uint64_t link)
{
	const struct launch *pairs = launches->pairs;
	size_t low = 0, high = launches->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs[middle].link < link)
			low = middle + 1;
		else
			high = middle;
	}
	return link && low < launches->count && pairs[low].link == link ? pairs[low].end_ns : UINT64_MAX;
}

/* ---- both ---- */

/* The table reaches as far as these links, or gives way to pairs. */
static bool reach(struct launches *launches, const uint64_t *links, size_t count)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < count; i++) {
		least = links[i] && links[i] < least ? links[i] : least;
		most = links[i] > most ? links[i] : most;
	}
	return is_near(launches, least, most, count) ? table_widen(launches, least, most)
						     : pairs_begin(launches);
}

bool launches_put(struct launches *launches, const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	size_t done = launches->are_pairs ? 0 : table_put(launches, links, ends_ns, count);

	if (done < count && !launches->are_pairs) {
		if (!reach(launches, links + done, count - done))
			return false;
		if (!launches->are_pairs)
			done += table_put(launches, links + done, ends_ns + done, count - done);
	}
	if (!launches->are_pairs)
		launches->count += count;
	for (; done < count; done++)
		if (links[done] && !pairs_put(launches, links[done], ends_ns[done]))
			return false;
	return true;
}

void launches_fini(struct launches *launches)
{
	ends_free(launches->ends, launches->rows);
	free(launches->pairs);
}
