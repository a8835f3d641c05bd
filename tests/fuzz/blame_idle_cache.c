/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_idle_cache.c - libFuzzer: kept sums of idle GPUs (cache-idle-*) with bytes that are anybody's
 * (image.h), hashes counting as right: what is taken from them names contexts that the run has.
 */
#include <stdbool.h>
#include <stdio.h>

#include "blame/idle/idle_cache_file.h"
#include "tests/fuzz/image.h"

#define CONTEXTS 50u
#define STRETCHES 13u

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct idle_cache_grid grid = {.first = 5, .last = 5 + STRETCHES, .shift = 20};
static const struct store_hash of = {.high = 1, .low = 2};
static struct image image;
static int target = -1;
static char target_path[64];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct idle_cache_writer making = {.grid = grid};
	struct idle_cache_sums sums = {0};
	char path[] = "/tmp/hpct-fuzz.XXXXXX";

	(void)argc, (void)argv;
	close(mkstemp(path));
	for (uint32_t i = 0; i < STRETCHES; i++) {
		idle_cache_sums_clear(&sums);
		sums.idle.idle_ns = 1000 + i;
		for (uint32_t context = i; context < CONTEXTS; context += 7) {
			exact_share_sums_add(&sums.blamed, context, exact_share_of(i, 3));
			exact_share_sums_add(&sums.waited, context / 2, exact_share_of(i, 2));
		}
		idle_cache_writer_add(&making, &sums);
	}
	idle_cache_writer_finish(&making, &of, path);
	idle_cache_writer_fini(&making);
	idle_cache_sums_fini(&sums);
	image = image_of(path);
	unlink(path);
	target = memfd_create("sums", MFD_CLOEXEC);
	snprintf(target_path, sizeof target_path, "/proc/self/fd/%d", target);
	return target < 0;
}

static void take(struct idle_cache_file *file, uint64_t from, uint64_t to)
{
	struct idle_cache_sums sums = {0};

	if (idle_cache_file_add(file, from, to, &sums))
		for (uint32_t context = CONTEXTS; context < sums.blamed.count; context++)
			if (sums.blamed.amount[context])
				abort();
	idle_cache_sums_fini(&sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct idle_cache_file *file;

	if (!image_put(target, &image, 1, data, size))
		return 0;
	file = idle_cache_file_open(target_path, &grid, &of, CONTEXTS);
	if (!file)
		return 0;
	take(file, grid.first, grid.last);
	take(file, grid.first + 1, grid.last - 2);
	idle_cache_file_close(file);
	return 0;
}
