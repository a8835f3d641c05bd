// SPDX-License-Identifier: Apache-2.0
// sections.cu - relocatable device code (nvcc -rdc=true sections.cu sections_callee.cu): kernels that wait in functions
// of another file, for what they were handed over, and for what these return. The program runs each for a while and prints
// its mean time: kernel, microseconds a launch, launches.
#include <cuda_runtime.h>
#include <stdio.h>

#include "sections.cuh"

#define N (1 << 24)

// The callee computes with what its caller has loaded.
extern "C" __global__ void hands_over(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float y = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		y = other_step(in[(i + k * 65536) & (N - 1)], y); // the load
	out[i] = y;
}

// The caller computes with what its callee has loaded.
extern "C" __global__ void is_given(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float y = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		y = y * 0.9f + other_load(in, (i + k * 65536) & (N - 1)); // the use
	out[i] = y;
}

// What the callee returns is a load of its own.
extern "C" __global__ void is_given_raw(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float y = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		y = y * 0.9f + other_raw(in, (i + k * 65536) & (N - 1)); // the use
	out[i] = y;
}

// Two calls deep.
extern "C" __global__ void is_given_deep(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float y = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		y += other_chain(in, (i + k * 65536) & (N - 1), y);
	out[i] = y;
}

// Through a pointer.
extern "C" __global__ void goes_ways(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float y = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		y = other_ways[k & 1](in[(i + k * 65536) & (N - 1)], y);
	out[i] = y;
}

static cudaEvent_t begin, end;

template <class F> static void measure(const char *name, F launch)
{
	float ms = 0, one;
	int count = 0;
	launch();
	cudaDeviceSynchronize();
	while (ms < 300 && cudaGetLastError() == cudaSuccess) {
		cudaEventRecord(begin);
		for (int i = 0; i < 10; i++)
			launch();
		cudaEventRecord(end);
		cudaEventSynchronize(end);
		cudaEventElapsedTime(&one, begin, end);
		ms += one;
		count += 10;
	}
	printf("%s\t%.3f\t%d\t%s\n", name, count ? ms * 1e3 / count : 0, count, cudaGetErrorString(cudaGetLastError()));
	fflush(stdout);
}

int main(void)
{
	float *in, *out;
	cudaMalloc(&in, (size_t)N * 4);
	cudaMalloc(&out, (size_t)N * 4);
	cudaMemset(in, 0, (size_t)N * 4);
	cudaEventCreate(&begin);
	cudaEventCreate(&end);
	measure("hands_over", [&] { hands_over<<<1056, 256>>>(out, in, 200); });
	measure("is_given", [&] { is_given<<<1056, 256>>>(out, in, 200); });
	measure("is_given_raw", [&] { is_given_raw<<<1056, 256>>>(out, in, 200); });
	measure("is_given_deep", [&] { is_given_deep<<<1056, 256>>>(out, in, 200); });
	measure("goes_ways", [&] { goes_ways<<<1056, 256>>>(out, in, 200); });
	return 0;
}
