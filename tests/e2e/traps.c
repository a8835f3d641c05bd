/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traps.c - programs that use SIGTRAP themselves, exec while they run, or have threads
 * that libc knows nothing of. Each mode prints what it saw, which must be the same
 * with and without a recorder (e2e.record.traps.sh).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "samples/burn.h"

#define STACK_BYTES 65536
#define FOREIGN_THREADS 6

static volatile uint64_t sink;
static volatile int is_over;
static volatile sig_atomic_t handled;
static siginfo_t last;

static void burn_ms(unsigned ms)
{
	BURN(ms * UINT64_C(1000000));
}

/* ---- threads without libc ---- */

/* No function of libc: its thread-local storage may be a block of zeros. */
static void foreign_run(void)
{
	while (!is_over)
		sink++;
	for (;;)
		__asm__ volatile("syscall" ::"a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
}

static long foreign_clone(unsigned long flags, char *stack, void *storage)
{
	static int tid;
	uint64_t *top = (uint64_t *)stack;
	register long r10 __asm__("r10") = (long)&tid;
	register void *r8 __asm__("r8") = storage;
	long result;

	*--top = 0;
	*--top = (uint64_t)(uintptr_t)foreign_run;
	__asm__ volatile("syscall\n"
			 "test %%rax, %%rax\n"
			 "jnz 1f\n"
			 "ret\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(top), "d"(&tid), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

static int foreign_start(void *argument)
{
	(void)argument;
	foreign_run();
	return 0;
}

/* A third each: with storage of zeros, with storage at address 0, with that of the thread that made them; and
 * one with a part of that thread's stack, too. */
static int foreign(unsigned ms)
{
	static volatile pid_t is_there = 1;
	_Alignas(16) char part[STACK_BYTES];
	unsigned long flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	for (unsigned i = 0; i < FOREIGN_THREADS; i++) {
		char *memory = mmap(
			NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED ||
			foreign_clone(flags | (i % 3 < 2 ? CLONE_SETTLS : 0), memory + STACK_BYTES,
				i % 3 ? NULL : memory + STACK_BYTES) < 0)
			return 1;
	}
	if (clone(foreign_start, part + STACK_BYTES, (int)flags | CLONE_CHILD_CLEARTID, NULL, NULL, NULL,
		    &is_there) < 0)
		return 1;
	burn_ms(ms);
	is_over = 1;
	while (is_there)
		;
	puts("done");
	return 0;
}

/* ---- SIGTRAP of the program's own ---- */

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	last = *info;
	handled++;
}

static void tell(const char *what)
{
	printf("%s: %d, code %d\n", what, (int)handled, last.si_code);
}

static void wait_for(const sigset_t *set)
{
	struct timespec soon = {0, 30000000};
	siginfo_t info;
	int got;

	raise(SIGTRAP);
	burn_ms(20);
	got = sigwaitinfo(set, &info);
	printf("waited: %d, code %d\n", got, info.si_code);
	got = sigtimedwait(set, &info, &soon);
	printf("none left: %d %d\n", got, errno == EAGAIN);
}

/* Each that is blocked, raised and taken or let through is one, whatever else is pending. */
static int often(unsigned ms)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	struct timespec none = {0, 0};
	unsigned count = ms * 500, taken = 0;
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaction(SIGTRAP, &action, NULL);
	sigprocmask(SIG_BLOCK, &set, &before);
	for (unsigned i = 0; i < count; i++) {
		raise(SIGTRAP);
		taken += sigtimedwait(&set, NULL, &none) == SIGTRAP;
	}
	printf("taken %u of %u, left %d\n", taken, count, sigtimedwait(&set, NULL, &none));
	sigprocmask(SIG_SETMASK, &before, NULL);
	for (unsigned i = 0; i < count; i++) {
		sigprocmask(SIG_BLOCK, &set, NULL);
		raise(SIGTRAP);
		if (i % 2)
			sigprocmask(SIG_SETMASK, &before, NULL);
		else
			sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
	printf("let through %u of %u\n", (unsigned)handled, count);
	return 0;
}

static int handler(unsigned ms)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;
	union sigval value = {.sival_int = 7};
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigaction(SIGTRAP, &action, NULL);
	burn_ms(ms);
	tell("none");
	raise(SIGTRAP);
	tell("raise");
	__asm__ volatile("int3");
	tell("int3");
	kill(getpid(), SIGTRAP);
	tell("kill");
	sigqueue(getpid(), SIGTRAP, value);
	tell("sigqueue");
	printf("value %d\n", last.si_value.sival_int);
	sigprocmask(SIG_BLOCK, &set, NULL);
	burn_ms(ms);
	kill(getpid(), SIGTRAP);
	burn_ms(ms);
	tell("blocked");
	sigpending(&before);
	printf("pending %d\n", sigismember(&before, SIGTRAP));
	sigprocmask(SIG_UNBLOCK, &set, &before);
	printf("was blocked %d\n", sigismember(&before, SIGTRAP));
	tell("unblocked");
	sigprocmask(SIG_BLOCK, &set, NULL);
	wait_for(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	action.sa_flags |= SA_RESETHAND;
	sigaction(SIGTRAP, &action, &old);
	printf("handler read back %d\n", old.sa_sigaction == on_trap);
	raise(SIGTRAP);
	sigaction(SIGTRAP, NULL, &old);
	printf("reset %d\n", old.sa_handler == SIG_DFL);
	tell("reset");
	burn_ms(ms);
	fflush(stdout);
	raise(SIGTRAP);
	return 1;
}

/* As Go has it: code on stacks of a page, all signals on an alternate one. */
static ucontext_t main_context, small_context;
static unsigned small_ms;

static void small_run(void)
{
	uint64_t end = cpu_now_ns() + small_ms * UINT64_C(1000000);

	while (cpu_now_ns() < end)
		sink++;
}

static int small_stacks(unsigned ms)
{
	char *memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t alternate = {.ss_sp = memory, .ss_size = STACK_BYTES / 2};
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	char *page = memory + STACK_BYTES - 4096;

	sigfillset(&action.sa_mask);
	if (memory == MAP_FAILED || mprotect(page - 4096, 4096, PROT_NONE) || sigaltstack(&alternate, NULL))
		return 1;
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		sigaction(number, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	getcontext(&small_context);
	small_context.uc_stack = (stack_t){.ss_sp = page, .ss_size = 4096};
	small_context.uc_link = &main_context;
	makecontext(&small_context, small_run, 0);
	small_ms = ms;
	swapcontext(&main_context, &small_context);
	printf("handled %d\n", (int)handled);
	return 0;
}

static int raised(unsigned ms)
{
	burn_ms(ms);
	raise(SIGTRAP);
	return 1;
}

static int breakpoint(unsigned ms)
{
	burn_ms(ms);
	__asm__ volatile("int3");
	return 1;
}

static int ignored(unsigned ms)
{
	signal(SIGTRAP, SIG_IGN);
	burn_ms(ms);
	raise(SIGTRAP);
	burn_ms(ms);
	puts("ignored");
	return 0;
}

/* The kernel asks nobody who has ignored or blocked it. */
static int ignored_breakpoint(unsigned ms)
{
	signal(SIGTRAP, SIG_IGN);
	return breakpoint(ms);
}

static int blocked_breakpoint(unsigned ms)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	return breakpoint(ms);
}

/* ---- exec ---- */

static const char *self, *mode;

static void *next(void *left)
{
	char count[16];
	const char *const argv[] = {self, mode, count, NULL};

	snprintf(count, sizeof(count), "%u", *(unsigned *)left - 1);
	burn_ms(1);
	if (strcmp(mode, "syscall-execs"))
		execl(self, self, mode, count, (char *)NULL);
	else if (*(unsigned *)left % 2)
		syscall(SYS_execve, self, argv, environ);
	else
		syscall(SYS_execveat, open(self, O_PATH | O_CLOEXEC), "", argv, environ, AT_EMPTY_PATH);
	return NULL;
}

static int execs_end(void)
{
	struct sigaction now;

	sigaction(SIGTRAP, NULL, &now);
	printf("end, %s\n", now.sa_handler == SIG_DFL ? "as usual" : "SIGTRAP is ignored");
	return 0;
}

static int execs(unsigned left)
{
	if (!left)
		return execs_end();
	next(&left);
	return 1;
}

static int thread_execs(unsigned left)
{
	pthread_t thread;

	if (!left)
		return execs_end();
	pthread_create(&thread, NULL, next, &left);
	pthread_join(thread, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(unsigned);
	} modes[] = {{"foreign", foreign}, {"handler", handler}, {"often", often}, {"raise", raised},
		{"int3", breakpoint}, {"ignored", ignored}, {"ignored-int3", ignored_breakpoint},
		{"blocked-int3", blocked_breakpoint}, {"small-stacks", small_stacks}, {"execs", execs},
		{"syscall-execs", execs}, {"thread-execs", thread_execs}};

	self = argv[0];
	mode = argc > 1 ? argv[1] : "";
	for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(modes[i].name, mode))
			return modes[i].run(argc > 2 ? (unsigned)atoi(argv[2]) : 20);
	return 2;
}
