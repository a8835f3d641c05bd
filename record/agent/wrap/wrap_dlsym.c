/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_dlsym.c - programs that look up pthread_create or sigaction in libc's own handle get the agent's
 * wrapper, as by linking or RTLD_DEFAULT. Only if the wrapper calls the very function that was found:
 * otherwise another library, which wraps it too and looks for libc's, is in between and would be called in a
 * cycle. dlsym uses its return address to find the caller: so all other calls are jumps, and this file is
 * always compiled with sibling calls.
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
