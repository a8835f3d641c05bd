/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmp.h - what is an OpenMP runtime's and what is the program's, by name and file. Distributions strip the
 * runtimes: of what waits in there no name is left; and in a barrier threads run the tasks that are there.
 *
 *   main;GOMP_parallel;libgomp.so.1+0x1f780                                   waits
 *   main;GOMP_parallel;libgomp.so.1+0x1cfd0;pthread_create                    works: it begins a thread
 *   main;__kmpc_barrier;libomp.so.5+0x78dc0;.omp_task_entry.;sort             works: a task
 */
#ifndef BLAME_OPENMP_H
#define BLAME_OPENMP_H

#include "timeline/run/run.h"

/* Is it the runtime's, GNU's, LLVM's or Intel's? */
bool openmp_is_own(const struct run_function *function);
/* Is it the runtime's, and nameless? */
bool openmp_is_nameless(const struct run_function *function);
/* Is it the program's, where `own` calls it? */
bool openmp_is_program(const struct run_function *function, const struct run_function *own);

#endif
