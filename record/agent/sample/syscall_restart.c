/* SPDX-License-Identifier: Apache-2.0 */
/* syscall_restart.c - see syscall_restart.h. */
#include "record/agent/sample/syscall_restart.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/arch.h"
#include "record/agent/sample/signal_guard.h"

/* Calls that restart after a handler with SA_RESTART, and return EINTR otherwise; some that always restart
 * look the same. */
static const short restarted[] = {SYS_read, SYS_readv, SYS_pread64, SYS_preadv, SYS_write, SYS_writev,
	SYS_pwrite64, SYS_pwritev, SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg,
	SYS_sendmmsg, SYS_accept, SYS_accept4, SYS_connect, SYS_wait4, SYS_waitid, SYS_fcntl, SYS_flock,
	SYS_splice, SYS_tee, SYS_getrandom, SYS_mq_timedreceive, SYS_mq_timedsend};

static bool is_restarted(long number, long second)
{
	long operation = second & FUTEX_CMD_MASK;

	if (number == SYS_futex)
		return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
	for (unsigned i = 0; i < sizeof(restarted) / sizeof(*restarted); i++)
		if (restarted[i] == number)
			return true;
	return false;
}

#define BIT(number) (UINT64_C(1) << ((number)-1))

/* The flags of a handler of the program for one of those signals, excluding ours; false: none. */
static bool handler_flags(uint64_t signals, uint64_t *flags)
{
	uint64_t action[4]; /* struct sigaction of the kernel: handler, flags */

	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on)
			signals &= ~BIT(signal_guards[i].number);
	for (; signals; signals &= signals - 1) {
		if (syscall(SYS_rt_sigaction, __builtin_ctzll(signals) + 1, NULL, action, sizeof(signals)))
			continue;
		if (action[0] == (uintptr_t)SIG_DFL || action[0] == (uintptr_t)SIG_IGN)
			continue;
		*flags = action[1];
		return true;
	}
	return false;
}

/* The flags of the program's handler that runs right after ours; false: none. */
static bool next_flags(const ucontext_t *context, uint64_t *flags)
{
	uint64_t pending = 0, blocked;

	memcpy(&blocked, &context->uc_sigmask, sizeof(blocked));
	syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	return handler_flags(pending & ~blocked, flags);
}

/* True if the program has a handler that may end a wait: it may just have done so, since a sample taken
 * while a handler returns looks like one that ended the wait itself. Ignores handlers for faults, and
 * libc's two internal signals, which end a thread or change its user. */
static bool has_handler(void)
{
	static const uint64_t others = BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) |
				       BIT(SIGKILL) | BIT(SIGSTOP) | BIT(32) | BIT(33);
	uint64_t flags;

	return handler_flags(~others, &flags);
}

static bool may_end(const ucontext_t *context)
{
	return arch_call_restarts(context) &&
	       is_restarted(arch_call_number(context), arch_call_second(context));
}

#define RING_LINK "anon_inode:[io_uring]"

/* True for an io_uring descriptor: no other call takes one and waits. */
static bool is_ring(int descriptor)
{
	char path[32] = "/proc/self/fd/", link[sizeof(RING_LINK)];
	size_t at = strlen(path);
	unsigned divisor = 1;
	bool result;
	int error = errno;

	if (descriptor < 0)
		return false;
	while ((unsigned)descriptor / divisor >= 10)
		divisor *= 10;
	for (; divisor; divisor /= 10)
		path[at++] = (char)('0' + (unsigned)descriptor / divisor % 10);
	path[at] = '\0';
	result = syscall(SYS_readlinkat, AT_FDCWD, path, link, sizeof(link)) == sizeof(RING_LINK) - 1 &&
		 !memcmp(link, RING_LINK, sizeof(RING_LINK) - 1);
	errno = error;
	return result;
}

void syscall_restart_settle_call(ucontext_t *context)
{
	uint64_t flags;

	if (is_ring(arch_ring_wait_ended(context)) && !has_handler())
		arch_ring_wait_again(context);
	else if (may_end(context) && next_flags(context, &flags) && !(flags & SA_RESTART))
		arch_call_interrupt(context);
}

void syscall_restart_by(ucontext_t *context, uint64_t flags)
{
	if (!(flags & SA_RESTART) && may_end(context))
		arch_call_interrupt(context);
}
