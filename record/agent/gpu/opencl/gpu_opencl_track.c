/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl_track.c - see gpu_opencl.h. A callback on a thread of the runtime reports a command's end, with
 * device times; gpu_clock_bounds.h converts them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/agent/base/lock.h"
#include "record/agent/gpu/gpu_clock_bounds.h"
#include "record/agent/gpu/opencl/gpu_opencl.h"
#include "record/agent/process/environment.h"

#define BUCKETS 256u
#define SETTLE_MS 20

struct opencl_device {
	struct opencl_device *next;
	cl_device_id handle;
	uint32_t own, number; /* in the order in which they are met; gpu_device_number's */
	struct gpu_clock_bounds bounds;
};

struct known_context {
	struct known_context *next;
	cl_context handle;
	uint32_t number;
	uint32_t queues;
};

struct command {
	struct opencl_device *device;
	struct gpu_activity activity;
	uint32_t epoch;
	uint64_t begin_ns, end_ns; /* of the call that enqueued it */
	char texts[];		   /* the activity's name, then its memory uses */
};

static struct {
	struct lock lock;
	struct opencl_device *devices;
	struct known_context *contexts;
	struct opencl_queue *queues[BUCKETS];
	_Atomic uint64_t under_way;
	_Atomic uint32_t epoch; /* incremented when all running commands are given up */
} opencl;

/* ---- devices, contexts, queues ---- */

static void device_publish(const struct opencl_device *device)
{
	static const char digits[] = "0123456789abcdef";
	char name[256] = "", uuid[33] = "";
	unsigned char bytes[16];

	opencl_next.clGetDeviceInfo(device->handle, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
	if (!opencl_next.clGetDeviceInfo(device->handle, 0x106a /* UUID_KHR */, sizeof(bytes), bytes, NULL))
		for (unsigned i = 0; i < 16; i++) {
			uuid[2 * i] = digits[bytes[i] >> 4];
			uuid[2 * i + 1] = digits[bytes[i] & 15];
		}
	gpu_device(device->number, uuid, name);
}

static struct opencl_device *device_of(cl_device_id handle, bool *is_new)
{
	struct opencl_device *device = opencl.devices;
	uint32_t own = device ? device->own + 1 : 0;

	while (device && device->handle != handle)
		device = device->next;
	*is_new = !device;
	if (device)
		return device;
	device = calloc(1, sizeof(*device));
	if (!device)
		return NULL;
	*device = (struct opencl_device){.next = opencl.devices,
		.handle = handle,
		.own = own,
		.number = gpu_device_number(&gpu_opencl, own)};
	return opencl.devices = device;
}

static struct known_context *context_of(cl_context handle)
{
	struct known_context *context = opencl.contexts;
	uint32_t number = context ? context->number + 1 : 1;

	while (context && context->handle != handle)
		context = context->next;
	if (context)
		return context;
	context = calloc(1, sizeof(*context));
	if (!context)
		return NULL;
	*context = (struct known_context){.next = opencl.contexts, .handle = handle, .number = number};
	return opencl.contexts = context;
}

static struct opencl_queue **bucket_of(cl_command_queue handle)
{
	return &opencl.queues[((uintptr_t)handle >> 4 ^ (uintptr_t)handle >> 12) % BUCKETS];
}

static void properties_keep(struct opencl_queue *queue, const cl_queue_properties *properties)
{
	unsigned count = 0;

	while (properties && properties[count] && count + 3 < OPENCL_PROPERTIES_MAX)
		count += 2;
	if (!properties)
		return;
	memcpy(queue->properties, properties, count * sizeof(*properties));
	queue->properties[count] = 0;
	queue->property_count = count + 1;
}

/* How many devices the program could have used: those of the same platform, which it has initialized. */
static cl_uint devices_there(cl_device_id device)
{
	cl_platform_id platform = NULL;
	cl_uint count = 0;

	if (opencl_next.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) ||
		opencl_next.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count))
		return 0;
	return count;
}

/* "queue 0", "queue 1 out of order"; "order=out,devices=2" */
static void queue_publish(const struct opencl_queue *queue, bool is_out_of_order)
{
	char name[64] = "queue ", attributes[64];
	cl_uint devices = devices_there(queue->device->handle);

	environment_decimal(name + strlen(name), queue->queue.queue);
	strcpy(attributes, is_out_of_order ? "order=out" : "order=in");
	if (devices) {
		strcat(attributes, ",devices=");
		environment_decimal(attributes + strlen(attributes), devices);
	}
	gpu_queue_publish(&queue->queue, is_out_of_order ? strcat(name, " out of order") : name, attributes);
}

void opencl_queue_add(cl_command_queue handle, cl_context context, cl_device_id device, bool is_out_of_order,
	bool is_forced, const cl_queue_properties *properties)
{
	struct opencl_queue *queue = calloc(1, sizeof(*queue));
	struct known_context *of;
	bool is_new;

	if (!queue)
		return;
	queue->handle = handle;
	queue->is_forced = is_forced;
	properties_keep(queue, properties);
	lock_take(&opencl.lock);
	queue->device = device_of(device, &is_new);
	of = context_of(context);
	if (!queue->device || !of) {
		lock_give(&opencl.lock);
		free(queue);
		return;
	}
	queue->queue = (struct gpu_queue){queue->device->number, of->number, of->queues++};
	queue->next = *bucket_of(handle); /* before a released one with the same handle */
	*bucket_of(handle) = queue;
	lock_give(&opencl.lock);
	if (is_new)
		device_publish(queue->device);
	queue_publish(queue, is_out_of_order);
}

const struct opencl_queue *opencl_queue_find(cl_command_queue handle)
{
	const struct opencl_queue *queue;

	lock_take(&opencl.lock);
	queue = *bucket_of(handle);
	while (queue && queue->handle != handle)
		queue = queue->next;
	lock_give(&opencl.lock);
	return queue;
}

/* ---- commands ---- */

static bool times_get(cl_event event, struct gpu_clock_bounds_command *times)
{
	const struct {
		cl_profiling_info what;
		uint64_t *to;
	} wanted[] = {{CL_PROFILING_COMMAND_QUEUED, &times->queued_ns},
		{CL_PROFILING_COMMAND_START, &times->start_ns}, {CL_PROFILING_COMMAND_END, &times->end_ns}};

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (opencl_next.clGetEventProfilingInfo(
			    event, wanted[i].what, sizeof(*wanted[i].to), wanted[i].to, NULL))
			return false;
	return times->start_ns && times->end_ns >= times->start_ns;
}

static void times_place(struct command *command, const struct gpu_clock_bounds_command *times)
{
	uint64_t begin_end_ns[2];

	lock_take(&opencl.lock);
	gpu_clock_bounds_convert(&command->device->bounds, times, begin_end_ns);
	lock_give(&opencl.lock);
	command->activity.begin_ns = begin_end_ns[0];
	command->activity.end_ns = begin_end_ns[1];
}

/* Runs on a thread of the runtime, or within clSetEventCallback. */
static void CL_CALLBACK command_ended(cl_event event, cl_int status, void *argument)
{
	struct command *command = argument;
	struct gpu_clock_bounds_command times = {.call_begin_ns = command->begin_ns,
		.call_end_ns = command->end_ns,
		.notified_ns = gpu_now_ns()};
	bool is_given_up = command->epoch != atomic_load(&opencl.epoch); /* and already counted as lost */
	int error = errno;

	if (status == CL_COMPLETE && times_get(event, &times))
		times_place(command, &times);
	if (!is_given_up) {
		gpu_activity(&command->activity);
		atomic_fetch_sub(&opencl.under_way, 1);
	}
	opencl_next.clReleaseEvent(event);
	free(command);
	errno = error;
}

void opencl_enqueue_begin(struct opencl_enqueue *enqueue, cl_command_queue queue, cl_event *event)
{
	*enqueue = (struct opencl_enqueue){.event = event};
	if (!gpu_is_wanted(&gpu_opencl))
		return;
	enqueue->queue = opencl_queue_find(queue);
	if (!event && enqueue->queue)
		enqueue->event = &enqueue->own;
	enqueue->begin_ns = gpu_now_ns();
}

static struct command *command_new(const struct opencl_enqueue *enqueue, const struct gpu_activity *activity)
{
	size_t name_bytes = activity->name ? strlen(activity->name) + 1 : 0;
	size_t uses_bytes = activity->uses && activity->uses[0] ? strlen(activity->uses) + 1 : 0;
	struct command *command = malloc(sizeof(*command) + name_bytes + uses_bytes);

	if (!command)
		return NULL;
	command->epoch = atomic_load(&opencl.epoch);
	command->device = enqueue->queue->device;
	command->activity = *activity;
	command->activity.queue = enqueue->queue->queue;
	command->activity.correlation = gpu_correlation();
	command->activity.name = name_bytes ? memcpy(command->texts, activity->name, name_bytes) : NULL;
	command->activity.uses =
		uses_bytes ? memcpy(command->texts + name_bytes, activity->uses, uses_bytes) : NULL;
	command->begin_ns = enqueue->begin_ns;
	command->end_ns = gpu_now_ns();
	return command;
}

/* Takes over the reference to the event. */
static void command_follow(
	const struct opencl_enqueue *enqueue, cl_event event, const struct gpu_activity *activity)
{
	struct command *command = command_new(enqueue, activity);

	if (!command) {
		gpu_lost(1);
		opencl_next.clReleaseEvent(event);
		return;
	}
	gpu_launched(command->activity.correlation, enqueue->begin_ns);
	atomic_fetch_add(&opencl.under_way, 1);
	if (opencl_next.clSetEventCallback(event, CL_COMPLETE, command_ended, command)) {
		atomic_fetch_sub(&opencl.under_way, 1);
		gpu_lost(1);
		opencl_next.clReleaseEvent(event);
		free(command);
	}
}

cl_int opencl_enqueue_end(
	struct opencl_enqueue *enqueue, cl_int result, const struct gpu_activity *activity, bool is_blocking)
{
	cl_event event = enqueue->own ? enqueue->own : enqueue->event ? *enqueue->event : NULL;
	int error = errno;

	if (result || !enqueue->queue || !event)
		return result;
	if (event != enqueue->own)
		opencl_next.clRetainEvent(event);
	command_follow(enqueue, event, activity);
	if (is_blocking)
		gpu_sync_end(enqueue->begin_ns, GPU_SYNC_STREAM, &enqueue->queue->queue);
	errno = error;
	return result;
}

void opencl_settle(void)
{
	for (int i = 0; atomic_load(&opencl.under_way) && i < SETTLE_MS; i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	atomic_fetch_add(&opencl.epoch, 1);
	gpu_lost(atomic_exchange(&opencl.under_way, 0));
}

void opencl_forget(void)
{
	opencl_memory_forget();
	opencl_kernel_forget();
	opencl.devices = NULL;
	opencl.contexts = NULL;
	memset(opencl.queues, 0, sizeof(opencl.queues));
	atomic_store(&opencl.under_way, 0);
	atomic_store(&opencl.lock.state, 0);
}
