/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_frames.c - see kernel_frames.h. */
#include "blame/base/kernel_frames.h"

#include <string.h>

/* The recorder's modules of a kernel are "[kernel]" and "[NAME]" of a loadable one. */
static bool is_kernel(const struct run *run, uint32_t context)
{
	const char *module;
	uint64_t offset;

	return run_context_place(run, context, &module, &offset) && module[0] == '[' &&
	       strcmp(module, "[vdso]") && strcmp(module, "[vsyscall]");
}

uint32_t kernel_frames_caller(const struct run *run, uint32_t context)
{
	uint32_t caller = context;

	while (caller > STORE_CONTEXT_THREAD_ROOT && is_kernel(run, caller))
		caller = run_context_parent(run, caller);
	return caller > STORE_CONTEXT_THREAD_ROOT ? caller : context;
}
