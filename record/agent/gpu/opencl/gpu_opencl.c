/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl.c - OpenCL of any platform. The loader (ocl-icd or Khronos', since 2021) asks the libraries in
 * OPENCL_LAYERS for a table of functions in front of the runtime's, which covers all callers, also those that
 * look functions up by dlsym or through the loader's extensions. Queues and waits are here; memory, programs,
 * kernels and contexts in gpu_opencl_objects.c, commands in gpu_opencl_calls.c.
 */
#include <stddef.h>
#include <string.h>

#include "record/agent/base/wrap.h"
#include "record/agent/gpu/opencl/gpu_opencl.h"

cl_icd_dispatch opencl_next;
static cl_icd_dispatch layer;
static _Atomic bool layer_is_asked;

/* ---- queues ---- */

static void queue_made(cl_command_queue queue, cl_context context, cl_device_id device,
	cl_command_queue_properties wanted, const cl_queue_properties *properties)
{
	opencl_queue_add(queue, context, device, wanted & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
		!(wanted & CL_QUEUE_PROFILING_ENABLE), properties);
	gpu_exit_watch();
}

static cl_command_queue CL_API_CALL create_queue(
	cl_context context, cl_device_id device, cl_command_queue_properties wanted, cl_int *result)
{
	cl_command_queue queue =
		opencl_next.clCreateCommandQueue(context, device, wanted | CL_QUEUE_PROFILING_ENABLE, result);

	if (queue)
		queue_made(queue, context, device, wanted, NULL);
	return queue;
}

/* The property list with profiling enabled, and the program's own value. False: too long to change. */
static bool properties_force(
	cl_queue_properties *to, const cl_queue_properties *from, cl_command_queue_properties *wanted)
{
	unsigned count = 0;
	bool is_there = false;

	*wanted = 0;
	for (; from && from[count]; count += 2) {
		if (count + 5 > OPENCL_PROPERTIES_MAX)
			return false;
		to[count] = from[count];
		to[count + 1] = from[count + 1];
		if (from[count] != CL_QUEUE_PROPERTIES)
			continue;
		*wanted = (cl_command_queue_properties)from[count + 1];
		to[count + 1] |= CL_QUEUE_PROFILING_ENABLE;
		is_there = true;
	}
	if (!is_there) {
		to[count++] = CL_QUEUE_PROPERTIES;
		to[count++] = CL_QUEUE_PROFILING_ENABLE;
	}
	to[count] = 0;
	return true;
}

typedef cl_command_queue(CL_API_CALL *create_queue_with)(
	cl_context, cl_device_id, const cl_queue_properties *, cl_int *);

/* A queue on the device (CL_QUEUE_ON_DEVICE) gets no commands from the host: unchanged. */
static cl_command_queue create_with(create_queue_with next, cl_context context, cl_device_id device,
	const cl_queue_properties *properties, cl_int *result)
{
	cl_queue_properties forced[OPENCL_PROPERTIES_MAX];
	cl_command_queue_properties wanted;
	cl_command_queue queue;

	if (!properties_force(forced, properties, &wanted) || (wanted & CL_QUEUE_ON_DEVICE))
		return next(context, device, properties, result);
	queue = next(context, device, forced, result);
	if (queue)
		queue_made(queue, context, device, wanted, properties);
	return queue;
}

static cl_command_queue CL_API_CALL create_queue_with_properties(
	cl_context context, cl_device_id device, const cl_queue_properties *properties, cl_int *result)
{
	return create_with(
		opencl_next.clCreateCommandQueueWithProperties, context, device, properties, result);
}

static create_queue_with next_create_khr; /* cl_khr_create_command_queue */

static cl_command_queue CL_API_CALL create_queue_khr(
	cl_context context, cl_device_id device, const cl_queue_properties *properties, cl_int *result)
{
	return create_with(next_create_khr, context, device, properties, result);
}

static void *extension_wrap(const char *name, void *function)
{
	static create_queue_with const ours = create_queue_khr;

	if (!function || !name || strcmp(name, "clCreateCommandQueueWithPropertiesKHR"))
		return function;
	memcpy(&next_create_khr, &function, sizeof(function));
	memcpy(&function, &ours, sizeof(function));
	return function;
}

static void *CL_API_CALL extension_address(const char *name)
{
	return extension_wrap(name, opencl_next.clGetExtensionFunctionAddress(name));
}

static void *CL_API_CALL extension_address_for_platform(cl_platform_id platform, const char *name)
{
	return extension_wrap(name, opencl_next.clGetExtensionFunctionAddressForPlatform(platform, name));
}

/* Shows the program the properties that it requested. */
static cl_int CL_API_CALL queue_info(
	cl_command_queue handle, cl_command_queue_info what, size_t room, void *value, size_t *size)
{
	const struct opencl_queue *queue = opencl_queue_find(handle);
	cl_int result;

	if (queue && what == CL_QUEUE_PROPERTIES_ARRAY) {
		size_t bytes = queue->property_count * sizeof(*queue->properties);

		if (value && room < bytes)
			return CL_INVALID_VALUE;
		if (value)
			memcpy(value, queue->properties, bytes);
		if (size)
			*size = bytes;
		return CL_SUCCESS;
	}
	result = opencl_next.clGetCommandQueueInfo(handle, what, room, value, size);
	if (!result && queue && queue->is_forced && what == CL_QUEUE_PROPERTIES && value &&
		room >= sizeof(cl_command_queue_properties))
		*(cl_command_queue_properties *)value &=
			~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
	return result;
}

static cl_int CL_API_CALL profiling_info(
	cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size)
{
	cl_command_queue handle = NULL;
	const struct opencl_queue *queue;

	opencl_next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(handle), &handle, NULL);
	queue = handle ? opencl_queue_find(handle) : NULL;
	if (queue && queue->is_forced)
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return opencl_next.clGetEventProfilingInfo(event, what, room, value, size);
}

/* ---- waits ---- */

static cl_int CL_API_CALL finish(cl_command_queue handle)
{
	const struct opencl_queue *queue = opencl_queue_find(handle);
	uint64_t begin_ns = gpu_sync_begin();
	cl_int result = opencl_next.clFinish(handle);

	gpu_sync_end(begin_ns, GPU_SYNC_STREAM, queue ? &queue->queue : NULL);
	return result;
}

static cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event *events)
{
	uint64_t begin_ns = gpu_sync_begin();
	cl_int result = opencl_next.clWaitForEvents(count, events);

	gpu_sync_end(begin_ns, GPU_SYNC_EVENT, NULL);
	return result;
}

/* ---- the layer ---- */

static void layer_fill(cl_uint count)
{
	layer = opencl_next;
	OPENCL_PUT(&layer, count, clCreateCommandQueue, create_queue);
	OPENCL_PUT(&layer, count, clCreateCommandQueueWithProperties, create_queue_with_properties);
	OPENCL_PUT(&layer, count, clGetExtensionFunctionAddress, extension_address);
	OPENCL_PUT(&layer, count, clGetExtensionFunctionAddressForPlatform, extension_address_for_platform);
	OPENCL_PUT(&layer, count, clGetCommandQueueInfo, queue_info);
	OPENCL_PUT(&layer, count, clGetEventProfilingInfo, profiling_info);
	OPENCL_PUT(&layer, count, clFinish, finish);
	OPENCL_PUT(&layer, count, clWaitForEvents, wait_for_events);
	opencl_objects_put(&layer, count);
	opencl_calls_put(&layer, count);
}

WRAPPER cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *value, size_t *size)
{
	static const char name[] = "hpct";
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	const void *from = what == CL_LAYER_API_VERSION ? (const void *)&version : name;
	size_t bytes = what == CL_LAYER_API_VERSION ? sizeof(version) : sizeof(name);

	if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME)
		return CL_INVALID_VALUE;
	if (value && room < bytes)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, from, bytes);
	if (size)
		*size = bytes;
	return CL_SUCCESS;
}

/* Returns an error if the process is not measured: then the loader skips our layer. */
WRAPPER cl_int CL_API_CALL clInitLayer(
	cl_uint count, const cl_icd_dispatch *next, cl_uint *count_ret, const cl_icd_dispatch **table)
{
	cl_uint most = sizeof(layer) / OPENCL_ENTRY_BYTES;

	if (!next || !count_ret || !table)
		return CL_INVALID_VALUE;
	atomic_store(&layer_is_asked, true);
	if (!gpu_is_wanted(&gpu_opencl))
		return CL_INVALID_OPERATION;
	count = count < most ? count : most;
	memcpy(&opencl_next, (const void *)next, count * OPENCL_ENTRY_BYTES);
	layer_fill(count);
	*count_ret = count;
	*table = &layer;
	return CL_SUCCESS;
}

/* A driver was used without our layer: through a loader without layers, or without a loader. */
static void opencl_look_back(void)
{
	static const char *const drivers[] = {"libpocl.so", "libnvidia-opencl.so", "libigdrcl.so",
		"libamdocl", "libintelocl.so", "libMesaOpenCL.so", "libRusticlOpenCL.so", "libmali", NULL};

	if (!atomic_load(&layer_is_asked) && gpu_library_was_there(drivers) &&
		!atomic_exchange(&layer_is_asked, true))
		gpu_unmonitored(
			"OpenCL's loader asked for no layers: ocl-icd does since 2.3, Khronos' since 2021");
}

const struct gpu_vendor gpu_opencl = {
	.name = "opencl", .flush = opencl_settle, .look_back = opencl_look_back, .child = opencl_forget};
