/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_pc.h - samples of GPU instructions by CUPTI's continuous PC sampling, beside the activity records
 * and in the same subscription: kernels are not serialized.
 *
 *   a context's first launch --enable--> CUPTI's own thread --every 100 ms--> GetData by the flusher --> ring
 *
 * One context of a device at a time: with several CUPTI fails and activity records vanish.
 */
#ifndef RECORD_AGENT_GPU_CUDA_PC_H
#define RECORD_AGENT_GPU_CUDA_PC_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once the library is open: takes the settings' word "cuda-pc=N" (period 2^N cycles). */
void cuda_pc_open(void);
/* The calling thread is about to launch in the context. Returns at once after the first time. */
void cuda_pc_launch(CUcontext context, uint32_t number);
/* A binary was loaded; `hash`: as gpu_module() gave it. */
void cuda_pc_module(const void *image, size_t bytes, uint64_t hash);
/* CUPTI told what a device (its own number) is: the next read hands it over. From any thread. */
void cuda_pc_device(uint32_t own_device, uint32_t multiprocessors, uint32_t clock_khz);
/* Hands over the samples so far; only the flusher calls it. `is_end`: sampling ends, the rest is handed over.
 */
void cuda_pc_read(bool is_end);
/* Samples are asked for: the flusher is to read them twice a worker's span. */
bool cuda_pc_is_on(void);

#endif
