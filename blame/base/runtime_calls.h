/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_calls.h - a call into a GPU's runtime is one thing, whatever it calls inside: who compiles a kernel
 * is to blame, and not the hundred functions of the compiler (S3 table I, S0 8.5).
 *
 *   main;set_up;cudaMalloc;libcuda.so.1+0x..;ioctl   ->  main;set_up;cudaMalloc
 *   main;set_up;libpocl.so.2+0x..;...;llvm::parseIR  ->  main;set_up           its entry has no name
 */
#ifndef BLAME_RUNTIME_CALLS_H
#define BLAME_RUNTIME_CALLS_H

#include "blame/base/exact_share.h"

/* The context of the outermost such call on the context's path; the context itself where there is none. */
uint32_t runtime_calls_context(const struct run *run, uint32_t context);
/* Is it a runtime's, a GPU's or MPI's? */
bool runtime_calls_is_call(const struct run_function *function);
/* Where a thread is that was sampled in `context`, once the synchronization at `wait` is over, which had
 * begun before: at the caller of what it waited in, if the sample was taken in there; elsewhere it stays.
 * What it runs since then only its next sample tells.
 *
 *   wait      main;solve;cudaDeviceSynchronize         main;finish      (without the call)
 *   sampled   main;solve;cudaDeviceSynchronize;poll    main;finish;clFinish;poll
 *   after     main;solve                               main;finish
 */
uint32_t runtime_calls_after(const struct run *run, uint32_t context, uint32_t wait);
/* The same of all shares, in place, where rows are functions; the selector wants what it wanted. */
void runtime_calls_fold(const struct run *run, struct exact_share *shares, size_t count,
	const struct select *select, enum row_key_by by);

#endif
