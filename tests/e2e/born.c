/* SPDX-License-Identifier: Apache-2.0 */
/*
 * born.c - children by other ways than fork(), each of which does one of the things that children do. What is
 * printed must be the same with and without a recorder (e2e.record.born.sh).
 */
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pid_t _Fork(void) __attribute__((weak));

static const char *self;
static volatile uint64_t sink;

static void burn(void)
{
	for (unsigned i = 0; i < 6000000; i++)
		sink = sink * 69069 + i;
}

static void *thread_run(void *nothing)
{
	burn();
	return nothing;
}

/* ---- what they do ---- */

static void do_burn(void)
{
	const struct timespec soon = {0, 1000000};

	burn();
	nanosleep(&soon, NULL);
}

static void do_thread(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, thread_run, NULL);

	if (!error)
		pthread_join(thread, NULL);
	printf("a thread %d\n", error);
}

static void do_exec(void)
{
	execl(self, self, "end", (char *)NULL);
}

static void do_system(void)
{
	printf("system %d\n", system("exit 3") >> 8);
}

static void do_fork(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		burn();
		_exit(4);
	}
	waitpid(child, &status, 0);
	printf("its child %d\n", WEXITSTATUS(status));
}

static void do_trap(void)
{
	raise(SIGTRAP);
}

/* Erlang has all handlers on alternate stacks, whoever has installed them. */
static void do_flags(void)
{
	static const int numbers[] = {SIGTRAP, 61};
	uint64_t action[4], after[4] = {0};
	int kept = 0;

	for (unsigned i = 0; i < 2; i++) {
		syscall(SYS_rt_sigaction, numbers[i], NULL, action, 8L);
		action[1] |= SA_ONSTACK;
		syscall(SYS_rt_sigaction, numbers[i], action, NULL, 8L);
	}
	if (fork()) {
		wait(NULL);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		syscall(SYS_rt_sigaction, numbers[i], NULL, after, 8L);
		kept += (after[1] & SA_ONSTACK) != 0;
	}
	printf("flags kept %d\n", kept);
	fflush(stdout);
	_exit(0);
}

static void do_exit(void)
{
	exit(5);
}

static const struct deed {
	const char *name;
	void (*run)(void);
} deeds[] = {{"burn", do_burn}, {"thread", do_thread}, {"exec", do_exec}, {"system", do_system},
	{"fork", do_fork}, {"trap", do_trap}, {"exit", do_exit}, {"flags", do_flags}};

/* ---- how they are made ---- */

static int child_run(void *deed)
{
	((const struct deed *)deed)->run();
	fflush(stdout);
	_exit(6);
}

static pid_t by_Fork(const struct deed *deed)
{
	(void)deed;
	return _Fork ? _Fork() : fork();
}

static pid_t by_call(const struct deed *deed)
{
	(void)deed;
	return (pid_t)syscall(SYS_fork);
}

static pid_t by_clone_call(const struct deed *deed)
{
	(void)deed;
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
}

static pid_t by_clone3(const struct deed *deed)
{
	struct clone_args how = {.exit_signal = SIGCHLD, .flags = 0x100000000u}; /* CLONE_CLEAR_SIGHAND */

	(void)deed;
	return (pid_t)syscall(SYS_clone3, &how, sizeof(how));
}

static pid_t by_clone(const struct deed *deed)
{
	static char stack[256 * 1024] __attribute__((aligned(64)));

	return clone(child_run, stack + sizeof(stack), SIGCHLD, (void *)deed);
}

/* Ends with 7, when it has written over what lies on the stack below the return address of its last call. */
static _Noreturn inline __attribute__((always_inline)) void end_here(void)
{
	for (;;)
		__asm__ volatile(
			"leaq -528(%%rsp), %%rdi\n\tmovl $512, %%ecx\n\txorl %%eax, %%eax\n\trep stosb\n\t"
			"movl $231, %%eax\n\tmovl $7, %%edi\n\tsyscall" ::
				: "rax", "rcx", "rdi", "r11", "memory");
}

/* vfork by other names: the child goes on on this stack, in this memory. */
static int shared(long number, long flags)
{
	struct clone_args how = {.flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD};
	volatile int ended = 0;

	for (volatile int i = 0; i < 20; i++) {
		pid_t child;
		int status = 0;

		if (number == SYS_clone3)
			child = (pid_t)syscall(number, &how, sizeof(how));
		else
			child = (pid_t)syscall(number, flags, 0L, 0L, 0L, 0L);
		if (!child)
			end_here();
		ended += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7;
	}
	return ended;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		pid_t (*make)(const struct deed *);
	} ways[] = {{"_Fork", by_Fork}, {"fork", by_call}, {"clone", by_clone_call}, {"clone3", by_clone3},
		{"clone()", by_clone}};

	(void)argv;
	if (argc > 1)
		return puts("another program") < 0;
	self = argv[0];
	for (unsigned w = 0; w < sizeof(ways) / sizeof(*ways); w++)
		for (unsigned d = 0; d < sizeof(deeds) / sizeof(*deeds); d++) {
			int status = 0;
			pid_t child;

			fflush(stdout);
			child = ways[w].make(&deeds[d]);
			if (!child)
				child_run((void *)&deeds[d]);
			burn();
			if (waitpid(child, &status, 0) != child)
				return 1;
			printf("%s, %s: ends %d, signal %d\n", ways[w].name, deeds[d].name,
				WIFEXITED(status) ? WEXITSTATUS(status) : -1,
				WIFSIGNALED(status) ? WTERMSIG(status) : 0);
		}
	printf("on the same stack: %d", shared(SYS_vfork, 0));
	printf(" %d", shared(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD));
	printf(" %d\n", shared(SYS_clone3, 0));
	return 0;
}
