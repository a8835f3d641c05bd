/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl_objects.c - wraps calls that create and release memory, programs, kernels and contexts.
 * gpu_opencl_memory.c and gpu_opencl_kernel.c keep their data.
 */
#include <stddef.h>
#include <string.h>

#include "record/agent/gpu/opencl/gpu_opencl.h"

/* ---- memory ---- */

static enum gpu_memory_kind kind_of(cl_mem_flags flags)
{
	return flags & CL_MEM_USE_HOST_PTR     ? GPU_MEMORY_PAGEABLE
	       : flags & CL_MEM_ALLOC_HOST_PTR ? GPU_MEMORY_PINNED
					       : GPU_MEMORY_DEVICE;
}

static size_t memory_bytes(cl_mem memory)
{
	size_t bytes = 0;

	opencl_next.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
	return bytes;
}

/* `address`: the program's memory that backs it; NULL: none. */
static void allocated(
	const void *memory, uint64_t begin_ns, uint64_t bytes, enum gpu_memory_kind kind, const void *address)
{
	if (!memory)
		return;
	opencl_memory_add(memory, bytes, kind, address);
	gpu_call(STORE_OP_ALLOC, begin_ns, bytes, kind, memory);
}

static cl_mem CL_API_CALL create_buffer(
	cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *result)
{
	uint64_t begin_ns = gpu_now_ns();
	cl_mem memory = opencl_next.clCreateBuffer(context, flags, bytes, host, result);

	allocated(memory, begin_ns, bytes, kind_of(flags), flags & CL_MEM_USE_HOST_PTR ? host : NULL);
	return memory;
}

static cl_mem CL_API_CALL create_buffer_with_properties(cl_context context,
	const cl_mem_properties *properties, cl_mem_flags flags, size_t bytes, void *host, cl_int *result)
{
	uint64_t begin_ns = gpu_now_ns();
	cl_mem memory =
		opencl_next.clCreateBufferWithProperties(context, properties, flags, bytes, host, result);

	allocated(memory, begin_ns, bytes, kind_of(flags), flags & CL_MEM_USE_HOST_PTR ? host : NULL);
	return memory;
}

static cl_mem CL_API_CALL create_sub_buffer(
	cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type, const void *create_info, cl_int *result)
{
	cl_mem memory = opencl_next.clCreateSubBuffer(whole, flags, type, create_info, result);

	if (memory && type == CL_BUFFER_CREATE_TYPE_REGION) {
		const cl_buffer_region *region = create_info;

		opencl_memory_add_part(memory, whole, region->origin, region->size);
	}
	return memory;
}

static cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags, const cl_image_format *format,
	const cl_image_desc *description, void *host, cl_int *result)
{
	uint64_t begin_ns = gpu_now_ns();
	cl_mem memory = opencl_next.clCreateImage(context, flags, format, description, host, result);

	allocated(memory, begin_ns, memory ? memory_bytes(memory) : 0, GPU_MEMORY_ARRAY, NULL);
	return memory;
}

static cl_int CL_API_CALL retain_memory(cl_mem memory)
{
	cl_int result = opencl_next.clRetainMemObject(memory);

	if (!result)
		opencl_memory_retain(memory);
	return result;
}

/* Removes it first: another thread may get the handle as soon as it is released. */
static cl_int CL_API_CALL release_memory(cl_mem memory)
{
	uint64_t begin_ns = gpu_now_ns(), bytes;
	enum gpu_memory_kind kind;
	bool is_last = opencl_memory_release(memory, &bytes, &kind);
	cl_int result = opencl_next.clReleaseMemObject(memory);

	if (is_last)
		gpu_call(STORE_OP_FREE, begin_ns, bytes, kind, memory);
	return result;
}

static void *CL_API_CALL shared_alloc(
	cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
	uint64_t begin_ns = gpu_now_ns();
	void *memory = opencl_next.clSVMAlloc(context, flags, bytes, alignment);

	allocated(memory, begin_ns, bytes, GPU_MEMORY_MANAGED, memory);
	return memory;
}

static void CL_API_CALL shared_free(cl_context context, void *memory)
{
	uint64_t begin_ns = gpu_now_ns(), bytes;
	enum gpu_memory_kind kind;
	bool is_last = memory && opencl_memory_release(memory, &bytes, &kind);

	opencl_next.clSVMFree(context, memory);
	if (is_last)
		gpu_call(STORE_OP_FREE, begin_ns, bytes, kind, memory);
}

/* ---- programs ---- */

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id *devices,
	const char *options, void(CL_CALLBACK *notify)(cl_program, void *), void *argument)
{
	uint64_t begin_ns = gpu_now_ns();
	cl_int result = opencl_next.clBuildProgram(program, count, devices, options, notify, argument);

	gpu_call(STORE_OP_COMPILE, begin_ns, 0, GPU_MEMORY_UNKNOWN, NULL);
	return result;
}

static cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id *devices,
	const char *options, cl_uint headers, const cl_program *header, const char **names,
	void(CL_CALLBACK *notify)(cl_program, void *), void *argument)
{
	uint64_t begin_ns = gpu_now_ns();
	cl_int result = opencl_next.clCompileProgram(
		program, count, devices, options, headers, header, names, notify, argument);

	gpu_call(STORE_OP_COMPILE, begin_ns, 0, GPU_MEMORY_UNKNOWN, NULL);
	return result;
}

static cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id *devices,
	const char *options, cl_uint inputs, const cl_program *input,
	void(CL_CALLBACK *notify)(cl_program, void *), void *argument, cl_int *result)
{
	uint64_t begin_ns = gpu_now_ns();
	cl_program program = opencl_next.clLinkProgram(
		context, count, devices, options, inputs, input, notify, argument, result);

	gpu_call(STORE_OP_COMPILE, begin_ns, 0, GPU_MEMORY_UNKNOWN, NULL);
	return program;
}

/* ---- kernels ---- */

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *result)
{
	cl_kernel kernel = opencl_next.clCreateKernel(program, name, result);

	if (kernel)
		opencl_kernel_new(kernel, NULL);
	return kernel;
}

static cl_int CL_API_CALL create_kernels(
	cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count_ret)
{
	cl_uint count = 0;
	cl_int result = opencl_next.clCreateKernelsInProgram(program, room, kernels, &count);

	for (cl_uint i = 0; !result && kernels && i < count && i < room; i++)
		opencl_kernel_new(kernels[i], NULL);
	if (!result && count_ret)
		*count_ret = count;
	return result;
}

static cl_kernel CL_API_CALL clone_kernel(cl_kernel from, cl_int *result)
{
	cl_kernel kernel = opencl_next.clCloneKernel(from, result);

	if (kernel)
		opencl_kernel_new(kernel, from);
	return kernel;
}

/* An argument with the size of a handle and the value of a known handle is memory. */
static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
	cl_int result = opencl_next.clSetKernelArg(kernel, index, bytes, value);

	if (!result && bytes == sizeof(cl_mem)) {
		const void *memory = NULL;

		if (value)
			memcpy(&memory, value, sizeof(memory));
		opencl_kernel_argument(kernel, index, memory);
	}
	return result;
}

static cl_int CL_API_CALL set_shared_argument(cl_kernel kernel, cl_uint index, const void *value)
{
	cl_int result = opencl_next.clSetKernelArgSVMPointer(kernel, index, value);
	struct opencl_range range;

	if (!result && !value)
		opencl_kernel_argument(kernel, index, NULL);
	else if (!result && opencl_memory_range_shared(value, &range))
		opencl_kernel_argument_range(kernel, index, range);
	else if (!result) /* host memory, on devices that can access it */
		opencl_kernel_argument_unknown(kernel, index);
	return result;
}

/* ---- contexts ---- */

static void context_made(cl_context context, uint64_t begin_ns)
{
	if (context && gpu_is_wanted(&gpu_opencl))
		gpu_used(begin_ns);
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
	const cl_device_id *devices, void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
	void *argument, cl_int *result)
{
	uint64_t begin_ns = gpu_now_ns();
	cl_context context =
		opencl_next.clCreateContext(properties, count, devices, notify, argument, result);

	context_made(context, begin_ns);
	return context;
}

static cl_context CL_API_CALL create_context_of_type(const cl_context_properties *properties,
	cl_device_type type, void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
	void *argument, cl_int *result)
{
	uint64_t begin_ns = gpu_now_ns();
	cl_context context = opencl_next.clCreateContextFromType(properties, type, notify, argument, result);

	context_made(context, begin_ns);
	return context;
}

/* ---- the table ---- */

void opencl_objects_put(cl_icd_dispatch *table, cl_uint count)
{
	OPENCL_PUT(table, count, clCreateBuffer, create_buffer);
	OPENCL_PUT(table, count, clCreateBufferWithProperties, create_buffer_with_properties);
	OPENCL_PUT(table, count, clCreateImage, create_image);
	OPENCL_PUT(table, count, clCreateSubBuffer, create_sub_buffer);
	OPENCL_PUT(table, count, clCreateKernel, create_kernel);
	OPENCL_PUT(table, count, clCreateKernelsInProgram, create_kernels);
	OPENCL_PUT(table, count, clCloneKernel, clone_kernel);
	OPENCL_PUT(table, count, clSetKernelArg, set_argument);
	OPENCL_PUT(table, count, clSetKernelArgSVMPointer, set_shared_argument);
	OPENCL_PUT(table, count, clCreateContext, create_context);
	OPENCL_PUT(table, count, clCreateContextFromType, create_context_of_type);
	OPENCL_PUT(table, count, clRetainMemObject, retain_memory);
	OPENCL_PUT(table, count, clReleaseMemObject, release_memory);
	OPENCL_PUT(table, count, clSVMAlloc, shared_alloc);
	OPENCL_PUT(table, count, clSVMFree, shared_free);
	OPENCL_PUT(table, count, clBuildProgram, build_program);
	OPENCL_PUT(table, count, clCompileProgram, compile_program);
	OPENCL_PUT(table, count, clLinkProgram, link_program);
}
