/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_text.c - parses from the right, because a host's name may contain anything, also slashes:
 *
 *   cpu:HOST/RANK/PID.GENERATION/THREAD
 *   gpu:HOST/RANK/PID.GENERATION/DEVICE/CONTEXT/QUEUE
 *   gpu:HOST/RANK/PID.GENERATION/DEVICE/CONTEXT/pc
 *   gauges:HOST/RANK/PID.GENERATION/DEVICE
 */
#include "formats/base/stream_text.h"

#include <string.h>

/* Takes the part behind the last `separator` off the text. */
static bool take_last(const char *text, size_t *size, char separator, const char **part, size_t *part_size)
{
	const char *at = memrchr(text, separator, *size);

	if (!at)
		return false;
	*part = at + 1;
	*part_size = *size - (size_t)(at + 1 - text);
	*size = (size_t)(at - text);
	return true;
}

static bool parse_number(const char *text, size_t size, uint32_t *number)
{
	uint64_t value = 0;

	*number = UINT32_MAX;
	if (size == 1 && text[0] == '-')
		return true;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text[i] - '0');
		if (value >= UINT32_MAX)
			return false;
	}
	*number = (uint32_t)value;
	return size > 0;
}

static bool take_number(const char *text, size_t *size, char separator, uint32_t *number)
{
	const char *part;
	size_t part_size;

	return take_last(text, size, separator, &part, &part_size) && parse_number(part, part_size, number);
}

/* The queue, or "pc": samples of instructions are of no queue. */
static bool take_queue(const char *text, size_t *size, struct store_stream *stream)
{
	const char *part;
	size_t part_size;

	if (!take_last(text, size, '/', &part, &part_size))
		return false;
	stream->queue = UINT32_MAX;
	if (part_size != 2 || memcmp(part, "pc", 2) != 0)
		return parse_number(part, part_size, &stream->queue);
	stream->kind = STORE_STREAM_PC;
	return true;
}

/* HOST/RANK/PID.GENERATION */
static bool parse_process(
	const char *text, size_t size, struct store_stream *stream, const char **host, size_t *host_size)
{
	const char *process;
	size_t process_size;
	uint32_t rank;

	if (!take_last(text, &size, '/', &process, &process_size) ||
		!take_number(process, &process_size, '.', &stream->generation) ||
		!parse_number(process, process_size, &stream->pid) || !take_number(text, &size, '/', &rank))
		return false;
	if (rank != UINT32_MAX && rank > INT32_MAX)
		return false;
	stream->rank = rank == UINT32_MAX ? -1 : (int32_t)rank;
	*host = text;
	*host_size = size == 1 && text[0] == '-' ? 0 : size;
	return size > 0;
}

bool stream_text_parse(
	const char *text, size_t size, struct store_stream *stream, const char **host, size_t *host_size)
{
	bool is_gpu = size > 4 && memcmp(text, "gpu:", 4) == 0;

	*stream = (struct store_stream){.kind = is_gpu ? STORE_STREAM_GPU : STORE_STREAM_CPU};
	if (size > 7 && memcmp(text, "gauges:", 7) == 0) {
		stream->kind = STORE_STREAM_GAUGES;
		text += 7;
		size -= 7;
		return take_number(text, &size, '/', &stream->device) &&
		       parse_process(text, size, stream, host, host_size);
	}
	if (!is_gpu && !(size > 4 && memcmp(text, "cpu:", 4) == 0))
		return false;
	text += 4;
	size -= 4;
	if (is_gpu ? !take_queue(text, &size, stream) || !take_number(text, &size, '/', &stream->context) ||
				!take_number(text, &size, '/', &stream->device)
		   : !take_number(text, &size, '/', &stream->thread))
		return false;
	return parse_process(text, size, stream, host, host_size);
}
