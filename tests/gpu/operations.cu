// SPDX-License-Identifier: Apache-2.0
// operations.cu - one small kernel for each kind of instruction, so that a decoder of operands meets them all.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <stdio.h>
typedef unsigned long long u64;

__constant__ float table[256];
__constant__ double dtable[64];
__device__ int counter;

__global__ void integers(int *out, const int *in, unsigned n, u64 m)
{
	int a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
	unsigned ua = a, ub = b;
	u64 wide = (u64)ua * ub + m;
	out[0] = a / b + a % c;
	out[1] = ua / n;
	out[2] = __mulhi(a, b) + __umulhi(ua, ub);
	out[3] = __popc(a) + __clz(b) + __ffs(c) + __brev(a);
	out[4] = __byte_perm(a, b, c);
	out[5] = __funnelshift_l(a, b, c) + __funnelshift_r(a, b, 5);
	out[6] = (a & b) ^ (c | ~a);
	out[7] = min(a, b) + max(b, c) + abs(a);
	out[8] = __sad(a, b, c) + __usad(ua, ub, n);
	out[9] = __dp4a(a, b, c) + __dp2a_lo(a, b, c);
	out[10] = (int)(wide >> 7) + (int)(wide / (m | 3));
	out[11] = a << (b & 31) | ua >> (c & 31) | a >> 3;
	out[12] = a > b ? c : (b > c && a < c ? a : b);
	out[13] = __vabsdiffu4(a, b) + __vadd2(a, b);
	out[14] = (int)(((long long)a * b) >> 33) + (wide > m);
	out[15] = a * 48 + b * c + c;
	((u64 *)out)[16] = wide * m + (u64)a;
	((long long *)out)[17] = (long long)a << (b & 63);
	out[40] = __rhadd(a, b) + __hadd(a, b) + __mul24(a, b);
	asm volatile("bfe.s32 %0, %1, %2, %3;" : "=r"(out[41]) : "r"(a), "r"(b), "r"(c));
	asm volatile("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(out[42]) : "r"(a), "r"(b), "r"(c), "r"((int)n));
	asm volatile("bfind.s32 %0, %1;" : "=r"(out[43]) : "r"(a));
	asm volatile("{.reg .u32 t; add.cc.u32 %0, %2, %3; addc.u32 %1, %2, 0;}" : "=r"(out[44]), "=r"(out[45]) : "r"(a), "r"(b));
}

__global__ void floats(float *out, const float *in, double *dout, const double *din, int n)
{
	float a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
	double x = din[threadIdx.x], y = din[threadIdx.x + 32];
	out[0] = a * b + c;
	out[1] = a / b;
	out[2] = sqrtf(a) + rsqrtf(b);
	out[3] = sinf(a) + cosf(b);
	out[4] = expf(a) + logf(b) + powf(a, c);
	out[5] = __sinf(a) + __expf(b) + __fdividef(a, b);
	out[6] = fminf(a, b) + fmaxf(b, c) + fabsf(a);
	out[7] = floorf(a) + ceilf(b) + rintf(c) + truncf(a);
	out[8] = (float)(int)a + (float)(unsigned)b;
	out[9] = (float)x + (float)(long long)c;
	out[10] = a < b ? c : a == c ? b : -a;
	out[11] = tanhf(a) + erff(b) + cbrtf(c);
	out[12] = a * 2.5f + table[n & 255] + table[threadIdx.x];
	out[13] = fmaf(a, b, -c) * __saturatef(a);
	out[14] = isnan(a) ? 1.f : (isinf(b) ? 2.f : ldexpf(a, n));
	out[15] = __fadd_rz(a, b) + __fmul_ru(a, c);
	dout[0] = x * y + 3.0;
	dout[1] = x / y;
	dout[2] = sqrt(x) + rsqrt(y);
	dout[3] = sin(x) + exp(y) + log(x);
	dout[4] = fmin(x, y) + fmax(x, y) + fabs(x);
	dout[5] = (double)a + (double)n + (double)(long long)y;
	dout[6] = x < y ? x : y + dtable[n & 63];
	dout[7] = floor(x) + rint(y);
	((int *)dout)[20] = (int)x + (int)a;
	((long long *)dout)[21] = (long long)x + (long long)a;
}

__global__ void halves(__half2 *out, const __half2 *in, __nv_bfloat162 *bout, const __nv_bfloat162 *bin, float f)
{
	__half2 a = in[threadIdx.x], b = in[threadIdx.x + 32], c = in[threadIdx.x + 64];
	__nv_bfloat162 p = bin[threadIdx.x], q = bin[threadIdx.x + 32];
	out[0] = __hfma2(a, b, c);
	out[1] = __hadd2(a, b);
	out[2] = __hmul2(b, c);
	out[3] = __hgt2(a, b);
	out[5] = __float2half2_rn(f);
	out[6] = h2exp(a);
	out[7] = __halves2half2(__low2half(a) + __high2half(b), __hdiv(__low2half(a), __low2half(b)));
	((float *)out)[20] = __half2float(__low2half(a)) + __high2float(b);
	((int *)out)[21] = __half2int_rn(__low2half(c)) + __heq(__low2half(a), __low2half(b));
#if __CUDA_ARCH__ >= 800
	bout[0] = __hfma2(p, q, p);
	out[4] = __hmin2(a, b);
	bout[1] = __hmax2(p, q);
	bout[2] = __floats2bfloat162_rn(f, f * 2);
	((float *)bout)[20] = __bfloat162float(__low2bfloat16(p));
#endif
}

__global__ void memory(float4 *out, const float4 *in, char *bytes, short *shorts, int n, float *flat)
{
	extern __shared__ float4 tile[];
	__shared__ double pairs[64];
	float local[40];
	float4 v = in[threadIdx.x];
	float2 w = ((const float2 *)in)[threadIdx.x + 99];
	tile[threadIdx.x] = v;
	((float2 *)tile)[threadIdx.x + 500] = w;
	pairs[threadIdx.x] = w.x;
	((char *)tile)[n] = bytes[n];
	((short *)tile)[n + 3] = shorts[n];
	__syncthreads();
	for (int i = 0; i < 40; i++)
		local[i] = flat[i * n] + i;
	local[n & 31] = v.x;
	out[threadIdx.x] = tile[threadIdx.x ^ 1];
	out[threadIdx.x + 32].x = local[(n + threadIdx.x) % 40] + (float)pairs[threadIdx.x ^ 3];
	bytes[n + 1] = bytes[n] + 1;
	shorts[n + 1] = shorts[n] + ((short *)tile)[n + 7] + ((unsigned char *)tile)[n + 9];
	out[64] = __ldg(&in[n]);
	out[65] = __ldcs(&in[n + 1]);
	__stcg(&out[66], v);
	__threadfence();
	*(volatile float *)(flat + n) = w.y;
	__threadfence_block();
	__threadfence_system();
	asm volatile("prefetch.global.L2 [%0];" ::"l"(in + n));
	float *generic = n > 5 ? (float *)tile : flat;
	*generic = generic[n] + 1;
	((u64 *)out)[200] = ((const u64 *)in)[n];
}

__global__ void atomics(int *g, float *f, u64 *w, double *d, __half2 *h, int n)
{
	__shared__ int s[32];
	__shared__ u64 t[4];
	s[threadIdx.x & 31] = n;
	t[threadIdx.x & 3] = n;
	__syncthreads();
	g[1] = atomicAdd(&g[0], n);
	atomicAdd(&g[2], n);
	g[3] = atomicMin(&g[4], n);
	g[5] = atomicCAS(&g[6], n, n + 1);
	g[7] = atomicExch(&g[8], n);
	f[0] = atomicAdd(&f[1], (float)n);
	atomicAdd(&f[2], (float)n);
	w[0] = atomicAdd(&w[1], (u64)n);
	w[2] = atomicCAS(&w[3], (u64)n, (u64)n * 3);
	atomicMax((unsigned *)&g[9], n);
	d[0] = atomicAdd(&d[1], (double)n);
	atomicAdd(h, h[1]);
	g[10] = atomicAdd(&s[n & 31], 3);
	g[11] = atomicCAS(&s[n & 15], 3, n);
	atomicAdd(&s[n & 7], 1);
	w[4] = atomicAdd(&t[n & 3], (u64)5);
	w[5] = atomicCAS(&t[n & 3], (u64)5, (u64)n);
	atomicAdd(&counter, 1);
	atomicXor(&g[12], n);
	g[13] = atomicInc((unsigned *)&g[14], n);
}

__global__ void warps(int *out, int n)
{
	int v = out[threadIdx.x];
	unsigned mask = __ballot_sync(~0u, v > n);
	out[32] = __shfl_sync(~0u, v, n) + __shfl_xor_sync(~0u, v, 1) + __shfl_down_sync(~0u, v, 2);
	out[33] = __any_sync(~0u, v < 3) + __all_sync(mask, v > 9) + __popc(mask);
	out[34] = __match_any_sync(~0u, v);
	__syncwarp();
	out[35] = __syncthreads_count(v > 5) + __syncthreads_or(v > 6);
	if (v == 77)
		out[36] = __activemask();
	out[37] = clock() + (int)clock64();
	__nanosleep(100);
	asm volatile("bar.sync 1, 64;");
	asm volatile("bar.arrive 2, 64;");
	asm volatile("{.reg .u32 t; mov.u32 t, %%laneid; st.global.u32 [%0], t;}" ::"l"(out + 50));
	asm volatile("{.reg .u64 t; mov.u64 t, %%globaltimer; st.global.u64 [%0], t;}" ::"l"(out + 52));
	asm volatile("{.reg .u32 t; mov.u32 t, %%smid; st.global.u32 [%0], t;}" ::"l"(out + 54));
#if __CUDA_ARCH__ >= 800
	out[38] = __reduce_add_sync(~0u, v) + __reduce_max_sync(~0u, v);
#endif
	int p;
	out[39] = __match_all_sync(~0u, v, &p) + p;
}

__global__ void matrices(float *out, const __half *a, const __half *b, const signed char *ia, int *iout, double *dout)
{
	__shared__ __half tile[16 * 64];
	using namespace nvcuda::wmma;
	fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
	fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
	fragment<accumulator, 16, 16, 16, float> fc;
	fill_fragment(fc, 0.f);
	for (int k = 0; k < 8; k++) {
		load_matrix_sync(fa, a + k * 16, 128);
		load_matrix_sync(fb, b + k * 16, 128);
		mma_sync(fc, fa, fb, fc);
	}
	store_matrix_sync(out, fc, 16, mem_row_major);
	fragment<matrix_a, 16, 16, 16, signed char, row_major> ga;
	fragment<matrix_b, 16, 16, 16, signed char, col_major> gb;
	fragment<accumulator, 16, 16, 16, int> gc;
	fill_fragment(gc, 0);
	load_matrix_sync(ga, ia, 64);
	load_matrix_sync(gb, ia + 999 * 16, 64);
	mma_sync(gc, ga, gb, gc);
	store_matrix_sync(iout, gc, 16, mem_row_major);
	tile[threadIdx.x] = a[threadIdx.x];
	__syncthreads();
	unsigned r0, r1, r2, r3, at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 8);
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at));
	iout[500] = r0 + r1 * r2 + r3;
	asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(at));
	iout[501] = r0 + r1;
	asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r0) : "r"(at));
	iout[502] = r0;
#if __CUDA_ARCH__ >= 800
	unsigned d0 = r0, d1 = r1;
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" : "+r"(d0), "+r"(d1) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(r0), "r"(r2));
	iout[503] = d0 + d1;
	float c0 = 1, c1 = 2, c2 = 3, c3 = 4;
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(r0), "r"(r2));
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(r0), "r"(r2));
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(r0), "r"(r1), "r"(r2));
	out[700] = c0 + c1 + c2 + c3;
	int i0 = 1, i1 = 2, i2 = 3, i3 = 4;
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+r"(i0), "+r"(i1), "+r"(i2), "+r"(i3) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(r0), "r"(r2));
	iout[504] = i0 + i1 + i2 + i3;
	double x = dout[threadIdx.x], y = dout[threadIdx.x + 32], e0 = 1, e1 = 2;
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(e0), "+d"(e1) : "d"(x), "d"(y));
	dout[99] = e0 + e1;
	asm volatile("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;" : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "r"(r0), "r"(r2), "r"(r1), "r"(r3), "r"(d0));
	out[701] = c0 + c1 + c2 + c3;
#endif
}

__global__ void async(float4 *out, const float4 *in, int n)
{
#if __CUDA_ARCH__ >= 800
	__shared__ float4 tile[2][128];
	__shared__ u64 bar;
	unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
	for (int i = 0; i < n; i++) {
		__pipeline_memcpy_async(&tile[i & 1][threadIdx.x], in + i * 128 + threadIdx.x, 16);
		__pipeline_commit();
		__pipeline_wait_prior(1);
		__syncthreads();
		out[i * 128 + threadIdx.x] = tile[(i + 1) & 1][threadIdx.x ^ 1];
		__syncthreads();
	}
	__pipeline_memcpy_async((float *)&tile[0][threadIdx.x], (const float *)in + threadIdx.x, 4);
	__pipeline_commit();
	__pipeline_wait_prior(0);
	if (!threadIdx.x)
		asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(n));
	__syncthreads();
	u64 state;
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at));
	asm volatile("{.reg .pred p; W: mbarrier.test_wait.shared.b64 p, [%0], %1; @!p bra W;}" ::"r"(at), "l"(state));
	out[0] = tile[0][3];
#endif
}

__device__ __noinline__ float helper(float x, int n)
{
	return n > 3 ? x * helper(x + 1, n - 1) : x / 3.f;
}
__device__ __noinline__ double other(double x)
{
	return x * 3.0 + sqrt(x);
}

__global__ void calls(float *out, int n, float (*function)(float))
{
	printf("%d %f\n", n, out[0]);
	out[1] = helper(out[2], n) + (float)other(out[3]);
	switch (n) {
	case 0: out[4] = sinf(out[5]); break;
	case 1: out[4] = out[6] * 3; break;
	case 2: out[5] = out[7] + out[8]; break;
	case 3: out[6] = 1; break;
	case 4: out[7] = out[9] * out[10]; break;
	case 5: out[8] = out[1] - 7; break;
	case 6: out[9] = out[11] / 3; break;
	default: out[10] = 2;
	}
	if (function)
		out[11] = function(out[12]);
	if (n == 1234567)
		__trap();
}

__global__ void textures(float4 *out, cudaTextureObject_t t, cudaSurfaceObject_t s, int n)
{
	out[0] = tex2D<float4>(t, n * 0.5f, n * 0.25f);
	out[1].x = tex1Dfetch<float>(t, n);
	out[2].x = tex3D<float>(t, n * 0.5f, 1.f, 2.f);
	out[3] = tex2DLod<float4>(t, 1.f * n, 2.f, 1.f);
	out[4] = tex2Dgather<float4>(t, 1.f * n, 2.f, 1);
	float4 v;
	surf2Dread(&v, s, n * 16, n + 1);
	out[5] = v;
	surf2Dwrite(v, s, n * 16 + 16, n + 2);
	float2 w;
	surf1Dread(&w, s, n * 8);
	out[6].x = w.x + w.y;
}

__global__ void __launch_bounds__(1024, 2) spills(float *out, const float *in, int n)
{
	float a[48];
#pragma unroll
	for (int i = 0; i < 48; i++)
		a[i] = in[i * n + threadIdx.x];
	for (int k = 0; k < n; k++) {
#pragma unroll
		for (int i = 0; i < 48; i++)
			a[i] = a[i] * a[(i * 7 + 3) % 48] + a[(i + 11) % 48];
	}
#pragma unroll
	for (int i = 0; i < 48; i++)
		out[i * n + threadIdx.x] = a[i];
}

#if __CUDA_ARCH__ >= 900 || !defined __CUDA_ARCH__
#include <cooperative_groups.h>
__global__ void __cluster_dims__(2, 1, 1) clusters(float *out, const float *in, int n)
{
#if __CUDA_ARCH__ >= 900
	__shared__ alignas(128) float tile[1024];
	__shared__ u64 bar;
	cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
	unsigned at = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(tile);
	if (!threadIdx.x)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(1));
	cluster.sync();
	if (!threadIdx.x) {
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(4096));
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(in), "r"(4096), "r"(at));
	}
	asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D; bra W; D:}" ::"r"(at), "r"(0));
	float *peer = cluster.map_shared_rank(tile, (int)cluster.block_rank() ^ 1);
	out[threadIdx.x] = peer[threadIdx.x] + tile[threadIdx.x];
	cluster.sync();
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 4096), "r"(to), "r"(1024));
	asm volatile("cp.async.bulk.commit_group;");
	asm volatile("cp.async.bulk.wait_group 0;");
	asm volatile("fence.proxy.async;");
	asm volatile("griddepcontrol.wait;");
	unsigned r0 = n, r1 = n + 1;
	asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(to), "r"(r0), "r"(r1));
#endif
}
#endif
#ifdef WGMMA
__global__ void groups(float *out, u64 a, u64 b, const void *map, int n)
{
	__shared__ alignas(128) float tile[1024];
	__shared__ u64 bar;
	unsigned at = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(tile);
	float d[4] = {0, 1, 2, 3};
	for (int i = 0; i < n; i++) {
		asm volatile("wgmma.fence.sync.aligned;");
		asm volatile("{.reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a + i), "l"(b), "r"(n));
		asm volatile("wgmma.commit_group.sync.aligned;");
		asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
	}
	unsigned r0 = n, r1 = n * 3, r2 = n * 5, r3 = n * 7;
	asm volatile("wgmma.fence.sync.aligned;");
	asm volatile("{.reg .pred p; setp.ne.b32 p, %9, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, p, 1, 1, 0;}" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r0), "r"(r1), "r"(r2), "r"(r3), "l"(b), "r"(n));
	asm volatile("wgmma.commit_group.sync.aligned;");
	asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(n), "r"(n + 1), "r"(at));
	out[threadIdx.x] = d[0] + d[1] * d[2] + d[3];
	asm volatile("setmaxnreg.inc.sync.aligned.u32 64;");
}
#endif
