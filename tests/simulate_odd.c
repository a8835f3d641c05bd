/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate_odd.c - the shape of all that is allowed but rare: names that need every escape, records late,
 * equal, endless and overlapping, values of both kinds. It provokes bugs in readers, exports and imports.
 */
#include <stdio.h>
#include <string.h>

#include "tests/simulate_world.h"

#define BASE_NS 1000000000ull

static const struct {
	const char *bytes;
	size_t size;
} names[] = {
#define NAME(text)                    \
	{                             \
		text, sizeof text - 1 \
	}
	NAME("semi;colon"),
	NAME("comma,equals="),
	NAME("tab\there"),
	NAME("line\nbreak\r"),
	NAME("back\\slash\\n"),
	NAME("r\xc3\xa9sum\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x94\xa5"),
	NAME("bell\x07 escape\x1b[31m delete\x7f"),
	NAME("bad utf-8 \xff\xfe\xc3"),
	NAME("nul\0inside"),
	NAME(" leading and trailing "),
	NAME("-"),
	NAME("<partial>"),
	NAME("\"quoted\" 'single' <angle> &amp;"),
	NAME("std::map<int, std::vector<char>>::operator[](int&&)"),
#undef NAME
};
#define NAME_COUNT (sizeof names / sizeof *names)

static uint32_t odd_text(struct simulate_world *world, unsigned i)
{
	return store_writer_text(world->writer, names[i % NAME_COUNT].bytes, names[i % NAME_COUNT].size);
}

/* key=NAME with what attributes escape. */
static uint32_t odd_attributes(struct simulate_world *world, const char *key, unsigned i)
{
	char text[256];
	size_t at = (size_t)snprintf(text, sizeof text, "%s=", key);

	for (size_t c = 0; c < names[i % NAME_COUNT].size; c++) {
		char byte = names[i % NAME_COUNT].bytes[c];

		if (byte == ',' || byte == '=' || byte == '\\')
			text[at++] = '\\';
		text[at++] = byte;
	}
	return store_writer_text(world->writer, text, at);
}

static uint32_t odd_path(struct simulate_world *world, unsigned i)
{
	uint32_t parent = i % 3 ? STORE_CONTEXT_PROGRAM_ROOT : STORE_CONTEXT_THREAD_ROOT;

	if (i % 5 == 4)
		parent = store_writer_context(
			world->writer, parent, STORE_MODULE_RESERVED, STORE_FRAME_PARTIAL);
	parent = simulate_call(world, parent, 3 + i % 4, i);
	parent = store_writer_context(world->writer, parent, world->text_module, odd_text(world, i));
	return i % 2 ? parent
		     : store_writer_context(
			       world->writer, parent, world->text_module, odd_text(world, i + 1));
}

/* A module without symbols: its frames read module+0xoffset. */
static uint32_t bare_path(struct simulate_world *world, unsigned i)
{
	struct store_module module = {
		.kind = STORE_MODULE_ELF, .path = simulate_text(world, "/tmp/odd dir;x/lib,a=b.so")};

	return store_writer_context(world->writer, STORE_CONTEXT_PROGRAM_ROOT,
		store_writer_module(world->writer, &module), 0x1000 + 16 * i);
}

static void odd_samples(struct simulate_world *world, uint32_t stream, uint64_t records)
{
	struct simulate_feed *feed = &world->samples;

	simulate_feed_begin(world, feed, stream, STORE_SAMPLES);
	simulate_sample(feed, BASE_NS, odd_path(world, 0), 0);
	for (uint64_t i = 1; i < records; i++) {
		uint64_t late = simulate_below(world, 16) ? 0 : simulate_below(world, 40000000);
		uint64_t time = BASE_NS + i * SIMULATE_PERIOD_NS;

		simulate_sample(feed, time > BASE_NS + late ? time - late : time,
			i % 11 ? odd_path(world, (unsigned)simulate_below(world, 40))
			       : bare_path(world, i % 7),
			SIMULATE_PERIOD_NS);
		if (i % 50 == 0)
			simulate_sample(feed, time, odd_path(world, 1), SIMULATE_PERIOD_NS);
	}
	simulate_feed_flush(feed);
}

static void odd_spans(struct simulate_world *world, uint32_t stream, uint64_t end_ns)
{
	struct simulate_feed *feed = &world->spans;

	simulate_feed_begin(world, feed, stream, STORE_SPANS);
	simulate_monitored_end(world, stream, BASE_NS, end_ns);
	for (unsigned i = 0; i < 64; i++) {
		struct store_record span = {.begin_ns = BASE_NS + i * 700000,
			.what = STORE_OP_RANGE,
			.bytes = i % 7 ? 0 : (uint64_t)1 << 63,
			.link = i % 9 ? 0 : UINT64_MAX - i};

		span.end_ns =
			span.begin_ns + (i % 4 ? (uint64_t)i * 300000 : 0); /* overlapping, or zero long */
		if (i % 3)
			span.context = odd_path(world, i);
		if (i % 5 == 0)
			span.what = store_writer_op(
				world->writer, names[i % NAME_COUNT].bytes, names[i % NAME_COUNT].size);
		if (i % 2)
			span.attributes = odd_attributes(world, "note", i);
		simulate_feed_add(feed, &span);
		if (i % 16 == 0)
			simulate_feed_add(feed, &span); /* the very same once more */
	}
	simulate_span(feed, BASE_NS, end_ns, odd_path(world, 2), STORE_OP_IO); /* as long as the run */
	simulate_feed_flush(feed);
}

static void odd_open(struct simulate_world *world, uint32_t stream, uint64_t end_ns)
{
	for (unsigned i = 0; i < 3; i++) {
		struct store_record span = {.begin_ns = end_ns - 5000000 + i,
			.context = odd_path(world, i),
			.what = STORE_OP_MPI};

		span.attributes = odd_attributes(world, "call", i);
		store_writer_span_open(world->writer, stream, i, &span);
	}
}

static void odd_values(struct simulate_world *world, uint32_t stream)
{
	static const double reals[] = {0.0, -0.0, 0.1, -1.5e300, 5e-324, 1e22, 123456.789};
	static const uint64_t whole[] = {0, 1, UINT64_MAX, (uint64_t)1 << 63, 42};
	uint32_t real = store_writer_metric(world->writer, "temperature;max", "C", true);
	uint32_t count = store_writer_metric(world->writer, "bytes,sent", "bytes", false);
	struct simulate_feed *feed = &world->values;

	simulate_feed_begin(world, feed, stream, STORE_VALUES);
	for (unsigned i = 0; i < 200; i++) {
		struct store_record value = {.begin_ns = BASE_NS + i / 2 * 100000,
			.end_ns = BASE_NS + i / 2 * 100000,
			.what = i % 2 ? real : count,
			.context = i % 10 ? STORE_CONTEXT_NONE : odd_path(world, i)};

		if (i % 2)
			memcpy(&value.amount, &reals[i / 2 % (sizeof reals / sizeof *reals)],
				sizeof value.amount);
		else
			value.amount = whole[i / 2 % (sizeof whole / sizeof *whole)];
		simulate_feed_add(feed, &value);
	}
	simulate_feed_flush(feed);
}

/* Times at both ends of what a clock can say. */
static void odd_times(struct simulate_world *world, uint32_t stream)
{
	struct simulate_feed *feed = &world->spans;

	simulate_feed_begin(world, feed, stream, STORE_SPANS);
	simulate_span(feed, 0, 0, odd_path(world, 3), STORE_OP_RANGE);
	simulate_span(feed, 0, UINT64_MAX - 1, odd_path(world, 4), STORE_OP_MONITORED);
	simulate_span(feed, UINT64_MAX - 1, UINT64_MAX - 1, odd_path(world, 5), STORE_OP_RANGE);
	simulate_span(feed, (uint64_t)1 << 63, ((uint64_t)1 << 63) + 1, odd_path(world, 6), STORE_OP_RANGE);
	simulate_feed_flush(feed);
	store_writer_stream_edit(world->writer, stream)->end_ns = UINT64_MAX - 1;
}

static uint32_t odd_stream(struct simulate_world *world, uint32_t s)
{
	uint32_t stream =
		s % 4 == 3 ? simulate_queue(world, -1, s, s) : simulate_thread(world, (int32_t)s - 1, s);
	struct store_stream *properties = store_writer_stream_edit(world->writer, stream);

	properties->name = odd_text(world, s);
	properties->generation = s % 2;
	return stream;
}

void simulate_shape_odd(struct simulate_world *world)
{
	uint32_t streams = world->options->streams;
	uint64_t share = world->options->records / streams + 100;

	for (uint32_t s = 0; s < streams && !world->rc; s++) {
		uint32_t stream = odd_stream(world, s);
		uint64_t end_ns = BASE_NS + (share + 1) * SIMULATE_PERIOD_NS;

		odd_samples(world, stream, share);
		odd_spans(world, stream, end_ns);
		odd_values(world, stream);
		if (s % 2 == 0)
			odd_open(world, stream, end_ns);
	}
	odd_times(world, odd_stream(world, streams));
}
