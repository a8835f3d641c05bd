/* SPDX-License-Identifier: Apache-2.0 */
/* driver_lists.c - events, fences, queues and command lists of the fake Level Zero driver, see driver.c. */
#include "tests/level0/driver.h"

static uint32_t queue_count;

/* ---- events and fences ---- */

static ze_result_t pool_create(ze_context_handle_t context, const ze_event_pool_desc_t *desc, uint32_t count,
	ze_device_handle_t *of, ze_event_pool_handle_t *to)
{
	(void)context, (void)count, (void)of;
	*to = calloc(1, sizeof(**to));
	(*to)->has_times = desc->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t pool_destroy(ze_event_pool_handle_t pool)
{
	free(pool);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t event_create(
	ze_event_pool_handle_t pool, const ze_event_desc_t *desc, ze_event_handle_t *to)
{
	(void)desc;
	*to = calloc(1, sizeof(**to));
	(*to)->has_times = pool->has_times;
	return ZE_RESULT_SUCCESS;
}

/* What is destroyed is made useless, so that a late use shows. */
static ze_result_t event_destroy(ze_event_handle_t event)
{
	memset(event, 0xa5, sizeof(*event));
	event->event.count = 0;
	free(event);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t event_signal(ze_event_handle_t event)
{
	fake_event_set(&event->event, true);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t event_reset(ze_event_handle_t event)
{
	fake_event_set(&event->event, false);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t event_status(ze_event_handle_t event)
{
	return fake_event_is_signaled(&event->event, NULL) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t event_times(ze_event_handle_t event, ze_kernel_timestamp_result_t *to)
{
	uint64_t begin_end[2];

	if (!event->has_times)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (!fake_event_is_signaled(&event->event, begin_end))
		return ZE_RESULT_NOT_READY;
	to->global.kernelStart = to->context.kernelStart = begin_end[0];
	to->global.kernelEnd = to->context.kernelEnd = begin_end[1];
	return ZE_RESULT_SUCCESS;
}

static bool event_done(void *event)
{
	return fake_event_is_signaled(event, NULL);
}

static ze_result_t event_wait(ze_event_handle_t event, uint64_t timeout_ns)
{
	return fake_wait(event_done, &event->event, timeout_ns) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t fence_create(
	ze_command_queue_handle_t queue, const ze_fence_desc_t *desc, ze_fence_handle_t *to)
{
	(void)queue, (void)desc;
	*to = calloc(1, sizeof(**to));
	return ZE_RESULT_SUCCESS;
}

static ze_result_t fence_destroy(ze_fence_handle_t fence)
{
	free(fence);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t fence_wait(ze_fence_handle_t fence, uint64_t timeout_ns)
{
	return fake_wait(event_done, &fence->event, timeout_ns) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t fence_status(ze_fence_handle_t fence)
{
	return fake_event_is_signaled(&fence->event, NULL) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t fence_reset(ze_fence_handle_t fence)
{
	fake_event_set(&fence->event, false);
	return ZE_RESULT_SUCCESS;
}

/* ---- queues and lists ---- */

static bool queue_done(void *queue)
{
	return fake_queue_is_idle(queue);
}

static ze_result_t queue_create(ze_context_handle_t context, ze_device_handle_t device,
	const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *to)
{
	(void)context;
	*to = calloc(1, sizeof(**to));
	(*to)->queue = fake_queue_new(device->number, __atomic_add_fetch(&queue_count, 1, __ATOMIC_RELAXED));
	(*to)->is_synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t queue_destroy(ze_command_queue_handle_t queue)
{
	fake_queue_free(queue->queue);
	free(queue);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t queue_wait(ze_command_queue_handle_t queue, uint64_t timeout_ns)
{
	return fake_wait(queue_done, queue->queue, timeout_ns) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t queue_execute(ze_command_queue_handle_t queue, uint32_t count,
	ze_command_list_handle_t *lists, ze_fence_handle_t fence)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!lists[i]->closed)
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		for (unsigned k = 0; k < lists[i]->count; k++)
			fake_queue_put(queue->queue, &lists[i]->operations[k]);
	}
	if (fence)
		fake_queue_put(
			queue->queue, &(struct fake_operation){.kind = FAKE_SIGNAL, .signal = &fence->event});
	if (queue->is_synchronous)
		queue_wait(queue, UINT64_MAX);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t list_create(ze_context_handle_t context, ze_device_handle_t device,
	const ze_command_list_desc_t *desc, ze_command_list_handle_t *to)
{
	(void)context, (void)device, (void)desc;
	*to = calloc(1, sizeof(**to));
	return ZE_RESULT_SUCCESS;
}

static ze_result_t list_create_immediate(ze_context_handle_t context, ze_device_handle_t device,
	const ze_command_queue_desc_t *desc, ze_command_list_handle_t *to)
{
	list_create(context, device, NULL, to);
	return queue_create(context, device, desc, &(*to)->immediate);
}

static ze_result_t list_reset(ze_command_list_handle_t list)
{
	list->count = 0;
	list->closed = false;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t list_close(ze_command_list_handle_t list)
{
	list->closed = true;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t list_destroy(ze_command_list_handle_t list)
{
	if (list->immediate)
		queue_destroy(list->immediate);
	for (unsigned i = 0; i < list->count; i++)
		free(list->operations[i].read);
	free(list->operations);
	free(list);
	return ZE_RESULT_SUCCESS;
}

/* Runs it or keeps it, as the list is. */
static ze_result_t put(ze_command_list_handle_t list, struct fake_operation *operation,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	if (list->closed || wait_count > FAKE_WAITS)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (signal)
		operation->signal = &signal->event;
	for (uint32_t i = 0; i < wait_count; i++)
		operation->waits[i] = &waits[i]->event;
	operation->wait_count = wait_count;
	if (!list->immediate) {
		list->operations = realloc(list->operations, (list->count + 1) * sizeof(*operation));
		list->operations[list->count++] = *operation;
		return ZE_RESULT_SUCCESS;
	}
	fake_queue_put(list->immediate->queue, operation);
	if (list->immediate->is_synchronous)
		queue_wait(list->immediate, UINT64_MAX);
	return ZE_RESULT_SUCCESS;
}

/* NAME_500us takes 500 us. */
static uint64_t kernel_ns(const char *name)
{
	const char *digits = strrchr(name, '_');

	return digits ? strtoull(digits + 1, NULL, 10) * 1000u : 100000;
}

static ze_result_t append_kernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
	const ze_group_count_t *groups, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct fake_operation operation = {.kind = FAKE_KERNEL, .duration_ns = kernel_ns(kernel->name)};

	(void)groups;
	memcpy(operation.name, kernel->name, sizeof(operation.name));
	return put(list, &operation, signal, wait_count, waits);
}

static ze_result_t append_copy(ze_command_list_handle_t list, void *to, const void *from, size_t bytes,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	struct fake_operation operation = {.kind = FAKE_COPY,
		.duration_ns = fake_script.copy_ns,
		.bytes = bytes,
		.to = to,
		.from = from};

	return put(list, &operation, signal, wait_count, waits);
}

static ze_result_t append_fill(ze_command_list_handle_t list, void *to, const void *pattern,
	size_t pattern_bytes, size_t bytes, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct fake_operation operation = {
		.kind = FAKE_FILL, .duration_ns = fake_script.fill_ns, .bytes = bytes};

	(void)to, (void)pattern, (void)pattern_bytes;
	return put(list, &operation, signal, wait_count, waits);
}

static ze_result_t append_signal(ze_command_list_handle_t list, ze_event_handle_t event)
{
	return put(list, &(struct fake_operation){.kind = FAKE_SIGNAL}, event, 0, NULL);
}

static ze_result_t append_reset(ze_command_list_handle_t list, ze_event_handle_t event)
{
	return put(list, &(struct fake_operation){.kind = FAKE_RESET}, event, 0, NULL);
}

static ze_result_t append_waits(ze_command_list_handle_t list, uint32_t count, ze_event_handle_t *waits)
{
	return put(list, &(struct fake_operation){.kind = FAKE_WAIT}, NULL, count, waits);
}

static ze_result_t append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits)
{
	return put(list, &(struct fake_operation){.kind = FAKE_WAIT}, signal, wait_count, waits);
}

static ze_result_t append_read(ze_command_list_handle_t list, uint32_t count, ze_event_handle_t *events,
	void *to, const size_t *offsets, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct fake_operation operation = {.kind = FAKE_READ, .to = to, .read_count = count};

	if (offsets)
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	operation.read = calloc(count, sizeof(*operation.read));
	for (uint32_t i = 0; i < count; i++)
		operation.read[i] = &events[i]->event;
	return put(list, &operation, signal, wait_count, waits);
}

/* ---- the tables ---- */

TABLE(ze, CommandQueue, ze_command_queue_dditable)
{
	to->pfnCreate = queue_create;
	to->pfnDestroy = queue_destroy;
	to->pfnExecuteCommandLists = queue_execute;
	to->pfnSynchronize = queue_wait;
}

TABLE(ze, CommandList, ze_command_list_dditable)
{
	to->pfnCreate = list_create;
	to->pfnCreateImmediate = list_create_immediate;
	to->pfnDestroy = list_destroy;
	to->pfnClose = list_close;
	to->pfnReset = list_reset;
	to->pfnAppendLaunchKernel = append_kernel;
	to->pfnAppendLaunchCooperativeKernel = append_kernel;
	to->pfnAppendMemoryCopy = append_copy;
	to->pfnAppendMemoryFill = append_fill;
	to->pfnAppendSignalEvent = append_signal;
	to->pfnAppendEventReset = append_reset;
	to->pfnAppendWaitOnEvents = append_waits;
	to->pfnAppendBarrier = append_barrier;
	to->pfnAppendQueryKernelTimestamps = append_read;
}

TABLE(ze, Event, ze_event_dditable)
{
	to->pfnCreate = event_create;
	to->pfnDestroy = event_destroy;
	to->pfnHostSignal = event_signal;
	to->pfnHostSynchronize = event_wait;
	to->pfnQueryStatus = event_status;
	to->pfnHostReset = event_reset;
	to->pfnQueryKernelTimestamp = event_times;
}

TABLE(ze, EventPool, ze_event_pool_dditable)
{
	to->pfnCreate = pool_create;
	to->pfnDestroy = pool_destroy;
}

TABLE(ze, Fence, ze_fence_dditable)
{
	to->pfnCreate = fence_create;
	to->pfnDestroy = fence_destroy;
	to->pfnHostSynchronize = fence_wait;
	to->pfnQueryStatus = fence_status;
	to->pfnReset = fence_reset;
}
