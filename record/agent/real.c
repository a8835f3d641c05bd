/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.c - see real.h. dlsym is taken in its oldest version and weakly: it moved
 * from libdl to libc in glibc 2.34, and a program without it runs unmeasured.
 */
#include "record/agent/real.h"

#include <dlfcn.h>
#include <string.h>

#include "record/agent/arch.h"

__asm__(".symver dlsym,dlsym@" ARCH_GLIBC_BASE);
#pragma weak dlsym

struct real real;

void *real_symbol(const char *name)
{
	void *(*volatile lookup)(void *, const char *) = dlsym;

	return lookup ? lookup(RTLD_NEXT, name) : NULL;
}

void *real_resolve(const char *name, void *place)
{
	void *address = real_symbol(name);

	memcpy(place, &address, sizeof(address));
	return address;
}

void real_init(void)
{
#define RESOLVE(name) real_resolve(#name, &real.name);
	REAL_FUNCTIONS(RESOLVE)
#undef RESOLVE
}
