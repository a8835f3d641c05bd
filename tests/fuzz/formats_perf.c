/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_perf.c - libFuzzer: perf.data, hpct-import --from perf.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_perf);
