/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - see progress.h. The state is global, like the terminal and the signals. */
#include "timeline/base/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AGAIN_NS 200000000ull
#define WIPE "\r\033[K"

static struct {
	const char *program; /* NULL: not begun */
	int fd;
	uint64_t next_ns; /* no line before */
	volatile sig_atomic_t is_shown;
	progress_watcher *watcher;
	void *own;
	uint64_t again_ns;
	bool is_stopped; /* by the watcher */
} progress;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* A terminal that does not take it has nothing to wipe. */
static void put(const char *text, size_t size)
{
	if (write(progress.fd, text, size) < 0)
		progress.is_shown = 0;
}

static void on_signal(int number)
{
	int kept = errno;

	if (progress.is_shown)
		put(WIPE, strlen(WIPE));
	/* SA_RESETHAND: this time it ends the program. */
	raise(number);
	errno = kept;
}

static void watch_signal(int number)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, before;

	sigemptyset(&action.sa_mask);
	if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(number, &action, NULL);
}

void progress_begin(const char *program, int fd, uint64_t after_ns)
{
	if (!isatty(fd))
		return;
	progress.program = program;
	progress.fd = fd;
	progress.next_ns = now_ns() + after_ns;
	watch_signal(SIGINT);
	watch_signal(SIGTERM);
}

void progress_watch(progress_watcher *watcher, void *own, uint64_t after_ns)
{
	progress.watcher = watcher;
	progress.own = own;
	progress.is_stopped = false;
	progress.again_ns = after_ns < AGAIN_NS ? after_ns : AGAIN_NS;
	progress.next_ns = now_ns() + after_ns;
}

void progress_go_on(void)
{
	progress.is_stopped = false;
	progress.next_ns = now_ns() + progress.again_ns;
}

bool progress_is_stopped(void)
{
	return progress.watcher && progress.is_stopped;
}

static void show(const char *what, uint64_t done, uint64_t all)
{
	char line[128];
	int size = snprintf(line, sizeof line, WIPE "%.32s: %.48s, %.0f %% of the window (Ctrl-C stops)",
		progress.program, what, all ? 100.0 * (double)done / (double)all : 100.0);

	progress.is_shown = 1;
	put(line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

bool progress_at(const char *what, uint64_t done, uint64_t all)
{
	uint64_t now;

	if (!progress.program && !progress.watcher)
		return true;
	now = now_ns();
	if (progress.is_stopped || now < progress.next_ns)
		return !progress.is_stopped;
	progress.next_ns = now + (progress.watcher ? progress.again_ns : AGAIN_NS);
	done = done < all ? done : all;
	if (progress.watcher)
		progress.is_stopped = !progress.watcher(progress.own, what, done, all);
	else
		show(what, done, all);
	return !progress.is_stopped;
}

int progress_refuse(struct error *error)
{
	return error_set(error, ERROR_IO, "reading was stopped; Ctrl-L reads again");
}

void progress_end(void)
{
	if (progress.is_shown)
		put(WIPE, strlen(WIPE));
	progress.is_shown = 0;
	progress.program = NULL;
}
