/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_habits.c - habits that cost time (S3 IV-B), each as its first argument names it, and what to do
 * instead. hpct-blame --findings must say of:
 *   round-trip  `round-trip`: a buffer is read back and sent again between two kernels, below main;again
 *   stays       not so: results are read from one part of a buffer, input is sent to another
 *   mapped      `round-trip`, by mapping the buffer to read and write;  looked: not so, mapped to be read
 *   apart       `not-aliased`: a kernel's two buffers never overlap;  parts: nor do two parts of one
 *   alias       not so: two parts of one buffer that overlap;  twice: the same buffer is both
 *   many        `not-aliased`: twenty buffers;  shared: pieces of two shared allocations;  shared-one: not
 *               so, both in one
 *   in-order    `in-order-queue`;  unordered: not so
 *   contexts    `many-contexts`: the same kernel in two contexts of the device, compiled for each
 *   queues      not so: in two queues of one context
 *   one-device  `unused-devices` where the platform has more (PoCL: POCL_DEVICES="basic basic"), and
 *               `single-device`: it compiles at run time for that one;  all-devices: neither
 *   finish-twice  `needless-sync`: below main;twice it waits for its kernels, and once more for nothing
 * The way and how many devices there are is printed.
 */
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples/burn.h"

#define COUNT 16384u
#define BYTES (COUNT * sizeof(float))
#define DEVICES_MAX 8u

static const char source[] = "kernel void advance(global float *a, global const float *b)\n"
			     "{ size_t i = get_global_id(0); a[i] = a[i] + 0 * b[i] + 1; }\n"
			     "#define P(n) global float *p##n\n"
			     "kernel void many(P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), P(9),\n"
			     "	P(10), P(11), P(12), P(13), P(14), P(15), P(16), P(17), P(18), P(19))\n"
			     "{ p0[get_global_id(0)] += p19[get_global_id(0)]; }\n";

struct place {
	cl_context context;
	cl_program program;
	cl_kernel kernel;
	cl_command_queue queue;
};

static cl_platform_id platform;
static cl_device_id devices[DEVICES_MAX];
static cl_uint device_count;
static float host[2 * COUNT];

static void need(int result, const char *what)
{
	if (result) {
		fprintf(stderr, "%s: OpenCL error %d\n", what, result);
		exit(2);
	}
}

static cl_command_queue queue_new(
	const struct place *place, cl_device_id device, cl_command_queue_properties properties)
{
	cl_int result;
	cl_command_queue queue = clCreateCommandQueue(place->context, device, properties, &result);

	need(result, "clCreateCommandQueue");
	return queue;
}

APART static struct place set_up(cl_device_id device, cl_command_queue_properties properties)
{
	struct place place;
	const char *text = source;
	cl_int result;

	place.context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
	need(result, "clCreateContext");
	place.program = clCreateProgramWithSource(place.context, 1, &text, NULL, &result);
	need(result, "clCreateProgramWithSource");
	need(clBuildProgram(place.program, 1, &device, "", NULL, NULL), "clBuildProgram");
	place.kernel = clCreateKernel(place.program, "advance", &result);
	need(result, "clCreateKernel");
	place.queue = queue_new(&place, device, properties);
	return place;
}

static cl_mem buffer_new(const struct place *place, size_t bytes)
{
	cl_int result;
	cl_mem buffer = clCreateBuffer(place->context, CL_MEM_READ_WRITE, bytes, NULL, &result);

	need(result, "clCreateBuffer");
	return buffer;
}

static cl_mem part_of(cl_mem buffer, size_t at)
{
	const cl_buffer_region region = {at, BYTES};
	cl_int result;
	cl_mem part =
		clCreateSubBuffer(buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &result);

	need(result, "clCreateSubBuffer");
	return part;
}

static void send(cl_command_queue queue, cl_mem buffer, size_t at, size_t bytes)
{
	need(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, at, bytes, host, 0, NULL, NULL), "write");
}

static void fetch(cl_command_queue queue, cl_mem buffer, size_t at, size_t bytes)
{
	need(clEnqueueReadBuffer(queue, buffer, CL_TRUE, at, bytes, host, 0, NULL, NULL), "read");
}

static void run(const struct place *place, cl_command_queue queue, cl_mem a, cl_mem b, unsigned times)
{
	const size_t global = COUNT;

	need(clSetKernelArg(place->kernel, 0, sizeof(a), &a), "clSetKernelArg");
	need(clSetKernelArg(place->kernel, 1, sizeof(b), &b), "clSetKernelArg");
	for (unsigned i = 0; i < times; i++)
		need(clEnqueueNDRangeKernel(queue, place->kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
			"clEnqueueNDRangeKernel");
	need(clFinish(queue), "clFinish");
}

APART static void again(const struct place *place, cl_mem a)
{
	send(place->queue, a, 0, BYTES);
}

static void transfers(const char *way)
{
	struct place place = set_up(devices[0], 0);
	cl_mem a = buffer_new(&place, 2 * BYTES), b = buffer_new(&place, BYTES);

	send(place.queue, a, 0, 2 * BYTES);
	send(place.queue, b, 0, BYTES);
	run(&place, place.queue, a, b, 1);
	if (!strcmp(way, "round-trip")) {
		fetch(place.queue, a, 0, BYTES);
		again(&place, a);
	} else {
		fetch(place.queue, a, 0, BYTES / 2);
		send(place.queue, a, BYTES, BYTES);
	}
	run(&place, place.queue, a, b, 1);
}

static void arguments(const char *way)
{
	struct place place = set_up(devices[0], 0);
	cl_mem whole = buffer_new(&place, 4 * BYTES), a = part_of(whole, 0), b = part_of(whole, 2 * BYTES);

	if (!strcmp(way, "apart"))
		a = buffer_new(&place, BYTES), b = buffer_new(&place, BYTES);
	else if (!strcmp(way, "alias"))
		b = part_of(whole, BYTES / 2);
	else if (!strcmp(way, "twice"))
		b = a;
	run(&place, place.queue, a, b, 3);
}

/* A kernel, what the host does to its buffer in a mapping, a kernel. */
static void mappings(const char *way)
{
	struct place place = set_up(devices[0], 0);
	cl_mem a = buffer_new(&place, BYTES), b = buffer_new(&place, BYTES);
	bool is_looked = !strcmp(way, "looked");
	cl_int result;
	float *mapped;

	run(&place, place.queue, a, b, 1);
	mapped = clEnqueueMapBuffer(place.queue, a, CL_TRUE, CL_MAP_READ | (is_looked ? 0 : CL_MAP_WRITE), 0,
		BYTES, 0, NULL, NULL, &result);
	need(result, "clEnqueueMapBuffer");
	if (!is_looked)
		mapped[0] += 1;
	need(clEnqueueUnmapMemObject(place.queue, a, mapped, 0, NULL, NULL), "unmap");
	run(&place, place.queue, a, b, 1);
}

static void launch(const struct place *place, cl_kernel kernel)
{
	const size_t global = COUNT;

	need(clEnqueueNDRangeKernel(place->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "launch");
	need(clFinish(place->queue), "clFinish");
}

static void many(const char *way)
{
	struct place place = set_up(devices[0], 0);
	cl_int result;
	cl_kernel kernel = clCreateKernel(place.program, "many", &result);

	(void)way;
	need(result, "clCreateKernel");
	for (cl_uint i = 0; i < 20; i++) {
		cl_mem buffer = buffer_new(&place, BYTES);

		need(clSetKernelArg(kernel, i, sizeof(buffer), &buffer), "clSetKernelArg");
	}
	launch(&place, kernel);
}

static void shared(const char *way)
{
	struct place place = set_up(devices[0], 0);
	float *one = clSVMAlloc(place.context, CL_MEM_READ_WRITE, 4 * BYTES, 0);
	float *other =
		!strcmp(way, "shared") ? clSVMAlloc(place.context, CL_MEM_READ_WRITE, 4 * BYTES, 0) : one;

	need(!one || !other, "clSVMAlloc");
	need(clSetKernelArgSVMPointer(place.kernel, 0, one + 16), "clSetKernelArgSVMPointer");
	need(clSetKernelArgSVMPointer(place.kernel, 1, other + 2 * COUNT), "clSetKernelArgSVMPointer");
	launch(&place, place.kernel);
}

static void queues(const char *way)
{
	struct place place =
		set_up(devices[0], strcmp(way, "unordered") ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_mem a = buffer_new(&place, BYTES), b = buffer_new(&place, BYTES);

	run(&place, place.queue, a, b, 2);
	if (!strcmp(way, "queues")) {
		cl_command_queue other = queue_new(&place, devices[0], 0);

		run(&place, other, a, b, 2);
	}
}

APART static void twice(const char *way)
{
	struct place place = set_up(devices[0], 0);
	cl_mem a = buffer_new(&place, BYTES), b = buffer_new(&place, BYTES);

	(void)way;
	run(&place, place.queue, a, b, 4);
	need(clFinish(place.queue), "clFinish");
	NO_TAIL_CALL();
}

static void places(const char *way)
{
	cl_uint count = !strcmp(way, "one-device") ? 1 : !strcmp(way, "contexts") ? 2 : device_count;

	for (cl_uint i = 0; i < count; i++) {
		struct place place = set_up(devices[!strcmp(way, "contexts") ? 0 : i], 0);
		cl_mem a = buffer_new(&place, BYTES), b = buffer_new(&place, BYTES);

		run(&place, place.queue, a, b, 1);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *way;
		void (*go)(const char *way);
	} ways[] = {{"round-trip", transfers}, {"stays", transfers}, {"apart", arguments},
		{"parts", arguments}, {"mapped", mappings}, {"looked", mappings}, {"many", many},
		{"shared", shared}, {"shared-one", shared}, {"alias", arguments}, {"twice", arguments},
		{"in-order", queues}, {"unordered", queues}, {"queues", queues}, {"contexts", places},
		{"finish-twice", twice}, {"one-device", places}, {"all-devices", places}};
	const char *way = argc > 1 ? argv[1] : "round-trip";

	if (clGetPlatformIDs(1, &platform, NULL) ||
		clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &device_count)) {
		fputs("no OpenCL device\n", stderr);
		return 77;
	}
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(ways[i].way, way)) {
			ways[i].go(way);
			printf("%s on %u device%s\n", way, device_count, device_count == 1 ? "" : "s");
			return 0;
		}
	fprintf(stderr, "opencl_habits: no such way: %s\n", way);
	return 2;
}
