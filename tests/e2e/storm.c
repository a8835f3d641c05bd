/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm.c - a storm of context switches: two threads on one processor wake each other ROUNDS times, between
 * two lines of stdin. Says how often its threads were switched out so far before the first, "ROUNDS-DONE NS",
 * the clock of records then, before the second, and how often in all at its end. With a second argument each
 * gives way to the other ROUNDS times instead: neither ever waits.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t turn;
static long rounds;
static bool gives_way;

static void cpu_choose(void)
{
	cpu_set_t allowed, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *play(void *argument)
{
	uint32_t own = (uint32_t)(uintptr_t)argument;

	cpu_choose();
	for (long i = 0; gives_way && i < rounds; i++)
		sched_yield();
	for (long i = 0; !gives_way && i < rounds; i++) {
		while (atomic_load(&turn) != own)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !own, NULL, NULL, 0);
		atomic_store(&turn, !own);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void line_await(void)
{
	char line[16];

	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(2);
}

static void switches_tell(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("%ld\n", usage.ru_nvcsw + usage.ru_nivcsw);
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	struct timespec now;

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	gives_way = argc > 2;
	switches_tell();
	line_await();
	for (uintptr_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, play, (void *)i))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_REALTIME, &now);
	printf("%ld %llu\n", rounds,
		(unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec);
	line_await();
	switches_tell();
	return 0;
}
