/* SPDX-License-Identifier: Apache-2.0 */
/* small_run.h - a small simulated run, open for the target's whole life, in a directory that ends with it. */
#ifndef FUZZ_SMALL_RUN_H
#define FUZZ_SMALL_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/simulate.h"
#include "timeline/run/run.h"

static char directory[] = "/dev/shm/hpct-fuzz.XXXXXX";
static char small_run_path[64];
static struct run *run;

static void small_run_clean(void)
{
	char command[64];

	run_close(run);
	snprintf(command, sizeof command, "rm -rf %s", directory);
	if (system(command))
		_exit(1);
}

/* Caches and settings of a user lie in that directory, too. Once; 0, or what atexit() says. */
static int small_run_make(const char *shape, uint32_t streams, uint64_t records)
{
	const struct run_options options = {.no_cache = true};
	const struct simulate_options made = {
		.run = small_run_path, .shape = shape, .streams = streams, .records = records};

	if (!mkdtemp(directory) || setenv("XDG_CACHE_HOME", directory, 1) ||
		setenv("XDG_CONFIG_HOME", directory, 1))
		abort();
	snprintf(small_run_path, sizeof small_run_path, "%s/run.hpct", directory);
	if (simulate_run(&made, NULL) || run_open(&run, small_run_path, &options, NULL))
		abort();
	return atexit(small_run_clean);
}

#endif
