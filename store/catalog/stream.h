/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - encodes and decodes streams of stores before 5.0 (for current ones see stream_block.h), the
 * stream list, and open spans.
 *
 *   stream | size | kind host rank+1 pid generation thread device context queue tid name device-name
 *          | begin_ns end_ns+1 lost partial | tracks x | count | complete_ns | shifts | |
 *   open   | spans x | handle begin_ns amount bytes link context what attributes flags | |
 *
 * All are varints. One value held STORE_STREAM_BLOCK streams.
 */
#ifndef STORE_STREAM_H
#define STORE_STREAM_H

#include "store/base/bytes.h"
#include "store/catalog/text.h"
#include "store/store.h"

#define STORE_STREAM_BLOCK 32u

/* Reads at most `room` streams and returns their number. Text ids must be below `texts`. */
uint32_t store_streams_get(
	struct store_stream *streams, uint32_t room, struct store_input *input, uint32_t texts);

/* Totals over all streams, which save reading them: the fact STORE_META_LIST of a complete store. */
struct store_stream_list {
	uint64_t count;
	uint64_t begin_ns, end_ns; /* first begin, last end */
	uint64_t records[STORE_TRACK_COUNT];
};
/* True when the streams but those of gauges, which may stand anywhere, are in the order of readers (host
 * name, then store_stream_compare()) and have all ended. */
bool store_stream_list_of(struct store_stream_list *list, const struct store_stream *streams, uint32_t count,
	const struct store_texts *texts);
#define STORE_STREAM_LIST_BYTES 128u
void store_stream_list_put(const struct store_stream_list *list, char text[STORE_STREAM_LIST_BYTES]);
bool store_stream_list_get(struct store_stream_list *list, const char *text);

/* An open span: the writer's caller's handle, and the record as known so far. */
struct store_open_span {
	uint64_t handle;
	struct store_record record;
};
void store_open_span_put(const struct store_open_span *span, struct store_bytes *out);
void store_open_span_get(struct store_open_span *span, struct store_input *input);

#endif
