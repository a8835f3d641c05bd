/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_none.c - replaces the other gpu_cuda files if hpct is built without CUPTI's headers: reports that
 * once the program uses CUDA.
 */
#include "record/agent/base/wrap.h"
#include "record/agent/gpu/cuda/gpu_cuda_share.h"
#include "record/agent/gpu/gpu.h"

int InitializeInjection(void);
WRAPPER int InitializeInjection(void)
{
	static _Atomic bool is_said;

	if (gpu_is_wanted(&gpu_nvidia) && !atomic_exchange(&is_said, true))
		gpu_unmonitored("hpct was built without CUPTI's headers");
	return 1;
}

void cuda_share_give(void)
{
}

void cuda_share_take(void)
{
}

const struct gpu_vendor gpu_nvidia = {.name = "nvidia"};
