/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_gpu.h - names, inlined calls and lines of one GPU binary: from its debug information if it has any
 * (nvcc -G, clang -g), else from its line table and symbols (nvcc -lineinfo). For timeline/names/names.h
 * only.
 */
#ifndef TIMELINE_NAMES_GPU_H
#define TIMELINE_NAMES_GPU_H

#include "store/catalog/symbol_protocol.h"
#include "timeline/code/gpu_code.h"
#include "timeline/code/loops.h"
#include "timeline/names/names_loops.h"

struct names_gpu;

/* The caller owns the bytes, which must outlive it. `wants_debug`: debug information may be read. ERROR_IO:
 * what is wrong with them. One thread. */
int names_gpu_open(
	struct names_gpu **gpu, const void *bytes, size_t size, bool wants_debug, struct error *error);
void names_gpu_close(struct names_gpu *gpu);
struct gpu_code *names_gpu_code(struct names_gpu *gpu);
/* True when the binary may hide inlined calls: it has no NVIDIA line table that records them. */
bool names_gpu_lacks_inlined(const struct names_gpu *gpu);
/* Limits the CPU time of the next look-ups together (0: no limit). */
void names_gpu_allow(struct names_gpu *gpu, uint64_t cpu_ns);
bool names_gpu_is_spent(const struct names_gpu *gpu);

/* Fills in source and scopes if there is a function; else the answer is unchanged. 0 or negative: no memory.
 */
int names_gpu_find(
	struct names_gpu *gpu, uint64_t address, struct symbol_answer *answer, struct error *error);
/* The code in which to look for loops; range_count 0: no function there. */
void names_gpu_extent(const struct names_gpu *gpu, uint64_t address, struct loops_function *extent);
struct names_lines names_gpu_lines(struct names_gpu *gpu);

#endif
