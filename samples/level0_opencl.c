/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level0_opencl.c - two GPU runtimes in one process: for each letter of argv[1] in turn, `c` copies 4096
 * bytes to an OpenCL device on the second of two queues, `z` 2048 bytes to a Level Zero device. The trace
 * must show each copy on a queue of its own runtime's device: two devices with numbers and names of their
 * own, whichever comes first.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <level_zero/ze_api.h>

static char bytes[4096];

static void opencl_copy(void)
{
	cl_platform_id platform;
	cl_command_queue queue;
	cl_context context;
	cl_device_id device;
	cl_mem memory;

	clGetPlatformIDs(1, &platform, NULL);
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	clCreateCommandQueue(context, device, 0, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	memory = clCreateBuffer(context, 0, sizeof(bytes), NULL, NULL);
	clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, sizeof(bytes), bytes, 0, NULL, NULL);
	clFinish(queue);
}

static void level0_copy(void)
{
	ze_command_queue_desc_t queue = {
		.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
	ze_device_mem_alloc_desc_t where = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_context_desc_t of = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_command_list_handle_t list;
	ze_context_handle_t context;
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	uint32_t one = 1;
	void *memory;

	zeInit(0);
	zeDriverGet(&one, &driver);
	one = 1;
	zeDeviceGet(driver, &one, &device);
	zeContextCreate(driver, &of, &context);
	zeCommandListCreateImmediate(context, device, &queue, &list);
	zeMemAllocDevice(context, &where, sizeof(bytes), 64, device, &memory);
	zeCommandListAppendMemoryCopy(list, memory, bytes, sizeof(bytes) / 2, NULL, 0, NULL);
}

int main(int count, char **words)
{
	for (const char *at = count > 1 ? words[1] : "cz"; *at; at++)
		if (*at == 'c')
			opencl_copy();
		else
			level0_copy();
	return 0;
}
