/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.c - the run around a shape: store, facts; and a world's random numbers, program and streams. The
 * shapes are in simulate_shapes.c, simulate_odd.c and simulate_waits.c.
 */
#include "tests/simulate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulate_world.h"
#include "timeline/base/run_create.h"

#define BOOT_ID "0f0e0d0c-0b0a-4908-8706-050403020100"
#define WALL_NS 1700000000000000000ull
#define COMMIT_BYTES (8u << 20)
#define TREE_NODES 5000u
#define FUNCTIONS 400u
#define DEPTH_MAX 30u
#define FUNCTION_BYTES 0x100u
#define PHASE_NS 2000000000ull

static const struct {
	const char *name;
	void (*fill)(struct simulate_world *world);
} shapes[] = {
	{"cpu", simulate_shape_cpu},
	{"gpu", simulate_shape_gpu},
	{"mixed", simulate_shape_mixed},
	{"odd", simulate_shape_odd},
	{"waits", simulate_shape_waits},
};
#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)

const char *simulate_shape_name(unsigned index)
{
	return index < SHAPE_COUNT ? shapes[index].name : NULL;
}

/* ---- chance: splitmix64, the same everywhere ---- */

uint64_t simulate_draw(struct simulate_world *world)
{
	uint64_t z = world->chance += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t simulate_below(struct simulate_world *world, uint64_t limit)
{
	return limit ? simulate_draw(world) % limit : 0;
}

uint64_t simulate_skewed(struct simulate_world *world, uint64_t limit)
{
	unsigned octaves = 1;

	while (limit >> octaves)
		octaves++;
	return simulate_below(world, (uint64_t)1 << simulate_below(world, octaves)) % limit;
}

/* ---- the program: functions, a calling context tree, kernels ---- */

uint32_t simulate_text(struct simulate_world *world, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return store_writer_text(world->writer, text, strlen(text));
}

/* "assemble_faces", and a number once the words are used up. */
static uint32_t function_name(struct simulate_world *world, uint32_t function)
{
	static const char *const verbs[] = {"solve", "assemble", "exchange", "apply", "reduce", "scatter",
		"gather", "project", "refine", "update"};
	static const char *const things[] = {
		"faces", "cells", "halo", "rows", "blocks", "flux", "matrix", "field", "level", "residual"};
	uint32_t round = function / 100;

	if (function == 0)
		return simulate_text(world, "main");
	if (round == 0)
		return simulate_text(world, "%s_%s", verbs[function % 10], things[function / 10 % 10]);
	return simulate_text(world, "%s_%s_%u", verbs[function % 10], things[function / 10 % 10], round);
}

/* Every seventh function is inlined into the one before it. */
static void name_frame(struct simulate_world *world, uint32_t function, uint64_t offset)
{
	const uint64_t start = (uint64_t)(function + 1) * FUNCTION_BYTES;
	const uint32_t file = simulate_text(world, "/src/solver/%u.c", function / 20);
	const uint32_t line = 10 + function % 20 * 40;
	struct store_scope scopes[2] = {{.kind = STORE_SCOPE_FUNCTION,
		.name = function_name(world, function),
		.file = file,
		.line = line + (uint32_t)(offset - start) / 8,
		.decl_file = file,
		.decl_line = line,
		.start = start}};
	unsigned count = 1;

	if (function % 7 == 6) {
		scopes[1] = scopes[0];
		scopes[1].kind = STORE_SCOPE_INLINE;
		scopes[0].name = function_name(world, function - 1);
		count = 2;
	}
	store_writer_symbol(world->writer, world->program, offset, scopes, count);
}

uint32_t simulate_call(struct simulate_world *world, uint32_t parent, uint32_t function, uint32_t site)
{
	uint64_t offset = (uint64_t)(function + 1) * FUNCTION_BYTES + 8 * (site % 16) + 3;
	uint32_t known = store_writer_context_count(world->writer);
	uint32_t context = store_writer_context(world->writer, parent, world->program, offset);

	if (context >= known)
		name_frame(world, function, offset);
	return context;
}

uint32_t simulate_name(struct simulate_world *world, uint32_t parent, const char *name)
{
	uint32_t text = store_writer_text(world->writer, name, strlen(name));

	return store_writer_context(world->writer, parent, world->text_module, text);
}

static uint32_t depth_of(const struct simulate_world *world, uint32_t context)
{
	uint32_t depth = 0;

	for (; context != STORE_CONTEXT_NONE; depth++)
		context = store_writer_context_at(world->writer, context).parent;
	return depth;
}

void simulate_program(struct simulate_world *world)
{
	struct store_module module = {.kind = STORE_MODULE_ELF, .build_id_bytes = 20};
	uint32_t root;

	for (unsigned i = 0; i < module.build_id_bytes; i++)
		module.build_id[i] = (uint8_t)(0xa0 + i);
	module.path = simulate_text(world, "/opt/solver/bin/solver");
	world->program = store_writer_module(world->writer, &module);
	world->text_module = store_writer_text_module(world->writer);
	root = simulate_call(world, STORE_CONTEXT_PROGRAM_ROOT, 0, 0);
	world->leaves = calloc(TREE_NODES, sizeof *world->leaves);
	if (!world->leaves) {
		world->rc = error_memory(world->error);
		return;
	}
	world->leaves[world->leaf_count++] = root;
	while (world->leaf_count < TREE_NODES) {
		uint32_t parent =
			world->leaves[world->leaf_count - 1 - simulate_skewed(world, world->leaf_count)];
		uint32_t function = 1 + (uint32_t)simulate_skewed(world, FUNCTIONS - 1);

		if (depth_of(world, parent) < DEPTH_MAX)
			world->leaves[world->leaf_count++] =
				simulate_call(world, parent, function, (uint32_t)simulate_below(world, 16));
	}
	for (unsigned phase = 0; phase < SIMULATE_PHASES; phase++)
		for (unsigned i = 0; i < SIMULATE_HOT; i++)
			world->hot[phase][i] = world->leaves[simulate_below(world, TREE_NODES)];
}

void simulate_kernels(struct simulate_world *world)
{
	uint32_t root = simulate_call(world, STORE_CONTEXT_PROGRAM_ROOT, 0, 0), kernel, copy;

	world->launch_path = simulate_call(world, simulate_call(world, root, 1, 1), 2, 2);
	kernel = store_writer_context(
		world->writer, world->launch_path, STORE_MODULE_RESERVED, STORE_FRAME_GPU_KERNEL);
	copy = store_writer_context(
		world->writer, world->launch_path, STORE_MODULE_RESERVED, STORE_FRAME_GPU_COPY);
	world->copy = copy;
	for (unsigned k = 0; k < SIMULATE_KERNELS; k++) {
		char name[64];

		snprintf(name, sizeof name, "void stencil<%u>(float*, float const*)", k);
		world->kernels[k] = simulate_name(world, kernel, name);
		world->kernel_ns[k] = 5000 + simulate_below(world, 45000);
		world->kernel_attributes[k] = simulate_text(
			world, "grid=%u:1:1,block=%u:1:1,registers=%u", 64u << k % 5, 128u << k % 3, 32 + k);
	}
}

uint32_t simulate_place(struct simulate_world *world, uint64_t time_ns)
{
	const uint32_t *hot = world->hot[time_ns / PHASE_NS % SIMULATE_PHASES];

	if (simulate_below(world, 100) < 3)
		return world->leaves[simulate_below(world, world->leaf_count)];
	return hot[simulate_skewed(world, SIMULATE_HOT)];
}

/* ---- streams ---- */

void simulate_feed_begin(
	struct simulate_world *world, struct simulate_feed *feed, uint32_t stream, enum store_track track)
{
	feed->world = world;
	feed->stream = stream;
	feed->track = track;
	feed->count = 0;
}

/* Streams are filled in the order of time: what begins later than the last record is all that can come. */
static void complete_until(struct simulate_world *world, uint32_t stream, uint64_t time_ns)
{
	struct store_stream *properties = store_writer_stream_edit(world->writer, stream);

	for (unsigned track = 0; properties && track < STORE_TRACK_COUNT; track++)
		if (properties->complete_ns[track] < time_ns)
			properties->complete_ns[track] = time_ns;
}

static void feed_append(struct simulate_feed *feed, uint64_t *last_ns)
{
	if (!feed->count)
		return;
	if (feed->records[feed->count - 1].begin_ns > *last_ns)
		*last_ns = feed->records[feed->count - 1].begin_ns;
	store_writer_append(feed->world->writer, feed->stream, feed->track, feed->records, feed->count);
	feed->count = 0;
}

void simulate_feed_flush(struct simulate_feed *feed)
{
	struct simulate_world *world = feed->world;
	uint64_t last_ns = 0;

	feed_append(feed, &last_ns);
	if (feed == &world->samples || feed == &world->spans) {
		feed_append(&world->samples, &last_ns);
		feed_append(&world->spans, &last_ns);
	}
	complete_until(world, feed->stream, last_ns);
	if (!world->rc && store_writer_pending_bytes(world->writer) > COMMIT_BYTES)
		world->rc = store_writer_commit(world->writer, world->error);
}

void simulate_feed_add(struct simulate_feed *feed, const struct store_record *record)
{
	feed->records[feed->count++] = *record;
	if (feed->count == SIMULATE_BUFFER)
		simulate_feed_flush(feed);
}

void simulate_sample(struct simulate_feed *feed, uint64_t time_ns, uint32_t context, uint64_t weight)
{
	simulate_feed_add(feed, &(struct store_record){.begin_ns = time_ns,
					.end_ns = time_ns,
					.amount = weight,
					.context = context,
					.what = feed->world->cputime,
					.flags = STORE_RECORD_EXTENT});
}

void simulate_span(
	struct simulate_feed *feed, uint64_t begin_ns, uint64_t end_ns, uint32_t context, uint32_t op)
{
	simulate_feed_add(
		feed, &(struct store_record){
			      .begin_ns = begin_ns, .end_ns = end_ns, .context = context, .what = op});
}

uint32_t simulate_thread(struct simulate_world *world, int32_t rank, uint32_t thread)
{
	const uint32_t pid = 4000 + (rank < 0 ? 0 : (uint32_t)rank);
	struct store_stream stream = {.kind = STORE_STREAM_CPU,
		.host = world->host,
		.rank = rank,
		.pid = pid,
		.thread = thread,
		.tid = thread ? pid * 100 + thread : pid,
		.end_ns = STORE_OPEN_NS};

	stream.name = thread ? simulate_text(world, "worker %u", thread) : simulate_text(world, "solver");
	return store_writer_stream(world->writer, &stream);
}

uint32_t simulate_queue(struct simulate_world *world, int32_t rank, uint32_t device, uint32_t queue)
{
	struct store_stream stream = {.kind = STORE_STREAM_GPU,
		.host = world->host,
		.rank = rank,
		.pid = 4000 + (rank < 0 ? 0 : (uint32_t)rank),
		.device = device,
		.context = 1,
		.queue = queue,
		.end_ns = STORE_OPEN_NS};

	stream.name = simulate_text(world, "queue %u", queue);
	stream.device_name = simulate_text(world, "Simulated GPU");
	return store_writer_stream(world->writer, &stream);
}

static struct store_record monitored_span(struct simulate_world *world, const struct store_stream *properties,
	uint64_t begin_ns, uint64_t end_ns)
{
	struct store_record span = {.begin_ns = begin_ns, .end_ns = end_ns, .what = STORE_OP_MONITORED};
	const char *name = store_writer_text_at(world->writer, properties->name, NULL);

	/* As recorders do: readers need not look for switches. */
	const char *switches = strcmp(world->options->shape, "gpu") ? "" : ",switches=0";

	if (properties->kind == STORE_STREAM_CPU)
		span.attributes =
			simulate_text(world, "name=%s,command=solver -n 4,metric=CPUTIME,period_ns=%u%s",
				name, SIMULATE_PERIOD_NS, switches);
	else
		span.attributes = simulate_text(world, "name=%s,device=Simulated GPU", name);
	return span;
}

void simulate_monitored_begin(struct simulate_world *world, uint32_t stream, uint64_t begin_ns)
{
	struct store_stream *properties = store_writer_stream_edit(world->writer, stream);
	struct store_record span;

	if (!properties)
		return;
	properties->begin_ns = begin_ns;
	properties->end_ns = STORE_OPEN_NS;
	span = monitored_span(world, properties, begin_ns, STORE_OPEN_NS);
	store_writer_span_open(world->writer, stream, 0, &span);
}

void simulate_monitored_end(struct simulate_world *world, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	struct store_stream *properties = store_writer_stream_edit(world->writer, stream);
	struct store_record span;

	if (!properties)
		return;
	properties->begin_ns = begin_ns;
	properties->end_ns = end_ns;
	span = monitored_span(world, properties, begin_ns, end_ns);
	store_writer_span_close(world->writer, stream, 0, &span);
}

/* ---- the run ---- */

static void put_facts(struct simulate_world *world)
{
	struct store_writer *writer = world->writer;

	store_writer_meta(writer, "command", "solver -n 4");
	store_writer_meta(writer, "host", "node01");
	store_writer_meta(writer, "boot", BOOT_ID);
	store_writer_meta(writer, "launch", "simulated");
	store_writer_meta(writer, "exit", "0");
	store_writer_meta(writer, "simulate", world->options->shape);
	store_writer_meta_number(writer, "seed", world->options->seed);
	store_writer_meta_number(writer, "origin_ns", 0);
	store_writer_meta_number(writer, "wall_ns", WALL_NS);
	world->host = simulate_text(world, "node01");
	world->cputime = store_writer_metric(writer, "CPUTIME", "ns", false);
}

static int shape_find(const struct simulate_options *options, unsigned *shape, struct error *error)
{
	for (*shape = 0; *shape < SHAPE_COUNT; (*shape)++)
		if (strcmp(shapes[*shape].name, options->shape) == 0)
			return 0;
	return error_set(
		error, ERROR_USAGE, "there is no shape '%s'; --help lists those there are", options->shape);
}

static void complete_streams(struct simulate_world *world)
{
	struct store_stream *stream;

	for (uint32_t id = 0; (stream = store_writer_stream_edit(world->writer, id)) != NULL; id++)
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			stream->complete_ns[track] = stream->end_ns;
}

static int fill_store(
	struct simulate_world *world, void (*fill)(struct simulate_world *world), struct error *error)
{
	put_facts(world);
	simulate_program(world);
	if (!world->rc)
		fill(world);
	complete_streams(world);
	if (!world->rc)
		return store_writer_close(world->writer, error);
	store_writer_abort(world->writer);
	return world->rc;
}

int simulate_run(const struct simulate_options *options, struct error *error)
{
	struct simulate_world *world;
	struct run_create new_run;
	unsigned shape;
	int rc = shape_find(options, &shape, error);

	if (rc)
		return rc;
	world = calloc(1, sizeof *world);
	if (!world)
		return error_memory(error);
	world->options = options;
	world->chance = options->seed;
	world->error = error;
	rc = run_create_begin(&new_run, options->run, error);
	if (rc)
		goto free_world;
	rc = run_create_store(&new_run, "node01-" BOOT_ID, &world->writer, error);
	rc = rc ? rc : fill_store(world, shapes[shape].fill, error);
	if (rc)
		run_create_abort(&new_run);
	else
		rc = run_create_commit(&new_run, error);
free_world:
	free(world->leaves);
	free(world);
	return rc;
}
