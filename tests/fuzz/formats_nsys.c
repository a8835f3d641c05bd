/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_nsys.c - libFuzzer: SQLite files, hpct-import --from nsys.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_nsys);
