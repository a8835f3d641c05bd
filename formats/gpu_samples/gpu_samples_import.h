/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_samples_import.h - samples of GPU instructions that another tool took, with the binaries they are of,
 * as a run that hpct-advise reads: format_gpu_samples. One line of names, tabs between fields, any order:
 *
 *   address     of the instruction, in the binary, as its symbols count; or
 *   offset      ... from its kernel's begin
 *   kernel      mangled, demangled, or with AMD's .kd behind; may be missing where the address tells it
 *   reason      gpu_reason.h; empty: the sampler gave none
 *   weight      samples, 1 if missing
 *   not_issued  1: nothing issued meanwhile, 0: another warp did; missing: by the reason
 *   time_ns     0 if missing
 *   end_ns      of a line without address and offset: a launch of the kernel, which ended then
 *   attributes  ... and was of that shape: "grid=64:1:1,block=256:1:1"
 */
#ifndef FORMATS_GPU_SAMPLES_IMPORT_H
#define FORMATS_GPU_SAMPLES_IMPORT_H

#include "formats/base/format.h"

/* As format.take. ERROR_USAGE: a binary that is none; ERROR_RUN: a wrong row, also an offset, or no kernel,
 * without a binary that tells. */
int gpu_samples_import(struct format_input *input, const char *path, struct error *error);
bool gpu_samples_is(const uint8_t *head, size_t size);

#endif
