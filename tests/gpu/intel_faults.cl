// SPDX-License-Identifier: Apache-2.0
/* intel_faults.cl - kernels for Intel's GPUs whose waits have known causes: the loads are in the lines marked LOAD. */
__kernel void chase(__global int *out, __global const int *next, int rounds)
{
	int at = get_global_id(0);

#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		at = next[at]; // LOAD chase
	out[get_global_id(0)] = at;
}

__kernel void first_of_two(__global float *out, __global const float *a, __global const float *b, int rounds)
{
	float sum = 1, other = 1;
	int me = get_global_id(0);

#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		float first = a[me + i * 4096]; // LOAD first
		float second = b[me + i * 8192]; // LOAD second
		sum = first * sum + 2;
		other = second * other + sum;
	}
	out[me] = sum + other;
}

__kernel void tile(__global float *out, __global const float *in, int rounds)
{
	__local float values[256];
	int me = get_local_id(0);
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++) {
		values[me] = in[get_global_id(0) + i * 4096];
		barrier(CLK_LOCAL_MEM_FENCE);
		sum += values[(me * 32 + i) & 255] / in[i]; // LOAD tile
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = sum;
}

__kernel void roots(__global float *out, __global const float *in, int rounds)
{
	float sum = in[get_global_id(0)];

#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		sum = native_sqrt(sum) + 1.0f / sum;
	out[get_global_id(0)] = sum;
}
