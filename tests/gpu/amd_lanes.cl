// SPDX-License-Identifier: Apache-2.0
/* amd_lanes.cl - kernels for AMD's GPUs whose accesses and branches differ between the threads of a wave in ways that
 * their sources tell. */
#define WAIT_FOR_ALL() (__builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"), __builtin_amdgcn_s_barrier())
#define ME ((int)__builtin_amdgcn_workitem_id_x())
#define ID (ME + 256 * (int)__builtin_amdgcn_workgroup_id_x())

__kernel void coalesced(__global float *out, __global const float *in, int rounds)
{
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		sum += in[ID + i * 4096];
	out[ID] = sum;
}

/* Of eight floats one. */
__kernel void strided(__global float *out, __global const float *in, int rounds)
{
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		sum += in[ID * 8 + i];
	out[ID] = sum;
}

/* Columns of a tile: threads meet in one bank; with 33 in a row they do not. */
__kernel void column(__global float *out, __global const float *in, int rounds)
{
	__local float tile[64 * 32];
	float sum = 0;

	tile[ME & 2047] = in[ID];
	WAIT_FOR_ALL();
#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		sum += tile[ME * 32 + i];
	out[ID] = sum;
}

__kernel void padded(__global float *out, __global const float *in, int rounds)
{
	__local float tile[64 * 33];
	float sum = 0;

	tile[ME & 2047] = in[ID];
	WAIT_FOR_ALL();
#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		sum += tile[ME * 33 + i];
	out[ID] = sum;
}

/* Neighbours go different ways; waves; by data. */
static float heavy(float x, int rounds)
{
	float y = x;

#pragma unroll 1
	for (int i = 0; i < rounds; i++)
		y = y * 0.9f + x;
	return y;
}

__kernel void neighbours(__global float *out, __global const float *in, int rounds)
{
	float x = in[ID];

	if (ME & 1)
		x = heavy(x, rounds);
	out[ID] = x;
}

__kernel void waves(__global float *out, __global const float *in, int rounds)
{
	float x = in[ID];

	if (ME >> 6 & 1)
		x = heavy(x, rounds);
	out[ID] = x;
}

__kernel void data(__global float *out, __global const float *in, int rounds)
{
	float x = in[ID];

	if (x > 0.5f)
		x = heavy(x, rounds);
	out[ID] = x;
}
