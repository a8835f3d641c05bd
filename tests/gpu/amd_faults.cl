// SPDX-License-Identifier: Apache-2.0
/*
 * amd_faults.cl - kernels for AMD's GPUs with one planted fault each, whose causes are known: the line that a wait is
 * for is marked FAULT, the wait stands in the line marked WAITS.
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define WAIT_FOR_ALL() (__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"), __builtin_amdgcn_s_barrier())
#define ID ((int)__builtin_amdgcn_workitem_id_x() + 256 * (int)__builtin_amdgcn_workgroup_id_x())

/* Each load needs the one before. */
__kernel void chase(__global int *out, __global const int *next, int rounds)
{
	int at = ID;

#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		at = next[at]; // FAULT chase, WAITS chase
	out[ID] = at;
}

/* A round uses its load at once. */
__kernel void rolled(__global float *out, __global const float *in, int rounds)
{
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		float value = in[ID + i * 4096]; // FAULT rolled
		sum = value * value + sum; // WAITS rolled
	}
	out[ID] = sum;
}

/* Of two loads the first is waited for alone: the second is under way meanwhile. */
__kernel void first_of_two(__global float *out, __global const float *a, __global const float *b, int rounds)
{
	float sum = 1, other = 1;

#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		float first = a[ID + i * 4096]; // FAULT first_of_two
		float second = b[ID + i * 8192]; // SECOND first_of_two
		sum = first * sum + 2; // WAITS first_of_two
		other = second * other + sum;
	}
	out[ID] = sum + other;
}

/* A tile in shared memory, and the slowest thread of the group. */
__kernel void tile(__global float *out, __global const float *in, int rounds)
{
	__local float values[256];
	int me = __builtin_amdgcn_workitem_id_x();
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		values[me] = in[ID + i * 4096];
		WAIT_FOR_ALL(); // WAITS tile barrier
		sum += values[(me * 32 + i) & 255]; // FAULT tile
		WAIT_FOR_ALL();
	}
	out[ID] = sum;
}

/* An array that is indexed by what is known only at run time lies in the thread's own memory. */
__kernel void spilled(__global float *out, __global const int *in, int rounds)
{
	float kept[128];
	float sum = 0;

	for (int i = 0; i < 128; i++)
		kept[i] = i * 1.5f;
#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		sum += kept[(in[i] + ID) & 127]; // FAULT spilled
		kept[(ID ^ i) & 127] = sum;
	}
	out[ID] = sum;
}

/* Divisions of doubles: long arithmetic. */
__kernel void division(__global double *out, double by, int rounds)
{
	double value = ID;

#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		value = by / value + 1.5; // FAULT division, WAITS division
	out[ID] = value;
}

/* Uniform values come by the scalar cache. */
__kernel void scalars(__global float *out, __constant float *table, int rounds)
{
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		sum += table[i * 64] * sum + 1; // FAULT scalars, WAITS scalars
	out[ID] = sum;
}

/* The address of a load comes from another load: the root of what the second waits for. */
__kernel void indirect(__global float *out, __global const int *index, __global const float *in, int rounds)
{
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		int at = index[ID + i * 256]; // ROOT indirect
		float value = in[at]; // FAULT indirect
		sum = value * 0.5f + sum; // WAITS indirect
	}
	out[ID] = sum;
}

__kernel void counting(__global unsigned *bins, __global const unsigned *in, int rounds)
{
	__local unsigned local_bins[64];
	int me = __builtin_amdgcn_workitem_id_x();

	local_bins[me & 63] = 0;
	WAIT_FOR_ALL();
#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		__atomic_fetch_add(&local_bins[in[ID + i * 256] & 63], 1u, __ATOMIC_RELAXED); // FAULT counting
	WAIT_FOR_ALL();
	__atomic_fetch_add(&bins[me & 63], local_bins[me & 63], __ATOMIC_RELAXED);
}

#ifdef MATRIX
typedef float float32 __attribute__((ext_vector_type(32)));

__kernel void matrix(__global float *out, __global const float *in, int rounds)
{
	float32 sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		sum = __builtin_amdgcn_mfma_f32_32x32x1f32(in[ID + i * 64], in[i + ID * 2], sum, 0, 0, 0); // FAULT matrix
	for (int i = 0; i < 32; i++)
		out[ID * 32 + i] = sum[i];
}
#endif
