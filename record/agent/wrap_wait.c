/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_wait.c - calls that wait for the kernel: descriptors, children, time. Each
 * is libc's own between two looks at the clock; locks and the like are in
 * wrap_lock.c. Calls that also take a signal mask are in wrap_signal.c.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/guard.h"
#include "record/agent/io.h"
#include "record/agent/peek.h"
#include "record/agent/real.h"
#include "record/agent/sandbox.h"
#include "record/agent/wait.h"
#include "record/agent/wrap.h"

/* Those that move bytes tell how many; all have the descriptor first. */
#define MOVES(direction, type, name, parameters, arguments)                    \
	WRAPPER type name parameters                                           \
	{                                                                      \
		return IO(name, arguments, fd, TALLY_IO_##direction, result_); \
	}

/* ---- descriptors ---- */

MOVES(READ, ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes))
MOVES(READ, ssize_t, __read_chk, (int fd, void *to, size_t bytes, size_t room), (fd, to, bytes, room))
MOVES(READ, ssize_t, readv, (int fd, const struct iovec *to, int count), (fd, to, count))
MOVES(READ, ssize_t, pread, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))
MOVES(READ, ssize_t, pread64, (int fd, void *to, size_t bytes, off64_t at), (fd, to, bytes, at))
MOVES(READ, ssize_t, __pread_chk, (int fd, void *to, size_t bytes, off_t at, size_t room),
	(fd, to, bytes, at, room))
MOVES(READ, ssize_t, __pread64_chk, (int fd, void *to, size_t bytes, off64_t at, size_t room),
	(fd, to, bytes, at, room))
MOVES(READ, ssize_t, preadv, (int fd, const struct iovec *to, int count, off_t at), (fd, to, count, at))
MOVES(WRITTEN, ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes))
MOVES(WRITTEN, ssize_t, writev, (int fd, const struct iovec *from, int count), (fd, from, count))
MOVES(WRITTEN, ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at))
MOVES(WRITTEN, ssize_t, pwrite64, (int fd, const void *from, size_t bytes, off64_t at), (fd, from, bytes, at))
MOVES(WRITTEN, ssize_t, pwritev, (int fd, const struct iovec *from, int count, off_t at),
	(fd, from, count, at))
WAITS(int, fsync, (int fd), (fd))
WAITS(int, fdatasync, (int fd), (fd))
WAITS(int, flock, (int fd, int operation), (fd, operation))

WAITS(int, accept, (int fd, __SOCKADDR_ARG peer, socklen_t *bytes), (fd, peer, bytes))
WAITS(int, accept4, (int fd, __SOCKADDR_ARG peer, socklen_t *bytes, int flags), (fd, peer, bytes, flags))
WAITS(int, connect, (int fd, __CONST_SOCKADDR_ARG peer, socklen_t bytes), (fd, peer, bytes))
MOVES(READ, ssize_t, recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags))
MOVES(READ, ssize_t, __recv_chk, (int fd, void *to, size_t bytes, size_t room, int flags),
	(fd, to, bytes, room, flags))
MOVES(READ, ssize_t, recvfrom,
	(int fd, void *to, size_t bytes, int flags, __SOCKADDR_ARG peer, socklen_t *peer_bytes),
	(fd, to, bytes, flags, peer, peer_bytes))
MOVES(READ, ssize_t, __recvfrom_chk,
	(int fd, void *to, size_t bytes, size_t room, int flags, __SOCKADDR_ARG peer, socklen_t *peer_bytes),
	(fd, to, bytes, room, flags, peer, peer_bytes))
MOVES(READ, ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
WAITS(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
	(fd, messages, count, flags, timeout))
MOVES(WRITTEN, ssize_t, send, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags))
MOVES(WRITTEN, ssize_t, sendto,
	(int fd, const void *from, size_t bytes, int flags, __CONST_SOCKADDR_ARG peer, socklen_t peer_bytes),
	(fd, from, bytes, flags, peer, peer_bytes))
MOVES(WRITTEN, ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))

WAITS(int, poll, (struct pollfd * set, nfds_t count, int timeout), (set, count, timeout))
WAITS(int, __poll_chk, (struct pollfd * set, nfds_t count, int timeout, size_t bytes),
	(set, count, timeout, bytes))
WAITS(int, select, (int count, fd_set *reading, fd_set *writing, fd_set *excepting, struct timeval *timeout),
	(count, reading, writing, excepting, timeout))
WAITS(int, epoll_wait, (int fd, struct epoll_event *events, int most, int timeout),
	(fd, events, most, timeout))

/* ---- time and signals ---- */

/* No wait: nobody else may want the core. */
WRAPPER int sched_yield(void)
{
	int result = REAL(sched_yield)();
	struct thread *t = thread_self();

	if (t && t->source == &source_timer && process_now_ns() >= t->catch_up_ns)
		wait_yielded(t);
	return result;
}

WAITS(int, nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest))
WAITS(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),
	(clock, flags, time, rest))
WAITS(int, usleep, (useconds_t us), (us))
WAITS(unsigned, sleep, (unsigned seconds), (seconds))
WAITS(int, thrd_sleep, (const struct timespec *time, struct timespec *rest), (time, rest))
WAITS(int, pause, (void), ())

/* ---- children ---- */

WAITS(pid_t, wait, (int *status), (status))
WAITS(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage))
WAITS(pid_t, wait4, (pid_t child, int *status, int options, struct rusage *usage),
	(child, status, options, usage))
WAITS(pid_t, waitpid, (pid_t child, int *status, int options), (child, status, options))
WAITS(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))

/* ---- runtimes with locks of their own ---- */

static bool is_futex_wait(long number, long operation)
{
	operation &= FUTEX_CMD_MASK;
	return number == SYS_futex && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
					      operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2);
}

/* Its modes as prctl names them. */
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

	/* A thread's id says that this one could not be locked up, a listener's descriptor that all are. */
	if (locks && (result < 0 || (result && !(flags & SECCOMP_FILTER_FLAG_NEW_LISTENER))))
		sandbox_failed();
	return result;
}

/* Is it a fork by another name? Threads, and children that run in our memory, are not. */
static bool makes_child(long number, const long a[6])
{
	uint64_t flags = 0;

#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	if (number == SYS_clone)
		flags = (uint64_t)a[0];
	else if (number != SYS_clone3 || !peek(&flags, (const void *)a[0], sizeof(flags)))
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

/* An action as the kernel has it; libc's has a longer mask and another order. */
struct kernel_action {
	void (*handler)(int);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};

/* rt_sigaction of a signal of ours, past libc's own: a program that resets them all (Chromium's children)
 * would die of the next sample. Apart: its frame is not for handlers, which call syscall() where there is
 * hardly any room. */
__attribute__((noinline)) static long call_sigaction(const long a[6])
{
	struct kernel_action given = {0};
	struct kernel_action had = {0};
	struct sigaction action = {0};
	struct sigaction before;
	bool is_set = a[1] != 0;

	if ((is_set && !peek(&given, (const void *)a[1], sizeof(given))) ||
		(a[2] && !peek(&had, (const void *)a[2], sizeof(had)))) {
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

/* Calls whose wrappers must not be passed over: an exec that nobody has made ready dies of the next sample,
 * who ends unseen has no last one. false: it is none of them. */
__attribute__((noinline)) static bool call_known(long number, const long a[6], long *result)
{
	switch (number) {
	case SYS_execve:
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

WRAPPER long syscall(long number, ...)
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
	if (number == SYS_rt_sigaction && a[3] == sizeof(uint64_t) && guard_of((int)a[0]))
		return call_sigaction(a);
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
