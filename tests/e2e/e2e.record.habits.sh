#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Odd habits of programs: each ends as it does bare. A new one is a mode of the program below and a word of the list.
. "$(dirname -- "$0")/expect.sh"
need gcc
cat >habit.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static unsigned spin(double seconds)
{
	struct timespec now, begin;
	unsigned x = 1;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 1000; i++)
			x = x * 1103515245 + 12345;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
	return x;
}
static int told(const char *what, long value)
{
	printf("%s %ld %s\n", what, value, value < 0 ? strerror(errno) : "");
	fflush(stdout);
	return 0;
}
static void child_run(char *const *words)
{
	pid_t child = fork();
	int status = 0;
	if (!child) {
		execv(words[0], words);
		_exit(99);
	}
	waitpid(child, &status, 0);
	told("child", status);
}
static void *sleeper(void *argument)
{
	spin(0.02);
	return argument;
}
static void threads_run(void)
{
	pthread_t thread[16];
	for (int i = 0; i < 16; i++)
		told("thread", pthread_create(&thread[i], NULL, sleeper, NULL));
	for (int i = 0; i < 16; i++)
		pthread_join(thread[i], NULL);
}
static void queue_fill(void)
{
	sigset_t set;
	int count = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 4);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (count < 8 && !sigqueue(getpid(), SIGRTMIN + 4, (union sigval){0}))
		count++;
	told("queued", count);
}
int main(int argc, char **argv)
{
	char *again[] = {argv[0], "end", NULL};
	const char *mode = argv[1];
	if (!strcmp(mode, "vfork-return")) {
		int status = 0;
		pid_t child = vfork();
		if (!child) {
			execl("/nowhere/at/all", "nowhere", (char *)NULL);
			return 3;
		}
		waitpid(child, &status, 0);
		told("child", status);
		spin(0.05);
		return 0;
	}
	if (!strcmp(mode, "vfork-exit")) {
		if (!vfork()) {
			execl("/nowhere/at/all", "nowhere", (char *)NULL);
			exit(3);
		}
		spin(0.05);
	} else if (!strcmp(mode, "vfork-killed")) {
		int status = 0;
		pid_t child = vfork();
		if (!child)
			raise(SIGKILL);
		waitpid(child, &status, 0);
		told("child", status);
		threads_run();
	} else if (!strcmp(mode, "sigpending")) {
		struct rlimit limit = {0, 0};
		limit.rlim_cur = limit.rlim_max = (rlim_t)atol(argv[2]);
		told("limit", setrlimit(RLIMIT_SIGPENDING, &limit));
		queue_fill();
		threads_run();
		child_run(again);
	} else if (!strcmp(mode, "sigpending-none")) {
		struct rlimit limit = {0, 0};
		told("limit", setrlimit(RLIMIT_SIGPENDING, &limit));
		threads_run();
		child_run(again);
	} else if (!strcmp(mode, "descriptors-none")) {
		struct rlimit limit = {3, 3};
		told("limit", setrlimit(RLIMIT_NOFILE, &limit));
		threads_run();
		spin(0.05);
	} else if (!strcmp(mode, "closes-all")) {
		for (int i = 3; i < 1024; i++)
			close(i);
		spin(0.05);
		child_run(again);
	} else if (!strcmp(mode, "unshare-all")) {
		told("unshare", unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_FILES | CLONE_FS));
		spin(0.05);
		child_run(again);
	} else if (!strcmp(mode, "unshare-pid")) {
		told("unshare", unshare(CLONE_NEWPID));
		child_run(again);
	} else if (!strcmp(mode, "unshare-user")) {
		told("unshare", unshare(CLONE_NEWUSER));
		spin(0.05);
		child_run(again);
	} else if (!strcmp(mode, "pivot")) {
		told("unshare", unshare(CLONE_NEWNS));
		told("private", mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
		told("root", mount("none", argv[2], "tmpfs", 0, NULL));
		told("there", chdir(argv[2]));
		told("old", mkdir("old", 0700));
		told("pivot", syscall(SYS_pivot_root, ".", "old"));
		told("here", chdir("/"));
		told("gone", umount2("/old", MNT_DETACH));
		spin(0.05);
		threads_run();
		child_run(again);
	} else if (!strcmp(mode, "chroot")) {
		told("chroot", chroot(argv[2]));
		told("here", chdir("/"));
		spin(0.05);
		child_run(again);
	} else if (!strcmp(mode, "preloads")) {
		setenv("LD_PRELOAD", argv[2], 1);
		child_run(again);
	} else if (!strcmp(mode, "undumpable")) {
		told("dumpable", prctl(PR_SET_DUMPABLE, 0));
		spin(0.05);
		child_run(again);
	} else if (!strcmp(mode, "clears")) {
		clearenv();
		child_run(again);
	} else if (!strcmp(mode, "deletes-timers")) {
		for (int i = 0; i < 64; i++)
			syscall(SYS_timer_delete, i);
		spin(0.05);
		threads_run();
	}
	return told("end", 0);
}
C
gcc -O1 -g -o habit habit.c -pthread || fail "cannot build habit"
printf 'int preloaded;\n' | gcc -shared -fPIC -x c - -o own.so || fail "cannot build own.so"
mkdir root
# what one habit prints and how it ends, bare and recorded
each() {
	local name=$1
	both "$name" ./habit "$@" 2>err
	check "$name: standard error is not as it is bare: $(cat err)" [ ! -s err ]
	[ ! -s measured.out ] || tail -n 1 measured.out | grep -q '^end\|^child' || fail "$name: $(tail -n 1 measured.out)"
}
while read -r words; do
	# shellcheck disable=SC2086
	each $words
done <<EOF
vfork-return
vfork-exit
vfork-killed
sigpending $(($(awk '/^SigQ/ { split($2, n, "/"); print n[1] }' /proc/self/status) + 24))
sigpending-none
descriptors-none
closes-all
unshare-all
unshare-pid
unshare-user
pivot $work/root
chroot $work/root
preloads $work/own.so
undumpable
clears
deletes-timers
EOF
