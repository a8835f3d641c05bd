/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - a program with its own "driver" for e2e.gpu.cuda: like the real one it loads the library that
 * CUDA_INJECTION64_PATH names and calls InitializeInjection, then loads their code below main;work, launches
 * twenty kernels below main;work;launch and waits, through the CUPTI that is loaded by then (cupti.c);
 * without one nothing is to be told. argv[1] is that CUPTI's path, argv[2] a library that it loads before it
 * makes the second of two graphs. Prints what it did and leaves with 3,
 * whatever its tools make of it; or as FAKE_END says: abort, segv, own (abort in a handler of its own), or a
 * signal's number. FAKE_WAIT: after so many launches it waits, too. FAKE_ALLOCATES: memory, at the end.
 * FAKE_LINGER: it ends so many seconds later. FAKE_SAMPLES: not before so many samples of counters are read,
 * nor after 20 s more.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/fake.h"

#define LAUNCHES 20
#define APART __attribute__((noinline, noclone))

static fake_cupti_call *call;
static fake_cupti_samples *samples;

static int initialize(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_NOW) : NULL,
	     *symbol = tool ? dlsym(tool, "InitializeInjection") : NULL;
	int (*start)(void);

	if (!symbol)
		return 0;
	memcpy(&start, &symbol, sizeof(start));
	return start();
}

static void cupti_find(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD),
	     *symbol = library ? dlsym(library, "fake_call") : NULL;

	memcpy(&call, &symbol, sizeof(call));
	symbol = library ? dlsym(library, "fake_samples") : NULL;
	memcpy(&samples, &symbol, sizeof(samples));
}

APART static void launch(int i)
{
	if (call)
		call("cuLaunchKernel", i % 2 ? "axpy" : "relax");
	__asm__ volatile("" ::: "memory");
}

APART static void work(void)
{
	const char *wait_after = getenv("FAKE_WAIT");

	if (call)
		call("cuModuleLoadData", NULL);
	for (int i = 0; i < LAUNCHES; i++) {
		launch(i);
		if (call && wait_after && i + 1 == atoi(wait_after))
			call("cuCtxSynchronize", NULL);
	}
	if (call)
		call("cuCtxSynchronize", NULL);
	if (call && getenv("FAKE_ALLOCATES")) {
		call("cuMemAlloc_v2", NULL);
		call("cuMemFree_v2", NULL);
	}
	__asm__ volatile("" ::: "memory");
}

APART static void waits(void)
{
	if (call)
		call("cuStreamSynchronize", NULL);
	__asm__ volatile("" ::: "memory");
}

static void graphs(const char *path)
{
	call("cuGraphInstantiateWithFlags", NULL);
	if (!dlopen(path, RTLD_NOW))
		fprintf(stderr, "%s\n", dlerror());
	call("cuGraphInstantiateWithFlags", NULL);
}

/* What the program finds as its action, whatever its tools have put there. */
static void actions_print(void)
{
	struct sigaction action;

	for (int number = 1; number < 32; number++)
		if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_DFL)
			printf("signal %d has a handler\n", number);
	if (signal(SIGTERM, SIG_DFL) != SIG_DFL)
		printf("SIGTERM had a handler\n");
	fflush(stdout);
}

static void own(int number)
{
	static const char text[] = "own handler\n";
	ssize_t written = write(1, text, sizeof(text) - 1);

	(void)written;
	signal(number, SIG_DFL);
	raise(number);
}

static void end_by(const char *how)
{
	static int *volatile nowhere;

	if (!how)
		return;
	actions_print();
	if (!strcmp(how, "own"))
		signal(SIGABRT, own);
	if (!strcmp(how, "abort") || !strcmp(how, "own"))
		abort();
	if (!strcmp(how, "segv"))
		*nowhere = 1;
	kill(getpid(), atoi(how));
}

static void samples_await(const char *wanted)
{
	for (int i = 0; wanted && samples && i < 2000 && samples() < strtoul(wanted, NULL, 0); i++)
		usleep(10000);
}

int main(int argc, char **argv)
{
	initialize();
	if (argc > 1)
		cupti_find(argv[1]);
	work();
	waits();
	if (argc > 2 && call)
		graphs(argv[2]);
	printf("launched %d\n", LAUNCHES);
	fflush(stdout);
	end_by(getenv("FAKE_END"));
	if (getenv("FAKE_LINGER"))
		usleep((useconds_t)(1e6 * atof(getenv("FAKE_LINGER"))));
	samples_await(getenv("FAKE_SAMPLES"));
	return 3;
}
