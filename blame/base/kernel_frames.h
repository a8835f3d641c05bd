/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_frames.h - the program's part of a path that goes on in the kernel. A wait is named by the call that
 * waits, not by the kernel's scheduler, in which all waits end (`-e BLOCKTIME` records the kernel's frames).
 *
 *   main;lock_it;pthread_mutex_lock;futex_wait;schedule  ->  main;lock_it;pthread_mutex_lock
 */
#ifndef BLAME_KERNEL_FRAMES_H
#define BLAME_KERNEL_FRAMES_H

#include "timeline/run/run.h"

/* The innermost context outside the kernel; the context itself where there is none. */
uint32_t kernel_frames_caller(const struct run *run, uint32_t context);

#endif
