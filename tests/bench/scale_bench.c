/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scale_bench.c - what questions cost as records and streams grow: a curve that is to stay flat, and the scan
 * of everything beside it. Each question is asked by a process of its own, which opens the run: first with
 * the file out of memory (cold: seconds with the opening, MB read from the disk), then again and again
 * (warm). Prints TSV; `naive` columns are the same without rollups, left out where that would read more than
 * NAIVE_RECORDS.
 *
 *   scale_bench [-kn] [-q TEXT] STREAMS:RECORDS|RUN ...     runs are made in $TMPDIR; -k keeps them;
 *                                                           -q: only questions that hold TEXT; -n: no naive
 * scan
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/simulate.h"
#include "timeline/run/run_find.h"
#include "timeline/sum/window.h"
#include "timeline/tile/tile.h"

#define ROUNDS 5
#define COLUMNS 200
#define ROWS 50u
#define DEPTH 8u
#define FUNCTIONS 65536u
#define NAIVE_RECORDS 200000000u

struct asked {
	double cold_s, warm_s, cpu_s; /* cpu: of the cheapest warm round, all processes */
	uint64_t read_bytes, peak_bytes, answer;
};

static char path[4096];
static uint64_t naive_records = NAIVE_RECORDS;

static int check(int code, const struct error *error)
{
	if (code < 0)
		_exit(error_report(error, "scale_bench"));
	return code;
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Of this process and of those that helped it. */
static double cpu_seconds(void)
{
	struct rusage helpers;

	getrusage(RUSAGE_CHILDREN, &helpers);
	return seconds(CLOCK_PROCESS_CPUTIME_ID) +
	       (double)(helpers.ru_utime.tv_sec + helpers.ru_stime.tv_sec) +
	       (double)(helpers.ru_utime.tv_usec + helpers.ru_stime.tv_usec) * 1e-6;
}

static uint32_t *all_streams(const struct run *run, uint32_t *count)
{
	uint32_t *streams;

	*count = run_stream_count(run);
	streams = calloc((size_t)*count + 1, sizeof *streams);
	if (!streams)
		_exit(5);
	for (uint32_t i = 0; i < *count; i++)
		streams[i] = i;
	return streams;
}

static uint64_t at(const struct run *run, double share)
{
	return run_begin_ns(run) + (uint64_t)(share * (double)(run_end_ns(run) - run_begin_ns(run)));
}

/* ---- questions: each gives a number that tells its answer from others ---- */

static uint64_t ask_list(struct run *run)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < run_stream_count(run); i++) { /* as hpct-info --streams does */
		const struct run_stream *stream = run_stream_peek(run, i);

		sum += strlen(stream->text) + stream->s.count[STORE_SAMPLES];
	}
	return sum;
}

/* As many rows as a screen has. */
static uint64_t ask_rows(struct run *run)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ROWS && i < run_stream_count(run); i++)
		sum += strlen(run_stream(run, i)->text) + run_stream(run, i)->s.count[STORE_SAMPLES];
	return sum;
}

/* Sums the first `most` streams. */
static struct window *sum(struct run *run,
	int (*add)(struct window *, const uint32_t *, uint32_t, uint64_t, uint64_t, struct error *),
	uint32_t most, uint64_t begin_ns, uint64_t end_ns)
{
	struct window *window;
	struct error error = {0};
	uint32_t count, *streams = all_streams(run, &count);

	check(window_new(&window, run, &error), &error);
	check(add(window, streams, count < most ? count : most, begin_ns, end_ns, &error), &error);
	free(streams);
	return window;
}

static uint64_t weights(struct run *run, uint32_t most, uint64_t begin_ns, uint64_t end_ns)
{
	struct window *window = sum(run, window_add_weights, most, begin_ns, end_ns);
	const struct window_weight *rows;
	uint64_t answer = 0;
	size_t found;

	rows = window_weights(window, &found);
	for (size_t i = 0; i < found; i++)
		answer += (rows[i].weight ^ rows[i].samples << 40) * (rows[i].context + 1);
	window_free(window);
	return answer;
}

static uint64_t times(struct run *run, uint32_t most, uint64_t begin_ns, uint64_t end_ns)
{
	struct window *window = sum(run, window_add_times, most, begin_ns, end_ns);
	const struct window_time *rows;
	uint64_t answer = 0;
	size_t found;

	rows = window_times(window, &found);
	for (size_t i = 0; i < found; i++)
		answer += (rows[i].time_ns ^ rows[i].records << 40) * (rows[i].context + 1);
	window_free(window);
	return answer;
}

static uint64_t ask_profile(struct run *run)
{
	return weights(run, UINT32_MAX, 0, STORE_OPEN_NS);
}

static uint64_t ask_profile_one(struct run *run)
{
	return weights(run, 1, at(run, 0.111), at(run, 0.8612));
}

/* Of a thousand streams at most: what the target says. */
static uint64_t ask_profile_part(struct run *run)
{
	return weights(run, 1000, at(run, 0.111), at(run, 0.8612));
}

static uint64_t ask_statistics(struct run *run)
{
	return times(run, UINT32_MAX, run_begin_ns(run), run_end_ns(run));
}

static uint64_t ask_statistics_part(struct run *run)
{
	return times(run, UINT32_MAX, at(run, 0.111), at(run, 0.8612));
}

static uint64_t ask_statistics_thousand(struct run *run)
{
	return times(run, 1000, at(run, 0.111), at(run, 0.8612));
}

static uint64_t ask_statistics_one(struct run *run)
{
	return times(run, 1, at(run, 0.111), at(run, 0.8612));
}

/* Number of the context's function at DEPTH; 0: none. */
static uint32_t function_of(struct run *run, uint32_t context)
{
	uint32_t scope = context ? run_context(run, context)->scope : UINT32_MAX;

	return scope == UINT32_MAX ? 0 : run_scope(run, run_scope_at(run, scope, DEPTH))->function + 1;
}

/* Numbers are given as functions are met. */
static uint64_t function_hash(struct run *run, uint32_t context)
{
	uint32_t function = function_of(run, context);

	return function ? run_function(run, function - 1)->hash : 0;
}

/* The first context met of each function. */
struct functions {
	struct run *run;
	uint32_t *first; /* [function] context; 0: none yet */
};

static uint32_t stand_in(void *own, uint32_t context)
{
	struct functions *functions = own;
	uint32_t function = function_of(functions->run, context);

	if (!context || function >= FUNCTIONS)
		return context;
	if (!functions->first[function])
		functions->first[function] = context;
	return functions->first[function];
}

static uint64_t fill_rows(struct run *run, struct tiles *tiles, double from, double to,
	uint64_t (*key)(struct run *run, uint32_t context))
{
	uint64_t length_ns = at(run, to) - at(run, from), sum = 0;
	struct tile out[COLUMNS];
	struct error error = {0};
	unsigned shift = 0;

	while ((uint64_t)COLUMNS << (shift + 1) <= length_ns)
		shift++;
	for (uint32_t i = 0; i < run_stream_count(run) && i < ROWS; i++) {
		check(tiles_row(tiles, i, shift, at(run, from) >> shift, COLUMNS, out, &error), &error);
		for (int c = 0; c < COLUMNS; c++)
			for (uint32_t e = 0; e < out[c].count; e++)
				sum += out[c].entries[e].time_ns * (key ? key(run, out[c].entries[e].context)
									: out[c].entries[e].context + 1);
	}
	return sum;
}

/* Aligned: tiles of one size, one per column; none is known before. */
static uint64_t frame(struct run *run, double from, double to)
{
	struct tiles *tiles;
	struct error error = {0};
	uint64_t sum;

	check(tiles_new(&tiles, run, (size_t)1 << 30, &error), &error);
	sum = fill_rows(run, tiles, from, to, NULL);
	tiles_free(tiles);
	return sum;
}

static uint64_t ask_frame(struct run *run)
{
	return frame(run, 0, 1);
}

static uint64_t ask_frame_tenth(struct run *run)
{
	return frame(run, 0.42, 0.52);
}

/* By function, as a screen shows it: which function a context is of was asked before. */
static uint64_t ask_frame_functions(struct run *run)
{
	static struct functions functions;
	const struct tile_projection projection = {&functions, stand_in, DEPTH};
	static struct tiles *tiles;
	struct error error = {0};

	if (functions.run != run) {
		functions = (struct functions){run, calloc(FUNCTIONS, sizeof *functions.first)};
		if (!functions.first)
			_exit(5);
		check(tiles_new(&tiles, run, 0, &error), &error);
	}
	check(tiles_project(tiles, &projection, &error), &error);
	return fill_rows(run, tiles, 0, 1, function_hash);
}

static const struct {
	const char *name;
	uint64_t (*ask)(struct run *run);
} questions[] = {
	{"open and list", ask_list},
	{"open, 50 rows", ask_rows},
	{"profile, all, whole", ask_profile},
	{"profile, 1 stream, 75 %", ask_profile_one},
	{"profile, 1000 streams, 75 %", ask_profile_part},
	{"statistics, all, whole", ask_statistics},
	{"statistics, all, 75 %", ask_statistics_part},
	{"statistics, 1000 streams, 75 %", ask_statistics_thousand},
	{"statistics, 1 stream, 75 %", ask_statistics_one},
	{"frame 50 x 200, whole", ask_frame},
	{"frame 50 x 200, a tenth", ask_frame_tenth},
	{"frame 50 x 200, whole, by function", ask_frame_functions},
};

/* ---- asking ---- */

static void forget_file(const char *store)
{
	int fd = open(store, O_RDONLY);

	if (fd < 0)
		return;
	fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

/* Drops the run's stores from the page cache. */
static void forget(void)
{
	struct error error = {0};
	char **names, store[8192];
	size_t count;

	check(run_find_stores(path, &names, &count, &error), &error);
	for (size_t i = 0; i < count; i++) {
		snprintf(store, sizeof store, "%s/%s", path, names[i]);
		forget_file(store);
	}
	run_find_free(names, count);
}

static uint64_t read_so_far(void)
{
	FILE *io = fopen("/proc/self/io", "r");
	unsigned long long bytes = 0;
	char line[128];

	while (io && fgets(line, sizeof line, io))
		sscanf(line, "read_bytes: %llu", &bytes);
	if (io)
		fclose(io);
	return bytes;
}

static void ask(struct asked *asked, uint64_t (*question)(struct run *run), bool is_naive)
{
	struct run_options options = {.no_cache = true, .no_rollups = is_naive};
	struct rusage usage;
	struct error error = {0};
	struct run *run;
	double begin = seconds(CLOCK_MONOTONIC);

	check(run_open(&run, path, &options, &error), &error);
	asked->answer = question(run);
	asked->cold_s = seconds(CLOCK_MONOTONIC) - begin;
	asked->read_bytes = read_so_far();
	asked->warm_s = asked->cpu_s = 1e9;
	for (int round = 0; round < (is_naive ? 1 : ROUNDS); round++) {
		double cpu = cpu_seconds(), took;

		begin = seconds(CLOCK_MONOTONIC);
		if (question == ask_list || question == ask_rows) { /* opening is the question */
			run_close(run);
			check(run_open(&run, path, &options, &error), &error);
		}
		question(run);
		took = seconds(CLOCK_MONOTONIC) - begin;
		cpu = cpu_seconds() - cpu;
		asked->warm_s = took < asked->warm_s ? took : asked->warm_s;
		asked->cpu_s = cpu < asked->cpu_s ? cpu : asked->cpu_s;
	}
	getrusage(RUSAGE_SELF, &usage);
	asked->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
	run_close(run);
}

static struct asked ask_apart(uint64_t (*question)(struct run *run), bool is_naive)
{
	struct asked asked = {0};
	int ends[2], status;
	pid_t child;

	forget();
	if (pipe(ends) || (child = fork()) < 0)
		exit(5);
	if (!child) {
		ask(&asked, question, is_naive);
		_exit(write(ends[1], &asked, sizeof asked) == sizeof asked ? 0 : 5);
	}
	close(ends[1]);
	if (read(ends[0], &asked, sizeof asked) != sizeof asked)
		exit(5);
	close(ends[0]);
	waitpid(child, &status, 0);
	return asked;
}

static void print(const char *name, uint32_t streams, uint64_t records, bool with_naive,
	uint64_t (*question)(struct run *run))
{
	struct asked rolled = ask_apart(question, false), naive;

	printf("%s\t%u\t%llu\t%.2f\t%.2f\t%.1f\t%.1f\t%.1f", name, streams, (unsigned long long)records,
		rolled.warm_s * 1e3, rolled.cpu_s * 1e3, rolled.cold_s * 1e3, (double)rolled.read_bytes / 1e6,
		(double)rolled.peak_bytes / 1e6);
	if (with_naive) {
		naive = ask_apart(question, true);
		printf("\t%.2f\t%.1f\t%.1f\t%.1f\t%s", naive.warm_s * 1e3, naive.cold_s * 1e3,
			(double)naive.read_bytes / 1e6, (double)naive.peak_bytes / 1e6,
			naive.answer == rolled.answer ? "same" : "DIFFERENT");
	}
	putchar('\n');
	fflush(stdout);
}

/* ---- runs ---- */

static void make(uint32_t streams, uint64_t records)
{
	struct simulate_options options = {
		.run = path, .shape = "cpu", .streams = streams, .records = records, .seed = 1};
	double begin = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	struct error error = {0};
	struct run *run;
	uint64_t bytes;

	check(simulate_run(&options, &error), &error);
	begin = seconds(CLOCK_MONOTONIC) - begin;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	check(run_open(&run, path, &(struct run_options){.no_cache = true}, &error), &error);
	bytes = run_bytes(run);
	run_close(run);
	printf("# %u streams, %llu records made in %.1f s, %.1f s of CPU (%.2f M records/s per core, making "
	       "them "
	       "up included), %.2f bytes/record\n",
		streams, (unsigned long long)records, begin, cpu, (double)records / cpu / 1e6,
		(double)bytes / (double)records);
	fflush(stdout);
}

/* In a process of its own: the memory that it takes is not the reader's. */
static void make_apart(uint32_t streams, uint64_t records)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		make(streams, records);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status)
		exit(5);
}

static void ask_all(uint32_t streams, uint64_t records, const char *only)
{
	for (size_t q = 0; q < sizeof questions / sizeof *questions; q++)
		if (strstr(questions[q].name, only))
			print(questions[q].name, streams, records, records <= naive_records,
				questions[q].ask);
}

/* A run that is there already. */
static int bench_run(const char *what, const char *only)
{
	struct error error = {0};
	struct run *run;
	uint64_t records = 0;
	uint32_t streams;

	snprintf(path, sizeof path, "%s", what);
	check(run_open(&run, path, &(struct run_options){.no_cache = true}, &error), &error);
	streams = run_stream_count(run);
	for (uint32_t i = 0; i < streams; i++)
		records += run_stream_peek(run, i)->s.count[STORE_SAMPLES];
	run_close(run);
	ask_all(streams, records, only);
	return 0;
}

static int bench(const char *what, bool is_kept, const char *only)
{
	char *end, command[4200];
	uint32_t streams = (uint32_t)strtoul(what, &end, 10);
	uint64_t records = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
	const char *place = getenv("TMPDIR");

	if (*end || !streams || !records) {
		fprintf(stderr, "scale_bench: '%s' is not STREAMS:RECORDS\n", what);
		return 2;
	}
	snprintf(path, sizeof path, "%s/hpct-scale-%u-%llu-%d.hpct", place ? place : "/tmp", streams,
		(unsigned long long)records, (int)getpid());
	make_apart(streams, records);
	ask_all(streams, records, only);
	snprintf(command, sizeof command, "rm -rf '%s'", path);
	return is_kept || !system(command) ? 0 : 5;
}

int main(int argc, char **argv)
{
	const char *only = "";
	bool is_kept = false;
	int code = 0, option;

	while ((option = getopt(argc, argv, "knq:")) != -1) {
		if (option == '?')
			return 2;
		is_kept |= option == 'k';
		naive_records = option == 'n' ? 0 : naive_records;
		only = option == 'q' ? optarg : only;
	}

	puts("what\tstreams\trecords\twarm_ms\twarm_cpu_ms\tcold_ms\tcold_read_mb\tpeak_mb\tnaive_warm_ms\t"
	     "naive_cold_ms\tnaive_read_mb\tnaive_peak_mb\tanswer");
	fflush(stdout);
	for (int i = optind; i < argc && !code; i++)
		code = access(argv[i], F_OK) ? bench(argv[i], is_kept, only) : bench_run(argv[i], only);
	return code;
}
