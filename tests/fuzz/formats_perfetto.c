/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_perfetto.c - libFuzzer: Perfetto's protobuf, hpct-import --from perfetto.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_perfetto);
