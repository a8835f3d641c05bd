/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_module.h - stores GPU binaries that agents send, and finds the binary of a kernel by its name: CUDA's
 * kernel records do not identify it.
 */
#ifndef RECORD_GPU_MODULE_H
#define RECORD_GPU_MODULE_H

#include "record/base/u64_map.h"
#include "store/write/writer.h"

#define GPU_MODULE_KERNELS_MAX (1u << 20) /* per process */

/* The kernels of a process's binaries. Empty when zeroed. */
struct gpu_module_kernels {
	struct u64_map by_name; /* index into `modules`; 0: several binaries define it */
	uint64_t *modules;	/* hashes; index 0 is unused */
	uint32_t count, capacity;
	struct gpu_module_symbols *symbols; /* of binaries, by hash */
	uint32_t symbol_count;
};

/* Where the functions of a binary begin, by number of their symbol, as readers count addresses. */
struct gpu_module_symbols {
	uint64_t hash;
	uint64_t *begins; /* 0: no function */
	uint32_t count;
};
/* The address of an instruction (timeline/code/gpu_code.h); 0: the binary or the symbol is not known. */
uint64_t gpu_module_address(
	const struct gpu_module_kernels *kernels, uint64_t hash, uint32_t symbol, uint32_t offset);

/* Stores the content of `memory`, a sealed memfd, under `hash`, adds its kernels to `kernels` (NULL: the
 * process is unknown), and closes it. */
void gpu_module_take(
	struct store_writer *writer, int memory, uint64_t hash, struct gpu_module_kernels *kernels);
/* Adds the kernels of an image: the ELF sections .text.NAME (cubin, zebin). Ignores other formats. */
void gpu_module_note(struct gpu_module_kernels *kernels, const void *image, size_t bytes, uint64_t hash);
/* Hash of the only binary with that kernel; 0: none or several. */
uint64_t gpu_module_of(const struct gpu_module_kernels *kernels, const char *name, size_t bytes);
void gpu_module_fini(struct gpu_module_kernels *kernels);

#endif
