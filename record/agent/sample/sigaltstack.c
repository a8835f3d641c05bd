/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigaltstack.c - see sigaltstack.h. When a thread first sets a small stack, all installed handlers are
 * changed to block our signals.
 */
#include "record/agent/sample/sigaltstack.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/source.h"

#define ROOMY_BYTES 32768u /* minimum size of a large stack, such as Ada's and Go's runtimes use */
/* For the program's handler, in addition to two signal frames of the kernel, whose size depends on the
 * processor's registers. */
#define HANDLER_BYTES 8192u

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

_Atomic bool sigaltstack_has_narrow;

static bool is_roomy(const stack_t *stack)
{
	return !(stack->ss_flags & SS_DISABLE) && stack->ss_size >= ROOMY_BYTES &&
	       stack->ss_size >= 2 * getauxval(AT_MINSIGSTKSZ) + HANDLER_BYTES;
}

static void mask_ours(struct sigaction *action)
{
	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on)
			sigaddset(&action->sa_mask, signal_guards[i].number);
}

void sigaltstack_filter(struct sigaction *action)
{
	stack_t now = {.ss_flags = SS_DISABLE};

	if (!(action->sa_flags & SA_ONSTACK)) {
		sigdelset(&action->sa_mask, AGENT_SIGNAL);
		return;
	}
	syscall(SYS_sigaltstack, NULL, &now);
	if (atomic_load(&sigaltstack_has_narrow) || !is_roomy(&now))
		mask_ours(action);
	else
		sigdelset(&action->sa_mask, AGENT_SIGNAL);
}

void sigaltstack_unblock(void)
{
	int error = errno;

	if (!sigaltstack_is_here() && !thread_place.samples_wait && !thread_place.trap_waits)
		signal_guards_unblock();
	errno = error;
}

static void narrow_begin(void)
{
	atomic_store(&sigaltstack_has_narrow, true);
	for (int number = 1; number < _NSIG; number++) {
		struct sigaction action;

		if (signal_guard_of(number) || REAL(sigaction)(number, NULL, &action) ||
			!(action.sa_flags & SA_ONSTACK) || action.sa_handler == SIG_DFL ||
			action.sa_handler == SIG_IGN)
			continue;
		mask_ours(&action);
		REAL(sigaction)(number, &action, NULL);
	}
}

WRAPPER int sigaltstack(const stack_t *stack, stack_t *old)
{
	bool is_narrow = stack && signal_guards[SIGNAL_GUARD_SAMPLES].is_on &&
			 !(stack->ss_flags & SS_DISABLE) && !is_roomy(stack);
	uint64_t low = is_narrow ? (uintptr_t)stack->ss_sp : 0; /* `old` may be at the same address */
	uint64_t high = is_narrow ? low + stack->ss_size : 0;
	bool is_set = stack;
	int result;

	if (is_narrow && !atomic_load(&sigaltstack_has_narrow))
		narrow_begin();
	result = REAL(sigaltstack)(stack, old);
	if (!result && is_set) {
		thread_place.narrow_low = low;
		thread_place.narrow_high = high;
	}
	return result;
}
