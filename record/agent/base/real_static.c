/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_static.c - real_symbol of real.h inside a static program, without lookup by name: hpct-link makes the
 * linker redirect each call of a wrapped function to `__wrap_NAME`, and the original is `__real_NAME` (ld
 * --wrap). All are linked in, used or not, since libc may call any of them after the linker has processed
 * this object.
 */
#include "record/agent/base/real.h"

#include <string.h>

#include "record/agent/base/agent_names.h"
#include "record/agent/base/elf_note.h"

struct fde {
	const char *name;
	void *address;
};

#define WRAPPED(name) extern char real_##name[] __asm__("__real_" #name);
AGENT_WRAPS(WRAPPED)
#if HPCT_STATIC & ELF_NOTE_MEMLEAK
AGENT_MEMORY_WRAPS(WRAPPED)
#endif
#undef WRAPPED
/* Looked up, but not wrapped. */
#define PLAIN(X)                     \
	X(mtx_trylock)               \
	X(pthread_attr_getstacksize) \
	X(pthread_attr_init)         \
	X(pthread_getcpuclockid)     \
	X(pthread_key_create)        \
	X(pthread_mutex_trylock)     \
	X(pthread_rwlock_tryrdlock)  \
	X(pthread_rwlock_trywrlock)  \
	X(pthread_setspecific)       \
	X(pthread_testcancel)        \
	X(sem_trywait)

#define DECLARED(name) extern char plain_##name[] __asm__(#name);
PLAIN(DECLARED)
#undef DECLARED

#define ENTRY(name) {#name, real_##name},
static const struct fde wrapped[] = {AGENT_WRAPS(ENTRY)}; /* sorted */
static const struct fde memory[] = {
#if HPCT_STATIC & ELF_NOTE_MEMLEAK
	AGENT_MEMORY_WRAPS(ENTRY)
#endif
		{NULL, NULL}};
#undef ENTRY
#define ENTRY(name) {#name, plain_##name},
static const struct fde plain[] = {PLAIN(ENTRY)};
#undef ENTRY

static const struct fde *list_search(const struct fde *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static const struct fde *wrapped_search(const char *name)
{
	size_t low = 0, high = sizeof(wrapped) / sizeof(*wrapped);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(wrapped[middle].name, name);

		if (!order)
			return &wrapped[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

void *real_symbol(const char *name)
{
	const struct fde *found = wrapped_search(name);

	if (!found)
		found = list_search(plain, sizeof(plain) / sizeof(*plain), name);
	if (!found)
		found = list_search(memory, sizeof(memory) / sizeof(*memory) - 1, name);
	return found ? found->address : NULL;
}
