/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_pc.c - see gpu_cuda_pc.h. All calls to CUPTI's sampling are made with one lock held. Its figures
 * on Hopper: worker's span 100 ms (shorter ones delay launches), period 2^16 at first; the configured buffer
 * must be read after Disable, since it may hold most of the samples.
 */
#include "record/agent/gpu/cuda/gpu_cuda_pc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cupti_pcsampling.h>

#include "record/agent/base/lock.h"
#include "record/agent/base/real.h"
#include "record/agent/gpu/cuda/gpu_cuda.h"
#include "record/agent/process/environment.h"
#include "record/agent/process/process.h"

#define CONTEXTS 16u  /* sampled in a process: one a device */
#define DEVICES 32u   /* whose facts are kept */
#define SEEN 64u      /* contexts that launched */
#define MODULES 4096u /* a power of two */
#define PCS 20000u    /* in one read-out */
#define REASONS 64u
#define SPAN_MS 100u
#define READS_MAX 64u
#define NAME_BYTES 96u
#define WORD "cuda-pc="
#define PREFIX "smsp__pcsamp_warps_issue_stalled_"
#define TWIN "_not_issued"

#define PC_FUNCTIONS(X)                             \
	X(cuptiPCSamplingEnable)                    \
	X(cuptiPCSamplingDisable)                   \
	X(cuptiPCSamplingGetData)                   \
	X(cuptiPCSamplingSetConfigurationAttribute) \
	X(cuptiPCSamplingGetNumStallReasons)        \
	X(cuptiPCSamplingGetStallReasons)           \
	X(cuptiGetCubinCrc)

struct pc_context {
	CUcontext context;
	uint32_t device, number; /* as the run has them; device of CUPTI */
	uint32_t own_device;
	bool is_on, has_device; /* the device's facts are published */
	CUpti_PCSamplingData configured, read;
	size_t reason_count;
	uint32_t reasons[REASONS]; /* CUPTI's index of each */
	/* The metric of a reason; twins: place of its not-issued part + 1, 0: none, or it is a twin itself */
	char metrics[REASONS][NAME_BYTES];
	uint32_t twins[REASONS];
	bool is_twin[REASONS], is_ignored[REASONS];
};

static struct {
	struct lock lock;
	unsigned period; /* the exponent; 0: not asked for */
	bool has_ended;
	struct pc_context *contexts;
	unsigned count;
	_Atomic uint32_t seen[SEEN]; /* numbers of contexts + 1 */
	struct {
		_Atomic uint64_t crc, hash;
	} modules[MODULES];
	_Atomic uint64_t devices[DEVICES]; /* by CUPTI's number: multiprocessors << 32 | clock in kHz */
#define PC_FIELD(name) __typeof__(&name) name;
	PC_FUNCTIONS(PC_FIELD)
#undef PC_FIELD
} pc;

/* ---- names ---- */

static const struct {
	const char *vendor, *stall;
} stalls[] = {{"selected", "NONE"}, {"no_instructions", "IFET"}, {"branch_resolving", "IFET"},
	{"wait", "IDEP"}, {"short_scoreboard", "IDEP"}, {"warpgroup_arrive", "IDEP"}, {"gmma", "IDEP"},
	{"long_scoreboard", "GMEM"}, {"tex_throttle", "TMEM"}, {"barrier", "SYNC"}, {"membar", "SYNC"},
	{"imc_miss", "CMEM"}, {"math_pipe_throttle", "PIPE"}, {"dispatch_stall", "PIPE"},
	{"lg_throttle", "MTHR"}, {"mio_throttle", "MTHR"}, {"drain", "MTHR"}, {"not_selected", "NSEL"},
	{"sleeping", "SLP"}};

static const char *stall_of(const char *vendor, size_t size)
{
	for (size_t i = 0; i < sizeof(stalls) / sizeof(*stalls); i++)
		if (strlen(stalls[i].vendor) == size && !memcmp(stalls[i].vendor, vendor, size))
			return stalls[i].stall;
	return "OTH";
}

static void append(char *text, const char *more, size_t size)
{
	size_t used = strlen(text);

	if (used + size + 1 > NAME_BYTES)
		return;
	memcpy(text + used, more, size);
	text[used + size] = '\0';
}

static size_t without_twin(const char *name)
{
	size_t size = strlen(name), twin = strlen(TWIN);

	return size > twin && !strcmp(name + size - twin, TWIN) ? size - twin : size;
}

/* "smsp__pcsamp_warps_issue_stalled_wait_not_issued": GINST:STL_IDEP/wait/not_issued */
static void reason_name(struct pc_context *at, unsigned i, const char *name)
{
	const char *vendor = strncmp(name, PREFIX, strlen(PREFIX)) ? name : name + strlen(PREFIX);
	size_t size = without_twin(vendor);

	at->is_ignored[i] = vendor == name; /* counts of all samples, and of dropped ones */
	at->is_twin[i] = size < strlen(vendor);
	at->metrics[i][0] = '\0';
	append(at->metrics[i], "GINST:STL_", 10);
	append(at->metrics[i], stall_of(vendor, size), strlen(stall_of(vendor, size)));
	append(at->metrics[i], "/", 1);
	append(at->metrics[i], vendor, size);
	if (at->is_twin[i])
		append(at->metrics[i], "/not_issued", 11);
}

static void twins_find(struct pc_context *at)
{
	for (unsigned i = 0; i < at->reason_count; i++)
		for (unsigned j = 0; j < at->reason_count && !at->is_twin[i]; j++)
			if (at->is_twin[j] &&
				!strncmp(at->metrics[i], at->metrics[j], strlen(at->metrics[i])) &&
				!strcmp(at->metrics[j] + strlen(at->metrics[i]), "/not_issued"))
				at->twins[i] = j + 1;
}

static int reasons_find(struct pc_context *at)
{
	static char text[REASONS][CUPTI_STALL_REASON_STRING_SIZE];
	char *names[REASONS];
	CUpti_PCSamplingGetNumStallReasonsParams number = {
		.size = CUpti_PCSamplingGetNumStallReasonsParamsSize,
		.ctx = at->context,
		.numStallReasons = &at->reason_count};
	CUpti_PCSamplingGetStallReasonsParams said = {.size = CUpti_PCSamplingGetStallReasonsParamsSize,
		.ctx = at->context,
		.stallReasonIndex = at->reasons,
		.stallReasons = names};
	int result = (int)pc.cuptiPCSamplingGetNumStallReasons(&number);

	for (unsigned i = 0; i < REASONS; i++)
		names[i] = text[i];
	if (result || at->reason_count > REASONS)
		return result ? result : CUPTI_ERROR_UNKNOWN;
	said.numStallReasons = at->reason_count;
	result = (int)pc.cuptiPCSamplingGetStallReasons(&said);
	for (unsigned i = 0; i < at->reason_count && !result; i++)
		reason_name(at, i, names[i]);
	twins_find(at);
	return result;
}

/* ---- enabling ---- */

static void *room(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool buffer_make(CUpti_PCSamplingData *data, size_t reasons)
{
	CUpti_PCSamplingStallReason *list = room(PCS * reasons * sizeof(*list));

	*data = (CUpti_PCSamplingData){.size = sizeof(*data), .collectNumPcs = PCS};
	data->pPcData = room(PCS * sizeof(*data->pPcData));
	for (size_t i = 0; list && data->pPcData && i < PCS; i++) {
		data->pPcData[i].size = sizeof(*data->pPcData);
		data->pPcData[i].stallReason = list + i * reasons;
		data->pPcData[i].stallReasonCount = reasons;
	}
	return list && data->pPcData;
}

static int configure(struct pc_context *at)
{
	CUpti_PCSamplingConfigurationInfo info[5];
	CUpti_PCSamplingConfigurationInfoParams said = {.size = CUpti_PCSamplingConfigurationInfoParamsSize,
		.ctx = at->context,
		.numAttributes = 5,
		.pPCSamplingConfigurationInfo = info};

	memset(info, 0, sizeof(info));
	info[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
	info[0].attributeData.collectionModeData.collectionMode =
		CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
	info[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
	info[1].attributeData.samplingPeriodData.samplingPeriod = pc.period;
	info[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON;
	info[2].attributeData.stallReasonData.stallReasonCount = at->reason_count;
	info[2].attributeData.stallReasonData.pStallReasonIndex = at->reasons;
	info[3].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
	info[3].attributeData.samplingDataBufferData.samplingDataBuffer = &at->configured;
	info[4].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN;
	info[4].attributeData.workerThreadPeriodicSleepSpanData.workerThreadPeriodicSleepSpan = SPAN_MS;
	return (int)pc.cuptiPCSamplingSetConfigurationAttribute(&said);
}

static const char *refusal(int result)
{
	switch (result) {
	case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
	case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
		return "no permission: set NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia";
	case CUPTI_ERROR_HARDWARE_BUSY:
	case CUPTI_ERROR_UNKNOWN:
		return "another process samples this GPU";
	case CUPTI_ERROR_NOT_SUPPORTED:
	case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
	case CUPTI_ERROR_INVALID_DEVICE:
		return "CUPTI cannot sample instructions of this GPU";
	case CUPTI_ERROR_OUT_OF_MEMORY:
		return "no memory for samples";
	default:
		return "CUPTI refused to sample instructions";
	}
}

/* Again, once the device is known. */
static void facts_publish(struct pc_context *at)
{
	struct gpu_queue queue = {at->device, at->number, EVENT_GPU_PC};
	uint64_t device = at->own_device < DEVICES ? atomic_load(&pc.devices[at->own_device]) : 0;
	char text[128] = "period=";

	environment_decimal(text + strlen(text), 1u << pc.period);
	if (device) {
		strcat(text, ",multiprocessors=");
		environment_decimal(text + strlen(text), device >> 32);
		strcat(text, ",clock_khz=");
		environment_decimal(text + strlen(text), device & UINT32_MAX);
	}
	at->has_device = device != 0;
	gpu_queue_publish(&queue, NULL, text);
}

void cuda_pc_device(uint32_t own_device, uint32_t multiprocessors, uint32_t clock_khz)
{
	if (pc.period && own_device < DEVICES)
		atomic_store(&pc.devices[own_device], (uint64_t)multiprocessors << 32 | clock_khz);
}

/* The lock is held. */
static void context_enable(CUcontext context, uint32_t number)
{
	struct pc_context *at = &pc.contexts[pc.count];
	CUpti_PCSamplingEnableParams enable = {.size = CUpti_PCSamplingEnableParamsSize, .ctx = context};
	int result;

	*at = (struct pc_context){.context = context, .number = number};
	if (cuda.api.cuptiGetDeviceId(context, &at->own_device))
		return;
	at->device = gpu_device_number(&gpu_nvidia, at->own_device);
	for (unsigned i = 0; i < pc.count; i++)
		if (pc.contexts[i].own_device == at->own_device) {
			gpu_unsampled(at->device, number, "another context of the GPU is sampled", 0, true);
			return;
		}
	result = (int)pc.cuptiPCSamplingEnable(&enable);
	if (!result)
		result = reasons_find(at);
	if (!result &&
		!(buffer_make(&at->configured, at->reason_count) && buffer_make(&at->read, at->reason_count)))
		result = CUPTI_ERROR_OUT_OF_MEMORY;
	if (!result)
		result = configure(at);
	at->is_on = !result;
	pc.count++;
	facts_publish(at);
	if (result)
		gpu_unsampled(at->device, number, refusal(result), 0, true);
}

void cuda_pc_launch(CUcontext context, uint32_t number)
{
	_Atomic uint32_t *seen = &pc.seen[number % SEEN];

	if (!pc.period || !context || atomic_load_explicit(seen, memory_order_relaxed) == number + 1)
		return;
	lock_take(&pc.lock);
	if (atomic_load(seen) != number + 1) {
		bool is_known = false;

		for (unsigned i = 0; i < pc.count; i++)
			is_known |= pc.contexts[i].number == number;
		if (!is_known && pc.count < CONTEXTS && !pc.has_ended)
			context_enable(context, number);
		atomic_store(seen, number + 1);
	}
	lock_give(&pc.lock);
}

/* ---- binaries ---- */

void cuda_pc_module(const void *image, size_t bytes, uint64_t hash)
{
	CUpti_GetCubinCrcParams said = {
		.size = CUpti_GetCubinCrcParamsSize, .cubinSize = bytes, .cubin = image};

	if (!pc.period || pc.cuptiGetCubinCrc(&said))
		return;
	for (unsigned i = 0; i < MODULES; i++) {
		unsigned at = (unsigned)(said.cubinCrc + i) & (MODULES - 1);
		uint64_t none = 0;

		if (atomic_load(&pc.modules[at].crc) == said.cubinCrc)
			return;
		if (atomic_compare_exchange_strong(&pc.modules[at].crc, &none, said.cubinCrc)) {
			atomic_store(&pc.modules[at].hash, hash);
			return;
		}
	}
}

static uint64_t module_of(uint64_t crc)
{
	for (unsigned i = 0; i < MODULES; i++) {
		unsigned at = (unsigned)(crc + i) & (MODULES - 1);
		uint64_t known = atomic_load(&pc.modules[at].crc);

		if (known == crc || !known)
			return known ? atomic_load(&pc.modules[at].hash) : 0;
	}
	return 0;
}

/* ---- reading ---- */

static int reason_place(const struct pc_context *at, uint32_t reason)
{
	for (unsigned i = 0; i < at->reason_count; i++)
		if (at->reasons[i] == reason)
			return (int)i;
	return -1;
}

/* A reason's samples hold those of its twin: each becomes a record of its own. */
static void instruction_put(const struct pc_context *at, const CUpti_PCSamplingPCData *data, uint64_t time_ns)
{
	uint32_t samples[REASONS] = {0};
	struct gpu_sample sample = {.device = at->device,
		.context = at->number,
		.time_ns = time_ns,
		.module = module_of(data->cubinCrc),
		.function = data->functionName,
		.symbol = data->functionIndex,
		.offset = (uint32_t)data->pcOffset};

	for (size_t i = 0; i < data->stallReasonCount; i++) {
		int place = reason_place(at, data->stallReason[i].pcSamplingStallReasonIndex);

		if (place >= 0)
			samples[place] += data->stallReason[i].samples;
	}
	for (unsigned i = 0; i < at->reason_count; i++) {
		uint32_t twin = at->twins[i] ? samples[at->twins[i] - 1] : 0;

		if (at->is_ignored[i] || at->is_twin[i] || samples[i] <= twin)
			continue;
		sample.metric = at->metrics[i];
		sample.weight = (uint64_t)(samples[i] - twin) << pc.period;
		gpu_sample(&sample);
	}
	for (unsigned i = 0; i < at->reason_count; i++) {
		if (!at->is_twin[i] || at->is_ignored[i] || !samples[i])
			continue;
		sample.metric = at->metrics[i];
		sample.weight = (uint64_t)samples[i] << pc.period;
		gpu_sample(&sample);
	}
}

static void data_put(const struct pc_context *at, const CUpti_PCSamplingData *data, int result)
{
	uint64_t now_ns = process_now_ns();

	for (size_t i = 0; i < data->totalNumPcs && i < PCS; i++)
		instruction_put(at, &data->pPcData[i], now_ns);
	if (data->droppedSamples)
		gpu_unsampled(at->device, at->number, "the GPU dropped samples: take a longer period",
			data->droppedSamples, false);
	if (data->hardwareBufferFull || result == CUPTI_ERROR_OUT_OF_MEMORY)
		gpu_unsampled(at->device, at->number,
			"the GPU's buffer of samples was full: take a longer period", 0, false);
}

static void context_read(struct pc_context *at)
{
	CUpti_PCSamplingGetDataParams get = {
		.size = CUpti_PCSamplingGetDataParamsSize, .ctx = at->context, .pcSamplingData = &at->read};

	for (unsigned i = 0; i < READS_MAX && at->is_on; i++) {
		int result;

		at->read.totalNumPcs = at->read.remainingNumPcs = 0;
		at->read.totalSamples = at->read.droppedSamples = 0;
		at->read.hardwareBufferFull = 0;
		result = (int)pc.cuptiPCSamplingGetData(&get);
		data_put(at, &at->read, result);
		if (result && result != CUPTI_ERROR_OUT_OF_MEMORY) {
			gpu_unsampled(at->device, at->number, refusal(result), 0, true);
			at->is_on = false;
		}
		if (result || !at->read.remainingNumPcs)
			break;
	}
}

static void context_end(struct pc_context *at)
{
	CUpti_PCSamplingDisableParams disable = {
		.size = CUpti_PCSamplingDisableParamsSize, .ctx = at->context};

	if (!at->is_on)
		return;
	at->is_on = false;
	data_put(at, &at->configured, (int)pc.cuptiPCSamplingDisable(&disable));
}

void cuda_pc_read(bool is_end)
{
	if (!pc.period)
		return;
	lock_take(&pc.lock);
	pc.has_ended |= is_end;
	for (unsigned i = 0; i < pc.count; i++) {
		context_read(&pc.contexts[i]);
		if (!pc.contexts[i].has_device && pc.contexts[i].own_device < DEVICES &&
			atomic_load(&pc.devices[pc.contexts[i].own_device]))
			facts_publish(&pc.contexts[i]);
		if (is_end)
			context_end(&pc.contexts[i]);
	}
	lock_give(&pc.lock);
}

bool cuda_pc_is_on(void)
{
	return pc.period != 0;
}

/* ---- opening ---- */

void cuda_pc_open(void)
{
	const char *word = strstr(process.settings.events, WORD);
	void *symbol_address = real_symbol("dlsym"), *address;
	void *(*symbol)(void *, const char *);
	unsigned period = 0;

	for (const char *at = word ? word + strlen(WORD) : ""; *at >= '0' && *at <= '9' && period < 100; at++)
		period = period * 10 + (unsigned)(*at - '0');
	if (!period || period > 31 || !symbol_address)
		return;
	memcpy(&symbol, &symbol_address, sizeof(symbol));
#define PC_FIND(name)                                \
	address = symbol(cuda.api.handle, #name);    \
	memcpy(&pc.name, &address, sizeof(address)); \
	if (!address)                                \
		period = 0;
	PC_FUNCTIONS(PC_FIND)
#undef PC_FIND
	pc.contexts = period ? room(CONTEXTS * sizeof(*pc.contexts)) : NULL;
	pc.period = pc.contexts ? period : 0;
}
