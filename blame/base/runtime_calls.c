/* SPDX-License-Identifier: Apache-2.0 */
/* runtime_calls.c - see runtime_calls.h. */
#include "blame/base/runtime_calls.h"

#include <fnmatch.h>
#include <string.h>

#include "blame/base/mpi_name.h"
#include "store/base/path.h"

/* Of files: whose functions are a runtime's. */
static const char *const modules[] = {"libcuda.so*", "libcudart.so*", "libnvidia-*", "libOpenCL.so*",
	"libpocl*.so*", "libigdrcl.so*", "libamdocl64.so*", "libze_*.so*", "libamdhip64.so*",
	"libhsa-runtime64.so*"};

static bool is_runtime(const struct run_function *function)
{
	const char *file = path_base(function->module);

	/* It is linked into programs as a rule. */
	if (!strncmp(function->name, "cuda", 4) && function->name[4] >= 'A' && function->name[4] <= 'Z')
		return true;
	if (strncmp(file, "lib", 3) != 0)
		return false;
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (!fnmatch(modules[i], file, 0))
			return true;
	return false;
}

/* Names of Fortran may be the program's own: the file tells. */
static bool is_mpi(const struct run_function *function)
{
	char plain[MPI_NAME_BYTES];

	return !strncmp(function->name, "MPI_", 4) || !strncmp(function->name, "PMPI_", 5) ||
	       (!strncmp(path_base(function->module), "libmpi", 6) && mpi_name(plain, function->name));
}

/* "libx.so+0x1234" */
static bool is_nameless(const struct run_function *function)
{
	const char *plus = strrchr(function->name, '+');

	return plus && !strncmp(plus, "+0x", 3);
}

/* A thread of the runtime's own. */
static bool is_root(const struct run *run, uint32_t context)
{
	uint32_t scope = run_context(run, context)->scope;

	return scope == UINT32_MAX || run_scope(run, scope)->parent == UINT32_MAX;
}

uint32_t runtime_calls_context(const struct run *run, uint32_t context)
{
	uint32_t found = context;

	for (uint32_t at = context; at; at = run_context_parent(run, at)) {
		uint32_t scope = run_context(run, at)->scope;
		const struct run_function *function =
			scope == UINT32_MAX ? NULL : run_function(run, run_scope(run, scope)->function);

		if (!function || function->is_placeholder || !is_runtime(function))
			continue;
		found = is_nameless(function) && !is_root(run, run_context_parent(run, at))
				? run_context_parent(run, at)
				: at;
	}
	return found;
}

bool runtime_calls_is_call(const struct run_function *function)
{
	return !function->is_placeholder && (is_runtime(function) || is_mpi(function));
}

/* The outermost function of a runtime on the path, GPU's or MPI's; 0: none. */
static uint32_t call_of(const struct run *run, uint32_t context)
{
	uint32_t found = 0;

	for (uint32_t at = context; at; at = run_context_parent(run, at)) {
		uint32_t scope = run_context(run, at)->scope;
		const struct run_function *function =
			scope == UINT32_MAX ? NULL : run_function(run, run_scope(run, scope)->function);

		if (function && runtime_calls_is_call(function))
			found = at;
	}
	return found;
}

uint32_t runtime_calls_after(const struct run *run, uint32_t context, uint32_t wait)
{
	uint32_t call = call_of(run, wait), fence = call ? call : wait, at = context;

	while (at && at != fence)
		at = run_context_parent(run, at);
	if (!at)
		return context;
	return call ? run_context_parent(run, call) : wait;
}

void runtime_calls_fold(const struct run *run, struct exact_share *shares, size_t count,
	const struct select *select, enum row_key_by by)
{
	for (size_t i = 0; i < count && (by == ROW_KEY_FUNCTION || by == ROW_KEY_SCRIPT); i++) {
		uint32_t context = runtime_calls_context(run, shares[i].context);

		if (select_wants_context(select, context) == select_wants_context(select, shares[i].context))
			shares[i].context = context;
	}
}
