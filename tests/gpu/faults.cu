// SPDX-License-Identifier: Apache-2.0
// faults.cu - kernels with one planted fault each (fault_*) and their mended twins (mended_*); the program runs each
// for a while and prints its mean time: kernel, microseconds a launch, launches.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include <vector>

#define N (1 << 22)

// Strength: a double constant makes the compiler convert and compute in double.
__global__ void fault_constant(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)], y = x;
	for (int k = 0; k < n; k++)
		y = x + y * 0.7f - 2.1 * x * y;
	out[i & (N - 1)] = y;
}
__global__ void mended_constant(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)], y = x;
	for (int k = 0; k < n; k++)
		y = x + y * 0.7f - 2.1f * x * y;
	out[i & (N - 1)] = y;
}

// Strength: integer division by a number that the compiler does not know.
__global__ void fault_division(int *out, const int *in, int n, unsigned d, float r)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned x = in[i & (N - 1)] & 0xffff, sum = 0;
	for (int k = 0; k < n; k++)
		sum += (x + k) / d;
	out[i & (N - 1)] = sum;
}
__global__ void mended_division(int *out, const int *in, int n, unsigned d, float r)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned x = in[i & (N - 1)] & 0xffff, sum = 0;
	for (int k = 0; k < n; k++)
		sum += (unsigned)((x + k + 0.5f) * r);
	out[i & (N - 1)] = sum;
}

// Fast math: precise functions where their fast forms are good enough.
__global__ void fault_precise(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)], y = 0;
	for (int k = 0; k < n; k++)
		y += sinf(x + k) * powf(x + 1.f, y * 1e-3f);
	out[i & (N - 1)] = y;
}
__global__ void mended_precise(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)], y = 0;
	for (int k = 0; k < n; k++)
		y += __sinf(x + k) * __powf(x + 1.f, y * 1e-3f);
	out[i & (N - 1)] = y;
}

// Loop unrolling: each round waits for its load.
__global__ void fault_rolled(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		sum += in[(i + k * 65536) & (N - 1)];
	out[i & (N - 1)] = sum;
}
__global__ void mended_rolled(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
#pragma unroll 8
	for (int k = 0; k < n; k++)
		sum += in[(i + k * 65536) & (N - 1)];
	out[i & (N - 1)] = sum;
}

// Code reordering: the load of the next round could be issued before this round's barrier and arithmetic.
__global__ void fault_late_load(float *out, const float *in, int n)
{
	__shared__ float tile[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		float v = in[(i + k * 65536) & (N - 1)];
		tile[threadIdx.x] = v;
		__syncthreads();
		for (int j = 0; j < 16; j++)
			sum = sum * 0.99f + tile[(threadIdx.x + j) & 255];
		__syncthreads();
	}
	out[i & (N - 1)] = sum;
}
__global__ void mended_late_load(float *out, const float *in, int n)
{
	__shared__ float tile[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0, v = in[i & (N - 1)];
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		tile[threadIdx.x] = v;
		__syncthreads();
		v = in[(i + (k + 1) * 65536) & (N - 1)];
		for (int j = 0; j < 16; j++)
			sum = sum * 0.99f + tile[(threadIdx.x + j) & 255];
		__syncthreads();
	}
	out[i & (N - 1)] = sum;
}

// Register reuse: too few registers for what is alive, so that the compiler spills.
template <int LIVE> __device__ void many(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float a[LIVE];
#pragma unroll
	for (int k = 0; k < LIVE; k++)
		a[k] = in[(i + k * 4096) & (N - 1)];
#pragma unroll 1
	for (int r = 0; r < n; r++) {
#pragma unroll
		for (int k = 0; k < LIVE; k++)
			a[k] = a[k] * 0.5f + a[(k * 7 + 3) % LIVE];
	}
	float sum = 0;
#pragma unroll
	for (int k = 0; k < LIVE; k++)
		sum += a[k];
	out[i & (N - 1)] = sum;
}
__global__ void __launch_bounds__(1024, 2) fault_spilled(float *out, const float *in, int n) { many<56>(out, in, n); }
__global__ void __launch_bounds__(1024, 1) mended_spilled(float *out, const float *in, int n) { many<56>(out, in, n); }

// Warp balance: one warp works while the others wait at the barrier.
__global__ void fault_one_warp(float *out, const float *in, int n)
{
	__shared__ float part[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (int k = 0; k < n; k++) {
		part[threadIdx.x] = in[(i + k * 65536) & (N - 1)];
		__syncthreads();
		if (threadIdx.x == 0)
			for (int j = 1; j < 256; j++)
				part[0] += part[j];
		__syncthreads();
		sum += part[0];
		__syncthreads();
	}
	out[i & (N - 1)] = sum;
}
__global__ void mended_one_warp(float *out, const float *in, int n)
{
	__shared__ float part[8];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (int k = 0; k < n; k++) {
		float v = in[(i + k * 65536) & (N - 1)];
		for (int d = 16; d; d >>= 1)
			v += __shfl_xor_sync(~0u, v, d);
		if (!(threadIdx.x & 31))
			part[threadIdx.x >> 5] = v;
		__syncthreads();
		for (int j = 0; j < 8; j++)
			sum += part[j];
		__syncthreads();
	}
	out[i & (N - 1)] = sum;
}

// Memory transactions: neighbours read far apart.
__global__ void fault_strided(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (int k = 0; k < n; k++)
		sum += in[(i * 32 + k) & (N - 1)];
	out[i & (N - 1)] = sum;
}
__global__ void mended_strided(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, base = (i & ~31) * 32;
	float sum = 0;
	for (int k = 0; k < n; k++)
		sum += in[(base + (i & 31) + k * 32) & (N - 1)];
	out[i & (N - 1)] = sum;
}

// Shared memory: a column of a square tile lies in one bank.
template <int PITCH> __device__ void column(float *out, const float *in, int n)
{
	__shared__ float tile[32 * PITCH];
	int x = threadIdx.x & 31, y = threadIdx.x >> 5, i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (int k = y; k < 32; k += 8)
		tile[k * PITCH + x] = in[(i + k) & (N - 1)];
	__syncthreads();
	for (int k = 0; k < n; k++)
		sum += tile[x * PITCH + ((y + k) & 31)];
	out[i & (N - 1)] = sum;
}
__global__ void fault_banks(float *out, const float *in, int n) { column<32>(out, in, n); }
__global__ void mended_banks(float *out, const float *in, int n) { column<33>(out, in, n); }

// Function inlining.
__device__ __noinline__ float step_called(float x, float y) { return x * 0.7f + y * y; }
__global__ void fault_called(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)], y = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		y = step_called(x + k, y);
	out[i & (N - 1)] = y;
}
__global__ void mended_called(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)], y = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		y = (x + k) * 0.7f + y * y;
	out[i & (N - 1)] = y;
}

// Blocks and threads: the same work by too few blocks, and by blocks too small.
__global__ void fault_blocks(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	for (int at = i; at < N; at += all) {
		float x = in[at], y = x;
		for (int k = 0; k < n; k++)
			y = y * 0.9f + x;
		out[at] = y;
	}
}
__global__ void mended_blocks(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	for (int at = i; at < N; at += all) {
		float x = in[at], y = x;
		for (int k = 0; k < n; k++)
			y = y * 0.9f + x;
		out[at] = y;
	}
}
__global__ void fault_threads(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)], y = x;
	for (int k = 0; k < n; k++)
		y = y * 0.9f + x;
	out[i & (N - 1)] = y;
}
__global__ void mended_threads(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)], y = x;
	for (int k = 0; k < n; k++)
		y = y * 0.9f + x;
	out[i & (N - 1)] = y;
}

// Divergence: neighbours take different ways.
template <int BY> __device__ void ways(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)], y = x;
	if (i / BY & 1)
		for (int k = 0; k < n; k++)
			y = y * 0.9f + x;
	else
		for (int k = 0; k < n; k++)
			y = (y + x) * 0.8f;
	out[i & (N - 1)] = y;
}
__global__ void fault_diverging(float *out, const float *in, int n) { ways<1>(out, in, n); }
__global__ void mended_diverging(float *out, const float *in, int n) { ways<32>(out, in, n); }

static float *out, *in;
static cudaEvent_t begin, end;

template <class F> static void measure(const char *name, F launch)
{
	float ms = 0, one;
	int count = 0;
	launch();
	cudaDeviceSynchronize();
	while (ms < 150) {
		cudaEventRecord(begin);
		for (int i = 0; i < 10; i++)
			launch();
		cudaEventRecord(end);
		cudaEventSynchronize(end);
		cudaEventElapsedTime(&one, begin, end);
		ms += one;
		count += 10;
	}
	printf("%s\t%.3f\t%d\t%s\n", name, ms * 1e3 / count, count, cudaGetErrorString(cudaGetLastError()));
	fflush(stdout);
}

#define PAIR(name, grid, block, ...) \
	measure("fault_" #name, [] { fault_##name<<<grid, block>>>(__VA_ARGS__); }); \
	measure("mended_" #name, [] { mended_##name<<<grid, block>>>(__VA_ARGS__); })

int main(int argc, char **argv)
{
	cudaMalloc(&out, N * 4);
	cudaMalloc(&in, N * 4);
	std::vector<float> host(N);
	for (int i = 0; i < N; i++)
		host[i] = (int)(i * 7919L % 1000) * 1e-3f;
	cudaMemcpy(in, host.data(), N * 4, cudaMemcpyHostToDevice);
	cudaEventCreate(&begin);
	cudaEventCreate(&end);
	PAIR(constant, 1056, 256, out, in, 400);
	PAIR(division, 1056, 256, (int *)out, (const int *)in, 400, 37u, 1 / 37.f);
	PAIR(precise, 1056, 256, out, in, 100);
	PAIR(rolled, 528, 256, out, in, 200);
	PAIR(late_load, 528, 256, out, in, 100);
	PAIR(spilled, 264, 1024, out, in, 100);
	PAIR(one_warp, 1056, 256, out, in, 10);
	PAIR(strided, 4096, 256, out, in, 32);
	PAIR(banks, 2112, 256, out, in, 500);
	PAIR(called, 1056, 256, out, in, 1000);
	measure("fault_blocks", [] { fault_blocks<<<16, 1024>>>(out, in, 100); });
	measure("mended_blocks", [] { mended_blocks<<<132, 1024>>>(out, in, 100); });
	measure("fault_threads", [] { fault_threads<<<1 << 17, 32>>>(out, in, 600); });
	measure("mended_threads", [] { mended_threads<<<1 << 14, 256>>>(out, in, 600); });
	PAIR(diverging, 4224, 256, out, in, 1000);
	return 0;
}
