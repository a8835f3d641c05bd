/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_streams.c - the streams of all stores in one list: sorted when the run is opened, new ones appended
 * later, so that numbers stay. The list holds each stream's store and id; texts are built on first use.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/run/run_internal.h"

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* Valid until the next one. */
static const struct store_stream *stored_at(const struct run *run, const struct run_place *place)
{
	return store_reader_stream_peek(run->parts[place->part].reader, place->id);
}

const struct store_stream *run_stored_stream(
	const struct run *run, uint32_t stream, const struct run_part **part)
{
	*part = &run->parts[run->places[stream].part];
	return stored_at(run, &run->places[stream]);
}

static int compare_hosts(const struct run *run, const struct run_place *a, uint32_t a_text,
	const struct run_place *b, uint32_t b_text)
{
	if (a->part == b->part && a_text == b_text)
		return 0;
	return strcmp(store_reader_text(run->parts[a->part].reader, a_text, NULL),
		store_reader_text(run->parts[b->part].reader, b_text, NULL));
}

/* Host, process, then CPU threads before GPU queues, each by number. */
static int compare_places(const void *x, const void *y, void *own)
{
	const struct run *run = own;
	const struct run_place *a_place = x, *b_place = y;
	const struct store_stream *a = store_reader_stream(run->parts[a_place->part].reader, a_place->id);
	const struct store_stream *b = store_reader_stream(run->parts[b_place->part].reader, b_place->id);
	int order = compare_hosts(run, a_place, a->host, b_place, b->host);

	if (!order)
		order = store_stream_compare(a, b);
	if (!order)
		order = compare_numbers(a_place->part, b_place->part);
	return order ? order : compare_numbers(a_place->id, b_place->id);
}

#define NUMBERS_BYTES \
	96u /* of an identity at most: six numbers, what stands between them, and room for one more */

/* A number of an identity, and what stands behind it; what the stream has not is '-'. */
static char *put_number(char *at, uint32_t number, char behind)
{
	if (number == UINT32_MAX)
		*at++ = '-';
	else
		at += store_decimal_put(at, number);
	*at++ = behind;
	return at;
}

/* The identity into `out`; bytes of it, its NUL counted. Put together by hand: a run may have many thousand
 * streams. */
static size_t put_identity(char *out, const struct store_stream *s, const char *host, size_t host_bytes)
{
	const bool is_gpu = s->kind != STORE_STREAM_CPU, is_gauges = s->kind == STORE_STREAM_GAUGES;
	char *at = stpcpy(out, is_gauges ? "gauges:" : is_gpu ? "gpu:" : "cpu:");

	memcpy(at, host, host_bytes + 1); /* each NUL makes way for what follows */
	at += host_bytes;
	*at++ = '/';
	at = put_number(at, s->rank >= 0 ? (uint32_t)s->rank : UINT32_MAX, '/');
	at = put_number(at, s->pid, '.');
	at = put_number(at, s->generation, '/');
	if (is_gauges) {
		at = put_number(at, s->device, '\0');
		return (size_t)(at - out);
	}
	if (is_gpu) {
		at = put_number(at, s->device, '/');
		at = put_number(at, s->context, '/');
	}
	if (s->kind == STORE_STREAM_PC) {
		memcpy(at, "pc", sizeof "pc");
		return (size_t)(at + sizeof "pc" - out);
	}
	at = put_number(at, is_gpu ? s->queue : s->thread, '\0');
	return (size_t)(at - out);
}

/* Another thread of the process that was described last? Then all but its number is there. */
static bool is_sibling(const struct run_sibling *last, const struct store_stream *s, const char *host)
{
	return last->bytes && last->host == host && s->kind == STORE_STREAM_CPU && last->rank == s->rank &&
	       last->pid == s->pid && last->generation == s->generation;
}

static void note_sibling(
	struct run_sibling *last, const struct store_stream *s, const char *host, const char *text)
{
	*last = (struct run_sibling){
		.host = host, .rank = s->rank, .pid = s->pid, .generation = s->generation};
	if (s->kind == STORE_STREAM_CPU)
		last->bytes = (size_t)(strrchr(text, '/') + 1 - text);
}

/* In room that serves all, until the next one; "": no memory. */
static const char *identity(struct run *run, const struct store_stream *s, const char *host, size_t *bytes)
{
	char *text = (char *)run->identity.data;
	size_t host_bytes;

	if (is_sibling(&run->sibling, s, host)) {
		*bytes = (size_t)(put_number(text + run->sibling.bytes, s->thread, '\0') - text);
		return text;
	}
	host_bytes = strlen(host);
	run->identity.size = *bytes = run->sibling.bytes = 0;
	if (!host_bytes)
		return identity(run, s, "-", bytes);
	text = (char *)store_bytes_reserve(&run->identity, sizeof "gauges:" + host_bytes + NUMBERS_BYTES);
	if (!text)
		return "";
	*bytes = put_identity(text, s, host, host_bytes);
	note_sibling(&run->sibling, s, host, text);
	return text;
}

/* As the store has it, its times on the clock of the run. */
static void copy(struct run_stream *r, const struct run_part *part, const struct store_stream *s)
{
	r->s = *s;
	if (!part->shift_ns)
		return;
	r->s.begin_ns = run_part_time(part, s->begin_ns);
	r->s.end_ns = run_part_time(part, s->end_ns);
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		r->s.complete_ns[track] =
			s->complete_ns[track] ? run_part_time(part, s->complete_ns[track]) : 0;
	r->s.thinned_ns = s->thinned_ns ? run_part_time(part, s->thinned_ns) : 0;
}

/* What may be learnt late. */
static void refresh(struct run_stream *r, const struct run_part *part, const struct store_stream *s)
{
	if (s->name != r->s.name || !r->name)
		r->name = store_reader_text(part->reader, s->name, NULL);
	if (s->device_name != r->s.device_name || !r->device_name)
		r->device_name = store_reader_text(part->reader, s->device_name, NULL);
	copy(r, part, s);
}

/* What stays. Streams that follow each other have one host, mostly. */
static void identify(
	struct run *run, const struct run_place *place, const struct store_stream *s, struct run_stream *r)
{
	struct run_host *host = &run->host;

	if (!host->text || host->part != place->part || host->id != s->host)
		*host = (struct run_host){place->part, s->host, run_intern_text(run, place->part, s->host)};
	r->store = place->part;
	r->id_in_store = place->id;
	r->host = host->text;
	r->metric = "";
}

/* Streams not used cost nothing: a run may have many thousand, and a screen shows fifty. */
static void meet(struct run *run, uint32_t id, struct run_line_state *stream)
{
	struct run_place *place = &run->places[id];
	const struct store_stream *s = stored_at(run, place);
	const char *text;
	size_t bytes;

	stream->line = intern_table_at(&run->lines, id);
	identify(run, place, s, &stream->r);
	refresh(&stream->r, &run->parts[place->part], s);
	text = identity(run, s, stream->r.host, &bytes);
	text = bytes ? arena_copy(&run->arena, text, bytes - 1) : NULL;
	stream->r.text = text ? text : "";
	stream->spans_seen = UINT64_MAX;
	place->is_met = true;
	run->met[run->met_count++] = id;
}

struct run_line_state *run_line_state(const struct run *run, uint32_t stream)
{
	struct run_line_state *state = intern_table_at(&run->streams, stream);

	if (!run->places[stream].is_met) /* what is only looked up late was there all the time */
		meet((struct run *)(uintptr_t)run, stream, state);
	return state;
}

/* Room for `count` streams in all. */
static int widen(struct run *run, uint32_t count, struct error *error)
{
	return array_resize(&run->places, (size_t)count + 1, sizeof *run->places) &&
			       array_resize(&run->met, (size_t)count + 1, sizeof *run->met) &&
			       intern_table_grow(&run->streams, count) &&
			       intern_table_grow(&run->lines, count)
		       ? 0
		       : error_memory(error);
}

/* An entry while sorting, with the deciding keys first. */
struct sorting {
	uint64_t rank_and_pid;
	const struct store_stream *s;
	struct run_place place;
};

static uint64_t rank_and_pid_of(const struct store_stream *s)
{
	return (uint64_t)((uint32_t)s->rank ^ 1u << 31) << 32 | s->pid;
}

static int compare_sorting(const void *x, const void *y, void *own)
{
	const struct sorting *a = x, *b = y;

	if (a->place.part == b->place.part && a->rank_and_pid != b->rank_and_pid && a->s->host == b->s->host)
		return a->rank_and_pid < b->rank_and_pid ? -1 : 1;
	return compare_places(&a->place, &b->place, own);
}

/* In place where there is no memory for better. */
static void sort_all(struct run *run, struct run_place *places, size_t count)
{
	struct sorting *all = malloc(count * sizeof *all);

	for (size_t i = 0; all && i < count; i++) {
		const struct store_stream *s =
			store_reader_stream(run->parts[places[i].part].reader, places[i].id);

		all[i] = (struct sorting){rank_and_pid_of(s), s, places[i]};
	}
	if (!all) {
		qsort_r(places, count, sizeof *places, compare_places, run);
		return;
	}
	qsort_r(all, count, sizeof *all, compare_sorting, run);
	for (size_t i = 0; i < count; i++)
		places[i] = all[i].place;
	free(all);
}

/* Gauges' streams may stand anywhere in it. */
static const struct store_stream_list *list_in_order(const struct run *run, unsigned part)
{
	const struct store_reader *reader = run->parts[part].reader;

	return store_reader_timed_count(reader) == store_reader_stream_count(reader)
		       ? store_reader_stream_list(reader)
		       : NULL;
}

/* Most stores have them in order already, and finished ones say so. */
static void sort(struct run *run, struct run_place *places, size_t count)
{
	const struct store_stream_list *list = NULL;
	unsigned part = UINT_MAX;

	for (size_t i = 1; i < count; i++) {
		if (places[i - 1].part != part) {
			part = places[i - 1].part;
			list = list_in_order(run, part);
		}
		if (list && places[i].part == part)
			continue;
		if (compare_places(&places[i - 1], &places[i], run) > 0) {
			sort_all(run, places, count);
			return;
		}
	}
}

static int count_streams(const struct run *run, uint32_t *count, struct error *error)
{
	uint64_t all = 0;

	for (unsigned p = 0; p < run->part_count; p++) {
		const struct run_part *part = &run->parts[p];
		uint32_t in_store = store_reader_stream_count(part->reader);

		if (in_store < part->stream_count)
			return error_set(
				error, ERROR_RUN, "%s has lost streams since it was opened", part->path);
		all += in_store;
	}
	*count = (uint32_t)all;
	return all < INTERN_TABLE_NONE ? 0 : error_memory(error);
}

static void refresh_met(struct run *run, uint32_t id)
{
	const struct run_place *place = &run->places[id];
	struct run_line_state *stream = intern_table_at(&run->streams, id);

	refresh(&stream->r, &run->parts[place->part], stored_at(run, place));
	stream->is_line_known = false;
}

int run_streams_renew(struct run *run, struct error *error)
{
	const uint32_t before = run->streams.count;
	uint32_t count = 0, at = before;
	int code = count_streams(run, &count, error);

	code = code ? code : widen(run, count, error);
	if (code)
		return code;
	for (uint32_t i = 0; i < run->met_count; i++)
		refresh_met(run, run->met[i]);
	for (unsigned p = 0; p < run->part_count; p++) {
		struct run_part *part = &run->parts[p];
		uint32_t in_store = store_reader_stream_count(part->reader);

		for (; part->stream_count < in_store; part->stream_count++)
			run->places[at++] = (struct run_place){.part = p, .id = part->stream_count};
	}
	sort(run, run->places + before, count - before);
	return 0;
}

uint32_t run_stream_count(const struct run *run)
{
	return run->streams.count;
}

uint32_t run_timed_count(const struct run *run)
{
	uint32_t gauges = 0;

	for (unsigned p = 0; p < run->part_count; p++)
		gauges += store_reader_stream_count(run->parts[p].reader) -
			  store_reader_timed_count(run->parts[p].reader);
	return run->streams.count - (gauges < run->streams.count ? gauges : run->streams.count);
}

const struct run_stream *run_stream(const struct run *run, uint32_t stream)
{
	return stream < run->streams.count ? &run_line_state(run, stream)->r : NULL;
}

const struct run_stream *run_stream_peek_unnamed(struct run *run, uint32_t stream)
{
	const struct run_place *place = &run->places[stream];
	const struct store_stream *s;

	if (place->is_met)
		return &run_line_state(run, stream)->r;
	s = stored_at(run, place);
	identify(run, place, s, &run->peeked);
	copy(&run->peeked, &run->parts[place->part], s);
	run->peeked.text = run->peeked.name = run->peeked.device_name = NULL;
	return &run->peeked;
}

const struct run_stream *run_stream_peek(struct run *run, uint32_t stream)
{
	const struct run_stream *unnamed = run_stream_peek_unnamed(run, stream);
	const struct store_reader *reader = run->parts[run->places[stream].part].reader;
	struct run_stream *r = &run->peeked;
	size_t bytes;

	if (unnamed != r)
		return unnamed;
	r->device_name = store_reader_text(reader, r->s.device_name, NULL); /* many have one */
	r->name = store_reader_text_peek(reader, r->s.name);
	r->text = identity(run, &r->s, r->host, &bytes);
	return r;
}

const struct run_stream *run_stream_read(struct run *run, uint32_t stream)
{
	struct run_line_state *state;
	const struct run_line *line;

	if (stream >= run->streams.count)
		return NULL;
	state = run_line_state(run, stream);
	/* Damage shows again, with its sentence, where the records are read. */
	if (!run_line(run, stream, &line, NULL)) {
		state->r.period_ns = line->period_ns;
		state->r.metric = line->metric;
		state->r.uuid = line->uuid;
	}
	return &state->r;
}
