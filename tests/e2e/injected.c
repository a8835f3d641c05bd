/* SPDX-License-Identifier: Apache-2.0 */
/*
 * injected - a program into which an agent is loaded again and again while it works, and that checks itself.
 * Its threads allocate, load and unload a library, begin and end threads, wait in epoll_wait, and keep errno
 * and numbers in registers; its main thread spends 60 % of its CPU time in burn_first, 30 % in burn_second,
 * 10 % in burn_third. It ends when SIGUSR1 has come, and prints what went wrong in one line: calls that ended
 * with EINTR, signals that nobody sent, results that are wrong, and whether all threads have worked.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define KINDS 5

static volatile sig_atomic_t is_over;
static volatile unsigned long sink;
static _Atomic unsigned long interrupted, foreign, wrong, rounds[KINDS];

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

/* Sums whose value is known, in registers that no call keeps. */
__attribute__((noinline)) static void numbers_check(void)
{
	double sum[4] = {0, 0, 0, 0};

	for (int i = 1; i <= 20000; i++)
		for (int k = 0; k < 4; k++)
			sum[k] += i * (k + 1);
	for (int k = 0; k < 4; k++)
		wrong += sum[k] != 200010000.0 * (k + 1);
}

static void turn(void)
{
	uint64_t begin_ns = cpu_ns();

	burn_first(begin_ns + 6000000);
	burn_second(begin_ns + 9000000);
	burn_third(begin_ns + 10000000);
}

static void *allocates(void *own)
{
	char *block[64] = {NULL};

	for (unsigned i = 0; !is_over; i++) {
		char **at = &block[i % 64];

		if (*at && (*at)[0] != (char)i)
			wrong++;
		free(*at);
		*at = malloc(16 + i * 37 % 5000);
		(*at)[0] = (char)(i + 64);
		*(_Atomic unsigned long *)own += 1;
		if (i % 1024 == 0)
			usleep(1000);
	}
	return own;
}

static void *loads(void *own)
{
	while (!is_over) {
		void *library = dlopen("libm.so.6", RTLD_NOW);

		wrong += !library || !dlsym(library, "sqrt");
		if (library)
			dlclose(library);
		*(_Atomic unsigned long *)own += 1;
		usleep(500);
	}
	return own;
}

static void *is_born(void *nothing)
{
	turn();
	return nothing;
}

static void *bears(void *own)
{
	while (!is_over) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, is_born, NULL) || pthread_join(thread, NULL))
			wrong++;
		*(_Atomic unsigned long *)own += 1;
		usleep(2000);
	}
	return own;
}

static void *waits(void *own)
{
	int set = epoll_create1(0);
	struct epoll_event event;

	while (!is_over) {
		if (epoll_wait(set, &event, 1, 5) < 0 && errno == EINTR)
			interrupted++;
		*(_Atomic unsigned long *)own += 1;
	}
	return own;
}

static void *keeps(void *own)
{
	while (!is_over) {
		errno = 0;
		close(-1);
		numbers_check();
		wrong += errno != EBADF;
		*(_Atomic unsigned long *)own += 1;
		if (usleep(1000) && errno == EINTR)
			interrupted++;
	}
	return own;
}

static void handle(int number)
{
	if (number == SIGUSR1)
		is_over = 1;
	else
		foreign++;
}

int main(void)
{
	static void *(*const kinds[KINDS])(void *) = {allocates, loads, bears, waits, keeps};
	pthread_t thread[KINDS];
	sigset_t ours;
	unsigned idle = 0;

	for (int number = 1; number < 32; number++)
		if (number != SIGKILL && number != SIGSTOP && number != SIGCHLD && number != SIGSEGV)
			signal(number, handle);
	sigemptyset(&ours);
	sigaddset(&ours, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &ours, NULL);
	for (unsigned i = 0; i < KINDS; i++)
		pthread_create(&thread[i], NULL, kinds[i], (void *)&rounds[i]);
	pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
	while (!is_over)
		turn();
	for (unsigned i = 0; i < KINDS; i++) {
		pthread_join(thread[i], NULL);
		idle += !rounds[i];
	}
	printf("interrupted %lu, foreign signals %lu, wrong %lu, idle %u\n", interrupted, foreign, wrong,
		idle);
	return 7;
}
