/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_wait.c - calls that wait for the kernel: descriptors, children, time. Each calls libc's own between
 * two readings of the clock; locks are in wrap_lock.c, calls that also take a signal mask in wrap_signal.c.
 */
#include <sched.h>

#include "record/agent/base/real.h"
#include "record/agent/base/ticks.h"
#include "record/agent/base/wrap.h"
#include "record/agent/wrap/io.h"
#include "record/agent/wrap/wait.h"

/* Calls that move bytes return the number; the descriptor is their first argument. */
#define MOVES(direction, type, name, parameters, arguments)         \
	WRAPPER type name parameters                                \
	{                                                           \
		return IO(name, arguments, fd, direction, result_); \
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
WAITS_FOR(int, fsync, (int fd), (fd), cause_end, "disk", NULL, 0)
WAITS_FOR(int, fdatasync, (int fd), (fd), cause_end, "disk", NULL, 0)
WAITS(int, flock, (int fd, int operation), (fd, operation))

WAITS_FOR(int, accept, (int fd, __SOCKADDR_ARG peer, socklen_t *bytes), (fd, peer, bytes), cause_end,
	"socket", NULL, 0)
WAITS_FOR(int, accept4, (int fd, __SOCKADDR_ARG peer, socklen_t *bytes, int flags), (fd, peer, bytes, flags),
	cause_end, "socket", NULL, 0)
WAITS_FOR(int, connect, (int fd, __CONST_SOCKADDR_ARG peer, socklen_t bytes), (fd, peer, bytes), cause_end,
	"socket", NULL, 0)
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
WAITS_FOR(int, recvmmsg,
	(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
	(fd, messages, count, flags, timeout), cause_end_read, fd)
MOVES(WRITTEN, ssize_t, send, (int fd, const void *from, size_t bytes, int flags), (fd, from, bytes, flags))
MOVES(WRITTEN, ssize_t, sendto,
	(int fd, const void *from, size_t bytes, int flags, __CONST_SOCKADDR_ARG peer, socklen_t peer_bytes),
	(fd, from, bytes, flags, peer, peer_bytes))
MOVES(WRITTEN, ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))

WAITS_FOR(int, poll, (struct pollfd * set, nfds_t count, int timeout), (set, count, timeout), cause_end_poll,
	result_)
WAITS_FOR(int, __poll_chk, (struct pollfd * set, nfds_t count, int timeout, size_t bytes),
	(set, count, timeout, bytes), cause_end_poll, result_)
WAITS_FOR(int, select,
	(int count, fd_set *reading, fd_set *writing, fd_set *excepting, struct timeval *timeout),
	(count, reading, writing, excepting, timeout), cause_end_poll, result_)
WAITS_FOR(int, epoll_wait, (int fd, struct epoll_event *events, int most, int timeout),
	(fd, events, most, timeout), cause_end_poll, result_)

/* ---- time and signals ---- */

#define YIELD_TICKS 65536u /* some 20 us */

/* Threads spin by yields: the clock would double what a turn takes. */
static bool is_clock_due(struct thread *t)
{
	uint64_t ticks;

	if (!atomic_load_explicit(&ticks_scale, memory_order_relaxed))
		return true;
	ticks = ticks_now();
	if (ticks - t->yield_ticks < YIELD_TICKS)
		return false;
	t->yield_ticks = ticks;
	return true;
}

/* No wait: perhaps no other thread needs the core. */
WRAPPER int sched_yield(void)
{
	int result = REAL(sched_yield)();
	struct thread *t = thread_self();

	if (t && t->source == &source_timer && is_clock_due(t) && process_now_ns() >= t->catch_up_ns)
		wait_yielded(t);
	return result;
}

#define SLEEPS(type, name, parameters, arguments) \
	WAITS_FOR(type, name, parameters, arguments, cause_end, "timer", NULL, 0)

SLEEPS(int, nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest))
SLEEPS(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),
	(clock, flags, time, rest))
SLEEPS(int, usleep, (useconds_t us), (us))
SLEEPS(unsigned, sleep, (unsigned seconds), (seconds))
SLEEPS(int, thrd_sleep, (const struct timespec *time, struct timespec *rest), (time, rest))
WAITS(int, pause, (void), ())

/* ---- children ---- */

/* Each returns the child that ended. */
#define REAPS(name, parameters, arguments)                                                     \
	WAITS_FOR(pid_t, name, parameters, arguments, cause_end, result_ > 0 ? "child" : NULL, \
		",pid=", (unsigned long)result_)

REAPS(wait, (int *status), (status))
REAPS(wait3, (int *status, int options, struct rusage *usage), (status, options, usage))
REAPS(wait4, (pid_t child, int *status, int options, struct rusage *usage), (child, status, options, usage))
REAPS(waitpid, (pid_t child, int *status, int options), (child, status, options))
WAITS_FOR(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options),
	cause_end, !result_ && info && info->si_pid ? "child" : NULL,
	",pid=", !result_ && info ? (unsigned long)info->si_pid : 0)
