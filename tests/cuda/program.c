/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - a program with its own "driver" for e2e.gpu.cuda: like the real one it loads the library that
 * CUDA_INJECTION64_PATH names and calls InitializeInjection, then loads their code below main;work, launches
 * twenty kernels below main;work;launch and waits, through the CUPTI that is loaded by then (cupti.c);
 * without one nothing is to be told. argv[1] is that CUPTI's path, argv[2] a library that it loads before it
 * makes the second of two graphs. Prints what it did and leaves with 3,
 * whatever its tools make of it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/fake.h"

#define LAUNCHES 20
#define APART __attribute__((noinline, noclone))

static fake_cupti_call *call;

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
}

APART static void launch(int i)
{
	if (call)
		call("cuLaunchKernel", i % 2 ? "axpy" : "relax");
	__asm__ volatile("" ::: "memory");
}

APART static void work(void)
{
	if (call)
		call("cuModuleLoadData", NULL);
	for (int i = 0; i < LAUNCHES; i++)
		launch(i);
	if (call)
		call("cuCtxSynchronize", NULL);
	__asm__ volatile("" ::: "memory");
}

static void graphs(const char *path)
{
	call("cuGraphInstantiateWithFlags", NULL);
	if (!dlopen(path, RTLD_NOW))
		fprintf(stderr, "%s\n", dlerror());
	call("cuGraphInstantiateWithFlags", NULL);
}

int main(int argc, char **argv)
{
	initialize();
	if (argc > 1)
		cupti_find(argv[1]);
	work();
	if (argc > 2 && call)
		graphs(argv[2]);
	printf("launched %d\n", LAUNCHES);
	return 3;
}
