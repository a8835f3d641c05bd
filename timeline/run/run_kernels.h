/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_kernels.h - finds the source positions of kernels: a kernel's frame has only a name; GPU binaries kept
 * in the run have file and line of functions by that name. Reads them on first use, in runs with GPU queues.
 */
#ifndef TIMELINE_RUN_KERNELS_H
#define TIMELINE_RUN_KERNELS_H

#include "timeline/run/run_internal.h"

struct run_kernels;

/* The function's first line; the run interns both. Unchanged if no binary knows it, or two disagree. */
void run_kernel_place(struct run *run, const char *symbol, size_t size, const char **file, uint32_t *line);
void run_kernels_free(struct run_kernels *kernels); /* NULL is allowed */

#endif
