/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_loaded.c - real_symbol of real.h with a dynamic loader. dlvsym is referenced in its oldest version and
 * weakly: it moved from libdl to libc in glibc 2.34; before that preload.c brings libdl along. It also finds
 * dlsym, which the agent itself defines (wrap_dlsym.c).
 */
#include "record/agent/base/real.h"

#include <dlfcn.h>
#include <string.h>

#include "record/agent/base/arch.h"

__asm__(".symver dlsym,dlsym@" ARCH_GLIBC_BASE);
#pragma weak dlsym
__asm__(".symver dlvsym,dlvsym@" ARCH_GLIBC_BASE);
#pragma weak dlvsym

/* For functions with two versions, dlsym of glibc < 2.36 returns the oldest, whose condition variables
 * have the size of a pointer: so this asks for the version. A missing name must not be looked up: the
 * loader would write the error into memory of the program's malloc, which may not be usable before main
 * (GNU Common Lisp). */
static void *symbol_of_version(const char *name)
{
	void *(*volatile lookup)(void *, const char *, const char *) = dlvsym;

	if (!ARCH_GLIBC_CONDITIONS[0] || !lookup || strncmp(name, "pthread_cond_", 13) ||
		!strcmp(name, "pthread_cond_clockwait")) /* added later, so it has one version */
		return NULL;
	return lookup(RTLD_NEXT, name, ARCH_GLIBC_CONDITIONS);
}

void *real_symbol(const char *name)
{
	void *(*volatile lookup)(void *, const char *) = dlsym;
	void *found = symbol_of_version(name);

	return found || !lookup ? found : lookup(RTLD_NEXT, name);
}
