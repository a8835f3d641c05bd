/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_bench.c - bytes per record and ns per record of the codec, beside raw bytes copied; then the whole
 * writer with its commits. Prints TSV: what, records, bytes/record, encode ns, decode ns (all columns),
 * decode ns (time and context). Times are of CPU (the machine is shared; 20 ns are 50 M records/s per core),
 * the fastest of several rounds; the writer's of all rounds, the kernel's share of its commits included.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/chunk.h"
#include "store/reader.h"
#include "store/writer.h"

#define RECORDS (1u << 20)
#define CHUNK 4096u
#define POOL 16384u
#define BATCH 256u
#define ROUNDS 5
#define CONTEXTS 5000u
#define HOT 64u

static uint64_t chance = 1;

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
			.context = draw() % 100 < 3 ? (uint32_t)(draw() % CONTEXTS) : hot,
			.flags = STORE_RECORD_EXTENT};
	}
}

/* Kernels of 5-50 us in repeating sequences, 2 % jitter, linked, each tenth a copy with bytes. */
static void make_spans(struct store_record *records)
{
	uint64_t now = 1000000000;

	for (uint32_t i = 0; i < RECORDS; i++) {
		uint32_t kernel = i % 40;
		uint64_t duration = 5000 + kernel * 1125;

		records[i] =
			(struct store_record){.begin_ns = now + 500 + draw() % 600, .context = 100 + kernel};
		records[i].end_ns = records[i].begin_ns + duration + draw() % (duration / 50);
		records[i].what = kernel % 10 == 9 ? STORE_OP_COPY : STORE_OP_KERNEL;
		records[i].bytes = kernel % 10 == 9 ? 65536ull << kernel / 10 : 0;
		records[i].link = i + 1;
		records[i].attributes = kernel + 1;
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

static struct store_record *batch_at(struct store_record *records, uint32_t at, uint64_t width_ns)
{
	struct store_record *batch = records + at % POOL;

	for (uint32_t i = 0; at >= POOL && i < BATCH; i++) {
		batch[i].begin_ns += width_ns;
		batch[i].end_ns += width_ns;
	}
	return batch;
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

static void append(struct store_writer *writer, enum store_track track, const struct store_record *batch,
	bool is_watched)
{
	struct error error;

	store_writer_append(writer, 0, track, batch, BATCH);
	for (unsigned t = 0; is_watched && t < STORE_TRACK_COUNT; t++)
		store_writer_stream_edit(writer, 0)->complete_ns[t] = batch->begin_ns;
	if (store_writer_pending_bytes(writer) > 8u << 20 && store_writer_commit(writer, &error))
		exit(error_report(&error, "store_bench"));
}

/* Writer and commits: records appended 256 at a time, a commit each 8 MiB. They come from the processor's
 * cache, as a collector's do that has just taken them out of a ring: POOL of them, again and again, later
 * each time, which is timed alone and left out. With watermarks all rollups are made: of contexts, of the
 * stream's line, of its device, of the crowd; without, those of contexts. Settling a file that is small
 * enough follows the end of its program and is not part of it. */
static void bench_writer(
	const char *name, struct store_record *records, enum store_track track, bool is_watched)
{
	const char *path = "/tmp/hpct-store-bench.mdb";
	const uint64_t width_ns = records[POOL - 1].end_ns - records[0].begin_ns + 1;
	struct store_writer *writer;
	struct store_reader *reader;
	struct error error = {0};
	double begin, making;

	unlink(path);
	begin = seconds();
	for (uint32_t at = 0; at < ROUNDS * RECORDS; at += BATCH)
		__asm__ volatile("" : : "r"(batch_at(records, at, width_ns)) : "memory");
	making = seconds() - begin;
	begin = seconds();
	if (store_writer_create(&writer, path, &error))
		exit(error_report(&error, "store_bench"));
	store_writer_metric(writer, "CPUTIME", "ns", false);
	make_stream(writer, track);
	for (uint32_t at = 0; at < ROUNDS * RECORDS; at += BATCH)
		append(writer, track, batch_at(records, at, width_ns), is_watched);
	if (store_writer_commit(writer, &error))
		exit(error_report(&error, "store_bench"));
	begin = seconds() - begin - making;
	if (store_writer_close(writer, &error))
		exit(error_report(&error, "store_bench"));
	if (store_reader_open(&reader, path, &error))
		exit(error_report(&error, "store_bench"));
	printf("%s\t%u\t%.2f\t%.1f\t\t\n", name, ROUNDS * RECORDS,
		(double)store_reader_bytes(reader) / (ROUNDS * RECORDS), begin * 1e9 / (ROUNDS * RECORDS));
	store_reader_close(reader);
	unlink(path);
	unlink("/tmp/hpct-store-bench.mdb-lock");
}

int main(void)
{
	struct store_record *records = malloc(RECORDS * sizeof *records);

	if (!records)
		return 5;
	printf("what\trecords\tbytes_per_record\tencode_ns\tdecode_all_ns\tdecode_time_context_ns\n");
	make_samples(records);
	bench_raw(records);
	bench_codec("cpu samples", records, STORE_SAMPLES);
	bench_writer("cpu samples, writer", records, STORE_SAMPLES, false);
	bench_writer("cpu samples, writer, all rollups", records, STORE_SAMPLES, true);
	make_spans(records);
	bench_codec("gpu spans", records, STORE_SPANS);
	bench_writer("gpu spans, writer", records, STORE_SPANS, false);
	bench_writer("gpu spans, writer, all rollups", records, STORE_SPANS, true);
	free(records);
	return 0;
}
