/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl.h - between the layer's wrappers (gpu_opencl.c, _objects.c, _calls.c) and what is kept of
 * queues, devices and commands under way (_track.c), of memory and kernels. Only gpu_opencl*.c include it.
 */
#ifndef RECORD_AGENT_GPU_OPENCL_H
#define RECORD_AGENT_GPU_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include "record/agent/gpu/gpu.h"

/* The functions below the layer: the runtime's, or the next layer's. */
extern cl_icd_dispatch opencl_next;

#define OPENCL_ENTRY_BYTES sizeof(void (*)(void)) /* of the table */

/* Put their wrappers into the layer's table of `count` entries: of commands; of memory, programs, kernels and
 * contexts. */
void opencl_calls_put(cl_icd_dispatch *table, cl_uint count);
void opencl_objects_put(cl_icd_dispatch *table, cl_uint count);

#define OPENCL_PUT(table, count, name, function)                                    \
	do {                                                                        \
		if (offsetof(cl_icd_dispatch, name) / OPENCL_ENTRY_BYTES < (count)) \
			(table)->name = (function);                                 \
	} while (0)

#define OPENCL_PROPERTIES_MAX 32

/* A queue as the program made it. */
struct opencl_queue {
	struct opencl_queue *next;
	cl_command_queue handle;
	struct gpu_queue queue;
	struct opencl_device *device;
	bool is_forced;		 /* the program did not ask for profiling: it shall not see it */
	unsigned property_count; /* words that the program gave, 0: it gave no list */
	cl_queue_properties properties[OPENCL_PROPERTIES_MAX];
};

/* Remembers a queue; `properties` is the program's own list (NULL: none) . */
void opencl_queue_add(cl_command_queue handle, cl_context context, cl_device_id device, bool is_out_of_order,
	bool is_forced, const cl_queue_properties *properties);
/* NULL: never seen. Valid for ever. */
const struct opencl_queue *opencl_queue_find(cl_command_queue handle);

/* One call that enqueues a command. */
struct opencl_enqueue {
	const struct opencl_queue *queue;
	cl_event own;
	cl_event *event; /* to hand down instead of the program's */
	uint64_t begin_ns;
};

/* Before the call; `event` is the program's own argument. */
void opencl_enqueue_begin(struct opencl_enqueue *enqueue, cl_command_queue queue, cl_event *event);
/* After it: tells of the launch, follows the command to its end and then tells of `activity`, whose strings
 * are copied. `is_blocking`: the call waited for the command. Gives `result` back. */
cl_int opencl_enqueue_end(
	struct opencl_enqueue *enqueue, cl_int result, const struct gpu_activity *activity, bool is_blocking);

/* The program made memory, took or gave back a reference; true: the last one, with what it was. `address`:
 * where it lies; NULL: it gets a place of its own, so that memories overlap only if they really do. */
void opencl_memory_add(const void *handle, uint64_t bytes, enum gpu_memory_kind kind, const void *address);
/* A part of other memory; it is nothing that was allocated. */
void opencl_memory_add_part(const void *handle, const void *whole, uint64_t offset, uint64_t bytes);
void opencl_memory_retain(const void *handle);
bool opencl_memory_release(const void *handle, uint64_t *bytes, enum gpu_memory_kind *kind);
void opencl_memory_forget(void);

struct opencl_range {
	uint64_t begin, bytes;
};
/* Where it lies. False: it is no memory that we know. */
bool opencl_memory_range(const void *handle, struct opencl_range *range);
/* The same of a pointer somewhere into shared memory: all of the allocation, which a kernel may reach. */
bool opencl_memory_range_shared(const void *pointer, struct opencl_range *range);

/* A stretch of a buffer can be written at `mapped`, until it is unmapped: true, with where it lies. */
void opencl_mapping_add(const void *handle, const void *mapped, uint64_t offset, uint64_t bytes);
bool opencl_mapping_end(const void *handle, const void *mapped, uint64_t *offset, uint64_t *bytes);

#define OPENCL_USES_BYTES 1600

/* "buffer=3,at=4096" of a copy from or to memory, "" where it is not known; `at` is left out when the copy is
 * of the whole buffer. */
void opencl_memory_uses(char text[OPENCL_USES_BYTES], const void *handle, uint64_t offset, uint64_t bytes);

/* A kernel's arguments that are memory. A new kernel has none; `like`: those of that one. */
void opencl_kernel_new(const void *kernel, const void *like);
/* Now this argument is that memory; no memory that we know: it is something else. */
void opencl_kernel_argument(const void *kernel, unsigned index, const void *memory);
/* The same where it is known where it lies; bytes 0: it is something else. */
void opencl_kernel_argument_range(const void *kernel, unsigned index, struct opencl_range range);
/* Now it is something of which we do not know where it lies. */
void opencl_kernel_argument_unknown(const void *kernel, unsigned index);
/* "args=BEGIN+SIZE:BEGIN+SIZE" of those that it has now; "": less than two, or not known. */
void opencl_kernel_uses(char text[OPENCL_USES_BYTES], const void *kernel);
void opencl_kernel_forget(void);

/* Commands under way; waits for those that are about to be told. */
void opencl_settle(void);
/* A fork child: all is forgotten. */
void opencl_forget(void);

#endif
