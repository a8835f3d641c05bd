/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl_calls.c - the calls that enqueue commands. Each begins, calls the runtime, and ends with a
 * description of the command. If the program passes no event, ours is used.
 */
#include <stddef.h>
#include <string.h>

#include "record/agent/gpu/opencl/gpu_opencl.h"

#define NAME_BYTES 1024

static struct gpu_activity copy_of(enum gpu_copy_kind kind, uint64_t bytes, bool is_blocking)
{
	return (struct gpu_activity){
		.operation = STORE_OP_COPY, .bytes = bytes, .copy = {kind, !is_blocking}};
}

static struct gpu_activity set_of(enum gpu_memory_kind kind, uint64_t bytes)
{
	return (struct gpu_activity){.operation = STORE_OP_SET, .bytes = bytes, .memory = kind};
}

static uint64_t region_bytes(const size_t *region)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

static uint64_t image_bytes(cl_mem image, const size_t *region)
{
	size_t element = 0;

	opencl_next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(element), &element, NULL);
	return region_bytes(region) * element;
}

/* ---- kernels ---- */

static void extents_fill(
	struct gpu_kernel *kernel, cl_uint dimensions, const size_t *global, const size_t *local)
{
	for (cl_uint i = 0; global && i < dimensions && i < 3; i++) {
		kernel->block[i] = local ? (uint32_t)local[i] : 0;
		kernel->grid[i] =
			(uint32_t)(local && local[i] ? (global[i] + local[i] - 1) / local[i] : global[i]);
	}
}

static cl_int CL_API_CALL ndrange_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
	const size_t *offset, const size_t *global, const size_t *local, cl_uint count, const cl_event *list,
	cl_event *event)
{
	struct gpu_activity activity = {.operation = STORE_OP_KERNEL};
	struct opencl_enqueue enqueue;
	char name[NAME_BYTES] = "", uses[OPENCL_USES_BYTES];
	cl_int result;

	opencl_enqueue_begin(&enqueue, queue, event);
	result = opencl_next.clEnqueueNDRangeKernel(
		queue, kernel, dimensions, offset, global, local, count, list, enqueue.event);
	if (!result) {
		opencl_next.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name) - 1, name, NULL);
		opencl_kernel_uses(uses, kernel);
		activity.name = name;
		activity.uses = uses;
		extents_fill(&activity.kernel, dimensions, global, local);
	}
	return opencl_enqueue_end(&enqueue, result, &activity, false);
}

static cl_int CL_API_CALL task(
	cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event *list, cl_event *event)
{
	struct gpu_activity activity = {
		.operation = STORE_OP_KERNEL, .kernel = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
	struct opencl_enqueue enqueue;
	char name[NAME_BYTES] = "";
	cl_int result;

	opencl_enqueue_begin(&enqueue, queue, event);
	result = opencl_next.clEnqueueTask(queue, kernel, count, list, enqueue.event);
	if (!result)
		opencl_next.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name) - 1, name, NULL);
	activity.name = name;
	return opencl_enqueue_end(&enqueue, result, &activity, false);
}

static cl_int CL_API_CALL native_kernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *),
	void *arguments, size_t argument_bytes, cl_uint memories, const cl_mem *memory, const void **places,
	cl_uint count, const cl_event *list, cl_event *event)
{
	struct gpu_activity activity = {.operation = STORE_OP_KERNEL, .name = "<native kernel>"};
	struct opencl_enqueue enqueue;
	cl_int result;

	opencl_enqueue_begin(&enqueue, queue, event);
	result = opencl_next.clEnqueueNativeKernel(queue, function, arguments, argument_bytes, memories,
		memory, places, count, list, enqueue.event);
	return opencl_enqueue_end(&enqueue, result, &activity, false);
}

/* ---- the others differ only in their arguments ---- */

/* NAME(parameters) calls the runtime with (arguments) and records the activity `what`. */
#define ENQUEUE(function, next, parameters, arguments, what, blocking)            \
	static cl_int CL_API_CALL function parameters                             \
	{                                                                         \
		struct gpu_activity activity = {0};                               \
		struct opencl_enqueue enqueue;                                    \
		cl_int result;                                                    \
                                                                                  \
		opencl_enqueue_begin(&enqueue, queue, event);                     \
		result = opencl_next.next arguments;                              \
		if (!result)                                                      \
			activity = what;                                          \
		return opencl_enqueue_end(&enqueue, result, &activity, blocking); \
	}

/* Likewise for calls that move a part of one buffer. */
#define TRANSFER(function, next, parameters, arguments, what, blocking)           \
	static cl_int CL_API_CALL function parameters                             \
	{                                                                         \
		struct gpu_activity activity = {0};                               \
		struct opencl_enqueue enqueue;                                    \
		char uses[OPENCL_USES_BYTES];                                     \
		cl_int result;                                                    \
                                                                                  \
		opencl_enqueue_begin(&enqueue, queue, event);                     \
		result = opencl_next.next arguments;                              \
		if (!result) {                                                    \
			activity = what;                                          \
			opencl_memory_uses(uses, buffer, offset, bytes);          \
			activity.uses = uses;                                     \
		}                                                                 \
		return opencl_enqueue_end(&enqueue, result, &activity, blocking); \
	}

#define TAIL cl_uint count, const cl_event *list, cl_event *event
#define TAIL_DOWN count, list, enqueue.event

TRANSFER(read_buffer, clEnqueueReadBuffer,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes, void *to,
		TAIL),
	(queue, buffer, blocking, offset, bytes, to, TAIL_DOWN),
	copy_of(GPU_COPY_DEVICE_TO_HOST, bytes, blocking), blocking)

TRANSFER(write_buffer, clEnqueueWriteBuffer,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t bytes,
		const void *from, TAIL),
	(queue, buffer, blocking, offset, bytes, from, TAIL_DOWN),
	copy_of(GPU_COPY_HOST_TO_DEVICE, bytes, blocking), blocking)

ENQUEUE(copy_buffer, clEnqueueCopyBuffer,
	(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t bytes,
		TAIL),
	(queue, from, to, from_offset, to_offset, bytes, TAIL_DOWN),
	copy_of(GPU_COPY_DEVICE_TO_DEVICE, bytes, false), false)

ENQUEUE(read_rectangle, clEnqueueReadBufferRect,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin,
		const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row,
		size_t host_slice, void *to, TAIL),
	(queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice, to,
		TAIL_DOWN),
	copy_of(GPU_COPY_DEVICE_TO_HOST, region_bytes(region), blocking), blocking)

ENQUEUE(write_rectangle, clEnqueueWriteBufferRect,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin,
		const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row,
		size_t host_slice, const void *from, TAIL),
	(queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice, from,
		TAIL_DOWN),
	copy_of(GPU_COPY_HOST_TO_DEVICE, region_bytes(region), blocking), blocking)

ENQUEUE(copy_rectangle, clEnqueueCopyBufferRect,
	(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin, const size_t *to_origin,
		const size_t *region, size_t from_row, size_t from_slice, size_t to_row, size_t to_slice,
		TAIL),
	(queue, from, to, from_origin, to_origin, region, from_row, from_slice, to_row, to_slice, TAIL_DOWN),
	copy_of(GPU_COPY_DEVICE_TO_DEVICE, region_bytes(region), false), false)

ENQUEUE(read_image, clEnqueueReadImage,
	(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin, const size_t *region,
		size_t row, size_t slice, void *to, TAIL),
	(queue, image, blocking, origin, region, row, slice, to, TAIL_DOWN),
	copy_of(GPU_COPY_ARRAY_TO_HOST, image_bytes(image, region), blocking), blocking)

ENQUEUE(write_image, clEnqueueWriteImage,
	(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin, const size_t *region,
		size_t row, size_t slice, const void *from, TAIL),
	(queue, image, blocking, origin, region, row, slice, from, TAIL_DOWN),
	copy_of(GPU_COPY_HOST_TO_ARRAY, image_bytes(image, region), blocking), blocking)

ENQUEUE(copy_image, clEnqueueCopyImage,
	(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin, const size_t *to_origin,
		const size_t *region, TAIL),
	(queue, from, to, from_origin, to_origin, region, TAIL_DOWN),
	copy_of(GPU_COPY_ARRAY_TO_ARRAY, image_bytes(from, region), false), false)

ENQUEUE(image_to_buffer, clEnqueueCopyImageToBuffer,
	(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin, const size_t *region,
		size_t offset, TAIL),
	(queue, from, to, origin, region, offset, TAIL_DOWN),
	copy_of(GPU_COPY_ARRAY_TO_DEVICE, image_bytes(from, region), false), false)

ENQUEUE(buffer_to_image, clEnqueueCopyBufferToImage,
	(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin,
		const size_t *region, TAIL),
	(queue, from, to, offset, origin, region, TAIL_DOWN),
	copy_of(GPU_COPY_DEVICE_TO_ARRAY, image_bytes(to, region), false), false)

ENQUEUE(fill_buffer, clEnqueueFillBuffer,
	(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes, size_t offset,
		size_t bytes, TAIL),
	(queue, buffer, pattern, pattern_bytes, offset, bytes, TAIL_DOWN), set_of(GPU_MEMORY_DEVICE, bytes),
	false)

ENQUEUE(fill_image, clEnqueueFillImage,
	(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin, const size_t *region,
		TAIL),
	(queue, image, color, origin, region, TAIL_DOWN),
	set_of(GPU_MEMORY_ARRAY, image_bytes(image, region)), false)

ENQUEUE(migrate, clEnqueueMigrateMemObjects,
	(cl_command_queue queue, cl_uint memories, const cl_mem *memory, cl_mem_migration_flags flags, TAIL),
	(queue, memories, memory, flags, TAIL_DOWN),
	copy_of(flags &CL_MIGRATE_MEM_OBJECT_HOST ? GPU_COPY_DEVICE_TO_HOST : GPU_COPY_UNKNOWN, 0, false),
	false)

ENQUEUE(shared_copy, clEnqueueSVMMemcpy,
	(cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t bytes, TAIL),
	(queue, blocking, to, from, bytes, TAIL_DOWN), copy_of(GPU_COPY_UNKNOWN, bytes, blocking), blocking)

ENQUEUE(shared_fill, clEnqueueSVMMemFill,
	(cl_command_queue queue, void *to, const void *pattern, size_t pattern_bytes, size_t bytes, TAIL),
	(queue, to, pattern, pattern_bytes, bytes, TAIL_DOWN), set_of(GPU_MEMORY_MANAGED, bytes), false)

/* ---- mappings: return a pointer ---- */

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
	cl_map_flags flags, size_t offset, size_t bytes, TAIL, cl_int *result_ret)
{
	struct gpu_activity activity = copy_of(GPU_COPY_DEVICE_TO_HOST, bytes, blocking);
	struct opencl_enqueue enqueue;
	char uses[OPENCL_USES_BYTES];
	cl_int result = CL_SUCCESS;
	void *mapped;

	opencl_enqueue_begin(&enqueue, queue, event);
	mapped = opencl_next.clEnqueueMapBuffer(
		queue, buffer, blocking, flags, offset, bytes, TAIL_DOWN, &result);
	if (flags & CL_MAP_WRITE_INVALIDATE_REGION) {
		activity.bytes = 0;
	} else if (!result) {
		opencl_memory_uses(uses, buffer, offset, bytes);
		activity.uses = uses;
	}
	if (!result && (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)))
		opencl_mapping_add(buffer, mapped, offset, bytes);
	opencl_enqueue_end(&enqueue, result, &activity, blocking);
	if (result_ret)
		*result_ret = result;
	return mapped;
}

static void *CL_API_CALL map_image(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
	const size_t *origin, const size_t *region, size_t *row, size_t *slice, TAIL, cl_int *result_ret)
{
	struct gpu_activity activity = copy_of(GPU_COPY_ARRAY_TO_HOST, 0, blocking);
	struct opencl_enqueue enqueue;
	cl_int result = CL_SUCCESS;
	void *mapped;

	opencl_enqueue_begin(&enqueue, queue, event);
	mapped = opencl_next.clEnqueueMapImage(
		queue, image, blocking, flags, origin, region, row, slice, TAIL_DOWN, &result);
	if (!result && !(flags & CL_MAP_WRITE_INVALIDATE_REGION))
		activity.bytes = image_bytes(image, region);
	opencl_enqueue_end(&enqueue, result, &activity, blocking);
	if (result_ret)
		*result_ret = result;
	return mapped;
}

/* Unmapping copies back the whole mapping, if it was mapped for writing: the changed part is unknown.
 * Otherwise it copies nothing. */
static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem memory, void *mapped, TAIL)
{
	struct gpu_activity activity = copy_of(GPU_COPY_HOST_TO_DEVICE, 0, false);
	struct opencl_enqueue enqueue;
	char uses[OPENCL_USES_BYTES];
	uint64_t offset;
	cl_int result;

	opencl_enqueue_begin(&enqueue, queue, event);
	result = opencl_next.clEnqueueUnmapMemObject(queue, memory, mapped, TAIL_DOWN);
	if (!result && opencl_mapping_end(memory, mapped, &offset, &activity.bytes)) {
		opencl_memory_uses(uses, memory, offset, activity.bytes);
		activity.uses = uses;
	}
	return opencl_enqueue_end(&enqueue, result, &activity, false);
}

void opencl_calls_put(cl_icd_dispatch *table, cl_uint count)
{
	OPENCL_PUT(table, count, clEnqueueNDRangeKernel, ndrange_kernel);
	OPENCL_PUT(table, count, clEnqueueTask, task);
	OPENCL_PUT(table, count, clEnqueueNativeKernel, native_kernel);
	OPENCL_PUT(table, count, clEnqueueReadBuffer, read_buffer);
	OPENCL_PUT(table, count, clEnqueueWriteBuffer, write_buffer);
	OPENCL_PUT(table, count, clEnqueueCopyBuffer, copy_buffer);
	OPENCL_PUT(table, count, clEnqueueReadBufferRect, read_rectangle);
	OPENCL_PUT(table, count, clEnqueueWriteBufferRect, write_rectangle);
	OPENCL_PUT(table, count, clEnqueueCopyBufferRect, copy_rectangle);
	OPENCL_PUT(table, count, clEnqueueReadImage, read_image);
	OPENCL_PUT(table, count, clEnqueueWriteImage, write_image);
	OPENCL_PUT(table, count, clEnqueueCopyImage, copy_image);
	OPENCL_PUT(table, count, clEnqueueCopyImageToBuffer, image_to_buffer);
	OPENCL_PUT(table, count, clEnqueueCopyBufferToImage, buffer_to_image);
	OPENCL_PUT(table, count, clEnqueueFillBuffer, fill_buffer);
	OPENCL_PUT(table, count, clEnqueueFillImage, fill_image);
	OPENCL_PUT(table, count, clEnqueueUnmapMemObject, unmap);
	OPENCL_PUT(table, count, clEnqueueMigrateMemObjects, migrate);
	OPENCL_PUT(table, count, clEnqueueSVMMemcpy, shared_copy);
	OPENCL_PUT(table, count, clEnqueueSVMMemFill, shared_fill);
	OPENCL_PUT(table, count, clEnqueueMapBuffer, map_buffer);
	OPENCL_PUT(table, count, clEnqueueMapImage, map_image);
}
