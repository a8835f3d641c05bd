/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_fuzz.h - a libFuzzer target for an import, IMPORT_FUZZ(FORMAT): what is made has nothing that its
 * check finds wrong; what is refused leaves nothing, unless it says that what was whole is kept.
 */
#ifndef TESTS_FUZZ_IMPORT_FUZZ_H
#define TESTS_FUZZ_IMPORT_FUZZ_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/base/format.h"
#include "timeline/stats/info.h"

static char import_path[64];
static FILE *import_nowhere;

static inline int import_fuzz_remove_one(
	const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)status, (void)kind, (void)at;
	return remove(path);
}

/* A folder with all that is in it, if it is there; without a process, which would take most of the time. */
static inline void import_fuzz_remove(const char *path)
{
	nftw(path, import_fuzz_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int import_fuzz_begin(void)
{
	static char directory[] = "/dev/shm/hpct-fuzz.XXXXXX";

	if (!mkdtemp(directory))
		abort();
	snprintf(import_path, sizeof import_path, "%s/run.hpct", directory);
	import_nowhere = fopen("/dev/null", "w");
	return !import_nowhere;
}

static inline void import_fuzz_check(void)
{
	const struct run_options options = {.no_cache = true, .jobs = 1};
	struct error error;
	struct run *run;

	if (run_open(&run, import_path, &options, &error) ||
		info_check(run, REPORT_TSV, import_nowhere, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	run_close(run);
}

static inline int import_fuzz_one(const struct format *format, const uint8_t *data, size_t size)
{
	struct format_input input = {
		.in = size ? fmemopen((void *)data, size, "r") : NULL, .name = "input", .fd = -1};
	struct error error;
	int code;

	if (!input.in)
		return 0;
	if (format->is)
		format->is(data, size);
	code = format->take(&input, import_path, &error);
	if (code == 0 || input.is_kept)
		import_fuzz_check();
	else if (!access(import_path, F_OK))
		abort();
	fclose(input.in);
	store_bytes_fini(&input.left_out);
	import_fuzz_remove(import_path);
	return 0;
}

#define IMPORT_FUZZ(format)                                           \
	int LLVMFuzzerInitialize(int *argc, char ***argv);            \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); \
	int LLVMFuzzerInitialize(int *argc, char ***argv)             \
	{                                                             \
		(void)argc, (void)argv;                               \
		return import_fuzz_begin();                           \
	}                                                             \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)  \
	{                                                             \
		return import_fuzz_one(&(format), data, size);        \
	}                                                             \
	_Static_assert(1, "the macro wants a semicolon")

#endif
