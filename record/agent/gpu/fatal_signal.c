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

static void handle(int number, siginfo_t *info, void *context)
{
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	int error = errno;

	(void)context;
	gpu_save();
	REAL(sigaction)(number, &plain, NULL);
	/* The same signal once more, with its cause, blocked until the handler returns. */
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info))
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
	errno = error;
}

void fatal_signal_hide(int number, struct sigaction *action)
{
	if (action->sa_handler != SIG_DFL || !atomic_load(&is_watching) || !is_watched(number))
		return;
	action->sa_sigaction = handle;
	action->sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigemptyset(&action->sa_mask);
}

void fatal_signal_reveal(struct sigaction *old)
{
	if (old->sa_sigaction == handle)
		*old = (struct sigaction){.sa_handler = SIG_DFL};
}

void fatal_signal_renew(int number)
{
	struct sigaction action, before;

	if (!atomic_load(&is_watching) || !is_watched(number) || REAL(sigaction)(number, NULL, &action) ||
		action.sa_handler != SIG_DFL)
		return;
	fatal_signal_hide(number, &action);
	/* Another thread may have set an action of the program's in between. */
	if (!REAL(sigaction)(number, &action, &before) && before.sa_handler != SIG_DFL &&
		before.sa_sigaction != handle)
		REAL(sigaction)(number, &before, NULL);
}

void fatal_signal_watch(void)
{
	if (atomic_exchange(&is_watching, true))
		return;
	for (unsigned i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		fatal_signal_renew(watched[i]);
}
