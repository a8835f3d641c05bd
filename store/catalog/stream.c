/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - encodes streams of stores before 5.0, and open spans, as varints.
 */
#include "store/catalog/stream.h"

#include <inttypes.h>
#include <stdio.h>

#define FIELDS 17u	/* before the tracks, whose number is the last */
#define TRACK_FIELDS 3u /* of each track */
#define FIELDS_ALL (FIELDS + TRACK_FIELDS * STORE_TRACK_COUNT)
#define FAST_BYTES 8u

/* The next of so many numbers. A run may have many thousand streams: what a number of eight bytes at most
 * costs is what opening it costs. */
static inline uint64_t next(const uint8_t **at, const uint8_t *end, bool *bad)
{
	struct store_input input;
	uint64_t value, eight, ends;

	if (end - *at >= (ptrdiff_t)FAST_BYTES) {
		if (**at < 0x80)
			return *(*at)++;
		eight = store_load64(*at);
		ends = ~eight & 0x8080808080808080u;
		if (ends) {
			*at += ((unsigned)__builtin_ctzll(ends) >> 3) + 1;
			return store_squeeze(eight & (ends ^ (ends - 1)));
		}
	}
	input = (struct store_input){*at, end, *bad};
	value = store_input_varint(&input);
	*at = input.at;
	*bad = input.bad;
	return value;
}

static inline __attribute__((always_inline)) void get_fields(
	struct store_input *input, uint64_t *fields, unsigned count)
{
	const uint8_t *at = input->at, *const end = input->end;
	bool bad = input->bad;

#pragma GCC unroll 32
	for (unsigned i = 0; i < count; i++)
		fields[i] = next(&at, end, &bad);
	input->at = at;
	input->bad = bad;
}

/* Since 1.3. */
static void get_thinned(struct store_stream *stream, struct store_input *entry)
{
	stream->thinned_ns = 0;
	memset(stream->dropped, 0, sizeof stream->dropped);
	if (entry->bad || entry->at == entry->end)
		return;
	stream->thinned_ns = store_input_varint(entry);
	for (unsigned track = 0; track < STORE_TRACK_COUNT && stream->thinned_ns; track++) {
		stream->dropped[track] = store_input_varint(entry);
		entry->bad |= stream->dropped[track] > stream->count[track];
	}
}

/* A writer of another day may have other tracks, those known here before them. */
static void get_tracks(struct store_input *input, uint64_t tracks, uint64_t *fields)
{
	const unsigned known = tracks < STORE_TRACK_COUNT ? (unsigned)tracks : STORE_TRACK_COUNT;

	get_fields(input, fields, TRACK_FIELDS * known);
	for (unsigned i = TRACK_FIELDS * known; i < TRACK_FIELDS * STORE_TRACK_COUNT; i++)
		fields[i] = 0;
}

static bool are_sound(const struct store_stream *stream, const uint64_t *fields, uint32_t texts)
{
	const uint64_t wide = fields[0] | fields[1] | fields[3] | fields[4] | fields[5] | fields[6] |
			      fields[7] | fields[8] | fields[9] | fields[10] | fields[11];

	return wide <= UINT32_MAX && stream->host < texts && stream->name < texts &&
	       stream->device_name < texts && stream->kind < STORE_STREAM_KINDS;
}

/* Its numbers are read with all that follows in sight, which is the fast way; that they have not left the
 * entry is seen behind them. */
static void get_stream(struct store_stream *stream, struct store_input *input, uint32_t texts)
{
	const uint64_t size = store_input_varint(input);
	struct store_input numbers = *input, entry;
	const uint8_t *bytes = store_input_take(input, size);
	uint64_t fields[FIELDS_ALL], *const tracks = fields + FIELDS;

	numbers.bad = !bytes;
	get_fields(&numbers, fields, FIELDS);
	get_tracks(&numbers, fields[FIELDS - 1], tracks);
	entry = (struct store_input){numbers.at, input->at, numbers.bad || numbers.at > input->at};
	stream->kind = (enum store_stream_kind)fields[0];
	stream->host = (uint32_t)fields[1];
	stream->rank = (int32_t)(fields[2] - 1);
	stream->pid = (uint32_t)fields[3];
	stream->generation = (uint32_t)fields[4];
	stream->thread = (uint32_t)fields[5];
	stream->device = (uint32_t)fields[6];
	stream->context = (uint32_t)fields[7];
	stream->queue = (uint32_t)fields[8];
	stream->tid = (uint32_t)fields[9];
	stream->name = (uint32_t)fields[10];
	stream->device_name = (uint32_t)fields[11];
	stream->begin_ns = fields[12];
	stream->end_ns = fields[13] - 1;
	stream->lost = fields[14];
	stream->partial = fields[15];
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++) {
		stream->count[track] = tracks[TRACK_FIELDS * track];
		stream->complete_ns[track] = tracks[TRACK_FIELDS * track + 1];
		stream->shifts[track] = tracks[TRACK_FIELDS * track + 2];
	}
	get_thinned(stream, &entry);
	input->bad |= entry.bad || !are_sound(stream, fields, texts);
}

uint32_t store_streams_get(
	struct store_stream *streams, uint32_t room, struct store_input *input, uint32_t texts)
{
	uint32_t count = 0;

	while (count < room && !input->bad && input->at < input->end)
		get_stream(&streams[count++], input, texts);
	return count;
}

/* ---- lists ---- */

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

int store_stream_compare(const struct store_stream *a, const struct store_stream *b)
{
	int order = (a->rank > b->rank) - (a->rank < b->rank);

	order = order ? order : compare_numbers(a->pid, b->pid);
	order = order ? order : compare_numbers(a->generation, b->generation);
	order = order ? order : compare_numbers(a->kind, b->kind);
	order = order ? order : compare_numbers(a->thread, b->thread);
	order = order ? order : compare_numbers(a->device, b->device);
	order = order ? order : compare_numbers(a->context, b->context);
	return order ? order : compare_numbers(a->queue, b->queue);
}

static bool is_in_order(
	const struct store_stream *a, const struct store_stream *b, const struct store_texts *texts)
{
	int order = a->host == b->host ? 0
				       : strcmp((const char *)store_texts_at(texts, a->host).bytes,
						 (const char *)store_texts_at(texts, b->host).bytes);

	return order ? order < 0 : store_stream_compare(a, b) <= 0;
}

bool store_stream_list_of(struct store_stream_list *list, const struct store_stream *streams, uint32_t count,
	const struct store_texts *texts)
{
	const struct store_stream *last = NULL;

	*list = (struct store_stream_list){.count = count, .begin_ns = UINT64_MAX};
	for (uint32_t i = 0; i < count; i++) {
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			list->records[track] += streams[i].count[track];
		if (streams[i].kind == STORE_STREAM_GAUGES)
			continue;
		if (streams[i].end_ns == STORE_OPEN_NS || streams[i].end_ns <= streams[i].begin_ns ||
			(last && !is_in_order(last, &streams[i], texts)))
			return false;
		last = &streams[i];
		if (streams[i].begin_ns < list->begin_ns)
			list->begin_ns = streams[i].begin_ns;
		if (streams[i].end_ns > list->end_ns)
			list->end_ns = streams[i].end_ns;
	}
	return last != NULL;
}

#define LIST_FORMAT(number) "%" number " %" number " %" number " %" number " %" number " %" number

void store_stream_list_put(const struct store_stream_list *list, char text[STORE_STREAM_LIST_BYTES])
{
	snprintf(text, STORE_STREAM_LIST_BYTES, LIST_FORMAT(PRIu64), list->count, list->begin_ns,
		list->end_ns, list->records[STORE_SAMPLES], list->records[STORE_SPANS],
		list->records[STORE_VALUES]);
}

bool store_stream_list_get(struct store_stream_list *list, const char *text)
{
	int end = 0;

	return sscanf(text, LIST_FORMAT(SCNu64) "%n", &list->count, &list->begin_ns, &list->end_ns,
		       &list->records[STORE_SAMPLES], &list->records[STORE_SPANS],
		       &list->records[STORE_VALUES], &end) == 6 &&
	       !text[end] && list->begin_ns < list->end_ns && list->end_ns != STORE_OPEN_NS;
}

/* ---- open spans ---- */

void store_open_span_put(const struct store_open_span *span, struct store_bytes *out)
{
	const struct store_record *record = &span->record;
	const uint64_t fields[] = {span->handle, record->begin_ns, record->amount, record->bytes,
		record->link, record->context, record->what, record->attributes, record->flags};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		store_bytes_put_varint(out, fields[i]);
}

void store_open_span_get(struct store_open_span *span, struct store_input *input)
{
	struct store_record *record = &span->record;

	span->handle = store_input_varint(input);
	*record = (struct store_record){.begin_ns = store_input_varint(input), .end_ns = STORE_OPEN_NS};
	record->amount = store_input_varint(input);
	record->bytes = store_input_varint(input);
	record->link = store_input_varint(input);
	record->context = store_input_u32(input);
	record->what = store_input_u32(input);
	record->attributes = store_input_u32(input);
	record->flags = store_input_u32(input);
}
