/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0_queue.c - wraps contexts, queues, fences and waits: where and when command lists are executed,
 * and when the program sees their end.
 */
#include <stdlib.h>

#include "record/agent/gpu/level0/gpu_level0.h"

static struct gpu_map queues;
static struct gpu_map fences; /* to the handle of its queue */

struct queue {
	struct gpu_queue name;
	bool is_synchronous;
};

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

/* False: unknown, or not traced. */
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

/* A wait has returned; one with timeout 0 was a query. */
static void waited(uint64_t begin_ns, ze_result_t result, uint64_t timeout, enum gpu_sync_kind kind,
	const struct gpu_queue *queue)
{
	if (!level0_is_on())
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

/* ---- the tables ---- */

void level0_wrap_context(ze_context_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnCreate, context_create);
	LEVEL0_WRAP(to, pfnCreateEx, context_create_ex);
	LEVEL0_WRAP(to, pfnDestroy, context_destroy);
}

void level0_wrap_command_queue(ze_command_queue_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnCreate, queue_create);
	LEVEL0_WRAP(to, pfnDestroy, queue_destroy);
	LEVEL0_WRAP(to, pfnExecuteCommandLists, queue_execute);
	LEVEL0_WRAP(to, pfnSynchronize, queue_synchronize);
}

void level0_wrap_fence(ze_fence_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnCreate, fence_create);
	LEVEL0_WRAP(to, pfnDestroy, fence_destroy);
	LEVEL0_WRAP(to, pfnHostSynchronize, fence_synchronize);
	LEVEL0_WRAP(to, pfnQueryStatus, fence_status);
}

void level0_wrap_event_wait(ze_event_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnHostSynchronize, event_synchronize);
	LEVEL0_WRAP(to, pfnQueryStatus, event_status);
}
