/* SPDX-License-Identifier: Apache-2.0 */
/* rows_routine.c - see rows_routine.h. */
#include "tui/timeline/rows_routine.h"

#include <stdio.h>
#include <string.h>

#include "store/base/path.h"
#include "timeline/run/run_function.h"
#include "timeline/scan/scan.h"

#define SAMPLES 64u /* that are looked at: the first may be of the thread's start alone */

/* Frames of runtimes between a thread's start and its routine: by module, by file, or by their names. */
static bool is_runtime(const struct run_function *function)
{
	static const char *const modules[] = {"libstdc++", "libc++", "libc.so", "libc-", "libpthread",
		"libgomp", "libomp", "libiomp", "ld-linux", "libtbb", "libpython"};
	static const char *const names[] = {"std::", "__gnu_cxx::", "void std::", "boost::thread",
		"boost::detail", "start_thread", "clone", "__clone", "thread_run", "pythread_wrapper",
		"Thread._bootstrap", "Thread.run", "QThread", "g_thread_proxy", "_PyEval", "_PyFunction",
		"_PyObject", "PyObject_", "method_vectorcall"};
	const char *base = path_base(function->module), *file = path_base(function->file);

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (strncmp(base, modules[i], strlen(modules[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(function->name, names[i], strlen(names[i])) == 0)
			return true;
	return strcmp(file, "threading.py") == 0 || strchr(function->name, '+');
}

/* From the root down: the path of `scope`, into an array of those above it. */
static bool take(char *name, const struct run *run, uint32_t scope)
{
	const struct run_function *found = NULL;
	const char *text;
	size_t size;

	for (; scope != UINT32_MAX && scope != RUN_SCOPE_PROGRAM_ROOT;
		scope = run_scope(run, scope)->parent) {
		const struct run_function *function = run_function(run, run_scope(run, scope)->function);

		if (!function->is_placeholder && !is_runtime(function))
			found = function; /* the outermost is met last */
	}
	if (!found || strcmp(found->name, "main") == 0)
		return false;
	text = found->name;
	if (strstr(text, "._omp_fn") || strstr(text, ".omp_outlined") || strstr(text, "{omp "))
		text = "omp"; /* which runs all regions */
	size = strcspn(text, "(<");
	snprintf(name, ROWS_ROUTINE_BYTES, "%.*s", size < 80 ? (int)size : 80, text);
	return size > 0;
}

bool rows_routine(char *name, const struct run *run, uint32_t stream)
{
	struct run *reads = (struct run *)(uintptr_t)run; /* which changes no answer */
	const struct batch *batch;
	struct scan *scan;
	struct error error;
	bool is_found = false;
	size_t looked = 0;

	if (scan_open(&scan, reads, stream, STORE_SAMPLES, 0, STORE_OPEN_NS, STORE_CONTEXT, 0, &error))
		return false;
	while (!is_found && looked < SAMPLES && scan_next(scan, &batch, &error) > 0)
		for (size_t i = 0; i < batch->count && !is_found && looked < SAMPLES; i++, looked++)
			is_found = batch->context[i] &&
				   take(name, run, run_context(run, batch->context[i])->scope);
	scan_close(scan);
	return is_found;
}
