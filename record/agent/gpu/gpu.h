/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - the common model of all GPU runtimes: one activity type, one queue type, one operations table. A
 * vendor's files translate its runtime's notifications into these; gpu.c and gpu_ring.c write them to the
 * rings; the collector matches each operation to its launch (record/gpu/correlate.c).
 *
 *   launching thread:   gpu_launched(correlation, since) --EVENT_LAUNCH on the call path--> its own ring
 *   any thread later:   gpu_activity(&activity)  --EVENT_GPU, by correlation-----> activity ring
 *   a waiting call:     gpu_sync_begin() ... gpu_sync_end()  --a `sync` span------> its own ring
 *
 * Programs without a GPU runtime pay nothing: a vendor hooks in only when its library is loaded. Nothing here
 * runs in the sampling handler.
 */
#ifndef RECORD_AGENT_GPU_H
#define RECORD_AGENT_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "store/ring/ring.h"

/* Where an operation ran: one stream of the timeline. gpu_device_number gives the device's number, the vendor
 * chooses the others; gpu_device gives a device's name and UUID once. */
struct gpu_queue {
	uint32_t device;
	uint32_t context;
	uint32_t queue;
};

enum gpu_copy_kind {
	GPU_COPY_UNKNOWN,
	GPU_COPY_HOST_TO_DEVICE,
	GPU_COPY_DEVICE_TO_HOST,
	GPU_COPY_HOST_TO_ARRAY,
	GPU_COPY_ARRAY_TO_HOST,
	GPU_COPY_ARRAY_TO_ARRAY,
	GPU_COPY_ARRAY_TO_DEVICE,
	GPU_COPY_DEVICE_TO_ARRAY,
	GPU_COPY_DEVICE_TO_DEVICE,
	GPU_COPY_HOST_TO_HOST,
	GPU_COPY_PEER_TO_PEER
};

enum gpu_memory_kind {
	GPU_MEMORY_UNKNOWN,
	GPU_MEMORY_PAGEABLE,
	GPU_MEMORY_PINNED,
	GPU_MEMORY_DEVICE,
	GPU_MEMORY_ARRAY,
	GPU_MEMORY_MANAGED,
	GPU_MEMORY_DEVICE_STATIC,
	GPU_MEMORY_MANAGED_STATIC
};

enum gpu_sync_kind {
	GPU_SYNC_UNKNOWN,
	GPU_SYNC_EVENT,
	GPU_SYNC_STREAM_EVENT_WAIT,
	GPU_SYNC_STREAM,
	GPU_SYNC_CONTEXT
};

/* 0 where the runtime gives no value. Occupancy is in 1/1000 of the device's warps (S4 table 8.5). */
struct gpu_kernel {
	uint32_t grid[3];
	uint32_t block[3];
	uint32_t registers;
	uint32_t static_shared_bytes;
	uint32_t dynamic_shared_bytes;
	uint32_t local_bytes;
	uint32_t occupancy_permille;
};

#define GPU_SAVE_NS UINT64_C(200000000)

/* One finished operation. Strings are copied. Times are CLOCK_MONOTONIC; if 0 or inverted, they are
 * counted and replaced by the time of the launch. */
struct gpu_activity {
	uint32_t operation; /* STORE_OP_KERNEL COPY SET SYNC ALLOC FREE GRAPH COMPILE */
	struct gpu_queue queue;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t bytes;
	uint64_t correlation; /* of the launch, 0: none known */
	uint64_t module;      /* hash of the GPU binary that contains a kernel, 0: not known */
	uint64_t address; /* ALLOC, FREE: of the memory, so that a free finds its allocation; 0: not known */
	const char *name; /* kernels: the runtime's name, mangled or not */
	union {
		struct gpu_kernel kernel;
		struct {
			enum gpu_copy_kind kind;
			bool is_async;
		} copy;
		enum gpu_memory_kind memory; /* SET, ALLOC, FREE */
		enum gpu_sync_kind sync;
		uint32_t graph; /* GRAPH: its number; nodes of a graph set `graph_node` */
	};
	uint32_t graph_node; /* 0: not launched by a graph */
	const char *uses;    /* "key=value,..." more about its memory; NULL: not known */
};

/*
 * One vendor's entry into its runtime. No dlopen is wrapped: a wrapper would run before the library is loaded
 * (it must tail-call to keep the caller's RUNPATH). Instead, runtimes load the agent, whether linked or
 * dlopen'ed:
 *   OpenCL      the loader reads OPENCL_LAYERS (hpct-record and exec wrappers name the agent there)
 *   CUDA        the driver loads CUDA_INJECTION64_PATH in cuInit (set the same way, unless the user set it)
 *               and calls InitializeInjection, which is library_loaded(NULL) of nvidia
 *   Level Zero  the loader fetches its drivers' tables through symbols that the agent interposes
 * All callbacks may be NULL.
 */
struct gpu_vendor {
	const char *name; /* as in `-e gpu=NAME`: nvidia, opencl, level0 */
	/* Called before main: checks whether the runtime is loaded, else waits for it. Returns 0 or a
	 * negative code; never loads it. Only for vendors that gpu_is_wanted. */
	int (*open)(void);
	/* The runtime was loaded and starts; path NULL: as above. */
	void (*library_loaded)(const char *path);
	/* Delivers all finished operations, waiting a moment at most. Called at the end: exit (before
	 * handlers registered before gpu_exit_watch), _exit, exec. It may run in a signal handler that
	 * calls _exit: take no lock that the interrupted code may hold. */
	void (*flush)(void);
	/* Called when a signal ends the process: a thread of ours hands over all finished operations within
	 * GPU_SAVE_NS. The calling thread may hold any lock: it makes only system calls. NULL: operations are
	 * handed over as they finish. */
	void (*save)(void);
	/* Called after the program ended: reports if the runtime was used without us. Must not call the
	 * runtime, which may be torn down. */
	void (*look_back)(void);
	/* Called when the agent has come to a running process (record/agent/inject/): starts if the runtime
	 * is loaded, for what it does from now on. NULL: it cannot. */
	void (*come)(void);
	/* Undoes come: finished operations are handed over, threads of ours have ended. */
	void (*leave)(void);
	/* Called in a fork child, which lacks the runtime's threads: drop all state without calling the
	 * runtime. */
	void (*child)(void);
};

extern const struct gpu_vendor gpu_nvidia, gpu_opencl, gpu_level0;

/* `vendors`: NULL-terminated, static. Call first. */
void gpu_init(const struct gpu_vendor *const *vendors);
/* Starts the vendors that HPCT_EVENTS selects ("gpu=auto": each when its library is loaded). */
void gpu_open(void);
/* gpu_vendor.come and leave, for the vendors that are selected. */
void gpu_come(void);
void gpu_leave(void);
void gpu_flush(void);
/* In a handler of a signal that ends the process: see gpu_vendor.save. */
void gpu_save(void);
void gpu_look_back(void);
void gpu_child(void);

/* True if this process is measured and `gpu=` selects this vendor. */
bool gpu_is_wanted(const struct gpu_vendor *vendor);

/* True if a loaded library's name begins with one of `names`, NULL-terminated. Takes the loader's lock:
 * call only within a call of the program to a library that it has loaded. */
bool gpu_library_is_there(const char *const *names);
/* Like it, for look_back, at the end of any process. */
bool gpu_library_was_there(const char *const *names);

/* A runtime is active: at exit, flush before the handlers registered by the runtime so far. May be called
 * repeatedly. */
void gpu_exit_watch(void);

/* A correlation id for runtimes that have none: above 2^32, while runtimes' own ids stay below. */
uint64_t gpu_correlation(void);
/* The calling thread started an operation in a call that began at begin_ns: writes correlation id, call
 * path and the call's span. Correlation ids are unique in a process and not 0. */
void gpu_launched(uint64_t correlation, uint64_t begin_ns);
/* The same of a call that has started one kernel for certain: where its operation never comes, it is counted
 * as lost. */
void gpu_kernel_launched(uint64_t correlation, uint64_t begin_ns);
/* The same of a call that has put no work into a queue, but may have records of memory: nobody waits for an
 * operation of it. */
void gpu_unqueued(uint64_t correlation, uint64_t begin_ns);
/* Called after each launch, with the path's node in the calling thread's tree; NULL: nobody asks. */
struct thread;
extern void (*gpu_launch_watch)(struct thread *t, uint32_t node);

/* Correlation id of the last such call of this thread, 0: none since this was last asked. Who asks right
 * after a launch knows its kernel (nccl.c). */
uint64_t gpu_kernel_last(void);

/* An operation has finished. Any thread, but not in a signal handler. ALLOC, FREE, SYNC and COMPILE with a
 * known launch appear on the launching thread's stream, all others on the queue's. */
void gpu_activity(const struct gpu_activity *activity);

/* Returns the number in this process of the vendor's device `own`. Every runtime counts from 0: if another
 * vendor's device has the number, it is the lowest free one. Any thread, also in a signal handler. */
uint32_t gpu_device_number(const struct gpu_vendor *vendor, uint32_t own);
/* Properties of a device and of a queue; once each, before or after their activities. */
void gpu_device(uint32_t device, const char *uuid, const char *name);
void gpu_queue_name(const struct gpu_queue *queue, const char *name);
/* Adds attributes of the queue, "order=in,devices=2": `name` or `attributes` may be NULL. */
void gpu_queue_publish(const struct gpu_queue *queue, const char *name, const char *attributes);
/* The process made its first GPU context at since_ns: before that it has no queues, and its time is not
 * GPU idleness. Only the first call counts; call it before other records. */
void gpu_used(uint64_t since_ns);

/* The runtime reported `error`: a kernel faulted. Kernels launched before since_ns had finished (0: unknown).
 * Only the first call counts, because the device runs nothing after a fault. */
void gpu_fault(const char *error, uint64_t since_ns);

/* Stores a GPU binary in the run. Copies the bytes; returns the hash of the content. */
uint64_t gpu_module(const void *image, uint64_t bytes);

/* The calling thread waits for the GPU between the two; kind and queue (NULL: several) become attributes
 * of a span on it. */
uint64_t gpu_sync_begin(void);
void gpu_sync_end(uint64_t begin_ns, enum gpu_sync_kind kind, const struct gpu_queue *queue);

/* A call of the calling thread, from begin_ns until now, that itself worked on GPU memory or code:
 * operation STORE_OP_ALLOC, FREE (kind, and the memory's address or handle), COMPILE or LOAD (both unused).
 * Written as a span on the thread. */
void gpu_call(uint32_t operation, uint64_t begin_ns, uint64_t bytes, enum gpu_memory_kind kind,
	const void *address);
uint64_t gpu_now_ns(void);

/* Samples of one instruction of a GPU context, from one read-out. Strings are copied. */
struct gpu_sample {
	uint32_t device, context;
	uint64_t time_ns, module, weight; /* weight: samples x period; module 0: not known */
	const char *function, *metric;
	uint32_t symbol, offset; /* the function's number among the binary's symbols; the instruction in it */
};
void gpu_sample(const struct gpu_sample *sample);
/* Samples of a context are missing, or with EVENT_GPU_UTIL as the context, a device's figures: `count`, 0:
 * not known how many. `is_end`: there will be none. */
void gpu_unsampled(uint32_t device, uint32_t context, const char *why, uint64_t count, bool is_end);

/* A device's figures at one time, as struct event_gpu_values has them: `count` values, of the figures in
 * `figures`, in their order. */
struct gpu_values {
	uint32_t device, figures, count;
	uint64_t time_ns;
	uint64_t value[EVENT_GPU_FIGURE_COUNT];
};
void gpu_values(const struct gpu_values *values);

/* Counts operations that the agent missed since the last call (the runtime's buffers were full). */
void gpu_lost(uint64_t count);

/* The calling thread belongs to a GPU runtime: do not sample it. */
void gpu_thread_hide(void);

/* Marks the process's GPU streams as untraced from now on, with a reason ("torch.profiler"); NULL: they
 * are traced again. */
void gpu_unmonitored(const char *why);

#endif
