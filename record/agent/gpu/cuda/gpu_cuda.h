/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda.h - what the files of the NVIDIA vendor share: CUPTI as it was found in
 * the program, and where hpct stands with it. Built only where CUPTI's headers are;
 * the library itself is looked for in the running program, never linked.
 *
 *   gpu_cuda.c         comes in through the driver, subscribes, flushes, leaves
 *   gpu_cuda_library.c finds the CUPTI that belongs to the program
 *   gpu_cuda_call.c    driver calls: launches and waits, on the calling thread
 *   gpu_cuda_buffer.c  which records CUPTI makes, and buffers for them
 *   gpu_cuda_record.c  what records say of finished operations, on CUPTI's thread
 *   gpu_cuda_share.c   the program's own CUPTI tool (torch.profiler) comes and goes
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

/* Addresses in the CUPTI that was found. */
struct cuda_api {
#define CUDA_FIELD(name) __typeof__(&name) name;
	CUDA_FUNCTIONS(CUDA_FIELD)
#undef CUDA_FIELD
	void *handle;
	uint32_t version;
};

enum cuda_state {
	CUDA_IDLE,     /* the program has not touched CUDA, or NVIDIA GPUs were not asked for */
	CUDA_STARTING, /* a thread is at it */
	CUDA_ON,
	CUDA_YIELDED, /* the program's own tool has CUPTI */
	CUDA_OFF      /* for good: no CUPTI, another tool, a fork child */
};

struct cuda {
	_Atomic int state;	   /* enum cuda_state */
	_Atomic bool whole_graphs; /* one record per graph launch instead of one per node */
	bool hold;		   /* never yield */
	bool tells_compiles;	   /* CUPTI has records of them (CUDA 12): a load of a binary may be none */
	struct cuda_api api;
	CUpti_SubscriberHandle subscriber;
	_Atomic uint64_t calls; /* launches seen: the flusher sleeps while nothing happens */
};

extern struct cuda cuda;

/* Finds CUPTI and fills `api`. NULL, or why it cannot be used: a sentence's part that lives for good. */
const char *cuda_library_open(struct cuda_api *api);

/* Subscribes and turns records on. NULL or why not, as above. */
const char *cuda_begin(void);
/* Takes both back; what is finished is recorded. */
void cuda_end(void);

/* The program is about to make a graph that can be launched: by nodes from now on if it must be, perhaps by
 * what it has loaded since the last one. */
void cuda_graphs_look(void);

/* Driver calls of interest, by CUPTI's own names for them. 0 or a CUptiResult. */
int cuda_calls_enable(void);
void CUPTIAPI cuda_called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data);

/* Correlation of a call that was loading a GPU binary at that time, 0: none. */
uint64_t cuda_load_at(uint64_t time_ns);

/* gpu_cuda_record.c: tells the collector of it. Any kind; those that were not asked for are passed over. */
void cuda_record_take(const CUpti_Activity *record);

/* Buffers and kinds of records. 0 or a CUptiResult. */
int cuda_records_enable(void);
void cuda_records_disable(void);

#endif
