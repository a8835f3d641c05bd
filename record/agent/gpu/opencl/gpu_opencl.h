/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_opencl.h - shared by the layer's wrappers (gpu_opencl.c, _objects.c, _calls.c), the tracking of queues,
 * devices and running commands (_track.c), of memory and of kernels. Only gpu_opencl*.c include it.
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

/* The functions below this layer: the runtime's, or the next layer's. */
extern cl_icd_dispatch opencl_next;

#define OPENCL_ENTRY_BYTES sizeof(void (*)(void)) /* size of one entry of the table */

/* Put their wrappers into the layer's table of `count` entries: for commands; for memory, programs,
 * kernels and contexts. */
void opencl_calls_put(cl_icd_dispatch *table, cl_uint count);
void opencl_objects_put(cl_icd_dispatch *table, cl_uint count);

#define OPENCL_PUT(table, count, name, function)                                    \
	do {                                                                        \
		if (offsetof(cl_icd_dispatch, name) / OPENCL_ENTRY_BYTES < (count)) \
			(table)->name = (function);                                 \
	} while (0)

#define OPENCL_PROPERTIES_MAX 32

/* A queue of the program. */
struct opencl_queue {
	struct opencl_queue *next;
	cl_command_queue handle;
	struct gpu_queue queue;
	struct opencl_device *device;
	bool is_forced;		 /* we enabled profiling: hide it from the program */
	unsigned property_count; /* words in the program's list, 0: no list */
	cl_queue_properties properties[OPENCL_PROPERTIES_MAX];
};

/* Registers a queue; `properties` is the program's list (NULL: none). */
void opencl_queue_add(cl_command_queue handle, cl_context context, cl_device_id device, bool is_out_of_order,
	bool is_forced, const cl_queue_properties *properties);
/* NULL: unknown. Valid as long as the process. */
const struct opencl_queue *opencl_queue_find(cl_command_queue handle);

/* One call that enqueues a command. */
struct opencl_enqueue {
	const struct opencl_queue *queue;
	cl_event own;
	cl_event *event; /* passed down instead of the program's */
	uint64_t begin_ns;
};

/* Call before the real function; `event` is the program's own argument. */
void opencl_enqueue_begin(struct opencl_enqueue *enqueue, cl_command_queue queue, cl_event *event);
/* Call after the real function: writes the launch, watches the command to its end and then writes
 * `activity`, whose strings are copied. `is_blocking`: the call waited for the command. Returns `result`. */
cl_int opencl_enqueue_end(
	struct opencl_enqueue *enqueue, cl_int result, const struct gpu_activity *activity, bool is_blocking);

/* The program created memory, took or released a reference. Release returns true for the last reference,
 * with the memory's properties. `address`: of the memory; NULL: assigns a unique range, so that memories
 * overlap only if they really do. */
void opencl_memory_add(const void *handle, uint64_t bytes, enum gpu_memory_kind kind, const void *address);
/* Registers a sub-buffer; it counts as no allocation. */
void opencl_memory_add_part(const void *handle, const void *whole, uint64_t offset, uint64_t bytes);
void opencl_memory_retain(const void *handle);
bool opencl_memory_release(const void *handle, uint64_t *bytes, enum gpu_memory_kind *kind);
void opencl_memory_forget(void);

struct opencl_range {
	uint64_t begin, bytes;
};
/* The memory's range. False: unknown memory. */
bool opencl_memory_range(const void *handle, struct opencl_range *range);
/* The range of the whole shared allocation that contains a pointer, which a kernel may reach. */
bool opencl_memory_range_shared(const void *pointer, struct opencl_range *range);

/* A part of a buffer is mapped for writing at `mapped` until it is unmapped. End returns true with its
 * range. */
void opencl_mapping_add(const void *handle, const void *mapped, uint64_t offset, uint64_t bytes);
bool opencl_mapping_end(const void *handle, const void *mapped, uint64_t *offset, uint64_t *bytes);

#define OPENCL_USES_BYTES 1600

/* "buffer=3,at=4096" for a copy from or to memory, "" if unknown; without `at` for a copy of the whole
 * buffer. */
void opencl_memory_uses(char text[OPENCL_USES_BYTES], const void *handle, uint64_t offset, uint64_t bytes);

/* Tracks which arguments of a kernel are memory. A new kernel has none; `like`: copies that kernel's. */
void opencl_kernel_new(const void *kernel, const void *like);
/* The argument is now this memory; unknown memory clears it. */
void opencl_kernel_argument(const void *kernel, unsigned index, const void *memory);
/* The same with a known range; bytes 0 clears it. */
void opencl_kernel_argument_range(const void *kernel, unsigned index, struct opencl_range range);
/* The argument is now memory with an unknown range. */
void opencl_kernel_argument_unknown(const void *kernel, unsigned index);
/* "args=BEGIN+SIZE:BEGIN+SIZE" of the current arguments; "": fewer than two, or unknown. */
void opencl_kernel_uses(char text[OPENCL_USES_BYTES], const void *kernel);
void opencl_kernel_forget(void);

/* Waits for finished commands that are being written. */
void opencl_settle(void);
/* Call in a fork child: drops all state. */
void opencl_forget(void);

#endif
