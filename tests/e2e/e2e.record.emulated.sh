#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# qemu-user hands its environment to the program that it emulates, so that the agent is loaded twice into one process:
# the emulator alone is measured, once, and its program lives. Its translated code, which has no frame pointers, is
# walked by reading it.
. "$(dirname -- "$0")/expect.sh"
need qemu-x86_64 gcc readelf
grep -q INTERP <(readelf -l "$(command -v qemu-x86_64)") || skip "qemu-x86_64 is static: no agent enters it"

cat >sum.c <<'END'
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static void *work(void *n)
{
	struct timespec now;
	double sum = 0;
	do {
		for (int i = 1; i < 100000; i++)
			sum += 1.0 / i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (now.tv_sec + 1e-9 * now.tv_nsec < *(double *)n);
	return NULL;
}
static int threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int count = 0;
	while (tasks && readdir(tasks))
		count++;
	closedir(tasks);
	return count - 2;
}
/* The emulator lets a thread be joined before it has ended it: the main one and its own helper are to be left. */
int main(void)
{
	double seconds = 0.3;
	pthread_t thread;
	pthread_create(&thread, NULL, work, &seconds);
	work(&seconds);
	pthread_join(thread, NULL);
	for (int i = 0; i < 1000 && threads() > 2; i++)
		usleep(10000);
	puts("emulated");
	return 3;
}
END
gcc -O2 -o sum sum.c -pthread || skip "no program can be built"
code "bare, qemu runs it" 3 qemu-x86_64 ./sum
is_whole() { calc "$(info once partial_stacks) <= 0.01 * $(sample_count once) + 2"; }
for _ in 1 2 3 4 5; do # at the entry of translated code a stack is partial: how many samples meet it is chance
	rm -rf once.hpct
	event=CPUTIME@f1000 both once qemu-x86_64 ./sum
	same "exit code" 3 "$measured"
	same "lost" 0 "$(info once lost)"
	hpct-info once.hpct --streams --format tsv | tsv '{ print $c["tid"] }' | sort | uniq -d >twice
	same "threads that were measured twice" "" "$(cat twice)"
	weights_agree once
	is_whole && break
done
check "whole stacks: $(info once partial_stacks) partial of $(sample_count once)" is_whole
