/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gomp_find.c - gomp_find of gomp.h. What the program's global scope offers binds all; a library opened
 * locally (a Python module with a libgomp of its own) gets what its own dependencies offer, by the place of
 * the call.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "record/agent/base/real.h"
#include "record/agent/base/real_caller.h"
#include "record/agent/openmp/runtime/gomp.h"
#include "record/agent/unwind/module_slots.h"

#define CALLS 1024u /* a power of two: calls from libraries opened locally; more ask the loader each time */

/* Bit 0 of a key: its entry is complete. */
struct call {
	_Atomic uint64_t key;
	struct gomp_real real;
};

static const char *const names[] = {
#define X(name) #name,
	GOMP_FUNCTIONS(X)
#undef X
};

static struct call calls[CALLS];
/* The program's own: bit 0: silent. */
static _Atomic uintptr_t global[GOMP_FUNCTION_COUNT];

static struct gomp_real ask(enum gomp_function function, void *caller, bool *is_global)
{
	struct gomp_real found = {0};
	const void *fork;

	*(void **)&found.function = real_caller_symbol(names[function], caller, is_global);
	if (!found.function)
		return found;
	fork = *is_global ? real_symbol("__kmpc_fork_call")
			  : real_caller_symbol("__kmpc_fork_call", caller, NULL);
	found.is_silent = fork && real_caller_is_beside(*(void **)&found.function, fork);
	return found;
}

static uint64_t key_of(enum gomp_function function, const void *caller)
{
	return ((uintptr_t)caller << 8 ^ (uint64_t)function << 56 ^ (module_slots_generation() & 63u) << 2)
		       << 1 |
	       2;
}

/* Entries are never changed: an unload makes other keys. */
static void keep(uint64_t key, struct gomp_real found)
{
	uint64_t place = key * UINT64_C(0x9e3779b97f4a7c15) >> 40, none = 0;
	struct call *call = &calls[place & (CALLS - 1)];

	if (!atomic_compare_exchange_strong(&call->key, &none, key & ~UINT64_C(1)))
		return;
	call->real = found;
	atomic_store_explicit(&call->key, key | 1, memory_order_release);
}

static __attribute__((noinline)) struct gomp_real find_slowly(enum gomp_function function, void *caller)
{
	uint64_t key = key_of(function, caller), place = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;
	struct call *call = &calls[place & (CALLS - 1)];
	bool is_global;
	struct gomp_real found;

	if (atomic_load_explicit(&call->key, memory_order_acquire) == (key | 1))
		return call->real;
	found = ask(function, caller, &is_global);
	if (found.function && is_global)
		atomic_store(
			&global[function], (uintptr_t) * (void **)&found.function << 1 | found.is_silent);
	else if (found.function)
		keep(key, found);
	return found;
}

struct gomp_real gomp_find(enum gomp_function function, void *caller)
{
	uintptr_t known = atomic_load_explicit(&global[function], memory_order_acquire);
	struct gomp_real found = {.is_silent = known & 1};

	if (!known)
		return find_slowly(function, caller);
	*(uintptr_t *)&found.function = known >> 1;
	return found;
}
