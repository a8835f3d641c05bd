// SPDX-License-Identifier: Apache-2.0
// tensor_copies.cu - Hopper's tensor copies with barriers in shared memory: what waits for a barrier waits for the copy
// that completes it. The program runs each kernel for a while and prints its mean time: kernel, microseconds a
// launch, launches.
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 4096
#define HEIGHT 16384
#define SIDE 32 // of a tile
#define BYTES (SIDE * SIDE * 4)

__device__ static uint32_t shared_of(const void *at) { return (uint32_t)__cvta_generic_to_shared(at); }

__device__ static void barrier_init(uint64_t *barrier)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_of(barrier)) : "memory");
}

__device__ static void barrier_expect(uint64_t *barrier, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_of(barrier)), "r"(bytes) : "memory");
}

__device__ static void barrier_wait(uint64_t *barrier, uint32_t parity)
{
	asm volatile("{\n"
		     ".reg .pred done;\n"
		     "again:\n"
		     "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
		     "@done bra end;\n"
		     "bra again;\n"
		     "end:\n"
		     "}" ::"r"(shared_of(barrier)),
		"r"(parity)
		: "memory");
}

__device__ static void tile_load(void *to, const CUtensorMap *map, int x, int y, uint64_t *barrier)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
			     shared_of(to)),
		"l"(map), "r"(x), "r"(y), "r"(shared_of(barrier))
		: "memory");
}

__device__ static void tile_store(const CUtensorMap *map, int x, int y, const void *from)
{
	asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y),
		"r"(shared_of(from))
		: "memory");
	asm volatile("cp.async.bulk.commit_group;");
}

__device__ static void tile_reduce(const CUtensorMap *map, int x, int y, const void *from)
{
	asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
		"r"(x), "r"(y), "r"(shared_of(from))
		: "memory");
	asm volatile("cp.async.bulk.commit_group;");
}

__device__ static void row_load(void *to, const void *from, uint32_t bytes, uint64_t *barrier)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_of(to)),
		"l"(from), "r"(bytes), "r"(shared_of(barrier))
		: "memory");
}

__device__ static void row_store(void *to, const void *from, uint32_t bytes)
{
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_of(from)), "r"(bytes)
		: "memory");
	asm volatile("cp.async.bulk.commit_group;");
}

// One tile at a time: each round waits for its own copy.
extern "C" __global__ void __launch_bounds__(256) fault_tensor(const __grid_constant__ CUtensorMap in, float *out, int n)
{
	__shared__ alignas(128) float tile[SIDE * SIDE];
	__shared__ alignas(8) uint64_t full;
	float sum = 0;

	if (!threadIdx.x)
		barrier_init(&full);
	__syncthreads();
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		if (!threadIdx.x) {
			barrier_expect(&full, BYTES);
			tile_load(tile, &in, blockIdx.x % (WIDTH / SIDE) * SIDE, (blockIdx.x / (WIDTH / SIDE) + k * 16) % (HEIGHT / SIDE) * SIDE, &full);
		}
		barrier_wait(&full, k & 1); // waits for tile_load
		for (int j = 0; j < 4; j++)
			sum = sum * 0.99f + tile[threadIdx.x + j * 256];
		__syncthreads();
	}
	out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Four tiles under way: the copy of a later round runs while this one computes.
extern "C" __global__ void __launch_bounds__(256) mended_tensor(const __grid_constant__ CUtensorMap in, float *out, int n)
{
	__shared__ alignas(128) float tile[4][SIDE * SIDE];
	__shared__ alignas(8) uint64_t full[4];
	float sum = 0;

	if (!threadIdx.x)
		for (int s = 0; s < 4; s++)
			barrier_init(&full[s]);
	__syncthreads();
	if (!threadIdx.x)
		for (int s = 0; s < 3; s++) {
			barrier_expect(&full[s], BYTES);
			tile_load(tile[s], &in, blockIdx.x % (WIDTH / SIDE) * SIDE, (blockIdx.x / (WIDTH / SIDE) + s * 16) % (HEIGHT / SIDE) * SIDE, &full[s]);
		}
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		int next = k + 3;
		if (!threadIdx.x) {
			barrier_expect(&full[next & 3], BYTES);
			tile_load(tile[next & 3], &in, blockIdx.x % (WIDTH / SIDE) * SIDE, (blockIdx.x / (WIDTH / SIDE) + next * 16) % (HEIGHT / SIDE) * SIDE,
				&full[next & 3]);
		}
		barrier_wait(&full[k & 3], k >> 2 & 1);
		for (int j = 0; j < 4; j++)
			sum = sum * 0.99f + tile[k & 3][threadIdx.x + j * 256];
		__syncthreads();
	}
	for (int s = 0; s < 3; s++) // what is still under way
		barrier_wait(&full[(n + s) & 3], (n + s) >> 2 & 1);
	out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// A tile in, a tile out: the buffer is free again when the store has read it.
extern "C" __global__ void __launch_bounds__(256) stores_tensor(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, int n)
{
	__shared__ alignas(128) float tile[SIDE * SIDE];
	__shared__ alignas(8) uint64_t full;

	if (!threadIdx.x)
		barrier_init(&full);
	__syncthreads();
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		int x = blockIdx.x % (WIDTH / SIDE) * SIDE, y = (blockIdx.x / (WIDTH / SIDE) + k * 16) % (HEIGHT / SIDE) * SIDE;
		if (!threadIdx.x) {
			barrier_expect(&full, BYTES);
			tile_load(tile, &in, x, y, &full);
		}
		barrier_wait(&full, k & 1);
		for (int j = 0; j < 4; j++)
			tile[threadIdx.x + j * 256] *= 1.5f;
		asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
		__syncthreads();
		if (!threadIdx.x) {
			tile_store(&out, x, y, tile);
			asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); // waits for tile_store
		}
		__syncthreads();
	}
}

// Likewise, added up in global memory.
extern "C" __global__ void __launch_bounds__(256) adds_tensor(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, int n)
{
	__shared__ alignas(128) float tile[SIDE * SIDE];

	for (int j = 0; j < 4; j++)
		tile[threadIdx.x + j * 256] = j * 0.5f;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
#pragma unroll 1
	for (int k = 0; k < n && !threadIdx.x; k++) {
		tile_reduce(&out, blockIdx.x % (WIDTH / SIDE) * SIDE, (blockIdx.x / (WIDTH / SIDE) + k * 16) % (HEIGHT / SIDE) * SIDE, tile);
		asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
	}
	asm volatile("prefetch.tensormap [%0];" ::"l"(&in) : "memory");
}

// Rows without a tensor's map, by a copying warp and computing ones with two barriers each: full and empty.
extern "C" __global__ void __launch_bounds__(160) rows_bulk(const float *in, float *out, int n)
{
	__shared__ alignas(128) float row[2][1024];
	__shared__ alignas(8) uint64_t full[2], empty[2];
	float sum = 0;

	if (!threadIdx.x)
		for (int s = 0; s < 2; s++) {
			barrier_init(&full[s]);
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(shared_of(&empty[s])) : "memory");
		}
	__syncthreads();
	if (threadIdx.x >= 128) {
#pragma unroll 1
		for (int k = 0; k < n && threadIdx.x == 128; k++) {
			if (k >= 2)
				barrier_wait(&empty[k & 1], (k / 2 + 1) & 1); // waits for those that compute
			barrier_expect(&full[k & 1], 4096);
			row_load(row[k & 1], in + ((size_t)blockIdx.x * 64 + k) % (1 << 14) * 1024, 4096, &full[k & 1]);
		}
		return;
	}
#pragma unroll 1
	for (int k = 0; k < n; k++) {
		barrier_wait(&full[k & 1], k >> 1 & 1); // waits for row_load, in another way of the program
		for (int j = 0; j < 8; j++)
			sum = sum * 0.99f + row[k & 1][threadIdx.x + j * 128];
		asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_of(&empty[k & 1])) : "memory");
	}
	out[blockIdx.x * 128 + threadIdx.x] = sum;
}

// Rows out of shared memory.
extern "C" __global__ void __launch_bounds__(256) rows_stored(float *out, int n)
{
	__shared__ alignas(128) float row[1024];

	for (int j = 0; j < 4; j++)
		row[threadIdx.x + j * 256] = j;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
#pragma unroll 1
	for (int k = 0; k < n && !threadIdx.x; k++) {
		row_store(out + ((size_t)blockIdx.x * 64 + k) % (1 << 14) * 1024, row, 4096);
		asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
	}
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

typedef CUresult (*encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
	const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
	CUtensorMapFloatOOBfill);

static CUtensorMap map_of(encode make, void *at)
{
	CUtensorMap map;
	cuuint64_t size[2] = {WIDTH, HEIGHT}, pitch[1] = {WIDTH * 4};
	cuuint32_t box[2] = {SIDE, SIDE}, step[2] = {1, 1};
	CUresult rc = make(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, at, size, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
		CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (rc)
		printf("map\t%d\n", (int)rc);
	return map;
}

int main(void)
{
	float *in, *out;
	void *entry = NULL;
	cudaDriverEntryPointQueryResult found;
	cudaMalloc(&in, (size_t)WIDTH * HEIGHT * 4);
	cudaMalloc(&out, (size_t)WIDTH * HEIGHT * 4);
	cudaMemset(in, 0, (size_t)WIDTH * HEIGHT * 4);
	cudaEventCreate(&begin);
	cudaEventCreate(&end);
	cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
	if (!entry) {
		printf("no cuTensorMapEncodeTiled\n");
		return 1;
	}
	CUtensorMap from = map_of((encode)entry, in), to = map_of((encode)entry, out);
	measure("fault_tensor", [&] { fault_tensor<<<1056, 256>>>(from, out, 64); });
	measure("mended_tensor", [&] { mended_tensor<<<1056, 256>>>(from, out, 64); });
	measure("stores_tensor", [&] { stores_tensor<<<1056, 256>>>(from, to, 64); });
	measure("adds_tensor", [&] { adds_tensor<<<1056, 256>>>(from, to, 64); });
	measure("rows_bulk", [&] { rows_bulk<<<1056, 160>>>(in, out, 64); });
	measure("rows_stored", [&] { rows_stored<<<1056, 256>>>(out, 64); });
	return 0;
}
