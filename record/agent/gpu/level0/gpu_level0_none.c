/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0_none.c - replaces the other gpu_level0 files if hpct is built without Level Zero's headers:
 * reports that once the program has its loader.
 */
#include "record/agent/gpu/gpu.h"

static void level0_look_back(void)
{
	static const char *const loader[] = {"libze_loader.so", NULL};
	static _Atomic bool is_said;

	if (gpu_library_was_there(loader) && !atomic_exchange(&is_said, true))
		gpu_unmonitored("hpct was built without Level Zero's headers");
}

const struct gpu_vendor gpu_level0 = {.name = "level0", .look_back = level0_look_back};
