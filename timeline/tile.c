/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.c - exact tiles, each made once: what is missing of a row is filled by one walk over the stream's
 * line, and the least recently used tiles go when memory is short.
 *
 *   row asked for    [ T0 | T1 | -- | -- | T4 | -- ]      one walk over T2..T5, T4 is passed over
 */
#include "timeline/tile.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/run_parts.h"
#include "timeline/table.h"

#define EXTENTS 512
#define SLOTS_MIN 1024u
#define NEAR 16u /* tiles: walking them again is cheaper than opening another walk */

struct cached {
	struct tile tile;
	struct cached *newer, *older; /* by use */
	struct cached *next;	      /* in its slot */
	uint64_t index;		      /* of the first tile in it */
	uint64_t stable_ns;	      /* tiles that end behind it may change with the next commit */
	uint32_t span;		      /* tiles in it: 1, or a cell's */
	uint32_t stream;
	uint32_t use; /* call of tiles_row() that used it last */
	uint8_t shift;
	uint8_t rules; /* of the line, see line_rules() */
	struct tile_entry entries[];
};

/* Sums of the tile that is being filled: entries by key. */
struct filler {
	struct tile_entry *entries;
	size_t count, room;
	uint32_t *slots; /* place + 1 */
	size_t slot_count;
};

struct tiles {
	struct run *run;
	size_t memory_bytes, used_bytes;
	struct cached **slots;
	size_t slot_count, cached_count;
	struct cached *newest, *oldest;
	uint32_t use;
	struct filler filler;
};

/* ---- filling one tile ---- */

static uint64_t entry_hash(const struct tile_entry *entry)
{
	return table_hash(table_hash(entry->context, entry->op), entry->state);
}

static bool entry_same(const struct tile_entry *a, const struct tile_entry *b)
{
	return a->context == b->context && a->op == b->op && a->state == b->state;
}

static size_t filler_slot(const struct filler *filler, const struct tile_entry *key)
{
	size_t i = entry_hash(key) & (filler->slot_count - 1);

	while (filler->slots[i] && !entry_same(&filler->entries[filler->slots[i] - 1], key))
		i = (i + 1) & (filler->slot_count - 1);
	return i;
}

static bool filler_widen(struct filler *filler)
{
	size_t room = filler->room ? filler->room * 2 : 64;
	struct tile_entry *entries = realloc(filler->entries, room * sizeof *entries);
	uint32_t *slots;

	if (!entries)
		return false;
	filler->entries = entries;
	slots = calloc(room * 2, sizeof *slots);
	if (!slots)
		return false;
	free(filler->slots);
	filler->slots = slots;
	filler->slot_count = room * 2;
	filler->room = room;
	for (size_t i = 0; i < filler->count; i++)
		slots[filler_slot(filler, &entries[i])] = (uint32_t)i + 1;
	return true;
}

/* Adds time to its key; false when memory is out. */
static bool filler_add(struct filler *filler, const struct tile_entry *entry)
{
	size_t slot;

	if (filler->count == filler->room && !filler_widen(filler))
		return false;
	slot = filler_slot(filler, entry);
	if (!filler->slots[slot]) {
		filler->entries[filler->count++] = *entry;
		filler->slots[slot] = (uint32_t)filler->count;
		return true;
	}
	filler->entries[filler->slots[slot] - 1].time_ns += entry->time_ns;
	filler->entries[filler->slots[slot] - 1].records += entry->records;
	return true;
}

/* Frees the slots, not the entries: in the reverse order of coming, so that every search still ends. */
static void filler_forget(struct filler *filler)
{
	for (size_t i = filler->count; i-- > 0;)
		filler->slots[filler_slot(filler, &filler->entries[i])] = 0;
}

static void filler_reset(struct filler *filler)
{
	filler_forget(filler);
	filler->count = 0;
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

static size_t cached_bytes(const struct cached *cached)
{
	return sizeof *cached + cached->tile.count * sizeof *cached->entries;
}

/* What a cached sum is of. */
struct place {
	uint32_t stream, span;
	unsigned shift;
	uint64_t index;
};

static struct cached **slot_of(const struct tiles *tiles, const struct place *place)
{
	uint64_t hash = table_hash(table_hash(place->stream, place->shift), place->index);

	return &tiles->slots[table_hash(hash, place->span) & (tiles->slot_count - 1)];
}

static struct place place_of(const struct cached *c)
{
	return (struct place){c->stream, c->span, c->shift, c->index};
}

static struct cached *find(const struct tiles *tiles, const struct place *p)
{
	struct cached *c = tiles->slot_count ? *slot_of(tiles, p) : NULL;

	while (c && !(c->index == p->index && c->stream == p->stream && c->shift == p->shift &&
			    c->span == p->span))
		c = c->next;
	return c;
}

static void unlink_use(struct tiles *tiles, struct cached *c)
{
	*(c->newer ? &c->newer->older : &tiles->newest) = c->older;
	*(c->older ? &c->older->newer : &tiles->oldest) = c->newer;
}

static void link_newest(struct tiles *tiles, struct cached *c)
{
	c->newer = NULL;
	c->older = tiles->newest;
	*(tiles->newest ? &tiles->newest->newer : &tiles->oldest) = c;
	tiles->newest = c;
}

static void touch(struct tiles *tiles, struct cached *c)
{
	c->use = tiles->use;
	if (tiles->newest == c)
		return;
	unlink_use(tiles, c);
	link_newest(tiles, c);
}

static void drop(struct tiles *tiles, struct cached *c)
{
	struct place place = place_of(c);
	struct cached **at = slot_of(tiles, &place);

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	unlink_use(tiles, c);
	tiles->used_bytes -= cached_bytes(c);
	tiles->cached_count--;
	free(c);
}

/* Down to the memory given; what the current call uses stays. */
static void shrink(struct tiles *tiles)
{
	while (tiles->used_bytes > tiles->memory_bytes && tiles->oldest && tiles->oldest->use != tiles->use)
		drop(tiles, tiles->oldest);
}

static bool slots_widen(struct tiles *tiles)
{
	size_t old = tiles->slot_count, count = old ? old * 2 : SLOTS_MIN;
	struct cached **slots = calloc(count, sizeof(struct cached *)), **before = tiles->slots;

	if (!slots)
		return false;
	tiles->slots = slots;
	tiles->slot_count = count;
	for (size_t i = 0; i < old; i++)
		for (struct cached *c = before[i], *next; c; c = next) {
			struct place place = place_of(c);
			struct cached **at = slot_of(tiles, &place);

			next = c->next;
			c->next = *at;
			*at = c;
		}
	free(before);
	return true;
}

/* ---- walking what is missing ---- */

static uint64_t tile_begin(unsigned shift, uint64_t index)
{
	return index > UINT64_MAX >> shift ? UINT64_MAX : index << shift;
}

struct fill {
	struct tiles *tiles;
	struct place place; /* of the sum that is being filled */
	uint64_t stable_ns;
	uint8_t rules;
};

/* Keeps what the filler holds, which is empty then. */
static int keep(const struct fill *fill, struct error *error)
{
	struct tiles *tiles = fill->tiles;
	struct filler *filler = &tiles->filler;
	struct cached *c, **at;

	filler_forget(filler);
	sort_entries(filler->entries, filler->count, tiles->run);
	if (tiles->cached_count >= tiles->slot_count && !slots_widen(tiles))
		return error_memory(error);
	c = malloc(sizeof *c + filler->count * sizeof *c->entries);
	if (!c)
		return error_memory(error);
	*c = (struct cached){.tile = {c->entries, (uint32_t)filler->count},
		.index = fill->place.index,
		.stable_ns = fill->stable_ns,
		.span = fill->place.span,
		.stream = fill->place.stream,
		.use = tiles->use,
		.shift = (uint8_t)fill->place.shift,
		.rules = fill->rules};
	memcpy(c->entries, filler->entries, filler->count * sizeof *c->entries);
	filler->count = 0;
	at = slot_of(tiles, &fill->place);
	c->next = *at;
	*at = c;
	link_newest(tiles, c);
	tiles->cached_count++;
	tiles->used_bytes += cached_bytes(c);
	return 0;
}

static int finish_tile(struct fill *fill, struct error *error)
{
	int code = 0;

	if (find(fill->tiles, &fill->place))
		filler_reset(&fill->tiles->filler);
	else
		code = keep(fill, error);
	fill->place.index++;
	return code;
}

/* Spreads a piece over the tiles that it crosses. */
static int fill_extent(struct fill *fill, const struct extent *extent, struct error *error)
{
	struct tile_entry entry = {extent->context, extent->op, extent->state, extent->is_record_begin, 0};
	uint64_t at = extent->begin_ns;
	int code = 0;

	while (at < extent->end_ns && !code) {
		uint64_t tile_end = tile_begin(fill->place.shift, fill->place.index + 1);
		uint64_t end = extent->end_ns < tile_end ? extent->end_ns : tile_end;

		entry.time_ns = end - at;
		if (!filler_add(&fill->tiles->filler, &entry))
			return error_memory(error);
		entry.records = 0;
		if (end == tile_end)
			code = finish_tile(fill, error);
		at = end;
	}
	return code;
}

/* What, learnt late, changes how the whole line is read. */
static uint8_t line_rules(const struct run_line *line)
{
	return (uint8_t)(line->has_monitored | line->has_switches << 1 | (line->period_ns != 0) << 2);
}

/* Until where more records cannot change the line. */
static uint64_t line_stable_ns(const struct run_line *line)
{
	return line->has_monitored || line->complete_ns < line->last_ns ? line->complete_ns : line->last_ns;
}

static int fill_begin(struct fill *fill, struct tiles *tiles, const struct place *place, struct error *error)
{
	const struct run_line *line;
	int code = run_line(tiles->run, place->stream, &line, error);

	if (code)
		return code;
	*fill = (struct fill){tiles, *place, line_stable_ns(line), line_rules(line)};
	filler_reset(&tiles->filler);
	return 0;
}

/* Makes `count` tiles from this place on. */
static int fill_tiles(struct tiles *tiles, struct place place, uint64_t count, struct error *error)
{
	struct extent extents[EXTENTS];
	struct extent_walk *walk;
	struct fill fill;
	long pieces = 0;
	int code = fill_begin(&fill, tiles, &place, error);

	if (!code)
		code = extent_open(&walk, tiles->run, place.stream, tile_begin(place.shift, place.index),
			tile_begin(place.shift, place.index + count), error);
	if (code)
		return code;
	while (!code && (pieces = extent_next(walk, extents, EXTENTS, error)) > 0)
		for (long i = 0; i < pieces && !code; i++)
			code = fill_extent(&fill, &extents[i], error);
	extent_close(walk);
	return code ? code : (int)pieces;
}

/* Makes those of `count` tiles from this place on that are missing. */
static int need_tiles(struct tiles *tiles, struct place place, size_t count, struct error *error)
{
	uint64_t first = place.index;
	size_t from = 0, to = 0;
	int code = 0;

	for (size_t i = 0; i < count && !code; i++) {
		struct cached *c;

		place.index = first + i;
		c = find(tiles, &place);
		if (c) {
			touch(tiles, c);
			continue;
		}
		/* Missing ones near each other share a walk. */
		if (to > from && i - to > NEAR) {
			place.index = first + from;
			code = fill_tiles(tiles, place, to - from, error);
			from = to = i;
		}
		from = to > from ? from : i;
		to = i + 1;
	}
	place.index = first + from;
	return code || to == from ? code : fill_tiles(tiles, place, to - from, error);
}

static int check_place(
	const struct tiles *tiles, const struct place *place, uint64_t count, struct error *error)
{
	if (place->shift <= 63 && place->index <= UINT64_MAX - count &&
		place->stream < run_stream_count(tiles->run))
		return 0;
	return error_set(
		error, ERROR_USAGE, "no such tiles: stream %u, shift %u", place->stream, place->shift);
}

int tiles_row(struct tiles *tiles, uint32_t stream, unsigned shift, uint64_t first, size_t count,
	struct tile *out, struct error *error)
{
	struct place place = {stream, 1, shift, first};
	int code = check_place(tiles, &place, count, error);

	tiles->use++;
	if (!code)
		code = need_tiles(tiles, place, count, error);
	if (code)
		return code;
	for (size_t i = 0; i < count; i++, place.index++) {
		struct cached *c = find(tiles, &place);

		/* Behind the end of time there is nothing to sum. */
		out[i] = c ? c->tile : (struct tile){NULL, 0};
	}
	shrink(tiles);
	return 0;
}

/* ---- cells: sums of some tiles, kept like tiles, since a pan shows most of them again ---- */

/* Sums the tiles of a cell, which are all there. */
static int fill_cell(struct tiles *tiles, const struct place *cell, struct error *error)
{
	struct place place = *cell;
	struct fill fill;
	int code = fill_begin(&fill, tiles, cell, error);

	place.span = 1;
	for (uint32_t i = 0; i < cell->span && !code; i++, place.index++) {
		const struct cached *c = find(tiles, &place);

		for (uint32_t k = 0; c && k < c->tile.count && !code; k++)
			if (!filler_add(&tiles->filler, &c->entries[k]))
				code = error_memory(error);
	}
	return code ? code : keep(&fill, error);
}

/* Makes the cells [from, to) of these columns. */
static int fill_cells(struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, uint32_t from,
	uint32_t to, struct error *error)
{
	const uint64_t *edges = columns->edges;
	struct place place = {stream, 1, columns->shift, edges[from]};
	int code = need_tiles(tiles, place, edges[to] - edges[from], error);

	for (uint32_t i = from; i < to && !code; i++) {
		place.index = edges[i];
		place.span = (uint32_t)(edges[i + 1] - edges[i]);
		if (!find(tiles, &place))
			code = fill_cell(tiles, &place, error);
	}
	return code;
}

static struct cached *cell_find(
	const struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, uint32_t i)
{
	const uint64_t *edges = columns->edges;
	struct place place = {stream, (uint32_t)(edges[i + 1] - edges[i]), columns->shift, edges[i]};

	return find(tiles, &place);
}

int tiles_cells(struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, struct tile *out,
	struct error *error)
{
	struct place place = {stream, 1, columns->shift, columns->edges[0]};
	int code = check_place(tiles, &place, columns->edges[columns->count] - place.index, error);
	uint32_t from = 0;

	tiles->use++;
	/* What is missing from `from` on is made at once when a cell that is there, or the end, comes. */
	for (uint32_t i = 0; i <= columns->count && !code; i++) {
		struct cached *c = i < columns->count ? cell_find(tiles, stream, columns, i) : NULL;

		if (!c && i < columns->count)
			continue;
		if (from < i)
			code = fill_cells(tiles, stream, columns, from, i, error);
		from = i + 1;
		if (c)
			touch(tiles, c);
	}
	for (uint32_t i = 0; i < columns->count && !code; i++) {
		struct cached *c = cell_find(tiles, stream, columns, i);

		out[i] = c ? c->tile : (struct tile){NULL, 0};
	}
	shrink(tiles);
	return code;
}

/* ---- begin and end ---- */

int tiles_new(struct tiles **tiles, struct run *run, size_t memory_bytes, struct error *error)
{
	*tiles = calloc(1, sizeof **tiles);
	if (!*tiles)
		return error_memory(error);
	(*tiles)->run = run;
	(*tiles)->memory_bytes = memory_bytes;
	return 0;
}

void tiles_free(struct tiles *tiles)
{
	if (!tiles)
		return;
	while (tiles->oldest)
		drop(tiles, tiles->oldest);
	free(tiles->filler.entries);
	free(tiles->filler.slots);
	free(tiles->slots);
	free(tiles);
}

void tiles_renew(struct tiles *tiles)
{
	for (struct cached *c = tiles->oldest, *newer; c; c = newer) {
		const struct run_line *line;
		bool reads_same =
			!run_line(tiles->run, c->stream, &line, NULL) && c->rules == line_rules(line);

		newer = c->newer;
		if (!reads_same || tile_begin(c->shift, c->index + c->span) > c->stable_ns)
			drop(tiles, c);
	}
}
