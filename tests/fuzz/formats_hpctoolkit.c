/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_hpctoolkit.c - libFuzzer: databases of hpcprof, hpct-import --from hpctoolkit.
 */
#include "tests/fuzz/directory_fuzz.h"

static const char *const names[] = {"trace.db", "meta.db", "profile.db"};

DIRECTORY_FUZZ(format_hpctoolkit, names, "");
