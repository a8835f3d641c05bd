/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_block.h - the streams of a store, 256 a value and column by column: a run may have many thousand,
 * which differ in a few of their numbers, by as much as from one to the next. Before 5.0 those of settled
 * stores alone (stream.h).
 *
 *   value | seal | streams - 1 u8 | varying u32 | constants, varints | varying columns |     key: the first
 * id
 *
 * Columns are the numbers of struct store_stream, as they lie there; a bit in `varying` says that there are
 * several of it: as bodies (codec.h), below.
 *
 *   PLAIN  | 0 | base varint |                    v - base
 *   STEP   | 1 | first varint | step zigzag |     zigzag(v - the one before - step), 0 for the first
 *   BESIDE | 2 | column u8 | base varint |        v - the stream's number in that column, which lies before -
 * base
 */
#ifndef STORE_STREAM_BLOCK_H
#define STORE_STREAM_BLOCK_H

#include "store/base/bytes.h"
#include "store/store.h"

#define STORE_STREAM_DENSE 256u /* streams of a value, but for the last one */

/* 1 to 256 of them. */
void store_stream_block_put(struct store_bytes *out, const struct store_stream *streams, uint32_t count);
/* As store_streams_get(): how many there are, no more than `room`; the input ends behind them or is bad. */
uint32_t store_stream_block_get(
	struct store_stream *streams, uint32_t room, struct store_input *input, uint32_t texts);
/* How many they are, of which it may still be that they are damaged; 0: they are. */
uint32_t store_stream_block_count(struct store_input input);

#endif
