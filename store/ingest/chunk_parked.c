/* SPDX-License-Identifier: Apache-2.0 */
/* chunk_parked.c - see chunk_parked.h. */
#include "store/ingest/chunk_parked.h"

#include <stdlib.h>

#include "store/chunk/chunk_encode_internal.h"

#define ROOM 4064u	/* with its head, and malloc's, a page is 4 KB */
#define SLACK 8u	/* values are stored and loaded eight bytes at a time, however few count */
#define GROUP_LEAST 16u /* for fewer a page has no room, unless no more are to be put */
#define GROUP_MOST STORE_BLOCK_RECORDS

struct store_chunk_parked_page {
	struct store_chunk_parked_page *next;
	uint64_t used;
	uint8_t bytes[ROOM];
};
_Static_assert(sizeof(struct store_chunk_parked_page) == 4080, "a page");

struct group {
	struct store_record first;
	uint16_t count;
	uint8_t widths[CHUNK_COLUMN_COUNT]; /* bytes of each value; 0: all are as the first */
};
_Static_assert(sizeof(struct group) == 72, "groups are aligned");

/* ---- pages ---- */

void store_chunk_parked_pool_fini(struct store_chunk_parked_pool *pool)
{
	pool->most = pool->used;
	store_chunk_parked_pool_settle(pool);
}

void store_chunk_parked_pool_settle(struct store_chunk_parked_pool *pool)
{
	const size_t spare = pool->most - pool->used;

	while (pool->free_count > spare) {
		struct store_chunk_parked_page *page = pool->free;

		pool->free = page->next;
		pool->free_count--;
		free(page);
	}
	pool->most = pool->used;
}

size_t store_chunk_parked_pool_bytes(const struct store_chunk_parked_pool *pool)
{
	return pool->used * sizeof(struct store_chunk_parked_page);
}

static bool page_add(struct store_chunk_parked_pool *pool, struct store_chunk_parked *parked)
{
	struct store_chunk_parked_page *page = pool->free;

	if (page) {
		pool->free = page->next;
		pool->free_count--;
	} else {
		page = malloc(sizeof *page);
	}
	if (!page)
		return false;
	pool->used++;
	pool->most = pool->used > pool->most ? pool->used : pool->most;
	page->next = NULL;
	page->used = 0;
	if (parked->last)
		parked->last->next = page;
	else
		parked->first = page;
	parked->last = page;
	return true;
}

void store_chunk_parked_clear(struct store_chunk_parked_pool *pool, struct store_chunk_parked *parked)
{
	for (struct store_chunk_parked_page *page = parked->first, *next; page; page = next) {
		next = page->next;
		page->next = pool->free;
		pool->free = page;
		pool->free_count++;
		pool->used--;
	}
	*parked = (struct store_chunk_parked){0};
}

/* ---- putting by ---- */

static uint8_t width_of(uint64_t differs)
{
	return (uint8_t)(differs ? (64 - (unsigned)__builtin_clzll(differs) + 7) / 8 : 0);
}

static struct group group_of(const struct store_record *records, uint32_t count)
{
	struct group group = {.first = *records, .count = (uint16_t)count};
	struct store_chunk_stats survey = {.end_ns = 0};
	struct store_record differs;
	uint64_t bits;

	store_chunk_stats_add(&survey, records, records, count);
	differs = store_chunk_stats_differs(&survey);
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++) {
		store_chunk_gather(&bits, column, &differs, 1);
		group.widths[column] = width_of(column == CHUNK_DURATION ? survey.duration_differs : bits);
	}
	return group;
}

/* How many of the group's records the page has room for. */
static uint32_t fitting(const struct store_chunk_parked_page *page, const struct group *group)
{
	uint32_t room = page ? ROOM - (uint32_t)page->used : 0, each = 0;

	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		each += group->widths[column];
	if (room < sizeof *group + SLACK)
		return 0;
	room -= (uint32_t)sizeof *group + SLACK;
	return each && room / each < group->count ? room / each : group->count;
}

static uint8_t *put_column(uint8_t *to, unsigned width, enum chunk_column column,
	const struct store_record *records, unsigned count)
{
	uint64_t values[GROUP_MOST];

	store_chunk_gather(values, column, records, count);
	for (unsigned i = 0; i < count; i++, to += width) {
		const uint64_t differs = values[i] ^ values[0];

		memcpy(to, &differs, sizeof differs);
	}
	return to;
}

static void put_group(
	struct store_chunk_parked_page *page, const struct group *group, const struct store_record *records)
{
	uint8_t *to = page->bytes + page->used;

	memcpy(to, group, sizeof *group);
	to += sizeof *group;
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (group->widths[column])
			to = put_column(to, group->widths[column], column, records, group->count);
	page->used = ((uint64_t)(to - page->bytes) + 7) & ~(uint64_t)7;
}

uint32_t store_chunk_parked_put(struct store_chunk_parked_pool *pool, struct store_chunk_parked *parked,
	const struct store_record *records, uint32_t count)
{
	uint32_t put = 0;

	while (put < count) {
		const uint32_t left = count - put < GROUP_MOST ? count - put : GROUP_MOST;
		struct group group = group_of(records + put, left);
		uint32_t fits = fitting(parked->last, &group);

		if (fits < left && fits < GROUP_LEAST) {
			if (!page_add(pool, parked))
				break;
			fits = fitting(parked->last, &group);
		}
		group.count = (uint16_t)fits;
		put_group(parked->last, &group, records + put);
		put += fits;
	}
	parked->count += put;
	return put;
}

/* ---- and back ---- */

/* Differences from the first record go to where copies of it are. */
static const uint8_t *get_column(const uint8_t *from, unsigned width, enum chunk_column column,
	struct store_record *to, unsigned count)
{
	const uint64_t mask = ~(uint64_t)0 >> (64 - 8 * width);

#define EACH(change)                                                \
	for (unsigned i = 0; i < count; i++, to++, from += width) { \
		uint64_t differs;                                   \
                                                                    \
		memcpy(&differs, from, sizeof differs);             \
		differs &= mask;                                    \
		change;                                             \
	}                                                           \
	break
	switch (column) {
	case CHUNK_CONTEXT:
		EACH(to->context ^= (uint32_t)differs);
	case CHUNK_DURATION:
		EACH(to->end_ns ^= differs);
	case CHUNK_BEGIN:
		EACH(to->begin_ns ^= differs);
	case CHUNK_AMOUNT:
		EACH(to->amount ^= differs);
	case CHUNK_BYTES:
		EACH(to->bytes ^= differs);
	case CHUNK_LINK:
		EACH(to->link ^= differs);
	case CHUNK_WHAT:
		EACH(to->what ^= (uint32_t)differs);
	case CHUNK_ATTRIBUTES:
		EACH(to->attributes ^= (uint32_t)differs);
	case CHUNK_FLAGS:
		EACH(to->flags ^= (uint32_t)differs);
	default:
		break;
	}
#undef EACH
	return from;
}

/* Where the next one begins. Durations stand in for ends, until all begins are there. */
static const uint8_t *get_group(const uint8_t *from, const struct group *group, struct store_record *to)
{
	struct store_record first = group->first;

	from += sizeof *group;
	first.end_ns -= first.begin_ns;
	for (unsigned i = 0; i < group->count; i++)
		to[i] = first;
	for (unsigned column = 0; column < CHUNK_COLUMN_COUNT; column++)
		if (group->widths[column])
			from = get_column(from, group->widths[column], column, to, group->count);
	for (unsigned i = 0; i < group->count; i++)
		to[i].end_ns += to[i].begin_ns;
	return from;
}

void store_chunk_parked_get(const struct store_chunk_parked *parked, struct store_record *to)
{
	for (const struct store_chunk_parked_page *page = parked->first; page; page = page->next)
		for (uint64_t at = 0; at < page->used;) {
			struct group group;
			const uint8_t *end;

			memcpy(&group, page->bytes + at, sizeof group);
			end = get_group(page->bytes + at, &group, to);
			at = ((uint64_t)(end - page->bytes) + 7) & ~(uint64_t)7;
			to += group.count;
		}
}
