/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_folded.c - libFuzzer: folded stacks, hpct-import --from folded.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_folded);
