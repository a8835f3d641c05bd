/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forks.c - makes children in every way. Arguments: HOW (fork, vfork, spawn, exec, system, all; default
 * all) and CPU seconds of each process (default 0.2). `forks child NAME SECONDS` is what the exec'ing
 * kinds run.
 *
 * What the trace must show: one process each for the parent (main;parent_work), the fork child
 * (main;...;fork_work), and a process of its own for vfork + exec, posix_spawn and system, each with
 * main;child_work; `exec` replaces the parent itself: the same pid with the next generation. Each
 * process prints, as its last words, kind, tab, pid, tab, its CPU clock in nanoseconds.
 */
#include "samples/burn.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *self;
static char seconds[32] = "0.2";

static void say(const char *kind)
{
	printf("%s\t%d\t%llu\n", kind, (int)getpid(), (unsigned long long)cpu_now_ns());
	fflush(stdout);
}

APART static void parent_work(void)
{
	BURN(atof(seconds) * 1e9);
}

APART static void fork_work(void)
{
	BURN(atof(seconds) * 1e9);
}

APART static void child_work(void)
{
	BURN(atof(seconds) * 1e9);
}

static int wait_for(pid_t pid)
{
	int status = -1;

	return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

static int by_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		fork_work();
		say("fork");
		exit(0);
	}
	return wait_for(pid);
}

static int by_vfork(void)
{
	char *words[] = {(char *)self, "child", "vfork", seconds, NULL};
	pid_t pid = vfork();

	if (pid == 0) {
		execv(self, words);
		_exit(127);
	}
	return wait_for(pid);
}

static int by_spawn(void)
{
	char *words[] = {(char *)self, "child", "spawn", seconds, NULL};
	pid_t pid;

	return posix_spawn(&pid, self, NULL, NULL, words, environ) != 0 || wait_for(pid);
}

static int by_system(void)
{
	char command[4096];

	snprintf(command, sizeof(command), "\"%s\" child system %s", self, seconds);
	return system(command) != 0;
}

static int by_exec(void)
{
	char *words[] = {(char *)self, "child", "exec", seconds, NULL};

	execv(self, words);
	return 1;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "all";
	int all = strcmp(how, "all") == 0, failed = 0;

	self = argv[0];
	if (argc > 3 && strcmp(how, "child") == 0) {
		snprintf(seconds, sizeof(seconds), "%s", argv[3]);
		child_work();
		say(argv[2]);
		return 0;
	}
	if (argc > 2)
		snprintf(seconds, sizeof(seconds), "%s", argv[2]);
	parent_work();
	if (all || strcmp(how, "fork") == 0)
		failed |= by_fork();
	if (all || strcmp(how, "vfork") == 0)
		failed |= by_vfork();
	if (all || strcmp(how, "spawn") == 0)
		failed |= by_spawn();
	if (all || strcmp(how, "system") == 0)
		failed |= by_system();
	say("parent");
	if (all || strcmp(how, "exec") == 0)
		failed |= by_exec();
	return failed;
}
