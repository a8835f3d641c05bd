// SPDX-License-Identifier: Apache-2.0
// debug.cu - compiled with -G: whole debug information, with calls inlined by force: see README.md.
__device__ __forceinline__ float row_sum(const float *row, int n)
{
	float sum = 0;

	for (int i = 0; i < n; i++) // MARK row
		sum += row[i] * row[i];
	return sum;
}

__device__ __noinline__ float half(float x)
{
	return x / 2;
}

extern "C" __global__ void nest(float *out, const float *in, int rows, int columns)
{
	float sum = 0;

	for (int i = threadIdx.x; i < rows; i += blockDim.x) // MARK outer
		sum += half(row_sum(in + i * columns, columns)); // MARK call
	out[threadIdx.x] = sum;
}
