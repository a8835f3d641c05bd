/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_gate.c - libFuzzer: the file of `hpct-report --gate`, any bytes: its lines are judged by a run.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blame/report/gate.h"
#include "tests/fuzz/small_run.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;
static char path[64];
static struct select *all;
static struct run_report report;
static struct arena arena;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct error error;

	(void)argc, (void)argv;
	if (small_run_make("mixed", 4, 400) || select_new(&all, &error) || select_bind(all, run, &error) ||
		run_report_make(&report, run, all, &arena, &error))
		return 1;
	file = memfd_create("gates", MFD_CLOEXEC);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	return file < 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena own = {0};
	struct error error = {0};
	struct gates gates;

	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	if (!gates_read(&gates, path, &own, &error) &&
		!gates_judge(&gates, run, all, &report, &own, &error) && gates_verdict(&gates, &error) > 0)
		abort();
	arena_fini(&own);
	return 0;
}
