/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_unwind.h - the call path of a thread that has been blocked for long, from outside: the kernel tells
 * its stack pointer and place (/proc/PID/task/TID/syscall), the agent's unwinder walks its stack through
 * process_vm_readv. So a hang can be read while it hangs. The thread is neither stopped nor interrupted.
 *
 *   blocked for REMOTE_UNWIND_AFTER_NS --remote_unwind_look--> context --waits--> the open span shows it
 *
 * Nobody will tell where a thread sleeps that is in no wrapper, as in a system call of GNU OpenMP's own: it
 * is looked at after REMOTE_UNWIND_PATHLESS_NS, as far as that costs no more than REMOTE_UNWIND_SHARE of a
 * processor.
 *
 * Only stack pointer and place are known: a frame that is found through another register ends the walk, and
 * the path is partial.
 */
#ifndef RECORD_REMOTE_UNWIND_H
#define RECORD_REMOTE_UNWIND_H

#include "record/process/process.h"

#define REMOTE_UNWIND_AFTER_NS UINT64_C(1000000000)
#define REMOTE_UNWIND_PATHLESS_NS UINT64_C(10000000)
#define REMOTE_UNWIND_SHARE 100 /* one part of so many */

struct remote_unwind; /* modules of one process as read from outside */

/* Looks at the threads of `process` that are blocked for long enough, each once in a wait; a few per call,
 * of deep ones fewer. The first refusal is kept as the run's meta `stacks_refused`. Not 0: it looked at some,
 * there is news. */
size_t remote_unwind_look(struct measured_process *process, struct store_writer *writer, uint64_t now_ns);
void remote_unwind_free(struct remote_unwind *remote);

#endif
