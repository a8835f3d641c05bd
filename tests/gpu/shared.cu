// SPDX-License-Identifier: Apache-2.0
// shared.cu - a device function in a section of its own, which two kernels call.
extern "C" __device__ __noinline__ float both(float x) { return x * x + 1.f; }
extern "C" __global__ void few(float *out) { out[threadIdx.x] = both(out[threadIdx.x]); }
extern "C" __global__ void often(float *out) { out[threadIdx.x] = both(out[threadIdx.x + 32]) * 2.f; }
