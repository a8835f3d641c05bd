/* SPDX-License-Identifier: Apache-2.0 */
/*
 * awkward.c - programs that profilers have broken, or been broken by, one per first argument. Each
 * checks for itself that nothing was done to it, prints what it finds and ends with 0 if all is well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "samples/burn.h"

APART static void burn(double ms)
{
	BURN(ms * 1e6);
}

static _Atomic unsigned lived;

static void *short_life(void *argument)
{
	burn(1);
	lived++;
	return argument;
}

/* 600 threads, about 20 at a time, half of them detached: all have lived before the process ends. */
static int storm(void)
{
	for (int round = 0; round < 30; round++) {
		pthread_t threads[20];

		for (int i = 0; i < 20; i++)
			if (pthread_create(&threads[i], NULL, short_life, NULL) != 0)
				return 1;
		for (int i = 0; i < 20; i++)
			if (i % 2 == 0)
				pthread_join(threads[i], NULL);
			else
				pthread_detach(threads[i]);
	}
	while (lived < 600)
		usleep(1000);
	return 0;
}

APART static uint64_t recurse(int depth)
{
	uint64_t below = 0;

	if (depth > 0)
		below = recurse(depth - 1);
	else
		burn(600);
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static int deep(void)
{
	return recurse(3000) != 3001;
}

/* Names with everything in them that a terminal or a table could choke on. */
static int names(void)
{
	prctl(PR_SET_NAME, "a\tb\n\033[31m;,=\\\xff");
	burn(100);
	return 0;
}

static volatile sig_atomic_t profiles;

static void on_profile(int number)
{
	(void)number;
	profiles++;
}

/* Its own SIGPROF timer and handler on a small stack of its own keep their count. */
static int own_profiler(void)
{
	static char stack[8192];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct itimerval every = {{0, 20000}, {0, 20000}};
	int due = 40;

	sigaltstack(&alternate, NULL);
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	burn(800);
	/* Who always gives way before the kernel's tick, on a busy machine, gets none. */
	for (int i = 0; i < 50 && profiles < 5; i++)
		due += 20, burn(400);
	/* By the tick's own count of time; another timer of ours would bring four times as many more. */
	printf("own signals: %s\n", profiles >= 5 && profiles <= 3 * due ? "as asked" : "wrong");
	return profiles < 5 || profiles > 3 * due;
}

/* Waits that a signal would cut short, in a thread that works in between. */
static int waits(void)
{
	int interrupted = 0;
	sem_t never;

	sem_init(&never, 0, 0);
	for (int i = 0; i < 40; i++) {
		struct timespec pause = {0, 4000000}, until;

		burn(4);
		interrupted += nanosleep(&pause, NULL) != 0;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 4000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		interrupted += sem_timedwait(&never, &until) == 0 || errno != ETIMEDOUT;
	}
	printf("interrupted: %d\n", interrupted);
	return interrupted != 0;
}

static void *load_and_unload(void *argument)
{
	for (int i = 0; i < 150; i++) {
		void *library = dlopen("libz.so.1", RTLD_NOW);

		if (!library)
			library = dlopen("libm.so.6", RTLD_NOW);
		if (library)
			dlclose(library);
	}
	return argument;
}

static int unload(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, load_and_unload, NULL) != 0)
		return 1;
	burn(600);
	return pthread_join(thread, NULL);
}

static int c11_work(void *argument)
{
	(void)argument;
	burn(300);
	return 11;
}

static int c11(void)
{
	thrd_t thread;
	int result = 0;

	if (thrd_create(&thread, c11_work, NULL) != thrd_success)
		return 1;
	thrd_join(thread, &result);
	printf("c11: %d\n", result);
	return result != 11;
}

static void *until_cancelled(void *argument)
{
	for (;;) {
		burn(5);
		pthread_testcancel();
	}
	return argument;
}

static int cancel(void)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, until_cancelled, NULL) != 0)
		return 1;
	burn(200);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("cancelled: %d\n", result == PTHREAD_CANCELED);
	return result != PTHREAD_CANCELED;
}

/* Both processes return from it, so that it takes its return address off the stack ahead of the call. */
static int vforks(void)
{
	uint64_t end_ns = cpu_now_ns() + 200000000;

	while (cpu_now_ns() < end_ns) {
		pid_t child = vfork();

		if (!child)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	return 0;
}

static void *start_there(void *unused)
{
	char *words[] = {(char *)"true", NULL};
	int spawned = 1, status = 1;
	pid_t child;

	(void)unused;
	if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) ||
		waitpid(child, &spawned, 0) != child)
		return (void *)"not spawned";
	child = vfork();
	if (!child) {
		execve("/bin/true", words, environ);
		_exit(1);
	}
	return child < 0 || waitpid(child, &status, 0) != child || spawned || status ? (void *)"not started"
										     : NULL;
}

static long pages_mapped(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (file && fscanf(file, "%ld", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages;
}

/* What a child of vfork maps stays when it calls exec. */
static int starts(void)
{
	char *words[] = {(char *)"true", NULL};
	long before = pages_mapped(), more;
	int status;

	for (int i = 0; i < 100; i++) {
		pid_t child = vfork();

		if (!child) {
			execve("/bin/true", words, environ);
			_exit(1);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			return 1;
	}
	more = pages_mapped() - before;
	printf("memory: %s\n", more < 100 ? "as before" : "grown");
	return more >= 100;
}

/* A thread with as little stack as there may be starts programs, with a large environment. */
static int narrow(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *result = NULL;
	char name[16];

	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "VARIABLE%d", i);
		setenv(name, "value", 1);
	}
	if (pthread_attr_init(&attributes) ||
		pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) ||
		pthread_create(&thread, &attributes, start_there, NULL))
		return 1;
	pthread_join(thread, &result);
	printf("programs: %s\n", result ? (const char *)result : "all");
	return result != NULL;
}

/* Closes all descriptors, leaves its session and its parent; what it does then is recorded all the same. */
static int away(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		closefrom(0);
		setsid();
		burn(300);
		_exit(0);
	}
	printf("left: %d\n", pid > 0);
	return pid < 0;
}

/* fork in a thread while others work; the child works and ends by _exit. */
static void *fork_there(void *argument)
{
	for (int i = 0; i < 10; i++) {
		pid_t pid = fork();
		int status = -1;

		if (pid == 0) {
			burn(20);
			_exit(7);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
			return "lost a child";
	}
	return argument;
}

static int forks(void)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, fork_there, NULL) != 0)
		return 1;
	burn(300);
	pthread_join(thread, &result);
	printf("children: %s\n", result ? (const char *)result : "all");
	return result != NULL;
}

static sem_t has_burnt;

static void *burn_and_idle(void *argument)
{
	burn(12);
	sem_post(&has_burnt);
	for (;;)
		pause();
	return argument;
}

/* Threads that have worked for less than a period and live on when their process ends. */
static int idlers(void)
{
	pthread_t threads[3];

	sem_init(&has_burnt, 0, 0);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, burn_and_idle, NULL) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		sem_wait(&has_burnt);
	return 0;
}

static sem_t posted;
static char *stack_top;
static long handler_bytes;

static void *take_posts(void *unused)
{
	for (;;)
		sem_wait(&posted);
	return unused;
}

static void post(int number)
{
	(void)number;
	handler_bytes = stack_top - (char *)__builtin_frame_address(0);
	sem_post(&posted);
}

/* A handler posts a semaphore on an alternate stack that has room for little more than its frame: nothing
 * below it is touched. */
static int posts(void)
{
	static char memory[1 << 16];
	const struct sigaction action = {.sa_handler = post, .sa_flags = SA_ONSTACK};
	stack_t alternate = {.ss_sp = memory, .ss_size = sizeof(memory)};
	size_t touched = 0, bytes;
	pthread_t thread;

	stack_top = memory + sizeof(memory);
	sem_init(&posted, 0, 0);
	if (sigaltstack(&alternate, NULL) || sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1))
		return 1;
	memset(memory, 0x5a, sizeof(memory));
	bytes = (size_t)handler_bytes + 512;
	alternate = (stack_t){.ss_sp = stack_top - bytes, .ss_size = bytes};
	if (sigaltstack(&alternate, NULL) || pthread_create(&thread, NULL, take_posts, NULL))
		return 1;
	for (int i = 0; i < 50; i++) {
		usleep(2000);
		raise(SIGUSR1);
	}
	for (size_t i = 0; i < sizeof(memory) - bytes; i++)
		touched += memory[i] != 0x5a;
	printf("bytes below the alternate stack that were written: %zu\n", touched);
	return touched != 0;
}

/* Calls whose arguments the program has wrong, and those that name a descriptor. */
static int calls(void)
{
	siginfo_t *nowhere = (siginfo_t *)sysconf(_SC_PAGESIZE); /* NOLINT: it is the point */
	int fd = eventfd(0, 0);

	if (fd < 0 || eventfd_write(fd, 1))
		return 1;
	return waitid(P_ALL, 0, nowhere, WEXITED | WNOHANG) != -1 || (errno != EFAULT && errno != ECHILD);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} ways[] = {{"vforks", vforks}, {"storm", storm}, {"deep", deep}, {"names", names},
		{"own_profiler", own_profiler}, {"waits", waits}, {"unload", unload}, {"c11", c11},
		{"cancel", cancel}, {"away", away}, {"forks", forks}, {"narrow", narrow}, {"starts", starts},
		{"idlers", idlers}, {"posts", posts}, {"calls", calls}};

	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			return ways[i].run();
	return 2;
}
