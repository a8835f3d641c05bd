/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_signal.c - the sampling signal stays deliverable: the program can neither
 * block, handle, ignore nor wait for it, and reads back what it has set all the
 * same. All other signals are the program's own.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/process.h"
#include "record/agent/real.h"
#include "record/agent/sample.h"
#include "record/agent/wait.h"
#include "record/agent/wrap.h"

static bool guarded;			/* our handler is installed */
static struct sigaction program_action; /* what the program believes to have for AGENT_SIGNAL */
static _Atomic uint64_t masked_by;	/* bit s: the program's handler of s blocks AGENT_SIGNAL */

int wrap_signal_open(void)
{
	struct sigaction action = {.sa_sigaction = sample_handle, .sa_flags = SA_SIGINFO | SA_RESTART};

	/* All signals wait while a sample is taken: a handler that leaves by longjmp would leave it open.
	 * No SA_ONSTACK: the program's alternate stack may be too small for two. */
	sigfillset(&action.sa_mask);
	if (REAL(sigaction)(AGENT_SIGNAL, &action, &program_action))
		return -1;
	guarded = true;
	wrap_signal_unblock();
	return 0;
}

void wrap_signal_close(void)
{
	if (guarded)
		REAL(sigaction)(AGENT_SIGNAL, &program_action, NULL);
	guarded = false;
}

void wrap_signal_unblock(void)
{
	uint64_t set = UINT64_C(1) << (AGENT_SIGNAL - 1);

	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, sizeof(set));
}

void wrap_signal_forward(int number, siginfo_t *info, void *context)
{
	struct sigaction action = program_action;

	if (thread_place.program_masked || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
		return;
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
	if (!set || !guarded)
		return set;
	*copy = *set;
	sigdelset(copy, AGENT_SIGNAL);
	return copy;
}

static void member_set(sigset_t *set, bool member)
{
	if (member)
		sigaddset(set, AGENT_SIGNAL);
	else
		sigdelset(set, AGENT_SIGNAL);
}

static int action_of_ours(const struct sigaction *action, struct sigaction *old)
{
	struct sigaction before = program_action;

	if (action)
		program_action = *action;
	if (old)
		*old = before;
	return 0;
}

WRAPPER int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	uint64_t bit = number > 0 && number <= 64 ? UINT64_C(1) << (number - 1) : 0;
	struct sigaction filtered;
	bool was_masked, masks;
	int result;

	if (!guarded || !bit)
		return REAL(sigaction)(number, action, old);
	if (number == AGENT_SIGNAL)
		return action_of_ours(action, old);
	was_masked = atomic_load(&masked_by) & bit;
	masks = action && sigismember(&action->sa_mask, AGENT_SIGNAL) == 1;
	if (action) {
		filtered = *action;
		/* An alternate stack may have no room for our frame: handlers there run unsampled. */
		member_set(&filtered.sa_mask, filtered.sa_flags & SA_ONSTACK);
	}
	result = REAL(sigaction)(number, action ? &filtered : NULL, old);
	if (result)
		return result;
	if (old)
		member_set(&old->sa_mask, was_masked);
	if (masks)
		atomic_fetch_or(&masked_by, bit);
	else if (action)
		atomic_fetch_and(&masked_by, ~bit);
	return 0;
}

WRAPPER sighandler_t signal(int number, sighandler_t handler)
{
	sighandler_t before = program_action.sa_handler;

	if (!guarded || number != AGENT_SIGNAL)
		return REAL(signal)(number, handler);
	program_action = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
	return before;
}

static void program_mask_update(int how, bool named)
{
	if (how == SIG_SETMASK)
		thread_place.program_masked = named;
	else if (named)
		thread_place.program_masked = how == SIG_BLOCK;
}

static int mask_change(
	int (*real_call)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *old)
{
	bool named = set && sigismember(set, AGENT_SIGNAL) == 1, was = thread_place.program_masked,
	     change = set;
	sigset_t copy;
	int result = real_call(how, without_ours(set, &copy), old);

	if (result || !guarded)
		return result;
	if (old)
		member_set(old, was);
	if (change)
		program_mask_update(how, named);
	return 0;
}

WRAPPER int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask_change(REAL(sigprocmask), how, set, old);
}

WRAPPER int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask_change(REAL(pthread_sigmask), how, set, old);
}

WRAPPER int sigwait(const sigset_t *set, int *number)
{
	sigset_t copy;

	return WAIT(sigwait, (without_ours(set, &copy), number));
}

WRAPPER int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t copy;

	return WAIT(sigwaitinfo, (without_ours(set, &copy), info));
}

WRAPPER int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	sigset_t copy;

	return WAIT(sigtimedwait, (without_ours(set, &copy), info, timeout));
}

WRAPPER int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	return REAL(signalfd)(fd, without_ours(set, &copy), flags);
}

WRAPPER int sigpending(sigset_t *set)
{
	int result = REAL(sigpending)(set);

	if (!result && guarded)
		sigdelset(set, AGENT_SIGNAL);
	return result;
}

WRAPPER int sigsuspend(const sigset_t *set)
{
	sigset_t copy;

	return WAIT(sigsuspend, (without_ours(set, &copy)));
}

WRAPPER int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *set)
{
	sigset_t copy;

	return WAIT(ppoll, (fds, count, timeout, without_ours(set, &copy)));
}

WRAPPER int __ppoll_chk(
	struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *set, size_t bytes)
{
	sigset_t copy;

	return WAIT(__ppoll_chk, (fds, count, timeout, without_ours(set, &copy), bytes));
}

WRAPPER int pselect(int count, fd_set *reading, fd_set *writing, fd_set *excepting,
	const struct timespec *timeout, const sigset_t *set)
{
	sigset_t copy;

	return WAIT(pselect, (count, reading, writing, excepting, timeout, without_ours(set, &copy)));
}

WRAPPER int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout, const sigset_t *set)
{
	sigset_t copy;

	return WAIT(epoll_pwait, (fd, events, most, timeout, without_ours(set, &copy)));
}

/* glibc has it since 2.35; a program that calls it knows that it is there. */
WRAPPER int epoll_pwait2(
	int fd, struct epoll_event *events, int most, const struct timespec *timeout, const sigset_t *set)
{
	sigset_t copy;

	if (!REAL(epoll_pwait2)) {
		errno = ENOSYS;
		return -1;
	}
	return WAIT(epoll_pwait2, (fd, events, most, timeout, without_ours(set, &copy)));
}
