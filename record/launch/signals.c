/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - see signals.h. */
#include "record/launch/signals.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "record/agent/process/process.h"
#include "record/base/clock.h"
#include "record/launch/signal_forwarder.h"

#define STOP_NS UINT64_C(1000000000)
#define STACK_BYTES 65536

static volatile sig_atomic_t child, is_interrupted;
static volatile uint64_t stop_ns;

/* Timers survive an exec and keep running in hpct-record: their signals are meant for the program. */
static bool is_timer(int number)
{
	return number == SIGALRM || number == SIGVTALRM || number == SIGPROF;
}

static bool is_fault(int number)
{
	return number == SIGILL || number == SIGTRAP || number == SIGBUS || number == SIGFPE ||
	       number == SIGSEGV || number == SIGSYS;
}

static void sent(int number, const siginfo_t *info)
{
	if (info->si_pid == process_number()) {
		if (number == SIGABRT)
			signal_forwarder_spare();
		return;
	}
	if (!signal_forwarder_hears(number, info->si_pid) && child > 0)
		kill((pid_t)child, number);
	if (number == SIGTSTP)
		stop_ns = clock_now_ns();
}

/* A fault of hpct-record: raises it again with the default action. */
static void fault(int number)
{
	signal_forwarder_spare();
	signal(number, SIG_DFL);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	if (child > 0 && info->si_code == SI_QUEUE)
		sigqueue((pid_t)child, number, info->si_value);
	else if (child > 0 && info->si_code <= 0)
		sent(number, info);
	else if (child > 0 && is_timer(number))
		kill((pid_t)child, number);
	else if (child > 0 && number == SIGHUP && getsid(0) == process_number())
		kill((pid_t)child, number); /* if the terminal hangs up, only the session leader gets the
					       signal */
	else if (number == SIGINT || number == SIGQUIT)
		is_interrupted = child == 0;
	else if (is_fault(number))
		fault(number);
	errno = error;
}

/* Do not forward stops of a background process group. On a terminal stop in the foreground we wait to see
 * whether the program stops: if it does not, it keeps the terminal. */
static bool is_passed(int number)
{
	return number != SIGKILL && number != SIGSTOP && number != SIGTTIN && number != SIGTTOU &&
	       number != SIGCHLD;
}

void signals_take(struct signals *signals)
{
	static char stack[STACK_BYTES]; /* for stack overflows */
	struct sigaction pass = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t all;

	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
	sigfillset(&all);
	sigfillset(&pass.sa_mask); /* one at a time, in order of arrival */
	sigprocmask(SIG_SETMASK, &all, &signals->mask);
	for (int i = 1; i < SIGNALS_MAX; i++)
		if (is_passed(i))
			sigaction(i, &pass, &signals->action[i]);
	/* If SIGCHLD is ignored, there are no children to wait for. */
	sigaction(SIGCHLD, &plain, &signals->action[SIGCHLD]);
}

void signals_restore(const struct signals *signals)
{
	for (int i = 1; i < SIGNALS_MAX; i++)
		if (is_passed(i) || i == SIGCHLD)
			sigaction(i, &signals->action[i], NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

void signals_pass(pid_t program)
{
	sigset_t none;

	child = program;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void signals_end(void)
{
	child = 0;
	signal_forwarder_end();
}

void signals_stop(int number)
{
	struct sigaction plain = {.sa_handler = SIG_DFL}, ours;

	if (number == SIGTSTP)
		sigaction(number, &plain, &ours);
	raise(number);
	if (number == SIGTSTP)
		sigaction(number, &ours, NULL);
}

bool signals_ask_for_stop(void)
{
	return stop_ns && clock_now_ns() - stop_ns < STOP_NS;
}

bool signals_ask_for_end(void)
{
	return is_interrupted;
}
