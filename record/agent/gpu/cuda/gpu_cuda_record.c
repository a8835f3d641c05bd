/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_record.c - translates CUPTI's records of finished operations into activities. Since CUDA 11.8 a
 * record's layout has only grown at its end, so this reads the oldest layout with any CUPTI.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "record/agent/gpu/cuda/gpu_cuda.h"
#include "record/agent/gpu/cuda/gpu_cuda_pc.h"

#define CONTEXTS_MAX 256u
#define DEVICES_MAX 64u
#define WARP 32u

typedef CUpti_ActivityKernel8 kernel_record;
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityMemset4 set_record;
typedef CUpti_ActivityMemory3 memory_record;
typedef CUpti_ActivityGraphTrace graph_record;
typedef CUpti_ActivityDevice4 device_record;
typedef CUpti_ActivityContext context_record;
#if CUPTI_API_VERSION >= 18
typedef CUpti_ActivityJit jit_record;
#endif

#define SAME(old, new, field) static_assert(offsetof(old, field) == offsetof(new, field), #old "." #field)
#if CUPTI_API_VERSION >= 130000
SAME(kernel_record, CUpti_ActivityKernel10, correlationId);
SAME(kernel_record, CUpti_ActivityKernel10, name);
SAME(kernel_record, CUpti_ActivityKernel10, sharedMemoryExecuted);
SAME(kernel_record, CUpti_ActivityKernel10, graphNodeId);
SAME(copy_record, CUpti_ActivityMemcpy6, correlationId);
SAME(copy_record, CUpti_ActivityMemcpy6, graphNodeId);
SAME(memory_record, CUpti_ActivityMemory4, isAsync);
SAME(graph_record, CUpti_ActivityGraphTrace2, streamId);
SAME(device_record, CUpti_ActivityDevice5, name);
SAME(jit_record, CUpti_ActivityJit2, correlationId);
SAME(context_record, CUpti_ActivityContext3, nullStreamId);
#endif

/* Resources of a multiprocessor, per device. */
static struct {
	uint32_t warps, blocks, registers, shared_bytes;
} limits[DEVICES_MAX];

/* Indexed by context modulo size; if two contexts collide, one gets no names. */
static struct {
	_Atomic uint32_t device; /* + 1; 0: unknown */
	uint32_t context, null_stream;
	_Atomic bool is_named;
} contexts[CONTEXTS_MAX];

static uint32_t context_device(uint32_t context)
{
	uint32_t device =
		atomic_load_explicit(&contexts[context % CONTEXTS_MAX].device, memory_order_acquire);

	return device ? device - 1 : 0;
}

/* Names the null stream on first use, as most programs never use it. */
static void null_stream_name(const struct gpu_queue *queue)
{
	unsigned i = queue->context % CONTEXTS_MAX;

	if (atomic_load_explicit(&contexts[i].device, memory_order_acquire) &&
		contexts[i].context == queue->context && contexts[i].null_stream == queue->queue &&
		!atomic_exchange_explicit(&contexts[i].is_named, true, memory_order_relaxed))
		gpu_queue_name(queue, "default stream");
}

/* A queue's number is CUPTI's stream id; 0, which is no stream, stands for the whole context. */
static struct gpu_queue queue_of(uint32_t device, uint32_t context, uint32_t stream)
{
	struct gpu_queue queue = {device, context, stream};

	if (context == CUPTI_INVALID_CONTEXT_ID)
		queue.context = 0;
	if (device >= DEVICES_MAX)
		queue.device = context_device(queue.context);
	if (stream == CUPTI_INVALID_STREAM_ID)
		queue.queue = 0;
	queue.device = gpu_device_number(&gpu_nvidia, queue.device);
	if (!atomic_load_explicit(&contexts[queue.context % CONTEXTS_MAX].is_named, memory_order_relaxed))
		null_stream_name(&queue);
	return queue;
}

static uint32_t round_up(uint32_t value, uint32_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Occupancy: warps that fit on a multiprocessor at once, per 1000 of its maximum, by the vendor's
 * allocation rules (registers by 256 per warp, shared memory by 128 bytes plus 1 KiB of the system per
 * block). */
static uint32_t occupancy(const kernel_record *record)
{
	uint32_t device = record->deviceId, threads, warps, blocks, bytes;
	uint32_t registers = round_up(record->registersPerThread * WARP, 256);

	threads = (uint32_t)record->blockX * (uint32_t)record->blockY * (uint32_t)record->blockZ;
	warps = (threads + WARP - 1) / WARP;
	if (device >= DEVICES_MAX || !limits[device].warps || !warps)
		return 0;
	blocks = least(limits[device].blocks, limits[device].warps / warps);
	if (registers)
		blocks = least(blocks, limits[device].registers / registers / warps);
	bytes = round_up(
		(uint32_t)record->staticSharedMemory + (uint32_t)record->dynamicSharedMemory + 1024, 128);
	blocks = least(blocks,
		(record->sharedMemoryExecuted ? record->sharedMemoryExecuted : limits[device].shared_bytes) /
			bytes);
	return blocks * warps * 1000 / limits[device].warps;
}

static void take_kernel(const kernel_record *record)
{
	struct gpu_activity activity = {.operation = STORE_OP_KERNEL,
		.queue = queue_of(record->deviceId, record->contextId, record->streamId),
		.begin_ns = record->start,
		.end_ns = record->end,
		.correlation = record->correlationId,
		.name = record->name,
		.graph_node = (uint32_t)record->graphNodeId,
		.kernel = {
			.grid = {(uint32_t)record->gridX, (uint32_t)record->gridY, (uint32_t)record->gridZ},
			.block = {(uint32_t)record->blockX, (uint32_t)record->blockY,
				(uint32_t)record->blockZ},
			.registers = record->registersPerThread,
			.static_shared_bytes = (uint32_t)record->staticSharedMemory,
			.dynamic_shared_bytes = (uint32_t)record->dynamicSharedMemory,
			.local_bytes = record->localMemoryPerThread,
			.occupancy_permille = occupancy(record)}};

	gpu_activity(&activity);
}

static void take_copy(const copy_record *record)
{
	struct gpu_activity activity = {.operation = STORE_OP_COPY,
		.queue = queue_of(record->deviceId, record->contextId, record->streamId),
		.begin_ns = record->start,
		.end_ns = record->end,
		.bytes = record->bytes,
		.correlation = record->correlationId,
		.graph_node = (uint32_t)record->graphNodeId,
		.copy = {(enum gpu_copy_kind)record->copyKind,
			(record->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0}};

	gpu_activity(&activity);
}

static void take_peer_copy(const CUpti_ActivityMemcpyPtoP4 *record)
{
	struct gpu_activity activity = {.operation = STORE_OP_COPY,
		.queue = queue_of(record->deviceId, record->contextId, record->streamId),
		.begin_ns = record->start,
		.end_ns = record->end,
		.bytes = record->bytes,
		.correlation = record->correlationId,
		.graph_node = (uint32_t)record->graphNodeId,
		.copy = {GPU_COPY_PEER_TO_PEER, (record->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0}};

	gpu_activity(&activity);
}

static void take_set(const set_record *record)
{
	struct gpu_activity activity = {.operation = STORE_OP_SET,
		.queue = queue_of(record->deviceId, record->contextId, record->streamId),
		.begin_ns = record->start,
		.end_ns = record->end,
		.bytes = record->bytes,
		.correlation = record->correlationId,
		.graph_node = (uint32_t)record->graphNodeId,
		.memory = (enum gpu_memory_kind)record->memoryKind};

	gpu_activity(&activity);
}

/* A moment without duration, on the context's queue unless it belongs to a stream. */
static void take_memory(const memory_record *record)
{
	bool is_static = record->memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC ||
			 record->memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC;
	bool is_free = record->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
	struct gpu_activity activity = {.operation = is_free ? STORE_OP_FREE : STORE_OP_ALLOC,
		.queue = queue_of(record->deviceId, record->contextId,
			record->isAsync ? record->streamId : CUPTI_INVALID_STREAM_ID),
		.begin_ns = record->timestamp,
		.end_ns = record->timestamp,
		.bytes = record->bytes,
		.correlation = record->correlationId,
		.address = record->address,
		.memory = (enum gpu_memory_kind)record->memoryKind};

	if (is_static && !is_free)
		activity.correlation = cuda_load_at(record->timestamp);
	gpu_activity(&activity);
}

#if CUPTI_API_VERSION >= 18
/* Reading or writing the driver's cache is no compile. */
static void take_jit(const jit_record *record)
{
	struct gpu_activity activity = {.operation = STORE_OP_COMPILE,
		.queue = queue_of(record->deviceId, CUPTI_INVALID_CONTEXT_ID, CUPTI_INVALID_STREAM_ID),
		.begin_ns = record->start,
		.end_ns = record->end,
		.correlation = record->correlationId};

	if (record->jitOperationType == CUPTI_ACTIVITY_JIT_OPERATION_COMPILE)
		gpu_activity(&activity);
}
#endif

static void take_graph(const graph_record *record)
{
	struct gpu_activity activity = {.operation = STORE_OP_GRAPH,
		.queue = queue_of(record->deviceId, record->contextId, record->streamId),
		.begin_ns = record->start,
		.end_ns = record->end,
		.correlation = record->correlationId,
		.graph = record->graphId};

	gpu_activity(&activity);
}

/* In nvidia-smi's format. */
static void uuid_text(char *to, size_t room, const CUuuid *uuid)
{
	size_t used = (size_t)snprintf(to, room, "GPU-");

	for (unsigned i = 0; i < sizeof(uuid->bytes) && used + 4 < room; i++)
		used += (size_t)snprintf(to + used, room - used, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)uuid->bytes[i]);
}

static void take_device(const device_record *record)
{
	char uuid[48];

	uuid_text(uuid, sizeof(uuid), &record->uuid);
	gpu_device(gpu_device_number(&gpu_nvidia, record->id), uuid, record->name ? record->name : "");
	cuda_pc_device(record->id, record->numMultiprocessors, record->coreClockRate);
	if (record->id >= DEVICES_MAX)
		return;
	limits[record->id].blocks = record->maxBlocksPerMultiprocessor;
	limits[record->id].registers = record->maxRegistersPerMultiprocessor;
	limits[record->id].shared_bytes = record->maxSharedMemoryPerMultiprocessor;
	limits[record->id].warps = record->maxWarpsPerMultiprocessor;
}

static void take_context(const context_record *record)
{
	unsigned i = record->contextId % CONTEXTS_MAX;

	contexts[i].context = record->contextId;
	contexts[i].null_stream = record->nullStreamId;
	atomic_store_explicit(&contexts[i].is_named, false, memory_order_relaxed);
	atomic_store_explicit(&contexts[i].device, record->deviceId + 1, memory_order_release);
}

void cuda_record_take(const CUpti_Activity *record)
{
	switch ((int)record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		take_kernel((const kernel_record *)record);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		take_copy((const copy_record *)record);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		take_peer_copy((const CUpti_ActivityMemcpyPtoP4 *)record);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		take_set((const set_record *)record);
		break;
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		take_memory((const memory_record *)record);
		break;
#if CUPTI_API_VERSION >= 18
	case CUPTI_ACTIVITY_KIND_JIT:
		take_jit((const jit_record *)record);
		break;
#endif
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		take_graph((const graph_record *)record);
		break;
	case CUPTI_ACTIVITY_KIND_DEVICE:
		take_device((const device_record *)record);
		break;
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		take_context((const context_record *)record);
		break;
	}
}
