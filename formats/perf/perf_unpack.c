/* SPDX-License-Identifier: Apache-2.0 */
/* perf_unpack.c - see perf_unpack.h. */
#include "formats/perf/perf_unpack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define RECORD_BYTES_MAX 65535u

struct perf_unpack {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in; /* of `block` */
	size_t at, end;	  /* of `out`: what is unpacked and not taken */
	bool is_damaged;
	uint8_t block[RECORD_BYTES_MAX];
	uint8_t out[4 * (RECORD_BYTES_MAX + 1)];
};

struct perf_unpack *perf_unpack_new(void)
{
	struct perf_unpack *unpack = calloc(1, sizeof *unpack);

	if (unpack && !(unpack->stream = ZSTD_createDStream())) {
		free(unpack);
		return NULL;
	}
	if (unpack)
		perf_unpack_reset(unpack);
	return unpack;
}

void perf_unpack_free(struct perf_unpack *unpack)
{
	if (unpack)
		ZSTD_freeDStream(unpack->stream);
	free(unpack);
}

void perf_unpack_reset(struct perf_unpack *unpack)
{
	ZSTD_initDStream(unpack->stream);
	unpack->in = (ZSTD_inBuffer){unpack->block, 0, 0};
	unpack->at = unpack->end = 0;
	unpack->is_damaged = false;
}

void perf_unpack_feed(struct perf_unpack *unpack, const uint8_t *block, size_t size)
{
	size = size < sizeof unpack->block ? size : sizeof unpack->block;
	memcpy(unpack->block, block, size);
	unpack->in = (ZSTD_inBuffer){unpack->block, size, 0};
}

/* Fills `out` behind what is not taken yet. False: there is no more. */
static bool refill(struct perf_unpack *unpack)
{
	ZSTD_outBuffer out = {unpack->out, sizeof unpack->out, 0};
	size_t result, input_before = unpack->in.pos;

	out.pos = unpack->end - unpack->at;
	memmove(unpack->out, unpack->out + unpack->at, out.pos);
	unpack->at = 0;
	unpack->end = out.pos;
	result = ZSTD_decompressStream(unpack->stream, &out, &unpack->in);
	unpack->is_damaged = ZSTD_isError(result);
	if (unpack->is_damaged || (out.pos == unpack->end && unpack->in.pos == input_before))
		return false;
	unpack->end = out.pos;
	return true;
}

const uint8_t *perf_unpack_next(struct perf_unpack *unpack, struct perf_event_header *header)
{
	while (!unpack->is_damaged) {
		const uint8_t *record = unpack->out + unpack->at;
		size_t left = unpack->end - unpack->at;

		if (left >= sizeof *header) {
			memcpy(header, record, sizeof *header);
			unpack->is_damaged = header->size < sizeof *header;
			if (unpack->is_damaged)
				return NULL;
			if (left >= header->size) {
				unpack->at += header->size;
				return record;
			}
		}
		if (!refill(unpack))
			return NULL;
	}
	return NULL;
}

bool perf_unpack_is_damaged(const struct perf_unpack *unpack)
{
	return unpack->is_damaged;
}

bool perf_unpack_is_cut(const struct perf_unpack *unpack)
{
	return !unpack->is_damaged && unpack->at < unpack->end;
}
