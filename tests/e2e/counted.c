/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counted.c - a program whose work is known to the last beat, whoever is killed meanwhile:
 *
 *   counted FILE THREADS EXECS MS       each thread sets the mark beatN every few ms and burns CPU in
 * between, for MS in all, in 1 + EXECS programs one behind the other counted --kill PID... kills them at
 * once; prints when (CLOCK_MONOTONIC, ns), and how long the first one has waited for a CPU so far (ns)
 *   counted --waited PID                prints that alone
 *   counted --print FILE                a line for each thread: its mark, then when each beat was
 *
 * FILE is shared memory: the number of threads so far, then for each its number of beats and their times. A
 * beat is noted behind its mark.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "record/program/hpct.h"

#define SLOTS 64u
#define BEATS 4094u
#define BEAT_NS 5000000u

struct shared {
	_Atomic uint32_t slots;
	struct slot {
		_Atomic uint64_t count;
		uint64_t times_ns[BEATS];
	} slot[SLOTS];
};

static struct shared *shared;
static uint64_t end_ns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void burn_until(uint64_t until_ns)
{
	volatile unsigned work = 0;

	while (now_ns() < until_ns)
		for (unsigned i = 0; i < 2000; i++)
			work = work + i;
}

static void *beat(void *unused)
{
	const struct timespec pause = {0, BEAT_NS / 2};
	uint32_t number = atomic_fetch_add(&shared->slots, 1);
	struct slot *slot = &shared->slot[number % SLOTS];
	char name[32];

	snprintf(name, sizeof(name), "beat%u", number);
	while (number < SLOTS && slot->count < BEATS) {
		uint64_t at_ns = now_ns();

		if (at_ns >= end_ns)
			break;
		hpct_mark(name);
		slot->times_ns[slot->count] = at_ns;
		atomic_fetch_add(&slot->count, 1);
		burn_until(at_ns + BEAT_NS / 2);
		nanosleep(&pause, NULL);
	}
	return unused;
}

static struct shared *shared_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *map;

	if (fd < 0 || ftruncate(fd, sizeof(struct shared)))
		return NULL;
	map = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

/* The next one of the chain, whose arguments are `own`, with one EXEC and so much time less. */
static int go_on(char *const *own, int execs, uint64_t part_ms, uint64_t left_ms)
{
	char execs_text[16], left_text[24];

	snprintf(execs_text, sizeof(execs_text), "%d", execs - 1);
	snprintf(left_text, sizeof(left_text), "%llu", (unsigned long long)(left_ms - part_ms));
	execl("/proc/self/exe", own[0], own[1], own[2], execs_text, left_text, (char *)NULL);
	return 1;
}

static int work(char **own)
{
	int threads = atoi(own[2]), execs = atoi(own[3]);
	uint64_t left_ms = strtoull(own[4], NULL, 10), part_ms = left_ms / (uint64_t)(execs + 1);
	pthread_t ids[SLOTS];

	shared = shared_open(own[1]);
	if (!shared || threads < 1 || threads > (int)SLOTS)
		return 1;
	end_ns = now_ns() + part_ms * 1000000u;
	for (int i = 1; i < threads; i++)
		if (pthread_create(&ids[i], NULL, beat, NULL))
			return 1;
	beat(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	return execs ? go_on(own, execs, part_ms, left_ms) : 0;
}

static unsigned long long waited_ns(const char *pid)
{
	unsigned long long ran = 0, waited = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/schedstat", pid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (file)
		fclose(file);
	return waited;
}

static int kill_all(char **pids)
{
	unsigned long long waited = pids[0] ? waited_ns(pids[0]) : 0, at_ns = now_ns();

	for (; *pids; pids++)
		kill((pid_t)atoi(*pids), SIGKILL);
	printf("%llu %llu\n", at_ns, waited);
	return 0;
}

static int print(const char *path)
{
	shared = shared_open(path);
	if (!shared)
		return 1;
	for (uint32_t i = 0; i < shared->slots && i < SLOTS; i++) {
		printf("beat%u", i);
		for (uint64_t j = 0; j < shared->slot[i].count; j++)
			printf("\t%llu", (unsigned long long)shared->slot[i].times_ns[j]);
		putchar('\n');
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "--kill"))
		return kill_all(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "--waited"))
		return printf("%llu\n", waited_ns(argv[2])) < 0;
	if (argc == 3 && !strcmp(argv[1], "--print"))
		return print(argv[2]);
	if (argc == 5)
		return work(argv);
	return 2;
}
