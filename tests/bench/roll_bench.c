/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roll_bench.c - what a window costs with rollups and by brute force, as the records grow. Makes its runs
 * with hpct-simulate's shapes. Prints TSV: what, records, streams, ms with rollups, ms without, ratio; times
 * are the fastest of several rounds with the file in memory, since the machine is shared.
 *
 *   roll_bench [SHAPE [STREAMS [RECORDS ...]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/read/reader_internal.h"
#include "tests/simulate.h"
#include "timeline/sum/window.h"
#include "timeline/tile/tile.h"

#define ROUNDS 7
#define BRUTE_ROUNDS 2
#define COLUMNS 200
#define ROWS 50u

static char path[] = "/tmp/hpct-roll-bench-XXXXXX/run.hpct";

struct runs {
	struct run *rolled, *naive;
	uint32_t *streams, count;
	uint64_t begin_ns, end_ns, records;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int check(int code, const struct error *error)
{
	if (code < 0)
		exit(error_report(error, "roll_bench"));
	return code;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* ---- what is timed: each gives the seconds that it took once ---- */

static uint64_t checksum; /* of the answers: both ways must agree */

static double weights(struct run *run, const struct runs *runs, uint32_t count, double from, double to)
{
	double length = (double)(runs->end_ns - runs->begin_ns), begin;
	uint64_t begin_ns = from > 0 ? runs->begin_ns + (uint64_t)(from * length) : 0;
	uint64_t end_ns = to < 1 ? runs->begin_ns + (uint64_t)(to * length) : STORE_OPEN_NS;
	const struct window_weight *rows;
	struct window *window;
	struct error error = {0};
	size_t rows_count;

	begin = seconds();
	check(window_new(&window, run, &error), &error);
	check(window_add_weights(window, runs->streams, count, begin_ns, end_ns, &error), &error);
	begin = seconds() - begin;
	rows = window_weights(window, &rows_count);
	checksum = rows_count;
	for (size_t i = 0; i < rows_count; i++)
		checksum += (rows[i].weight ^ rows[i].samples << 40) * (rows[i].context + 1);
	window_free(window);
	return begin;
}

static double times(struct run *run, const struct runs *runs, uint32_t count, double from, double to)
{
	double length = (double)(runs->end_ns - runs->begin_ns), begin;
	uint64_t begin_ns = runs->begin_ns + (uint64_t)(from * length);
	uint64_t end_ns = runs->begin_ns + (uint64_t)(to * length);
	const struct window_time *rows;
	struct window *window;
	struct error error = {0};
	size_t rows_count;

	begin = seconds();
	check(window_new(&window, run, &error), &error);
	for (uint32_t i = 0; i < count; i++)
		check(window_add_time(window, runs->streams[i], begin_ns, end_ns, &error), &error);
	begin = seconds() - begin;
	rows = window_times(window, &rows_count);
	checksum = rows_count;
	for (size_t i = 0; i < rows_count; i++)
		checksum += (rows[i].time_ns ^ rows[i].records << 40) * (rows[i].context + 1);
	window_free(window);
	return begin;
}

/* An aligned frame: tiles of one size, one per column; no tile is known before. */
static double frame(struct run *run, const struct runs *runs, uint32_t count, double from, double to)
{
	uint64_t length = (uint64_t)((to - from) * (double)(runs->end_ns - runs->begin_ns));
	unsigned shift = 0;
	struct tile tiles_out[COLUMNS];
	struct tiles *tiles;
	struct error error = {0};
	double begin;

	while ((uint64_t)COLUMNS << (shift + 1) <= length)
		shift++;
	begin = seconds();
	check(tiles_new(&tiles, run, (size_t)1 << 30, &error), &error);
	checksum = 0;
	for (uint32_t i = 0; i < count && i < ROWS; i++) {
		check(tiles_row(tiles, runs->streams[i], shift,
			      (runs->begin_ns + (uint64_t)(from * (double)(runs->end_ns - runs->begin_ns))) >>
				      shift,
			      COLUMNS, tiles_out, &error),
			&error);
		for (int c = 0; c < COLUMNS; c++)
			for (uint32_t e = 0; e < tiles_out[c].count; e++)
				checksum += (tiles_out[c].entries[e].time_ns + e) *
					    (tiles_out[c].entries[e].context + 1);
	}
	begin = seconds() - begin;
	tiles_free(tiles);
	return begin;
}

typedef double question(struct run *run, const struct runs *runs, uint32_t count, double from, double to);

static void bench(
	const char *what, question *ask, const struct runs *runs, uint32_t count, double from, double to)
{
	double rolled = 1e9, naive = 1e9;
	uint64_t answer;

	for (int round = 0; round < ROUNDS; round++)
		rolled = least(rolled, ask(runs->rolled, runs, count, from, to));
	answer = checksum;
	for (int round = 0; round < BRUTE_ROUNDS; round++)
		naive = least(naive, ask(runs->naive, runs, count, from, to));
	printf("%s\t%llu\t%u\t%.3f\t%.3f\t%.1f%s\n", what, (unsigned long long)runs->records, count,
		rolled * 1e3, naive * 1e3, naive / rolled, answer == checksum ? "" : "\tDIFFERENT");
	fflush(stdout);
}

/* ---- runs ---- */

static uint64_t tree_bytes(const struct store_reader *reader, enum store_tree_id tree)
{
	struct store_tree_cursor cursor;
	struct error error;
	uint64_t bytes = 0;
	int rc;

	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[tree]);
	for (rc = store_tree_seek(&cursor, "", 0, &error); rc == 1; rc = store_tree_next(&cursor, &error))
		bytes += cursor.value.size;
	return bytes;
}

/* The sums in chunks and the rollups beside them, against everything else in the chunks. */
static void print_sizes(const struct runs *runs)
{
	const struct store_reader *reader = run_store(runs->rolled, 0);
	double chunks = (double)tree_bytes(reader, STORE_TREE_CHUNK);
	double rolls = (double)tree_bytes(reader, STORE_TREE_ROLL);

	printf("# %llu records: chunks with their sums %.3f bytes/record, rollups %.3f (%.1f %%), file "
	       "%.3f\n",
		(unsigned long long)runs->records, chunks / (double)runs->records,
		rolls / (double)runs->records, 100 * rolls / chunks,
		(double)store_reader_bytes(reader) / (double)runs->records);
}

static void open_runs(struct runs *runs)
{
	struct error error = {0};

	check(run_open(&runs->rolled, path, &(struct run_options){.no_cache = true}, &error), &error);
	check(run_open(&runs->naive, path, &(struct run_options){.no_cache = true, .no_rollups = true},
		      &error),
		&error);
	runs->count = run_stream_count(runs->rolled);
	runs->streams = calloc(runs->count, sizeof *runs->streams);
	runs->begin_ns = run_begin_ns(runs->rolled);
	runs->end_ns = run_end_ns(runs->rolled);
	for (uint32_t i = 0; i < runs->count; i++) {
		const struct run_stream *stream = run_stream(runs->rolled, i);

		runs->streams[i] = i;
		for (int track = 0; track < STORE_TRACK_COUNT; track++)
			runs->records += stream->s.count[track];
	}
}

static void bench_run(const char *shape, uint32_t streams, uint64_t records)
{
	struct simulate_options options = {
		.run = path, .shape = shape, .streams = streams, .records = records, .seed = 1};
	struct runs runs = {0};
	struct error error = {0};
	double begin = seconds();
	char command[256];

	check(simulate_run(&options, &error), &error);
	printf("# made in %.2f s\n", seconds() - begin);
	open_runs(&runs);
	print_sizes(&runs);
	bench("profile, 1 stream, 75 %", weights, &runs, 1, 0.111, 0.8612);
	bench("profile, all streams, 75 %", weights, &runs, runs.count, 0.111, 0.8612);
	bench("profile, all streams, whole", weights, &runs, runs.count, 0, 1);
	bench("statistics, 1 stream, 75 %", times, &runs, 1, 0.111, 0.8612);
	bench("statistics, all streams, 75 %", times, &runs, runs.count, 0.111, 0.8612);
	bench("frame, full span", frame, &runs, runs.count, 0, 1);
	bench("frame, a tenth", frame, &runs, runs.count, 0.42, 0.52);
	run_close(runs.rolled);
	run_close(runs.naive);
	free(runs.streams);
	snprintf(command, sizeof command, "rm -rf '%s'", path);
	if (system(command))
		exit(5);
}

int main(int argc, char **argv)
{
	char *slash = strrchr(path, '/');

	*slash = '\0';
	if (!mkdtemp(path))
		return 5;
	*slash = '/';
	printf("what\trecords\tstreams\trolled_ms\tbrute_ms\tratio\n");
	for (int i = 3; i < argc; i++)
		bench_run(argv[1], (uint32_t)strtoul(argv[2], NULL, 10), strtoull(argv[i], NULL, 10));
	if (argc < 4)
		bench_run(argc > 1 ? argv[1] : "cpu", argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 8,
			1000000);
	*slash = '\0';
	rmdir(path);
	return 0;
}
