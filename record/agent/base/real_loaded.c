/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_loaded.c - real_symbol of real.h where a loader is there to ask. dlvsym is taken
 * in its oldest version and weakly: it moved from libdl to libc in glibc 2.34, and a
 * program without it runs unmeasured. It also finds dlsym, whose name is the agent's own
 * (wrap_dlsym.c).
 */
#include "record/agent/base/real.h"

#include <dlfcn.h>
#include <string.h>

#include "record/agent/base/arch.h"

__asm__(".symver dlsym,dlsym@" ARCH_GLIBC_BASE);
#pragma weak dlsym
__asm__(".symver dlvsym,dlvsym@" ARCH_GLIBC_BASE);
#pragma weak dlvsym

/* Of functions that libc has twice, glibc < 2.36 finds the one for programs older than any that run: its
 * conditions are no bigger than a pointer. A name that is not there must not be asked for: the loader puts
 * the reason into memory of the program's own malloc, which may not be ready before main (GNU Common Lisp's).
 */
static void *symbol_of_version(const char *name)
{
	void *(*volatile lookup)(void *, const char *, const char *) = dlvsym;

	if (!ARCH_GLIBC_CONDITIONS[0] || !lookup || strncmp(name, "pthread_cond_", 13) ||
		!strcmp(name, "pthread_cond_clockwait")) /* which came later, once */
		return NULL;
	return lookup(RTLD_NEXT, name, ARCH_GLIBC_CONDITIONS);
}

void *real_symbol(const char *name)
{
	void *(*volatile lookup)(void *, const char *) = dlsym;
	void *found = symbol_of_version(name);

	return found || !lookup ? found : lookup(RTLD_NEXT, name);
}
