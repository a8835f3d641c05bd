/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level0_calls.h - the functions of Level Zero that level0.c calls, as ZE(name): linked, or with BY_DLOPEN
 * those of a loader that the program opens for itself. calls_open is 0 if they are there.
 */
#ifndef SAMPLES_LEVEL0_CALLS_H
#define SAMPLES_LEVEL0_CALLS_H

#include <level_zero/ze_api.h>

#ifndef BY_DLOPEN
#define ZE(name) name
static int calls_open(void)
{
	return 0;
}
#else
#include <dlfcn.h>

#define CALLS(X)                             \
	X(zeCommandListAppendEventReset)     \
	X(zeCommandListAppendLaunchKernel)   \
	X(zeCommandListAppendMemoryCopy)     \
	X(zeCommandListAppendMemoryFill)     \
	X(zeCommandListAppendWaitOnEvents)   \
	X(zeCommandListClose)                \
	X(zeCommandListCreate)               \
	X(zeCommandListCreateImmediate)      \
	X(zeCommandListDestroy)              \
	X(zeCommandListReset)                \
	X(zeCommandQueueCreate)              \
	X(zeCommandQueueDestroy)             \
	X(zeCommandQueueExecuteCommandLists) \
	X(zeCommandQueueSynchronize)         \
	X(zeContextCreate)                   \
	X(zeContextDestroy)                  \
	X(zeDeviceGet)                       \
	X(zeDriverGet)                       \
	X(zeEventCreate)                     \
	X(zeEventDestroy)                    \
	X(zeEventHostReset)                  \
	X(zeEventHostSignal)                 \
	X(zeEventHostSynchronize)            \
	X(zeEventPoolCreate)                 \
	X(zeEventPoolDestroy)                \
	X(zeEventQueryStatus)                \
	X(zeFenceCreate)                     \
	X(zeFenceDestroy)                    \
	X(zeFenceHostSynchronize)            \
	X(zeInit)                            \
	X(zeKernelCreate)                    \
	X(zeKernelDestroy)                   \
	X(zeKernelSetGroupSize)              \
	X(zeMemAllocDevice)                  \
	X(zeMemAllocHost)                    \
	X(zeMemAllocShared)                  \
	X(zeMemFree)                         \
	X(zeModuleCreate)                    \
	X(zeModuleDestroy)

static struct {
#define FIELD(name) __typeof__(&name) name;
	CALLS(FIELD)
} found;
#define ZE(name) (found.name)

static int calls_open(void)
{
	void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!loader)
		return -1;
#define LOOK_UP(name)                                              \
	found.name = (__typeof__(found.name))dlsym(loader, #name); \
	if (!found.name)                                           \
		return -1;
	CALLS(LOOK_UP)
	return 0;
}
#endif

#endif
