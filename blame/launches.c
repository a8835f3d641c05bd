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
static bool table_move(struct launches_part *part, uint64_t first, uint64_t rows)
{
	uint64_t *ends = ends_new(rows);

	if (!ends)
		return false;
	if (part->rows)
		memcpy(ends + (part->first - first), part->ends, part->rows * sizeof(*ends));
	ends_free(part->ends, part->rows);
	part->ends = ends;
	part->first = first;
	part->rows = rows;
	return true;
}

/* To more than twice the size, on the side where it is needed. */
static bool table_widen(struct launches_part *part, uint64_t least, uint64_t most, uint64_t expected)
{
	uint64_t first = part->first, end = first + part->rows, more = 2 * (part->rows + ROWS_LEAST);

	part->least = !part->rows || least < part->least ? least : part->least;
	part->most = !part->rows || most > part->most ? most : part->most;
	if (!part->rows)
		return table_move(part, least, most - least < expected ? expected : most - least + 1);
	if (least < first)
		first = least > more ? least - more : 0;
	if (most >= end)
		end = most < UINT64_MAX - more ? most + more : UINT64_MAX;
	return table_move(part, first, end - first);
}

/* Whether the table may reach so far. */
static bool is_near(const struct launches_part *part, uint64_t least, uint64_t most, size_t count)
{
	if (part->rows) {
		least = least < part->least ? least : part->least;
		most = most > part->most ? most : part->most;
	}
	return most < UINT64_MAX / 2 &&
	       most - least <= APART * (uint64_t)(part->count + count) + 4 * ROWS_LEAST;
}

/* Up to the first link that the table does not hold: its place, or `count`. */
static size_t table_put(
	struct launches_part *part, const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	uint64_t first = part->first, rows = part->rows, *ends = part->ends;

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

static bool pairs_put(struct launches_part *part, uint64_t link, uint64_t end_ns)
{
	if (part->count == part->pair_room) {
		size_t room = part->pair_room ? 2 * part->pair_room : 256;
		struct launch *pairs = realloc(part->pairs, room * sizeof(*pairs));

		if (!pairs)
			return false;
		part->pairs = pairs;
		part->pair_room = room;
	}
	part->pairs[part->count++] = (struct launch){link, end_ns};
	return true;
}

/* From now on. */
static bool pairs_begin(struct launches_part *part)
{
	uint64_t rows = part->rows;
	bool is_put = true;

	part->are_pairs = true;
	part->count = 0;
	for (uint64_t row = 0; row < rows && is_put; row++)
		if (part->ends[row])
			is_put = pairs_put(part, part->first + row, part->ends[row] - 1);
	ends_free(part->ends, rows);
	part->ends = NULL;
	part->rows = 0;
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
static void pairs_sort(struct launches_part *part)
{
	struct launch *pairs = part->pairs;
	size_t count = 0;

	if (!part->are_pairs || !part->count)
		return;
	qsort(pairs, part->count, sizeof(*pairs), pair_compare);
	for (size_t i = 0; i < part->count; i++)
		if (!count || pairs[count - 1].link != pairs[i].link)
			pairs[count++] = pairs[i];
	part->count = count;
}

static uint64_t pairs_find(const struct launches_part *part, uint64_t link)
{
	const struct launch *pairs = part->pairs;
	size_t low = 0, high = part->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs[middle].link < link)
			low = middle + 1;
		else
			high = middle;
	}
	return link && low < part->count && pairs[low].link == link ? pairs[low].end_ns : UINT64_MAX;
}

/* ---- a part ---- */

struct reach {
	uint64_t least, most; /* links, but for 0; most is 0 where there is none */
};

static struct reach reach_of(const uint64_t *links, size_t count)
{
	struct reach reach = {UINT64_MAX, 0};

	for (size_t i = 0; i < count; i++) {
		reach.least = links[i] && links[i] < reach.least ? links[i] : reach.least;
		reach.most = links[i] > reach.most ? links[i] : reach.most;
	}
	return reach;
}

/* A table reaches as far as these links, or gives way to pairs. */
static bool part_reach(struct launches_part *part, struct reach reach, size_t count, uint64_t expected)
{
	return is_near(part, reach.least, reach.most, count)
		       ? table_widen(part, reach.least, reach.most, expected)
		       : pairs_begin(part);
}

static bool part_put(struct launches_part *part, const uint64_t *links, const uint64_t *ends_ns, size_t count,
	uint64_t expected)
{
	size_t done = part->are_pairs ? 0 : table_put(part, links, ends_ns, count);

	if (done < count && !part->are_pairs) {
		if (!part_reach(part, reach_of(links + done, count - done), count - done, expected))
			return false;
		if (!part->are_pairs)
			done += table_put(part, links + done, ends_ns + done, count - done);
	}
	if (!part->are_pairs)
		part->count += count;
	for (; done < count; done++)
		if (links[done] && !pairs_put(part, links[done], ends_ns[done]))
			return false;
	return true;
}

static uint64_t part_end(const struct launches_part *part, uint64_t link)
{
	return part->are_pairs ? pairs_find(part, link) : launches_row(part, link);
}

/* ---- all ---- */

/* Where links go that the part at hand has no room for: to a table that they are near to, or to one of their
 * own; those that are far from each other to the pairs. The last part takes what is left. */
static uint32_t find_part(const struct launches *launches, struct reach reach, size_t count)
{
	static const struct launches_part none;
	bool are_near = is_near(&none, reach.least, reach.most, count);

	for (uint32_t i = 0; i < launches->count; i++) {
		const struct launches_part *part = &launches->parts[i];

		if (part->are_pairs ? !are_near : is_near(part, reach.least, reach.most, count))
			return i;
	}
	return launches->count < LAUNCHES_PARTS ? launches->count : LAUNCHES_PARTS - 1;
}

bool launches_put(struct launches *launches, const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	struct reach reach = reach_of(links, count);
	const struct launches_part *last = &launches->parts[launches->last];

	if (!reach.most)
		return true;
	if (!launches->count || reach.least - last->first >= last->rows ||
		reach.most - last->first >= last->rows)
		launches->last = find_part(launches, reach, count);
	launches->count += launches->last == launches->count;
	return part_put(&launches->parts[launches->last], links, ends_ns, count, launches->expected);
}

void launches_sort(struct launches *launches)
{
	const struct launches_part *parts = launches->parts;

	launches->are_apart = true;
	for (uint32_t i = 0; i < launches->count; i++) {
		pairs_sort(&launches->parts[i]);
		launches->are_apart &= !parts[i].are_pairs;
		for (uint32_t j = 0; j < i; j++)
			launches->are_apart &= parts[i].first - parts[j].first >= parts[j].rows &&
					       parts[j].first - parts[i].first >= parts[i].rows;
	}
}

uint64_t launches_end(const struct launches *launches, uint64_t link)
{
	uint64_t end_ns = UINT64_MAX;

	for (uint32_t i = 0; i < launches->count; i++) {
		uint64_t here_ns = part_end(&launches->parts[i], link);

		end_ns = here_ns < end_ns ? here_ns : end_ns;
	}
	return end_ns;
}

const struct launches_part *launches_table(
	const struct launches *launches, const uint64_t *links, size_t count)
{
	if (launches->count == 1)
		return launches->parts[0].are_pairs ? NULL : &launches->parts[0];
	for (uint32_t i = 0; i < launches->count && launches->are_apart; i++) {
		const struct launches_part *part = &launches->parts[i];
		uint64_t rows = part->rows, first = part->first, beyond = 0;

		if (links[0] - first >= rows)
			continue;
		for (size_t row = 0; row < count; row++)
			beyond |= (links[row] - first) | (rows - 1 - (links[row] - first));
		return beyond >> 63 ? NULL : part;
	}
	return NULL;
}

void launches_fini(struct launches *launches)
{
	for (uint32_t i = 0; i < launches->count; i++) {
		ends_free(launches->parts[i].ends, launches->parts[i].rows);
		free(launches->parts[i].pairs);
	}
}
