/* SPDX-License-Identifier: Apache-2.0 */
/* waits.c - see waits.h: glob patterns on function names, looked up once per function. */
#include "blame/waits.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 64

struct pattern {
	char *glob;
	bool is_wait;
	bool is_collective;
};

enum verdict { VERDICT_NEW, VERDICT_WORK, VERDICT_WAIT, VERDICT_COLLECTIVE };

struct waits {
	struct run *run;
	struct pattern *pattern;
	size_t pattern_count;
	uint8_t *function; /* enum verdict, by run function */
	uint32_t function_room;
	uint8_t *context; /* enum verdict, by run context */
	uint32_t context_room;
};

static const struct {
	const char *glob;
	bool is_collective;
} builtin[] = {
	/* MPI, under the names of its profiling layer and of its Fortran binding, too. */
	{"MPI_Wait*", false},
	{"MPI_Probe", false},
	{"MPI_Mprobe", false},
	{"MPI_Recv", false},
	{"MPI_Sendrecv*", false},
	{"MPI_Barrier", true},
	{"MPI_Allreduce", true},
	{"MPI_Reduce*", true},
	{"MPI_Bcast", true},
	{"MPI_Allgather*", true},
	{"MPI_Gather*", true},
	{"MPI_Scatter*", true},
	{"MPI_Alltoall*", true},
	{"MPI_Scan", true},
	{"MPI_Exscan", true},
	{"MPI_Neighbor_*", true},
	{"MPI_Win_fence", true},
	{"MPI_Finalize", true},
	/* OpenMP runtimes: GNU, LLVM and Intel, and what hpcrun calls a thread without work. */
	{"gomp_*barrier*", true},
	{"gomp_*wait*", true},
	{"__kmp_*wait*", true},
	{"__kmp_*barrier*", true},
	{"<omp idle>", false},
	/* NCCL's kernels, and what calls them. */
	{"nccl*", true},
	/* The C library, for traces whose samples go on while a thread sleeps. */
	{"*futex_*wait*", false},
	{"*lll_lock_wait*", false},
	{"*pthread_cond_*wait*", false},
	{"*pthread_*join*", false},
	{"*sem_*wait*", false},
	{"*nanosleep*", false},
	{"*epoll_*wait*", false},
	{"poll", false},
	{"ppoll", false},
	{"__poll", false},
	{"select", false},
	{"pselect*", false},
	{"wait4", false},
	{"waitpid", false},
};

static int pattern_add(struct waits *waits, const char *glob, bool is_wait, bool is_collective)
{
	struct pattern *grown = realloc(waits->pattern, (waits->pattern_count + 1) * sizeof(*waits->pattern));
	char *copy = strdup(glob);

	if (grown)
		waits->pattern = grown;
	if (!grown || !copy) {
		free(copy);
		return -1;
	}
	grown[waits->pattern_count++] = (struct pattern){copy, is_wait, is_collective};
	return 0;
}

static int file_line(struct waits *waits, char *line)
{
	bool is_wait = true;
	size_t length;

	line[strcspn(line, "#\n")] = '\0';
	line += strspn(line, " \t");
	length = strlen(line);
	while (length && strchr(" \t\r", line[length - 1]))
		line[--length] = '\0';
	if (*line == '!') {
		is_wait = false;
		line++;
	}
	return *line ? pattern_add(waits, line, is_wait, false) : 0;
}

static int file_read(struct waits *waits, const char *path, struct error *error)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int result = 0;

	if (!file)
		return error_set(error, ERROR_USAGE, "cannot read the file of waiting functions %s: %s", path,
			strerror(errno));
	while (!result && getline(&line, &room, file) >= 0)
		result = file_line(waits, line);
	free(line);
	fclose(file);
	return result ? error_memory(error) : 0;
}

int waits_new(struct waits **out, struct run *run, const char *path, struct error *error)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return error_memory(error);
	waits->run = run;
	for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++)
		if (pattern_add(waits, builtin[i].glob, true, builtin[i].is_collective)) {
			waits_free(waits);
			return error_memory(error);
		}
	if (path && file_read(waits, path, error)) {
		waits_free(waits);
		return -error->code;
	}
	*out = waits;
	return 0;
}

void waits_free(struct waits *waits)
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

/* Room for `count` verdicts; new ones are VERDICT_NEW. */
static bool verdicts_grow(uint8_t **verdicts, uint32_t *room, uint32_t count)
{
	uint8_t *grown;

	if (count <= *room)
		return true;
	grown = realloc(*verdicts, count);
	if (!grown)
		return false;
	memset(grown + *room, VERDICT_NEW, count - *room);
	*verdicts = grown;
	*room = count;
	return true;
}

/* "PMPI_Wait" and "mpi_wait_" are MPI_Wait. Into `plain` of NAME_MAX_BYTES; the name itself when it is
 * neither. */
static const char *plain_name(const char *name, char *plain)
{
	size_t length = strlen(name);

	if (!strncmp(name, "PMPI_", 5))
		return name + 1;
	if (strncmp(name, "mpi_", 4) || length >= NAME_MAX_BYTES || length < 6)
		return name;
	snprintf(plain, NAME_MAX_BYTES, "MPI_%c%s", toupper((unsigned char)name[4]), name + 5);
	while (plain[length - 1] == '_')
		plain[--length] = '\0';
	return plain;
}

static enum verdict name_judge(const struct waits *waits, const char *given_name)
{
	char plain[NAME_MAX_BYTES];
	const char *name = plain_name(given_name, plain);

	for (size_t i = waits->pattern_count; i-- > 0;) {
		const struct pattern *pattern = &waits->pattern[i];

		if (fnmatch(pattern->glob, name, 0) && fnmatch(pattern->glob, given_name, 0))
			continue;
		return !pattern->is_wait	? VERDICT_WORK
		       : pattern->is_collective ? VERDICT_COLLECTIVE
						: VERDICT_WAIT;
	}
	return VERDICT_WORK;
}

static enum verdict function_judge(struct waits *waits, uint32_t function)
{
	enum verdict verdict;

	if (verdicts_grow(&waits->function, &waits->function_room, run_function_count(waits->run)) &&
		waits->function[function] != VERDICT_NEW)
		return waits->function[function];
	verdict = name_judge(waits, run_function(waits->run, function)->name);
	if (function < waits->function_room)
		waits->function[function] = (uint8_t)verdict;
	return verdict;
}

/* The outermost waiting frame decides: what runs below a wait is part of it. */
static enum verdict context_walk(struct waits *waits, uint32_t context)
{
	uint32_t scope = run_context(waits->run, context)->scope;
	enum verdict verdict = VERDICT_WORK;

	while (scope != UINT32_MAX) {
		const struct run_scope *at = run_scope(waits->run, scope);
		enum verdict here = function_judge(waits, at->function);

		if (here != VERDICT_WORK)
			verdict = here;
		scope = at->parent;
	}
	return verdict;
}

static enum verdict context_judge(struct waits *waits, uint32_t context)
{
	enum verdict verdict;

	if (verdicts_grow(&waits->context, &waits->context_room, run_context_count(waits->run)) &&
		waits->context[context] != VERDICT_NEW)
		return waits->context[context];
	verdict = context_walk(waits, context);
	if (context < waits->context_room)
		waits->context[context] = (uint8_t)verdict;
	return verdict;
}

bool waits_context(struct waits *waits, uint32_t context)
{
	return context && context_judge(waits, context) >= VERDICT_WAIT;
}

bool waits_is_collective(struct waits *waits, uint32_t context)
{
	return context && context_judge(waits, context) == VERDICT_COLLECTIVE;
}
