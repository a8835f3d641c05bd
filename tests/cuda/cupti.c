/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.c - a CUPTI without a GPU, for e2e.gpu.cuda: what hpct asks of the real one, which needs a driver. It
 * calls the tool at driver calls and hands over records of kernels, 1 us long, in CUPTI's own layout. Words
 * of FAKE_CUPTI make it one of those that hpct has to live with:
 *
 *   version=N    another version
 *   subscribe=N  activity=N  getversion=N   that result of these functions
 *   models       two devices of different models take turns
 *   zero=N       every N-th record without times;  inverted=N: with them exchanged
 *   backwards    the last record first;  nameless: no kernel names
 *   strange      devices, contexts and streams out of any range
 *   dropped=N    it says that it dropped so many
 *   hot          each launch brings a buffer of 400 records more, and the last one's room is told on stderr
 *   alloc        each launch allocates 4096 bytes, too
 *   ptx          each call that loads code compiles it;  untimed: nobody knows when;  older: nor that it did
 *   static       a binary's own memory is told ahead of it, while it is loaded
 *   keeps        it hands over nothing until it is forced to;  stuck: nor then, but waits for ever
 *   never=N      of every N-th launch no record comes
 *   pcsymbol=N   samples of instructions are of the function with that symbol; without it there are none
 *   pcenable=N  pcget=N   that result of these functions;  pcdropped=N: samples dropped in each read-out
 *   pcfull       the GPU's buffer of samples was full
 *   util...      counters over time: cupti_util.c
 *   illegal=N    launch N faults: no record has times any more, and each wait fails; mute: that launch has no
 * record module=PATH  the file is loaded as a GPU binary by the first call (the last word)
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cupti.h>
#include <cupti_pcsampling.h>

#include "tests/cuda/fake.h"

#define RECORDS_MAX 4096
#define API __attribute__((visibility("default")))

static CUpti_CallbackFunc called;
static void *user;
static CUpti_BuffersCallbackRequestFunc wanted;
static CUpti_BuffersCallbackCompleteFunc full;
static CUpti_TimestampCallbackFunc now;
static CUpti_ActivityKernel8 records[RECORDS_MAX];
static uint32_t count, told, correlations;
static int devices_told;
static bool tells_compiles;

/* The calls that there are; a number is a place in here. */
static const char *const names[] = {"", "cuLaunchKernel", "cuCtxSynchronize", "cuMemAlloc_v2",
	"cuModuleLoadData", "cuGraphInstantiateWithFlags", "cuMemFree_v2", "cuStreamSynchronize"};

API CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	*version = (uint32_t)word("version", CUPTI_API_VERSION);
	return (CUptiResult)word("getversion", 0);
}

API CUptiResult CUPTIAPI cuptiSubscribe(
	CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata)
{
	CUptiResult result = (CUptiResult)word("subscribe", 0);

	*subscriber = (CUpti_SubscriberHandle)&called;
	if (!result) {
		called = callback;
		user = userdata;
	}
	return result;
}

API CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
	(void)subscriber;
	called = NULL;
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiEnableCallback(
	uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	(void)enable, (void)subscriber, (void)domain, (void)id;
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
	(void)domain;
	*name = id < sizeof(names) / sizeof(*names) ? names[id] : NULL;
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

API CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *device)
{
	(void)context;
	*device = 0;
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiGetStreamIdEx(
	CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
	(void)context, (void)per_thread;
	*id = stream ? *(const volatile uint32_t *)(const void *)stream : 7; /* reads what it is given */
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
		fprintf(stderr, "whole graphs\n");
	if (kind == CUPTI_ACTIVITY_KIND_JIT && word("older", 0))
		return CUPTI_ERROR_INVALID_KIND;
	tells_compiles |= kind == CUPTI_ACTIVITY_KIND_JIT;
	return (CUptiResult)word("activity", 0);
}

API CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
		fprintf(stderr, "no more whole graphs\n");
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(
	CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
{
	wanted = request;
	full = complete;
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp)
{
	now = timestamp;
	return CUPTI_SUCCESS;
}

/* A buffer holds records of one size. */
static size_t record_bytes(const CUpti_Activity *record)
{
	return record->kind == CUPTI_ACTIVITY_KIND_DEVICE    ? sizeof(CUpti_ActivityDevice4)
	       : record->kind == CUPTI_ACTIVITY_KIND_MEMORY2 ? sizeof(CUpti_ActivityMemory3)
	       : record->kind == CUPTI_ACTIVITY_KIND_JIT     ? sizeof(CUpti_ActivityJit)
							     : sizeof(CUpti_ActivityKernel8);
}

API CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + record_bytes(*record) : buffer;

	if (next >= buffer + bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(
	CUcontext context, uint32_t stream, size_t *dropped)
{
	static long said;

	(void)context, (void)stream;
	*dropped = (size_t)(word("dropped", 0) - said);
	said += (long)*dropped;
	return CUPTI_SUCCESS;
}

static size_t room;

static void hand_over(const void *list, size_t bytes)
{
	size_t most = 0;
	uint8_t *buffer = NULL;

	wanted(&buffer, &room, &most);
	if (!buffer || room < bytes)
		return;
	memcpy(buffer, list, bytes);
	full(NULL, 0, buffer, room, bytes);
}

static void devices_tell(void)
{
	CUpti_ActivityDevice4 devices[2] = {{.kind = CUPTI_ACTIVITY_KIND_DEVICE,
						    .id = 0,
						    .name = "Model One",
						    .numMultiprocessors = 4,
						    .coreClockRate = 1000000,
						    .maxBlocksPerMultiprocessor = 32,
						    .maxRegistersPerMultiprocessor = 65536,
						    .maxSharedMemoryPerMultiprocessor = 65536,
						    .maxWarpsPerMultiprocessor = 64},
		{.kind = CUPTI_ACTIVITY_KIND_DEVICE,
			.id = 1,
			.name = "Model Two",
			.maxBlocksPerMultiprocessor = 16,
			.maxRegistersPerMultiprocessor = 65536,
			.maxSharedMemoryPerMultiprocessor = 65536,
			.maxWarpsPerMultiprocessor = 32}};

	memset(&devices[0].uuid, 1, sizeof(devices[0].uuid));
	memset(&devices[1].uuid, 2, sizeof(devices[1].uuid));
	hand_over(devices, word("models", 0) ? sizeof(devices) : sizeof(*devices));
}

/* A moment, as CUPTI has it. */
static void memory_tell(const CUpti_ActivityKernel8 *kernels, uint32_t n)
{
	static CUpti_ActivityMemory3 list[RECORDS_MAX];

	for (uint32_t i = 0; i < n; i++)
		list[i] = (CUpti_ActivityMemory3){.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
			.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
			.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
			.correlationId = kernels[i].correlationId,
			.timestamp = kernels[i].start,
			.bytes = 4096,
			.contextId = 1};
	if (n)
		hand_over(list, n * sizeof(*list));
}

API CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	static CUpti_ActivityKernel8 list[RECORDS_MAX];
	uint32_t end = __atomic_load_n(&count, __ATOMIC_ACQUIRE), n = 0;

	if (word("stuck", 0))
		pause();
	if (word("keeps", 0) && !(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED))
		return CUPTI_SUCCESS;
	if (!__atomic_exchange_n(&devices_told, 1, __ATOMIC_RELAXED))
		devices_tell();
	for (uint32_t i = told; i < end; i++)
		list[n++] = records[word("backwards", 0) ? told + end - 1 - i : i];
	told = end;
	if (word("alloc", 0))
		memory_tell(list, n);
	if (n)
		hand_over(list, n * sizeof(*list));
	return CUPTI_SUCCESS;
}

/* ---- samples of instructions ---- */

#define CRC 77u

static const char *const reasons[] = {"smsp__pcsamp_sample_count",
	"smsp__pcsamp_warps_issue_stalled_selected", "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
	"smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued"};
static CUpti_PCSamplingData *configured;
static uint32_t launched, sampled;

API CUptiResult CUPTIAPI cuptiGetCubinCrc(CUpti_GetCubinCrcParams *said)
{
	said->cubinCrc = CRC;
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *said)
{
	(void)said;
	fprintf(stderr, "samples of instructions\n");
	return (CUptiResult)word("pcenable", 0);
}

API CUptiResult CUPTIAPI cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *said)
{
	*said->numStallReasons = sizeof(reasons) / sizeof(*reasons);
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *said)
{
	for (uint32_t i = 0; i < said->numStallReasons; i++) {
		said->stallReasonIndex[i] = 10 + i;
		strcpy(said->stallReasons[i], reasons[i]);
	}
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiPCSamplingSetConfigurationAttribute(
	CUpti_PCSamplingConfigurationInfoParams *said)
{
	for (size_t i = 0; i < said->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *info = &said->pPCSamplingConfigurationInfo[i];

		if (info->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
			fprintf(stderr, "period 2^%u\n",
				info->attributeData.samplingPeriodData.samplingPeriod);
		if (info->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
			configured = info->attributeData.samplingDataBufferData.samplingDataBuffer;
	}
	return CUPTI_SUCCESS;
}

/* Of each launch since the last time: an instruction that issued once, and one that waited five times. */
static void pcs_put(CUpti_PCSamplingData *data, uint32_t launches)
{
	for (unsigned i = 0; i < 2 && launches; i++) {
		CUpti_PCSamplingPCData *at = &data->pPcData[data->totalNumPcs++];

		at->cubinCrc = CRC;
		at->pcOffset = 16 * i;
		at->functionIndex = (uint32_t)word("pcsymbol", 0);
		at->functionName = (char *)(uintptr_t) "axpy";
		at->stallReasonCount = i ? 3 : 2;
		at->stallReason[0] = (CUpti_PCSamplingStallReason){10, i ? 5 * launches : launches};
		at->stallReason[1] = (CUpti_PCSamplingStallReason){11 + i, i ? 5 * launches : launches};
		at->stallReason[2] = (CUpti_PCSamplingStallReason){13, 2 * launches};
	}
	data->droppedSamples = launches ? (uint64_t)word("pcdropped", 0) : 0;
	data->hardwareBufferFull = launches && word("pcfull", 0);
}

API CUptiResult CUPTIAPI cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *said)
{
	uint32_t now_launched = __atomic_load_n(&launched, __ATOMIC_ACQUIRE);

	if (word("pcget", 0))
		return (CUptiResult)word("pcget", 0);
	/* The last one is kept back. */
	if (now_launched > sampled + 1) {
		pcs_put(said->pcSamplingData, now_launched - sampled - 1);
		sampled = now_launched - 1;
	}
	return CUPTI_SUCCESS;
}

API CUptiResult CUPTIAPI cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *said)
{
	(void)said;
	pcs_put(configured, __atomic_load_n(&launched, __ATOMIC_ACQUIRE) - sampled);
	fprintf(stderr, "no more samples of instructions\n");
	return CUPTI_SUCCESS;
}

/* ---- the driver's side ---- */

static void static_memory_tell(void)
{
	CUpti_ActivityMemory3 record = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
		.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC,
		.timestamp = now(),
		.bytes = 512,
		.contextId = 1};

	hand_over(&record, sizeof(record));
}

/* Inside the driver call that needs it. */
static void module_load(CUpti_CallbackFunc tool)
{
	static char image[1 << 16];
	const char *text = getenv("FAKE_CUPTI"), *path = text ? strstr(text, "module=") : NULL;
	CUpti_ModuleResourceData module = {.moduleId = 1, .pCubin = image};
	CUpti_ResourceData data = {.resourceDescriptor = &module};
	FILE *file = path ? fopen(path + strlen("module="), "rb") : NULL;

	if (!file)
		return;
	module.cubinSize = fread(image, 1, sizeof(image), file);
	fclose(file);
	if (word("static", 0))
		static_memory_tell();
	tool(user, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
}

/* What a call compiled, kept in the driver's cache then. */
static void compile_tell(uint32_t correlation, uint64_t begin_ns)
{
	CUpti_ActivityJit list[2] = {{.kind = CUPTI_ACTIVITY_KIND_JIT,
		.jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN,
		.jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE,
		.start = word("untimed", 0) ? 0 : begin_ns,
		.correlationId = correlation}};

	list[0].end = list[0].start ? now() : 0;
	list[1] = list[0];
	list[1].jitOperationType = CUPTI_ACTIVITY_JIT_OPERATION_CACHE_STORE;
	hand_over(list, sizeof(list));
}

static bool is_nth(const char *key, uint32_t correlation)
{
	long n = word(key, 0);

	return n > 0 && correlation % (uint32_t)n == 0;
}

static void record_put(const char *kernel, uint32_t correlation)
{
	CUpti_ActivityKernel8 *record = &records[count];
	uint64_t now_ns = now();

	if (count == RECORDS_MAX)
		return;
	*record = (CUpti_ActivityKernel8){.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.start = now_ns,
		.end = now_ns + 1000,
		.correlationId = correlation,
		.name = word("nameless", 0) ? NULL : kernel,
		.deviceId = word("models", 0) ? correlation % 2 : 0,
		.contextId = 1,
		.streamId = 7,
		.gridX = 4,
		.gridY = 1,
		.gridZ = 1,
		.blockX = 128,
		.blockY = 1,
		.blockZ = 1,
		.registersPerThread = 32};
	if (word("strange", 0))
		record->deviceId = record->contextId = record->streamId = UINT32_MAX - correlation % 2;
	if (is_nth("zero", correlation) || word("illegal", 0))
		record->start = record->end = 0;
	if (is_nth("inverted", correlation))
		record->start += 5000;
	__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
}

/* As when a buffer is full: more than a queue that is merely used has. */
static void hot(const CUpti_ActivityKernel8 *record)
{
	static CUpti_ActivityKernel8 list[400];

	for (unsigned i = 0; i < 400; i++)
		list[i] = *record;
	hand_over(list, sizeof(list));
	fprintf(stderr, "room %zu\n", room);
}

/* As the driver's functions have them: of those that have no stream the first word is something else. */
static const void *parameters_of(const char *name)
{
	static const uint32_t stream = 7;
	static const void *with_stream[] = {&stream}, *without[] = {(const void *)(uintptr_t)4096};

	return !strcmp(name, "cuStreamSynchronize") ? with_stream : without;
}

API fake_cupti_call fake_call;
API void fake_call(const char *name, const char *kernel)
{
	CUpti_CallbackData data = {.functionName = name,
		.functionParams = parameters_of(name),
		.context = (CUcontext)&called,
		.correlationId = ++correlations};
	CUpti_CallbackFunc tool = called;
	CUpti_CallbackId id = 1;
	CUresult result = CUDA_SUCCESS;
	uint64_t own = 0, begin_ns = called ? now() : 0;

	while (id < sizeof(names) / sizeof(*names) && strcmp(names[id], name))
		id++;
	if (word("pcsymbol", 0) || word("util", 0))
		data.contextUid = 1;
	data.correlationData = &own;
	data.callbackSite = CUPTI_API_ENTER;
	if (tool)
		tool(user, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
	if (tool && correlations == 1)
		module_load(tool);
	if (tool && tells_compiles && word("ptx", 0) && !strcmp(name, "cuModuleLoadData"))
		compile_tell(data.correlationId, begin_ns);
	if (tool && kernel && !is_nth("never", data.correlationId) &&
		!(word("mute", 0) && data.correlationId == (uint32_t)word("illegal", 0)))
		record_put(kernel, data.correlationId);
	if (tool && kernel)
		__atomic_fetch_add(&launched, 1, __ATOMIC_RELEASE);
	if (tool && kernel && word("hot", 0))
		hot(&records[count - 1]);
	if (kernel == NULL && word("illegal", 0) && correlations >= (uint32_t)word("illegal", 0))
		result = CUDA_ERROR_ILLEGAL_ADDRESS;
	data.functionReturnValue = &result;
	data.callbackSite = CUPTI_API_EXIT;
	if (tool)
		tool(user, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}
