/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_nsys.c - libFuzzer: SQLite files, hpct-import --from nsys.
 */
#include "tests/fuzz/import_fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return import_fuzz_begin();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return import_fuzz_one(&format_nsys, data, size);
}
