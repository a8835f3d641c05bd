/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_run.c - libFuzzer: what operators make of a run whose store has bytes that are anybody's
 * (image.h), seals counting as right: sums of lines, sums of all streams, devices, tiles, rows, reports.
 * store_file.c looks no further than the store.
 */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>

#include "store/base/arena.h"
#include "store/write/rollup_prune.h"
#include "tests/fuzz/image.h"
#include "tests/simulate.h"
#include "timeline/scan/scan.h"
#include "timeline/select/bookmark.h"
#include "timeline/stats/info.h"
#include "timeline/stats/stacks.h"
#include "timeline/sum/device_busy.h"
#include "timeline/sum/window.h"
#include "timeline/tile/tile.h"

#define STREAMS 64u /* that are asked about */
#define TILES 32u

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct image images[6];
static unsigned image_count;
static char directory[] = "/tmp/hpct-fuzz.XXXXXX";
static int target = -1;
static FILE *nowhere;

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf %s", directory);
	if (system(command))
		_exit(1);
}

/* Sums of all streams want sixteen streams, devices two queues. */
static void make_image(const char *shape, uint32_t streams, uint64_t records)
{
	char path[64], pattern[80], command[80];
	struct simulate_options options = {
		.run = path, .shape = shape, .streams = streams, .records = records, .seed = 3};
	struct error error;
	glob_t found;

	snprintf(path, sizeof path, "%s/made.hpct", directory);
	snprintf(pattern, sizeof pattern, "%s/*.mdb", path);
	snprintf(command, sizeof command, "rm -rf %s", path);
	if (simulate_run(&options, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	if (glob(pattern, 0, NULL, &found))
		abort();
	images[image_count++] = image_of(found.gl_pathv[0]);
	globfree(&found);
	if (system(command))
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[64];

	(void)argc, (void)argv;
	if (!mkdtemp(directory))
		abort();
	atexit(clean);
	store_rollup_prune_none = true; /* or stores as small had hardly any */
	make_image("mixed", 4, 200);
	make_image("mixed", 20, 400);
	make_image("gpu", 8, 400);
	make_image("odd", 2, 50);
	make_image("cpu", 20, 400);
	snprintf(path, sizeof path, "%s/run.hpct", directory);
	if (mkdir(path, 0700))
		abort();
	snprintf(path, sizeof path, "%s/run.hpct/node-1.mdb", directory);
	target = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	nowhere = fopen("/dev/null", "w");
	return target < 0 || !nowhere;
}

static void ask_window(
	struct run *run, const uint32_t *streams, uint32_t count, uint64_t begin_ns, uint64_t end_ns)
{
	const struct window_time *times;
	struct window *window;
	struct arena arena = {0};
	size_t found;

	if (window_new(&window, run, NULL))
		return;
	window_add_times(window, streams, count, begin_ns, end_ns, NULL);
	window_add_weights(window, streams, count, begin_ns, end_ns, NULL);
	window_add_values(window, streams, count, begin_ns, end_ns, NULL);
	times = window_times(window, &found);
	for (size_t i = 0; i < found && i < 64; i++)
		run_context_path(run, times[i].context, UINT32_MAX, &arena);
	arena_fini(&arena);
	window_free(window);
}

static void ask_rows(struct run *run, uint32_t stream, enum store_track track)
{
	const struct batch *batch;
	struct scan *scan;
	size_t size;

	if (scan_open(&scan, run, stream, track, 0, STORE_OPEN_NS, STORE_ALL, 0, NULL))
		return;
	while (scan_next(scan, &batch, NULL) > 0)
		for (size_t row = 0; row < batch->count; row++)
			batch_attributes(run, batch, row, &size);
	scan_close(scan);
}

static void ask_tiles(struct run *run, uint32_t stream)
{
	struct tile tiles[TILES];
	struct tiles *kept;
	unsigned shift = 0;

	if (tiles_new(&kept, run, 1 << 20, NULL))
		return;
	while (shift < 58 && (run_end_ns(run) - run_begin_ns(run)) >> shift > TILES / 2)
		shift++;
	tiles_row(kept, stream, shift, run_begin_ns(run) >> shift, TILES, tiles, NULL);
	tiles_free(kept);
}

static int ask_device(void *own, const uint32_t *queues, uint32_t count, struct error *error)
{
	struct device_busy_gaps gaps = {0};
	struct device_busy busy;
	uint64_t busy_ns = 0;

	if (!device_busy_open(&busy, own, queues, count, error) && busy.is_there)
		device_busy_add(&busy, 0, STORE_OPEN_NS, &busy_ns, &gaps, error);
	free(gaps.items);
	return 0;
}

static void ask_reports(struct run *run)
{
	const struct mark *marks;
	struct arena arena = {0};
	struct select *select;
	struct error error;
	size_t count;

	mark_list(run, &arena, &marks, &count, &error);
	arena_fini(&arena);
	if (select_new(&select, &error))
		return;
	if (!select_bind(select, run, &error)) {
		info_print(run, select, REPORT_TSV, nowhere, &error);
		info_print_streams(run, select, REPORT_JSON, nowhere, &error);
		stacks_print(run, select, run_end_ns(run), REPORT_TABLE, nowhere, &error);
	}
	select_free(select);
	info_print_modules(run, REPORT_TSV, nowhere, &error);
	info_print_sizes(run, REPORT_TSV, nowhere, &error);
	info_check(run, REPORT_TSV, nowhere, &error);
}

static void ask_all(struct run *run)
{
	uint64_t begin_ns = run_begin_ns(run), end_ns = run_end_ns(run);
	uint32_t streams[STREAMS], count = 0;
	uint64_t part_ns = end_ns > begin_ns ? (end_ns - begin_ns) / 4 : 0;

	while (count < STREAMS && count < run_stream_count(run)) {
		run_stream_read(run, count);
		streams[count] = count;
		count++;
	}
	ask_window(run, streams, count, begin_ns, end_ns);
	ask_window(run, streams, count, begin_ns + part_ns, end_ns - part_ns);
	ask_window(run, streams, count / 2, begin_ns + part_ns, end_ns - part_ns);
	for (uint32_t i = 0; i < count && i < 4; i++) {
		ask_rows(run, i, STORE_SAMPLES);
		ask_rows(run, i, STORE_SPANS);
		ask_rows(run, i, STORE_VALUES);
		ask_tiles(run, i);
	}
	device_busy_each(run, ask_device, run, NULL);
	ask_reports(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct run_options options = {.no_cache = true, .jobs = 1};
	struct run *run;
	char path[64];

	if (!image_put(target, images, image_count, data, size))
		return 0;
	snprintf(path, sizeof path, "%s/run.hpct", directory);
	if (!run_open(&run, path, &options, NULL)) {
		ask_all(run);
		run_close(run);
	}
	return 0;
}
