/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_bench.c - bytes per record and ns per record of the codec, beside raw bytes copied; then the whole
 * writer with its commits. Prints TSV: what, records, bytes/record, encode ns, decode ns (all columns),
 * decode ns (time and context). Times are of CPU (the machine is shared; 20 ns are 50 M records/s per core),
 * the fastest of several rounds; the writer's with the kernel's share of its commits. A word as argument
 * chooses the rows that have it in their name, `=NAME` the row of that name. With a directory behind it the
 * stores stay there, to be held against those of another build.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/chunk/chunk.h"
#include "store/read/reader.h"
#include "store/write/writer.h"

#define RECORDS (1u << 20)
#define CHUNK 4096u
#define POOL 16384u
#define BATCH 256u
#define ROUNDS 5
#define TIMES 3
#define CONTEXTS 5000u
#define HOT 64u
#define KERNELS 40u
#define KERNEL_FIRST 100u	/* context of the first */
#define STREAMS_MAX 4096u	/* from STORE_ALL_STREAMS_STREAMS on the sums of all streams are made, too */
#define COMMIT_BYTES (4u << 20) /* as a collector */

static uint64_t chance = 1;
static const char *only = ""; /* rows whose name has it; `=NAME`: is it */
static const char *directory; /* where stores stay */

static bool is_asked(const char *row)
{
	return *only == '=' ? !strcmp(row, only + 1) : strstr(row, only) != NULL;
}

static uint64_t draw(void)
{
	uint64_t z = chance += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint32_t skewed(uint32_t limit)
{
	return (uint32_t)(draw() % ((uint64_t)1 << draw() % 8)) % limit;
}

/* 1 kHz with about normal jitter, phases of 2 s with 64 hot contexts, 3 % anywhere. */
static void make_samples(struct store_record *records)
{
	uint64_t now = 1000000000;

	for (uint32_t i = 0; i < RECORDS; i++) {
		uint32_t phase = (uint32_t)(now / 2000000000);
		uint32_t hot = (phase * 977 + skewed(HOT) * 61) % CONTEXTS;

		now += 1000000 - 20000 + draw() % 10000 + draw() % 10000 + draw() % 10000 + draw() % 10000;
		records[i] = (struct store_record){.begin_ns = now,
			.end_ns = now,
			.amount = 1000000,
			.context = STORE_CONTEXT_FIRST +
				   (draw() % 100 < 3 ? (uint32_t)(draw() % CONTEXTS) : hot),
			.flags = STORE_RECORD_EXTENT};
	}
}

/* What of a span follows from its kernel and its number. */
static struct store_record span_of(uint32_t kernel, uint32_t number)
{
	bool is_copy = kernel % 10 == 9;

	return (struct store_record){.context = KERNEL_FIRST + kernel,
		.what = is_copy ? STORE_OP_COPY : STORE_OP_KERNEL,
		.bytes = is_copy ? 65536ull << kernel / 10 : 0,
		.link = number + 1,
		.attributes = kernel + 1};
}

/* Kernels of 5-50 us in repeating sequences, 2 % jitter, linked, each tenth a copy with bytes. */
static void make_spans(struct store_record *records)
{
	uint64_t now = 1000000000;

	for (uint32_t i = 0; i < RECORDS; i++) {
		uint64_t duration = 5000 + i % KERNELS * 1125;

		records[i] = span_of(i % KERNELS, i);
		records[i].begin_ns = now + 500 + draw() % 600;
		records[i].end_ns = records[i].begin_ns + duration + draw() % (duration / 50);
		now = records[i].end_ns;
	}
}

static double encode(
	const struct store_record *records, enum store_track track, struct store_bytes *out, size_t *offsets)
{
	static struct store_chunk_coder coder;
	double begin = seconds();

	out->size = 0;
	for (uint32_t at = 0; at < RECORDS; at += CHUNK) {
		struct store_key_chunk key = {.track = (uint8_t)track, .shift = 62};

		offsets[at / CHUNK] = out->size;
		store_chunk_encode(&coder, &key, records + at, CHUNK, out);
	}
	offsets[RECORDS / CHUNK] = out->size;
	return (seconds() - begin) * 1e9 / RECORDS;
}

static double decode(const struct store_bytes *bytes, const size_t *offsets, unsigned columns)
{
	static struct store_batch batch;
	double begin = seconds();

	for (uint32_t c = 0; c < RECORDS / CHUNK; c++) {
		struct store_chunk chunk;
		struct error error;

		if (!store_chunk_peek(&chunk,
			    (struct store_slice){bytes->data + offsets[c], offsets[c + 1] - offsets[c]}) ||
			store_chunk_decode(&chunk, columns, &batch, &error)) {
			fprintf(stderr, "store_bench: cannot decode\n");
			exit(5);
		}
	}
	return (seconds() - begin) * 1e9 / RECORDS;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void bench_codec(const char *name, const struct store_record *records, enum store_track track)
{
	static size_t offsets[RECORDS / CHUNK + 1];
	struct store_bytes bytes = {0};
	double encode_ns = 1e9, all_ns = 1e9, some_ns = 1e9;

	if (!is_asked(name))
		return;
	for (int round = 0; round < ROUNDS; round++) {
		encode_ns = least(encode_ns, encode(records, track, &bytes, offsets));
		all_ns = least(all_ns, decode(&bytes, offsets, STORE_ALL));
		some_ns = least(some_ns, decode(&bytes, offsets, STORE_BEGIN | STORE_END | STORE_CONTEXT));
	}
	printf("%s\t%u\t%.2f\t%.1f\t%.1f\t%.1f\n", name, RECORDS, (double)bytes.size / RECORDS, encode_ns,
		all_ns, some_ns);
	store_bytes_fini(&bytes);
}

/* The 64-byte records copied: what no codec at all would cost. */
static void bench_raw(const struct store_record *records)
{
	struct store_record *copy = malloc(RECORDS * sizeof *copy);
	double best = 1e9;

	for (int round = 0; copy && round < ROUNDS; round++) {
		double begin = seconds();

		memcpy(copy, records, RECORDS * sizeof *copy);
		__asm__ volatile("" : : "r"(copy) : "memory");
		best = least(best, (seconds() - begin) * 1e9 / RECORDS);
	}
	printf("raw records\t%u\t%.2f\t%.1f\t%.1f\t%.1f\n", RECORDS, (double)sizeof *copy, best, best, best);
	free(copy);
}

/* A record as a ring has it: what a collector makes a record of. */
struct event {
	uint32_t step_ns, duration_ns, context;
};

/* A collector's one batch, and the ring from which it is filled, again and again. */
struct source {
	struct event events[POOL];
	struct store_record batch[BATCH];
	struct store_record kernels[KERNELS];
	enum store_track track;
	uint32_t streams;
	uint64_t now_ns[STREAMS_MAX];
};

static void source_begin(
	struct source *source, const struct store_record *records, enum store_track track, uint32_t streams)
{
	uint64_t now_ns = records->begin_ns - 1000;

	source->track = track;
	source->streams = streams;
	for (uint32_t stream = 0; stream < streams; stream++)
		source->now_ns[stream] = now_ns + 7 * stream;
	for (uint32_t kernel = 0; kernel < KERNELS; kernel++)
		source->kernels[kernel] = span_of(kernel, 0);
	for (uint32_t i = 0; i < POOL; i++) {
		source->events[i] = (struct event){.step_ns = (uint32_t)(records[i].begin_ns - now_ns),
			.duration_ns = (uint32_t)(records[i].end_ns - records[i].begin_ns),
			.context = records[i].context};
		now_ns = records[i].begin_ns;
	}
}

static const struct store_record *source_next(struct source *source, uint32_t at)
{
	const struct event *events = source->events + at % POOL;
	uint64_t *now_ns = &source->now_ns[at / BATCH % source->streams];

	for (uint32_t i = 0; i < BATCH; i++) {
		struct store_record *to = &source->batch[i];

		if (source->track == STORE_SPANS) {
			*to = source->kernels[events[i].context - KERNEL_FIRST];
			to->link += at + i;
		} else {
			*to = (struct store_record){.amount = 1000000,
				.context = events[i].context,
				.flags = STORE_RECORD_EXTENT};
		}
		*now_ns += events[i].step_ns;
		to->begin_ns = *now_ns;
		to->end_ns = *now_ns + events[i].duration_ns;
	}
	return source->batch;
}

static double make_all(struct source *source)
{
	double begin = seconds();

	for (uint32_t at = 0; at < ROUNDS * RECORDS; at += BATCH)
		__asm__ volatile("" : : "r"(source_next(source, at)) : "memory");
	return seconds() - begin;
}

/* A stream as a collector has it while its program runs: alive, and listened to. */
static void make_stream(struct store_writer *writer, enum store_track track)
{
	uint32_t stream = store_writer_stream(writer,
		&(struct store_stream){.kind = track == STORE_SPANS ? STORE_STREAM_GPU : STORE_STREAM_CPU,
			.rank = -1,
			.begin_ns = 1,
			.end_ns = STORE_OPEN_NS});

	store_writer_span_open(writer, stream, 1,
		&(struct store_record){.begin_ns = 1, .end_ns = STORE_OPEN_NS, .what = STORE_OP_MONITORED});
}

/* Records name contexts that there are: else there is no total to add them to. */
static void make_contexts(struct store_writer *writer)
{
	for (uint32_t i = 0; i < CONTEXTS; i++)
		store_writer_context(writer, STORE_CONTEXT_PROGRAM_ROOT, STORE_MODULE_RESERVED, i);
}

static void append(struct store_writer *writer, uint32_t stream, enum store_track track,
	const struct store_record *batch, bool is_watched)
{
	struct error error;

	store_writer_append(writer, stream, track, batch, BATCH);
	for (unsigned t = 0; is_watched && t < STORE_TRACK_COUNT; t++)
		store_writer_stream_edit(writer, stream)->complete_ns[t] = batch->begin_ns;
	if (store_writer_is_laden(writer, COMMIT_BYTES) && store_writer_commit(writer, &error))
		exit(error_report(&error, "store_bench"));
}

/* The row's name, as a file's. */
static void path_of(char *path, size_t size, const char *name)
{
	int at = snprintf(
		path, size, "%s/hpct-%d-", directory ? directory : "/tmp", directory ? 0 : (int)getpid());

	snprintf(path + at, size - (size_t)at, "%s.mdb", name);
	for (; path[at]; at++)
		if (path[at] == ' ' || path[at] == ',')
			path[at] = '-';
}

/* Makes the store of that path; how long it took without making the records. */
static double write_all(const char *path, const struct store_record *records, enum store_track track,
	bool is_watched, uint32_t streams)
{
	static struct source source;
	struct store_writer *writer;
	struct error error = {0};
	double begin, making;

	unlink(path);
	source_begin(&source, records, track, streams);
	making = make_all(&source);
	source_begin(&source, records, track, streams);
	if (store_writer_create(&writer, path, &error))
		exit(error_report(&error, "store_bench"));
	store_writer_metric(writer, "CPUTIME", "ns", false);
	make_contexts(writer);
	for (uint32_t stream = 0; stream < streams; stream++)
		make_stream(writer, track);
	begin = seconds();
	for (uint32_t at = 0; at < ROUNDS * RECORDS; at += BATCH)
		append(writer, at / BATCH % streams, track, source_next(&source, at), is_watched);
	if (store_writer_commit(writer, &error))
		exit(error_report(&error, "store_bench"));
	begin = seconds() - begin - making;
	if (store_writer_close(writer, &error))
		exit(error_report(&error, "store_bench"));
	return begin;
}

/* Writer and commits: records appended 256 at a time, a commit when a collector would. As a collector's, who
 * takes them out of a ring, they are made one batch after the other in the same place, so that they are in
 * the nearest cache; making them is timed alone and left out. With watermarks all rollups are made: of
 * contexts, of the stream's line, of its device (of all streams only from 16 streams on); without, those of
 * contexts. Settling a file that is small enough follows the end of its program and is not part of it.
 * Streams take turns. The store is written once before it is timed: a virtual machine's host lends memory at
 * its first touch, at the price of hundreds of records a page, and a file's pages come back once it is gone.
 */
static void bench_writer(const char *name, const struct store_record *records, enum store_track track,
	bool is_watched, uint32_t streams)
{
	char path[PATH_MAX], lock[PATH_MAX + 8];
	struct store_reader *reader;
	struct error error = {0};
	double took, fastest = 1e9;

	if (!is_asked(name))
		return;
	path_of(path, sizeof path, name);
	snprintf(lock, sizeof lock, "%s-lock", path);
	write_all(path, records, track, is_watched, streams);
	for (unsigned time = 0; time < TIMES; time++) {
		took = write_all(path, records, track, is_watched, streams);
		fastest = took < fastest ? took : fastest;
	}
	if (store_reader_open(&reader, path, &error))
		exit(error_report(&error, "store_bench"));
	printf("%s\t%u\t%.2f\t%.1f\t\t\n", name, ROUNDS * RECORDS,
		(double)store_reader_bytes(reader) / (ROUNDS * RECORDS), fastest * 1e9 / (ROUNDS * RECORDS));
	fflush(stdout);
	store_reader_close(reader);
	if (!directory)
		unlink(path);
	unlink(lock);
}

int main(int argc, char **argv)
{
	struct store_record *records = malloc(RECORDS * sizeof *records);

	if (!records)
		return 5;
	only = argc > 1 ? argv[1] : only;
	directory = argc > 2 ? argv[2] : NULL;
	printf("what\trecords\tbytes_per_record\tencode_ns\tdecode_all_ns\tdecode_time_context_ns\n");
	make_samples(records);
	bench_raw(records);
	bench_codec("cpu samples", records, STORE_SAMPLES);
	bench_writer("cpu samples, writer", records, STORE_SAMPLES, false, 1);
	bench_writer("cpu samples, writer, all rollups", records, STORE_SAMPLES, true, 1);
	bench_writer("cpu samples, writer, all rollups, 32 streams", records, STORE_SAMPLES, true, 32);
	bench_writer("cpu samples, writer, all rollups, 256 streams", records, STORE_SAMPLES, true, 256);
	bench_writer("cpu samples, writer, all rollups, 4096 streams", records, STORE_SAMPLES, true, 4096);
	make_spans(records);
	bench_codec("gpu spans", records, STORE_SPANS);
	bench_writer("gpu spans, writer", records, STORE_SPANS, false, 1);
	bench_writer("gpu spans, writer, all rollups", records, STORE_SPANS, true, 1);
	bench_writer("gpu spans, writer, all rollups, 32 streams", records, STORE_SPANS, true, 32);
	bench_writer("gpu spans, writer, all rollups, 256 streams", records, STORE_SPANS, true, 256);
	bench_writer("gpu spans, writer, all rollups, 4096 streams", records, STORE_SPANS, true, 4096);
	free(records);
	return 0;
}
