/* SPDX-License-Identifier: Apache-2.0 */
/* launches.c - see launches.h. */
#include "blame/launches.h"

#include <stdlib.h>
#include <string.h>

#define APART 4u /* rows of the table for a launch, at most */
#define ROWS_LEAST 65536u

struct reach {
	uint64_t least, most; /* links, but for 0; most is 0 where there is none */
};

/* ---- pages ---- */

static uint64_t none[LAUNCHES_PAGE]; /* nothing was put, and nobody writes */

static void page_give_back(struct launches *launches, uint64_t *page)
{
	memcpy(page, &launches->unused, sizeof(launches->unused));
	launches->unused = page;
}

static bool is_over(const uint64_t *ends, uint64_t time_ns)
{
	uint64_t late = time_ns;

	if (ends[LAUNCHES_PAGE - 1] > time_ns + 1)
		return false;
	/* Differences have a sign; without a comparison several rows are looked at at once. */
	for (size_t row = 0; row < LAUNCHES_PAGE; row++)
		late |= (time_ns + 1 - ends[row]) | ends[row];
	return !(late >> 63);
}

/* Which rows are there: NULL when all are. False: memory is out. */
static bool known_make(uint64_t **known, const uint64_t *ends)
{
	size_t count = 0;

	*known = NULL;
	for (size_t row = 0; row < LAUNCHES_PAGE; row++)
		count += ends[row] != 0;
	if (count == LAUNCHES_PAGE)
		return true;
	*known = calloc(LAUNCHES_PAGE / 64, sizeof(**known));
	for (size_t row = 0; *known && row < LAUNCHES_PAGE; row++)
		(*known)[row / 64] |= (uint64_t)(ends[row] != 0) << row % 64;
	return *known;
}

static bool is_known(const struct launches_page *page, uint64_t row)
{
	return !page->known || page->known[row / 64] >> row % 64 & 1;
}

/* Pages of which all is over become one. */
static void part_pass(struct launches *launches, struct launches_part *part)
{
	uint64_t last = (part->most - part->first) / LAUNCHES_PAGE;

	for (; !part->are_pairs && part->passed < last; part->passed++) {
		struct launches_page *page = &part->pages[part->passed];

		if (page->ends == none || page->ends == launches->over)
			continue;
		if (!is_over(page->ends, launches->passed_ns) || !known_make(&page->known, page->ends))
			return;
		page_give_back(launches, page->ends);
		page->ends = launches->over;
	}
}

static bool over_make(struct launches *launches)
{
	if (launches->over)
		return true;
	launches->over = malloc(sizeof(none));
	for (size_t row = 0; launches->over && row < LAUNCHES_PAGE; row++)
		launches->over[row] = 1;
	return launches->over;
}

/* All-zero; NULL: memory is out. */
static uint64_t *page_new(struct launches *launches)
{
	uint64_t *page;

	if (!launches->unused && launches->passed_ns && over_make(launches))
		for (uint32_t i = 0; i < launches->count; i++)
			part_pass(launches, &launches->parts[i]);
	page = launches->unused;
	if (!page)
		return calloc(1, sizeof(none));
	memcpy(&launches->unused, page, sizeof(launches->unused));
	return memset(page, 0, sizeof(none));
}

/* One to be written; NULL: memory is out. Where something comes behind all that is over, it is told row by
 * row again. */
static uint64_t *page_open(struct launches *launches, struct launches_page *page)
{
	uint64_t *ends = page->ends;

	if (ends != none && (ends != launches->over || !page->known))
		return ends;
	ends = page_new(launches);
	if (!ends)
		return NULL;
	for (size_t row = 0; page->known && row < LAUNCHES_PAGE; row++)
		ends[row] = is_known(page, row);
	free(page->known);
	*page = (struct launches_page){ends, NULL};
	return ends;
}

/* ---- the table ---- */

/* Reaches as far as these links, and farther where it is to grow again. */
static bool table_widen(struct launches_part *part, struct reach reach)
{
	uint64_t first = reach.least / LAUNCHES_PAGE * LAUNCHES_PAGE;
	uint64_t end = (reach.most / LAUNCHES_PAGE + 1) * LAUNCHES_PAGE;
	uint64_t before = part->first, behind = before + part->rows, more = part->rows;
	struct launches_page *pages;

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
		pages[page] = (struct launches_page){none, NULL};
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

static bool are_none(const uint64_t *rows)
{
	uint64_t all = 0;

	for (size_t k = 0; k < LAUNCHES_TURN; k++)
		all |= rows[k];
	return !all;
}

/* Whether the table may reach so far. */
static bool is_near(const struct launches_part *part, struct reach reach, size_t count)
{
	if (part->rows) {
		reach.least = reach.least < part->least ? reach.least : part->least;
		reach.most = reach.most > part->most ? reach.most : part->most;
	}
	return reach.most < UINT64_MAX / 2 &&
	       reach.most - reach.least <= APART * (uint64_t)(part->count + count) + 4 * ROWS_LEAST;
}

/* Up to the first one that is not of the page, or none: how many. */
static size_t page_put(
	uint64_t *page, uint64_t first, const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	size_t i = 0;

	for (; i < count && links[i] - first < LAUNCHES_PAGE && links[i]; i++) {
		uint64_t *row = &page[links[i] - first], end = ends_ns[i] + 1;

		if (count - i >= LAUNCHES_TURN && links[i] - first <= LAUNCHES_PAGE - LAUNCHES_TURN &&
			launches_in_turn(links + i) && are_none(row)) {
			for (size_t k = 0; k < LAUNCHES_TURN; k++)
				row[k] = ends_ns[i + k] + 1;
			i += LAUNCHES_TURN - 1;
			continue;
		}
		*row = *row - 1 < end - 1 ? *row : end;
	}
	return i;
}

/* Links that the table reaches. */
static bool table_put(struct launches *launches, struct launches_part *part, const uint64_t *links,
	const uint64_t *ends_ns, size_t count)
{
	for (size_t i = 0; i < count;) {
		uint64_t number = (links[i] - part->first) / LAUNCHES_PAGE, *page;

		if (!links[i]) {
			i++;
			continue;
		}
		page = page_open(launches, &part->pages[number]);
		if (!page)
			return false;
		i += page_put(page, part->first + number * LAUNCHES_PAGE, links + i, ends_ns + i, count - i);
	}
	part->count += count;
	return true;
}

static void table_free(struct launches *launches, struct launches_part *part)
{
	for (uint64_t page = 0; page < part->rows / LAUNCHES_PAGE; page++) {
		free(part->pages[page].known);
		if (part->pages[page].ends != none && part->pages[page].ends != launches->over)
			free(part->pages[page].ends);
	}
	free(part->pages);
	part->pages = NULL;
	part->rows = 0;
}

/* 0: none is known. */
static uint64_t table_row(const struct launches *launches, const struct launches_part *part, uint64_t row)
{
	const struct launches_page *page = &part->pages[row / LAUNCHES_PAGE];

	row %= LAUNCHES_PAGE;
	return page->ends != launches->over || is_known(page, row) ? page->ends[row] : 0;
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
static bool pairs_begin(struct launches *launches, struct launches_part *part)
{
	bool is_put = true;

	part->are_pairs = launches->overlap = true;
	part->count = 0;
	for (uint64_t row = 0; row < part->rows && is_put; row++) {
		uint64_t end = table_row(launches, part, row);

		if (end)
			is_put = pairs_put(part, part->first + row, end - 1);
	}
	table_free(launches, part);
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

/* ---- all ---- */

static struct reach reach_of(const uint64_t *links, size_t count)
{
	struct reach reach = {UINT64_MAX, 0};

	for (size_t i = 0; i < count; i++) {
		reach.least = links[i] && links[i] < reach.least ? links[i] : reach.least;
		if (links[i] && count - i >= LAUNCHES_TURN && launches_in_turn(links + i))
			i += LAUNCHES_TURN - 1;
		reach.most = links[i] > reach.most ? links[i] : reach.most;
	}
	return reach;
}

static uint64_t distance(const struct launches_part *part, struct reach reach)
{
	if (reach.most < part->least)
		return part->least - reach.most;
	return reach.least > part->most ? reach.least - part->most : 0;
}

/* Where links go: to the table next to them that may reach so far, or to one of their own; those that are far
 * from each other to the pairs. The last part takes what is left. */
static uint32_t find_part(const struct launches *launches, struct reach reach, size_t count)
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
	const struct reach reach = {of->least, of->most};

	for (uint32_t i = 0; i < launches->count; i++)
		launches->overlap |= &launches->parts[i] != of && !distance(&launches->parts[i], reach);
}

static bool part_put(struct launches *launches, struct launches_part *part, struct reach reach,
	const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	bool is_put = true;

	if (!part->are_pairs && !is_near(part, reach, count) && !pairs_begin(launches, part))
		return false;
	if (part->are_pairs) {
		for (size_t i = 0; i < count && is_put; i++)
			is_put = !links[i] || pairs_put(part, links[i], ends_ns[i]);
		return is_put;
	}
	if (!table_widen(part, reach))
		return false;
	part->least = !part->count || reach.least < part->least ? reach.least : part->least;
	part->most = reach.most > part->most ? reach.most : part->most;
	tell_overlap(launches, part);
	return table_put(launches, part, links, ends_ns, count);
}

bool launches_put(struct launches *launches, const uint64_t *links, const uint64_t *ends_ns, size_t count)
{
	struct reach reach = reach_of(links, count);
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
	bool have_pairs = false;

	for (uint32_t i = 0; i < launches->count; i++)
		have_pairs |= launches->parts[i].are_pairs;
	return have_pairs;
}

void launches_sort(struct launches *launches)
{
	for (uint32_t i = 0; i < launches->count; i++)
		pairs_sort(&launches->parts[i]);
}

uint64_t launches_end(const struct launches *launches, uint64_t link)
{
	uint64_t end_ns = UINT64_MAX;

	for (uint32_t i = 0; i < launches->count; i++) {
		const struct launches_part *part = &launches->parts[i];
		uint64_t here_ns = UINT64_MAX;

		if (part->are_pairs)
			here_ns = pairs_find(part, link);
		else if (launches_reach(part, link))
			here_ns = table_row(launches, part, link - part->first) - 1;
		end_ns = here_ns < end_ns ? here_ns : end_ns;
	}
	return end_ns;
}

const struct launches_part *launches_table(const struct launches *launches, uint64_t link)
{
	static struct launches_page pages[] = {{none, NULL}};
	static const struct launches_part empty = {.pages = pages, .rows = LAUNCHES_PAGE};

	for (uint32_t i = 0; i < launches->count && !launches->overlap; i++)
		if (launches_reach(&launches->parts[i], link))
			return &launches->parts[i];
	return &empty;
}

void launches_fini(struct launches *launches)
{
	for (uint32_t i = 0; i < launches->count; i++) {
		table_free(launches, &launches->parts[i]);
		free(launches->parts[i].pairs);
	}
	while (launches->unused) {
		void *page = launches->unused;

		memcpy(&launches->unused, page, sizeof(launches->unused));
		free(page);
	}
	free(launches->over);
}
