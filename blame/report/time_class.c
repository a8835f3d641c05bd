/* SPDX-License-Identifier: Apache-2.0 */
/* time_class.c - see time_class.h. */
#include "blame/report/time_class.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "blame/base/mpi_name.h"
#include "blame/base/openmp.h"
#include "blame/base/runtime_calls.h"
#include "store/base/array.h"

#define NOT_JUDGED 0xff

struct time_classes {
	struct run *run;
	struct wait_functions *waits;  /* the caller's */
	uint8_t *functions, *contexts; /* enum time_class, or NOT_JUDGED */
	uint32_t function_room, context_room;
};

static const struct {
	const char *name, *text;
} texts[TIME_CLASS_COUNT] = {
#define X(name, word, text) [TIME_##name] = {word, text},
	TIME_CLASSES(X)
#undef X
};

const char *time_class_name(enum time_class class)
{
	return texts[class].name;
}

const char *time_class_text(enum time_class class)
{
	return texts[class].text;
}

int time_class_find(const char *name)
{
	for (int i = 0; i < TIME_CLASS_COUNT; i++)
		if (strcmp(texts[i].name, name) == 0)
			return i;
	return -1;
}

/* ---- functions ---- */

static const struct {
	const char *glob;
	enum time_class class;
} globs[] = {{"MPI_File_*", TIME_IO}, {"read", TIME_IO}, {"write", TIME_IO}, {"pread*", TIME_IO},
	{"pwrite*", TIME_IO}, {"readv", TIME_IO}, {"writev", TIME_IO}, {"fread*", TIME_IO},
	{"fwrite*", TIME_IO}, {"fflush", TIME_IO}, {"fopen*", TIME_IO}, {"fclose", TIME_IO},
	{"fgets", TIME_IO}, {"getline", TIME_IO}, {"fsync", TIME_IO}, {"fdatasync", TIME_IO},
	{"msync", TIME_IO}, {"open", TIME_IO}, {"open64", TIME_IO}, {"openat*", TIME_IO}, {"close", TIME_IO},
	{"sendfile*", TIME_IO}, {"__read", TIME_IO}, {"__write", TIME_IO}, {"_IO_file_*", TIME_IO},
	{"aio_*", TIME_IO}, {"io_uring_*", TIME_IO}, {"malloc", TIME_MEMORY}, {"calloc", TIME_MEMORY},
	{"realloc", TIME_MEMORY}, {"reallocarray", TIME_MEMORY}, {"free", TIME_MEMORY},
	{"cfree", TIME_MEMORY}, {"posix_memalign", TIME_MEMORY}, {"aligned_alloc", TIME_MEMORY},
	{"operator new*", TIME_MEMORY}, {"operator delete*", TIME_MEMORY}, {"_int_malloc", TIME_MEMORY},
	{"_int_free*", TIME_MEMORY}, {"__libc_malloc", TIME_MEMORY}, {"__libc_free", TIME_MEMORY},
	{"mmap*", TIME_MEMORY}, {"munmap", TIME_MEMORY}, {"madvise", TIME_MEMORY}, {"brk", TIME_MEMORY},
	{"sbrk", TIME_MEMORY}, {"memcpy*", TIME_MEMORY}, {"memmove*", TIME_MEMORY}, {"memset*", TIME_MEMORY},
	{"__memcpy*", TIME_MEMORY}, {"__memmove*", TIME_MEMORY}, {"__memset*", TIME_MEMORY}};

/* MPI's own names; a program's mpi_exchange_ is none of them, which a wait_functions table tells. */
static bool is_mpi(const char *name)
{
	const char *plain = *name == 'P' ? name + 1 : name;

	return strncmp(plain, "MPI_", 4) == 0 && isupper((unsigned char)plain[4]);
}

static enum time_class judge(const struct run_function *function)
{
	char mpi[MPI_NAME_BYTES];
	const char *name = mpi_name(mpi, function->name) && is_mpi(mpi) ? mpi : function->name;

	if (function->is_placeholder)
		return TIME_COMPUTE;
	for (size_t i = 0; i < sizeof globs / sizeof *globs; i++)
		if (fnmatch(globs[i].glob, name, 0) == 0)
			return globs[i].class;
	if (is_mpi(function->name))
		return TIME_MPI;
	return runtime_calls_is_call(function) && name != mpi ? TIME_GPU : TIME_COMPUTE;
}

/* Room for `count` verdicts; new ones are not judged. */
static bool widen(uint8_t **verdicts, uint32_t *room, uint32_t count)
{
	if (count <= *room)
		return true;
	if (!array_resize(verdicts, count, 1))
		return false;
	memset(*verdicts + *room, NOT_JUDGED, count - *room);
	*room = count;
	return true;
}

static enum time_class function_class(struct time_classes *classes, uint32_t function)
{
	enum time_class class;

	if (widen(&classes->functions, &classes->function_room, run_function_count(classes->run)) &&
		classes->functions[function] != NOT_JUDGED)
		return (enum time_class)classes->functions[function];
	class = judge(run_function(classes->run, function));
	if (function < classes->function_room)
		classes->functions[function] = (uint8_t) class;
	return class;
}

/* ---- paths ---- */

/* The outermost call that has a class; then who waits for ranks is in MPI under another name, and OpenMP's
 * own code is at the end of the path. WAIT: it only waits. */
static enum time_class walk(struct time_classes *classes, uint32_t context)
{
	const struct run *run = classes->run;
	uint32_t leaf = run_context(run, context)->scope;
	enum time_class found = TIME_COMPUTE;
	enum wait_target target;

	for (uint32_t scope = leaf; scope != UINT32_MAX; scope = run_scope(run, scope)->parent) {
		enum time_class here = function_class(classes, run_scope(run, scope)->function);

		found = here != TIME_COMPUTE ? here : found;
	}
	if (found != TIME_COMPUTE || leaf == UINT32_MAX)
		return found;
	target = wait_functions_target(classes->waits, context);
	if (target == WAITS_FOR_RANK || target == WAITS_FOR_RANKS)
		return TIME_MPI;
	if (openmp_is_own(run_function(run, run_scope(run, leaf)->function)))
		return TIME_OPENMP;
	return target == WAITS_FOR_NOTHING ? TIME_COMPUTE : TIME_WAIT;
}

static enum time_class context_class(struct time_classes *classes, uint32_t context)
{
	enum time_class class;

	if (!context)
		return TIME_COMPUTE;
	if (widen(&classes->contexts, &classes->context_room, run_context_count(classes->run)) &&
		classes->contexts[context] != NOT_JUDGED)
		return (enum time_class)classes->contexts[context];
	class = walk(classes, context);
	if (context < classes->context_room)
		classes->contexts[context] = (uint8_t) class;
	return class;
}

enum time_class time_class_of(struct time_classes *classes, const struct window_time *piece)
{
	enum time_class class;

	if (piece->state == EXTENT_ABSENT)
		return TIME_ABSENT;
	if (piece->state == EXTENT_RUNNABLE)
		return TIME_RUNNABLE;
	if (piece->state == EXTENT_SYNC)
		return TIME_GPU;
	if (piece->state != EXTENT_BLOCKED && !extent_state_is_busy(piece->state))
		return TIME_UNKNOWN;
	class = context_class(classes, piece->context);
	return class == TIME_COMPUTE && piece->state == EXTENT_BLOCKED ? TIME_WAIT : class;
}

int time_classes_new(
	struct time_classes **result, struct run *run, struct wait_functions *waits, struct error *error)
{
	struct time_classes *classes = calloc(1, sizeof *classes);

	if (!classes)
		return error_memory(error);
	classes->run = run;
	classes->waits = waits;
	*result = classes;
	return 0;
}

void time_classes_free(struct time_classes *classes)
{
	if (!classes)
		return;
	free(classes->functions);
	free(classes->contexts);
	free(classes);
}
