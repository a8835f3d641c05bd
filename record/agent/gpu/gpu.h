/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h - what every GPU runtime looks like to hpct: one activity type, one queue
 * type, one operations table. A vendor is one file that turns its runtime's own
 * notices into these; gpu.c and gpu_ring.c put them into the rings, the collector joins each
 * operation with its launch (record/gpu/correlate.c).
 *
 *   launching thread:   gpu_launched(correlation, since) --EVENT_LAUNCH on the call path--> its own ring
 *   any thread later:   gpu_activity(&activity)  --EVENT_GPU, by correlation-----> activity ring
 *   a waiting call:     gpu_sync_begin() ... gpu_sync_end()  --a `sync` span------> its own ring
 *
 * A program that never touches a GPU runtime pays nothing: vendors hook in only
 * when their library is there. Nothing here runs in the sampling handler.
 */
#ifndef RECORD_AGENT_GPU_H
#define RECORD_AGENT_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "store/ring/ring.h"

/* Where an operation ran: one stream of the timeline. The device's number is the process's, from
 * gpu_device_number; context and queue are numbered by the vendor. A device's name and UUID are said once by
 * gpu_device. */
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

/* 0 where the runtime does not tell. Occupancy is in 1/1000 of the device's warps (S4 table 8.5). */
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

/* One operation that has finished. Strings are copied. Times are CLOCK_MONOTONIC; 0 or inverted ones are
 * counted and given to the launch's own moment. */
struct gpu_activity {
	uint32_t operation; /* STORE_OP_KERNEL COPY SET SYNC ALLOC FREE GRAPH COMPILE */
	struct gpu_queue queue;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t bytes;
	uint64_t correlation; /* of the launch, 0: none known */
	uint64_t module;      /* hash of the GPU binary that holds a kernel, 0: not known */
	const char *name;     /* kernels: as the runtime says it, mangled or not */
	union {
		struct gpu_kernel kernel;
		struct {
			enum gpu_copy_kind kind;
			bool is_async;
		} copy;
		enum gpu_memory_kind memory; /* SET, ALLOC, FREE */
		enum gpu_sync_kind sync;
		uint32_t graph; /* GRAPH: its number; nodes say theirs in `node` */
	};
	uint32_t graph_node; /* 0: not launched by a graph */
	const char *uses;    /* "key=value,..." more about the memory it works on; NULL: not known */
};

/*
 * One vendor's way into its runtime. No dlopen is watched: a wrapper would learn of a library before it is
 * there (it must tail-call to keep the caller's RUNPATH). Runtimes come to us instead, linked or dlopen'ed:
 *   OpenCL      the loader asks OPENCL_LAYERS (hpct-record and exec wrappers name the agent there)
 *   CUDA        the driver loads CUDA_INJECTION64_PATH in cuInit (set the same way, unless the user has one)
 *               and calls InitializeInjection, which is library_loaded(NULL) of nvidia
 *   Level Zero  the loader fetches its drivers' tables through symbols that the agent interposes
 * All callbacks may be NULL.
 */
struct gpu_vendor {
	const char *name; /* as in `-e gpu=NAME`: nvidia, opencl, level0 */
	/* The program is about to enter main: look whether the runtime is there, else wait for it. 0 or
	 * negative; never loads it. Only for vendors that gpu_is_wanted. */
	int (*open)(void);
	/* The runtime has come and starts; path NULL: as above. */
	void (*library_loaded)(const char *path);
	/* Hands over all finished operations, waiting at most a moment. At the end: exit (ahead of what was
	 * registered before gpu_exit_watch), _exit, exec. It may be in a signal handler that calls _exit:
	 * take no lock that the interrupted code may hold. */
	void (*flush)(void);
	/* A signal ends the process: has finished operations handed over by a thread of ours, for the time of
	 * GPU_SAVE_NS at most. The calling thread may hold any lock: only system calls, no allocation. NULL:
	 * operations are handed over as they finish. */
	void (*save)(void);
	/* The program has ended: says so if the runtime was used past us. It may be torn down, so nothing of
	 * it is called. */
	void (*look_back)(void);
	/* This is a fork child: the runtime's threads are not here, forget everything without calling it. */
	void (*child)(void);
};

extern const struct gpu_vendor gpu_nvidia, gpu_opencl, gpu_level0;

/* `vendors`: ended by NULL, for the life of the process. Before any other call. */
void gpu_init(const struct gpu_vendor *const *vendors);
/* Starts those that HPCT_EVENTS asks for ("gpu=auto": each as its library shows up). */
void gpu_open(void);
void gpu_flush(void);
/* In a handler of a signal that ends the process: see gpu_vendor.save. */
void gpu_save(void);
void gpu_look_back(void);
void gpu_child(void);

/* Whether this process is measured and `gpu=` asks for this vendor. */
bool gpu_is_wanted(const struct gpu_vendor *vendor);

/* Is a library loaded whose name begins with one of these, ended by NULL? Asks the loader, so only in a call
 * that the program makes to a library that it has loaded. */
bool gpu_library_is_there(const char *const *names);
/* The same for look_back, at the end of any process. */
bool gpu_library_was_there(const char *const *names);

/* A runtime works now: at exit, all is flushed before what the runtime registered so far is torn down. Any
 * number of times. */
void gpu_exit_watch(void);

/* A correlation for runtimes that have none: above 2^32, those that count for themselves stay below. */
uint64_t gpu_correlation(void);
/* The calling thread has started an operation in a call that began at begin_ns: logs (correlation, call path,
 * the call's time). Correlations are unique in a process and not 0. */
void gpu_launched(uint64_t correlation, uint64_t begin_ns);
/* The same of a call that has started one kernel for certain: where its operation never comes, it is counted
 * as lost. */
void gpu_kernel_launched(uint64_t correlation, uint64_t begin_ns);

/* An operation has finished. Any thread that is not in a signal handler. ALLOC, FREE, SYNC and COMPILE whose
 * launch is known are shown on the launching thread's stream, all else on the queue's. */
void gpu_activity(const struct gpu_activity *activity);

/* The number in this process of the vendor's device `own`. Two runtimes in one process both count from 0, so
 * a number that another vendor's device has already is replaced by the lowest free one. Any thread, also in a
 * signal handler. */
uint32_t gpu_device_number(const struct gpu_vendor *vendor, uint32_t own);
/* What is known of a device and of a queue; once each, before or after their activities. */
void gpu_device(uint32_t device, const char *uuid, const char *name);
void gpu_queue_name(const struct gpu_queue *queue, const char *name);
/* The same with attributes of the queue, "order=in,devices=2": either may be NULL. */
void gpu_queue_publish(const struct gpu_queue *queue, const char *name, const char *attributes);
/* The process uses GPUs since then: it made its first context. Before, no queue can have been there, and
 * nothing it does keeps a GPU idle. Only the first call counts; before anything else is said. */
void gpu_used(uint64_t since_ns);

/* The runtime has told the program that a kernel faulted, as `error`. Those launched before since_ns had
 * finished (0: not known). Only the first call counts: the device does nothing more. */
void gpu_fault(const char *error, uint64_t since_ns);

/* A GPU binary, kept in the run by its content's hash, which is returned. The bytes are copied. */
uint64_t gpu_module(const void *image, uint64_t bytes);

/* The calling thread waits for the GPU between the two; kind and queue (NULL: many) become attributes of a
 * span on it. */
uint64_t gpu_sync_begin(void);
void gpu_sync_end(uint64_t begin_ns, enum gpu_sync_kind kind, const struct gpu_queue *queue);

/* A call of the calling thread, from begin_ns until now, that did something to GPU memory or code itself:
 * operation STORE_OP_ALLOC, FREE (kind), COMPILE or LOAD (kind unused). A span on the thread. */
void gpu_call(uint32_t operation, uint64_t begin_ns, uint64_t bytes, enum gpu_memory_kind kind);
uint64_t gpu_now_ns(void);

/* Operations that the agent knows it missed since the last call (runtime's buffers full). */
void gpu_lost(uint64_t count);

/* The calling thread belongs to a GPU runtime and is not to be sampled. */
void gpu_thread_hide(void);

/* Marks the calling process's GPU streams as not watched from now on, and why ("torch.profiler"); NULL: they
 * are watched again. */
void gpu_unmonitored(const char *why);

#endif
