/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_tsv.c - libFuzzer: rows of other tools, hpct-import --from tsv.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_tsv);
