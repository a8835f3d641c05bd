/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_util.c - see gpu_cuda_util.h. All calls to CUPTI's PM sampling are made by the flusher, which
 * needs no context. Its figures on an H200 (CUDA 13.0): starting takes 0.4 s, most of it once a process; a
 * sample 0.1 ms of CPU time, each reading 1 to 3 ms. An image that is full swallows what does not fit,
 * without a word. Sampling is stopped at the end, but not disabled: after Stop, Disable has aborted programs.
 */
#include "record/agent/gpu/cuda/gpu_cuda_util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/agent/base/real.h"
#include "record/agent/gpu/cuda/gpu_cuda.h"
#include "record/agent/gpu/cuda/gpu_cuda_util_abi.h"
#include "record/agent/process/process.h"

#define DEVICES 32u
#define SEEN 64u		      /* contexts that launched */
#define SAMPLES_DUE 128u	      /* at most, when they are read */
#define SAMPLES_LEAST 64u	      /* that an image holds, of 27 kB each */
#define HARDWARE_BYTES (64ul << 20)   /* in the GPU's memory */
#define IMAGE_BYTES_MAX (512ul << 20) /* of anything that CUPTI wants */
#define READ_NS UINT64_C(200000000)
#define OFF_NS UINT64_C(1000000000) /* times so far from ours are of another clock */
#define PERCENT_MOST 105.0 /* counters of pipes jump at times (250 to 13,000 %, one sample of a hundred) */
#define WORD "cuda-util="
#define PERCENT ".avg.pct_of_peak_sustained_elapsed"

/* Names of NVIDIA's metrics, the better first: not all are there on each chip, or fit into one pass. */
static const struct {
	enum event_gpu_figure figure;
	const char *name;
} metrics[] = {
	{EVENT_GPU_SM_ACTIVE, "sm__cycles_active" PERCENT},
	{EVENT_GPU_SM_TENSOR, "sm__pipe_tensor_cycles_active" PERCENT},
	{EVENT_GPU_SM_TENSOR, "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime" PERCENT},
	{EVENT_GPU_SM_TENSOR, "sm__inst_executed_pipe_tensor" PERCENT},
	{EVENT_GPU_SM_FMA, "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime" PERCENT},
	{EVENT_GPU_SM_FMA, "sm__pipe_fma_cycles_active" PERCENT},
	{EVENT_GPU_SM_FMA, "sm__inst_executed_pipe_fma" PERCENT},
	{EVENT_GPU_SM_OCCUPANCY, "sm__warps_active" PERCENT},
	{EVENT_GPU_DRAM_READ, "dram__bytes_read.sum"},
	{EVENT_GPU_DRAM_WRITTEN, "dram__bytes_write.sum"},
	{EVENT_GPU_PCIE_RECEIVED, "pcie__read_bytes.sum"},
	{EVENT_GPU_PCIE_RECEIVED, "PCI.TriageCompute.pcie__read_bytes.sum"},
	{EVENT_GPU_PCIE_SENT, "pcie__write_bytes.sum"},
	{EVENT_GPU_PCIE_SENT, "PCI.TriageCompute.pcie__write_bytes.sum"},
};
#define METRICS (sizeof(metrics) / sizeof(*metrics))

static const bool is_counter[EVENT_GPU_FIGURE_COUNT] = {[EVENT_GPU_DRAM_READ] = true,
	[EVENT_GPU_DRAM_WRITTEN] = true,
	[EVENT_GPU_PCIE_RECEIVED] = true,
	[EVENT_GPU_PCIE_SENT] = true};

struct util_device {
	uint32_t number; /* as the run has it */
	bool is_tried, is_on;
	const char *chip;
	uint8_t *availability, *config, *image;
	size_t config_bytes, image_bytes;
	void *host, *object;
	/* The metrics that fit, in order of their figures. */
	uint32_t count;
	const char *names[EVENT_GPU_FIGURE_COUNT];
	enum event_gpu_figure figures[EVENT_GPU_FIGURE_COUNT];
	double counted[EVENT_GPU_FIGURE_COUNT];
	uint64_t begun_ns, last_ns; /* of sampling, and the last sample's end */
};

static struct {
	uint64_t interval_ns; /* 0: not asked for */
	uint32_t samples;     /* that an image holds */
	bool has_ended, has_overflowed, has_strayed, has_missed;
	_Atomic uint32_t wanted;     /* bit per device of CUPTI */
	_Atomic uint32_t seen[SEEN]; /* numbers of contexts + 1 */
	struct util_device *devices; /* [DEVICES] */
#define UTIL_FIELD(name, type, last) int CUPTIAPI (*name)(struct type *);
	UTIL_FUNCTIONS(UTIL_FIELD)
#undef UTIL_FIELD
} util;

/* Calls a function with its structure's members after the first two. */
#define UTIL_CALL(name, to) ((to)->size = sizeof_##name, util.name(to))
enum {
#define UTIL_SIZE(name, type, last) sizeof_##name = UTIL_BYTES(type, last),
	UTIL_FUNCTIONS(UTIL_SIZE)
#undef UTIL_SIZE
};

static void *room(size_t bytes)
{
	void *memory = bytes && bytes <= IMAGE_BYTES_MAX
			       ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
			       : MAP_FAILED;

	return memory == MAP_FAILED ? NULL : memory;
}

/* ---- which metrics ---- */

static int host_open(struct util_device *at, const char **names, size_t count)
{
	struct util_host host = {
		.profiler = UTIL_PROFILER_PM, .chip = at->chip, .availability = at->availability};
	struct util_add_metrics add = {.names = names, .count = count};
	int result = UTIL_CALL(cuptiProfilerHostInitialize, &host);

	if (result)
		return result;
	at->host = add.host = host.host;
	return UTIL_CALL(cuptiProfilerHostConfigAddMetrics, &add);
}

static void host_close(struct util_device *at)
{
	struct util_host_end end = {.host = at->host};

	if (at->host)
		UTIL_CALL(cuptiProfilerHostDeinitialize, &end);
	at->host = NULL;
}

/* The configuration of the metrics that the host object has; its memory is kept for the next one. */
static int config_make(struct util_device *at)
{
	struct util_config_size size = {.host = at->host};
	struct util_config_image image = {.host = at->host};
	int result = UTIL_CALL(cuptiProfilerHostGetConfigImageSize, &size);

	if (result)
		return result;
	if (at->config)
		munmap(at->config, at->config_bytes);
	at->config_bytes = image.bytes = size.bytes;
	at->config = image.image = room(size.bytes);
	return at->config ? UTIL_CALL(cuptiProfilerHostGetConfigImage, &image) : CUPTI_ERROR_OUT_OF_MEMORY;
}

/* Whether the GPU counts them all at once. Then host and configuration are those of these metrics. */
static bool is_one_pass(struct util_device *at, const char **names, size_t count)
{
	struct util_passes passes;
	int result;

	host_close(at);
	result = host_open(at, names, count);
	if (!result)
		result = config_make(at);
	passes = (struct util_passes){.bytes = at->config_bytes, .image = at->config};
	if (!result)
		result = UTIL_CALL(cuptiProfilerHostGetNumOfPasses, &passes);
	return !result && passes.passes == 1;
}

static void metric_add(struct util_device *at, unsigned metric)
{
	at->names[at->count] = metrics[metric].name;
	at->figures[at->count++] = metrics[metric].figure;
}

static bool has_figure(const struct util_device *at, enum event_gpu_figure figure)
{
	return at->count && at->figures[at->count - 1] == figure;
}

/* The first of each figure's, if they fit together, as on Hopper; else one by one, as many as do. */
static bool metrics_choose(struct util_device *at)
{
	for (unsigned i = 0; i < METRICS; i++)
		if (!has_figure(at, metrics[i].figure))
			metric_add(at, i);
	if (is_one_pass(at, at->names, at->count))
		return true;
	at->count = 0;
	for (unsigned i = 0; i < METRICS; i++) {
		if (has_figure(at, metrics[i].figure))
			continue;
		metric_add(at, i);
		if (!is_one_pass(at, at->names, at->count))
			at->count--;
	}
	return at->count && is_one_pass(at, at->names, at->count);
}

/* ---- starting ---- */

static const char *refusal(int result)
{
	switch (result) {
	case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
	case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
		return "no permission: set NVreg_RestrictProfilingToAdminUsers=0 for the module nvidia";
	case CUPTI_ERROR_HARDWARE_BUSY:
	case CUPTI_ERROR_UNKNOWN:
		return "another process reads this GPU's counters";
	case CUPTI_ERROR_OUT_OF_MEMORY:
		return "no memory for the GPU's counters";
	default:
		return "CUPTI cannot sample counters of this GPU";
	}
}

static void tell(const struct util_device *at, const char *why, bool is_end)
{
	gpu_unsampled(at->number, EVENT_GPU_UTIL, why, 0, is_end);
}

static int chip_find(struct util_device *at, uint32_t own)
{
	struct util_initialize begin = {0};
	struct util_chip_name chip = {.device = own};
	struct util_availability availability = {.device = own};
	int result = UTIL_CALL(cuptiProfilerInitialize, &begin);

	if (!result)
		result = UTIL_CALL(cuptiDeviceGetChipName, &chip);
	if (!result)
		result = UTIL_CALL(cuptiPmSamplingGetCounterAvailability, &availability);
	if (result)
		return result;
	at->chip = chip.name;
	at->availability = availability.image = room(availability.image_bytes);
	return at->availability ? UTIL_CALL(cuptiPmSamplingGetCounterAvailability, &availability)
				: CUPTI_ERROR_OUT_OF_MEMORY;
}

static int image_begin(struct util_device *at)
{
	struct util_image_begin begin = {.object = at->object, .bytes = at->image_bytes, .image = at->image};

	return UTIL_CALL(cuptiPmSamplingCounterDataImageInitialize, &begin);
}

static int image_make(struct util_device *at)
{
	struct util_image_size size = {
		.object = at->object, .names = at->names, .count = at->count, .samples = util.samples};
	int result = UTIL_CALL(cuptiPmSamplingGetCounterDataSize, &size);

	if (result)
		return result;
	at->image_bytes = size.bytes;
	at->image = room(size.bytes);
	return at->image ? image_begin(at) : CUPTI_ERROR_OUT_OF_MEMORY;
}

static int sampling_begin(struct util_device *at, uint32_t own)
{
	struct util_enable enable = {.device = own};
	struct util_configure configure = {.config_bytes = at->config_bytes,
		.config = at->config,
		.hardware_bytes = HARDWARE_BYTES,
		.interval = util.interval_ns,
		.trigger = UTIL_TRIGGER_TIME,
		.append = UTIL_KEEP_OLDEST};
	struct util_object start;
	int result = UTIL_CALL(cuptiPmSamplingEnable, &enable);

	at->object = configure.object = enable.object;
	start = (struct util_object){.object = at->object};
	if (!result)
		result = UTIL_CALL(cuptiPmSamplingSetConfig, &configure);
	if (!result)
		result = image_make(at);
	at->begun_ns = process_now_ns();
	return result ? result : UTIL_CALL(cuptiPmSamplingStart, &start);
}

static void device_begin(struct util_device *at, uint32_t own)
{
	int result;

	at->is_tried = true;
	at->number = gpu_device_number(&gpu_nvidia, own);
	result = chip_find(at, own);
	if (!result && !metrics_choose(at))
		result = CUPTI_ERROR_NOT_SUPPORTED;
	if (!result)
		result = sampling_begin(at, own);
	at->is_on = !result;
	if (result)
		tell(at, refusal(result), true);
}

void cuda_util_launch(CUcontext context, uint32_t number)
{
	_Atomic uint32_t *seen = &util.seen[number % SEEN];
	uint32_t own;

	if (!util.interval_ns || !context || atomic_load_explicit(seen, memory_order_relaxed) == number + 1)
		return;
	if (!cuda.api.cuptiGetDeviceId(context, &own) && own < DEVICES &&
		!(atomic_fetch_or(&util.wanted, UINT32_C(1) << own) >> own & 1))
		cuda_flusher_wake();
	atomic_store(seen, number + 1);
}

/* ---- reading ---- */

/* One record at a sample's begin: what was counted before, and how busy the device is from here on. */
static void values_put(const struct util_device *at, uint64_t time_ns, const double *sample)
{
	struct gpu_values values = {.device = at->number, .time_ns = time_ns};

	for (uint32_t i = 0; i < at->count; i++) {
		enum event_gpu_figure figure = at->figures[i];

		if (is_counter[figure])
			values.value[values.count++] = (uint64_t)at->counted[figure];
		else if (sample && sample[i] >= 0 && sample[i] <= PERCENT_MOST)
			values.value[values.count++] = (uint64_t)(10 * sample[i] + 0.5);
		else
			continue;
		values.figures |= UINT32_C(1) << figure;
	}
	gpu_values(&values);
}

static const char lost[] = "samples of the GPU's counters were lost: take a longer interval";

/* Says it once. */
static void tell_once(const struct util_device *at, bool *is_told, const char *why)
{
	if (!*is_told)
		tell(at, why, false);
	*is_told = true;
}

static void sample_take(struct util_device *at, uint64_t begin_ns, uint64_t end_ns, const double *sample)
{
	if (end_ns > process_now_ns() + OFF_NS || end_ns + OFF_NS < at->begun_ns) {
		tell_once(at, &util.has_strayed, "times of the GPU's counters are not on the run's clock");
		return;
	}
	/* The first one reaches back to before sampling began. */
	if (begin_ns < at->begun_ns || end_ns <= begin_ns || end_ns <= at->last_ns)
		return;
	begin_ns = begin_ns < at->last_ns ? at->last_ns : begin_ns;
	/* A counter must not be seen to grow in the gap between two samples. */
	if (at->last_ns && begin_ns > at->last_ns + util.interval_ns / 2) {
		tell_once(at, &util.has_missed, lost);
		values_put(at, at->last_ns, NULL);
	}
	values_put(at, begin_ns, sample);
	for (uint32_t i = 0; i < at->count; i++)
		if (is_counter[at->figures[i]] && sample[i] > 0 && isfinite(sample[i]))
			at->counted[at->figures[i]] += sample[i];
	at->last_ns = end_ns;
}

static void image_take(struct util_device *at)
{
	struct util_image_info info = {.image = at->image, .bytes = at->image_bytes};
	double values[EVENT_GPU_FIGURE_COUNT];

	if (UTIL_CALL(cuptiPmSamplingGetCounterDataInfo, &info))
		return;
	if (info.completed >= util.samples)
		tell_once(at, &util.has_missed, lost);
	for (size_t i = 0; i < info.completed && i < util.samples; i++) {
		struct util_sample_info sample = {
			.object = at->object, .image = at->image, .bytes = at->image_bytes, .sample = i};
		struct util_evaluate evaluate = {.host = at->host,
			.image = at->image,
			.image_bytes = at->image_bytes,
			.sample = i,
			.names = at->names,
			.count = at->count,
			.values = values};

		memset(values, 0, sizeof(values));
		if (!UTIL_CALL(cuptiPmSamplingCounterDataGetSampleInfo, &sample) &&
			!UTIL_CALL(cuptiProfilerHostEvaluateToGpuValues, &evaluate))
			sample_take(at, sample.begin, sample.end, values);
	}
}

static void device_read(struct util_device *at)
{
	struct util_decode decode = {.object = at->object, .image = at->image, .bytes = at->image_bytes};
	int result = UTIL_CALL(cuptiPmSamplingDecodeData, &decode);

	if (decode.overflow)
		tell_once(at, &util.has_overflowed,
			"the GPU's buffer of counters was full: take a longer interval");
	if (!result) {
		image_take(at);
		result = image_begin(at);
	}
	if (result) {
		tell(at, refusal(result), true);
		at->is_on = false;
	}
}

static void device_end(struct util_device *at)
{
	struct util_object stop = {.object = at->object};

	if (!UTIL_CALL(cuptiPmSamplingStop, &stop))
		device_read(at);
	at->is_on = false;
	if (at->last_ns)
		values_put(at, at->last_ns, NULL);
}

void cuda_util_read(bool is_end)
{
	uint32_t wanted = atomic_load(&util.wanted);

	if (!util.interval_ns || util.has_ended)
		return;
	for (uint32_t own = 0; own < DEVICES; own++) {
		struct util_device *at = &util.devices[own];

		if (wanted >> own & 1 && !at->is_tried && !is_end)
			device_begin(at, own);
		if (at->is_on && is_end)
			device_end(at);
		else if (at->is_on)
			device_read(at);
	}
	util.has_ended = is_end;
}

uint64_t cuda_util_read_ns(void)
{
	uint64_t due_ns = util.interval_ns * SAMPLES_DUE;

	return util.interval_ns && due_ns < READ_NS ? due_ns : READ_NS;
}

/* ---- opening ---- */

static bool functions_find(void)
{
	void *symbol_address = real_symbol("dlsym"), *address;
	void *(*symbol)(void *, const char *);
	bool are_there = symbol_address != NULL;

	if (!are_there)
		return false;
	memcpy(&symbol, &symbol_address, sizeof(symbol));
#define UTIL_FIND(name, type, last)                    \
	address = symbol(cuda.api.handle, #name);      \
	memcpy(&util.name, &address, sizeof(address)); \
	are_there &= address != NULL;
	UTIL_FUNCTIONS(UTIL_FIND)
#undef UTIL_FIND
	return are_there;
}

void cuda_util_open(void)
{
	const char *word = strstr(process.settings.events, WORD);
	uint64_t interval_ns = 0;

	for (const char *at = word ? word + strlen(WORD) : ""; *at >= '0' && *at <= '9'; at++)
		interval_ns = interval_ns > UINT64_MAX / 100 ? interval_ns
							     : interval_ns * 10 + (uint64_t)(*at - '0');
	if (!interval_ns)
		return;
	if (!functions_find()) {
		gpu_unsampled(0, EVENT_GPU_UTIL, "this CUPTI samples no counters: CUDA 12.6 or later does", 0,
			true);
		return;
	}
	util.devices = room(DEVICES * sizeof(*util.devices));
	util.interval_ns = util.devices ? interval_ns : 0;
	/* Four times what is due when it is read, for the flusher may be late. */
	util.samples = util.interval_ns ? (uint32_t)(4 * cuda_util_read_ns() / util.interval_ns) : 0;
	util.samples = util.samples < SAMPLES_LEAST ? SAMPLES_LEAST : util.samples;
}
