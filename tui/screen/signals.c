/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c - see signals.h. Handlers call only async-signal-safe functions: tcsetattr, write, alarm, signal
 * and raise.
 */
#include "tui/screen/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "timeline/base/sigbus.h"

#define SIGNALS_PATIENCE_S 1 /* work that has not looked by then does not look at all */
#define SIGNALS_LEAVE_BYTES 256

static const int asked[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};
static const int crashed[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

#define ASKED (sizeof(asked) / sizeof(asked[0]))
#define CRASHED (sizeof(crashed) / sizeof(crashed[0]))

static struct {
	struct termios modes;
	char leave[SIGNALS_LEAVE_BYTES];
	size_t leave_bytes;
	int pipe[2];
	bool is_caught;
	struct sigaction old_asked[ASKED], old_crashed[CRASHED];
} signals = {.pipe = {-1, -1}};

static volatile sig_atomic_t ended_by;

/* Safe in a handler. The modes go first: they count even where the terminal takes no more bytes. */
static void give_back(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &signals.modes);
	if (write(STDOUT_FILENO, signals.leave, signals.leave_bytes) < 0)
		return; /* it is gone */
}

static void on_asked(int number)
{
	int saved = errno;

	if (ended_by) { /* the view did not react */
		number = number == SIGALRM ? ended_by : number;
		give_back();
		signal(number, SIG_DFL);
		raise(number);
		return; /* it is blocked here, and comes at once then */
	}
	ended_by = number;
	alarm(SIGNALS_PATIENCE_S);
	if (write(signals.pipe[1], "", 1) < 0) /* full: a wake-up is already there */
		errno = 0;
	errno = saved;
}

/* Then raises the signal with its default action. */
static void on_crash(int number, siginfo_t *info, void *context)
{
	const struct sigaction *old = NULL;

	give_back();
	for (size_t i = 0; i < CRASHED; i++)
		if (crashed[i] == number)
			old = &signals.old_crashed[i];
	if (old && sigbus_is_ours(old))
		old->sa_sigaction(number, info, context);
	raise(number); /* SA_RESETHAND: this time for good */
}

int signals_open(struct error *error)
{
	ended_by = 0;
	tcgetattr(STDIN_FILENO, &signals.modes);
	if (pipe2(signals.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
		return error_set(error, ERROR_IO, "cannot make a pipe: %s", strerror(errno));
	return 0;
}

void signals_catch(const char *leave)
{
	struct sigaction action = {.sa_handler = on_asked};
	struct sigaction crash = {.sa_sigaction = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_SIGINFO)};

	signals.leave_bytes = strlen(leave);
	if (signals.leave_bytes > sizeof(signals.leave))
		signals.leave_bytes = sizeof(signals.leave);
	memcpy(signals.leave, leave, signals.leave_bytes);
	sigemptyset(&action.sa_mask);
	sigemptyset(&crash.sa_mask);
	for (size_t i = 0; i < ASKED; i++) {
		sigaction(asked[i], NULL, &signals.old_asked[i]);
		if (signals.old_asked[i].sa_handler != SIG_IGN || asked[i] == SIGALRM) /* nohup */
			sigaction(asked[i], &action, NULL);
	}
	/* Sanitizers keep theirs. */
	for (size_t i = 0; i < CRASHED; i++) {
		sigaction(crashed[i], NULL, &signals.old_crashed[i]);
		if (signals.old_crashed[i].sa_handler == SIG_DFL || sigbus_is_ours(&signals.old_crashed[i]))
			sigaction(crashed[i], &crash, NULL);
	}
	signals.is_caught = true;
}

void signals_close(void)
{
	for (size_t i = 0; i < ASKED && signals.is_caught; i++)
		sigaction(asked[i], &signals.old_asked[i], NULL);
	for (size_t i = 0; i < CRASHED && signals.is_caught; i++)
		sigaction(crashed[i], &signals.old_crashed[i], NULL);
	signals.is_caught = false;
	alarm(0);
	close(signals.pipe[0]);
	close(signals.pipe[1]);
}

int signals_fd(void)
{
	return signals.pipe[0];
}

bool signals_is_over(void)
{
	return ended_by != 0;
}

void signals_hang_up(void)
{
	ended_by = SIGHUP;
}

void signals_die(void)
{
	int number = ended_by;

	signal(number, SIG_DFL);
	raise(number);
	_exit(128 + number);
}
