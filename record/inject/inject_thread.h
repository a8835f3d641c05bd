/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject_thread.h - one thread of another process, stopped by ptrace, made to call functions, and let go as
 * it was: registers, signal mask, errno, and the call of the kernel that it waits in.
 *
 *   inject_thread_stop - inject_thread_release
 *   inject_thread_stop - inject_thread_begin - inject_thread_write - inject_thread_call
 *
 * A call runs as a signal handler would: below the stack pointer lies the frame that sigreturn takes. So the
 * thread restores itself, whatever becomes of this process. Only where it waited in a call of the kernel,
 * which knows how long that still has to last, and whether a signal that came meanwhile ends it, the thread
 * is watched up to the call's end.
 */
#ifndef RECORD_INJECT_THREAD_H
#define RECORD_INJECT_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "record/agent/base/arch.h"

#define INJECT_DATA_BYTES 8192u

struct inject_thread {
	uint32_t pid, tid;
	int memory; /* descriptor of the process's; -1: none */
	long call;  /* of the kernel, in which it was stopped; negative: none */
	struct user_regs_struct registers;
	/* From inject_thread_begin on. */
	uint64_t mask;
	uint64_t restore;     /* code that makes the call of sigreturn */
	uint64_t frame, data; /* of the handler; INJECT_DATA_BYTES for the arguments of calls */
	int64_t error_offset;
	int error;
	struct {
		size_t bytes;
		_Alignas(64) unsigned char state[16384];
	} vector;
};

/* Stops the thread `tid` of `pid`. 0, or an errno; ESRCH: it is gone, EAGAIN: it cannot be stopped now, and
 * goes on. */
int inject_thread_stop(struct inject_thread *thread, uint32_t pid, uint32_t tid);

/* Its registers, as the unwinder wants them. */
void inject_thread_registers(const struct inject_thread *thread, struct arch_registers *registers);

/* True if the stop has interrupted a wait of the kernel. */
bool inject_thread_waits(const struct inject_thread *thread);

/* Prepares calls. restore: code that makes the call of sigreturn; error_offset: of errno from the thread's
 * pointer. False: its stack has no room for that. */
bool inject_thread_begin(struct inject_thread *thread, uint64_t restore, int64_t error_offset);

/* Writes at `offset` of the data. False: it cannot. */
bool inject_thread_write(struct inject_thread *thread, size_t offset, const void *from, size_t bytes);

/* Makes the thread call function(first, second) and go on with what it did; lets it go. False: it was let go
 * as it was, or has ended. */
bool inject_thread_call(struct inject_thread *thread, uint64_t function, uint64_t first, uint64_t second);

/* Lets the thread go as it is. */
void inject_thread_release(struct inject_thread *thread);

#endif
