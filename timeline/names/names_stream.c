/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_stream.c - reads whole frames from a pipe or socket, however they are split, and writes them.
 */
#include "timeline/names/names_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES 65536u

/* Room to read into, behind what is not handed out yet. */
static uint8_t *stream_reserve(struct names_stream *stream)
{
	struct store_bytes *in = &stream->in;

	if (stream->taken) {
		memmove(in->data, in->data + stream->taken, in->size - stream->taken);
		in->size -= stream->taken;
		stream->taken = 0;
	}
	return store_bytes_reserve(in, READ_BYTES);
}

int names_stream_next(struct names_stream *stream, struct symbol_frame *frame, struct error *error)
{
	for (;;) {
		size_t left = stream->in.size - stream->taken;
		const uint8_t *at = left ? stream->in.data + stream->taken : (const uint8_t *)"";
		uint8_t *to;
		ssize_t size = symbol_frame_peek(at, left, &frame->type, error);

		if (size < 0)
			return (int)size;
		if (size > 0) {
			frame->bytes = at;
			frame->size = (size_t)size;
			stream->taken += (size_t)size;
			return 1;
		}
		to = stream_reserve(stream);
		if (!to)
			return error_memory(error);
		if (stream->wait && !stream->wait(stream->context))
			return error_set(error, ERROR_IO, "no answer came in time");
		size = read(stream->fd, to, stream->in.capacity - stream->in.size);
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return error_set(error, ERROR_IO, "cannot read: %s", strerror(errno));
		if (size == 0)
			return left ? error_set(error, ERROR_IO, "the other side stopped amid a message") : 0;
		stream->in.size += (size_t)size;
	}
}

bool names_stream_has(const struct names_stream *stream)
{
	size_t left = stream->in.size - stream->taken;
	uint32_t type;

	return left && symbol_frame_peek(stream->in.data + stream->taken, left, &type, NULL);
}

int names_stream_write(int fd, struct store_bytes *out, struct error *error)
{
	size_t at = 0;

	while (at < out->size) {
		ssize_t sent = send(fd, out->data + at, out->size - at, MSG_NOSIGNAL);

		if (sent < 0 && errno == ENOTSOCK)
			sent = write(fd, out->data + at, out->size - at);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return error_set(error, ERROR_IO, "cannot write: %s", strerror(errno));
		at += (size_t)sent;
	}
	out->size = 0;
	return 0;
}
