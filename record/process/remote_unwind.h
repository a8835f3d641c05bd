/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_unwind.h - unwinds a thread that has been blocked for long, from the collector, so that a hang can
 * be read while it lasts. The kernel gives its stack pointer and pc (/proc/PID/task/TID/syscall), and the
 * agent's unwinder reads its stack through process_vm_readv. The thread is neither stopped nor interrupted.
 *
 *   blocked for REMOTE_UNWIND_AFTER_NS --remote_unwind_look--> context --wait_paths--> path of the open span
 *
 * A thread that waits outside all wrappers, as in a system call of GNU OpenMP's own, will never publish its
 * path: it is unwound after REMOTE_UNWIND_PATHLESS_NS, within a budget of REMOTE_UNWIND_SHARE of a processor.
 *
 * Only stack pointer and pc are known: a frame that needs another register ends the walk, and the path is
 * partial.
 */
#ifndef RECORD_REMOTE_UNWIND_H
#define RECORD_REMOTE_UNWIND_H

#include "record/process/process.h"

#define REMOTE_UNWIND_AFTER_NS UINT64_C(1000000000)
#define REMOTE_UNWIND_PATHLESS_NS UINT64_C(10000000)
#define REMOTE_UNWIND_SHARE 100 /* one part in 100 */

struct remote_unwind; /* modules of one process as read from its memory */

/* Unwinds the threads of `process` that are blocked for long enough, each once per wait; a few per call,
 * fewer if stacks are deep. Stores the first refusal as the run's meta `stacks_refused`. Returns how many
 * threads it tried. */
size_t remote_unwind_look(struct measured_process *process, struct store_writer *writer, uint64_t now_ns);
void remote_unwind_free(struct remote_unwind *remote);

#endif
