/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl_none.c - replaces the other gpu_opencl files if hpct is built without OpenCL's headers: reports
 * that once the program has used OpenCL.
 */
#include "record/agent/gpu/gpu.h"

static void opencl_look_back(void)
{
	static const char *const loader[] = {"libOpenCL.so", NULL};
	static _Atomic bool is_said;

	if (gpu_library_was_there(loader) && !atomic_exchange(&is_said, true))
		gpu_unmonitored("hpct was built without OpenCL's headers");
}

const struct gpu_vendor gpu_opencl = {.name = "opencl", .look_back = opencl_look_back};
