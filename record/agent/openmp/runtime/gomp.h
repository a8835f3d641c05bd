/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gomp.h - the entries of GNU's OpenMP runtime that the agent stands in front of, and libgomp's own behind
 * them: as a call of the same library would have found them, where several libraries bring their own libgomp.
 * LLVM's runtime has these names, too, for code of gcc: there OMPT tells (ompt.c), and this is silent.
 */
#ifndef RECORD_AGENT_GOMP_H
#define RECORD_AGENT_GOMP_H

#include <stdbool.h>

/* X(name) */
#define GOMP_FUNCTIONS(X)                                \
	X(GOMP_parallel)                                 \
	X(GOMP_parallel_reductions)                      \
	X(GOMP_parallel_sections)                        \
	X(GOMP_parallel_loop_static)                     \
	X(GOMP_parallel_loop_dynamic)                    \
	X(GOMP_parallel_loop_guided)                     \
	X(GOMP_parallel_loop_nonmonotonic_dynamic)       \
	X(GOMP_parallel_loop_nonmonotonic_guided)        \
	X(GOMP_parallel_loop_runtime)                    \
	X(GOMP_parallel_loop_nonmonotonic_runtime)       \
	X(GOMP_parallel_loop_maybe_nonmonotonic_runtime) \
	X(GOMP_barrier)                                  \
	X(GOMP_barrier_cancel)                           \
	X(GOMP_loop_end)                                 \
	X(GOMP_loop_end_cancel)                          \
	X(GOMP_sections_end)                             \
	X(GOMP_sections_end_cancel)                      \
	X(GOMP_critical_start)                           \
	X(GOMP_critical_name_start)                      \
	X(GOMP_atomic_start)                             \
	X(GOMP_ordered_start)                            \
	X(GOMP_taskwait)                                 \
	X(GOMP_taskgroup_end)                            \
	X(GOMP_task)                                     \
	X(GOMP_taskloop)                                 \
	X(GOMP_taskloop_ull)                             \
	X(omp_set_lock)                                  \
	X(omp_set_lock_)                                 \
	X(omp_set_nest_lock)                             \
	X(omp_set_nest_lock_)                            \
	X(omp_get_num_threads)

enum gomp_function {
#define X(name) GOMP_INDEX_##name,
	GOMP_FUNCTIONS(X)
#undef X
		GOMP_FUNCTION_COUNT
};

struct gomp_real {
	void (*function)(void); /* NULL: there is none */
	bool is_silent;		/* it is not GNU's */
};

/* For a call from the code at `caller`. The calling thread's first of a library asks the loader. */
struct gomp_real gomp_find(enum gomp_function function, void *caller);

#endif
