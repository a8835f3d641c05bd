/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_kernel.h - names of the kernel's functions in a perf.data, by the list of symbols of the kernel that
 * ran: this machine's (/proc/kallsyms) if its build id is that kernel's, else the copy that perf record keeps
 * (PERF_BUILDID_DIR, else ~/.debug). Loadable parts of the kernel and code that it makes (BPF) are in that
 * list, too, so no file of theirs is opened; after a boot they lie elsewhere and have no names.
 */
#ifndef FORMATS_PERF_KERNEL_H
#define FORMATS_PERF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "store/write/writer.h"

struct perf_kernel;

/* Where the file says that a symbol of the kernel's list lay when it ran. */
struct perf_kernel_anchor {
	char symbol[32]; /* "": it says nothing */
	uint64_t address;
	const uint8_t *build_id;
	uint8_t build_id_bytes; /* 0: not known */
};

/* NULL: no memory. */
struct perf_kernel *perf_kernel_new(void);
void perf_kernel_free(struct perf_kernel *kernel);
/* A frame that wants a name; one of the same place counts once. False: no memory. */
bool perf_kernel_add(struct perf_kernel *kernel, uint32_t module, uint64_t offset, uint64_t address);
/* Names all frames in the writer. The number of those without a name. */
uint64_t perf_kernel_name(
	struct perf_kernel *kernel, struct store_writer *writer, const struct perf_kernel_anchor *anchor);

#endif
