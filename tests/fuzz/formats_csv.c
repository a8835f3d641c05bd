/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_csv.c - libFuzzer: series with a clock, hpct-import --from csv.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_csv);
