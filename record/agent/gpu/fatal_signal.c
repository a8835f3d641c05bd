/* SPDX-License-Identifier: Apache-2.0 */
/* fatal_signal.c - see fatal_signal.h. The handler runs in a thread that may hold any lock, also of the
 * runtime and of libc: it calls gpu_save, which waits on a futex, and system calls. */
#include "record/agent/gpu/fatal_signal.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/gpu/gpu.h"
#include "record/agent/process/process.h"

static const int watched[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGTERM, SIGXCPU};

static _Atomic bool is_watching;

static bool is_watched(int number)
{
	for (unsigned i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		if (watched[i] == number)
			return true;
	return false;
}

/* The instruction faults again when the handler returns, and the kernel then tells the cause as it was. */
static bool faults_again(int number, const siginfo_t *info)
{
	return info->si_code > 0 &&
	       (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL);
}

static void handle(int number, siginfo_t *info, void *context)
{
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	int error = errno;

	(void)context;
	gpu_save();
	REAL(sigaction)(number, &plain, NULL);
	/* The same signal once more, blocked until the handler returns. */
	if (!faults_again(number, info) &&
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info))
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
	errno = error;
}

void fatal_signal_hide(int number, struct sigaction *action)
{
	if (action->sa_handler != SIG_DFL || !atomic_load(&is_watching) || !is_watched(number))
		return;
	action->sa_sigaction = handle;
	action->sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigemptyset(&action->sa_mask);
}

void fatal_signal_reveal(struct sigaction *old)
{
	if (old->sa_sigaction == handle)
		*old = (struct sigaction){.sa_handler = SIG_DFL};
}

void fatal_signal_renew(int number)
{
	struct sigaction action;

	if (!atomic_load(&is_watching) || !is_watched(number) || REAL(sigaction)(number, NULL, &action) ||
		action.sa_handler != SIG_DFL)
		return;
	fatal_signal_hide(number, &action);
	REAL(sigaction)(number, &action, NULL);
}

void fatal_signal_watch(void)
{
	if (atomic_exchange(&is_watching, true))
		return;
	for (unsigned i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		fatal_signal_renew(watched[i]);
}
