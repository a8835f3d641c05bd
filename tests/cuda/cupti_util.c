/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_util.c - the part of the CUPTI without a GPU that samples counters over time, in the words of
 * NVIDIA's own headers: these hold the agent's declarations (gpu_cuda_util_abi.h) to them. A sample each
 * interval since Start: multiprocessors are active 12.34 % of the time in even samples, 87.66 % in odd ones;
 * 1,000,000 bytes are read from memory in each sample, 500,000 written. Words of FAKE_CUPTI:
 *
 *   util             contexts are told at launches, so that sampling can begin
 *   utilfew          a chip of other names, four of which fit into a pass
 *   utilavail=N  utilenable=N  utilconfig=N  utildecode=N   that result of these functions
 *   utilfull         the GPU's buffer was full
 *   utilstray  utilback   times of another clock, which is ahead or behind
 *   utilgap          every tenth sample is missing
 *   utilsmall        four samples have room when they are read
 */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include <cupti.h>

#include "record/agent/gpu/cuda/gpu_cuda_util_abi.h"
#include "tests/cuda/fake.h"

#if __has_include(<cupti_pmsampling.h>)
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#define API __attribute__((visibility("default"))) CUptiResult CUPTIAPI

/* ---- the agent's declarations are NVIDIA's ---- */

#define SAME_SIZE(own, last, theirs) \
	static_assert(UTIL_BYTES(own, last) == theirs##_STRUCT_SIZE, "size of " #theirs)
#define SAME(own, member, theirs, theirs_member)                                                         \
	static_assert(offsetof(struct own, member) == offsetof(theirs, theirs_member) &&                 \
			      sizeof(((struct own *)0)->member) == sizeof(((theirs *)0)->theirs_member), \
		"place of " #theirs_member)
SAME_SIZE(util_initialize, reserved, CUpti_Profiler_Initialize_Params);
SAME_SIZE(util_chip_name, name, CUpti_Device_GetChipName_Params);
SAME(util_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_SIZE(util_availability, image, CUpti_PmSampling_GetCounterAvailability_Params);
SAME(util_availability, device, CUpti_PmSampling_GetCounterAvailability_Params, deviceIndex);
SAME(util_availability, image_bytes, CUpti_PmSampling_GetCounterAvailability_Params,
	counterAvailabilityImageSize);
SAME_SIZE(util_host, host, CUpti_Profiler_Host_Initialize_Params);
SAME(util_host, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(util_host, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(util_host, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
static_assert(UTIL_PROFILER_PM == CUPTI_PROFILER_TYPE_PM_SAMPLING, "kind of profiler");
SAME_SIZE(util_host_end, host, CUpti_Profiler_Host_Deinitialize_Params);
SAME_SIZE(util_add_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME(util_add_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME_SIZE(util_config_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME_SIZE(util_config_image, image, CUpti_Profiler_Host_GetConfigImage_Params);
SAME(util_config_image, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME_SIZE(util_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME(util_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME(util_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME_SIZE(util_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME(util_evaluate, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME(util_evaluate, image_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize);
SAME(util_evaluate, sample, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(util_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME(util_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME_SIZE(util_enable, object, CUpti_PmSampling_Enable_Params);
SAME(util_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME_SIZE(util_configure, append, CUpti_PmSampling_SetConfig_Params);
SAME(util_configure, object, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject);
SAME(util_configure, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
SAME(util_configure, config, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME(util_configure, hardware_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME(util_configure, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME(util_configure, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
static_assert(UTIL_TRIGGER_TIME == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL &&
		      UTIL_KEEP_OLDEST == CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST,
	"numbers");
SAME_SIZE(util_object, object, CUpti_PmSampling_Start_Params);
SAME_SIZE(util_object, object, CUpti_PmSampling_Stop_Params);
SAME_SIZE(util_image_size, bytes, CUpti_PmSampling_GetCounterDataSize_Params);
SAME(util_image_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
SAME(util_image_size, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME(util_image_size, samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME_SIZE(util_image_begin, image, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME(util_image_begin, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params, counterDataSize);
SAME_SIZE(util_decode, overflow, CUpti_PmSampling_DecodeData_Params);
SAME(util_decode, image, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME(util_decode, bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
SAME(util_decode, stopped, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME_SIZE(util_image_info, completed, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME(util_image_info, image, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
SAME(util_image_info, bytes, CUpti_PmSampling_GetCounterDataInfo_Params, counterDataImageSize);
SAME_SIZE(util_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME(util_sample_info, object, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pPmSamplingObject);
SAME(util_sample_info, image, CUpti_PmSampling_CounterData_GetSampleInfo_Params, pCounterDataImage);
SAME(util_sample_info, bytes, CUpti_PmSampling_CounterData_GetSampleInfo_Params, counterDataImageSize);
SAME(util_sample_info, sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params, sampleIndex);
SAME(util_sample_info, begin, CUpti_PmSampling_CounterData_GetSampleInfo_Params, startTimestamp);

/* ---- which metrics ---- */

struct CUpti_Profiler_Host_Object {
	size_t count;
};

struct CUpti_PmSampling_Object {
	uint64_t interval_ns, begin_ns, end_ns; /* of sampling; end_ns 0: it goes on */
	_Atomic uint64_t taken;			/* samples decoded so far */
	size_t room;				/* samples that an image holds */
};

/* What the images hold here. */
struct image {
	uint64_t first; /* number of its first sample */
	size_t count;
};

static struct CUpti_Profiler_Host_Object host;
static struct CUpti_PmSampling_Object sampler;

static atomic_bool is_refused;

static CUptiResult refusal(const char *key)
{
	CUptiResult result = (CUptiResult)word(key, 0);

	is_refused |= result != CUPTI_SUCCESS;
	return result;
}

API cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *said)
{
	(void)said;
	return CUPTI_SUCCESS;
}

API cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *said)
{
	said->pChipName = "GF000";
	return CUPTI_SUCCESS;
}

API cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params *said)
{
	said->counterAvailabilityImageSize = 8;
	return refusal("utilavail");
}

API cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *said)
{
	host.count = 0;
	said->pHostObject = &host;
	return strcmp(said->pChipName, "GF000") || !said->pCounterAvailabilityImage
		       ? CUPTI_ERROR_INVALID_PARAMETER
		       : CUPTI_SUCCESS;
}

API cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *said)
{
	(void)said;
	return CUPTI_SUCCESS;
}

static bool is_there(const char *name)
{
	bool is_triage = strstr(name, ".TriageCompute.") != NULL;

	if (word("utilfew", 0))
		return !is_triage && !strstr(name, "sm__pipe");
	return is_triage ? strstr(name, "pipe_fma") != NULL : !strstr(name, "pipe_fma");
}

API cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *said)
{
	for (size_t i = 0; i < said->numMetrics; i++)
		if (!is_there(said->ppMetricNames[i]))
			return CUPTI_ERROR_INVALID_METRIC_NAME;
	said->pHostObject->count += said->numMetrics;
	return CUPTI_SUCCESS;
}

API cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *said)
{
	said->configImageSize = 8 * said->pHostObject->count;
	return CUPTI_SUCCESS;
}

API cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *said)
{
	memset(said->pConfigImage, 1, said->configImageSize);
	return CUPTI_SUCCESS;
}

API cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *said)
{
	said->numOfPasses = word("utilfew", 0) && said->configImageSize > 4 * 8 ? 2 : 1;
	return CUPTI_SUCCESS;
}

/* ---- samples ---- */

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

API cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params *said)
{
	said->pPmSamplingObject = &sampler;
	return refusal("utilenable");
}

API cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params *said)
{
	said->pPmSamplingObject->interval_ns = said->samplingInterval;
	fprintf(stderr, "%zu counters each %lu ns\n", said->configSize / 8,
		(unsigned long)said->samplingInterval);
	return refusal("utilconfig");
}

API cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params *said)
{
	sampler.room = word("utilsmall", 0) ? 4 : said->maxSamples;
	said->counterDataSize = sizeof(struct image);
	return CUPTI_SUCCESS;
}

API cuptiPmSamplingCounterDataImageInitialize(CUpti_PmSampling_CounterDataImage_Initialize_Params *said)
{
	*(struct image *)(void *)said->pCounterData = (struct image){0};
	return CUPTI_SUCCESS;
}

API cuptiPmSamplingStart(CUpti_PmSampling_Start_Params *said)
{
	said->pPmSamplingObject->begin_ns = now_ns();
	return CUPTI_SUCCESS;
}

API cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params *said)
{
	said->pPmSamplingObject->end_ns = now_ns();
	fprintf(stderr, "no more counters\n");
	return CUPTI_SUCCESS;
}

__attribute__((visibility("default"))) fake_cupti_samples fake_samples;
__attribute__((visibility("default"))) unsigned long fake_samples(void)
{
	return is_refused ? ULONG_MAX : (unsigned long)sampler.taken;
}

/* What has no room in the image is lost, as with the real one. */
API cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params *said)
{
	struct CUpti_PmSampling_Object *at = said->pPmSamplingObject;
	struct image *image = (struct image *)(void *)said->pCounterDataImage;
	uint64_t end_ns = at->end_ns ? at->end_ns : now_ns();
	uint64_t there = (end_ns - at->begin_ns) / at->interval_ns;

	image->first = at->taken;
	image->count = there - image->first < at->room ? (size_t)(there - image->first) : at->room;
	at->taken = there;
	said->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
	said->overflow = there > 0 && word("utilfull", 0);
	return there ? (CUptiResult)word("utildecode", 0) : CUPTI_SUCCESS;
}

API cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params *said)
{
	const struct image *image = (const struct image *)(const void *)said->pCounterDataImage;

	said->numTotalSamples = sampler.room;
	said->numPopulatedSamples = said->numCompletedSamples = image->count;
	return CUPTI_SUCCESS;
}

API cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params *said)
{
	const struct CUpti_PmSampling_Object *at = said->pPmSamplingObject;
	const struct image *image = (const struct image *)(const void *)said->pCounterDataImage;
	uint64_t number = image->first + said->sampleIndex;

	if (word("utilgap", 0) && number % 10 == 9)
		return CUPTI_ERROR_INVALID_PARAMETER;
	said->startTimestamp = at->begin_ns + number * at->interval_ns;
	said->endTimestamp = said->startTimestamp + at->interval_ns;
	if (!number) /* as the real one's first */
		said->startTimestamp -= UINT64_C(800000000);
	if (word("utilstray", 0))
		said->startTimestamp <<= 1, said->endTimestamp <<= 1;
	if (word("utilback", 0))
		said->startTimestamp >>= 1, said->endTimestamp >>= 1;
	return CUPTI_SUCCESS;
}

/* Real counters of pipes jump at times. */
static double pipe_at(uint64_t number)
{
	return number % 10 == 3 ? 252.1 : number % 10 == 4 ? NAN : 45.5;
}

API cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *said)
{
	const struct image *image = (const struct image *)(const void *)said->pCounterDataImage;
	uint64_t number = image->first + said->rangeIndex;

	for (size_t i = 0; i < said->numMetrics; i++) {
		const char *name = said->ppMetricNames[i];

		said->pMetricValues[i] = strstr(name, "bytes_read")	? 1e6
					 : strstr(name, "bytes_write")	? 5e5
					 : strstr(name, "read_bytes")	? 3e3
					 : strstr(name, "write_bytes")	? 2e3
					 : strstr(name, "fma_realtime") ? pipe_at(number)
					 : strstr(name, "warps_active") ? 50
					 : number % 2			? 87.66
									: 12.34;
	}
	return CUPTI_SUCCESS;
}
#endif
