/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bad_exec.c - programs started with arguments that cannot be read: what each call gives, in a child each
 * time. The same is printed with and without a recorder (e2e.record.bad_exec.sh).
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATHS 9
#define LISTS 8
#define GOOD (LISTS - 1)

static const char *paths[PATHS];
static char **lists[LISTS];

/* What lies ahead of it can be read. */
static char *unmapped(void)
{
	char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || munmap(memory + 4096, 4096))
		exit(1);
	return memory + 4096;
}

static void fill(char *self)
{
	static char one[] = "one", end[] = "end";
	static char *odd[3] = {one}, *cut[3] = {one}, *good[3] = {NULL, end};
	char *gone = unmapped(), *text = gone - 3, **half = (char **)(void *)(unmapped() - 8);

	memset(text, 'x', 3);
	half[0] = one;
	odd[1] = (char *)1;
	cut[1] = text;
	good[0] = self;
	memcpy(paths,
		(const char *[]){NULL, (const char *)1, text, gone, "", "/nowhere", "/", "/etc/passwd", self},
		sizeof(paths));
	memcpy(lists,
		(char **[]){NULL, (char **)1, half, (char **)(void *)gone, odd, cut,
			(char **)(void *)(gone - 4), good},
		sizeof(lists));
}

enum way { EXECVE, IN_VFORK, EXECVEAT, SPAWN, SPAWNP, WAYS };

static int start(enum way way, const char *path, char **argv, char **envp)
{
	pid_t child;
	int result, status;

	switch (way) {
	case EXECVEAT:
		execveat(AT_FDCWD, path, argv, envp, 0);
		return errno;
	case SPAWN:
	case SPAWNP:
		result = (way == SPAWN ? posix_spawn : posix_spawnp)(&child, path, NULL, NULL, argv, envp);
		if (!result)
			waitpid(child, &status, 0);
		return result;
	case IN_VFORK:
		child = vfork();
		if (child) {
			waitpid(child, &status, 0);
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		}
		execve(path, argv, envp);
		_exit(errno);
	default:
		execve(path, argv, envp);
		return errno;
	}
}

static void attempt(enum way way, unsigned path, unsigned argv, unsigned envp)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(start(way, paths[path], lists[argv], lists[envp]));
	waitpid(child, &status, 0);
	printf("%d, path %u, arguments %u, environment %u: ends %d, signal %d\n", (int)way, path, argv, envp,
		WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

int main(int argc, char **argv)
{
	if (argc != 1 || !argv[0][0] || !strcmp(argv[0], "one"))
		return puts("started") < 0;
	fill(argv[0]);
	for (enum way way = EXECVE; way < WAYS; way++) {
		for (unsigned path = 0; path < PATHS; path++)
			if (way != SPAWNP || path > 3) /* libc itself looks at its names */
				attempt(way, path, GOOD, GOOD);
		for (unsigned list = 0; list < GOOD; list++) {
			if (way < SPAWN) /* and spawned programs' arguments */
				attempt(way, PATHS - 1, list, GOOD);
			attempt(way, PATHS - 1, GOOD, list);
		}
	}
	return 0;
}
