// SPDX-License-Identifier: Apache-2.0
// doubles.cu - the same polynomial of doubles that are the program's data, and of floats that a double constant drags
// along: only of the second can cheaper arithmetic compute the same.
extern "C" __global__ void in_double(double *out, const double *in, int n)
{
	double sum = 0;
	for (int k = 0; k < n; k++)
		sum = sum * in[threadIdx.x] + 0.3;
	out[threadIdx.x] = sum;
}

extern "C" __global__ void by_constant(float *out, const float *in, int n)
{
	float sum = 0;
	for (int k = 0; k < n; k++)
		sum = sum * in[threadIdx.x] + 0.3;
	out[threadIdx.x] = sum;
}
