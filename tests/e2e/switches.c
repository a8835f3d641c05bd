/* SPDX-License-Identifier: Apache-2.0 */
/* switches.c - prints the nanoseconds of CPU time that a switch between two processes takes on one processor,
 * with the calls that make it: a byte goes to and fro. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20000

static double cpu_ns(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return 1e9 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       1e3 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static bool send(int to)
{
	return write(to, "", 1) == 1;
}

static bool take(int from)
{
	char byte;

	return read(from, &byte, 1) == 1;
}

int main(void)
{
	int to[2], from[2];
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(to) || pipe(from))
		return 1;
	if (!fork()) {
		for (int i = 0; i < ROUNDS && take(to[0]) && send(from[1]); i++)
			;
		_exit(0);
	}
	for (int i = 0; i < ROUNDS && send(to[1]) && take(from[0]); i++)
		;
	wait(NULL);
	printf("%.0f\n", (cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN)) / (2.0 * ROUNDS));
	return 0;
}
