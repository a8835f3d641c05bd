// SPDX-License-Identifier: Apache-2.0
// sections_callee.cu - see sections.cu.
#include "sections.cuh"

__device__ float other_step(float x, float y)
{
	float z = x * y;    // x is of the caller
	return z * z + x;
}

__device__ float other_load(const float *from, int i)
{
	return from[i] * 0.5f;
}

__device__ float other_raw(const float *from, int i)
{
	return from[i];
}

__device__ float other_chain(const float *from, int i, float y)
{
	return other_step(other_load(from, i), y);
}

__device__ static float way_add(float x, float y) { return x * 0.9f + y; }
__device__ static float way_divide(float x, float y) { return x / (y + 2.f); }
__device__ other_way other_ways[2] = {way_add, way_divide};
