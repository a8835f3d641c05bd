/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_dlsym.c - programs that look up pthread_create or sigaction in libc's own
 * handle get the agent's, as they would by linking or by RTLD_DEFAULT. Only where the
 * agent's goes on to the very function that was found: a library that wraps it too and
 * looks for libc's stands in between otherwise, and would be called in a circle.
 * dlsym tells by its return address whose next symbol is meant: so all else is a jump,
 * for which this file is always compiled with sibling calls.
 */
#include <dlfcn.h>
#include <string.h>

#include "record/agent/base/arch.h"
#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/process.h"

__asm__(".symver dlvsym,dlvsym@" ARCH_GLIBC_BASE);
#pragma weak dlvsym

typedef void *dlsym_function(void *handle, const char *name);

static _Atomic(dlsym_function *) next_dlsym;

static void *nothing(void *handle, const char *name)
{
	(void)handle, (void)name;
	return NULL;
}

static dlsym_function *next_find(void)
{
	void *(*volatile lookup)(void *, const char *, const char *) = dlvsym;
	dlsym_function *found = NULL;

	if (lookup)
		*(void **)&found = lookup(RTLD_NEXT, "dlsym", ARCH_GLIBC_BASE);
	if (!found)
		found = nothing;
	next_dlsym = found;
	return found;
}

static bool is_name(const char *name)
{
	static const char *const names[] = {
		"pthread_create", "pthread_sigmask", "sigaction", "signal", "sigprocmask", "thrd_create"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void *ours_for(const void *found)
{
#define OURS(name)                                       \
	if (found == (const void *)(uintptr_t)real.name) \
		return (void *)(uintptr_t)name;
	OURS(pthread_create)
	OURS(pthread_sigmask)
	OURS(sigaction)
	OURS(signal)
	OURS(sigprocmask)
	OURS(thrd_create)
#undef OURS
	return (void *)(uintptr_t)found;
}

__attribute__((noinline)) static void *handle_search(dlsym_function *next, void *handle, const char *name)
{
	void *found = next(handle, name);

	return found ? ours_for(found) : NULL;
}

WRAPPER void *dlsym(void *handle, const char *name)
{
	dlsym_function *next = next_dlsym ? next_dlsym : next_find();

	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !process_is_live() || !is_name(name))
		return next(handle, name);
	return handle_search(next, handle, name);
}
