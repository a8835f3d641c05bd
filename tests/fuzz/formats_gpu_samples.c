/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats_gpu_samples.c - libFuzzer: samples of GPU instructions, hpct-import --from gpu-samples.
 */
#include "tests/fuzz/import_fuzz.h"

IMPORT_FUZZ(format_gpu_samples);
