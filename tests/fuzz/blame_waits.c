/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_waits.c - libFuzzer: the file of `hpct-blame --waits`, any bytes: its globs are held against the
 * names of a run, as those that come with it are.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blame/waits.h"
#include "tests/simulate.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/hpct-fuzz.XXXXXX";
static struct run *run;
static int file = -1;
static char path[64];

static void clean(void)
{
	char command[64];

	run_close(run);
	snprintf(command, sizeof command, "rm -rf %s", directory);
	if (system(command))
		_exit(1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const struct run_options options = {.no_cache = true};
	const struct simulate_options made = {.run = path, .shape = "mixed", .streams = 4, .records = 400};

	(void)argc, (void)argv;
	if (!mkdtemp(directory))
		abort();
	snprintf(path, sizeof path, "%s/run.hpct", directory);
	if (simulate_run(&made, NULL) || run_open(&run, path, &options, NULL))
		abort();
	file = memfd_create("waits", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	atexit(clean);
	return file < 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct waits *waits;

	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	if (waits_new(&waits, run, path, NULL))
		return 0;
	for (uint32_t context = 0; context < run_context_count(run); context++)
		if (waits_for(waits, context) > WAITS_FOR_RANKS)
			abort();
	waits_free(waits);
	return 0;
}
