/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locked.c - a program that locks itself up by seccomp and dies of every system call that it did not make
 * itself: locked prctl|syscall|errno|strict|descriptors. Works, waits, starts a thread behind the lock; exit
 * code 3.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ALLOW(name) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Behind the lock only a clock that is read without a system call. */
static void burn(clockid_t clock)
{
	struct timespec begin, now;

	clock_gettime(clock, &begin);
	do {
		for (volatile unsigned i = 0; i < 100000; i++)
			;
		clock_gettime(clock, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 100);
}

static void *work(void *nothing)
{
	burn(CLOCK_MONOTONIC);
	usleep(1000);
	return nothing;
}

static int lock(const char *how)
{
	struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(brk), ALLOW(clock_nanosleep), ALLOW(clone), ALLOW(clone3), ALLOW(execve), ALLOW(access),
		ALLOW(openat), ALLOW(read), ALLOW(pread64), ALLOW(newfstatat), ALLOW(close),
		ALLOW(arch_prctl), ALLOW(set_tid_address), ALLOW(prlimit64), ALLOW(getrandom), ALLOW(exit),
		ALLOW(exit_group), ALLOW(futex), ALLOW(getpid), ALLOW(madvise), ALLOW(mmap), ALLOW(mprotect),
		ALLOW(munmap), ALLOW(rseq), ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn),
		ALLOW(set_robust_list), ALLOW(wait4), ALLOW(write),
		BPF_STMT(BPF_RET | BPF_K,
			strcmp(how, "errno") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | 1)};
	struct sock_fprog filter = {sizeof(rules) / sizeof(*rules), rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	if (!strcmp(how, "strict"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (!strcmp(how, "syscall"))
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* Dies of being asked what a descriptor is; libc asks by newfstatat. */
static int lock_descriptors(void)
{
	struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fstat, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpeername, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog filter = {sizeof(rules) / sizeof(*rules), rules};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int ends[2];

static void *write_late(void *nothing)
{
	usleep(50000);
	if (write(ends[1], "x", 1) != 1)
		perror("write");
	return nothing;
}

static int wait_for_a_pipe(void)
{
	pthread_t thread;
	char byte;

	if (lock_descriptors())
		return 77;
	if (pipe(ends) || pthread_create(&thread, NULL, write_late, NULL) || read(ends[0], &byte, 1) != 1)
		return 4;
	pthread_join(thread, NULL);
	if (!fork()) {
		execl("/bin/sh", "sh", "-c", "sleep 0.1 | cat", NULL);
		_exit(5);
	}
	return wait(NULL) > 0 ? 3 : 6;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "prctl";
	pthread_t thread;
	pid_t child;

	/* Calls that fail change nothing: libraries ask so what the kernel can. */
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (void *)8);
	burn(CLOCK_THREAD_CPUTIME_ID);
	if (!strcmp(how, "descriptors"))
		return wait_for_a_pipe();
	if (lock(how))
		return 77;
	if (!strcmp(how, "strict")) {
		for (volatile unsigned i = 0; i < 200000000; i++) /* its clocks are locked up, too */
			;
		syscall(SYS_exit, 3);
	}
	burn(CLOCK_MONOTONIC);
	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		return 4;
	child = fork();
	if (!child) {
		burn(CLOCK_MONOTONIC);
		execl("/bin/true", "true", NULL);
		_exit(5);
	}
	return waitpid(child, &argc, 0) == child && !argc ? 3 : 6;
}
