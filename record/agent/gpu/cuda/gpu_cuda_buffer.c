/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_buffer.c - selects CUPTI's record kinds and manages their buffers: CUPTI fills our buffers and
 * returns them on its own thread, or on the thread that flushes.
 */
#include <sys/mman.h>

#include "record/agent/gpu/cuda/gpu_cuda.h"

/* CUPTI keeps a buffer until all its operations have finished, and a killed program loses it: so buffers
 * are small; but each change of buffers delays launches. */
#define BUFFER_BYTES (256u << 10)
#define BUFFER_BUSY_BYTES (1u << 20) /* if a small one fills within a flush period */
#define BUSY_NS_PER_BYTE 200u	     /* 24,000 kernels a second */
#define BUSY_LEAST_BYTES (64u << 10)
#define SLOTS 256u

/* All slots are in one reservation, so that buffers of another tool can be recognized. */
static unsigned char *slots;			 /* of BUFFER_BUSY_BYTES each */
static _Atomic uint64_t slots_taken[SLOTS / 64]; /* bitmap */
static uint64_t slots_since_ns[SLOTS];
static _Atomic bool is_busy;

static int slots_reserve(void)
{
	void *memory = slots;

	if (!memory)
		memory = mmap(NULL, (size_t)SLOTS * BUFFER_BUSY_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	slots = memory == MAP_FAILED ? NULL : memory;
	return slots ? 0 : CUPTI_ERROR_OUT_OF_MEMORY;
}

static void CUPTIAPI buffer_wanted(uint8_t **buffer, size_t *bytes, size_t *records_max)
{
	*buffer = NULL;
	*bytes = 0;
	*records_max = 0;
	for (unsigned i = 0; i < SLOTS && !*buffer; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;

		if (!(atomic_fetch_or(&slots_taken[i / 64], bit) & bit)) {
			slots_since_ns[i] = gpu_now_ns();
			*buffer = slots + (size_t)i * BUFFER_BUSY_BYTES;
			*bytes = atomic_load_explicit(&is_busy, memory_order_relaxed) ? BUFFER_BUSY_BYTES
										      : BUFFER_BYTES;
		}
	}
}

static void buffer_give_back(const uint8_t *buffer, size_t valid_bytes)
{
	size_t slot = (size_t)(buffer - slots) / BUFFER_BUSY_BYTES;
	uint64_t lasted_ns = gpu_now_ns() - slots_since_ns[slot];

	atomic_store_explicit(&is_busy,
		valid_bytes >= BUSY_LEAST_BYTES && lasted_ns < valid_bytes * BUSY_NS_PER_BYTE,
		memory_order_relaxed);
	atomic_fetch_and(&slots_taken[slot / 64], ~(UINT64_C(1) << slot % 64));
}

static void CUPTIAPI buffer_full(
	CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	CUpti_Activity *record = NULL;
	size_t dropped = 0;

	(void)bytes;
	if (buffer < slots || buffer >= slots + (size_t)SLOTS * BUFFER_BUSY_BYTES)
		return;
	while (valid_bytes && !cuda.api.cuptiActivityGetNextRecord(buffer, valid_bytes, &record))
		cuda_record_take(record);
	if (!cuda.api.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) && dropped)
		gpu_lost(dropped);
	buffer_give_back(buffer, valid_bytes);
}

/* ---- record kinds ---- */

/* Tracing needs at least the first three. Waits are recorded from calls: CUPTI's own wait records add
 * nothing. */
static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT,
	CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMORY2};

int cuda_records_enable(void)
{
	CUptiResult result = slots_reserve()
				     ? CUPTI_ERROR_OUT_OF_MEMORY
				     : cuda.api.cuptiActivityRegisterCallbacks(buffer_wanted, buffer_full);

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds) && !result; i++) {
		CUptiResult refused = cuda.api.cuptiActivityEnable(kinds[i]);

		if (i < 3)
			result = refused;
	}
	/* Do not combine records of code loading with whole graphs: CUPTI then fails more often. */
	if (!result && cuda.whole_graphs)
		cuda.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
#if CUPTI_API_VERSION >= 18
	else
		cuda.tells_compiles = !result && !cuda.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_JIT);
#endif
	return (int)result;
}

void cuda_records_disable(void)
{
	if (cuda.whole_graphs)
		cuda.api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
#if CUPTI_API_VERSION >= 18
	if (cuda.tells_compiles)
		cuda.api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_JIT);
#endif
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		cuda.api.cuptiActivityDisable(kinds[i]);
}
