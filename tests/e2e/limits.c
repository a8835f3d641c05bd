/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c MODE - a program that limits itself, locks its memory, or leaves a core file. What it prints must
 * be the same with and without a recorder (e2e.record.limits.sh).
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1024ul * 1024)

static const char *self;

static void *thread_run(void *nothing)
{
	volatile char *block = malloc(MIB);

	if (block)
		block[0] = 1;
	free((void *)block);
	return nothing;
}

/* Some that there is room for, then more than there is. */
static void take(const char *who)
{
	pthread_t thread;
	char *fits = malloc(64 * MIB), *is_too_large = malloc(400 * MIB);
	int error = 0;

	if (fits)
		memset(fits, 1, 64 * MIB);
	for (int i = 0; i < 8 && !error; i++) {
		error = pthread_create(&thread, NULL, thread_run, NULL);
		if (!error)
			pthread_join(thread, NULL);
	}
	printf("%s: has 64 MiB %d, 400 MiB %d, threads %d\n", who, fits != NULL, is_too_large != NULL, error);
	free(fits);
	free(is_too_large);
	fflush(stdout);
}

static void tell(const char *when, int resource)
{
	struct rlimit now, same;

	getrlimit(resource, &now);
	prlimit(0, resource, NULL, &same);
	printf("%s: %ld of %ld, %s\n", when, (long)now.rlim_cur, (long)now.rlim_max,
		memcmp(&now, &same, sizeof(now)) ? "or not" : "by both");
	fflush(stdout);
}

static int limited(int resource)
{
	struct rlimit wanted = {256 * MIB, 384 * MIB}, old;

	tell("before", resource);
	printf("set %d\n", setrlimit(resource, &wanted));
	tell("after", resource);
	take("limited");
	wanted.rlim_cur = 500 * MIB;
	printf("more than the hard one %d", setrlimit(resource, &wanted));
	printf(" %s\n", strerror(errno));
	wanted.rlim_cur = 300 * MIB;
	printf("set %d", prlimit(getpid(), resource, &wanted, &old));
	printf(", was %ld\n", (long)old.rlim_cur);
	wanted.rlim_max = 512 * MIB;
	printf("a higher hard one %d\n", setrlimit(resource, &wanted));
	tell("then", resource);
	if (!fork()) {
		tell("child", resource);
		take("child");
		_exit(0);
	}
	wait(NULL);
	execl(self, self, resource == RLIMIT_AS ? "then-as" : "then-data", (char *)NULL);
	return 1;
}

/* KiB that are locked, and that a core file has, but for what no file has of itself. */
static unsigned long locked_kib(void)
{
	char line[256];
	unsigned long kib = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmLck: %lu", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static unsigned long dumped_kib(void)
{
	char line[4096];
	unsigned long kib = 0, size = 0;
	FILE *file = fopen("/proc/self/smaps", "r");

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "Size: %lu", &size);
		if (!strncmp(line, "VmFlags:", 8) && strstr(line, " wr") && !strstr(line, " dd"))
			kib += size;
	}
	if (file)
		fclose(file);
	return kib;
}

static int locked(int flags)
{
	char *block = malloc(96 * MIB);

	if (!block)
		return 1;
	printf("mlockall %d\n", mlockall(flags));
	take("locked");
	memset(block, 1, 96 * MIB);
	printf("locked: %s\n",
		locked_kib() > 90 * 1024 ? (locked_kib() < 400 * 1024 ? "some" : "much") : "little");
	printf("munlockall %d", munlockall());
	printf(", locked: %s\n", locked_kib() ? "some" : "nothing");
	free(block);
	return 0;
}

/* Of time that threads which are not real-time's never have. */
static int timeless(void)
{
	const struct rlimit none = {0, 0};
	clock_t end = clock() + CLOCKS_PER_SEC / 10;

	printf("setrlimit %d\n", setrlimit(RLIMIT_RTTIME, &none));
	while (clock() < end)
		;
	tell("then", RLIMIT_RTTIME);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	self = argv[0];
	if (!strcmp(mode, "as"))
		return limited(RLIMIT_AS);
	if (!strcmp(mode, "data"))
		return limited(RLIMIT_DATA);
	if (!strcmp(mode, "rttime"))
		return timeless();
	if (!strcmp(mode, "then-as"))
		return tell("next", RLIMIT_AS), 0;
	if (!strcmp(mode, "then-data"))
		return tell("next", RLIMIT_DATA), 0;
	if (!strcmp(mode, "mlockall"))
		return locked(MCL_CURRENT | MCL_FUTURE);
	if (!strcmp(mode, "current"))
		return locked(MCL_CURRENT);
	if (!strcmp(mode, "future"))
		return locked(MCL_FUTURE);
	printf("mlockall %d\n", mlockall(0));
	printf("a core file has %s\n", dumped_kib() < 64 * 1024 ? "little" : "much");
	return 0;
}
