/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_util.h - counters of a device over time by CUPTI's PM sampling, beside the activity records and on
 * their clock: how busy its multiprocessors, pipes, memory and PCIe are. The GPU takes a sample each so many
 * ns, whatever runs; kernels are not serialized.
 *
 *   a context's first launch --device--> the flusher: enables; every 200 ms: decodes, evaluates --> ring
 *
 * Excludes samples of instructions (gpu_cuda_pc.h): the GPU has one set of these counters. The first process
 * of a device has them.
 */
#ifndef RECORD_AGENT_GPU_CUDA_UTIL_H
#define RECORD_AGENT_GPU_CUDA_UTIL_H

#include <cupti.h>
#include <stdbool.h>
#include <stdint.h>

/* Once the library is open: takes the settings' word "cuda-util=NS". */
void cuda_util_open(void);
/* The calling thread is about to launch in the context. Returns at once after the first time. */
void cuda_util_launch(CUcontext context, uint32_t number);
/* Starts what was asked for, and hands over the samples so far; only the flusher calls it. `is_end`: sampling
 * ends, the rest is handed over. */
void cuda_util_read(bool is_end);
/* How long the flusher may wait until it reads them again. */
uint64_t cuda_util_read_ns(void);

#endif
