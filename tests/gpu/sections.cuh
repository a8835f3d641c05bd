// SPDX-License-Identifier: Apache-2.0
// sections.cuh - device functions of another file: calls to them go from section to section.
#pragma once

__device__ float other_step(float x, float y);
__device__ float other_load(const float *from, int i);
__device__ float other_raw(const float *from, int i);
__device__ float other_chain(const float *from, int i, float y);
typedef float (*other_way)(float, float);
extern __device__ other_way other_ways[2];
