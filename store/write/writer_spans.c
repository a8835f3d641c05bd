/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_spans.c - open spans. Each is in the file, by stream and handle, from one commit to the next, so
 * that a run that breaks off still shows what was going on; once it ends it becomes a normal record.
 */
#include "store/base/id_table.h"
#include "store/write/writer_internal.h"

static struct open_spans *open_spans_of(struct store_writer *writer, uint32_t stream)
{
	struct open_spans *open;

	while (writer->open_of_count <= stream)
		if (!store_id_table_add((void **)&writer->open_of, &writer->open_of_count,
			    &writer->open_of_capacity, sizeof *writer->open_of))
			return NULL;
	if (writer->open_of[stream])
		return &writer->open[writer->open_of[stream] - 1];
	open = store_id_table_add(
		(void **)&writer->open, &writer->open_count, &writer->open_capacity, sizeof *open);
	if (!open)
		return NULL;
	open->stream = stream;
	writer->open_of[stream] = writer->open_count;
	return open;
}

/* Searches the newest first: they are the likeliest. */
static struct store_open_span *span_find(const struct open_spans *open, uint64_t handle)
{
	for (uint32_t i = open->count; i-- > 0;)
		if (open->spans[i].handle == handle)
			return &open->spans[i];
	return NULL;
}

void store_writer_span_open(
	struct store_writer *writer, uint32_t stream, uint64_t handle, const struct store_record *record)
{
	struct open_spans *open;
	struct store_open_span *span;

	if (stream >= writer->stream_count)
		return;
	open = open_spans_of(writer, stream);
	span = open ? span_find(open, handle) : NULL;
	if (open && !span)
		span = store_id_table_add((void **)&open->spans, &open->count, &open->capacity, sizeof *span);
	if (!span) {
		writer->failed = true;
		return;
	}
	span->handle = handle;
	span->record = *record;
	span->record.end_ns = STORE_OPEN_NS;
	open->is_dirty = true;
	store_state_builders_open(
		&writer->builders, stream, &writer->streams[stream], record, &writer->texts);
}

void store_writer_span_close(
	struct store_writer *writer, uint32_t stream, uint64_t handle, const struct store_record *finished)
{
	struct open_spans *open = stream < writer->open_of_count && writer->open_of[stream]
					  ? &writer->open[writer->open_of[stream] - 1]
					  : NULL;
	struct store_open_span *span = open ? span_find(open, handle) : NULL;

	if (span) {
		*span = open->spans[--open->count];
		open->is_dirty = true;
	}
	if (finished)
		store_writer_append(writer, stream, STORE_SPANS, finished, 1);
}
