/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - streams as stores before 5.0 have them (those of today: stream_block.h), lists of streams, and
 * open spans, to bytes and back.
 *
 *   stream | size | kind host rank+1 pid generation thread device context queue tid name device-name
 *          | begin_ns end_ns+1 lost partial | tracks x | count | complete_ns | shifts | |
 *   open   | spans x | handle begin_ns amount bytes link context what attributes flags | |
 *
 * All are varints. STORE_STREAM_BLOCK streams lay in one value.
 */
#ifndef STORE_STREAM_H
#define STORE_STREAM_H

#include "store/base/bytes.h"
#include "store/catalog/text.h"
#include "store/store.h"

#define STORE_STREAM_BLOCK 32u

/* As many as there are, but no more than `room`: their number. Text ids must lie below `texts`. */
uint32_t store_streams_get(
	struct store_stream *streams, uint32_t room, struct store_input *input, uint32_t texts);

/* What a list of streams shows without them: the fact STORE_META_LIST of a store that is complete. */
struct store_stream_list {
	uint64_t count;
	uint64_t begin_ns, end_ns; /* the first begin, the last end */
	uint64_t records[STORE_TRACK_COUNT];
};
/* Are they in the order of readers (store_stream_compare(), hosts before all), with a life that has ended? */
bool store_stream_list_of(struct store_stream_list *list, const struct store_stream *streams, uint32_t count,
	const struct store_texts *texts);
#define STORE_STREAM_LIST_BYTES 128u
void store_stream_list_put(const struct store_stream_list *list, char text[STORE_STREAM_LIST_BYTES]);
bool store_stream_list_get(struct store_stream_list *list, const char *text);

/* An open span of the writer: the caller's handle and the record as it is known so far. */
struct store_open_span {
	uint64_t handle;
	struct store_record record;
};
void store_open_span_put(const struct store_open_span *span, struct store_bytes *out);
void store_open_span_get(struct store_open_span *span, struct store_input *input);

#endif
