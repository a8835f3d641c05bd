/* SPDX-License-Identifier: Apache-2.0 */
/* launches_table.c - see launches.h: pages of a table, and the step from one link to the next. */
#include <stdlib.h>
#include <string.h>

#include "blame/gpu/launches_internal.h"
#include "store/base/avx2.h"

/* ---- pages ---- */

static uint64_t none[LAUNCHES_PAGE]; /* an empty page, never written */

static void page_give_back(struct launches *launches, uint64_t *page)
{
	memcpy(page, &launches->unused, sizeof(launches->unused));
	launches->unused = page;
}

static bool is_over(const uint64_t *ends, uint64_t time_ns)
{
	uint64_t late = time_ns;

	if ((ends[LAUNCHES_PAGE - 1] & ~LAUNCHES_LONG) > time_ns)
		return false;
	/* The sign of a difference is the result; without comparisons the loop is vectorized. */
	for (size_t row = 0; row < LAUNCHES_PAGE; row++)
		late |= time_ns - (ends[row] & ~LAUNCHES_LONG);
	return !(late >> 63);
}

/* Pages of which all is over are forgotten. */
static void part_pass(struct launches *launches, struct launches_part *part)
{
	uint64_t last = (part->most - part->first) / LAUNCHES_PAGE;

	for (; !part->are_pairs && part->passed < last; part->passed++) {
		uint64_t **page = &part->pages[part->passed];

		if (*page == none)
			continue;
		if (!is_over(*page, launches->passed_ns))
			return;
		page_give_back(launches, *page);
		*page = none;
	}
}

/* All-zero; NULL: no memory. */
static uint64_t *page_new(struct launches *launches)
{
	uint64_t *page;

	if (!launches->unused && launches->passed_ns)
		for (uint32_t i = 0; i < launches->count; i++)
			part_pass(launches, &launches->parts[i]);
	page = launches->unused;
	if (!page)
		return calloc(1, sizeof(none));
	memcpy(&launches->unused, page, sizeof(launches->unused));
	return memset(page, 0, sizeof(none));
}

/* One to be written; NULL: no memory. */
static uint64_t *page_open(struct launches *launches, uint64_t **page)
{
	uint64_t *ends = *page == none ? page_new(launches) : *page;

	if (ends)
		*page = ends;
	return ends;
}

/* ---- the table ---- */

bool launches_table_widen(struct launches_part *part, struct launches_reach reach)
{
	uint64_t first = reach.least / LAUNCHES_PAGE * LAUNCHES_PAGE;
	uint64_t end = (reach.most / LAUNCHES_PAGE + 1) * LAUNCHES_PAGE;
	uint64_t before = part->first, behind = before + part->rows, more = part->rows;
	uint64_t **pages;

	if (part->rows && first >= before && end <= behind)
		return true;
	if (part->rows) {
		first = first >= before ? before : first > more ? first - more : 0;
		end = end <= behind ? behind : end + more;
	}
	pages = malloc((end - first) / LAUNCHES_PAGE * sizeof(*pages));
	if (!pages)
		return false;
	for (uint64_t page = 0; page < (end - first) / LAUNCHES_PAGE; page++)
		pages[page] = none;
	if (part->rows)
		memcpy(pages + (before - first) / LAUNCHES_PAGE, part->pages,
			part->rows / LAUNCHES_PAGE * sizeof(*pages));
	free(part->pages);
	part->passed = first == before ? part->passed : 0;
	part->pages = pages;
	part->first = first;
	part->rows = end - first;
	return true;
}

/* How many links are one more each while none of their rows is there, counted in turns. */
static size_t count_new(const uint64_t *links, const uint64_t *rows, size_t count)
{
	uint64_t least = links[0];
	size_t n = 0;

	for (; n + LAUNCHES_TURN <= count; n += LAUNCHES_TURN) {
		uint64_t differ = 0;

		LAUNCHES_LOOP
		for (uint64_t k = 0; k < LAUNCHES_TURN; k++)
			differ |= (links[n + k] - (least + n) - k) | rows[n + k];
		if (differ)
			break;
	}
	return n;
}

/* Up to the first one that is not of the page, or none, or whose row has another end: how many. */
static size_t page_put(
	uint64_t *page, uint64_t first, const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	size_t i = 0;

	while (i < count && links[i] - first < LAUNCHES_PAGE && links[i]) {
		uint64_t *restrict row = &page[links[i] - first], end_ns = ends_ns[i];
		size_t left = LAUNCHES_PAGE - (links[i] - first);
		size_t n = count_new(links + i, row, count - i < left ? count - i : left);

		for (size_t k = 0; k < n; k++)
			row[k] = ends_ns[i + k];
		i += n;
		if (n)
			continue;
		if (*row && end_ns && *row != end_ns)
			break;
		*row |= end_ns;
		i++;
	}
	return i;
}

static bool table_put(struct launches *launches, struct launches_part *part, const uint64_t *links,
	const uint64_t *ends_ns, size_t count)
{
	for (size_t i = 0; i < count;) {
		uint64_t number = (links[i] - part->first) / LAUNCHES_PAGE, *page;
		size_t n;

		if (!links[i]) {
			i++;
			continue;
		}
		page = page_open(launches, &part->pages[number]);
		if (!page)
			return false;
		n = page_put(page, part->first + number * LAUNCHES_PAGE, links + i, ends_ns + i, count - i);
		if (!n && !launches_put_again(launches, links[i], ends_ns[i]))
			return false;
		i += n ? n : 1;
	}
	part->count += count;
	return true;
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static bool table_put_wide(struct launches *launches, struct launches_part *part,
	const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	return table_put(launches, part, links, ends_ns, count);
}
#endif

bool launches_table_put(struct launches *launches, struct launches_part *part, const uint64_t *links,
	const uint64_t *ends_ns, size_t count)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2())
		return table_put_wide(launches, part, links, ends_ns, count);
#endif
	return table_put(launches, part, links, ends_ns, count);
}

void launches_table_free(struct launches_part *part)
{
	for (uint64_t page = 0; page < part->rows / LAUNCHES_PAGE; page++)
		if (part->pages[page] != none)
			free(part->pages[page]);
	free(part->pages);
	part->pages = NULL;
	part->rows = 0;
}

uint64_t launches_table_row(const struct launches_part *part, uint64_t row)
{
	return part->pages[row / LAUNCHES_PAGE][row % LAUNCHES_PAGE];
}

void launches_pages_free(struct launches *launches)
{
	while (launches->unused) {
		void *page = launches->unused;

		memcpy(&launches->unused, page, sizeof(launches->unused));
		free(page);
	}
}

static uint64_t *nothing[] = {none};
const struct launches_part launches_nothing = {.pages = nothing, .rows = LAUNCHES_PAGE};
