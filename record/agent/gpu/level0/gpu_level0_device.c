/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_level0_device.c - devices, their clocks and our own events, see gpu_level0.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/agent/gpu/level0/gpu_level0.h"

#define POOL_EVENTS 128u
#define EVENTS_MAX (1u << 20) /* per context and device; further running operations get no times */
#define READINGS 3	      /* of the clock; the fastest reading counts */

static struct gpu_map devices, contexts, names;
static uint32_t device_count, queue_count;
static uintptr_t context_count;
static struct level0_events *all_events;

/* ---- clocks ---- */

static bool clock_read(struct level0_device *device, uint64_t *best_ns)
{
	uint64_t before_ns = gpu_now_ns(), host_ns, ticks, after_ns;

	if (level0_real.Device.pfnGetGlobalTimestamps(device->handle, &host_ns, &ticks))
		return false;
	after_ns = gpu_now_ns();
	if (after_ns - before_ns >= *best_ns)
		return true;
	*best_ns = after_ns - before_ns;
	/* The driver may read another host clock than ours; if it is ours, its value is better than the
	 * middle of our two readings. */
	device->clock.anchor_ns =
		host_ns >= before_ns && host_ns <= after_ns ? host_ns : before_ns + *best_ns / 2;
	device->clock.anchor_ticks = ticks;
	return true;
}

static void anchor(struct level0_device *device)
{
	uint64_t best_ns = UINT64_MAX;

	for (unsigned i = 0; i < READINGS; i++)
		if (!clock_read(device, &best_ns)) {
			device->clock.frequency = 0;
			return;
		}
}

void level0_times(struct level0_device *device, uint64_t launch_ns, const uint64_t ticks[2], uint64_t ns[2])
{
	struct gpu_clock *clock = &device->clock;
	uint64_t now_ns = gpu_now_ns();

	ns[0] = ns[1] = 0;
	if (clock->frequency && now_ns - clock->anchor_ns > gpu_clock_anchor_life_ns(clock))
		anchor(device);
	if (clock->frequency)
		gpu_clock_convert(clock, launch_ns, now_ns, ticks, ns);
}

/* Version 1.2 of the properties has ticks per second; drivers without it give ns per tick. */
static void clock_init(struct level0_device *device, const ze_device_properties_t *properties)
{
	struct gpu_clock *clock = &device->clock;
	uint64_t resolution = properties->timerResolution;

	clock->frequency = resolution && resolution < 10000 ? 1000000000u / resolution : resolution;
	clock->bits = properties->kernelTimestampValidBits;
	if (properties->timestampValidBits < clock->bits)
		clock->bits = properties->timestampValidBits;
	if (!clock->bits)
		clock->bits = 64;
	if (clock->frequency)
		anchor(device);
}

/* ---- devices, contexts, queues ---- */

static void uuid_write(char to[40], const uint8_t *id)
{
	char *at = to;

	for (unsigned i = 0; i < 16; i++)
		at += sprintf(at, "%02x%s", id[i], i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
}

static struct level0_device *device_add(ze_device_handle_t handle)
{
	ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
	struct level0_device *device = calloc(1, sizeof(*device));
	char uuid[40];

	if (!device || gpu_map_put(&devices, handle, device)) {
		free(device);
		return NULL;
	}
	device->handle = handle;
	device->number = gpu_device_number(&gpu_level0, device_count++);
	if (level0_real.Device.pfnGetProperties(handle, &properties))
		return device;
	properties.name[sizeof(properties.name) - 1] = '\0';
	uuid_write(uuid, properties.uuid.id);
	gpu_device(device->number, uuid, properties.name);
	clock_init(device, &properties);
	return device;
}

/* Numbers all devices of all drivers in order, so that numbers do not depend on the order of use. */
static void devices_number(void)
{
	ze_driver_handle_t drivers[8];
	ze_device_handle_t list[64];
	uint32_t driver_count = sizeof(drivers) / sizeof(*drivers);

	if (level0_real.Driver.pfnGet(&driver_count, drivers))
		return;
	for (uint32_t i = 0; i < driver_count; i++) {
		uint32_t count = sizeof(list) / sizeof(*list);

		if (level0_real.Device.pfnGet(drivers[i], &count, list))
			continue;
		for (uint32_t k = 0; k < count; k++)
			if (!gpu_map_get(&devices, list[k]))
				device_add(list[k]);
	}
}

struct level0_device *level0_device(ze_device_handle_t handle)
{
	struct level0_device *device;

	if (!devices.count)
		devices_number();
	device = gpu_map_get(&devices, handle);
	return device || !handle ? device : device_add(handle); /* a sub-device */
}

uint32_t level0_context(ze_context_handle_t handle)
{
	uintptr_t number = (uintptr_t)gpu_map_get(&contexts, handle);

	if (!number && handle && !gpu_map_put(&contexts, handle, (void *)(context_count + 1)))
		number = ++context_count;
	return (uint32_t)number;
}

bool level0_is_compute(struct level0_device *device, uint32_t ordinal)
{
	ze_command_queue_group_properties_t groups[16] = {0};
	uint32_t count = sizeof(groups) / sizeof(*groups);

	for (uint32_t i = 0; i < count; i++)
		groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
	return !level0_real.Device.pfnGetCommandQueueGroupProperties(device->handle, &count, groups) &&
	       ordinal < count && groups[ordinal].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
}

struct gpu_queue level0_queue(ze_context_handle_t context, struct level0_device *device,
	const ze_command_queue_desc_t *desc, const char *what)
{
	struct gpu_queue queue = {device->number, level0_context(context), ++queue_count};
	char name[96];

	snprintf(name, sizeof(name), "%s%s %u, engine %u.%u",
		level0_is_compute(device, desc->ordinal) ? "" : "copy ", what, queue.queue, desc->ordinal,
		desc->index);
	gpu_queue_name(&queue, name);
	return queue;
}

/* ---- events ---- */

struct level0_events *level0_events(ze_context_handle_t context, struct level0_device *device)
{
	struct level0_events *events = all_events;

	while (events && (events->context != context || events->device != device))
		events = events->next;
	if (events)
		return events;
	events = calloc(1, sizeof(*events));
	if (!events)
		return NULL;
	*events = (struct level0_events){.context = context, .device = device, .next = all_events};
	return all_events = events;
}

/* Reserves space for every event, so that giving one back cannot fail. */
static bool events_grow(struct level0_events *events)
{
	uint32_t room = events->capacity + POOL_EVENTS;
	void *grown = realloc(events->free, room * sizeof(*events->free)), *pools;

	if (!grown)
		return false;
	events->free = grown;
	pools = realloc(events->pools, (events->pool_count + 1) * sizeof(*events->pools));
	if (!pools)
		return false;
	events->pools = pools;
	return true;
}

static bool pool_add(struct level0_events *events)
{
	const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
		.flags = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
		.count = POOL_EVENTS};
	ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
		.signal = ZE_EVENT_SCOPE_FLAG_HOST,
		.wait = ZE_EVENT_SCOPE_FLAG_HOST};
	ze_event_pool_handle_t pool;

	if (events->capacity >= EVENTS_MAX || !events_grow(events) ||
		level0_real.EventPool.pfnCreate(events->context, &desc, 1, &events->device->handle, &pool))
		return false;
	events->pools[events->pool_count++] = pool;
	events->capacity += POOL_EVENTS;
	for (event.index = 0; event.index < POOL_EVENTS; event.index++)
		if (!level0_real.Event.pfnCreate(pool, &event, &events->free[events->free_count]))
			events->free_count++;
	return events->free_count;
}

ze_event_handle_t level0_event_take(struct level0_events *events)
{
	if (!events || (!events->free_count && !pool_add(events)))
		return NULL;
	return events->free[--events->free_count];
}

void level0_event_give(struct level0_events *events, ze_event_handle_t event)
{
	/* Its context is gone: it cannot be reused. */
	if (events->context && !level0_real.Event.pfnHostReset(event))
		events->free[events->free_count++] = event;
}

/* If lists that the program has not destroyed still hold some, keeps it without a context. */
static bool events_free(struct level0_events *events)
{
	events->context = NULL;
	if (events->users)
		return false;
	while (events->free_count)
		level0_real.Event.pfnDestroy(events->free[--events->free_count]);
	while (events->pool_count)
		level0_real.EventPool.pfnDestroy(events->pools[--events->pool_count]);
	free(events->free);
	free(events->pools);
	free(events);
	return true;
}

void level0_context_forget(ze_context_handle_t context)
{
	for (struct level0_events **at = &all_events, *events; (events = *at);) {
		struct level0_events *next = events->next;

		if (events->context == context && events_free(events))
			*at = next;
		else
			at = &events->next;
	}
	gpu_map_take(&contexts, context); /* another context may get its address */
}

/* ---- names ---- */

const char *level0_name(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	char *kept;

	for (const char *at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	kept = gpu_map_get(&names, (void *)(uintptr_t)(hash | 1));
	if (kept && !strcmp(kept, name))
		return kept;
	kept = strdup(name);
	if (kept && gpu_map_put(&names, (void *)(uintptr_t)(hash | 1), kept)) {
		free(kept);
		kept = NULL;
	}
	return kept ? kept : "";
}
