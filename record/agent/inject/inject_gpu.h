/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_gpu.h - GPU runtimes of a process that an agent comes to later. They know the driver by descriptors
 * of the program's, which the agent's own thread does not have: another thread speaks to them, where a driver
 * is loaded when the agent comes.
 */
#ifndef RECORD_AGENT_INJECT_GPU_H
#define RECORD_AGENT_INJECT_GPU_H

#include <stdbool.h>
#include <stdint.h>

#define INJECT_GPU_THREAD \
	"hpct-gpu" /* its name, and that of threads that it, or the runtime for it, begins */

/* Before the agent's thread gives up the program's descriptors. */
void inject_gpu_init(void);
/* The process is measured: begins. Does not wait. */
void inject_gpu_begin(void);
/* Ends it, and waits for that; also where it has not begun. The process must still be measured. */
void inject_gpu_end(void);

#endif
