/* SPDX-License-Identifier: Apache-2.0 */
/* helper_threads.c - see helper_threads.h: by the files that all its call paths are of. */
#include "blame/base/helper_threads.h"

#include <fnmatch.h>
#include <string.h>

#include "store/base/path.h"
#include "store/read/reader.h"
#include "timeline/sum/window.h"

static bool is_any(const char *text, const char *const *globs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(globs[i], text, 0))
			return true;
	return false;
}
#define IS_ANY(text, globs) is_any(text, globs, sizeof(globs) / sizeof *(globs))

/* Open MPI, MPICH, and what they stand on. */
static const char *const mpi_files[] = {"libmpi.so*", "libmpi_*.so*", "libmpich*.so*", "libopen-pal.so*",
	"libopen-rte.so*", "libpmix.so*", "libprrte.so*", "libucs.so*", "libucp.so*", "libuct*.so*",
	"libfabric.so*", "libpsm*.so*", "libpmi*.so*", "mca_*.so*"};

/* What MPI's libraries load to look at the machine: hwloc asks OpenCL for its devices, and PoCL begins
 * threads for them. A kernel of the program on one of these shows as code that is not of these files. */
static const char *const device_files[] = {"libpocl*.so*", "libhwloc.so*", "hwloc_*.so*", "libOpenCL.so*"};

enum mpi { MPI_NONE, MPI_PERHAPS, MPI_LOADED };

/* A function without a name has its file in the name it is given. */
static bool is_of_mpi(const struct run_function *function, enum mpi mpi)
{
	const char *file = path_base(function->module), *name = function->name;

	return IS_ANY(file, mpi_files) || IS_ANY(name, mpi_files) ||
	       (mpi == MPI_LOADED && (IS_ANY(file, device_files) || IS_ANY(name, device_files)));
}

/* What they call: neither the program's nor told of by it. */
static bool is_of_system(const struct run_function *function)
{
	static const char *const files[] = {"libc.so*", "libc-*", "libpthread*", "ld-*", "libevent*",
		"librt.so*", "libm.so*", "libgcc_s.so*", "libibverbs.so*", "librdmacm.so*", "*[[]*]"};
	static const char *const names[] = {"libc.so*+0x*", "libpthread*+0x*", "ld-*+0x*", "libevent*+0x*",
		"libibverbs.so*+0x*", "librdmacm.so*+0x*"};

	if (IS_ANY(function->name, names))
		return true;
	return IS_ANY(path_base(function->module), files);
}

/* <thread root>, of a recording or imported. */
static bool is_no_code(const struct run_function *function)
{
	return function->is_placeholder || *function->name == '<';
}

/* The path begins in such a library (`*begins`), and leaves it for the system alone; false: it does not. */
static bool is_helper_path(const struct run *run, enum mpi mpi, uint32_t context, bool *begins)
{
	uint32_t scope = run_context(run, context)->scope;
	bool is_outermost = false;

	for (; scope != UINT32_MAX; scope = run_scope(run, scope)->parent) {
		const struct run_function *function = run_function(run, run_scope(run, scope)->function);

		if (is_no_code(function))
			continue;
		is_outermost = is_of_mpi(function, mpi);
		if (!is_outermost && !is_of_system(function))
			return false;
	}
	*begins |= is_outermost;
	return true;
}

static int is_helper(bool *is, struct run *run, enum mpi mpi, uint32_t stream, struct error *error)
{
	struct window *window;
	const struct window_time *cells;
	size_t count = 0;
	bool begins = false, is_all = true;
	int result = window_new(&window, run, error);

	if (!result)
		result = window_add_time(window, stream, run_begin_ns(run), run_end_ns(run), error);
	cells = result ? NULL : window_times(window, &count);
	for (size_t i = 0; i < count && is_all; i++)
		if (cells[i].context)
			is_all = is_helper_path(run, mpi, cells[i].context, &begins);
	*is = is_all && begins;
	window_free(window);
	return result;
}

/* Whether such a library was loaded. Of imported names the files are not known. */
static enum mpi find_mpi(const struct run *run)
{
	enum mpi found = MPI_NONE;

	for (unsigned i = 0; i < run_store_count(run); i++) {
		struct store_reader *reader = run_store(run, i);
		uint32_t count;
		const struct store_module *modules = store_reader_modules(reader, &count);

		for (uint32_t m = STORE_MODULE_RESERVED + 1; m < count; m++) {
			size_t size;
			const char *path = store_reader_text(reader, modules[m].path, &size);

			if (path && IS_ANY(path_base(path), mpi_files))
				return MPI_LOADED;
			if (modules[m].kind == STORE_MODULE_TEXT)
				found = MPI_PERHAPS;
		}
	}
	return found;
}

int helper_threads_leave_out(struct run *run, const uint32_t **kept, uint32_t *kept_count, uint32_t *left_out,
	const uint32_t *streams, uint32_t count, struct arena *arena, struct error *error)
{
	uint32_t *list = arena_calloc(arena, count + 1u, sizeof(*list));
	const enum mpi mpi = find_mpi(run);

	*kept = streams;
	*kept_count = count;
	*left_out = 0;
	if (!list)
		return error_memory(error);
	if (mpi == MPI_NONE)
		return 0;
	*kept_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		bool is = false;
		int result = run_stream(run, streams[i])->s.kind == STORE_STREAM_CPU
				     ? is_helper(&is, run, mpi, streams[i], error)
				     : 0;

		if (result)
			return result;
		if (!is)
			list[(*kept_count)++] = streams[i];
	}
	if (*kept_count) {
		*kept = list;
		*left_out = count - *kept_count;
	} else {
		*kept_count = count;
	}
	return 0;
}
