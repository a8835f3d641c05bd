/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_coarse.c - a preview of dense lines whose columns are not read yet, from a few tiles that are many
 * columns wide, which rollups sum cheaply. The preview only colours cells; it is never shown as data.
 * And the same tiles for the shares of groups, which say that they are about so.
 */
#include "tui/timeline/frame.h"

#include <stdlib.h>

#define COARSE_SHIFT 5u /* a coarse tile is 2^this tiles: about a dozen columns */

struct frame_coarse {
	uint32_t level;	     /* of their projection */
	struct cell cells[]; /* by column */
};

static bool can_be_coarse(const struct frame *frame, uint32_t stream)
{
	return stream < frame->stream_count && frame->columns.count &&
	       frame->columns.shift + COARSE_SHIFT < 62 && frame_is_dense(frame, stream);
}

static uint64_t coarse_tile(const struct frame *frame, uint32_t column)
{
	uint64_t begin = frame->columns.edges[column], end = frame->columns.edges[column + 1];

	return (begin + (end - begin) / 2) >> COARSE_SHIFT;
}

static struct frame_coarse *decide_all(
	struct frame *frame, const struct tile *tiles, uint64_t first, unsigned shift)
{
	uint32_t count = frame->columns.count;
	struct frame_coarse *coarse =
		arena_calloc(&frame->arena, 1, sizeof(*coarse) + count * sizeof(*coarse->cells));
	uint64_t last = UINT64_MAX;

	for (uint32_t column = 0; coarse && column < count; column++) {
		uint64_t at = coarse_tile(frame, column) - first;
		coarse->cells[column] = at == last ? coarse->cells[column - 1]
						   : frame_decide(frame, tiles[at].entries, tiles[at].count,
							     (uint64_t)1 << shift);
		last = at;
	}
	return coarse;
}

int frame_read_coarse(struct frame *frame, uint32_t stream, struct error *error)
{
	unsigned shift = frame->columns.shift + COARSE_SHIFT;
	uint64_t first, count;
	struct tile *tiles;
	int result;

	if (!can_be_coarse(frame, stream) || frame_coarse(frame, stream))
		return 0;
	first = coarse_tile(frame, 0);
	count = coarse_tile(frame, frame->columns.count - 1) - first + 1;
	tiles = calloc(count, sizeof(*tiles));
	result = tiles ? tiles_project(frame->tiles, frame_projection(frame, stream), error)
		       : error_memory(error);
	if (!result)
		result = tiles_row(frame->tiles, stream, shift, first, count, tiles, error);
	if (!result) {
		frame->coarse[stream] = decide_all(frame, tiles, first, shift);
		result = frame->coarse[stream] ? 0 : error_memory(error);
	}
	if (!result)
		frame->coarse[stream]->level = frame_level(frame);
	free(tiles);
	return result;
}

static void add_busy(const struct frame *frame, const struct tile *tiles, uint64_t first, uint64_t *busy_ns,
	uint64_t *there_ns)
{
	unsigned shift = frame->columns.shift + COARSE_SHIFT;

	for (uint32_t c = 0; c < frame->columns.count; c++) {
		const struct tile *tile = &tiles[coarse_tile(frame, c) - first];
		uint64_t there, tile_ns = (uint64_t)1 << shift, column_ns = frame_column_length(frame, c);
		uint64_t busy = frame_busy_of(tile->entries, tile->count, tile_ns, &there);

		busy_ns[c] += (uint64_t)((unsigned __int128)busy * column_ns >> shift);
		there_ns[c] += (uint64_t)((unsigned __int128)there * column_ns >> shift);
	}
}

int frame_busy_read_coarse(
	struct frame *frame, uint32_t stream, uint64_t *busy_ns, uint64_t *there_ns, struct error *error)
{
	uint64_t first, count;
	struct tile *tiles;
	int result;

	if (frame_line(frame, stream) || !can_be_coarse(frame, stream))
		return frame_busy_read(frame, stream, busy_ns, there_ns, error);
	first = coarse_tile(frame, 0);
	count = coarse_tile(frame, frame->columns.count - 1) - first + 1;
	tiles = calloc(count, sizeof(*tiles));
	result = tiles ? tiles_project(frame->tiles, &tile_states, error) : error_memory(error);
	if (!result)
		result = tiles_row(frame->tiles, stream, frame->columns.shift + COARSE_SHIFT, first, count,
			tiles, error);
	if (!result)
		add_busy(frame, tiles, first, busy_ns, there_ns);
	free(tiles);
	return result;
}

const struct cell *frame_coarse(const struct frame *frame, uint32_t stream)
{
	const struct frame_coarse *coarse = stream < frame->stream_count ? frame->coarse[stream] : NULL;

	return coarse && coarse->level == frame_level(frame) ? coarse->cells : NULL;
}
