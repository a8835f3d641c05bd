/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_formula_file.c - libFuzzer: the file `formulas` of a run, any bytes: what it keeps by name is
 * refused as a formula, or has a value.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/small_run.h"
#include "timeline/base/formula.h"
#include "timeline/select/formula_file.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[4096];

	(void)argc, (void)argv;
	if (small_run_make("mixed", 4, 400))
		return 1;
	snprintf(path, sizeof path, "%s/formulas", run_path(run));
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return file < 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"CPUTIME:incl", "CPUTIME:excl", "waste"};
	static const double numbers[] = {1, 2, 3};
	struct formula *formula;
	struct error error = {0};
	char *line;

	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	line = formula_file_find(run, "waste");
	if (!line)
		return 0;
	if (!formula_parse_named(&formula, strchr(line, '=') + 1, names, 3, &error)) {
		(void)formula_value(formula, numbers, numbers);
		formula_free(formula);
	} else if (!error.text[0]) {
		abort();
	}
	free(line);
	return 0;
}
