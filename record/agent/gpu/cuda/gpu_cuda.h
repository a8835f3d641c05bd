/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda.h - shared by the files of the NVIDIA vendor: the CUPTI found in the program, and the state of
 * tracing. Built only with CUPTI's headers; the library is looked up in the running program, never linked.
 *
 *   gpu_cuda.c         entered through the driver; subscribes, flushes, unsubscribes
 *   gpu_cuda_library.c finds the CUPTI that belongs to the program
 *   gpu_cuda_call.c    driver calls: launches and waits, on the calling thread
 *   gpu_cuda_buffer.c  selects CUPTI's record kinds and provides their buffers
 *   gpu_cuda_record.c  reads records of finished operations, on CUPTI's thread
 *   gpu_cuda_pc.c      samples of instructions
 *   gpu_cuda_util.c    counters of a device over time
 *   gpu_cuda_share.c   yields to the program's own CUPTI tool (torch.profiler) and returns
 */
#ifndef RECORD_AGENT_GPU_CUDA_H
#define RECORD_AGENT_GPU_CUDA_H

#include <cupti.h>

#include "record/agent/gpu/gpu.h"

#define CUDA_FUNCTIONS(X)                         \
	X(cuptiGetVersion)                        \
	X(cuptiSubscribe)                         \
	X(cuptiUnsubscribe)                       \
	X(cuptiEnableCallback)                    \
	X(cuptiGetCallbackName)                   \
	X(cuptiGetDeviceId)                       \
	X(cuptiGetStreamIdEx)                     \
	X(cuptiActivityEnable)                    \
	X(cuptiActivityDisable)                   \
	X(cuptiActivityRegisterCallbacks)         \
	X(cuptiActivityRegisterTimestampCallback) \
	X(cuptiActivityGetNextRecord)             \
	X(cuptiActivityGetNumDroppedRecords)      \
	X(cuptiActivityFlushAll)

/* Functions of the CUPTI that was found. */
struct cuda_api {
#define CUDA_FIELD(name) __typeof__(&name) name;
	CUDA_FUNCTIONS(CUDA_FIELD)
#undef CUDA_FIELD
	void *handle;
	uint32_t version;
};

enum cuda_state {
	CUDA_IDLE,     /* the program does not use CUDA, or NVIDIA GPUs were not selected */
	CUDA_STARTING, /* a thread is starting it */
	CUDA_ON,
	CUDA_YIELDED, /* the program's own tool uses CUPTI */
	CUDA_OFF      /* permanently: no CUPTI, another tool, or a fork child */
};

struct cuda {
	_Atomic int state;	   /* enum cuda_state */
	_Atomic bool whole_graphs; /* one record per graph launch instead of one per node */
	bool hold;		   /* never yield */
	bool tells_compiles;	   /* CUPTI has records of compiles (CUDA 12), so a binary load need not be
				      one */
	struct cuda_api api;
	CUpti_SubscriberHandle subscriber;
	_Atomic uint64_t calls; /* number of launches; the flusher sleeps while it does not change */
};

extern struct cuda cuda;

/* Finds CUPTI and fills `api`. NULL, or why it cannot be used: part of a sentence, static. */
const char *cuda_library_open(struct cuda_api *api);

/* Subscribes and enables records. NULL or why not, as above. */
const char *cuda_begin(void);
/* Undoes cuda_begin; finished operations are recorded. */
void cuda_end(void);

/* Lets the thread that flushes look at once for what it has to do. */
void cuda_flusher_wake(void);

/* Call before the program instantiates a graph: switches to records per node if required, possibly because
 * of modules loaded since the last graph. */
void cuda_graphs_look(void);

/* Enables callbacks of the driver calls of interest, by CUPTI's names. 0 or a CUptiResult. */
int cuda_calls_enable(void);
void CUPTIAPI cuda_called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data);

/* Correlation id of a call that was loading a GPU binary at that time, 0: none. */
uint64_t cuda_load_at(uint64_t time_ns);

/* gpu_cuda_record.c: passes the record on as an activity; ignores kinds that are not of interest. */
void cuda_record_take(const CUpti_Activity *record);

/* Sets up buffers and record kinds. 0 or a CUptiResult. */
int cuda_records_enable(void);
void cuda_records_disable(void);

#endif
