/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.c - feeds an OpenCL device in the way that its first argument names: plain events unordered
 * unlayered exit. Built twice: linked with the loader, and as opencl_dlopen, which finds every function by
 * dlsym.
 *
 * What the trace must show, below main;feed;WAY:
 *   plain      one in-order queue: TURNS times a write of BYTES (H2D, not blocking), a fill, the kernels
 *              `scale` and `add`, a copy (D2D), a blocking read (D2H); between turns the host burns CPU in
 *              `prepare_on_host`, while the queue is idle; clFinish at the end. Each turn in this order.
 *   events     the same with the program's own profiling and events; it prints that its profiled times are
 *              in order, as they are without hpct.
 *   unordered  an out-of-order queue: 2 x TURNS kernels without dependencies, then clWaitForEvents.
 *   unlayered  `plain`, and no layer for the loader to ask: nothing is seen of it
 *   exit       three kernels `scale` to their end, then 2000 `spin` queued, and leaves by _exit while they
 * run. Prints the result of the computation and whether the program may read profiling times.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "samples/burn.h"

#define TURNS 5
#define COUNT 65536
#define BYTES (COUNT * sizeof(float))
#define HOST_MS 30

#define FUNCTIONS(X)                 \
	X(clBuildProgram)            \
	X(clCreateBuffer)            \
	X(clCreateCommandQueue)      \
	X(clCreateContext)           \
	X(clCreateKernel)            \
	X(clCreateProgramWithSource) \
	X(clEnqueueCopyBuffer)       \
	X(clEnqueueFillBuffer)       \
	X(clEnqueueNDRangeKernel)    \
	X(clEnqueueReadBuffer)       \
	X(clEnqueueWriteBuffer)      \
	X(clFinish)                  \
	X(clFlush)                   \
	X(clGetCommandQueueInfo)     \
	X(clGetDeviceIDs)            \
	X(clGetEventProfilingInfo)   \
	X(clGetPlatformIDs)          \
	X(clReleaseCommandQueue)     \
	X(clReleaseContext)          \
	X(clReleaseEvent)            \
	X(clReleaseKernel)           \
	X(clReleaseMemObject)        \
	X(clReleaseProgram)          \
	X(clSetKernelArg)            \
	X(clWaitForEvents)

static struct {
#define FIELD(name) __typeof__(&name) name;
	FUNCTIONS(FIELD)
#undef FIELD
} cl;

static const char source[] = "kernel void scale(global float *a, float by) { a[get_global_id(0)] *= by; }\n"
			     "kernel void add(global float *a, global const float *b)\n"
			     "{ size_t i = get_global_id(0); for (int k = 0; k < 200; k++) a[i] += b[i]; }\n"
			     "kernel void spin(global float *a)\n"
			     "{ size_t i = get_global_id(0); float x = a[i];\n"
			     "  for (int k = 0; k < 1000; k++) x = x * 0.999f + 0.5f; a[i] = x; }\n";

static cl_context context;
static cl_device_id device;
static cl_program program;
static cl_mem a, b, c;
static float host[COUNT];

static void need(int result, const char *what)
{
	if (result) {
		fprintf(stderr, "%s: OpenCL error %d\n", what, result);
		exit(2);
	}
}

static void functions_find(void)
{
#ifdef BY_DLOPEN
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fputs("no OpenCL loader\n", stderr);
		exit(77);
	}
#define FIND(name) cl.name = (__typeof__(&name))dlsym(library, #name);
#else
#define FIND(name) cl.name = name;
#endif
	FUNCTIONS(FIND)
#undef FIND
}

APART static void set_up(void)
{
	cl_platform_id platform;
	const char *text = source;
	cl_int result;

	if (cl.clGetPlatformIDs(1, &platform, NULL) ||
		cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
		fputs("no OpenCL device\n", stderr);
		exit(77);
	}
	context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &result);
	need(result, "clCreateContext");
	program = cl.clCreateProgramWithSource(context, 1, &text, NULL, &result);
	need(result, "clCreateProgramWithSource");
	need(cl.clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	a = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &result);
	b = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &result);
	c = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &result);
	need(result, "clCreateBuffer");
}

static cl_command_queue queue_new(cl_command_queue_properties properties)
{
	cl_int result;
	cl_command_queue queue = cl.clCreateCommandQueue(context, device, properties, &result);

	need(result, "clCreateCommandQueue");
	return queue;
}

static cl_kernel kernel_new(const char *name)
{
	cl_int result;
	cl_kernel kernel = cl.clCreateKernel(program, name, &result);

	need(result, "clCreateKernel");
	return kernel;
}

static void kernel_start(cl_command_queue queue, cl_kernel kernel, cl_event *event)
{
	const size_t global = COUNT, local = 64;

	need(cl.clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, event),
		"clEnqueueNDRangeKernel");
}

APART static void prepare_on_host(void)
{
	BURN(HOST_MS * 1000000)
	NO_TAIL_CALL();
}

/* "hidden", or "seen" when all four times are there and in order. */
static const char *profiling_of(cl_event event)
{
	cl_ulong times[4];

	for (cl_uint i = 0; i < 4; i++)
		if (cl.clGetEventProfilingInfo(
			    event, CL_PROFILING_COMMAND_QUEUED + i, sizeof(times[i]), &times[i], NULL))
			return "hidden";
	return times[0] <= times[1] && times[1] <= times[2] && times[2] <= times[3] ? "seen" : "disordered";
}

static void turn(cl_command_queue queue, cl_kernel scale, cl_kernel add, cl_event *event)
{
	const float zero = 0;

	for (unsigned i = 0; i < COUNT; i++)
		host[i] = 1;
	need(cl.clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, BYTES, host, 0, NULL, NULL), "write");
	need(cl.clEnqueueFillBuffer(queue, b, &zero, sizeof(zero), 0, BYTES, 0, NULL, NULL), "fill");
	kernel_start(queue, scale, NULL);
	kernel_start(queue, add, event);
	need(cl.clEnqueueCopyBuffer(queue, a, c, 0, 0, BYTES, 0, NULL, NULL), "copy");
	need(cl.clEnqueueReadBuffer(queue, c, CL_TRUE, 0, BYTES, host, 0, NULL, NULL), "read");
}

static void turns(cl_command_queue queue, const char **profiling)
{
	cl_kernel scale = kernel_new("scale"), add = kernel_new("add");
	const float by = 2;

	cl.clSetKernelArg(scale, 0, sizeof(a), &a);
	cl.clSetKernelArg(scale, 1, sizeof(by), &by);
	cl.clSetKernelArg(add, 0, sizeof(a), &a);
	cl.clSetKernelArg(add, 1, sizeof(b), &b);
	for (int i = 0; i < TURNS; i++) {
		cl_event event;

		prepare_on_host();
		turn(queue, scale, add, &event);
		*profiling = profiling_of(event);
		cl.clReleaseEvent(event);
	}
	need(cl.clFinish(queue), "clFinish");
	cl.clReleaseKernel(scale);
	cl.clReleaseKernel(add);
}

APART static void plain(cl_command_queue_properties properties)
{
	cl_command_queue queue = queue_new(properties);
	cl_command_queue_properties shown = 0;
	const char *profiling = "";

	turns(queue, &profiling);
	need(cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(shown), &shown, NULL), "info");
	printf("result %g profiling %s properties %llu\n", (double)host[COUNT - 1], profiling,
		(unsigned long long)shown);
	cl.clReleaseCommandQueue(queue);
	NO_TAIL_CALL();
}

APART static void unordered(void)
{
	cl_command_queue queue = queue_new(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_kernel kernel = kernel_new("spin");
	cl_event events[2 * TURNS];

	cl.clSetKernelArg(kernel, 0, sizeof(a), &a);
	for (int i = 0; i < 2 * TURNS; i++)
		kernel_start(queue, kernel, &events[i]);
	need(cl.clWaitForEvents(2 * TURNS, events), "clWaitForEvents");
	for (int i = 0; i < 2 * TURNS; i++)
		cl.clReleaseEvent(events[i]);
	cl.clReleaseKernel(kernel);
	cl.clReleaseCommandQueue(queue);
	puts("waited");
}

APART static void leave(void)
{
	cl_command_queue queue = queue_new(0);
	cl_kernel kernel = kernel_new("spin"), scale = kernel_new("scale");
	const float by = 2;

	cl.clSetKernelArg(scale, 0, sizeof(a), &a);
	cl.clSetKernelArg(scale, 1, sizeof(by), &by);
	for (int i = 0; i < 3; i++)
		kernel_start(queue, scale, NULL);
	need(cl.clFinish(queue), "clFinish");
	cl.clSetKernelArg(kernel, 0, sizeof(a), &a);
	for (int i = 0; i < 2000; i++)
		kernel_start(queue, kernel, NULL);
	cl.clFlush(queue);
	puts("left");
	fflush(stdout);
	_exit(3);
}

APART static void feed(const char *way)
{
	if (!strcmp(way, "plain") || !strcmp(way, "unlayered"))
		plain(0);
	else if (!strcmp(way, "events"))
		plain(CL_QUEUE_PROFILING_ENABLE);
	else if (!strcmp(way, "unordered"))
		unordered();
	else if (!strcmp(way, "exit"))
		leave();
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "unlayered"))
		unsetenv("OPENCL_LAYERS");
	functions_find();
	set_up();
	feed(argc > 1 ? argv[1] : "plain");
	cl.clReleaseMemObject(a);
	cl.clReleaseMemObject(b);
	cl.clReleaseMemObject(c);
	cl.clReleaseProgram(program);
	cl.clReleaseContext(context);
	return 0;
}
