/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_prometheus.c - libFuzzer: series with a clock, hpct-import --from prometheus.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_prometheus);
