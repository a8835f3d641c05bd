/* SPDX-License-Identifier: Apache-2.0 */
/* real_caller.c - see real_caller.h. */
#include "record/agent/base/real_caller.h"

#include <dlfcn.h>
#include <stddef.h>

#include "record/agent/base/real.h"

bool real_caller_is_beside(const void *function, const void *other)
{
	int (*dladdr_of)(const void *, Dl_info *);
	Dl_info of, of_other;

	*(void **)&dladdr_of = real_symbol("dladdr");
	return dladdr_of && dladdr_of(function, &of) && dladdr_of(other, &of_other) &&
	       of.dli_fbase == of_other.dli_fbase;
}

/* A library that the program was linked with has no list of its own to search. */
static void *local_symbol(const void *address, const char *name)
{
	int (*dladdr_of)(const void *, Dl_info *, void **, int);
	void *(*lookup)(void *, const char *);
	void *map = NULL;
	Dl_info info;

	*(void **)&dladdr_of = real_symbol("dladdr1");
	*(void **)&lookup = real_symbol("dlsym");
	if (!dladdr_of || !lookup || !dladdr_of(address, &info, &map, RTLD_DL_LINKMAP) || !map)
		return NULL;
	return lookup(map, name);
}

void *real_caller_symbol(const char *name, void *caller, bool *is_global)
{
	void *address = real_symbol(name);

	if (is_global)
		*is_global = address != NULL;
	return address ? address : local_symbol(caller, name);
}
