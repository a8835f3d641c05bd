/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inherits.c LIBRARY - forks while another thread holds the dynamic loader's locks: while it lists what is
 * loaded, and while it loads LIBRARY. Nobody ever gives them back to the child, which asks the loader for
 * nothing: it works for 50 ms of its processor's time and ends by _exit.
 *
 * What must be seen: "list 3" and "load 3", the children's exit codes; three processes.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *library;
static sem_t is_held, is_forked;

/* LIBRARY's constructor calls it. */
void inherits_hold(void);
void inherits_hold(void)
{
	sem_post(&is_held);
	sem_wait(&is_forked);
}

static int listed(struct dl_phdr_info *info, size_t bytes, void *nothing)
{
	(void)info, (void)bytes, (void)nothing;
	inherits_hold();
	return 1;
}

static void *list(void *nothing)
{
	dl_iterate_phdr(listed, NULL);
	return nothing;
}

static void *load(void *nothing)
{
	if (!dlopen(library, RTLD_NOW))
		inherits_hold();
	return nothing;
}

static __attribute__((noinline)) void child_work(void)
{
	struct timespec now = {0};

	while (now.tv_sec == 0 && now.tv_nsec < 50000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
}

static void fork_during(const char *name, void *(*holder)(void *))
{
	pthread_t thread;
	int status = 0;
	pid_t child;

	if (pthread_create(&thread, NULL, holder, NULL))
		exit(1);
	sem_wait(&is_held);
	child = fork();
	if (child == 0) {
		child_work();
		_exit(3);
	}
	sem_post(&is_forked);
	pthread_join(thread, NULL);
	waitpid(child, &status, 0);
	printf("%s %d\n", name, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(int argc, char **argv)
{
	if (argc != 2 || sem_init(&is_held, 0, 0) || sem_init(&is_forked, 0, 0))
		return 2;
	library = argv[1];
	fork_during("list", list);
	fork_during("load", load);
	return 0;
}
