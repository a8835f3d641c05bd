/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0.c - Level Zero: the loader fills its tables through exported functions,
 * zeGet*ProcAddrTable, which it calls by name; ours come first and put wrappers into
 * the tables. So calls are seen whether the program is linked with the loader, opens
 * it, or asks it for addresses, and a program without Level Zero never comes here.
 * Nothing of Level Zero is linked: what the agent calls is what the tables held.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "record/agent/arch.h"
#include "record/agent/gpu_level0.h"
#include "record/agent/lock.h"
#include "record/agent/real.h"
#include "record/agent/wrap.h"

#define LOADER "libze_loader.so.1"
#define NEAR 16	       /* operations in flight that a look asks for: most end in their order */
#define FAR_LOOK 64    /* every so often it asks for all */
#define LAST_LOOKS 100 /* at the end, for operations that still run */
#define LAST_PAUSE_NS 200000

__asm__(".symver dlopen,dlopen@" ARCH_GLIBC_BASE);
#pragma weak dlopen
__asm__(".symver dlsym,dlsym@" ARCH_GLIBC_BASE);
#pragma weak dlsym

ze_dditable_t level0_real;

static struct lock lock;
static _Atomic bool is_on;    /* all of level0_real is there */
static _Atomic bool is_given; /* given up: a fork child, whose devices are its parent's */
static struct gpu_map queues;
static struct gpu_map fences; /* to the handle of its queue */

struct queue {
	struct gpu_queue name;
	bool is_synchronous;
};

/* ---- whether it is watched ---- */

bool level0_enter(void)
{
	if (!atomic_load_explicit(&is_on, memory_order_acquire))
		return false;
	lock_take(&lock);
	return true;
}

void level0_leave(void)
{
	lock_give(&lock);
}

void level0_look(void)
{
	static uint32_t looks;
	int error = errno;

	if (atomic_load_explicit(&is_on, memory_order_acquire) && lock_try(&lock)) {
		level0_harvest(++looks % FAR_LOOK ? NEAR : LEVEL0_ALL);
		lock_give(&lock);
	}
	errno = error;
}

/* What the agent calls itself. A driver without one of them is left alone. */
static bool is_complete(void)
{
	const ze_dditable_t *r = &level0_real;

	return r->Driver.pfnGet && r->Device.pfnGet && r->Device.pfnGetProperties &&
	       r->Device.pfnGetCommandQueueGroupProperties && r->Device.pfnGetGlobalTimestamps &&
	       r->EventPool.pfnCreate && r->EventPool.pfnDestroy && r->Event.pfnCreate &&
	       r->Event.pfnDestroy && r->Event.pfnQueryStatus && r->Event.pfnHostReset &&
	       r->Event.pfnQueryKernelTimestamp && r->Mem.pfnGetAllocProperties;
}

void level0_start(void)
{
	static _Atomic bool is_started;

	if (atomic_exchange(&is_started, true) || atomic_load(&is_given))
		return;
	if (is_complete()) {
		gpu_exit_watch();
		atomic_store_explicit(&is_on, true, memory_order_release);
	} else {
		gpu_unmonitored("the Level Zero driver lacks functions that hpct needs");
	}
}

/* ---- contexts, queues, waits ---- */

static ze_result_t ZE_APICALL context_create(
	ze_driver_handle_t driver, const ze_context_desc_t *desc, ze_context_handle_t *to)
{
	level0_start();
	gpu_used(gpu_now_ns());
	return level0_real.Context.pfnCreate(driver, desc, to);
}

static ze_result_t ZE_APICALL context_create_ex(ze_driver_handle_t driver, const ze_context_desc_t *desc,
	uint32_t count, ze_device_handle_t *devices, ze_context_handle_t *to)
{
	level0_start();
	gpu_used(gpu_now_ns());
	return level0_real.Context.pfnCreateEx(driver, desc, count, devices, to);
}

static ze_result_t ZE_APICALL context_destroy(ze_context_handle_t context)
{
	if (level0_enter()) {
		level0_harvest(LEVEL0_ALL);
		level0_give_up(context);
		level0_context_forget(context);
		level0_leave();
	}
	return level0_real.Context.pfnDestroy(context);
}

static void queue_add(ze_context_handle_t context, ze_device_handle_t device_handle,
	const ze_command_queue_desc_t *desc, ze_command_queue_handle_t handle)
{
	struct level0_device *device = level0_device(device_handle);
	struct queue *queue = device ? calloc(1, sizeof(*queue)) : NULL;

	if (!queue)
		return;
	queue->name = level0_queue(context, device, desc, "queue");
	queue->is_synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
	if (gpu_map_put(&queues, handle, queue))
		free(queue);
}

static ze_result_t ZE_APICALL queue_create(ze_context_handle_t context, ze_device_handle_t device,
	const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *to)
{
	ze_result_t result = level0_real.CommandQueue.pfnCreate(context, device, desc, to);

	if (!result && level0_enter()) {
		queue_add(context, device, desc, *to);
		level0_leave();
	}
	return result;
}

static ze_result_t ZE_APICALL queue_destroy(ze_command_queue_handle_t handle)
{
	if (level0_enter()) {
		level0_harvest(LEVEL0_ALL);
		free(gpu_map_take(&queues, handle));
		level0_leave();
	}
	return level0_real.CommandQueue.pfnDestroy(handle);
}

/* false: not known, or not watched. */
static bool queue_get(ze_command_queue_handle_t handle, struct queue *to)
{
	struct queue *queue;

	if (!level0_enter())
		return false;
	queue = gpu_map_get(&queues, handle);
	if (queue)
		*to = *queue;
	level0_leave();
	return queue;
}

static void lists_prepare(
	ze_command_queue_handle_t queue, uint32_t count, const ze_command_list_handle_t *handles)
{
	if (!level0_enter())
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct level0_list *list = level0_list(handles[i]);

		if (list)
			level0_list_prepare(list, queue);
	}
	level0_leave();
}

static void lists_start(uint32_t count, const ze_command_list_handle_t *handles, const struct queue *queue,
	uint64_t launch_ns)
{
	uint64_t correlation = gpu_correlation();
	bool any = false;

	if (!level0_enter())
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct level0_list *list = level0_list(handles[i]);

		if (!list || !list->count)
			continue;
		any = true;
		level0_list_start(list, &queue->name, correlation, launch_ns);
		if (queue->is_synchronous)
			level0_list_harvest(list, LEVEL0_ALL);
	}
	level0_leave();
	if (any)
		gpu_launched(correlation, launch_ns);
	if (queue->is_synchronous)
		gpu_sync_end(launch_ns, GPU_SYNC_STREAM, &queue->name);
}

static ze_result_t ZE_APICALL queue_execute(ze_command_queue_handle_t handle, uint32_t count,
	ze_command_list_handle_t *lists, ze_fence_handle_t fence)
{
	uint64_t begin_ns = gpu_now_ns();
	ze_result_t result;
	struct queue queue;

	if (!lists || !queue_get(handle, &queue))
		return level0_real.CommandQueue.pfnExecuteCommandLists(handle, count, lists, fence);
	lists_prepare(handle, count, lists);
	result = level0_real.CommandQueue.pfnExecuteCommandLists(handle, count, lists, fence);
	if (!result)
		lists_start(count, lists, &queue, begin_ns);
	return result;
}

/* A wait has returned; one for no time was a question. */
static void waited(uint64_t begin_ns, ze_result_t result, uint64_t timeout, enum gpu_sync_kind kind,
	const struct gpu_queue *queue)
{
	if (!atomic_load_explicit(&is_on, memory_order_acquire))
		return;
	if (timeout)
		gpu_sync_end(begin_ns, kind, queue);
	if (!result)
		level0_look();
}

static ze_result_t ZE_APICALL queue_synchronize(ze_command_queue_handle_t handle, uint64_t timeout)
{
	struct queue queue;
	bool is_known = queue_get(handle, &queue);
	uint64_t begin_ns = gpu_sync_begin();
	ze_result_t result = level0_real.CommandQueue.pfnSynchronize(handle, timeout);

	waited(begin_ns, result, timeout, GPU_SYNC_STREAM, is_known ? &queue.name : NULL);
	return result;
}

static ze_result_t ZE_APICALL fence_create(
	ze_command_queue_handle_t queue, const ze_fence_desc_t *desc, ze_fence_handle_t *to)
{
	ze_result_t result = level0_real.Fence.pfnCreate(queue, desc, to);

	if (!result && level0_enter()) {
		gpu_map_put(&fences, *to, queue);
		level0_leave();
	}
	return result;
}

static ze_result_t ZE_APICALL fence_destroy(ze_fence_handle_t fence)
{
	if (level0_enter()) {
		gpu_map_take(&fences, fence);
		level0_leave();
	}
	return level0_real.Fence.pfnDestroy(fence);
}

static ze_result_t ZE_APICALL fence_synchronize(ze_fence_handle_t fence, uint64_t timeout)
{
	struct queue *known = NULL, queue;
	uint64_t begin_ns = gpu_sync_begin();
	ze_result_t result;

	if (level0_enter()) {
		known = gpu_map_get(&queues, gpu_map_get(&fences, fence));
		if (known)
			queue = *known;
		level0_leave();
	}
	result = level0_real.Fence.pfnHostSynchronize(fence, timeout);
	waited(begin_ns, result, timeout, GPU_SYNC_STREAM, known ? &queue.name : NULL);
	return result;
}

static ze_result_t ZE_APICALL fence_status(ze_fence_handle_t fence)
{
	ze_result_t result = level0_real.Fence.pfnQueryStatus(fence);

	waited(0, result, 0, GPU_SYNC_STREAM, NULL);
	return result;
}

static ze_result_t ZE_APICALL event_synchronize(ze_event_handle_t event, uint64_t timeout)
{
	uint64_t begin_ns = gpu_sync_begin();
	ze_result_t result = level0_real.Event.pfnHostSynchronize(event, timeout);

	waited(begin_ns, result, timeout, GPU_SYNC_EVENT, NULL);
	return result;
}

static ze_result_t ZE_APICALL event_status(ze_event_handle_t event)
{
	ze_result_t result = level0_real.Event.pfnQueryStatus(event);

	waited(0, result, 0, GPU_SYNC_EVENT, NULL);
	return result;
}

/* ---- the loader's tables ---- */

/* A slot that the driver leaves empty stays so. */
#define WRAP(to, slot, wrapper) ((to)->slot = (to)->slot ? (wrapper) : NULL)

static void wrap_nothing(void *to)
{
	(void)to;
}

static void wrap_context(ze_context_dditable_t *to)
{
	WRAP(to, pfnCreate, context_create);
	WRAP(to, pfnCreateEx, context_create_ex);
	WRAP(to, pfnDestroy, context_destroy);
}

static void wrap_command_queue(ze_command_queue_dditable_t *to)
{
	WRAP(to, pfnCreate, queue_create);
	WRAP(to, pfnDestroy, queue_destroy);
	WRAP(to, pfnExecuteCommandLists, queue_execute);
	WRAP(to, pfnSynchronize, queue_synchronize);
}

static void wrap_fence(ze_fence_dditable_t *to)
{
	WRAP(to, pfnCreate, fence_create);
	WRAP(to, pfnDestroy, fence_destroy);
	WRAP(to, pfnHostSynchronize, fence_synchronize);
	WRAP(to, pfnQueryStatus, fence_status);
}

static void wrap_event(ze_event_dditable_t *to)
{
	WRAP(to, pfnHostSynchronize, event_synchronize);
	WRAP(to, pfnQueryStatus, event_status);
	level0_wrap_event(to);
}

/* The loader's own function, which stands behind ours or, opened by the program for itself, in a library
 * that is not in the global order. It stays loaded from here on: its functions are in our tables. */
static void *loader_symbol(const char *name)
{
	void *(*volatile open)(const char *, int) = dlopen;
	void *(*volatile lookup)(void *, const char *) = dlsym;
	void *address = real_symbol(name);
	void *loader = open ? open(LOADER, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : NULL;

	return address || !loader || !lookup ? address : lookup(loader, name);
}

/* Whether tables of this version are to be wrapped. */
static bool is_wanted(ze_api_version_t version)
{
	if (!gpu_is_wanted(&gpu_level0) || atomic_load(&is_given))
		return false;
	if (version >= ZE_API_VERSION_1_4 && ZE_MAJOR_VERSION(version) == 1)
		return true;
	gpu_unmonitored("the Level Zero loader is of a version that hpct does not know");
	return false;
}

#define TABLE(group, type, wrap)                                                                       \
	WRAPPER ze_result_t ZE_APICALL zeGet##group##ProcAddrTable(ze_api_version_t version, type *to) \
	{                                                                                              \
		__typeof__(&zeGet##group##ProcAddrTable) get =                                         \
			loader_symbol("zeGet" #group "ProcAddrTable");                                 \
		ze_result_t result = get ? get(version, to) : ZE_RESULT_ERROR_UNINITIALIZED;           \
                                                                                                       \
		if (!result && to && is_wanted(version)) {                                             \
			level0_real.group = *to;                                                       \
			wrap(to);                                                                      \
		}                                                                                      \
		return result;                                                                         \
	}

TABLE(Driver, ze_driver_dditable_t, wrap_nothing)
TABLE(Device, ze_device_dditable_t, wrap_nothing)
TABLE(Context, ze_context_dditable_t, wrap_context)
TABLE(CommandQueue, ze_command_queue_dditable_t, wrap_command_queue)
TABLE(CommandList, ze_command_list_dditable_t, level0_wrap_command_list)
TABLE(Fence, ze_fence_dditable_t, wrap_fence)
TABLE(EventPool, ze_event_pool_dditable_t, level0_wrap_event_pool)
TABLE(Event, ze_event_dditable_t, wrap_event)
TABLE(Module, ze_module_dditable_t, level0_wrap_module)
TABLE(Kernel, ze_kernel_dditable_t, level0_wrap_kernel)
TABLE(Mem, ze_mem_dditable_t, level0_wrap_memory)

/* ---- the vendor ---- */

/* Looks again for a moment. In a signal handler the lock may be held below us. */
static void level0_flush(void)
{
	const struct timespec pause = {0, LAST_PAUSE_NS};

	if (!atomic_load(&is_on) || !lock_try(&lock))
		return;
	for (unsigned i = 0; i < LAST_LOOKS; i++) {
		level0_harvest(LEVEL0_ALL);
		if (!level0_running())
			break;
		nanosleep(&pause, NULL);
	}
	level0_give_up(NULL);
	lock_give(&lock);
}

static void level0_child(void)
{
	atomic_store(&is_given, atomic_load(&is_on));
	atomic_store(&is_on, false);
	atomic_store(&lock.state, 0);
}

const struct gpu_vendor gpu_level0 = {.name = "level0", .flush = level0_flush, .child = level0_child};
