/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - streams and open spans as varints.
 */
#include "store/stream.h"

void store_stream_put(const struct store_stream *stream, struct store_bytes *out)
{
	const uint64_t fields[] = {stream->kind, stream->host, (uint64_t)((int64_t)stream->rank + 1),
		stream->pid, stream->generation, stream->thread, stream->device, stream->context,
		stream->queue, stream->tid, stream->name, stream->device_name, stream->begin_ns,
		stream->end_ns + 1, stream->lost, stream->partial, STORE_TRACK_COUNT};
	struct store_bytes entry = {0};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		store_bytes_put_varint(&entry, fields[i]);
	for (unsigned track = 0; track < STORE_TRACK_COUNT; track++) {
		store_bytes_put_varint(&entry, stream->count[track]);
		store_bytes_put_varint(&entry, stream->complete_ns[track]);
		store_bytes_put_varint(&entry, stream->shifts[track]);
	}
	store_bytes_put_varint(&entry, stream->thinned_ns);
	for (unsigned track = 0; track < STORE_TRACK_COUNT && stream->thinned_ns; track++)
		store_bytes_put_varint(&entry, stream->dropped[track]);
	out->failed |= entry.failed;
	store_bytes_put_varint(out, entry.size);
	store_bytes_put(out, entry.data, entry.size);
	store_bytes_fini(&entry);
}

static void get_identity(struct store_stream *stream, struct store_input *entry)
{
	stream->kind = store_input_u32(entry);
	stream->host = store_input_u32(entry);
	stream->rank = (int32_t)(store_input_varint(entry) - 1);
	stream->pid = store_input_u32(entry);
	stream->generation = store_input_u32(entry);
	stream->thread = store_input_u32(entry);
	stream->device = store_input_u32(entry);
	stream->context = store_input_u32(entry);
	stream->queue = store_input_u32(entry);
	stream->tid = store_input_u32(entry);
	stream->name = store_input_u32(entry);
	stream->device_name = store_input_u32(entry);
}

/* Since 1.3. */
static void get_thinned(struct store_stream *stream, struct store_input *entry)
{
	if (entry->bad || entry->at == entry->end)
		return;
	stream->thinned_ns = store_input_varint(entry);
	for (unsigned track = 0; track < STORE_TRACK_COUNT && stream->thinned_ns; track++) {
		stream->dropped[track] = store_input_varint(entry);
		entry->bad |= stream->dropped[track] > stream->count[track];
	}
}

static void get_tracks(struct store_stream *stream, struct store_input *entry)
{
	uint64_t tracks = store_input_varint(entry);

	for (uint64_t track = 0; track < tracks && track < STORE_TRACK_COUNT; track++) {
		stream->count[track] = store_input_varint(entry);
		stream->complete_ns[track] = store_input_varint(entry);
		stream->shifts[track] = store_input_varint(entry);
	}
}

void store_stream_get(struct store_stream *stream, struct store_input *input, uint32_t texts)
{
	uint64_t size = store_input_varint(input);
	const uint8_t *at = store_input_take(input, size);
	struct store_input entry = {.at = at, .end = at ? at + size : NULL, .bad = !at};

	*stream = (struct store_stream){0};
	get_identity(stream, &entry);
	stream->begin_ns = store_input_varint(&entry);
	stream->end_ns = store_input_varint(&entry) - 1;
	stream->lost = store_input_varint(&entry);
	stream->partial = store_input_varint(&entry);
	get_tracks(stream, &entry);
	get_thinned(stream, &entry);
	if (entry.bad || stream->host >= texts || stream->name >= texts || stream->device_name >= texts ||
		stream->kind > STORE_STREAM_GPU)
		input->bad = true;
}

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
