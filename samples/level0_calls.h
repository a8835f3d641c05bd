/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level0_calls.h - the functions that level0.c calls: linked, or with LEVEL0_DLOPEN looked up in a loader
 * that the program opens for itself. `calls_open` is 0 if they are there.
 */
#ifndef SAMPLES_LEVEL0_CALLS_H
#define SAMPLES_LEVEL0_CALLS_H

#include <level_zero/ze_api.h>

#ifndef LEVEL0_DLOPEN
static int calls_open(void)
{
	return 0;
}
#else
#include <dlfcn.h>

#define CALLS(X)                             \
	X(zeInit)                            \
	X(zeDriverGet)                       \
	X(zeDeviceGet)                       \
	X(zeContextCreate)                   \
	X(zeContextDestroy)                  \
	X(zeCommandQueueCreate)              \
	X(zeCommandQueueDestroy)             \
	X(zeCommandQueueExecuteCommandLists) \
	X(zeCommandQueueSynchronize)         \
	X(zeCommandListCreate)               \
	X(zeCommandListCreateImmediate)      \
	X(zeCommandListClose)                \
	X(zeCommandListReset)                \
	X(zeCommandListDestroy)              \
	X(zeCommandListAppendLaunchKernel)   \
	X(zeCommandListAppendMemoryCopy)     \
	X(zeCommandListAppendMemoryFill)     \
	X(zeCommandListAppendEventReset)     \
	X(zeCommandListAppendWaitOnEvents)   \
	X(zeFenceCreate)                     \
	X(zeFenceDestroy)                    \
	X(zeFenceHostSynchronize)            \
	X(zeEventPoolCreate)                 \
	X(zeEventPoolDestroy)                \
	X(zeEventCreate)                     \
	X(zeEventDestroy)                    \
	X(zeEventHostSignal)                 \
	X(zeEventHostSynchronize)            \
	X(zeEventQueryStatus)                \
	X(zeEventHostReset)                  \
	X(zeMemAllocDevice)                  \
	X(zeMemAllocHost)                    \
	X(zeMemAllocShared)                  \
	X(zeMemFree)                         \
	X(zeModuleCreate)                    \
	X(zeModuleDestroy)                   \
	X(zeKernelCreate)                    \
	X(zeKernelDestroy)                   \
	X(zeKernelSetGroupSize)

#define DECLARE(name) static __typeof__(&name) name##_found;
CALLS(DECLARE)

static int calls_open(void)
{
	void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!loader)
		return -1;
#define LOOK_UP(name)                                           \
	name##_found = (__typeof__(&name))dlsym(loader, #name); \
	if (!name##_found)                                      \
		return -1;
	CALLS(LOOK_UP)
	return 0;
}

#define zeInit zeInit_found
#define zeDriverGet zeDriverGet_found
#define zeDeviceGet zeDeviceGet_found
#define zeContextCreate zeContextCreate_found
#define zeContextDestroy zeContextDestroy_found
#define zeCommandQueueCreate zeCommandQueueCreate_found
#define zeCommandQueueDestroy zeCommandQueueDestroy_found
#define zeCommandQueueExecuteCommandLists zeCommandQueueExecuteCommandLists_found
#define zeCommandQueueSynchronize zeCommandQueueSynchronize_found
#define zeCommandListCreate zeCommandListCreate_found
#define zeCommandListCreateImmediate zeCommandListCreateImmediate_found
#define zeCommandListClose zeCommandListClose_found
#define zeCommandListReset zeCommandListReset_found
#define zeCommandListDestroy zeCommandListDestroy_found
#define zeCommandListAppendLaunchKernel zeCommandListAppendLaunchKernel_found
#define zeCommandListAppendMemoryCopy zeCommandListAppendMemoryCopy_found
#define zeCommandListAppendMemoryFill zeCommandListAppendMemoryFill_found
#define zeCommandListAppendEventReset zeCommandListAppendEventReset_found
#define zeCommandListAppendWaitOnEvents zeCommandListAppendWaitOnEvents_found
#define zeFenceCreate zeFenceCreate_found
#define zeFenceDestroy zeFenceDestroy_found
#define zeFenceHostSynchronize zeFenceHostSynchronize_found
#define zeEventPoolCreate zeEventPoolCreate_found
#define zeEventPoolDestroy zeEventPoolDestroy_found
#define zeEventCreate zeEventCreate_found
#define zeEventDestroy zeEventDestroy_found
#define zeEventHostSignal zeEventHostSignal_found
#define zeEventHostSynchronize zeEventHostSynchronize_found
#define zeEventQueryStatus zeEventQueryStatus_found
#define zeEventHostReset zeEventHostReset_found
#define zeMemAllocDevice zeMemAllocDevice_found
#define zeMemAllocHost zeMemAllocHost_found
#define zeMemAllocShared zeMemAllocShared_found
#define zeMemFree zeMemFree_found
#define zeModuleCreate zeModuleCreate_found
#define zeModuleDestroy zeModuleDestroy_found
#define zeKernelCreate zeKernelCreate_found
#define zeKernelDestroy zeKernelDestroy_found
#define zeKernelSetGroupSize zeKernelSetGroupSize_found
#endif

#endif
