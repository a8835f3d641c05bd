/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_module.h - GPU binaries that agents hand over, into the store; and which of a process's binaries has a
 * kernel, by its name: the runtime's records of kernels do not say (CUDA).
 */
#ifndef RECORD_GPU_MODULE_H
#define RECORD_GPU_MODULE_H

#include "record/base/u64_map.h"
#include "store/write/writer.h"

#define GPU_MODULE_KERNELS_MAX (1u << 20) /* of a process */

/* The kernels of a process's binaries. Empty when zeroed. */
struct gpu_module_kernels {
	struct u64_map by_name; /* place in `modules`; that of 0: several binaries have it */
	uint64_t *modules;	/* hashes; the first is 0 */
	uint32_t count, capacity;
};

/* Keeps the content of `memory`, a sealed memfd, under `hash`; closes it. Notes the kernels in it; `kernels`
 * NULL: the process is not known. */
void gpu_module_take(
	struct store_writer *writer, int memory, uint64_t hash, struct gpu_module_kernels *kernels);
/* Notes the kernels of an image, whatever it is: ELF's sections .text.NAME (cubin, zebin). */
void gpu_module_note(struct gpu_module_kernels *kernels, const void *image, size_t bytes, uint64_t hash);
/* The hash of the one binary with that kernel; 0: none, or several. */
uint64_t gpu_module_of(const struct gpu_module_kernels *kernels, const char *name, size_t bytes);
void gpu_module_fini(struct gpu_module_kernels *kernels);

#endif
