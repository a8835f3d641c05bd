/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_cache.c - sums time by key, and keeps what was summed: a hash table of places, a list by use.
 */
#include "timeline/tile_cache.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/run_parts.h"

#define SLOTS_MIN 1024u

/* ---- sums by key ---- */

static uint64_t entry_hash(const struct tile_entry *entry)
{
	return table_hash(table_hash(entry->context, entry->op), entry->state);
}

static bool entry_same(const struct tile_entry *a, const struct tile_entry *b)
{
	return a->context == b->context && a->op == b->op && a->state == b->state;
}

static size_t sum_slot(const struct tile_sum *sum, const struct tile_entry *key)
{
	size_t i = entry_hash(key) & (sum->slot_count - 1);

	while (sum->slots[i] && !entry_same(&sum->entries[sum->slots[i] - 1], key))
		i = (i + 1) & (sum->slot_count - 1);
	return i;
}

static bool sum_widen(struct tile_sum *sum)
{
	size_t room = sum->room ? sum->room * 2 : 64;
	struct tile_entry *entries = realloc(sum->entries, room * sizeof *entries);
	uint32_t *slots;

	if (!entries)
		return false;
	sum->entries = entries;
	slots = calloc(room * 2, sizeof *slots);
	if (!slots)
		return false;
	free(sum->slots);
	sum->slots = slots;
	sum->slot_count = room * 2;
	sum->room = room;
	for (size_t i = 0; i < sum->count; i++)
		slots[sum_slot(sum, &entries[i])] = (uint32_t)i + 1;
	return true;
}

bool tile_sum_add(struct tile_sum *sum, const struct tile_entry *entry)
{
	size_t slot;

	if (sum->count == sum->room && !sum_widen(sum))
		return false;
	slot = sum_slot(sum, entry);
	if (!sum->slots[slot]) {
		sum->entries[sum->count++] = *entry;
		sum->slots[slot] = (uint32_t)sum->count;
		return true;
	}
	sum->entries[sum->slots[slot] - 1].time_ns += entry->time_ns;
	sum->entries[sum->slots[slot] - 1].records += entry->records;
	return true;
}

/* Frees the slots, not the entries: in the reverse order of coming, so that every search still ends. */
static void sum_forget(struct tile_sum *sum)
{
	for (size_t i = sum->count; i-- > 0;)
		sum->slots[sum_slot(sum, &sum->entries[i])] = 0;
}

void tile_sum_reset(struct tile_sum *sum)
{
	sum_forget(sum);
	sum->count = 0;
}

/* Descending time; ties by path hash, so that a frame is the same on every machine (screens: C). */
static int compare_entries(const void *x, const void *y, void *run)
{
	const struct tile_entry *a = x, *b = y;
	struct store_hash ha, hb;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	ha = run_context_hash(run, a->context);
	hb = run_context_hash(run, b->context);
	if (ha.high != hb.high)
		return ha.high < hb.high ? -1 : 1;
	if (ha.low != hb.low)
		return ha.low < hb.low ? -1 : 1;
	if (a->state != b->state)
		return a->state < b->state ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

static void sort_entries(struct tile_entry *entries, size_t count, struct run *run)
{
	if (count > 1)
		qsort_r(entries, count, sizeof *entries, compare_entries, run);
}

/* ---- the cache ---- */

static size_t cached_bytes(const struct tile_cached *cached)
{
	return sizeof *cached + cached->tile.count * sizeof *cached->entries;
}

static struct tile_cached **slot_of(const struct tiles *tiles, const struct tile_place *place)
{
	uint64_t hash = table_hash(table_hash(place->stream, place->shift), place->index);

	return &tiles->slots[table_hash(hash, place->span) & (tiles->slot_count - 1)];
}

static struct tile_place place_of(const struct tile_cached *c)
{
	return (struct tile_place){c->stream, c->span, c->shift, c->index};
}

struct tile_cached *tile_cache_find(const struct tiles *tiles, const struct tile_place *p)
{
	struct tile_cached *c = tiles->slot_count ? *slot_of(tiles, p) : NULL;

	while (c && !(c->index == p->index && c->stream == p->stream && c->shift == p->shift &&
			    c->span == p->span))
		c = c->next;
	return c;
}

static void unlink_use(struct tiles *tiles, struct tile_cached *c)
{
	*(c->newer ? &c->newer->older : &tiles->newest) = c->older;
	*(c->older ? &c->older->newer : &tiles->oldest) = c->newer;
}

static void link_newest(struct tiles *tiles, struct tile_cached *c)
{
	c->newer = NULL;
	c->older = tiles->newest;
	*(tiles->newest ? &tiles->newest->newer : &tiles->oldest) = c;
	tiles->newest = c;
}

void tile_cache_touch(struct tiles *tiles, struct tile_cached *c)
{
	c->use = tiles->use;
	if (tiles->newest == c)
		return;
	unlink_use(tiles, c);
	link_newest(tiles, c);
}

void tile_cache_drop(struct tiles *tiles, struct tile_cached *c)
{
	struct tile_place place = place_of(c);
	struct tile_cached **at = slot_of(tiles, &place);

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	unlink_use(tiles, c);
	tiles->used_bytes -= cached_bytes(c);
	tiles->cached_count--;
	free(c);
}

void tile_cache_shrink(struct tiles *tiles)
{
	while (tiles->used_bytes > tiles->memory_bytes && tiles->oldest && tiles->oldest->use != tiles->use)
		tile_cache_drop(tiles, tiles->oldest);
}

static bool slots_widen(struct tiles *tiles)
{
	size_t old = tiles->slot_count, count = old ? old * 2 : SLOTS_MIN;
	struct tile_cached **slots = calloc(count, sizeof(struct tile_cached *)), **before = tiles->slots;

	if (!slots)
		return false;
	tiles->slots = slots;
	tiles->slot_count = count;
	for (size_t i = 0; i < old; i++)
		for (struct tile_cached *c = before[i], *next; c; c = next) {
			struct tile_place place = place_of(c);
			struct tile_cached **at = slot_of(tiles, &place);

			next = c->next;
			c->next = *at;
			*at = c;
		}
	free(before);
	return true;
}

int tile_cache_keep(struct tiles *tiles, const struct tile_cached *what, struct error *error)
{
	struct tile_sum *sum = &tiles->sum;
	struct tile_place place = place_of(what);
	struct tile_cached *c, **at;

	sum_forget(sum);
	sort_entries(sum->entries, sum->count, tiles->run);
	if (tiles->cached_count >= tiles->slot_count && !slots_widen(tiles))
		return error_memory(error);
	c = malloc(sizeof *c + sum->count * sizeof *c->entries);
	if (!c)
		return error_memory(error);
	*c = *what;
	c->tile = (struct tile){c->entries, (uint32_t)sum->count};
	c->use = tiles->use;
	memcpy(c->entries, sum->entries, sum->count * sizeof *c->entries);
	sum->count = 0;
	at = slot_of(tiles, &place);
	c->next = *at;
	*at = c;
	link_newest(tiles, c);
	tiles->cached_count++;
	tiles->used_bytes += cached_bytes(c);
	return 0;
}

void tile_cache_fini(struct tiles *tiles)
{
	while (tiles->oldest)
		tile_cache_drop(tiles, tiles->oldest);
	free(tiles->sum.entries);
	free(tiles->sum.slots);
	free(tiles->slots);
}
