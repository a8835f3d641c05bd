/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values_bench.c - what figures over time cost: so many values of three kinds in one store (a share in whole
 * percent, memory as a walk by pages, a counter of bytes), then windows of every length: least, most, mean
 * and last of each. Values are made anew from their number, so that the answers of short windows are checked.
 * Prints TSV.
 *
 *   values_bench [VALUES]     100,000,000 if left out; the store is made in $TMPDIR and deleted
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/read/reader.h"
#include "store/rollup/series_read.h"
#include "store/write/writer.h"

#define METRICS 3u
#define STEP_NS 1000000u /* 1 kHz */
#define BATCH 3072u
#define WINDOWS 2000u
#define CHECKED 20000u /* passes: longer windows are not worked out by hand */
#define COMMIT_BYTES (16u << 20)

static const struct {
	const char *name, *unit;
	enum store_metric_kind kind;
} metrics[METRICS] = {{"busy", "%", STORE_METRIC_GAUGE}, {"resident", "B", STORE_METRIC_GAUGE},
	{"read", "B", STORE_METRIC_COUNTER}};

static char path[4096];

static int fail(const struct error *error)
{
	fprintf(stderr, "values_bench: %s\n", error->text);
	unlink(path);
	return 5;
}

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x9fb21c651e98df25);
	return x ^ x >> 29;
}

/* Of a pass: a share that wanders with some noise; memory that grows in steps of pages, falls at times; a
 * counter of 64 KiB to 128 KiB a pass. */
static uint64_t value_at(unsigned metric, uint64_t pass)
{
	const double phase = (double)(pass % 60000) / 60000;

	if (metric == 0)
		return (uint64_t)(50 + 40 * sin(6.283185307 * phase)) + mixed(pass / 7) % 8;
	if (metric == 1)
		return 4096 * (50000 + pass % 100000 / 10 + mixed(pass / 64) % 32);
	return pass * 65536 + 4096 * (mixed(pass) % 16);
}

static double now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int make(uint64_t passes, struct error *error)
{
	static struct store_record records[BATCH];
	struct store_stream stream = {.kind = STORE_STREAM_GAUGES,
		.rank = -1,
		.pid = UINT32_MAX,
		.generation = UINT32_MAX,
		.device = UINT32_MAX,
		.end_ns = passes * STEP_NS};
	struct store_writer *writer;
	uint32_t ids[METRICS], id;
	unsigned count = 0;
	int rc = store_writer_create(&writer, path, error);

	if (rc)
		return rc;
	for (unsigned m = 0; m < METRICS; m++)
		ids[m] =
			store_writer_figure(writer, metrics[m].name, metrics[m].unit, false, metrics[m].kind);
	id = store_writer_stream(writer, &stream);
	for (uint64_t pass = 0; pass < passes && !rc; pass++) {
		for (unsigned m = 0; m < METRICS; m++)
			records[count++] = (struct store_record){.begin_ns = pass * STEP_NS,
				.end_ns = pass * STEP_NS,
				.amount = value_at(m, pass),
				.what = ids[m]};
		if (count < BATCH && pass + 1 < passes)
			continue;
		store_writer_append(writer, id, STORE_VALUES, records, count);
		count = 0;
		if (store_writer_pending_bytes(writer) > COMMIT_BYTES)
			rc = store_writer_commit(writer, error);
	}
	return rc ? rc : store_writer_close(writer, error);
}

/* Least, most and last of the passes, which must be what the store says. */
static bool is_true(unsigned metric, uint64_t from, uint64_t to, const struct store_series *series)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (uint64_t pass = from; pass < to; pass++) {
		uint64_t value = value_at(metric, pass);

		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	return series->count == to - from && series->least == least && series->most == most &&
	       series->last == value_at(metric, to - 1);
}

static int compare(const void *x, const void *y)
{
	const double *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

struct asked {
	double ms[WINDOWS], cpu_ms[WINDOWS];
	unsigned checked, wrong;
};

/* Windows of all lengths, as many short ones as long ones, at random places. */
static int ask(struct asked *asked, uint64_t passes, unsigned metric, struct error *error)
{
	struct store_reader *reader;
	int rc = store_reader_open(&reader, path, error);

	if (rc)
		return rc;
	for (unsigned i = 0; i < WINDOWS && !rc; i++) {
		uint64_t length = (uint64_t)pow((double)passes, (double)(mixed(3 * i + 1) % 1000 + 1) / 1000);
		uint64_t from = mixed(3 * i + 2) % (passes - length + 1);
		struct store_series series = {.count = 0};
		double begin_ms = now_ms(CLOCK_MONOTONIC), begin_cpu_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID);

		rc = store_series_of(
			reader, 0, metric, from * STEP_NS, (from + length) * STEP_NS, &series, error);
		asked->cpu_ms[i] = now_ms(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ms;
		asked->ms[i] = now_ms(CLOCK_MONOTONIC) - begin_ms;
		if (rc || length > CHECKED)
			continue;
		asked->checked++;
		asked->wrong += !is_true(metric, from, from + length, &series);
	}
	store_reader_close(reader);
	qsort(asked->ms, WINDOWS, sizeof(double), compare);
	qsort(asked->cpu_ms, WINDOWS, sizeof(double), compare);
	return rc;
}

int main(int argc, char **argv)
{
	uint64_t values = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000, passes = values / METRICS;
	const char *place = getenv("TMPDIR");
	static struct asked asked;
	struct error error;
	struct stat status;
	double begin_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID);

	if (!passes) {
		fprintf(stderr, "values_bench: give a number of values, 3 or more\n");
		return 2;
	}
	snprintf(path, sizeof path, "%s/hpct-values-%d.mdb", place ? place : "/tmp", (int)getpid());
	if (make(passes, &error) || stat(path, &status))
		return fail(&error);
	puts("values\tbytes\tbytes_a_value\twrite_cpu_ns_a_value\tmetric\twindows\tmedian_ms\tp99_ms\tworst_"
	     "ms\t"
	     "p99_cpu_ms\tworst_cpu_ms\tchecked\twrong");
	begin_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID) - begin_ms;
	for (unsigned m = 0; m < METRICS; m++) {
		memset(&asked, 0, sizeof asked);
		if (ask(&asked, passes, m, &error))
			return fail(&error);
		printf("%llu\t%lld\t%.3f\t%.1f\t%s\t%u\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%u\t%u\n",
			(unsigned long long)passes * METRICS, (long long)status.st_blocks * 512,
			(double)status.st_blocks * 512 / (double)(passes * METRICS),
			begin_ms * 1e6 / (double)(passes * METRICS), metrics[m].name, WINDOWS,
			asked.ms[WINDOWS / 2], asked.ms[WINDOWS * 99 / 100], asked.ms[WINDOWS - 1],
			asked.cpu_ms[WINDOWS * 99 / 100], asked.cpu_ms[WINDOWS - 1], asked.checked,
			asked.wrong);
		fflush(stdout);
	}
	unlink(path);
	return 0;
}
