/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_signal.c - keeps the sampling signals deliverable: the program can neither block, handle, ignore nor
 * wait for them, but reads back its own settings. SIGTRAP is guarded only while source_trap is in use; the
 * program gets each SIGTRAP of its own as it would without us. All other signals are the program's.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/gpu/fatal_signal.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/sigaltstack.h"
#include "record/agent/sample/signal_guard.h"
#include "record/agent/sample/sigsegv.h"
#include "record/agent/sample/source.h"
#include "record/agent/wrap/wait.h"

static bool is_guarding(void)
{
	return signal_guards[SIGNAL_GUARD_SAMPLES].is_on;
}

static void member_set(sigset_t *set, int number, bool member)
{
	if (member)
		sigaddset(set, number);
	else
		sigdelset(set, number);
}

static const sigset_t *with_ours(const sigset_t *set, sigset_t *copy, bool member)
{
	if (!set || !is_guarding())
		return set;
	*copy = *set;
	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on)
			member_set(copy, signal_guards[i].number, member);
	return copy;
}

/* A mask that blocks none of our signals, unless this stack has no space for them. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
	return with_ours(set, copy, sigaltstack_is_here());
}

/* From now on our signals use alternate stacks, in threads that have them. */
static void guard_move(struct signal_guard *guard)
{
	if (guard->is_on_stack)
		return;
	guard->is_on_stack = true;
	if (guard->is_on)
		signal_guard_install(guard, NULL);
}

/* Timers' signals come at any moment, like ours: a program that handles them on an alternate stack may
 * have stacks without space for any signal, with data below them (Poly/ML). */
static bool is_for_timer(int number, const struct sigaction *action)
{
	return (number == SIGALRM || number == SIGVTALRM || number == SIGPROF) && action &&
	       (action->sa_flags & SA_ONSTACK) && action->sa_handler != SIG_DFL &&
	       action->sa_handler != SIG_IGN;
}

static int action_of_ours(struct signal_guard *guard, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction before = guard->program_action;

	if (action)
		guard->program_action = *action;
	/* A program that handles even our signals on an alternate stack has no space for them on others
	 * (Go). */
	if (action && (action->sa_flags & SA_ONSTACK))
		guard_move(guard);
	if (old)
		*old = before;
	return 0;
}

/* Bits by guard: signals in the handler's mask. */
static unsigned masks_of(const struct sigaction *action)
{
	unsigned bits = 0;

	for (unsigned i = 0; action && i < SIGNAL_GUARD_COUNT; i++)
		if (sigismember(&action->sa_mask, signal_guards[i].number) == 1)
			bits |= 1u << i;
	return bits;
}

/* Keeps the program's setting for signal `bit`, and returns the previous one. */
static void handler_masks_keep(
	uint64_t bit, const struct sigaction *action, unsigned asked, struct sigaction *old)
{
	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++) {
		bool was_masked = atomic_load(&signal_guards[i].masked_by) & bit;

		if (!signal_guards[i].is_on)
			continue;
		if (old)
			member_set(&old->sa_mask, signal_guards[i].number, was_masked);
		if (asked >> i & 1)
			atomic_fetch_or(&signal_guards[i].masked_by, bit);
		else if (action)
			atomic_fetch_and(&signal_guards[i].masked_by, ~bit);
	}
}

/* The call itself; what fatal_signal.h puts in place of a default action stays hidden. */
static int action_set(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction hidden;
	int result;

	if (action) {
		hidden = *action;
		fatal_signal_hide(number, &hidden);
	}
	result = REAL(sigaction)(number, action ? &hidden : NULL, old);
	if (!result && old)
		fatal_signal_reveal(old);
	return result;
}

WRAPPER int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	uint64_t bit = number > 0 && number <= 64 ? UINT64_C(1) << (number - 1) : 0;
	struct signal_guard *guard = signal_guard_of(number);
	struct sigsegv_handler before = sigsegv_now();
	struct sigaction filtered;
	unsigned asked;
	int result;

	if (!is_guarding() || !bit)
		return action_set(number, action, old);
	if (guard)
		return action_of_ours(guard, action, old);
	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT && is_for_timer(number, action); i++)
		guard_move(&signal_guards[i]);
	asked = masks_of(action); /* `old` may be at the same address */
	if (action) {
		filtered = *action;
		sigaltstack_filter(&filtered);
		if (number == SIGSEGV)
			before = sigsegv_guard(&filtered);
	}
	result = action_set(number, action ? &filtered : NULL, old);
	if (result && number == SIGSEGV)
		sigsegv_restore(before);
	if (!result && old && number == SIGSEGV)
		sigsegv_reveal(old, before);
	if (!result)
		handler_masks_keep(bit, action, asked, old);
	return result;
}

/* libc's signal() does not pass by our sigaction(). */
static sighandler_t handler_set(int number, sighandler_t handler)
{
	struct sigaction action = {.sa_handler = REAL(signal)(number, handler)};

	if (action.sa_handler == SIG_ERR)
		return SIG_ERR;
	fatal_signal_reveal(&action);
	if (handler == SIG_DFL)
		fatal_signal_renew(number);
	return action.sa_handler;
}

WRAPPER sighandler_t signal(int number, sighandler_t handler)
{
	struct signal_guard *guard = signal_guard_of(number);
	sighandler_t before;

	if (!is_guarding() || !guard)
		return sigsegv_reveal_plain(handler_set(number, handler), sigsegv_now());
	before = guard->program_action.sa_handler;
	guard->program_action = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
	return before;
}

/* Bits by guard: signals in the set. */
static unsigned named_by(const sigset_t *set)
{
	unsigned named = 0;

	for (unsigned i = 0; set && i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on && sigismember(set, signal_guards[i].number) == 1)
			named |= 1u << i;
	return named;
}

static void program_mask_update(int how, unsigned named)
{
	if (how == SIG_SETMASK)
		thread_place.program_masked = (uint8_t)named;
	else if (how == SIG_BLOCK)
		thread_place.program_masked |= (uint8_t)named;
	else
		thread_place.program_masked &= (uint8_t)~named;
}

static int mask_change(
	int (*real_call)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set, sigset_t *old)
{
	uint8_t was = thread_place.program_masked;
	unsigned named = named_by(set);
	sigset_t copy;
	int result;

	if (!is_guarding())
		return real_call(how, set, old);
	/* Update the program's view first, for signals that the call unblocks. */
	if (set)
		program_mask_update(how, named);
	if (how != SIG_UNBLOCK)
		set = without_ours(set, &copy);
	else if (sigaltstack_is_here())
		set = with_ours(set, &copy, false);
	result = real_call(how, set, old);
	if (result)
		thread_place.program_masked = was;
	for (unsigned i = 0; !result && old && i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on)
			member_set(old, signal_guards[i].number, was >> i & 1);
	return result;
}

WRAPPER int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask_change(REAL(sigprocmask), how, set, old);
}

WRAPPER int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return mask_change(REAL(pthread_sigmask), how, set, old);
}

/* True for our signal in the queue, where the program's own may wait, too. */
static bool is_ours(int number, siginfo_t *info)
{
	uint64_t periods;

	if (number == AGENT_SIGNAL)
		return source_timer_periods(info, &periods);
	return number == SIGTRAP && source_trap_index(info) >= 0 && !signal_guard_trap_dropped(info);
}

WRAPPER int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	siginfo_t got = {0};
	int result;

	if (!named_by(set))
		return WAIT(sigtimedwait, (set, info, timeout));
	do
		result = WAIT(sigtimedwait, (set, &got, timeout));
	while (is_ours(result, &got));
	if (signal_guard_of(result))
		signal_guards_over();
	if (got.si_code == SI_TKILL && result == SIGTRAP)
		got.si_code = SI_USER; /* the value that libc returns */
	if (result > 0 && info)
		*info = got;
	return result;
}

WRAPPER int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	if (named_by(set))
		return sigtimedwait(set, info, NULL);
	return WAIT(sigwaitinfo, (set, info));
}

WRAPPER int sigwait(const sigset_t *set, int *number)
{
	int result;

	if (!named_by(set))
		return WAIT(sigwait, (set, number));
	do
		result = sigtimedwait(set, NULL, NULL);
	while (result < 0 && errno == EINTR);
	if (result > 0)
		*number = result;
	return result > 0 ? 0 : errno;
}

WRAPPER int signalfd(int fd, const sigset_t *set, int flags)
{
	unsigned named = named_by(set);

	if (named & 1u << SIGNAL_GUARD_TRAP)
		signal_guards[SIGNAL_GUARD_TRAP].is_read = true;
	if (named & 1u << SIGNAL_GUARD_SAMPLES)
		signal_guards_read_samples();
	return REAL(signalfd)(fd, set, flags);
}

WRAPPER int sigpending(sigset_t *set)
{
	int result = REAL(sigpending)(set);

	if (!result && is_guarding() && !thread_place.samples_wait)
		sigdelset(set, AGENT_SIGNAL);
	return result;
}

/* After EINTR: if our signal came first, at the end of the call, the program's mask was already restored,
 * and a signal that the call's own mask unblocks may still be pending. It must end the call now. */
static bool is_missed(const sigset_t *set)
{
	uint64_t pending = 0, blocked;

	if (!set || !is_guarding())
		return false;
	memcpy(&blocked, set, sizeof(blocked));
	for (unsigned i = 0; i < SIGNAL_GUARD_COUNT; i++)
		if (signal_guards[i].is_on)
			blocked |= UINT64_C(1) << (signal_guards[i].number - 1);
	syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	return pending & ~blocked;
}

/* Sets the program's view of our signals while a call uses another mask. */
static uint8_t mask_begin(const sigset_t *set)
{
	uint8_t was = thread_place.program_masked;

	if (set)
		thread_place.program_masked = (uint8_t)named_by(set);
	return was;
}

/* Restores the view, and handles signals that were pending meanwhile. */
static void mask_end(uint8_t was)
{
	bool differed = thread_place.program_masked != was;

	thread_place.program_masked = was;
	if (differed)
		signal_guards_over();
}

/* A call with a signal mask. */
#define MASKED(name, arguments, again)                                        \
	__extension__({                                                       \
		uint8_t was_ = mask_begin(set);                               \
		int ended_ = WAIT_ON(name, arguments, is_missed(set), again); \
                                                                              \
		mask_end(was_);                                               \
		ended_;                                                       \
	})

WRAPPER int sigsuspend(const sigset_t *set)
{
	sigset_t copy;

	return MASKED(sigsuspend, (without_ours(set, &copy)), (void)0);
}

WRAPPER int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *set)
{
	const struct timespec *whole = timeout;
	struct timespec rest;
	sigset_t copy;

	return MASKED(ppoll, (fds, count, timeout, without_ours(set, &copy)),
		timeout = wait_rest(&wait_, whole, &rest));
}

WRAPPER int __ppoll_chk(
	struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *set, size_t bytes)
{
	const struct timespec *whole = timeout;
	struct timespec rest;
	sigset_t copy;

	return MASKED(__ppoll_chk, (fds, count, timeout, without_ours(set, &copy), bytes),
		timeout = wait_rest(&wait_, whole, &rest));
}

WRAPPER int pselect(int count, fd_set *reading, fd_set *writing, fd_set *excepting,
	const struct timespec *timeout, const sigset_t *set)
{
	const struct timespec *whole = timeout;
	struct timespec rest;
	sigset_t copy;

	return MASKED(pselect, (count, reading, writing, excepting, timeout, without_ours(set, &copy)),
		timeout = wait_rest(&wait_, whole, &rest));
}

WRAPPER int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout, const sigset_t *set)
{
	int rest = timeout;
	sigset_t copy;

	return MASKED(epoll_pwait, (fd, events, most, rest, without_ours(set, &copy)),
		rest = wait_rest_ms(&wait_, timeout));
}

/* In glibc since 2.35; a program that calls it knows that it exists. */
WRAPPER int epoll_pwait2(
	int fd, struct epoll_event *events, int most, const struct timespec *timeout, const sigset_t *set)
{
	const struct timespec *whole = timeout;
	struct timespec rest;
	sigset_t copy;

	if (!REAL(epoll_pwait2)) {
		errno = ENOSYS;
		return -1;
	}
	return MASKED(epoll_pwait2, (fd, events, most, timeout, without_ours(set, &copy)),
		timeout = wait_rest(&wait_, whole, &rest));
}
