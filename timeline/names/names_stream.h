/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_stream.h - reads and writes frames of store/catalog/symbol_protocol.h on a descriptor, blocking.
 */
#ifndef TIMELINE_NAMES_STREAM_H
#define TIMELINE_NAMES_STREAM_H

#include <stdbool.h>

#include "store/catalog/symbol_protocol.h"

/* Set `fd`, all else zero. End it with store_bytes_fini(&in); the owner closes `fd`. */
struct names_stream {
	int fd;
	struct store_bytes in;
	size_t taken; /* bytes of `in` already returned */
	/* Called before each read(); false: give up. NULL: always wait. */
	bool (*wait)(void *context);
	void *context;
};

struct symbol_frame {
	const uint8_t *bytes; /* valid until the next call */
	size_t size;
	uint32_t type;
};

/* 1: the next frame; 0: the other side has ended normally; negative: it stopped inside a frame, sent damage,
 * or waiting was given up. */
int names_stream_next(struct names_stream *stream, struct symbol_frame *frame, struct error *error);

/* True when the next frame (or damage) is buffered, so that names_stream_next() will not wait. */
bool names_stream_has(const struct names_stream *stream);

/* Writes everything and empties the buffer; negative: the other side is closed (no signal if `fd` is a
 * socket). */
int names_stream_write(int fd, struct store_bytes *out, struct error *error);

#endif
