// SPDX-License-Identifier: Apache-2.0
// nest.cl - loops of GPU code for the compilers of AMD and Intel: compiled by the tests.
__attribute__((noinline)) float gain(float x, int n)
{
	float sum = 0;
#pragma unroll 1
	for (int i = 0; i < n; i++) // MARK gain
		sum = sum * x + 1.5f;
	return sum;
}

static inline float row_sum(__global const float *row, int n)
{
	float sum = 0;
#pragma unroll 1
	for (int i = 0; i < n; i++) // MARK row
		sum += row[i] * row[i] * 3.14159f;
	return sum;
}

__kernel void nest(__global float *out, __global const float *in, int rows, int columns)
{
	float sum = 0;
	int id = __builtin_amdgcn_workitem_id_x();
#pragma unroll 1
	for (int i = 0; i < rows; i++) { // MARK outer
		sum += row_sum(in + i * columns, columns);
		sum += gain(sum, i);
	}
	out[id] = sum + __builtin_sqrtf(sum) / 7;
}

__kernel void steps(__global int *out, __global const uchar *code, int n)
{
	int a = __builtin_amdgcn_workitem_id_x(), b = 1;
#pragma unroll 1
	for (int i = 0; i < n; i++) { // MARK switch
		switch (code[i + a]) {
		case 0: a += b * 1000003; break;
		case 1: a -= b * 3; break;
		case 2: b ^= a; break;
		case 3: b = a % 77; break;
		case 4: out[a & 15] = b; break;
		default: a = -a;
		}
	}
	out[a & 1023] = a + b;
}
