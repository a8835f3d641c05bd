/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nests.c - what keeps a sampling handler long, or from its clock; which, is the argument. Ends with 0 once
 * the work is done.
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "samples/burn.h"

/* One handler in the other, on an alternate stack of their own, and work in the innermost: walks that take
 * long. */
static volatile int nest_left;

/* Few frames, but each signal's keeps all registers. */
static void nests(int number)
{
	if ((nest_left = nest_left - 1) > 0)
		kill(getpid(), number + 1);
	else
		BURN(200e6);
}

static int nested(void)
{
	static char there[1 << 20];
	struct sigaction action = {.sa_handler = nests, .sa_flags = SA_ONSTACK};

	nest_left = 24;
	if (sigaltstack(&(stack_t){.ss_sp = there, .ss_size = sizeof(there)}, NULL))
		return 1;
	for (int i = 0; i < nest_left; i++)
		if (sigaction(SIGRTMIN + i, &action, NULL))
			return 1;
	raise(SIGRTMIN);
	return nest_left;
}

/* Without the processor's counter, which the kernel's library reads to tell the time. */
static int counterless(void)
{
	struct rusage used = {0};

#ifdef PR_SET_TSC
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0); /* where there is such a thing */
#endif
	while (used.ru_utime.tv_sec == 0 && used.ru_utime.tv_usec < 300000) {
		for (volatile int i = 0; i < 20000; i++)
			;
		getrusage(RUSAGE_SELF, &used);
	}
	return 0;
}

/* All signals as they were at birth, past libc's sigaction, and work. What the kernel takes and tells is
 * larger than the first word, a handler, and the rest is nothing here. */
static int resets(void)
{
	uint64_t standard[4] = {0};
	uint64_t now[4];

	for (int i = 1; i <= 64; i++)
		if (syscall(SYS_rt_sigaction, i, standard, NULL, sizeof(standard[0])) != 0 && i != SIGKILL &&
			i != SIGSTOP)
			return 1;
	BURN(300e6);
	for (int i = 1; i <= 64; i++) {
		memset(now, 0xff, sizeof(now));
		if (syscall(SYS_rt_sigaction, i, NULL, now, sizeof(now[0])) != 0 || now[0] || now[3])
			return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "nested"))
		return nested();
	return !strcmp(way, "resets") ? resets() : counterless();
}
