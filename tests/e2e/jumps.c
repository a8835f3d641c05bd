/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jumps.c - handlers on alternate stacks that hold one frame of the kernel's and not two, one way per first
 * argument: how they are left, or what they do with masks before. Each works for 50 ms inside handlers and
 * 300 ms after them, and prints how often it has left.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "samples/burn.h"

#define ROUNDS 50

static jmp_buf plain;
static sigjmp_buf landing;
static void *built_in[5];
static ucontext_t context;
static const char *way;
static sigset_t none;

static void leave(int number)
{
	sigset_t all;

	(void)number;
	if (!strcmp(way, "sets"))
		sigprocmask(SIG_SETMASK, &none, NULL);
	sigfillset(&all);
	if (!strcmp(way, "unblocks"))
		sigprocmask(SIG_UNBLOCK, &all, NULL);
	if (!strcmp(way, "polls"))
		ppoll(NULL, 0, &(struct timespec){0, 100000}, &none);
	BURN(1000000);
	if (!strcmp(way, "plain"))
		longjmp(plain, 1);
	if (!strcmp(way, "saved") || !strcmp(way, "unsaved"))
		siglongjmp(landing, 1);
	if (!strcmp(way, "context"))
		setcontext(&context);
	if (!strcmp(way, "unseen"))
		__builtin_longjmp(built_in, 1);
}

/* Nobody sees this one: who jumps so waits sooner or later. */
static __attribute__((noinline)) void unseen(int signal)
{
	if (!__builtin_setjmp(built_in))
		raise(signal);
	__asm__ volatile("" ::: "memory"); /* no tail call: this frame is jumped to */
}

int main(int argc, char **argv)
{
	static char small[65536];
	struct sigaction action = {.sa_handler = leave, .sa_flags = SA_ONSTACK | SA_NODEFER};
	stack_t there = {.ss_sp = small, .ss_size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 1024};
	volatile int left = 0, was_there = 0;

	way = argc > 1 ? argv[1] : "";
	if (sigaltstack(&there, NULL) || sigaction(SIGUSR1, &action, NULL))
		return 1;
	for (; left < ROUNDS; left++) {
		if (!strcmp(way, "plain")) {
			if (!_setjmp(plain))
				raise(SIGUSR1);
		} else if (!strcmp(way, "saved") || !strcmp(way, "unsaved")) {
			if (!sigsetjmp(landing, !strcmp(way, "saved")))
				raise(SIGUSR1);
		} else if (!strcmp(way, "unseen")) {
			unseen(SIGUSR1);
		} else if (!strcmp(way, "context")) {
			getcontext(&context);
			if (!was_there++)
				raise(SIGUSR1);
			was_there = 0;
		} else {
			raise(SIGUSR1);
		}
	}
	for (int i = 0; i < 300; i++) {
		BURN(1000000);
		if (!strcmp(way, "unseen"))
			nanosleep(&(struct timespec){0, 1000}, NULL);
	}
	printf("left: %d\n", left);
	return 0;
}
