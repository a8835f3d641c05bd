/* SPDX-License-Identifier: Apache-2.0 */
/* openmp.c - see openmp.h. */
#include "blame/base/openmp.h"

#include <fnmatch.h>
#include <string.h>

#include "store/base/path.h"

static bool is_any(const char *text, const char *const *globs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(globs[i], text, 0))
			return true;
	return false;
}
#define IS_ANY(text, globs) is_any(text, globs, sizeof(globs) / sizeof *(globs))

bool openmp_is_nameless(const struct run_function *function)
{
	static const char *const names[] = {"libgomp.so*+0x*", "libomp.so*+0x*", "libiomp5.so*+0x*"};

	return !strncmp(function->name, "lib", 3) && IS_ANY(function->name, names);
}

bool openmp_is_own(const struct run_function *function)
{
	static const char *const names[] = {"gomp_*", "GOMP_*", "omp_*", "__kmp*"};
	static const char *const files[] = {"libgomp.so*", "libomp.so*", "libiomp5.so*"};

	return IS_ANY(function->name, names) || IS_ANY(path_base(function->module), files) ||
	       openmp_is_nameless(function);
}

bool openmp_is_program(const struct run_function *function, const struct run_function *own)
{
	/* What compilers make of a region or a task. */
	static const char *const names[] = {"*._omp_fn.*", "*omp_outlined*", "*omp_task_entry*"};
	static const char *const files[] = {"", "libc.so*", "libc-*", "libpthread*", "ld-*", "*[[]*]"};

	if (function->is_placeholder || openmp_is_own(function))
		return false;
	if (IS_ANY(function->name, names))
		return true;
	return !IS_ANY(path_base(function->module), files) && strcmp(function->module, own->module) != 0;
}
