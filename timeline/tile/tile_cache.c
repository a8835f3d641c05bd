/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_cache.c - the cache of sums: a hash table by place, a list by use.
 */
#include "timeline/tile/tile_cache.h"

#include <stdlib.h>

#include "timeline/run/run_internal.h"

#define SLOTS_MIN 1024u

/* ---- the cache ---- */

static size_t cached_bytes(const struct tile_cached *cached)
{
	return sizeof *cached + cached->tile.count * sizeof *cached->entries;
}

static struct tile_cached **slot_of(const struct tiles *tiles, const struct tile_place *place)
{
	uint64_t hash = intern_table_hash(
		intern_table_hash(place->stream, (uint64_t)place->level << 8 | place->shift), place->index);

	return &tiles->slots[intern_table_hash(hash, place->span) & (tiles->slot_count - 1)];
}

static struct tile_place place_of(const struct tile_cached *c)
{
	return (struct tile_place){c->stream, c->span, c->shift, c->level, c->index};
}

struct tile_cached *tile_cache_find(const struct tiles *tiles, const struct tile_place *p)
{
	struct tile_cached *c = tiles->slot_count ? *slot_of(tiles, p) : NULL;

	while (c && !(c->index == p->index && c->stream == p->stream && c->shift == p->shift &&
			    c->span == p->span && c->level == p->level))
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
	struct tile_cached *c;

	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is dropped is no longer the oldest */
	while (c = tiles->oldest, tiles->used_bytes > tiles->memory_bytes && c && c->use != tiles->use)
		tile_cache_drop(tiles, c);
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

	if (tiles->cached_count >= tiles->slot_count && !slots_widen(tiles))
		return error_memory(error);
	c = malloc(sizeof *c + sum->count * sizeof *c->entries);
	if (!c)
		return error_memory(error);
	*c = *what;
	c->use = tiles->use;
	c->tile = (struct tile){c->entries, tile_sum_take(sum, c->entries)};
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
	for (struct tile_cached *c = tiles->oldest, *newer; c; c = newer) {
		newer = c->newer;
		free(c);
	}
	tile_sum_fini(&tiles->sum);
	free(tiles->slots);
}
