/* SPDX-License-Identifier: Apache-2.0 */
/*
 * static_dl.c - what a program with -DHPCT_STATIC=ON has in place of the loader's functions: nothing is
 * found. A static C library could open libraries, but only those that were made with its own version, and the
 * systems that these programs are for (musl's) have none. Linked before the C library, whose functions of
 * these names stay out.
 */
#include <dlfcn.h>
#include <stddef.h>

void *dlopen(const char *file, int mode)
{
	(void)file, (void)mode;
	return NULL;
}

void *dlmopen(Lmid_t space, const char *file, int mode)
{
	(void)space, (void)file, (void)mode;
	return NULL;
}

void *dlsym(void *restrict library, const char *restrict name)
{
	(void)library, (void)name;
	return NULL;
}

char *dlerror(void)
{
	return "this hpct is linked statically and opens no libraries";
}

int dlclose(void *library)
{
	(void)library;
	return -1;
}

int dlinfo(void *restrict library, int request, void *restrict answer)
{
	(void)library, (void)request, (void)answer;
	return -1;
}
