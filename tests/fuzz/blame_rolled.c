/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_rolled.c - libFuzzer: kept sums of idle GPUs (cache-idle-*) with bytes that are anybody's (image.h),
 * hashes counting as right: what is taken from them names contexts that the run has.
 */
#include <stdbool.h>
#include <stdio.h>

#include "blame/idle/idle_cache_file.h"
#include "tests/fuzz/image.h"

#define CONTEXTS 50u
#define STRETCHES 13u

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rolled_grid grid = {.first = 5, .last = 5 + STRETCHES, .shift = 20};
static const struct store_hash of = {.high = 1, .low = 2};
static struct image image;
static int target = -1;
static char target_path[64];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct rolled_making making = {.grid = grid};
	struct rolled_sums sums = {0};
	char path[] = "/tmp/hpct-fuzz.XXXXXX";

	(void)argc, (void)argv;
	close(mkstemp(path));
	for (uint32_t i = 0; i < STRETCHES; i++) {
		rolled_sums_clear(&sums);
		sums.idle.idle_ns = 1000 + i;
		for (uint32_t context = i; context < CONTEXTS; context += 7) {
			share_sums_add(&sums.blamed, context, share_of(i, 3));
			share_sums_add(&sums.waited, context / 2, share_of(i, 2));
		}
		rolled_making_add(&making, &sums);
	}
	rolled_making_finish(&making, &of, path);
	rolled_making_fini(&making);
	rolled_sums_fini(&sums);
	image = image_of(path);
	unlink(path);
	target = memfd_create("sums", MFD_CLOEXEC);
	snprintf(target_path, sizeof target_path, "/proc/self/fd/%d", target);
	return target < 0;
}

static void take(struct rolled_file *file, uint64_t from, uint64_t to)
{
	struct rolled_sums sums = {0};

	if (rolled_file_add(file, from, to, &sums))
		for (uint32_t context = CONTEXTS; context < sums.blamed.count; context++)
			if (sums.blamed.amount[context])
				abort();
	rolled_sums_fini(&sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rolled_file *file;

	if (!image_put(target, &image, 1, data, size))
		return 0;
	file = rolled_file_open(target_path, &grid, &of, CONTEXTS);
	if (!file)
		return 0;
	take(file, grid.first, grid.last);
	take(file, grid.first + 1, grid.last - 2);
	rolled_file_close(file);
	return 0;
}
