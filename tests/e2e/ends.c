/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends.c - threads and a process that end past libc, by syscall(): eight threads of 23 ms, one that libc does
 * not know and that has main's storage, and then main, after 63 ms, with exit code 5. With an argument as
 * many children that end in a handler, which comes while they put marks.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/program/hpct.h"

#define THREADS 8

static volatile pid_t is_there = 1;

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void burn(uint64_t ns)
{
	for (uint64_t end_ns = cpu_now_ns() + ns; cpu_now_ns() < end_ns;)
		for (volatile int i = 0; i < 2000; i++)
			;
}

static _Noreturn void leave(void)
{
	for (;;)
		syscall(SYS_exit, 0);
}

static void *run(void *ended)
{
	burn(23000000);
	__atomic_fetch_add((int *)ended, 1, __ATOMIC_RELAXED);
	leave();
}

static int run_foreign(void *nothing)
{
	(void)nothing;
	leave();
}

static void on_alarm(int number)
{
	_exit(number == SIGALRM ? 0 : 1);
}

static int marks(int children)
{
	const struct itimerval once = {{0, 0}, {0, 200}};
	int status, ended = 0;

	for (int i = 0; i < children; i++) {
		if (!fork()) {
			signal(SIGALRM, on_alarm);
			setitimer(ITIMER_REAL, &once, NULL);
			for (;;)
				hpct_mark("here");
		}
		ended += wait(&status) > 0 && !status;
	}
	printf("ended: %d\n", ended);
	return 0;
}

int main(int argc, char **argv)
{
	static _Alignas(16) char stack[65536];
	static int ended;
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			  CLONE_CHILD_CLEARTID;
	pthread_t threads[THREADS];

	if (argc > 1)
		return marks(atoi(argv[1]));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, &ended))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL); /* the kernel tells of their end */
	if (clone(run_foreign, stack + sizeof(stack), flags, NULL, NULL, NULL, &is_there) < 0)
		return 1;
	while (is_there)
		;
	burn(63000000);
	printf("ended: %d\n", ended);
	fflush(stdout);
	syscall(SYS_exit_group, 5);
	return 1;
}
