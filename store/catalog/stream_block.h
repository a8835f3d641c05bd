/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_block.h - encodes 256 streams in one value, column by column: the streams of a large run differ in
 * few numbers, mostly by a constant step. Before 5.0 only settled stores used it (stream.h).
 *
 *   value | seal | streams - 1 u8 | varying u32 | constants, varints | varying columns |   key: first id
 *
 * Columns are the fields of struct store_stream, in its order. A bit in `varying` marks a column whose
 * values differ; it is stored as a body (codec.h):
 *
 *   PLAIN  | 0 | base varint |                    v - base
 *   STEP   | 1 | first varint | step zigzag |     zigzag(v - previous - step), 0 for the first
 *   BESIDE | 2 | column u8 | base varint |        v - the stream's value in that earlier column - base
 */
#ifndef STORE_STREAM_BLOCK_H
#define STORE_STREAM_BLOCK_H

#include "store/base/bytes.h"
#include "store/store.h"

#define STORE_STREAM_DENSE 256u /* streams in each value but the last */

/* Encodes 1 to 256 streams. */
void store_stream_block_put(struct store_bytes *out, const struct store_stream *streams, uint32_t count);
/* Like store_streams_get(): reads at most `room` streams and returns their number. The input then ends or is
 * bad. */
uint32_t store_stream_block_get(
	struct store_stream *streams, uint32_t room, struct store_input *input, uint32_t texts);
/* Number of streams, before the rest of the value is checked; 0: damaged. */
uint32_t store_stream_block_count(struct store_input input);

#endif
