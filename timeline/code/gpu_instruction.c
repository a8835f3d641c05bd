/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_instruction.c - names of what gpu_instruction.h tells apart. */
#include "timeline/code/gpu_instruction.h"

const char *gpu_kind_name(enum gpu_kind kind)
{
	static const char *const names[GPU_KIND_COUNT] = {"opaque", "move", "integer", "float", "double",
		"convert", "special", "matrix", "load", "store", "atomic", "copy", "fence", "barrier", "wait",
		"control"};

	return names[kind];
}

const char *gpu_space_name(enum gpu_space space)
{
	static const char *const names[GPU_SPACE_COUNT] = {
		"", "global", "local", "shared", "constant", "texture", "generic"};

	return names[space];
}
