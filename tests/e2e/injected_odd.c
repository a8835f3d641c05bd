/* SPDX-License-Identifier: Apache-2.0 */
/*
 * injected_odd KIND - programs in which an agent that comes later meets what is not ordinary. Each works
 * until SIGUSR1, checks itself, prints "odd: ok" or what went wrong, and exits with 7.
 *
 *   setuid    asks glibc to change its user again and again, which waits for an answer of each thread
 *   asleep    the same, where the thread that answers waits otherwise
 *   sigwait   a thread that takes whatever signal comes, and works in between
 *   raw       threads made by clone itself: with the storage of their creator, or with none of libc's
 *   ends      threads that end, their stacks unmapped at once and the memory used for something else
 *   forks     children that need the loader's locks
 *   waits     waits that a signal ends, in the middle of work: none of them may end with EINTR by itself
 *   signals   a wait in read that a signal of its own must end with EINTR, whenever it comes
 *   stack     works on an alternate stack and in handlers
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static _Atomic unsigned long wrong, rounds;

static void burn(unsigned long turns)
{
	for (volatile unsigned long i = 0; i < turns; i++)
		;
}

static void handle(int number)
{
	(void)number;
	is_over = 1;
}

static void *works(void *unused)
{
	while (!is_over) {
		burn(2000000);
		usleep(100);
	}
	return unused;
}

static void setuid_kind(void)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, works, NULL);
	while (!is_over) {
		wrong += setuid(getuid()) != 0;
		rounds++;
		burn(20000);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

static void *changes(void *unused)
{
	while (!is_over) {
		wrong += setuid(getuid()) != 0;
		rounds++;
		burn(1000000);
	}
	return unused;
}

static void asleep_kind(void)
{
	static const struct timespec long_ = {1, 0};
	pthread_t thread;

	pthread_create(&thread, NULL, changes, NULL);
	while (!is_over)
		nanosleep(&long_, NULL);
	pthread_join(thread, NULL);
}

static void *takes(void *set)
{
	static const struct timespec shortly = {0, 50000000};

	while (!is_over) {
		siginfo_t info;
		int number = sigtimedwait(set, &info, &shortly);

		wrong += number > 0 && number != SIGUSR1;
		if (number == SIGUSR1)
			is_over = 1;
		burn(3000000);
		rounds++;
	}
	return NULL;
}

static void sigwait_kind(void)
{
	sigset_t all;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_create(&thread, NULL, takes, &all);
	pthread_join(thread, NULL);
}

/* ---- raw threads ---- */

static char raw_stack[2][65536];
static _Atomic int raw_left = 2;

static int raw_shares(void *unused)
{
	(void)unused;
	while (!is_over)
		burn(1000);
	raw_left--;
	syscall(SYS_exit, 0);
	return 0;
}

static uint64_t raw_storage[512];

/* Its register points to zeros, with addresses nobody can read before them. */
static int raw_alone(void *unused)
{
	(void)unused;
	__asm__ volatile("syscall"
			 :
			 : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(raw_storage + 500)
			 : "rcx", "r11", "memory");
	while (!is_over)
		for (volatile int i = 0; i < 1000; i++)
			;
	for (int i = 0; i < 500; i++)
		wrong += raw_storage[i] != 0x4141414141414141;
	raw_left--;
	for (;;)
		__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0) : "rcx", "r11");
	return 0;
}

static void raw_kind(void)
{
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	for (int i = 0; i < 500; i++)
		raw_storage[i] = 0x4141414141414141;
	if (clone(raw_shares, raw_stack[0] + 65536, flags, NULL) < 0 ||
		clone(raw_alone, raw_stack[1] + 65536, flags, NULL) < 0)
		wrong++;
	while (!is_over || raw_left) {
		burn(100000);
		rounds++;
	}
}

/* ---- threads that end ---- */

#define STACK (512u * 1024u)

static void *briefly(void *unused)
{
	burn(2000000);
	return unused;
}

static void *ends_again(void *unused)
{
	while (!is_over) {
		char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_attr_t attributes;
		pthread_t thread;

		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, stack, STACK);
		if (pthread_create(&thread, &attributes, briefly, NULL) || pthread_join(thread, NULL))
			wrong++;
		/* What was its storage is something else now. */
		memset(stack, 0x5a, STACK);
		burn(400000);
		for (unsigned i = 0; i < STACK; i++)
			wrong += stack[i] != 0x5a;
		munmap(stack, STACK);
		rounds++;
	}
	return unused;
}

static void ends_kind(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, ends_again, NULL);
	while (!is_over)
		burn(100000);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* ---- forks ---- */

static int look(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)info, (void)bytes, (void)unused;
	return 0;
}

static void forks_kind(void)
{
	while (!is_over) {
		pid_t child = fork();
		int status;

		if (!child) {
			void *library;

			alarm(20); /* a lock that nobody gives back */
			dl_iterate_phdr(look, NULL);
			library = dlopen("libm.so.6", RTLD_NOW);
			_exit(library ? 3 : 4);
		}
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		wrong += !WIFEXITED(status) || WEXITSTATUS(status) != 3;
		rounds++;
	}
}

/* ---- waits ---- */

static void *waits_again(void *kind)
{
	int set = epoll_create1(0);
	struct epoll_event event;
	struct timespec brief = {0, 50000};

	for (unsigned long i = 0; !is_over; i++) {
		int result = 0;

		burn(i * 7919 % 20000);
		switch ((intptr_t)kind) {
		case 0:
			result = epoll_wait(set, &event, 1, 1);
			break;
		case 1:
			result = poll(NULL, 0, 1);
			break;
		case 2:
			result = nanosleep(&brief, NULL);
			break;
		default:
			result = select(0, NULL, NULL, NULL, &(struct timeval){0, 50});
		}
		wrong += result < 0 && errno == EINTR;
		rounds++;
	}
	close(set);
	return NULL;
}

static void waits_kind(void)
{
	sigset_t ours;
	pthread_t thread[4];

	sigemptyset(&ours);
	sigaddset(&ours, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &ours, NULL);
	for (intptr_t i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, waits_again, (void *)i);
	pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* ---- a signal that ends a wait ---- */

static void nothing(int number)
{
	(void)number;
}

static _Atomic bool is_done;
static pthread_t reader;
static pid_t reader_tid;

/* In read; a thread that an agent is being loaded into stays there. */
static bool reads(void)
{
	char path[64], text[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)reader_tid);
	file = fopen(path, "r");
	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return !strncmp(text, "0 ", 2);
}

static void *strikes(void *unused)
{
	while (!is_over || !is_done) {
		unsigned long before = rounds;

		if (!reads())
			continue;
		pthread_kill(reader, SIGUSR2);
		for (int i = 0; i < 20000 && rounds == before && !is_done; i++)
			usleep(500); /* 10 s */
		if (rounds == before && !is_done) {
			printf("odd: a signal did not end a wait\n");
			fflush(stdout);
			_exit(8);
		}
	}
	return unused;
}

static void signals_kind(void)
{
	struct sigaction action = {.sa_handler = nothing}; /* without SA_RESTART */
	int ends[2];
	char byte;
	pthread_t thread;

	sigaction(SIGUSR2, &action, NULL);
	reader = pthread_self();
	reader_tid = getpid();
	if (pipe(ends) || pthread_create(&thread, NULL, strikes, NULL))
		wrong++;
	while (!is_over) {
		wrong += read(ends[0], &byte, 1) >= 0 || errno != EINTR;
		rounds++;
	}
	is_done = true;
	pthread_join(thread, NULL);
}

/* ---- handlers ---- */

static void works_in_handler(int number)
{
	(void)number;
	while (!is_over) {
		burn(3000000);
		rounds++;
	}
}

static void stack_kind(void)
{
	static char alternate[16384];
	stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct sigaction action = {.sa_handler = works_in_handler, .sa_flags = SA_ONSTACK};

	sigaltstack(&other, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2); /* which returns at the end: between two there would be moments on its own stack */
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {{"setuid", setuid_kind}, {"asleep", asleep_kind}, {"sigwait", sigwait_kind},
		{"raw", raw_kind}, {"ends", ends_kind}, {"forks", forks_kind}, {"waits", waits_kind},
		{"signals", signals_kind}, {"stack", stack_kind}};

	signal(SIGUSR1, handle);
	for (size_t i = 0; count == 2 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(words[1], kinds[i].name))
			kinds[i].run();
	if (wrong || !rounds)
		printf("odd: %lu wrong of %lu\n", wrong, rounds);
	else
		printf("odd: ok\n");
	return 7;
}
