// SPDX-License-Identifier: Apache-2.0
// What the agent knows of PyTorch's libtorch_python: it sets the engine when Python loads it. Its kernels are
// OpenCL's, and its autograd has one thread.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace torch::autograd
{
struct Engine {
};
void set_default_engine_stub(Engine &(*make)());
} // namespace torch::autograd

// OpenCL's, as far as it is called: handles are pointers.
extern "C" {
int clGetPlatformIDs(unsigned, void **, unsigned *);
int clGetDeviceIDs(void *, uint64_t, unsigned, void **, unsigned *);
void *clCreateContext(const intptr_t *, unsigned, void *const *, void *, void *, int *);
void *clCreateCommandQueue(void *, void *, uint64_t, int *);
void *clCreateProgramWithSource(void *, unsigned, const char **, const size_t *, int *);
int clBuildProgram(void *, unsigned, void *const *, const char *, void *, void *);
void *clCreateKernel(void *, const char *, int *);
int clEnqueueNDRangeKernel(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned,
	void *const *, void **);
int clFinish(void *);
}
static const uint64_t all_devices = 0xffffffff;

extern "C" {
void operator_call(const char *name, int functions, void (*work)());
void operator_below(const char *name, void (*work)());
void backward_call(const char *name, int64_t number, uint64_t maker, void (*work)());
uint64_t next_number();
uint64_t thread_number();
}

static torch::autograd::Engine engine;
static torch::autograd::Engine &engine_get()
{
	return engine;
}

static void *queue, *kernel;

#define CHECK(call)                                                            \
	do {                                                                   \
		if ((call) != 0) {                                             \
			fprintf(stderr, "torch_python.cc: %s fails\n", #call); \
			exit(1);                                               \
		}                                                              \
	} while (0)

static void launch()
{
	size_t one = 1;

	CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
}

static void nothing()
{
}

// What a compiled graph does.
static void graph()
{
	for (unsigned i = 0; i < 3; i++)
		operator_below("aten::addmm", launch);
}

// A forward and a backward pass in one thread, of as many functions.
static void pass()
{
	for (unsigned i = 0; i < 4; i++)
		operator_call("aten::again", 1, launch);
	for (int64_t number = (int64_t)next_number() - 1; number >= 0; number--)
		backward_call("AgainBackward0", number, thread_number(), launch);
}

extern "C" {
// As PyInit__C does.
void module_init(int with_kernels)
{
	const char *source = "kernel void add(void) {}";
	void *platform, *device, *context, *program;
	int code;

	torch::autograd::set_default_engine_stub(engine_get);
	if (!with_kernels)
		return;
	CHECK(clGetPlatformIDs(1, &platform, nullptr));
	CHECK(clGetDeviceIDs(platform, all_devices, 1, &device, nullptr));
	context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
	queue = clCreateCommandQueue(context, device, 0, &code);
	program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
	CHECK(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
	kernel = clCreateKernel(program, "add", &code);
	CHECK(code);
}
void operator_launch(const char *name, int functions)
{
	operator_call(name, functions, launch);
}
void operator_view(const char *name, int functions)
{
	operator_call(name, functions, nothing);
}
void graph_launch()
{
	operator_call("CompiledFunction", 1, graph);
}
void kernel_launch()
{
	launch();
}
// Functions `first` to `last` of the calling thread, backwards, in a thread of its own: of a layer, of a view, of
// another layer. The outermost runs a pass of its own first, as a checkpoint's does, if that is wanted.
void backward(int64_t first, int64_t last, int again)
{
	uint64_t maker = thread_number();

	std::thread([=] {
		for (int64_t number = last; number >= first; number--)
			backward_call((number - first) % 3 == 1 ? "TBackward0" : "AddmmBackward0", number, maker,
				again && number == last ? pass : launch);
		backward_call("AccumulateGrad", -1, maker, launch);
	}).join();
	CHECK(clFinish(queue));
}
}
