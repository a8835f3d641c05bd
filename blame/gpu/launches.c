/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c - see launches.h: which table a link goes to, and the pairs. */
#include "blame/gpu/launches_internal.h"

#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/avx2.h"

#define APART 4u /* rows of the table for a launch, at most */
#define ROWS_LEAST 65536u

/* Whether the table may reach so far. */
static bool is_near(const struct launches_part *part, struct launches_reach reach, size_t count)
{
	if (part->rows) {
		reach.least = reach.least < part->least ? reach.least : part->least;
		reach.most = reach.most > part->most ? reach.most : part->most;
	}
	return reach.most < UINT64_MAX / 2 &&
	       reach.most - reach.least <= APART * (uint64_t)(part->count + count) + 4 * ROWS_LEAST;
}

/* ---- pairs ---- */

static bool pairs_put(struct launches_part *part, uint64_t link, uint64_t end_ns)
{
	if (!array_widen(&part->pairs, &part->pair_capacity, part->count, sizeof *part->pairs))
		return false;
	part->pairs[part->count++] = (struct launch){link, end_ns};
	return true;
}

/* From now on. */
static bool pairs_begin(struct launches *launches, struct launches_part *part)
{
	bool is_put = true;

	part->are_pairs = launches->overlap = true;
	part->count = 0;
	for (uint64_t row = 0; row < part->rows && is_put; row++) {
		uint64_t end_ns = launches_table_row(part, row);

		if (end_ns)
			is_put = pairs_put(part, part->first + row, end_ns);
	}
	launches_table_free(part);
	return is_put;
}

static int pair_compare(const void *left, const void *right)
{
	const struct launch *a = left, *b = right;

	if (a->link != b->link)
		return a->link < b->link ? -1 : 1;
	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

/* By link, then by end. */
static void pairs_sort(struct launches_part *part)
{
	if (part->are_pairs && part->count)
		qsort(part->pairs, part->count, sizeof(*part->pairs), pair_compare);
}

bool launches_put_again(struct launches *launches, uint64_t link, uint64_t end_ns)
{
	launches->again.are_pairs = launches->overlap = true;
	return pairs_put(&launches->again, link, end_ns);
}

/* The first pair behind this one. */
static size_t pairs_behind(const struct launches_part *part, uint64_t link, uint64_t end_ns)
{
	const struct launch pair = {link, end_ns};
	size_t low = 0, high = part->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pair_compare(&part->pairs[middle], &pair) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The later one of those that count; 0: neither does. */
static uint64_t later(uint64_t a_ns, uint64_t b_ns, uint64_t until_ns)
{
	uint64_t end_a_ns = launches_counts(a_ns, until_ns) ? a_ns & ~LAUNCHES_LONG : 0;
	uint64_t end_b_ns = launches_counts(b_ns, until_ns) ? b_ns & ~LAUNCHES_LONG : 0;

	return end_a_ns < end_b_ns ? b_ns : end_a_ns ? a_ns : 0;
}

/* Long ones come last. */
static uint64_t pairs_find(const struct launches_part *part, uint64_t link, uint64_t until_ns)
{
	size_t till = pairs_behind(part, link, until_ns), last = pairs_behind(part, link, UINT64_MAX);
	uint64_t end_ns = 0;

	if (till && part->pairs[till - 1].link == link)
		end_ns = part->pairs[till - 1].end_ns;
	return last && part->pairs[last - 1].link == link
		       ? later(end_ns, part->pairs[last - 1].end_ns, until_ns)
		       : end_ns;
}

/* ---- all ---- */

static struct launches_reach find_reach(const uint64_t *links, size_t count)
{
	struct launches_reach reach = {UINT64_MAX, 0};

	for (size_t i = 0; i < count; i++) {
		size_t turn = launches_in_turn(links + i, count - i);

		reach.least = links[i] && links[i] < reach.least ? links[i] : reach.least;
		i += turn ? turn - 1 : 0;
		reach.most = links[i] > reach.most ? links[i] : reach.most;
	}
	return reach;
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static struct launches_reach find_reach_wide(const uint64_t *links, size_t count)
{
	return find_reach(links, count);
}
#endif

static struct launches_reach reach_of(const uint64_t *links, size_t count)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2())
		return find_reach_wide(links, count);
#endif
	return find_reach(links, count);
}

static uint64_t distance(const struct launches_part *part, struct launches_reach reach)
{
	if (reach.most < part->least)
		return part->least - reach.most;
	return reach.least > part->most ? reach.least - part->most : 0;
}

/* Where links go: to the table next to them that may reach so far, or to one of their own; those that are far
 * from each other to the pairs. The last part takes what is left. */
static uint32_t find_part(const struct launches *launches, struct launches_reach reach, size_t count)
{
	static const struct launches_part empty;
	bool are_near = is_near(&empty, reach, count);
	uint32_t best = launches->count < LAUNCHES_PARTS ? launches->count : LAUNCHES_PARTS - 1;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < launches->count; i++) {
		const struct launches_part *part = &launches->parts[i];

		if (part->are_pairs) {
			best = !are_near && least == UINT64_MAX ? i : best;
		} else if (is_near(part, reach, count) && distance(part, reach) < least) {
			best = i;
			least = distance(part, reach);
		}
	}
	return best;
}

/* A table has reached farther. */
static void tell_overlap(struct launches *launches, const struct launches_part *of)
{
	const struct launches_reach reach = {of->least, of->most};

	for (uint32_t i = 0; i < launches->count; i++)
		launches->overlap |= &launches->parts[i] != of && !distance(&launches->parts[i], reach);
}

static bool part_put(struct launches *launches, struct launches_part *part, struct launches_reach reach,
	const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	bool is_put = true;

	if (!part->are_pairs && !is_near(part, reach, count) && !pairs_begin(launches, part))
		return false;
	if (part->are_pairs) {
		for (size_t i = 0; i < count && is_put; i++)
			is_put = !links[i] || !ends_ns[i] || pairs_put(part, links[i], ends_ns[i]);
		return is_put;
	}
	if (!launches_table_widen(part, reach))
		return false;
	part->least = !part->count || reach.least < part->least ? reach.least : part->least;
	part->most = reach.most > part->most ? reach.most : part->most;
	tell_overlap(launches, part);
	return launches_table_put(launches, part, links, ends_ns, count);
}

bool launches_put(struct launches *launches, const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	struct launches_reach reach = reach_of(links, count);
	uint32_t number;

	if (!reach.most)
		return true;
	number = find_part(launches, reach, count);
	launches->count += number == launches->count;
	return part_put(launches, &launches->parts[number], reach, links, ends_ns, count);
}

void launches_pass(struct launches *launches, uint64_t time_ns)
{
	launches->passed_ns = time_ns;
}

bool launches_have_pairs(const struct launches *launches)
{
	bool have_pairs = launches->again.are_pairs;

	for (uint32_t i = 0; i < launches->count; i++)
		have_pairs |= launches->parts[i].are_pairs;
	return have_pairs;
}

void launches_sort(struct launches *launches)
{
	for (uint32_t i = 0; i < launches->count; i++)
		pairs_sort(&launches->parts[i]);
	pairs_sort(&launches->again);
}

uint64_t launches_end(const struct launches *launches, uint64_t link, uint64_t until_ns)
{
	uint64_t end_ns = pairs_find(&launches->again, link, until_ns);

	for (uint32_t i = 0; i < launches->count; i++) {
		const struct launches_part *part = &launches->parts[i];
		uint64_t here_ns = 0;

		if (part->are_pairs)
			here_ns = pairs_find(part, link, until_ns);
		else if (launches_reach(part, link))
			here_ns = launches_table_row(part, link - part->first);
		end_ns = later(end_ns, here_ns, until_ns);
	}
	return end_ns;
}

const struct launches_part *launches_table(const struct launches *launches, uint64_t link)
{
	for (uint32_t i = 0; i < launches->count && !launches->overlap; i++)
		if (launches_reach(&launches->parts[i], link))
			return &launches->parts[i];
	return &launches_nothing;
}

void launches_fini(struct launches *launches)
{
	for (uint32_t i = 0; i < launches->count; i++) {
		launches_table_free(&launches->parts[i]);
		free(launches->parts[i].pairs);
	}
	free(launches->again.pairs);
	launches_pages_free(launches);
}
