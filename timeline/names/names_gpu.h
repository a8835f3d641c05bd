/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_gpu.h - names, inlined calls and lines of one GPU binary: its debug information where there is any
 * (nvcc -G, clang -g), else its line table and symbols (nvcc -lineinfo). Inside timeline/names/names.h.
 */
#ifndef TIMELINE_NAMES_GPU_H
#define TIMELINE_NAMES_GPU_H

#include "store/catalog/symbol_protocol.h"
#include "timeline/code/gpu_code.h"
#include "timeline/code/loops.h"
#include "timeline/names/names_loops.h"

struct names_gpu;

/* The bytes stay the caller's and must outlive it. `wants_debug`: debug information may be read. ERROR_IO
 * says what is wrong with them. One thread. */
int names_gpu_open(
	struct names_gpu **gpu, const void *bytes, size_t size, bool wants_debug, struct error *error);
void names_gpu_close(struct names_gpu *gpu);
struct gpu_code *names_gpu_code(struct names_gpu *gpu);
/* What it has instead of NVIDIA's line tables with inlined calls does not tell all of them. */
bool names_gpu_lacks_inlined(const struct names_gpu *gpu);
/* What the next look-ups may cost together: CPU time (0: any). */
void names_gpu_allow(struct names_gpu *gpu, uint64_t cpu_ns);
bool names_gpu_is_spent(const struct names_gpu *gpu);

/* Fills in source and scopes where there is a function; else the answer stays as it is. 0 or negative:
 * memory. */
int names_gpu_find(
	struct names_gpu *gpu, uint64_t address, struct symbol_answer *answer, struct error *error);
/* The code that loops are looked for in; range_count 0: no function there. */
void names_gpu_extent(const struct names_gpu *gpu, uint64_t address, struct loops_function *extent);
struct names_lines names_gpu_lines(struct names_gpu *gpu);

#endif
