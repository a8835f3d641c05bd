// SPDX-License-Identifier: Apache-2.0
// flow.cu - control flow of GPU code whose loops and calls are known from the source: see README.md for the
// cubins made of it, and the tests that say what must be found.
#include <stdint.h>

__device__ __noinline__ float poly(float x, int n)
{
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < n; i++) // MARK poly
		sum = sum * x + 1.0f;
	return sum;
}

__device__ __forceinline__ float row_sum(const float *row, int n)
{
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < n; i++) // MARK row
		sum += row[i] * row[i];
	return sum;
}

template <typename T> __device__ __forceinline__ T twice(T x)
{
	return row_sum(&x, 1) + x;
}

// Two levels, the inner one in an inlined function, and a call in the outer one.
extern "C" __global__ void nest(float *out, const float *in, int rows, int columns)
{
	float sum = 0;

#pragma unroll 1
	for (int i = threadIdx.x; i < rows; i += blockDim.x) { // MARK outer
		sum += row_sum(in + i * columns, columns);
		sum += poly(sum, columns);
	}
	out[threadIdx.x] = twice(sum);
}

// A switch in a loop: a table of branches.
extern "C" __global__ void machine(int *out, const uint8_t *code, int n)
{
	int a = 0, b = 1;

#pragma unroll 1
	for (int i = 0; i < n; i++) { // MARK switch
		switch (code[i]) {
		case 0: a += b; break;
		case 1: a -= b * 3; break;
		case 2: b ^= a; break;
		case 3: a = __popc(b); break;
		case 4: b = __clz(a); break;
		case 5: a = a * b + 7; break;
		case 6: b = out[a & 15]; break;
		case 7: out[b & 15] = a; break;
		case 8: a = __brev(a); break;
		case 9: b = a % 77; break;
		case 10: a = atomicAdd(out, b); break;
		default: a = -a; break;
		}
	}
	out[16] = a + b;
}

// Divergent: each lane leaves when it likes, with a barrier of the warp behind.
extern "C" __global__ void collatz(int *out, int limit)
{
	unsigned n = blockIdx.x * blockDim.x + threadIdx.x + 1;
	int steps = 0;

	do { // a loop with two exits
		if (n & 1)
			n = 3 * n + 1;
		else
			n >>= 1;
		if (++steps > limit)
			break;
	} while (n != 1); // MARK collatz
	__syncwarp();
	out[threadIdx.x] = steps + __shfl_sync(~0u, steps, 0);
}

// Unrolled by four with a remainder loop, all on one line.
extern "C" __global__ void unrolled(float *x, float a, int n)
{
#pragma unroll 4
	for (int i = 0; i < n; i++) // MARK unrolled
		x[i] = x[i] * a + x[i + n];
}

typedef float (*function)(float, int);
__device__ function table[2] = {poly, poly};

// A call through a pointer in a loop around a barrier, recursion beside it.
__device__ __noinline__ int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

extern "C" __global__ void pointers(float *out, int n)
{
	__shared__ float part[64];

#pragma unroll 1
	for (int i = 0; i < n; i++) { // MARK pointers
		part[threadIdx.x] = table[i & 1](out[i], n);
		__syncthreads();
		out[i] = part[threadIdx.x ^ 1] / (float)fib(i);
	}
}

// A loop entered in its middle.
extern "C" __global__ void middle(int *out, int n, int from)
{
	int i = 0;

	if (from & 1)
		goto inside;
#pragma unroll 1
	while (i < n) { // MARK middle
		out[i] += from;
		if (out[i] == 7)
			return;
inside:
		i += out[n + i];
		__threadfence();
	}
}
