/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached [NS] - a program that is at work when somebody attaches to it, and looks for what that does to it:
 * it counts signals and interrupted calls. Of its main thread's CPU time 60 % are in burn_first, 30 % in
 * burn_second, 10 % in burn_third, from its begin on; a second thread burns a tenth of a second at a time in
 * burn_other, and sleeps. It ends when SIGUSR1 has come and NS more of its CPU time are over (0 by default),
 * and prints one line. "attached exec" becomes "attached" by an exec after SIGUSR2.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t is_over, is_exec;
static volatile unsigned long sink;
static _Atomic unsigned long interrupted, foreign, rounds;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define BURN(name)                                                    \
	__attribute__((noinline)) static void name(uint64_t until_ns) \
	{                                                             \
		while (cpu_ns() < until_ns)                           \
			for (unsigned i = 0; i < 20000; i++)          \
				sink += i;                            \
	}
BURN(burn_first)
BURN(burn_second)
BURN(burn_third)
BURN(burn_other)

__attribute__((noinline)) static void turn(void)
{
	uint64_t begin_ns = cpu_ns();

	burn_first(begin_ns + 6000000);
	burn_second(begin_ns + 9000000);
	burn_third(begin_ns + 10000000);
}

static void handle(int number)
{
	if (number == SIGUSR1)
		is_over = 1;
	else if (number == SIGUSR2)
		is_exec = 1;
	else
		foreign++;
}

static void *other(void *unused)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGUSR1);
	sigaddset(&ours, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &ours, NULL);
	while (!is_over) {
		struct timespec moment = {0, 20000000};

		burn_other(cpu_ns() + 5000000);
		if (nanosleep(&moment, NULL) && errno == EINTR)
			interrupted++;
		rounds++;
	}
	return unused;
}

int main(int argc, char **argv)
{
	uint64_t more_ns = argc > 1 && strcmp(argv[1], "exec") ? strtoull(argv[1], NULL, 10) : 0,
		 until_ns = 0;
	pthread_t thread;

	for (int number = 1; number < 32; number++)
		if (number != SIGKILL && number != SIGSTOP && number != SIGCHLD && number != SIGSEGV)
			signal(number, handle);
	pthread_create(&thread, NULL, other, NULL);
	while (!until_ns || cpu_ns() < until_ns) {
		turn();
		if (is_over && !until_ns)
			until_ns = cpu_ns() + more_ns;
		if (is_exec && argc > 1)
			execl("/proc/self/exe", argv[0], (char *)NULL);
	}
	pthread_join(thread, NULL);
	printf("interrupted %lu, foreign signals %lu, at work %d\n", interrupted, foreign, rounds > 0);
	return 7;
}
