/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_call.c - the program's driver calls, on its own threads, when they return. Calls that started
 * operations are written with their call path and CUPTI's correlation id, which the operation's record
 * contains, too; calls that waited or loaded code become spans. Calls are recognized by name, so that
 * variants in later drivers are covered.
 */
#include <string.h>

#include "record/agent/gpu/cuda/gpu_cuda.h"
#include "record/agent/gpu/cuda/gpu_cuda_pc.h"
#include "record/agent/gpu/cuda/gpu_cuda_util.h"

#define LOADS_MAX 256u
#define CALLS_MAX 2048 /* CUPTI's ids of driver calls are below */

enum call {
	CALL_OTHER,
	CALL_LAUNCH,	  /* starts an operation */
	CALL_KERNEL,	  /* starts one kernel */
	CALL_LAUNCH_WAIT, /* ... and waits for it */
	CALL_MEMORY,	  /* allocates or frees */
	CALL_WAIT_EVENT,
	CALL_WAIT_STREAM,
	CALL_WAIT_CONTEXT,
	CALL_STREAM_WAIT, /* a stream waits, not the thread */
	CALL_CAPTURE,	  /* from here on launches become nodes of a graph */
	CALL_CAPTURE_END,
	CALL_GRAPH,  /* instantiates a graph */
	CALL_LOAD,   /* loads a GPU binary, perhaps compiles it first: CUPTI's records say which */
	CALL_RESOLVE /* may perform a deferred load */
};

static unsigned char call_of[CALLS_MAX];

/* Calls that load a GPU binary, or may. The memory that a load allocates is recorded without correlation
 * id, within the time of the call, and its record may arrive before CUPTI reports the binary. A call that
 * loaded nothing leaves its slot to the thread's next call. */
static struct {
	_Atomic uint64_t correlation, begin_ns, end_ns;
	_Atomic bool has_loaded;
} loads[LOADS_MAX];
static _Atomic unsigned load_count;

/* The driver call of the calling thread. */
static __thread struct {
	uint64_t begin_ns, correlation;
	unsigned load; /* index in `loads` + 1; 0: the thread has no slot */
	bool is_noted; /* this call is in the slot */
	bool has_loaded;
} current __attribute__((tls_model("initial-exec")));

static uint64_t load_find(uint64_t time_ns, bool has_loaded)
{
	for (unsigned i = 0; i < LOADS_MAX; i++)
		if (time_ns >= atomic_load(&loads[i].begin_ns) && time_ns <= atomic_load(&loads[i].end_ns) &&
			atomic_load(&loads[i].has_loaded) == has_loaded)
			return atomic_load(&loads[i].correlation);
	return 0;
}

uint64_t cuda_load_at(uint64_t time_ns)
{
	uint64_t correlation = load_find(time_ns, true);

	return correlation ? correlation : load_find(time_ns, false);
}

/* Not sequentially consistent, since the store must be cheap: most calls that may load do not. */
static void load_put(_Atomic uint64_t *field, uint64_t value)
{
	atomic_store_explicit(field, value, memory_order_release);
}

static void load_note(void)
{
	unsigned i;

	if (!current.load)
		current.load = atomic_fetch_add(&load_count, 1) % LOADS_MAX + 1;
	i = current.load - 1;
	load_put(&loads[i].end_ns, 0);
	atomic_store_explicit(&loads[i].has_loaded, false, memory_order_release);
	load_put(&loads[i].begin_ns, current.begin_ns);
	load_put(&loads[i].correlation, current.correlation);
	load_put(&loads[i].end_ns, UINT64_MAX);
	current.is_noted = true;
}

/* Called when the call returns. */
static void load_end(void)
{
	if (!current.is_noted)
		return;
	load_put(&loads[current.load - 1].end_ns, current.has_loaded ? gpu_now_ns() : 0);
	if (current.has_loaded)
		current.load = 0;
	current.is_noted = false;
}

/* The first match wins. A name may be followed by _v2, _ptsz and the like. */
static const struct {
	const char *begin;
	enum call call;
} names[] = {
	{"cuLaunchHostFunc", CALL_OTHER},
	{"cuLaunchCooperativeKernelMultiDevice", CALL_LAUNCH},
	{"cuLaunch", CALL_KERNEL},
	{"cuGraphLaunch", CALL_LAUNCH},
	{"cuGraphInstantiate", CALL_GRAPH},
	{"cuMemcpyDtoHAsync", CALL_LAUNCH},
	{"cuMemcpyAtoHAsync", CALL_LAUNCH},
	{"cuMemcpyDtoH", CALL_LAUNCH_WAIT},
	{"cuMemcpyAtoH", CALL_LAUNCH_WAIT},
	{"cuMemcpy", CALL_LAUNCH},
	{"cuMemset", CALL_LAUNCH},
	{"cuMemAllocHost", CALL_MEMORY},
	{"cuMemAlloc", CALL_MEMORY},
	{"cuMemFree", CALL_MEMORY},
	{"cuMemHostAlloc", CALL_MEMORY},
	{"cuMemHostRegister", CALL_MEMORY},
	{"cuMemHostUnregister", CALL_MEMORY},
	{"cuMemCreate", CALL_MEMORY},
	{"cuMemRelease", CALL_MEMORY},
	{"cuMemPrefetch", CALL_LAUNCH},
	{"cuMemBatch", CALL_LAUNCH},
	{"cuArrayCreate", CALL_MEMORY},
	{"cuArray3DCreate", CALL_MEMORY},
	{"cuArrayDestroy", CALL_MEMORY},
	{"cuMipmappedArrayCreate", CALL_MEMORY},
	{"cuMipmappedArrayDestroy", CALL_MEMORY},
	{"cuStreamBeginCapture", CALL_CAPTURE},
	{"cuStreamEndCapture", CALL_CAPTURE_END},
	{"cuStreamWaitEvent", CALL_STREAM_WAIT},
	{"cuStreamSynchronize", CALL_WAIT_STREAM},
	{"cuEventSynchronize", CALL_WAIT_EVENT},
	{"cuCtxSynchronize", CALL_WAIT_CONTEXT},
	{"cuModuleLoad", CALL_LOAD},
	{"cuLibraryLoad", CALL_LOAD},
	{"cuLinkComplete", CALL_LOAD},
	{"cuModuleGet", CALL_RESOLVE},
	{"cuLibraryGet", CALL_RESOLVE},
	{"cuKernelGet", CALL_RESOLVE},
	{"cuKernelSet", CALL_RESOLVE},
	{"cuFuncGet", CALL_RESOLVE},
	{"cuFuncSet", CALL_RESOLVE},
	{"cuFuncLoad", CALL_RESOLVE},
	{"cuOccupancy", CALL_RESOLVE},
};

static enum call call_by_name(const char *name)
{
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(name, names[i].begin, strlen(names[i].begin)) == 0)
			return names[i].call;
	return CALL_OTHER;
}

int cuda_calls_enable(void)
{
	int launches = 0;

	for (uint32_t id = 1; id < CALLS_MAX; id++) {
		const char *name = NULL;

		if (cuda.api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) || !name)
			continue;
		call_of[id] = (unsigned char)call_by_name(name);
		if (call_of[id] == CALL_GRAPH && !cuda.whole_graphs)
			call_of[id] = CALL_OTHER;
		if (call_of[id] != CALL_OTHER &&
			!cuda.api.cuptiEnableCallback(1, cuda.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id))
			launches++;
	}
	cuda.api.cuptiEnableCallback(
		1, cuda.subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
	cuda.api.cuptiEnableCallback(
		1, cuda.subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	cuda.api.cuptiEnableCallback(1, cuda.subscriber, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
	return launches ? 0 : CUPTI_ERROR_UNKNOWN;
}

static enum gpu_sync_kind wait_kind(enum call call)
{
	switch (call) {
	case CALL_WAIT_EVENT:
		return GPU_SYNC_EVENT;
	case CALL_WAIT_STREAM:
	case CALL_LAUNCH_WAIT:
		return GPU_SYNC_STREAM;
	case CALL_WAIT_CONTEXT:
		return GPU_SYNC_CONTEXT;
	case CALL_STREAM_WAIT:
		return GPU_SYNC_STREAM_EVENT_WAIT;
	default:
		return GPU_SYNC_UNKNOWN;
	}
}

/* The queue that a call waited for; false: several, or unknown. */
static bool wait_queue(const CUpti_CallbackData *data, enum call call, struct gpu_queue *queue)
{
	const char *end = strrchr(data->functionName, '_');
	uint8_t per_thread = end && (!strcmp(end, "_ptsz") || !strcmp(end, "_ptds"));
	CUstream stream = NULL;

	*queue = (struct gpu_queue){.context = data->contextUid};
	if (!data->context || call == CALL_WAIT_EVENT || call == CALL_WAIT_CONTEXT)
		return false;
	if (call != CALL_LAUNCH_WAIT) /* then the first parameter is the stream */
		memcpy(&stream, data->functionParams, sizeof(stream));
	if (cuda.api.cuptiGetDeviceId(data->context, &queue->device) ||
		cuda.api.cuptiGetStreamIdEx(data->context, stream, per_thread, &queue->queue))
		return false;
	queue->device = gpu_device_number(&gpu_nvidia, queue->device);
	return true;
}

static void loaded(uint64_t correlation, uint64_t begin_ns)
{
	if (current.has_loaded)
		gpu_unqueued(correlation, begin_ns);
	/* With whole graphs CUPTI does not report compiles; most code is precompiled. */
	gpu_call(cuda.tells_compiles || cuda.whole_graphs ? STORE_OP_LOAD : STORE_OP_COMPILE, begin_ns, 0,
		GPU_MEMORY_UNKNOWN, NULL);
}

/* A stand-in for CUPTI may give no result. */
static CUresult result_of(const CUpti_CallbackData *data)
{
	return data->functionReturnValue ? *(const CUresult *)data->functionReturnValue : CUDA_SUCCESS;
}

/* Streams that are being captured: what is launched meanwhile may become a node of a graph, and never runs by
 * itself. An end without a begin (CUPTI came in between) must not count below none. */
static _Atomic unsigned captures;

static void capture_note(enum call call, CUresult result)
{
	unsigned now = atomic_load(&captures);

	if (call == CALL_CAPTURE)
		atomic_fetch_add(&captures, result == CUDA_SUCCESS);
	else if (result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
		 result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
		while (now && !atomic_compare_exchange_weak(&captures, &now, now - 1))
			;
}

/* Results after which the context is of no use: one of its kernels has faulted. */
static const struct {
	CUresult result;
	const char *name;
} faults[] = {
#define FAULT(name)                                    \
	{                                              \
		CUDA_ERROR_##name, "CUDA_ERROR_" #name \
	}
	FAULT(ECC_UNCORRECTABLE),
	FAULT(ILLEGAL_ADDRESS),
	FAULT(LAUNCH_TIMEOUT),
	FAULT(ASSERT),
	FAULT(HARDWARE_STACK_ERROR),
	FAULT(ILLEGAL_INSTRUCTION),
	FAULT(MISALIGNED_ADDRESS),
	FAULT(INVALID_ADDRESS_SPACE),
	FAULT(INVALID_PC),
	FAULT(LAUNCH_FAILED),
#undef FAULT
};

/* The last wait for a whole context that succeeded: kernels launched before it had finished. Of several
 * contexts a wait for one tells nothing about the others. */
static struct {
	_Atomic uint64_t begin_ns;
	_Atomic uint32_t context; /* + 1; 0: none so far, UINT32_MAX: several */
} waited;

static void wait_note(uint32_t context, uint64_t begin_ns)
{
	uint32_t none = 0;

	if (!atomic_compare_exchange_strong(&waited.context, &none, context + 1) && none != context + 1)
		atomic_store(&waited.context, UINT32_MAX);
	else if (begin_ns > atomic_load(&waited.begin_ns))
		atomic_store(&waited.begin_ns, begin_ns);
}

static void fault_look(CUresult result)
{
	for (unsigned i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (faults[i].result == result)
			gpu_fault(faults[i].name, atomic_load(&waited.context) == UINT32_MAX
							  ? 0
							  : atomic_load(&waited.begin_ns));
}

static bool is_wait(enum call call)
{
	return call == CALL_LAUNCH_WAIT || call == CALL_WAIT_EVENT || call == CALL_WAIT_STREAM ||
	       call == CALL_WAIT_CONTEXT || call == CALL_STREAM_WAIT;
}

static bool is_launch(enum call call)
{
	return call == CALL_LAUNCH || call == CALL_KERNEL || call == CALL_LAUNCH_WAIT;
}

static bool may_load(enum call call)
{
	return call == CALL_LOAD || call == CALL_RESOLVE;
}

static void call_returned(const CUpti_CallbackData *data, enum call call, uint64_t begin_ns)
{
	CUresult result = result_of(data);
	struct gpu_queue queue;

	/* Readers only check for changes, so a lost increment of two threads is harmless. */
	atomic_store_explicit(&cuda.calls, atomic_load_explicit(&cuda.calls, memory_order_relaxed) + 1,
		memory_order_relaxed);
	if (call == CALL_CAPTURE || call == CALL_CAPTURE_END)
		capture_note(call, result);
	else if (call == CALL_MEMORY ||
		 (is_launch(call) && (result != CUDA_SUCCESS || atomic_load(&captures))))
		gpu_unqueued(data->correlationId, begin_ns);
	else if (call == CALL_KERNEL)
		gpu_kernel_launched(data->correlationId, begin_ns);
	else if (is_launch(call))
		gpu_launched(data->correlationId, begin_ns);
	else if (may_load(call) && (current.has_loaded || call == CALL_LOAD))
		loaded(data->correlationId, begin_ns);
	load_end();
	if (result != CUDA_SUCCESS)
		fault_look(result);
	else if (call == CALL_WAIT_CONTEXT)
		wait_note(data->contextUid, begin_ns);
	if (is_wait(call))
		gpu_sync_end(begin_ns, wait_kind(call), wait_queue(data, call, &queue) ? &queue : NULL);
}

static void driver_called(CUpti_CallbackId id, const CUpti_CallbackData *data)
{
	enum call call = id < CALLS_MAX ? (enum call)call_of[id] : CALL_OTHER;

	if (call == CALL_GRAPH) {
		if (data->callbackSite == CUPTI_API_ENTER)
			cuda_graphs_look();
	} else if (data->callbackSite == CUPTI_API_ENTER) {
		load_end(); /* left by a call that has no exit callback */
		current.begin_ns = *data->correlationData = gpu_now_ns();
		current.correlation = data->correlationId;
		current.has_loaded = false;
		if (call == CALL_LAUNCH || call == CALL_KERNEL || call == CALL_MEMORY) {
			cuda_pc_launch(data->context, data->contextUid);
			cuda_util_launch(data->context, data->contextUid);
		}
		if (may_load(call))
			load_note();
	} else if (call != CALL_OTHER && *data->correlationData) {
		call_returned(data, call, *data->correlationData);
	}
}

static void module_loaded(const CUpti_ResourceData *data)
{
	const CUpti_ModuleResourceData *module = data->resourceDescriptor;

	if (!current.is_noted && current.begin_ns)
		load_note();
	if (current.is_noted) {
		atomic_store(&loads[current.load - 1].has_loaded, true);
		current.has_loaded = true;
	}
	if (module && module->pCubin && module->cubinSize)
		cuda_pc_module(
			module->pCubin, module->cubinSize, gpu_module(module->pCubin, module->cubinSize));
}

void CUPTIAPI cuda_called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)user;
	if (atomic_load_explicit(&cuda.state, memory_order_relaxed) > CUDA_ON)
		return;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		driver_called(id, data);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
		module_loaded(data);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		gpu_used(gpu_now_ns());
	else if (domain == CUPTI_CB_DOMAIN_STATE)
		gpu_unmonitored("CUPTI stopped after an internal error");
}
