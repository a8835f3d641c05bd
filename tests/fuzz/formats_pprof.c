/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_pprof.c - libFuzzer: pprof's protobuf, hpct-import --from pprof.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_pprof);
