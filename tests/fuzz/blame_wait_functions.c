/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_wait_functions.c - libFuzzer: the file of `hpct-blame --waits`, any bytes: its globs are held against
 * the names of a run, as those that come with it are.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blame/base/wait_functions.h"
#include "tests/fuzz/small_run.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;
static char path[64];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (small_run_make("mixed", 4, 400))
		return 1;
	file = memfd_create("waits", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	return file < 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wait_functions *waits;

	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	if (wait_functions_new(&waits, run, path, NULL))
		return 0;
	/* Thousands have the same few functions. */
	for (uint32_t context = 0; context < run_context_count(run); context += 1 + context / 8)
		if (wait_functions_target(waits, context) > WAITS_FOR_RANKS)
			abort();
	wait_functions_free(waits);
	return 0;
}
