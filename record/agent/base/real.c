/* SPDX-License-Identifier: Apache-2.0 */
/* real.c - see real.h. real_loaded.c or real_static.c looks up the names. */
#include "record/agent/base/real.h"

#include <string.h>

struct real real;

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
	REAL_WAITS(RESOLVE)
#undef RESOLVE
}
