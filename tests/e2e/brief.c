/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brief - a program whose children end long before anybody could look at them: at each SIGUSR1 it has some that work
 * in burn_forked, and some that become another program, this one, and work in burn_executed, each for 30 ms of CPU
 * time; and says when all have ended. It ends by itself when SIGUSR2 comes.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN 3
#define BURN_NS 30000000u

static volatile unsigned long sink;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define BURN(name)                                                      \
	__attribute__((noinline)) static void name(void)                \
	{                                                               \
		while (cpu_ns() < BURN_NS)                              \
			for (unsigned i = 0; i < 20000; i++)            \
				sink += i;                              \
	}
BURN(burn_forked)
BURN(burn_executed)

static void children_run(const char *self)
{
	for (int i = 0; i < 2 * CHILDREN; i++) {
		if (fork())
			continue;
		if (i % 2)
			execl("/proc/self/exe", self, "child", (char *)NULL);
		burn_forked();
		_exit(0);
	}
	while (wait(NULL) > 0)
		continue;
}

int main(int argc, char **argv)
{
	sigset_t asked;
	int got = 0;

	if (argc > 1) {
		burn_executed();
		return 0;
	}
	sigemptyset(&asked);
	sigaddset(&asked, SIGUSR1);
	sigaddset(&asked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &asked, NULL);
	puts("ready");
	fflush(stdout);
	while (!sigwait(&asked, &got) && got == SIGUSR1) {
		children_run(argv[0]);
		puts("ended");
		fflush(stdout);
	}
	return 7;
}
