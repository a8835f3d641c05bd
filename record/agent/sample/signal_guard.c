/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/base/real.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/handler_stack.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/source.h"
#include "record/agent/sample/syscall_restart.h"
#include "record/agent/sample/thread.h"

struct signal_guard signal_guards[SIGNAL_GUARD_COUNT] = {
	{AGENT_SIGNAL, handler_stack_sample}, {SIGTRAP, handler_stack_trap}};

struct signal_guard *signal_guard_of(int number)
{
	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].number == number && signal_guards[i].is_on)
			return &signal_guards[i];
	return NULL;
}

int signal_guard_install(struct signal_guard *guard, struct sigaction *before)
{
	struct sigaction action = {.sa_sigaction = guard->handle, .sa_flags = SA_SIGINFO | SA_RESTART};

	/* Blocks all signals while a sample is taken: a handler that leaves by longjmp would leave the
	 * ring entered. Without SA_ONSTACK, since the program's alternate stack may be too small for two
	 * frames, unless its own stacks may be smaller still. */
	memset(&action.sa_mask, 0xff, sizeof(action.sa_mask)); /* includes libc's internal signals, which
								  cancel threads */
	if (guard->is_on_stack)
		action.sa_flags |= SA_ONSTACK;
	if (REAL(sigaction)(guard->number, &action, before))
		return -1;
	guard->is_on = true;
	return 0;
}

/* Installs it for the first time; keeps the action that the program inherited. */
static int signal_guard_open(unsigned i)
{
	struct signal_guard *guard = &signal_guards[i];
	sigset_t set, before;

	if (signal_guard_install(guard, &guard->program_action))
		return -1;
	sigemptyset(&set);
	sigaddset(&set, guard->number);
	if (!REAL(sigprocmask)(SIG_UNBLOCK, &set, &before) && sigismember(&before, guard->number) == 1)
		thread_place.program_masked |= (uint8_t)(1u << i);
	return 0;
}

int signal_guards_open(void)
{
	return signal_guard_open(SIGNAL_GUARD_SAMPLES);
}

int signal_guards_take_trap(void)
{
	return signal_guards[SIGNAL_GUARD_TRAP].is_on ? 0 : signal_guard_open(SIGNAL_GUARD_TRAP);
}

/* Keeps SA_ONSTACK: Erlang itself ensures that all handlers run on alternate stacks. */
void signal_guards_reinstall(void)
{
	struct sigaction now;

	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++) {
		struct signal_guard *guard = &signal_guards[i];

		if (!guard->is_on || REAL(sigaction)(guard->number, NULL, &now))
			continue;
		guard->is_on_stack |= (now.sa_flags & SA_ONSTACK) != 0;
		if (now.sa_sigaction != guard->handle && !signal_guard_install(guard, NULL))
			guard->program_action = now;
	}
}

void signal_guards_close(void)
{
	struct signal_guard *guard = &signal_guards[SIGNAL_GUARD_SAMPLES];

	if (guard->is_on)
		REAL(sigaction)(guard->number, &guard->program_action, NULL);
	guard->is_on = false;
}

void signal_guards_unblock(void)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on)
			set |= UINT64_C(1) << (signal_guards[i].number - 1);
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, sizeof(set));
}

static void masked_set(int how)
{
	sigset_t set;

	if (!thread_place.program_masked)
		return;
	sigemptyset(&set);
	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on && (thread_place.program_masked & 1u << i))
			sigaddset(&set, signal_guards[i].number);
	REAL(sigprocmask)(how, &set, NULL);
}

void signal_guards_hold(void)
{
	masked_set(SIG_BLOCK);
}

void signal_guards_let_go(void)
{
	masked_set(SIG_UNBLOCK);
}

/* ---- the program's own signals ---- */

/* The kernel queues such a signal in the thread's own queue, where one of our samples may be pending: then
 * it drops this one, since each signal is queued there only once. */
static bool is_for_thread(const siginfo_t *info)
{
	return info->si_code > 0 || info->si_code == SI_TKILL;
}

/* Raises the signal again with the same siginfo. */
static void raise_again(int number, siginfo_t *info)
{
	long pid = syscall(SYS_getpid);

	if (is_for_thread(info))
		syscall(SYS_rt_tgsigqueueinfo, pid, syscall(SYS_gettid), number, info);
	else
		syscall(SYS_rt_sigqueueinfo, pid, number, info);
}

static uint64_t bit_of(int number)
{
	return UINT64_C(1) << (number - 1);
}

/* Calls the program's handler with the mask that it would have had. */
static void handler_run(struct signal_guard *guard, siginfo_t *info, ucontext_t *context)
{
	struct sigaction action = guard->program_action;
	uint64_t mask, own;

	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	memcpy(&own, &action.sa_mask, sizeof(own));
	mask |= own;
	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on)
			mask &= ~bit_of(signal_guards[i].number);
	if (!(action.sa_flags & SA_NODEFER))
		mask |= bit_of(guard->number);
	syscall_restart_by(context, (uint64_t)action.sa_flags);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
	if (action.sa_flags & SA_RESETHAND)
		guard->program_action.sa_handler = SIG_DFL;
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(guard->number, info, context);
	else
		action.sa_handler(guard->number);
}

/* Performs the default action. */
static void default_run(int number, siginfo_t *info, ucontext_t *context)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};

	REAL(sigaction)(number, &standard, NULL);
	sigdelset(&context->uc_sigmask, number);
	raise_again(number, info);
}

/* ---- AGENT_SIGNALs ---- */

#define QUEUED_MOST 6

/* Takes the next from the queue. False: empty. */
static bool queue_take(siginfo_t *info)
{
	const struct timespec none = {0, 0};
	uint64_t set = bit_of(AGENT_SIGNAL);

	return syscall(SYS_rt_sigtimedwait, &set, info, &none, sizeof(set)) == AGENT_SIGNAL;
}

/* Takes all signals off the queue, drops ours and requeues the others after `first`; NULL: none. */
static void queue_turn(siginfo_t *first)
{
	siginfo_t later[QUEUED_MOST];
	unsigned count = 0;
	uint64_t periods;

	while (count < QUEUED_MOST && queue_take(&later[count]))
		count += !source_timer_periods(&later[count], &periods);
	if (first)
		raise_again(AGENT_SIGNAL, first);
	for (unsigned i = 0; i < count; i++)
		raise_again(AGENT_SIGNAL, &later[i]);
}

/* Keeps it pending until the program unblocks it or waits for it, before later ones. */
static void sample_keep(siginfo_t *info, ucontext_t *interrupted)
{
	thread_place.samples_wait = true;
	sigaddset(&interrupted->uc_sigmask, AGENT_SIGNAL);
	queue_turn(info);
}

/* Samples must not reach the program's signalfd: stops using the signal for timers, in other threads from
 * their next tick on. */
void signal_guards_read_samples(void)
{
	struct thread *t = thread_own();
	uint64_t all = UINT64_MAX, before;

	atomic_store(&signal_guards[SIGNAL_GUARD_SAMPLES].is_read, true);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	if (t)
		source_timer_stop(&t->handle);
	if (t && t->source == &source_timer)
		thread_unsampled(t->ring.shared, EVENT_UNSAMPLED_READ, process_now_ns());
	queue_turn(NULL);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(all));
}

/* Late signals of an event that is closed. */
static bool is_of_event(const siginfo_t *info)
{
	return info->si_code > 0 && source_chosen() == &source_overflow;
}

static bool is_sent(const siginfo_t *info)
{
	return info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE;
}

void signal_guard_forward(int number, siginfo_t *info, void *context)
{
	struct signal_guard *guard = &signal_guards[SIGNAL_GUARD_SAMPLES];
	void (*handler)(int) = guard->program_action.sa_handler;

	thread_place.samples_wait = false;
	if (is_of_event(info) || !guard->is_on)
		return;
	if (thread_place.program_masked & 1u << SIGNAL_GUARD_SAMPLES)
		sample_keep(info, context);
	else if (handler == SIG_DFL && is_sent(info))
		default_run(number, info, context);
	else if (handler != SIG_DFL && handler != SIG_IGN)
		handler_run(guard, info, context);
}

/* ---- SIGTRAPs ---- */

/* Keeps it pending until the program unblocks it or waits for it. */
static void trap_keep(int number, siginfo_t *info, ucontext_t *interrupted)
{
	if (is_for_thread(info) && !atomic_load(&signal_guards[SIGNAL_GUARD_TRAP].is_read)) {
		thread_place.trap_waits = TRAP_WAITS_FOR_THREAD;
		thread_place.trap_pid = info->si_pid;
		thread_place.trap_uid = info->si_uid;
	} else if (!thread_place.trap_waits) {
		thread_place.trap_waits = TRAP_WAITS_FOR_PROCESS;
	}
	sigaddset(&interrupted->uc_sigmask, number);
	raise_again(number, info);
}

void signal_guard_forward_trap(int number, siginfo_t *info, void *context, bool is_known)
{
	struct signal_guard *guard = &signal_guards[SIGNAL_GUARD_TRAP];
	void (*handler)(int) = guard->program_action.sa_handler;
	bool is_masked = is_known && (thread_place.program_masked & 1u << SIGNAL_GUARD_TRAP);
	bool is_forced = info->si_code > 0; /* a trap of the thread's own code: cannot be blocked */
	ucontext_t *interrupted = context;

	if (is_known)
		thread_place.trap_waits = TRAP_WAITS_NOT; /* the kernel delivers the thread's own signals
							     first */
	if (is_masked && !is_forced) {
		trap_keep(number, info, interrupted);
	} else if (is_masked || handler == SIG_DFL || (is_forced && handler == SIG_IGN)) {
		default_run(number, info, interrupted);
	} else if (handler != SIG_IGN) {
		handler_run(guard, info, interrupted);
	}
}

HOT bool signal_guard_trap_dropped(siginfo_t *info)
{
	if (thread_place.trap_waits != TRAP_WAITS_FOR_THREAD)
		return false;
	*info = (siginfo_t){.si_signo = SIGTRAP, .si_code = SI_TKILL};
	info->si_pid = thread_place.trap_pid;
	info->si_uid = thread_place.trap_uid;
	return true;
}

void signal_guards_over(void)
{
	if (!thread_place.trap_waits && !thread_place.samples_wait)
		return;
	thread_place.trap_waits = TRAP_WAITS_NOT;
	thread_place.samples_wait = false;
	signal_guards_unblock();
}

/* ---- exec ---- */

bool signal_guards_exec_hides_trap(void)
{
	const struct signal_guard *guard = &signal_guards[SIGNAL_GUARD_TRAP];

	return guard->is_on && guard->program_action.sa_handler != SIG_IGN && process_is_own() &&
	       !source_can_pause();
}

/* Gives our signals the dispositions that the program believes to have, for the next program. */
void signal_guards_exec_begin(bool hide_trap)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN};

	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on && ((i == SIGNAL_GUARD_TRAP && hide_trap) ||
						      signal_guards[i].program_action.sa_handler == SIG_IGN))
			REAL(sigaction)(signal_guards[i].number, &ignored, NULL);
	masked_set(SIG_BLOCK);
}

void signal_guards_exec_failed(void)
{
	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on)
			signal_guard_install(&signal_guards[i], NULL);
	signal_guards_unblock();
}
