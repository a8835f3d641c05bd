/* SPDX-License-Identifier: Apache-2.0 */
/* wait_functions.c - see wait_functions.h: glob patterns on function names, looked up once per function. */
#include "blame/base/wait_functions.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blame/base/mpi_name.h"
#include "blame/base/openmp.h"
#include "store/base/array.h"
#include "timeline/base/own_path.h"

struct pattern {
	char *glob;
	enum wait_target wait_functions_target;
};

#define NOT_JUDGED 0xff

struct wait_functions {
	struct run *run;
	struct pattern *pattern;
	size_t pattern_count;
	uint8_t *function; /* enum wait_target or NOT_JUDGED, by run function */
	uint32_t function_capacity;
	uint8_t *context; /* the same by run context */
	uint32_t context_capacity;
};

static const struct {
	const char *glob;
	enum wait_target wait_functions_target;
} builtin[] = {
	/* MPI, under whatever name (mpi_name.h). */
	{"MPI_Wait", WAITS_FOR_RANK},
	{"MPI_Waitall", WAITS_FOR_RANK},
	{"MPI_Waitany", WAITS_FOR_RANK},
	{"MPI_Waitsome", WAITS_FOR_RANK},
	/* Asked again and again, as a rule: work between two of them is not in them. */
	{"MPI_Test", WAITS_FOR_RANK},
	{"MPI_Testall", WAITS_FOR_RANK},
	{"MPI_Testany", WAITS_FOR_RANK},
	{"MPI_Testsome", WAITS_FOR_RANK},
	{"MPI_Iprobe", WAITS_FOR_RANK},
	{"MPI_Improbe", WAITS_FOR_RANK},
	{"MPI_Probe", WAITS_FOR_RANK},
	{"MPI_Mprobe", WAITS_FOR_RANK},
	{"MPI_Recv", WAITS_FOR_RANK},
	{"MPI_Mrecv", WAITS_FOR_RANK},
	{"MPI_Send", WAITS_FOR_RANK},
	{"MPI_Ssend", WAITS_FOR_RANK},
	{"MPI_Rsend", WAITS_FOR_RANK},
	{"MPI_Sendrecv", WAITS_FOR_RANK},
	{"MPI_Sendrecv_replace", WAITS_FOR_RANK},
	{"MPI_Win_wait", WAITS_FOR_RANK},
	{"MPI_Barrier", WAITS_FOR_RANKS},
	{"MPI_Allreduce", WAITS_FOR_RANKS},
	{"MPI_Reduce", WAITS_FOR_RANKS},
	{"MPI_Reduce_scatter", WAITS_FOR_RANKS},
	{"MPI_Reduce_scatter_block", WAITS_FOR_RANKS},
	{"MPI_Bcast", WAITS_FOR_RANKS},
	{"MPI_Allgather", WAITS_FOR_RANKS},
	{"MPI_Allgatherv", WAITS_FOR_RANKS},
	{"MPI_Gather", WAITS_FOR_RANKS},
	{"MPI_Gatherv", WAITS_FOR_RANKS},
	{"MPI_Scatter", WAITS_FOR_RANKS},
	{"MPI_Scatterv", WAITS_FOR_RANKS},
	{"MPI_Neighbor_allgather", WAITS_FOR_RANKS},
	{"MPI_Neighbor_allgatherv", WAITS_FOR_RANKS},
	{"MPI_Alltoall", WAITS_FOR_RANKS},
	{"MPI_Alltoall[vw]", WAITS_FOR_RANKS},
	{"MPI_Neighbor_alltoall", WAITS_FOR_RANKS},
	{"MPI_Neighbor_alltoall[vw]", WAITS_FOR_RANKS},
	{"MPI_Scan", WAITS_FOR_RANKS},
	{"MPI_Exscan", WAITS_FOR_RANKS},
	{"MPI_Comm_create", WAITS_FOR_RANKS},
	{"MPI_Comm_dup", WAITS_FOR_RANKS},
	{"MPI_Comm_split", WAITS_FOR_RANKS},
	{"MPI_Win_fence", WAITS_FOR_RANKS},
	{"MPI_Finalize", WAITS_FOR_RANKS},
	/* OpenMP runtimes: GNU, LLVM and Intel, and what hpcrun calls a thread without work. */
	{"gomp_*barrier*", WAITS_FOR_THREADS},
	{"gomp_*wait*", WAITS_FOR_THREADS},
	{"__kmp_*wait*", WAITS_FOR_THREADS},
	{"__kmp_*barrier*", WAITS_FOR_THREADS},
	{"__kmpc_*barrier*", WAITS_FOR_THREADS},
	{"GOMP_barrier", WAITS_FOR_THREADS},
	{"GOMP_loop_end", WAITS_FOR_THREADS},
	{"GOMP_sections_end", WAITS_FOR_THREADS},
	{"GOMP_taskwait*", WAITS_FOR_THREAD},
	{"GOMP_taskgroup_end", WAITS_FOR_THREAD},
	{"GOMP_*critical*_start", WAITS_FOR_THREAD},
	{"GOMP_ordered_start", WAITS_FOR_THREAD},
	{"__kmpc_omp_taskwait*", WAITS_FOR_THREAD},
	{"__kmpc_end_taskgroup", WAITS_FOR_THREAD},
	{"__kmpc_critical*", WAITS_FOR_THREAD},
	{"__kmpc_ordered", WAITS_FOR_THREAD},
	{"omp_set_*lock", WAITS_FOR_THREAD},
	/* Loops that pause and do nothing else. */
	{"<spin>", WAITS_FOR_THREAD},
	{"<omp barrier*>", WAITS_FOR_THREADS},
	{"<omp idle>", WAITS_FOR_THREAD},
	{"<omp lock*>", WAITS_FOR_THREAD},
	{"<omp taskwait*>", WAITS_FOR_THREAD},
	/* NCCL's kernels, and what calls them. */
	{"nccl*", WAITS_FOR_RANKS},
	/* The C library, for traces whose samples go on while a thread sleeps. */
	{"pthread_spin_lock", WAITS_FOR_THREAD},
	{"*sched_yield*", WAITS_FOR_THREAD},
	{"*futex_*wait*", WAITS_FOR_THREAD},
	{"*lll_lock_wait*", WAITS_FOR_THREAD},
	{"*pthread_cond_*wait*", WAITS_FOR_THREAD},
	{"*pthread_barrier_wait*", WAITS_FOR_THREADS},
	{"*pthread_*join*", WAITS_FOR_THREAD},
	{"*sem_*wait*", WAITS_FOR_THREAD},
	{"*nanosleep*", WAITS_FOR_THREAD},
	{"*epoll_*wait*", WAITS_FOR_THREAD},
	{"poll", WAITS_FOR_THREAD},
	{"ppoll", WAITS_FOR_THREAD},
	{"__poll", WAITS_FOR_THREAD},
	{"select", WAITS_FOR_THREAD},
	{"pselect*", WAITS_FOR_THREAD},
	{"wait4", WAITS_FOR_THREAD},
	{"waitpid", WAITS_FOR_THREAD},
};

static int pattern_add(struct wait_functions *waits, const char *glob, enum wait_target wait_functions_target)
{
	char *copy = strdup(glob);

	if (!copy || !array_resize(&waits->pattern, waits->pattern_count + 1, sizeof(*waits->pattern))) {
		free(copy);
		return -1;
	}
	waits->pattern[waits->pattern_count++] = (struct pattern){copy, wait_functions_target};
	return 0;
}

static int file_line(struct wait_functions *waits, char *line)
{
	enum wait_target wait_functions_target = WAITS_FOR_THREAD;
	size_t length;

	line[strcspn(line, "#\n")] = '\0';
	line += strspn(line, " \t");
	length = strlen(line);
	while (length && strchr(" \t\r", line[length - 1]))
		line[--length] = '\0';
	if (*line == '!') {
		wait_functions_target = WAITS_FOR_NOTHING;
		line++;
	}
	return *line ? pattern_add(waits, line, wait_functions_target) : 0;
}

static int file_fail(const char *path, struct error *error)
{
	return error_set(error, ERROR_USAGE, "cannot read the file of waiting functions %s: %s", path,
		strerror(errno));
}

static int file_read(struct wait_functions *waits, const char *path, struct error *error)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t capacity = 0;
	int result = 0;

	if (!file)
		return file_fail(path, error);
	while (!result && (errno = 0, getline(&line, &capacity, file) >= 0))
		result = file_line(waits, line) ? error_memory(error) : 0;
	if (!result && !feof(file)) /* a directory, a disk that fails, no memory */
		result = file_fail(path, error);
	free(line);
	fclose(file);
	return result;
}

int wait_functions_new(struct wait_functions **out, struct run *run, const char *path, struct error *error)
{
	struct wait_functions *waits = calloc(1, sizeof(*waits));
	char *own;
	int result;

	if (!waits)
		return error_memory(error);
	waits->run = run;
	for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++)
		if (pattern_add(waits, builtin[i].glob, builtin[i].wait_functions_target)) {
			wait_functions_free(waits);
			return error_memory(error);
		}
	own = path ? NULL : own_path("waits");
	path = own && !access(own, F_OK) ? own : path;
	result = path ? file_read(waits, path, error) : 0;
	free(own);
	if (result) {
		wait_functions_free(waits);
		return -error->code;
	}
	*out = waits;
	return 0;
}

bool wait_functions_are_own(const struct wait_functions *waits)
{
	return waits->pattern_count != sizeof(builtin) / sizeof(builtin[0]);
}

void wait_functions_free(struct wait_functions *waits)
{
	if (!waits)
		return;
	for (size_t i = 0; i < waits->pattern_count; i++)
		free(waits->pattern[i].glob);
	free(waits->pattern);
	free(waits->function);
	free(waits->context);
	free(waits);
}

/* Room for `count` verdicts; new ones are NOT_JUDGED. */
static bool verdicts_grow(uint8_t **verdicts, uint32_t *capacity, uint32_t count)
{
	if (count <= *capacity)
		return true;
	if (!array_resize(verdicts, count, 1))
		return false;
	memset(*verdicts + *capacity, NOT_JUDGED, count - *capacity);
	*capacity = count;
	return true;
}

static bool is_match(const char *glob, const char *name, const char *plain)
{
	return !fnmatch(glob, name, 0) || (plain && !fnmatch(glob, plain, 0));
}

static enum wait_target name_judge(const struct wait_functions *waits, const struct run_function *function)
{
	char mpi[MPI_NAME_BYTES];
	const char *plain = mpi_name(mpi, function->name) ? mpi : NULL;

	for (size_t i = waits->pattern_count; i-- > 0;)
		if (is_match(waits->pattern[i].glob, function->name, plain))
			return waits->pattern[i].wait_functions_target;
	return openmp_is_nameless(function) ? WAITS_FOR_THREADS : WAITS_FOR_NOTHING;
}

static enum wait_target function_judge(struct wait_functions *waits, uint32_t function)
{
	enum wait_target verdict;

	if (verdicts_grow(&waits->function, &waits->function_capacity, run_function_count(waits->run)) &&
		waits->function[function] != NOT_JUDGED)
		return (enum wait_target)waits->function[function];
	verdict = name_judge(waits, run_function(waits->run, function));
	if (function < waits->function_capacity)
		waits->function[function] = (uint8_t)verdict;
	return verdict;
}

/* Whether an OpenMP runtime's function that would wait does something else here: it runs a task, or, where it
 * has no name and may be anything, calls what does not wait. */
static bool is_at_work(struct wait_functions *waits, uint32_t leaf, uint32_t scope)
{
	const struct run_function *own = run_function(waits->run, run_scope(waits->run, scope)->function);
	bool is_nameless = openmp_is_nameless(own);

	for (uint32_t at = leaf; at != scope; at = run_scope(waits->run, at)->parent) {
		uint32_t number = run_scope(waits->run, at)->function;
		const struct run_function *function = run_function(waits->run, number);

		if (openmp_is_program(function, own) ||
			(is_nameless && !openmp_is_own(function) &&
				function_judge(waits, number) == WAITS_FOR_NOTHING))
			return true;
	}
	return false;
}

/* The outermost waiting frame decides: what runs below a wait is part of it. */
static enum wait_target context_walk(struct wait_functions *waits, uint32_t context)
{
	uint32_t leaf = run_context(waits->run, context)->scope;
	enum wait_target verdict = WAITS_FOR_NOTHING;

	for (uint32_t scope = leaf; scope != UINT32_MAX; scope = run_scope(waits->run, scope)->parent) {
		uint32_t number = run_scope(waits->run, scope)->function;
		enum wait_target here = function_judge(waits, number);

		if (here != WAITS_FOR_NOTHING &&
			!(openmp_is_own(run_function(waits->run, number)) && is_at_work(waits, leaf, scope)))
			verdict = here;
	}
	return verdict;
}

static __attribute__((noinline)) enum wait_target context_judge(
	struct wait_functions *waits, uint32_t context)
{
	enum wait_target verdict;

	if (verdicts_grow(&waits->context, &waits->context_capacity, run_context_count(waits->run)) &&
		waits->context[context] != NOT_JUDGED)
		return (enum wait_target)waits->context[context];
	verdict = context_walk(waits, context);
	if (context < waits->context_capacity)
		waits->context[context] = (uint8_t)verdict;
	return verdict;
}

enum wait_target wait_functions_target(struct wait_functions *waits, uint32_t context)
{
	if (context < waits->context_capacity && waits->context[context] != NOT_JUDGED)
		return (enum wait_target)waits->context[context];
	return context ? context_judge(waits, context) : WAITS_FOR_NOTHING;
}
