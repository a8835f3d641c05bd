/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_tsv.c - libFuzzer: rows of other tools, hpct-import --from tsv. A run that is made of them has
 * nothing that its check finds wrong; one that is refused leaves nothing.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/tsv/tsv_import.h"
#include "timeline/stats/info.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/dev/shm/hpct-fuzz.XXXXXX";
static char path[64], command[96];
static FILE *nowhere;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (!mkdtemp(directory))
		abort();
	snprintf(path, sizeof path, "%s/run.hpct", directory);
	snprintf(command, sizeof command, "rm -rf %s", path);
	nowhere = fopen("/dev/null", "w");
	return !nowhere;
}

static void check_run(void)
{
	const struct run_options options = {.no_cache = true, .jobs = 1};
	struct error error;
	struct run *run;

	if (run_open(&run, path, &options, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	if (info_check(run, REPORT_TSV, nowhere, &error)) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	run_close(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
	struct error error;

	if (!in)
		return 0;
	if (!tsv_import(in, "input", path, &error))
		check_run();
	else if (!access(path, F_OK))
		abort();
	fclose(in);
	return system(command);
}
