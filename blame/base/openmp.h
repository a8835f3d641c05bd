/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmp.h - separates functions of an OpenMP runtime from the program's, by name and file. Distributions
 * strip the runtimes, so waits inside have no names; and threads run pending tasks inside a barrier.
 *
 *   main;GOMP_parallel;libgomp.so.1+0x1f780                                   waits
 *   main;GOMP_parallel;libgomp.so.1+0x1cfd0;pthread_create                    works: it starts a thread
 *   main;__kmpc_barrier;libomp.so.5+0x78dc0;.omp_task_entry.;sort             works: a task
 */
#ifndef BLAME_OPENMP_H
#define BLAME_OPENMP_H

#include "timeline/run/run.h"

/* True for a function of GNU's, LLVM's or Intel's runtime. */
bool openmp_is_own(const struct run_function *function);
/* True for a nameless function of a runtime. */
bool openmp_is_nameless(const struct run_function *function);
/* True for a function of the program that `own`, a runtime's, calls. */
bool openmp_is_program(const struct run_function *function, const struct run_function *own);

#endif
