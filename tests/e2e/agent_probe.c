/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_probe.c - small programs in one, each a way to be hard to measure. Each
 * mode prints what it knows of itself ("cpu THREAD NS") and ends with 0 when it
 * saw nothing unusual; agent.sh runs them with and without the agent.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "samples/burn.h"

#define SAMPLING_SIGNAL 61 /* AGENT_SIGNAL in record/agent/sample/source.h */

static volatile uint64_t sink;
static const char *self;

__attribute__((noinline)) static void burn_ms(unsigned ms)
{
	BURN(ms * UINT64_C(1000000));
}

static void expect(int condition, const char *what)
{
	if (condition)
		return;
	printf("unexpected: %s\n", what);
	exit(1);
}

static void *burn_and_tell(void *argument)
{
	burn_ms((unsigned)(uintptr_t)argument);
	printf("cpu %ld %lu\n", syscall(SYS_gettid), cpu_now_ns());
	return NULL;
}

static int threads(unsigned count, unsigned ms)
{
	pthread_t thread[64];

	for (unsigned i = 0; i < count && i < 64; i++)
		pthread_create(&thread[i], NULL, burn_and_tell, (void *)(uintptr_t)ms);
	for (unsigned i = 0; i < count && i < 64; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void *nothing(void *argument)
{
	return argument;
}

static int short_threads(unsigned count, unsigned unused)
{
	pthread_t thread;
	thrd_t c11;

	(void)unused;
	for (unsigned i = 0; i < count; i++) {
		expect(!pthread_create(&thread, NULL, nothing, NULL), "no thread");
		pthread_join(thread, NULL);
	}
	expect(thrd_create(&c11, (thrd_start_t)(void (*)(void))nothing, NULL) == thrd_success,
		"no C11 thread");
	thrd_join(c11, NULL);
	return 0;
}

/* Many short bursts between sleeps: a tick seldom meets them. */
static int sleepy(unsigned ms, unsigned burst_us)
{
	uint64_t until = cpu_now_ns() + ms * UINT64_C(1000000);
	struct timespec rest = {0, 1000000};

	while (cpu_now_ns() < until) {
		uint64_t end = cpu_now_ns() + burst_us * UINT64_C(1000);

		while (cpu_now_ns() < end)
			sink++;
		expect(!nanosleep(&rest, NULL), "sleep was interrupted");
	}
	printf("cpu %d %lu\n", getpid(), cpu_now_ns());
	return 0;
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
	(void)number;
	handled++;
}

static int signals(unsigned ms, unsigned unused)
{
	struct sigaction action = {.sa_handler = handle}, got;
	sigset_t all, before, none;
	struct timespec soon = {0, 1000000};

	(void)unused;
	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigprocmask(SIG_BLOCK, NULL, &before);
	expect(sigismember(&before, SAMPLING_SIGNAL) == 1, "mask not read back");
	burn_ms(ms);
	pthread_sigmask(SIG_UNBLOCK, &all, &before);
	expect(sigismember(&before, SAMPLING_SIGNAL) == 1, "old mask");
	sigprocmask(SIG_BLOCK, NULL, &before);
	expect(sigismember(&before, SAMPLING_SIGNAL) == 0, "mask not cleared");
	action.sa_mask = all;
	expect(!sigaction(SAMPLING_SIGNAL, &action, NULL), "handler refused");
	expect(!sigaction(SAMPLING_SIGNAL, NULL, &got) && got.sa_handler == handle, "handler not read back");
	expect(sigismember(&got.sa_mask, SAMPLING_SIGNAL) == 1, "handler's mask not read back");
	expect(!sigaction(SIGUSR1, &action, NULL) && !sigaction(SIGUSR1, NULL, &got), "SIGUSR1");
	expect(sigismember(&got.sa_mask, SAMPLING_SIGNAL) == 1, "SIGUSR1's mask not read back");
	burn_ms(ms);
	expect(!handled, "the program's handler took a sample");
	raise(SAMPLING_SIGNAL);
	expect(handled == 1, "the program's own signal was lost");
	signal(SAMPLING_SIGNAL, SIG_IGN);
	burn_ms(ms);
	expect(signal(SAMPLING_SIGNAL, SIG_DFL) == SIG_IGN, "ignoring not read back");
	expect(ppoll(NULL, 0, &soon, &all) == 0, "ppoll");
	expect(pselect(0, NULL, NULL, NULL, &soon, &all) == 0, "pselect");
	expect(sigtimedwait(&all, NULL, &soon) == -1 && errno == EAGAIN, "sigtimedwait");
	close(signalfd(-1, &all, 0));
	printf("cpu %d %lu\n", getpid(), cpu_now_ns());
	return 0;
}

/* A handler on the smallest alternate stack there may be. */
static void handle_long(int number)
{
	(void)number;
	burn_ms(60);
}

static int altstack(unsigned times, unsigned unused)
{
	long page = sysconf(_SC_PAGESIZE), size = sysconf(_SC_MINSIGSTKSZ) + 1024;
	char *memory =
		mmap(NULL, 4 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = memory + 4 * page - size, .ss_size = (size_t)size};
	struct sigaction action = {.sa_handler = handle_long, .sa_flags = SA_ONSTACK};

	(void)unused;
	mprotect(memory, (size_t)page, PROT_NONE);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (unsigned i = 0; i < times; i++)
		raise(SIGUSR1);
	return 0;
}

static ucontext_t scheduler, coroutine;

static void coroutine_run(void)
{
	burn_ms(100);
}

static int coroutines(unsigned times, unsigned unused)
{
	static char stack[1 << 16];

	(void)unused;
	for (unsigned i = 0; i < times; i++) {
		getcontext(&coroutine);
		coroutine.uc_stack.ss_sp = stack;
		coroutine.uc_stack.ss_size = sizeof(stack);
		coroutine.uc_link = &scheduler;
		makecontext(&coroutine, coroutine_run, 0);
		swapcontext(&scheduler, &coroutine);
	}
	return 0;
}

__attribute__((noinline)) static unsigned recurse(unsigned depth)
{
	unsigned below;

	if (!depth) {
		burn_ms(300);
		return 0;
	}
	below = recurse(depth - 1);
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static int recursion(unsigned depth, unsigned unused)
{
	(void)unused;
	return recurse(depth) != depth;
}

static int wait_for(pid_t child)
{
	int status = 0;

	expect(waitpid(child, &status, 0) == child, "no child");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int forks(unsigned ms, unsigned unused)
{
	pid_t child = fork();

	(void)unused;
	if (!child) {
		burn_and_tell((void *)(uintptr_t)ms);
		exit(7);
	}
	burn_ms(ms);
	expect(wait_for(child) == 7, "fork's child");
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); /* nobody is told: must run unharmed */
	if (!child) {
		prctl(PR_SET_NAME, "raw");
		burn_ms(ms);
		_exit(8);
	}
	expect(wait_for(child) == 8, "raw fork's child");
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!child) {
		execl(self, self, "burn", "20", "0", (char *)NULL);
		_exit(9);
	}
	expect(wait_for(child) == 0, "raw fork's child with exec");
	return 0;
}

static int clone_run(void *argument)
{
	(void)argument;
	prctl(PR_SET_NAME, "cloned");
	burn_ms(20);
	execl("/nowhere", "nowhere", (char *)NULL);
	_exit(6);
}

static int spawns(unsigned unused, unsigned unused_too)
{
	char *argv[] = {(char *)(uintptr_t)self, "burn", "20", "0", NULL}, *empty[] = {NULL};
	char *stack = malloc(1 << 16);
	pid_t child;

	(void)unused, (void)unused_too;
	expect(!posix_spawn(&child, self, NULL, NULL, argv, empty) && !wait_for(child), "spawn");
	expect(!posix_spawnp(&child, self, NULL, NULL, argv, environ) && !wait_for(child), "spawnp");
	child = vfork();
	if (!child) {
		execve(self, argv, empty);
		_exit(9);
	}
	expect(wait_for(child) == 0, "vfork and execve");
	child = vfork();
	if (!child) {
		execlp("nowhere-to-be-found", "nowhere", (char *)NULL);
		_exit(5);
	}
	expect(wait_for(child) == 5, "vfork and a failed exec");
	child = clone(clone_run, stack + (1 << 16), CLONE_VM | SIGCHLD, NULL);
	expect(wait_for(child) == 6, "clone with shared memory");
	expect(!system("exit 0") && system("exit 3") >> 8 == 3, "system");
	expect(!pclose(popen("true", "r")), "popen");
	return 0;
}

static int failed_exec(unsigned ms, unsigned unused)
{
	(void)unused;
	for (int i = 0; i < 5; i++) {
		burn_ms(ms);
		expect(execl("/nowhere", "nowhere", (char *)NULL) == -1 && errno == ENOENT, "exec");
		expect(execvp("/etc/passwd", (char *[]){"passwd", NULL}) == -1 && errno == EACCES, "exec");
	}
	printf("cpu %d %lu\n", getpid(), cpu_now_ns());
	return 0;
}

/* Calls itself so many times more, in every way. */
static int exec_chain(unsigned times, unsigned unused)
{
	char left[16], *argv[] = {(char *)(uintptr_t)self, "chain", left, "0", NULL}, *empty[] = {NULL};

	(void)unused;
	snprintf(left, sizeof(left), "%u", times - 1);
	burn_ms(3);
	switch (times % 6) {
	case 1:
		execv(self, argv);
		break;
	case 2:
		execve(self, argv, empty);
		break;
	case 3:
		clearenv();
		execvp(self, argv);
		break;
	case 4:
		execle(self, self, "chain", left, "0", (char *)NULL, empty);
		break;
	case 5:
		fexecve(open(self, O_RDONLY | O_CLOEXEC), argv, environ);
		break;
	default:
		if (!times)
			return 0;
		execveat(AT_FDCWD, self, argv, environ, 0);
	}
	return 1;
}

static pthread_key_t key;

static void destroy(void *value)
{
	burn_ms((unsigned)(uintptr_t)value);
	printf("cpu %ld %lu\n", syscall(SYS_gettid), cpu_now_ns());
}

static void *with_destructor(void *argument)
{
	pthread_setspecific(key, argument);
	pthread_setname_np(pthread_self(), "destructor");
	return NULL;
}

static pthread_barrier_t barrier;

static void *wait_for_name(void *argument)
{
	pthread_barrier_wait(&barrier);
	pause();
	return argument;
}

/* A thread that another one names, and that never ends by itself. */
static int named(unsigned unused, unsigned unused_too)
{
	pthread_t thread;

	(void)unused, (void)unused_too;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, wait_for_name, NULL);
	pthread_barrier_wait(&barrier);
	expect(!pthread_setname_np(thread, "by-another"), "name");
	return 0;
}

static int destructors(unsigned ms, unsigned unused)
{
	pthread_t thread;

	(void)unused;
	pthread_key_create(&key, destroy);
	pthread_create(&thread, NULL, with_destructor, (void *)(uintptr_t)ms);
	pthread_join(thread, NULL);
	return 0;
}

static int ends(unsigned how, unsigned ms)
{
	burn_ms(ms);
	printf("cpu %d %lu\n", getpid(), cpu_now_ns());
	fflush(stdout);
	switch (how) {
	case 0:
		exit(40);
	case 1:
		_exit(41);
	case 2:
		quick_exit(42);
	case 3:
		abort();
	case 4:
		kill(getpid(), SIGKILL);
		break;
	default:
		pthread_exit(NULL);
	}
	return 0;
}

static int burn(unsigned ms, unsigned unused)
{
	(void)unused;
	burn_ms(ms);
	return 0;
}

static void *descriptors_open(void *argument)
{
	(void)argument;
	return (void *)(intptr_t)open("/dev/null", O_RDONLY);
}

/* The agent leaves no descriptor behind: the numbers that come next are those of a bare run. */
static int descriptors(unsigned unused, unsigned unused_too)
{
	pthread_t thread;
	void *fd;

	(void)unused, (void)unused_too;
	printf("main gets %d\n", open("/dev/null", O_RDONLY));
	pthread_create(&thread, NULL, descriptors_open, NULL);
	pthread_join(thread, &fd);
	printf("a thread gets %ld\n", (long)(intptr_t)fd);
	return 0;
}

static void *load_and_unload(void *argument)
{
	uint64_t end = cpu_now_ns() + (uintptr_t)argument * UINT64_C(1000000);

	while (cpu_now_ns() < end) {
		void *handle = dlopen("libz.so.1", RTLD_NOW);

		if (handle)
			dlclose(handle);
	}
	return NULL;
}

static int loading(unsigned ms, unsigned count)
{
	pthread_t thread[16];

	for (unsigned i = 0; i < count && i < 16; i++)
		pthread_create(&thread[i], NULL, load_and_unload, (void *)(uintptr_t)ms);
	for (unsigned i = 0; i < count && i < 16; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void *find(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	expect(found != NULL, name);
	return found;
}

/* As a library does that looks into libc's own handle: the thread is measured, the signal stays ours. */
static int looked_up(unsigned ms, unsigned unused)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	int (*action_set)(int, const struct sigaction *, struct sigaction *);
	struct sigaction action = {.sa_handler = handle}, got;
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	pthread_t thread;

	(void)unused;
	*(void **)&create = find(libc, "pthread_create");
	*(void **)&action_set = find(libc, "sigaction");
	expect(!action_set(SAMPLING_SIGNAL, &action, NULL), "handler refused");
	expect(!create(&thread, NULL, burn_and_tell, (void *)(uintptr_t)ms), "no thread");
	pthread_join(thread, NULL);
	expect(!handled, "the program's handler took a sample");
	expect(!sigaction(SAMPLING_SIGNAL, NULL, &got) && got.sa_handler == handle, "handler not read back");
	expect(find(libc, "getpid") == find(RTLD_DEFAULT, "getpid"), "another getpid");
	expect(!dlsym(libc, "no_such_function") && dlerror(), "found what is not there");
	expect(find(RTLD_NEXT, "sigaction") == (void *)(uintptr_t)sigaction, "next to whom?");
	return 0;
}

int MPI_Init(int *, char ***) __attribute__((weak));

/* A program that uses MPI where it is, and asks as such programs do. */
static int names(unsigned unused, unsigned unused_too)
{
	(void)unused, (void)unused_too;
	printf("linked %d found %d\n", MPI_Init != NULL, dlsym(RTLD_DEFAULT, "MPI_Comm_rank") != NULL);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(unsigned, unsigned);
} modes[] = {
	{"threads", threads},
	{"short", short_threads},
	{"sleepy", sleepy},
	{"signals", signals},
	{"altstack", altstack},
	{"coroutines", coroutines},
	{"recursion", recursion},
	{"forks", forks},
	{"spawns", spawns},
	{"failed-exec", failed_exec},
	{"chain", exec_chain},
	{"destructors", destructors},
	{"ends", ends},
	{"named", named},
	{"burn", burn},
	{"descriptors", descriptors},
	{"loading", loading},
	{"names", names},
	{"looked-up", looked_up},
};

int main(int argc, char **argv)
{
	static char path[4096];

	if (argc < 4 || readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return 2;
	self = path;
	for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(modes[i].name, argv[1]))
			return modes[i].run((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
	return 2;
}
