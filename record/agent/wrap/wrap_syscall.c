/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_syscall.c - system calls by libc's syscall(): calls with a wrapper go through that, and waits of
 * runtimes with their own locks are recorded here. A call may create a child that continues on this very
 * stack (a vfork by another name), where none of our data may be then: so syscall() is left by a jump.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/arch.h"
#include "record/agent/base/real.h"
#include "record/agent/base/safe_read.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/environment.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/wrap/sandbox.h"
#include "record/agent/wrap/wait.h"

#ifndef FUTEX_LOCK_PI2 /* Linux 5.14 */
#define FUTEX_LOCK_PI2 13
#endif

static bool is_futex_wait(long number, long operation)
{
	operation &= FUTEX_CMD_MASK;
	return number == SYS_futex && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
					      operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2);
}

/* seccomp's modes in prctl's numbers. */
static unsigned long seccomp_mode(long operation)
{
	if (operation == SECCOMP_SET_MODE_STRICT)
		return SECCOMP_MODE_STRICT;
	return operation == SECCOMP_SET_MODE_FILTER ? SECCOMP_MODE_FILTER : SECCOMP_MODE_DISABLED;
}

static long call_seccomp(long operation, long flags, long filter)
{
	bool locks = sandbox_begin(seccomp_mode(operation), (const void *)filter);
	long result = REAL(syscall)(SYS_seccomp, operation, flags, filter);

	/* A positive result is a thread that could not be synchronized, or the descriptor of a listener:
	 * with that, all are. */
	if (locks && (result < 0 || (result && !(flags & SECCOMP_FILTER_FLAG_NEW_LISTENER))))
		sandbox_failed();
	return result;
}

/* True for a fork by another name. False for threads, and children that share our memory. */
static bool makes_child(long number, const long a[6])
{
	uint64_t flags = 0;

#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	if (number == SYS_clone)
		flags = (uint64_t)a[0];
	else if (number != SYS_clone3 || !safe_read(&flags, (const void *)a[0], sizeof(flags)))
		return false;
	return !(flags & CLONE_VM);
}

static long call_clone(long number, const long a[6])
{
	uint64_t since_ns = process_is_live() ? process_now_ns() : 0;
	long child = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	wrap_process_born((pid_t)child, since_ns);
	return child;
}

/* struct sigaction of the kernel; libc's has a longer mask and another order. */
struct kernel_action {
	void (*handler)(int);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* rt_sigaction of our signals, bypassing libc: a program that resets all of them (Chromium's children)
 * would die of the next sample. In a separate function, since its frame is large and handlers call
 * syscall() with hardly any stack. */
__attribute__((noinline)) static long call_sigaction(const long a[6])
{
	struct kernel_action given = {0};
	struct kernel_action had = {0};
	struct sigaction action = {0};
	struct sigaction before;
	bool is_set = a[1] != 0;

	if ((is_set && !safe_read(&given, (const void *)a[1], sizeof(given))) ||
		(a[2] && !safe_read(&had, (const void *)a[2], sizeof(had)))) {
		errno = EFAULT;
		return -1;
	}
	action.sa_handler = given.handler;
	action.sa_flags = (int)given.flags;
	memcpy(&action.sa_mask, &given.mask, sizeof(given.mask));
	if (sigaction((int)a[0], is_set ? &action : NULL, &before))
		return -1;
	if (a[2]) {
		had = (struct kernel_action){
			.handler = before.sa_handler, .flags = (uint32_t)before.sa_flags};
		memcpy(&had.mask, &before.sa_mask, sizeof(had.mask));
		memcpy((void *)a[2], &had, sizeof(had));
	}
	return 0;
}

/* Calls that must not bypass their wrappers: an exec without preparation dies of the next sample, and an
 * exit that is not seen has no last record. False: another call. */
__attribute__((noinline)) static bool call_known(long number, const long a[6], long *result)
{
	switch (number) {
	case SYS_execve:
		if (a[3] == ENVIRONMENT_LEFT)
			return false;
		*result = execve((const char *)a[0], (char **)a[1], (char **)a[2]);
		return true;
	case SYS_execveat:
		*result = execveat((int)a[0], (const char *)a[1], (char **)a[2], (char **)a[3], (int)a[4]);
		return true;
	case SYS_sigaltstack:
		*result = sigaltstack((const stack_t *)a[0], (stack_t *)a[1]);
		return true;
	case SYS_exit_group:
		_exit((int)a[0]);
	case SYS_exit:
		wrap_thread_over();
		return false;
	default:
		return false;
	}
}

/* True if the child that it creates continues on its parent's stack. */
static bool shares_stack(long number, long a, long b)
{
	struct clone_args how = {0};

#ifdef SYS_vfork
	if (number == SYS_vfork)
		return true;
#endif
	if (number == SYS_clone)
		return (a & CLONE_VM) && !b;
	return number == SYS_clone3 && safe_read(&how, (const void *)a, CLONE_ARGS_SIZE_VER0) &&
	       (how.flags & CLONE_VM) && !how.stack;
}

/* The address to jump to for such a call; NULL: wrap_syscall_call. */
void *wrap_syscall_direct(long number, long a, long b) __attribute__((visibility("hidden")));
void *wrap_syscall_direct(long number, long a, long b)
{
	return shares_stack(number, a, b) ? (void *)(uintptr_t)REAL(syscall) : NULL;
}

/* All other calls. Variadic, as the caller may pass fewer arguments: the words after them are its own and
 * may be read, but not written. */
long wrap_syscall_call(long number, ...) __attribute__((visibility("hidden")));
long wrap_syscall_call(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (is_futex_wait(number, a[1]))
		return WAIT(syscall, (number, a[0], a[1], a[2], a[3], a[4], a[5]));
	if (number == SYS_seccomp)
		return call_seccomp(a[0], a[1], a[2]);
	if (number == SYS_prctl && a[0] == PR_SET_SECCOMP)
		return prctl((int)a[0], a[1], a[2], a[3], a[4]);
	if (makes_child(number, a))
		return call_clone(number, a);
	if (call_known(number, a, &a[0]))
		return a[0];
	if (number == SYS_rt_sigaction && a[3] == sizeof(uint64_t) && signal_guard_of((int)a[0]))
		return call_sigaction(a);
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* In assembly: a compiler could put data on the stack where such a child would overwrite it. */
__asm__(".text\n"
	".p2align 4\n"
	".globl syscall\n"
	".type syscall, %function\nsyscall:\n\t"
	".cfi_startproc\n\t" ARCH_SYSCALL_ENTRY(
		"wrap_syscall_direct", "wrap_syscall_call") ".cfi_endproc\n\t"
							    ".size syscall, . - syscall\n");
