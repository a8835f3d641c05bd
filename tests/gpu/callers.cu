// SPDX-License-Identifier: Apache-2.0
// callers.cu - device functions in sections of their own, two calls deep: a and b call x; x and c call y.
extern "C" __device__ __noinline__ float y(float v) { return v * v + 1.f; }
extern "C" __device__ __noinline__ float x(float v) { return y(v + 3.f) * v; }
extern "C" __global__ void a(float *out) { out[threadIdx.x] = x(out[threadIdx.x]); }
extern "C" __global__ void b(float *out) { out[threadIdx.x] = x(out[threadIdx.x + 32]) * 2.f; }
extern "C" __global__ void c(float *out) { out[threadIdx.x] = y(out[threadIdx.x + 64]) * 3.f; }
