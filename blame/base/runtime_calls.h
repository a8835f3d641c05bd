/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_calls.h - treats a call into a GPU runtime as one unit, whatever it calls inside: the caller that
 * compiles a kernel is to blame, not the hundred functions of the compiler (S3 table I, S0 8.5).
 *
 *   main;set_up;cudaMalloc;libcuda.so.1+0x..;ioctl   ->  main;set_up;cudaMalloc
 *   main;set_up;libpocl.so.2+0x..;...;llvm::parseIR  ->  main;set_up           its entry has no name
 */
#ifndef BLAME_RUNTIME_CALLS_H
#define BLAME_RUNTIME_CALLS_H

#include "blame/base/exact_share.h"

/* The context of the outermost such call on the context's path; without one the context itself. */
uint32_t runtime_calls_context(const struct run *run, uint32_t context);
/* True for a function of a GPU runtime or of MPI. */
bool runtime_calls_is_call(const struct run_function *function);
/* The context of a thread that was sampled in `context` once the synchronization at `wait`, which began
 * before, has ended: the caller of the synchronization, if the sample was taken inside; otherwise unchanged.
 * Only its next sample tells what it runs then.
 *
 *   wait      main;solve;cudaDeviceSynchronize         main;finish      (without the call)
 *   sampled   main;solve;cudaDeviceSynchronize;poll    main;finish;clFinish;poll
 *   after     main;solve                               main;finish */
uint32_t runtime_calls_after(const struct run *run, uint32_t context, uint32_t wait);
/* Applies runtime_calls_context() to all shares, in place, if rows are functions; the selector still applies
 * to the original contexts. */
void runtime_calls_fold(const struct run *run, struct exact_share *shares, size_t count,
	const struct select *select, enum row_key_by by);

#endif
