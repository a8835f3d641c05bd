/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_kernels.h - where kernels are written: a kernel's frame is its name alone, the GPU binaries that the
 * run keeps say file and line of functions by that name. Read when the first one is asked for, in runs with
 * GPU queues.
 */
#ifndef TIMELINE_RUN_KERNELS_H
#define TIMELINE_RUN_KERNELS_H

#include "timeline/run/run_internal.h"

struct run_kernels;

/* The function's first line, both interned by the run; left as they are where no binary says, or two say
 * different things. */
void run_kernel_place(struct run *run, const char *symbol, size_t size, const char **file, uint32_t *line);
void run_kernels_free(struct run_kernels *kernels); /* NULL is fine */

#endif
