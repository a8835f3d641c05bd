/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_jit [ROUNDS] - GPU code made at run time: ROUNDS (3) times PTX of many lines
 * is compiled by the driver and one kernel of it runs for 5 ms. The driver's cache of
 * compiled code is off.
 *
 * The trace must show: `compile` on the thread below main;specialize for nearly all of
 * the run, ROUNDS kernels `generated`, the GPU idle while they are compiled;
 * hpct-blame names `specialize` first.
 */
#include "cuda.cuh"

#include <cuda.h>
#include <string>

#define LINES 6000

/* As much arithmetic as the compiler needs a while for, then the wait for the GPU's clock. */
static std::string code(int round)
{
	std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n"
			   ".visible .entry generated(.param .u64 data, .param .u64 length)\n{\n"
			   ".reg .f32 %f<9>;\n.reg .u64 %d<5>;\n.reg .pred %p;\n"
			   "ld.param.u64 %d0, [data];\nld.param.u64 %d4, [length];\n"
			   "ld.global.f32 %f0, [%d0];\n";

	for (int i = 1; i < 8; i++)
		text += "ld.global.f32 %f" + std::to_string(i) + ", [%d0+" + std::to_string(4 * i) + "];\n";
	for (int i = 0; i < LINES; i++)
		text += "fma.rn.f32 %f" + std::to_string(i % 8) + ", %f" + std::to_string((i * 5 + round) % 8) +
			", %f" + std::to_string((i * 3 + 1) % 8) + ", %f" + std::to_string((i + 2) % 8) + ";\n";
	for (int i = 0; i < 8; i++)
		text += "st.global.f32 [%d0+" + std::to_string(4 * i) + "], %f" + std::to_string(i) + ";\n";
	return text + "mov.u64 %d1, %globaltimer;\nwait:\nmov.u64 %d2, %globaltimer;\nsub.u64 %d3, %d2, %d1;\n"
		      "setp.lt.u64 %p, %d3, %d4;\n@%p bra wait;\nret;\n}\n";
}

template <typename F> static F driver(const char *name)
{
	cudaDriverEntryPointQueryResult found;
	void *function = NULL;

	CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
	return (F)function;
}

static __attribute__((noinline)) CUmodule specialize(int round)
{
	static auto load = driver<CUresult (*)(CUmodule *, const void *)>("cuModuleLoadData");
	CUmodule module;

	if (load(&module, code(round).c_str()) != CUDA_SUCCESS)
		exit(1);
	return module;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	unsigned long long length = 5000000;
	float *data;

	setenv("CUDA_CACHE_DISABLE", "1", 1);
	CHECK(cudaMalloc(&data, 4096));
	CHECK(cudaMemset(data, 0, 4096));
	for (int round = 0; round < rounds; round++) {
		CUmodule module = specialize(round);
		CUfunction function;
		void *arguments[] = {&data, &length};

		if (driver<CUresult (*)(CUfunction *, CUmodule, const char *)>("cuModuleGetFunction")(
			    &function, module, "generated") != CUDA_SUCCESS ||
			driver<decltype(&cuLaunchKernel)>("cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0,
				NULL, arguments, NULL) != CUDA_SUCCESS)
			return 1;
		CHECK(cudaDeviceSynchronize());
	}
	printf("kernels %d\n", rounds);
	return 0;
}
