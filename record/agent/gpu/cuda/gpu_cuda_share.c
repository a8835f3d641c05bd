/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_share.c - CUPTI accepts one tool at a time. If the program brings its own (torch.profiler), that
 * tool comes first: these wrappers detect its subscription, release CUPTI, and take it back when it
 * unsubscribes. With `--cuda hold` CUPTI refuses the tool instead. Also built without CUPTI's headers, so
 * that the agent's exports are the same on all machines.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/gpu/cuda/gpu_cuda_share.h"

#define CUPTI_NOT_INITIALIZED 15

typedef int (*subscribe_function)(void **subscriber, void (*callback)(void), void *user);
typedef int (*unsubscribe_function)(void *subscriber);
typedef int (*finalize_function)(void);

static int loaded_look(struct dl_phdr_info *info, size_t bytes, void *context)
{
	const char **found = context, *base = strrchr(info->dlpi_name, '/');

	(void)bytes;
	if (strncmp(base ? base + 1 : info->dlpi_name, "libcupti.so", strlen("libcupti.so")) != 0)
		return 0;
	*found = info->dlpi_name;
	return 1;
}

/* The function in the loaded CUPTI, which may be outside the global scope. */
static void *cupti_symbol(const char *name)
{
	void *open_address = real_symbol("dlopen"), *symbol_address = real_symbol("dlsym"), *handle;
	void *(*symbol)(void *, const char *);
	void *(*open)(const char *, int);
	const char *path = NULL;

	if (!open_address || !symbol_address || !dl_iterate_phdr(loaded_look, &path) || !path)
		return NULL;
	memcpy(&open, &open_address, sizeof(open));
	memcpy(&symbol, &symbol_address, sizeof(symbol));
	handle = open(path, RTLD_NOW | RTLD_NOLOAD);
	return handle ? symbol(handle, name) : NULL;
}

int cuptiSubscribe(void **subscriber, void (*callback)(void), void *user);
WRAPPER int cuptiSubscribe(void **subscriber, void (*callback)(void), void *user)
{
	void *address = cupti_symbol("cuptiSubscribe");
	subscribe_function subscribe;

	if (!address)
		return CUPTI_NOT_INITIALIZED;
	memcpy(&subscribe, &address, sizeof(subscribe));
	cuda_share_give();
	return subscribe(subscriber, callback, user);
}

int cuptiUnsubscribe(void *subscriber);
WRAPPER int cuptiUnsubscribe(void *subscriber)
{
	void *address = cupti_symbol("cuptiUnsubscribe");
	unsubscribe_function unsubscribe;
	int result;

	if (!address)
		return CUPTI_NOT_INITIALIZED;
	memcpy(&unsubscribe, &address, sizeof(unsubscribe));
	result = unsubscribe(subscriber);
	cuda_share_take();
	return result;
}

int cuptiFinalize(void);
WRAPPER int cuptiFinalize(void)
{
	void *address = cupti_symbol("cuptiFinalize");
	finalize_function finalize;
	int result;

	if (!address)
		return CUPTI_NOT_INITIALIZED;
	memcpy(&finalize, &address, sizeof(finalize));
	result = finalize();
	cuda_share_take();
	return result;
}
