/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_streams.c - the streams of all stores in one list: sorted when the run is opened, new ones at the end
 * later, so that numbers stay.
 */
#include <stdlib.h>
#include <string.h>

#include "timeline/run_parts.h"

/* A stream that is not in the list yet. */
struct newcomer {
	const struct store_stream *s;
	const char *host;
	unsigned part;
	uint32_t id;
};

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* Host, process, then CPU threads before GPU queues, each by number. */
static int compare_newcomers(const void *x, const void *y)
{
	const struct newcomer *a = x, *b = y;
	int order = a->host == b->host ? 0 : strcmp(a->host, b->host);

	if (!order)
		order = (a->s->rank > b->s->rank) - (a->s->rank < b->s->rank);
	if (!order)
		order = compare_numbers(a->s->pid, b->s->pid);
	if (!order)
		order = compare_numbers(a->s->generation, b->s->generation);
	if (!order)
		order = compare_numbers(a->s->kind, b->s->kind);
	if (!order)
		order = compare_numbers(a->s->thread, b->s->thread);
	if (!order)
		order = compare_numbers(a->s->device, b->s->device);
	if (!order)
		order = compare_numbers(a->s->context, b->s->context);
	if (!order)
		order = compare_numbers(a->s->queue, b->s->queue);
	if (!order)
		order = compare_numbers(a->part, b->part);
	return order ? order : compare_numbers(a->id, b->id);
}

/* A number of an identity, and what stands behind it; what the stream has not is '-'. */
static char *put_number(char *at, uint32_t number, char behind)
{
	char digits[10];
	int count = 0;

	if (number == UINT32_MAX)
		*at++ = '-';
	for (uint32_t left = number; number != UINT32_MAX && (left || !count); left /= 10)
		digits[count++] = (char)('0' + left % 10);
	while (count)
		*at++ = digits[--count];
	*at++ = behind;
	return at;
}

/* Put together by hand: a run may have many thousand streams. */
static const char *identity(struct run *run, const struct store_stream *s, const char *host)
{
	bool is_gpu = s->kind == STORE_STREAM_GPU;
	size_t host_bytes = strlen(*host ? host : "-");
	char numbers[80], *at = numbers, *text;

	at = put_number(at, s->rank >= 0 ? (uint32_t)s->rank : UINT32_MAX, '/');
	at = put_number(at, s->pid, '.');
	at = put_number(at, s->generation, '/');
	if (is_gpu) {
		at = put_number(at, s->device, '/');
		at = put_number(at, s->context, '/');
	}
	at = put_number(at, is_gpu ? s->queue : s->thread, '\0');
	text = arena_alloc(&run->arena, 4 + host_bytes + 1 + (size_t)(at - numbers));
	if (!text)
		return "";
	memcpy(text, is_gpu ? "gpu:" : "cpu:", 4);
	memcpy(text + 4, *host ? host : "-", host_bytes);
	text[4 + host_bytes] = '/';
	memcpy(text + 5 + host_bytes, numbers, (size_t)(at - numbers));
	return text;
}

/* What may be learnt late. */
static void refresh(struct run *run, struct run_line_state *stream, const struct store_stream *s)
{
	const struct run_part *part = &run->parts[stream->r.store];

	if (s->name != stream->r.s.name || !stream->r.name)
		stream->r.name = store_reader_text(part->reader, s->name, NULL);
	if (s->device_name != stream->r.s.device_name || !stream->r.device_name)
		stream->r.device_name = store_reader_text(part->reader, s->device_name, NULL);
	stream->r.s = *s;
	stream->r.s.begin_ns = run_part_time(part, s->begin_ns);
	stream->r.s.end_ns = run_part_time(part, s->end_ns);
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		stream->r.s.complete_ns[track] =
			s->complete_ns[track] ? run_part_time(part, s->complete_ns[track]) : 0;
	stream->r.s.thinned_ns = s->thinned_ns ? run_part_time(part, s->thinned_ns) : 0;
	stream->is_line_known = false;
}

static int add(struct run *run, const struct newcomer *newcomer, struct error *error)
{
	uint32_t id;
	struct run_line_state *stream = table_add(&run->streams, &id);

	if (!stream)
		return error_memory(error);
	stream->r.store = newcomer->part;
	stream->r.id_in_store = newcomer->id;
	stream->r.host = newcomer->host;
	stream->r.text = identity(run, newcomer->s, newcomer->host);
	stream->r.metric = "";
	stream->spans_seen = UINT64_MAX;
	run->parts[newcomer->part].streams[newcomer->id] = id;
	refresh(run, stream, newcomer->s);
	return 0;
}

/* Room for translating `count` ids of a part's streams. */
static int widen(struct run_part *part, uint32_t count, struct error *error)
{
	uint32_t *streams = realloc(part->streams, ((size_t)count + 1) * sizeof *streams);

	if (!streams)
		return error_memory(error);
	part->streams = streams;
	return 0;
}

/* Takes the streams of one part: known ones are refreshed, the others written to `newcomers`. */
static size_t take(
	struct run *run, unsigned p, const struct store_stream *s, uint32_t count, struct newcomer *newcomers)
{
	struct run_part *part = &run->parts[p];
	const char *host = "";
	uint32_t host_text = 0;
	size_t found = 0;

	for (uint32_t id = 0; id < count; id++) {
		if (id < part->stream_count) {
			refresh(run, table_at(&run->streams, part->streams[id]), &s[id]);
			continue;
		}
		if (s[id].host != host_text)
			host = run_intern_text(run, p, s[id].host);
		host_text = s[id].host;
		newcomers[found++] = (struct newcomer){&s[id], host, p, id};
	}
	part->stream_count = count;
	return found;
}

/* Most stores have them in order already. */
static void sort(struct newcomer *newcomers, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (compare_newcomers(&newcomers[i - 1], &newcomers[i]) > 0) {
			qsort(newcomers, count, sizeof *newcomers, compare_newcomers);
			return;
		}
}

int run_streams_renew(struct run *run, struct error *error)
{
	struct newcomer *newcomers = NULL;
	size_t count = 0;
	int code = 0;

	for (unsigned p = 0; p < run->part_count; p++) {
		struct run_part *part = &run->parts[p];
		struct newcomer *more;
		uint32_t in_store;
		const struct store_stream *s = store_reader_streams(part->reader, &in_store);

		if (in_store < part->stream_count) {
			free(newcomers);
			return error_set(
				error, ERROR_RUN, "%s has lost streams since it was opened", part->path);
		}
		more = realloc(newcomers, (count + in_store - part->stream_count + 1) * sizeof *more);
		if (!more || widen(part, in_store, error)) {
			free(more ? more : newcomers);
			return error_memory(error);
		}
		newcomers = more;
		count += take(run, p, s, in_store, newcomers + count);
	}
	sort(newcomers, count);
	for (size_t i = 0; i < count && !code; i++)
		code = add(run, &newcomers[i], error);
	free(newcomers);
	return code;
}

uint32_t run_stream_count(const struct run *run)
{
	return run->streams.count;
}

const struct run_stream *run_stream(const struct run *run, uint32_t stream)
{
	if (stream >= run->streams.count)
		return NULL;
	return &((const struct run_line_state *)table_at(&run->streams, stream))->r;
}

const struct run_stream *run_stream_read(struct run *run, uint32_t stream)
{
	struct run_line_state *state;
	const struct run_line *line;

	if (stream >= run->streams.count)
		return NULL;
	state = table_at(&run->streams, stream);
	/* Damage shows again, with its sentence, where the records are read. */
	if (!run_line(run, stream, &line, NULL)) {
		state->r.period_ns = line->period_ns;
		state->r.metric = line->metric;
	}
	return &state->r;
}
