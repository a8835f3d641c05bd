/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_hpcrun.c - libFuzzer: measurements of hpcrun, hpct-import --from hpctoolkit: a thread with a trace,
 * one without, and a GPU binary.
 */
#include "tests/fuzz/directory_fuzz.h"

static const char *const names[] = {"a-0.hpcrun", "a-0.hpctrace", "a-1.hpcrun", "gpubins/x.gpubin"};

DIRECTORY_FUZZ(format_hpctoolkit, names, "gpubins");
