/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/guard.h"
#include "record/agent/own_stack.h"
#include "record/agent/process.h"
#include "record/agent/real.h"
#include "record/agent/source.h"
#include "record/agent/thread.h"

struct guard guards[GUARDS] = {{AGENT_SIGNAL, own_stack_sample}, {SIGTRAP, own_stack_trap}};

struct guard *guard_of(int number)
{
	for (unsigned i = 0; i < GUARDS; i++)
		if (guards[i].number == number && guards[i].is_on)
			return &guards[i];
	return NULL;
}

int guard_install(struct guard *guard, struct sigaction *before)
{
	struct sigaction action = {.sa_sigaction = guard->handle, .sa_flags = SA_SIGINFO | SA_RESTART};

	/* All signals wait while a sample is taken: a handler that leaves by longjmp would leave it open.
	 * No SA_ONSTACK, since the program's alternate stack may be too small for two, unless its own stacks
	 * may be smaller still. */
	memset(&action.sa_mask, 0xff, sizeof(action.sa_mask)); /* libc's, which cancels threads, too */
	if (guard->is_on_stack)
		action.sa_flags |= SA_ONSTACK;
	if (REAL(sigaction)(guard->number, &action, before))
		return -1;
	guard->is_on = true;
	return 0;
}

int guards_open(void)
{
	struct guard *guard = &guards[GUARD_SAMPLES];

	if (guard_install(guard, &guard->program_action))
		return -1;
	guards_unblock();
	return 0;
}

int guards_take_trap(void)
{
	struct guard *guard = &guards[GUARD_TRAP];
	sigset_t set, before;

	if (guard->is_on)
		return 0;
	if (guard_install(guard, &guard->program_action))
		return -1;
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (!REAL(sigprocmask)(SIG_UNBLOCK, &set, &before) && sigismember(&before, SIGTRAP) == 1)
		thread_place.program_masked |= 1u << GUARD_TRAP;
	return 0;
}

void guards_close(void)
{
	struct guard *guard = &guards[GUARD_SAMPLES];

	if (guard->is_on)
		REAL(sigaction)(guard->number, &guard->program_action, NULL);
	guard->is_on = false;
}

void guards_unblock(void)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < GUARDS; i++)
		if (guards[i].is_on)
			set |= UINT64_C(1) << (guards[i].number - 1);
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, sizeof(set));
}

void guard_forward(int number, siginfo_t *info, void *context)
{
	struct sigaction action = guards[GUARD_SAMPLES].program_action;

	if ((thread_place.program_masked & 1u << GUARD_SAMPLES) || action.sa_handler == SIG_DFL ||
		action.sa_handler == SIG_IGN)
		return;
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/* ---- SIGTRAPs of the program's own ---- */

/* Such a one the kernel queues with the thread's own signals, where one of our samples may wait already: it
 * would be dropped, since a signal waits there only once. */
static bool is_for_thread(const siginfo_t *info)
{
	return info->si_code > 0 || info->si_code == SI_TKILL;
}

/* Raises the signal once more, as it came. */
static void raise_again(int number, siginfo_t *info)
{
	long pid = syscall(SYS_getpid);

	if (is_for_thread(info))
		syscall(SYS_rt_tgsigqueueinfo, pid, syscall(SYS_gettid), number, info);
	else
		syscall(SYS_rt_sigqueueinfo, pid, number, info);
}

/* The program's handler, under the mask that it would have had. */
static void handler_run(const struct sigaction *action, int number, siginfo_t *info, ucontext_t *context)
{
	uint64_t mask, own;

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	memcpy(&own, &action->sa_mask, sizeof(own));
	mask |= own;
	if (!(action->sa_flags & SA_NODEFER))
		mask |= UINT64_C(1) << (number - 1);
	mask &= ~(UINT64_C(1) << (AGENT_SIGNAL - 1));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
	if (action->sa_flags & SA_RESETHAND)
		guards[GUARD_TRAP].program_action.sa_handler = SIG_DFL;
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(number, info, context);
	else
		action->sa_handler(number);
}

/* Pending until the program lets it through or waits for it. */
static void trap_keep(int number, siginfo_t *info, ucontext_t *interrupted)
{
	if (is_for_thread(info) && !guards[GUARD_TRAP].is_read) {
		thread_place.trap_waits = TRAP_WAITS_FOR_THREAD;
		thread_place.trap_pid = info->si_pid;
		thread_place.trap_uid = info->si_uid;
	} else if (!thread_place.trap_waits) {
		thread_place.trap_waits = TRAP_WAITS_FOR_PROCESS;
	}
	sigaddset(&interrupted->uc_sigmask, number);
	raise_again(number, info);
}

void guard_forward_trap(int number, siginfo_t *info, void *context, bool is_known)
{
	struct sigaction action = guards[GUARD_TRAP].program_action, standard = {.sa_handler = SIG_DFL};
	bool is_masked = is_known && (thread_place.program_masked & 1u << GUARD_TRAP);
	bool is_forced = info->si_code > 0; /* a trap of the thread's own code: nothing keeps it off */
	ucontext_t *interrupted = context;

	if (is_known)
		thread_place.trap_waits = TRAP_WAITS_NOT; /* the kernel takes the thread's own first */
	if (is_masked && !is_forced) {
		trap_keep(number, info, interrupted);
	} else if (is_masked || action.sa_handler == SIG_DFL || (is_forced && action.sa_handler == SIG_IGN)) {
		REAL(sigaction)(number, &standard, NULL);
		sigdelset(&interrupted->uc_sigmask, number);
		raise_again(number, info);
	} else if (action.sa_handler != SIG_IGN) {
		handler_run(&action, number, info, interrupted);
	}
}

bool guard_trap_dropped(siginfo_t *info)
{
	if (thread_place.trap_waits != TRAP_WAITS_FOR_THREAD)
		return false;
	*info = (siginfo_t){.si_signo = SIGTRAP, .si_code = SI_TKILL};
	info->si_pid = thread_place.trap_pid;
	info->si_uid = thread_place.trap_uid;
	return true;
}

void guard_trap_over(void)
{
	if (!thread_place.trap_waits)
		return;
	thread_place.trap_waits = TRAP_WAITS_NOT;
	guards_unblock();
}

/* ---- exec ---- */

bool guards_exec_hides_trap(void)
{
	const struct guard *guard = &guards[GUARD_TRAP];

	return guard->is_on && guard->program_action.sa_handler != SIG_IGN && process_is_own() &&
	       !source_can_pause();
}

/* The next program gets SIGTRAP as the program has it. */
void guards_exec_begin(bool hide_trap)
{
	const struct guard *guard = &guards[GUARD_TRAP];
	struct sigaction ignored = {.sa_handler = SIG_IGN};
	sigset_t set;

	if (!guard->is_on)
		return;
	if (hide_trap || guard->program_action.sa_handler == SIG_IGN)
		REAL(sigaction)(SIGTRAP, &ignored, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (thread_place.program_masked & 1u << GUARD_TRAP)
		REAL(sigprocmask)(SIG_BLOCK, &set, NULL);
}

void guards_exec_failed(void)
{
	struct guard *guard = &guards[GUARD_TRAP];
	sigset_t set;

	if (!guard->is_on)
		return;
	guard_install(guard, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	REAL(sigprocmask)(SIG_UNBLOCK, &set, NULL);
}
