// SPDX-License-Identifier: Apache-2.0
// more_faults.cu - more kernels with one planted fault each (fault_*) and their mended twins (mended_*), and kernels that look
// like a fault and have none (fair_*); the program runs each for a while and prints its mean time: kernel, microseconds
// a launch, launches.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <stdio.h>
#include <string.h>
#include <vector>

#define N (1 << 24)

// Tail: a last wave of few blocks; the same work in as many blocks as run at a time.
template <int UNITS> __device__ void computes(float *out, const float *in, int n)
{
	for (int unit = blockIdx.x; unit < UNITS; unit += gridDim.x) {
		int i = unit * blockDim.x + threadIdx.x;
		float x = in[i & (N - 1)], y = x, z = x * 0.5f;
#pragma unroll 8
		for (int k = 0; k < n; k++) {
			y = y * 0.9f + x;
			z = z * 0.8f + x;
		}
		out[i & (N - 1)] = y + z;
	}
}
__global__ void __launch_bounds__(1024) fault_tail270(float *out, const float *in, int n) { computes<270>(out, in, n); }
__global__ void __launch_bounds__(1024) fault_tail330(float *out, const float *in, int n) { computes<330>(out, in, n); }
__global__ void __launch_bounds__(1024) fault_tail400(float *out, const float *in, int n) { computes<400>(out, in, n); }
__global__ void __launch_bounds__(1024) fault_tail600(float *out, const float *in, int n) { computes<600>(out, in, n); }
// The same work in small parts: 264 blocks, each of which takes its share of all threads' rounds.
__global__ void __launch_bounds__(1024) mended_tail(float *out, const float *in, int n) { computes<264>(out, in, n); }
__global__ void __launch_bounds__(1024) fault_tail_memory(float4 *out, const float4 *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float4 sum = {0, 0, 0, 0};
	for (int k = 0; k < n; k++) {
		float4 v = in[(i + k * 276480) & (N / 4 - 1)];
		sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
	}
	out[i & (N / 4 - 1)] = sum;
}

// Loads of 16 bytes, neighbours beside each other: nothing to mend. Of 4 bytes likewise.
__global__ void fair_wide(float4 *out, const float4 *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float4 sum = {0, 0, 0, 0};
#pragma unroll 4
	for (int k = 0; k < n; k++) {
		float4 v = in[(i + (size_t)k * all) % (N * 4)];
		sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
	}
	out[i & (N / 4 - 1)] = sum;
}
__global__ void fair_narrow(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;
#pragma unroll 8
	for (int k = 0; k < n; k++)
		sum += in[(i + (size_t)k * all) % (N * 16)];
	out[i & (N - 1)] = sum;
}

// Memory transactions: one field of a structure of 32 bytes; a naive transpose, whose stores lie far apart.
__global__ void fault_fields(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;
#pragma unroll 4
	for (int k = 0; k < n; k++)
		sum += in[(size_t)(i + k * all) * 8 % (N * 16)];
	out[i & (N - 1)] = sum;
}
__global__ void mended_fields(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	float sum = 0;
#pragma unroll 4
	for (int k = 0; k < n; k++)
		sum += in[(size_t)(i + k * all) % (N * 16)];
	out[i & (N - 1)] = sum;
}
__global__ void fault_transpose(float *out, const float *in, int n)
{
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	for (int k = 0; k < 32; k += 8)
		out[x * n + y + k] = in[(y + k) * n + x];
}
__global__ void mended_transpose(float *out, const float *in, int n)
{
	__shared__ float tile[32][33];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
	for (int k = 0; k < 32; k += 8)
		tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (int k = 0; k < 32; k += 8)
		out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

// Vector loads: a byte at a time, and four.
__global__ void fault_bytes(unsigned char *out, const unsigned char *in, int n)
{
	size_t i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	for (int k = 0; k < n; k++) {
		unsigned char v = in[i + k * all];
		out[i + k * all] = v > 127 ? 255 : v * 2;
	}
}
__global__ void mended_bytes(uint4 *out, const uint4 *in, int n)
{
	size_t i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	for (int k = 0; k < n / 16; k++) {
		uint4 v = in[i + k * all];
		unsigned char *b = (unsigned char *)&v;
#pragma unroll
		for (int j = 0; j < 16; j++)
			b[j] = b[j] > 127 ? 255 : b[j] * 2;
		out[i + k * all] = v;
	}
}

// Redundant loads: the compiler must not keep what a store might have changed.
__global__ void fault_reload(float *out, const float *in, float *sum, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		sum[i] += in[i & (N - 1)] * 0.7f + out[k];
}
__global__ void mended_reload(float *out, const float *in, float *sum, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float s = sum[i], x = in[i & (N - 1)];
#pragma unroll 1
	for (int k = 0; k < n; k++)
		s += x * 0.7f + out[k];
	sum[i] = s;
}

// Tensor cores: a product of matrices of 16-bit numbers.
__global__ void fault_matrix(float *c, const half *a, const half *b, int n)
{
	__shared__ half left[32][32], right[32][34];
	int x = threadIdx.x & 31, y = threadIdx.x >> 5, row = blockIdx.y * 32, column = blockIdx.x * 32;
	float sum[4] = {0, 0, 0, 0};
	for (int k = 0; k < n; k += 32) {
		for (int j = 0; j < 4; j++) {
			left[y + 8 * j][x] = a[(row + y + 8 * j) * n + k + x];
			right[y + 8 * j][x] = b[(k + y + 8 * j) * n + column + x];
		}
		__syncthreads();
		for (int m = 0; m < 32; m++)
			for (int j = 0; j < 4; j++)
				sum[j] += __half2float(left[y + 8 * j][m]) * __half2float(right[m][x]);
		__syncthreads();
	}
	for (int j = 0; j < 4; j++)
		c[(row + y + 8 * j) * n + column + x] = sum[j];
}
__global__ void mended_matrix(float *c, const half *a, const half *b, int n)
{
	using namespace nvcuda::wmma;
	__shared__ half left[64][40], right[32][72];
	int warp = threadIdx.x >> 5, row = blockIdx.y * 64, column = blockIdx.x * 64;
	fragment<accumulator, 16, 16, 16, float> sum[2];
	fill_fragment(sum[0], 0);
	fill_fragment(sum[1], 0);
	for (int k = 0; k < n; k += 32) {
		for (int t = threadIdx.x; t < 64 * 32; t += 256) {
			left[t / 32][t % 32] = a[(row + t / 32) * n + k + t % 32];
			right[t / 64][t % 64] = b[(k + t / 64) * n + column + t % 64];
		}
		__syncthreads();
		for (int m = 0; m < 32; m += 16) {
			fragment<matrix_a, 16, 16, 16, half, row_major> fa;
			load_matrix_sync(fa, &left[warp / 2 * 16][m], 40);
			for (int j = 0; j < 2; j++) {
				fragment<matrix_b, 16, 16, 16, half, row_major> fb;
				load_matrix_sync(fb, &right[m][warp % 2 * 32 + j * 16], 72);
				mma_sync(sum[j], fa, fb, sum[j]);
			}
		}
		__syncthreads();
	}
	for (int j = 0; j < 2; j++)
		store_matrix_sync(&c[(row + warp / 2 * 16) * n + column + warp % 2 * 32 + j * 16], sum[j], n, mem_row_major);
}

// Asynchronous copies: tiles go through registers, and each round waits for its own.
__global__ void fault_staged(float *out, const float *in, int n)
{
	__shared__ float4 tile[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	const float4 *from = (const float4 *)in;
	const float *words = (const float *)tile;
	float sum = 0;
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		tile[threadIdx.x] = from[(i + (size_t)k * all) & (N / 4 - 1)];
		__syncthreads();
		for (int j = 0; j < 32; j++)
			sum = sum * 0.99f + words[(threadIdx.x + j * 33) & 1023];
		__syncthreads();
	}
	out[i & (N - 1)] = sum;
}
__global__ void mended_staged(float *out, const float *in, int n)
{
	__shared__ float4 tile[4][256];
	int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
	const float4 *from = (const float4 *)in;
	float sum = 0;
	for (int k = 0; k < 3; k++) {
		__pipeline_memcpy_async(&tile[k][threadIdx.x], &from[(i + (size_t)k * all) & (N / 4 - 1)], 16);
		__pipeline_commit();
	}
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		const float *words = (const float *)tile[k & 3];
		__pipeline_memcpy_async(&tile[(k + 3) & 3][threadIdx.x], &from[(i + (size_t)(k + 3) * all) & (N / 4 - 1)], 16);
		__pipeline_commit();
		__pipeline_wait_prior(3);
		__syncthreads();
		for (int j = 0; j < 32; j++)
			sum = sum * 0.99f + words[(threadIdx.x + j * 33) & 1023];
		__syncthreads();
	}
	out[i & (N - 1)] = sum;
}

// Divergence. Lanes make different numbers of rounds; one lane after another works; by data, at random and sorted.
template <int BY> __device__ void trips(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int rounds = (i / BY & 31) * n;
	float x = in[i & (N - 1)], y = x;
#pragma unroll 1
	for (int k = 0; k < rounds; k++)
		y = y * 0.9f + x;
	out[i & (N - 1)] = y;
}
__global__ void fault_trips(float *out, const float *in, int n) { trips<1>(out, in, n); }
__global__ void mended_trips(float *out, const float *in, int n) { trips<32>(out, in, n); }
__device__ float heavy(float x, int n)
{
	float y = x;
#pragma unroll 1
	for (int k = 0; k < n; k++)
		y = y * 0.9f + x;
	return y;
}
__global__ void fault_turns(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i & (N - 1)];
#pragma unroll 1
	for (int k = 0; k < 32; k++)
		if ((threadIdx.x & 31) == k)
			x = heavy(x, n);
	out[i & (N - 1)] = x;
}
__global__ void mended_turns(float *out, const float *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i & (N - 1)] = heavy(in[i & (N - 1)], n);
}
__device__ void by_data(float *out, const int *in, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = i, y = x;
	if (in[i & (N - 1)])
		for (int k = 0; k < n; k++)
			y = y * 0.9f + x;
	else
		for (int k = 0; k < n; k++)
			y = (y + x) * 0.8f;
	out[i & (N - 1)] = y;
}
__global__ void fault_data(float *out, const int *in, int n) { by_data(out, in, n); }
__global__ void mended_data(float *out, const int *in, int n) { by_data(out, in, n); }

// Bank conflicts of two and eight ways.
template <int STEP> __device__ void steps(float *out, const float *in, int n)
{
	__shared__ float tile[32 * 32];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (int k = threadIdx.x; k < 1024; k += 256)
		tile[k] = in[(i + k) & (N - 1)];
	__syncthreads();
#pragma unroll 4
	for (int k = 0; k < n; k++)
		sum += tile[(threadIdx.x * STEP + k) & 1023];
	out[i & (N - 1)] = sum;
}
__global__ void fault_banks2(float *out, const float *in, int n) { steps<2>(out, in, n); }
__global__ void fault_banks8(float *out, const float *in, int n) { steps<8>(out, in, n); }
__global__ void mended_banks1(float *out, const float *in, int n) { steps<1>(out, in, n); }

static float *out, *in, *sum;
static int *random_data, *sorted_data;
static cudaEvent_t begin, end;
static bool wants_faults = true, wants_mended = true;

template <class F> static void measure(const char *name, F launch)
{
	float ms = 0, one;
	int count = 0;
	if (!strncmp(name, "mended", 6) ? !wants_mended : !wants_faults)
		return;
	launch();
	cudaDeviceSynchronize();
	while (ms < 200) {
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

int main(int argc, char **argv)
{
	if (argc > 1)
		(strcmp(argv[1], "fault") ? wants_faults : wants_mended) = false;
	cudaMalloc(&out, (size_t)N * 64);
	cudaMalloc(&in, (size_t)N * 64);
	cudaMalloc(&sum, (size_t)N * 4);
	cudaMalloc(&random_data, N * 4);
	cudaMalloc(&sorted_data, N * 4);
	cudaMemset(in, 0, (size_t)N * 64);
	cudaMemset(out, 0, (size_t)N * 64);
	cudaMemset(sum, 0, (size_t)N * 4);
	std::vector<int> host(N);
	unsigned state = 1;
	for (int i = 0; i < N; i++)
		host[i] = (state = state * 1664525u + 1013904223u) >> 31;
	cudaMemcpy(random_data, host.data(), N * 4, cudaMemcpyHostToDevice);
	for (int i = 0; i < N; i++)
		host[i] = i >> 5 & 1;
	cudaMemcpy(sorted_data, host.data(), N * 4, cudaMemcpyHostToDevice);
	cudaEventCreate(&begin);
	cudaEventCreate(&end);
#define RUN(name, grid, block, ...) measure(#name, [] { name<<<grid, block>>>(__VA_ARGS__); })
	RUN(fault_tail270, 270, 1024, out, in, 20000);
	measure("mended_tail270", [] { mended_tail<<<264, 1024>>>(out, in, 20000 * 270 / 264); });
	RUN(fault_tail330, 330, 1024, out, in, 20000);
	measure("mended_tail330", [] { mended_tail<<<264, 1024>>>(out, in, 20000 * 330 / 264); });
	RUN(fault_tail400, 400, 1024, out, in, 20000);
	measure("mended_tail400", [] { mended_tail<<<264, 1024>>>(out, in, 20000 * 400 / 264); });
	RUN(fault_tail600, 600, 1024, out, in, 20000);
	measure("mended_tail600", [] { mended_tail<<<264, 1024>>>(out, in, 20000 * 600 / 264); });
	RUN(fault_tail_memory, 270, 1024, (float4 *)out, (const float4 *)in, 600);
	measure("mended_tail_memory", [] { fault_tail_memory<<<264, 1024>>>((float4 *)out, (const float4 *)in, 600 * 270 / 264); });
	RUN(fair_wide, 1056, 256, (float4 *)out, (const float4 *)in, 100);
	RUN(fair_narrow, 1056, 256, out, in, 400);
	RUN(fault_fields, 1056, 256, out, in, 100);
	RUN(mended_fields, 1056, 256, out, in, 100);
	RUN(fault_transpose, dim3(128, 128), dim3(32, 8), out, in, 4096);
	RUN(mended_transpose, dim3(128, 128), dim3(32, 8), out, in, 4096);
	RUN(fault_bytes, 4096, 256, (unsigned char *)out, (const unsigned char *)in, 64);
	RUN(mended_bytes, 4096, 256, (uint4 *)out, (const uint4 *)in, 64);
	RUN(fault_reload, 1056, 256, out, in, sum, 300);
	RUN(mended_reload, 1056, 256, out, in, sum, 300);
	RUN(fault_matrix, dim3(64, 64), 256, out, (const half *)in, (const half *)(in + N), 2048);
	RUN(mended_matrix, dim3(32, 32), 256, out, (const half *)in, (const half *)(in + N), 2048);
	RUN(fault_staged, 528, 256, out, in, 100);
	RUN(mended_staged, 528, 256, out, in, 100);
	RUN(fault_trips, 4224, 256, out, in, 60);
	RUN(mended_trips, 4224, 256, out, in, 60);
	RUN(fault_turns, 2112, 256, out, in, 100);
	RUN(mended_turns, 2112, 256, out, in, 100);
	RUN(fault_data, 4224, 256, out, (const int *)random_data, 1000);
	RUN(mended_data, 4224, 256, out, (const int *)sorted_data, 1000);
	RUN(fault_banks2, 2112, 256, out, in, 500);
	RUN(fault_banks8, 2112, 256, out, in, 500);
	RUN(mended_banks1, 2112, 256, out, in, 500);
	return 0;
}
