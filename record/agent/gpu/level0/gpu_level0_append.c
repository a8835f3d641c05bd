/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0_append.c - wraps calls that append operations to command lists. An operation without an event of
 * the program gets one of ours, to read its times from; the call is unchanged otherwise.
 */
#include <stdlib.h>

#include "record/agent/gpu/level0/gpu_level0.h"

/* The state of one call. */
struct append {
	struct level0_operation operation;
	ze_command_list_handle_t list;
	ze_event_handle_t signal; /* event passed to the runtime */
	uint64_t begin_ns;
	bool is_known; /* the list is registered */
};

/* ---- lists ---- */

static void list_add(ze_command_list_handle_t handle, ze_context_handle_t context,
	ze_device_handle_t device_handle, uint32_t ordinal, const ze_command_queue_desc_t *immediate)
{
	struct level0_device *device = level0_device(device_handle);
	struct level0_list *list = device ? level0_list_new(handle) : NULL;

	if (!list)
		return;
	list->context = context;
	list->device = device;
	list->ordinal = ordinal;
	list->events = level0_events(context, device);
	if (list->events)
		list->events->users++;
	list->is_immediate = immediate;
	if (!immediate)
		return;
	list->is_synchronous = immediate->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
	list->queue = level0_queue(context, device, immediate, "immediate list");
}

static ze_result_t ZE_APICALL list_create(ze_context_handle_t context, ze_device_handle_t device,
	const ze_command_list_desc_t *desc, ze_command_list_handle_t *to)
{
	ze_result_t result = level0_real.CommandList.pfnCreate(context, device, desc, to);

	if (!result && level0_enter()) {
		list_add(*to, context, device, desc->commandQueueGroupOrdinal, NULL);
		level0_leave();
	}
	return result;
}

static ze_result_t ZE_APICALL list_create_immediate(ze_context_handle_t context, ze_device_handle_t device,
	const ze_command_queue_desc_t *desc, ze_command_list_handle_t *to)
{
	ze_result_t result = level0_real.CommandList.pfnCreateImmediate(context, device, desc, to);

	if (!result && level0_enter()) {
		list_add(*to, context, device, desc->ordinal, desc);
		level0_leave();
	}
	return result;
}

static ze_result_t ZE_APICALL list_destroy(ze_command_list_handle_t handle)
{
	if (level0_enter()) {
		struct level0_list *list = level0_list(handle);

		if (list)
			level0_list_free(list);
		level0_leave();
	}
	return level0_real.CommandList.pfnDestroy(handle);
}

static ze_result_t ZE_APICALL list_reset(ze_command_list_handle_t handle)
{
	if (level0_enter()) {
		struct level0_list *list = level0_list(handle);

		if (list)
			level0_list_clear(list);
		level0_leave();
	}
	return level0_real.CommandList.pfnReset(handle);
}

/* ---- around the call that appends ---- */

static void append_begin(struct append *a, ze_command_list_handle_t handle, ze_event_handle_t signal)
{
	struct level0_list *list;

	a->list = handle;
	a->signal = signal;
	a->begin_ns = gpu_now_ns();
	a->is_known = false;
	if (!level0_enter())
		return;
	list = level0_list(handle);
	if (list) {
		a->is_known = true;
		if (list->is_immediate)
			level0_list_harvest(list, 1);
		if (list->is_immediate && signal)
			level0_event_forget(signal, false);
		if (!signal)
			a->signal = level0_event_take(list->events);
		a->operation.event = a->signal;
		a->operation.is_ours = !signal;
		a->operation.has_times = !signal || level0_event_has_times(signal);
		a->operation.launch_ns = a->begin_ns;
	}
	level0_leave();
}

static void append_keep(struct append *a, struct level0_list *list)
{
	struct level0_operation *operation = &a->operation;

	if (list->is_immediate) {
		operation->activity.queue = list->queue;
		operation->activity.correlation = gpu_correlation();
	}
	if (operation->activity.operation == STORE_OP_COPY)
		operation->activity.copy.is_async = !list->is_synchronous;
	level0_list_add(list, operation);
	if (list->is_synchronous)
		level0_list_harvest(list, LEVEL0_ALL);
}

static ze_result_t append_end(struct append *a, ze_result_t result)
{
	bool is_synchronous = false, is_immediate = false;
	struct level0_list *list;

	if (!a->is_known || !level0_enter())
		return result;
	list = level0_list(a->list);
	if (list && !result) {
		append_keep(a, list);
		is_immediate = list->is_immediate;
		is_synchronous = list->is_synchronous;
	} else if (list && a->operation.is_ours && a->signal) {
		level0_event_give(list->events, a->signal);
	}
	level0_leave();
	if (is_immediate)
		gpu_launched(a->operation.activity.correlation, a->begin_ns);
	if (is_synchronous)
		gpu_sync_end(a->begin_ns, GPU_SYNC_STREAM, &a->operation.activity.queue);
	return result;
}

/* ---- kernels ---- */

static void kernel_begin(struct append *a, ze_command_list_handle_t list, ze_kernel_handle_t kernel,
	const ze_group_count_t *groups, ze_event_handle_t signal)
{
	struct gpu_activity *activity = &a->operation.activity;

	*a = (struct append){.operation.activity.operation = STORE_OP_KERNEL};
	if (level0_enter()) {
		level0_kernel(activity, kernel);
		level0_leave();
	}
	if (groups) {
		activity->kernel.grid[0] = groups->groupCountX;
		activity->kernel.grid[1] = groups->groupCountY;
		activity->kernel.grid[2] = groups->groupCountZ;
	}
	append_begin(a, list, signal);
}

static ze_result_t ZE_APICALL append_kernel(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
	const ze_group_count_t *groups, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct append a;

	kernel_begin(&a, list, kernel, groups, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendLaunchKernel(
				      list, kernel, groups, a.signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_cooperative(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
	const ze_group_count_t *groups, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct append a;

	kernel_begin(&a, list, kernel, groups, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendLaunchCooperativeKernel(
				      list, kernel, groups, a.signal, wait_count, waits));
}

/* The group counts may be in memory that only the device can read. */
static ze_result_t ZE_APICALL append_indirect(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
	const ze_group_count_t *groups, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct append a;

	kernel_begin(&a, list, kernel, NULL, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendLaunchKernelIndirect(
				      list, kernel, groups, a.signal, wait_count, waits));
}

/* One event for all kernels: recorded as one operation, with the first kernel's name. */
static ze_result_t ZE_APICALL append_several(ze_command_list_handle_t list, uint32_t count,
	ze_kernel_handle_t *kernels, const uint32_t *launches, const ze_group_count_t *groups,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	struct append a;

	kernel_begin(&a, list, count && kernels ? kernels[0] : NULL, NULL, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendLaunchMultipleKernelsIndirect(
				      list, count, kernels, launches, groups, a.signal, wait_count, waits));
}

/* ---- copies and sets ---- */

enum side { SIDE_HOST, SIDE_DEVICE, SIDE_ARRAY };

struct place {
	enum side side;
	enum gpu_memory_kind kind;
	ze_device_handle_t device; /* NULL: no device's memory */
};

static struct place place_of(ze_context_handle_t context, const void *pointer)
{
	ze_memory_allocation_properties_t properties = {
		.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
	struct place place = {SIDE_HOST, GPU_MEMORY_PAGEABLE, NULL};
	ze_device_handle_t device = NULL;

	if (!context || level0_real.Mem.pfnGetAllocProperties(context, pointer, &properties, &device))
		return place;
	if (properties.type == ZE_MEMORY_TYPE_HOST)
		place.kind = GPU_MEMORY_PINNED;
	else if (properties.type == ZE_MEMORY_TYPE_SHARED)
		place = (struct place){SIDE_DEVICE, GPU_MEMORY_MANAGED, NULL};
	else if (properties.type == ZE_MEMORY_TYPE_DEVICE)
		place = (struct place){SIDE_DEVICE, GPU_MEMORY_DEVICE, device};
	return place;
}

static const struct place array_place = {SIDE_ARRAY, GPU_MEMORY_ARRAY, NULL};

static ze_context_handle_t context_of(ze_command_list_handle_t handle)
{
	ze_context_handle_t context = NULL;
	struct level0_list *list;

	if (!level0_enter())
		return NULL;
	list = level0_list(handle);
	if (list)
		context = list->context;
	level0_leave();
	return context;
}

static void copy_begin(struct append *a, ze_command_list_handle_t list, struct place to, struct place from,
	uint64_t bytes, ze_event_handle_t signal)
{
	static const enum gpu_copy_kind kinds[3][3] = {/* from, to: host, device, array */
		{GPU_COPY_HOST_TO_HOST, GPU_COPY_HOST_TO_DEVICE, GPU_COPY_HOST_TO_ARRAY},
		{GPU_COPY_DEVICE_TO_HOST, GPU_COPY_DEVICE_TO_DEVICE, GPU_COPY_DEVICE_TO_ARRAY},
		{GPU_COPY_ARRAY_TO_HOST, GPU_COPY_ARRAY_TO_DEVICE, GPU_COPY_ARRAY_TO_ARRAY}};

	*a = (struct append){.operation.activity = {.operation = STORE_OP_COPY, .bytes = bytes}};
	a->operation.activity.copy.kind = to.device && from.device && to.device != from.device
						  ? GPU_COPY_PEER_TO_PEER
						  : kinds[from.side][to.side];
	append_begin(a, list, signal);
}

static ze_result_t ZE_APICALL append_copy(ze_command_list_handle_t list, void *to, const void *from,
	size_t bytes, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	ze_context_handle_t context = context_of(list);
	struct append a;

	copy_begin(&a, list, place_of(context, to), place_of(context, from), bytes, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendMemoryCopy(
				      list, to, from, bytes, a.signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_copy_region(ze_command_list_handle_t list, void *to,
	const ze_copy_region_t *to_region, uint32_t to_pitch, uint32_t to_slice, const void *from,
	const ze_copy_region_t *region, uint32_t pitch, uint32_t slice, ze_event_handle_t signal,
	uint32_t wait_count, ze_event_handle_t *waits)
{
	ze_context_handle_t context = context_of(list);
	uint64_t bytes = region ? (uint64_t)region->width * region->height : 0;
	struct append a;

	copy_begin(&a, list, place_of(context, to), place_of(context, from),
		region && region->depth ? bytes * region->depth : bytes, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendMemoryCopyRegion(list, to, to_region, to_pitch,
				      to_slice, from, region, pitch, slice, a.signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_copy_context(ze_command_list_handle_t list, void *to,
	ze_context_handle_t of, const void *from, size_t bytes, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct append a;

	copy_begin(&a, list, place_of(context_of(list), to), place_of(of, from), bytes, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendMemoryCopyFromContext(
				      list, to, of, from, bytes, a.signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_image(ze_command_list_handle_t list, ze_image_handle_t to,
	ze_image_handle_t from, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	struct append a;

	copy_begin(&a, list, array_place, array_place, 0, signal);
	return append_end(
		&a, level0_real.CommandList.pfnAppendImageCopy(list, to, from, a.signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_image_region(ze_command_list_handle_t list, ze_image_handle_t to,
	ze_image_handle_t from, const ze_image_region_t *to_region, const ze_image_region_t *region,
	ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)
{
	struct append a;

	copy_begin(&a, list, array_place, array_place, 0, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendImageCopyRegion(
				      list, to, from, to_region, region, a.signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_image_to(ze_command_list_handle_t list, void *to, ze_image_handle_t from,
	const ze_image_region_t *region, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct append a;

	copy_begin(&a, list, place_of(context_of(list), to), array_place, 0, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendImageCopyToMemory(
				      list, to, from, region, a.signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_image_from(ze_command_list_handle_t list, ze_image_handle_t to,
	const void *from, const ze_image_region_t *region, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct append a;

	copy_begin(&a, list, array_place, place_of(context_of(list), from), 0, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendImageCopyFromMemory(
				      list, to, from, region, a.signal, wait_count, waits));
}

static ze_result_t ZE_APICALL append_fill(ze_command_list_handle_t list, void *to, const void *pattern,
	size_t pattern_bytes, size_t bytes, ze_event_handle_t signal, uint32_t wait_count,
	ze_event_handle_t *waits)
{
	struct append a = {.operation.activity = {.operation = STORE_OP_SET, .bytes = bytes}};

	a.operation.activity.memory = place_of(context_of(list), to).kind;
	append_begin(&a, list, signal);
	return append_end(&a, level0_real.CommandList.pfnAppendMemoryFill(
				      list, to, pattern, pattern_bytes, bytes, a.signal, wait_count, waits));
}

/* ---- calls about events ---- */

static ze_result_t ZE_APICALL append_waits(
	ze_command_list_handle_t handle, uint32_t count, ze_event_handle_t *waits)
{
	uint64_t begin_ns = gpu_sync_begin();
	ze_result_t result = level0_real.CommandList.pfnAppendWaitOnEvents(handle, count, waits);
	struct level0_list *list;
	struct gpu_queue queue;
	bool is_known;

	if (result || !level0_enter())
		return result;
	list = level0_list(handle);
	is_known = list && list->is_immediate;
	if (is_known)
		queue = list->queue;
	level0_leave();
	gpu_sync_end(begin_ns, GPU_SYNC_STREAM_EVENT_WAIT, is_known ? &queue : NULL);
	return result;
}

static ze_result_t ZE_APICALL append_reset(ze_command_list_handle_t handle, ze_event_handle_t event)
{
	if (level0_enter()) {
		struct level0_list *list = level0_list(handle);

		if (list && list->is_immediate)
			level0_event_reset_by(event, list);
		level0_leave();
	}
	return level0_real.CommandList.pfnAppendEventReset(handle, event);
}

/* ---- the table ---- */

void level0_wrap_command_list(ze_command_list_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnCreate, list_create);
	LEVEL0_WRAP(to, pfnCreateImmediate, list_create_immediate);
	LEVEL0_WRAP(to, pfnDestroy, list_destroy);
	LEVEL0_WRAP(to, pfnReset, list_reset);
	LEVEL0_WRAP(to, pfnAppendLaunchKernel, append_kernel);
	LEVEL0_WRAP(to, pfnAppendLaunchCooperativeKernel, append_cooperative);
	LEVEL0_WRAP(to, pfnAppendLaunchKernelIndirect, append_indirect);
	LEVEL0_WRAP(to, pfnAppendLaunchMultipleKernelsIndirect, append_several);
	LEVEL0_WRAP(to, pfnAppendMemoryCopy, append_copy);
	LEVEL0_WRAP(to, pfnAppendMemoryCopyRegion, append_copy_region);
	LEVEL0_WRAP(to, pfnAppendMemoryCopyFromContext, append_copy_context);
	LEVEL0_WRAP(to, pfnAppendImageCopy, append_image);
	LEVEL0_WRAP(to, pfnAppendImageCopyRegion, append_image_region);
	LEVEL0_WRAP(to, pfnAppendImageCopyToMemory, append_image_to);
	LEVEL0_WRAP(to, pfnAppendImageCopyFromMemory, append_image_from);
	LEVEL0_WRAP(to, pfnAppendMemoryFill, append_fill);
	LEVEL0_WRAP(to, pfnAppendWaitOnEvents, append_waits);
	LEVEL0_WRAP(to, pfnAppendEventReset, append_reset);
}
