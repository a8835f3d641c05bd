// SPDX-License-Identifier: Apache-2.0
// links.cu - values on their way through shared memory and calls, whose chain of waits is known: each MARK waits for the
// one of the number below it.
extern "C" __device__ __noinline__ float scaled(float x, float y)
{
	float z = x * y;    // MARK call 3: x is of the caller
	return z * z + 1.f; // MARK call 4
}

extern "C" __global__ void handed(float *out, const float *in)
{
	float x = in[threadIdx.x];    // MARK call 1
	x = x * 0.5f;		      // MARK call 2
	out[threadIdx.x] = scaled(x, in[0]);
}

// What is loaded from shared memory another thread has stored.
extern "C" __global__ void passed(float *out, const float *in, int n)
{
	__shared__ float tile[2][256];
	float sum = 0;

#pragma unroll 1
	for (int i = 0; i < n; i++) {
		tile[0][threadIdx.x] = in[i * 256 + threadIdx.x] * 2.f; // MARK shared 1, 2
		__syncthreads();
		sum += tile[0][threadIdx.x ^ 32]; // MARK shared 3
		__syncthreads();
	}
	out[threadIdx.x] = sum;
}
