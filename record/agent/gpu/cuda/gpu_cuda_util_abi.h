/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_cuda_util_abi.h - CUPTI's functions for sampling a device's counters, as far as hpct calls them. CUPTI
 * has them since CUDA 12.6; its own headers are of C++ and not in older toolkits, while the library is looked
 * up in the running program. tests/cuda/cupti.c holds these layouts to NVIDIA's headers.
 */
#ifndef RECORD_AGENT_GPU_CUDA_UTIL_ABI_H
#define RECORD_AGENT_GPU_CUDA_UTIL_ABI_H

#include <stddef.h>
#include <stdint.h>

/* What such a structure is to CUPTI: all up to its last member that was there in the first version. */
#define UTIL_BYTES(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

struct util_initialize {
	size_t size;
	void *reserved;
};
struct util_chip_name {
	size_t size;
	void *reserved;
	size_t device;
	const char *name; /* out */
};
struct util_availability {
	size_t size;
	void *reserved;
	size_t device;
	size_t image_bytes; /* out, where image is NULL */
	uint8_t *image;
};

#define UTIL_PROFILER_PM 1
struct util_host {
	size_t size;
	void *reserved;
	int profiler;
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};
struct util_host_end {
	size_t size;
	void *reserved;
	void *host;
};
struct util_add_metrics {
	size_t size;
	void *reserved;
	void *host;
	const char **names;
	size_t count;
};
struct util_config_size {
	size_t size;
	void *reserved;
	void *host;
	size_t bytes; /* out */
};
struct util_config_image {
	size_t size;
	void *reserved;
	void *host;
	size_t bytes;
	uint8_t *image;
};
struct util_passes {
	size_t size;
	void *reserved;
	size_t bytes;
	uint8_t *image;
	size_t passes; /* out */
};
struct util_evaluate {
	size_t size;
	void *reserved;
	void *host;
	const uint8_t *image;
	size_t image_bytes, sample;
	const char **names;
	size_t count;
	double *values;
};

struct util_enable {
	size_t size;
	void *reserved;
	size_t device;
	void *object; /* out */
};
#define UTIL_TRIGGER_TIME 1
#define UTIL_KEEP_OLDEST 0
struct util_configure {
	size_t size;
	void *reserved;
	void *object;
	size_t config_bytes;
	const uint8_t *config;
	size_t hardware_bytes;
	uint64_t interval;
	int trigger, append;
};
struct util_object { /* of start and stop */
	size_t size;
	void *reserved;
	void *object;
};
struct util_image_size {
	size_t size;
	void *reserved;
	void *object;
	const char **names;
	size_t count;
	uint32_t samples;
	size_t bytes; /* out */
};
struct util_image_begin {
	size_t size;
	void *reserved;
	void *object;
	size_t bytes;
	uint8_t *image;
};
struct util_decode {
	size_t size;
	void *reserved;
	void *object;
	uint8_t *image;
	size_t bytes;
	int stopped;	  /* out */
	uint8_t overflow; /* out */
};
struct util_image_info {
	size_t size;
	void *reserved;
	const uint8_t *image;
	size_t bytes;
	size_t total, populated, completed; /* out */
};
struct util_sample_info {
	size_t size;
	void *reserved;
	void *object;
	const uint8_t *image;
	size_t bytes, sample;
	uint64_t begin, end; /* out, on the clock of cuptiActivityRegisterTimestampCallback */
};

/* CUPTI's name, its structure here, the structure's last member. */
#define UTIL_FUNCTIONS(X)                                                     \
	X(cuptiProfilerInitialize, util_initialize, reserved)                 \
	X(cuptiDeviceGetChipName, util_chip_name, name)                       \
	X(cuptiPmSamplingGetCounterAvailability, util_availability, image)    \
	X(cuptiProfilerHostInitialize, util_host, host)                       \
	X(cuptiProfilerHostDeinitialize, util_host_end, host)                 \
	X(cuptiProfilerHostConfigAddMetrics, util_add_metrics, count)         \
	X(cuptiProfilerHostGetConfigImageSize, util_config_size, bytes)       \
	X(cuptiProfilerHostGetConfigImage, util_config_image, image)          \
	X(cuptiProfilerHostGetNumOfPasses, util_passes, passes)               \
	X(cuptiProfilerHostEvaluateToGpuValues, util_evaluate, values)        \
	X(cuptiPmSamplingEnable, util_enable, object)                         \
	X(cuptiPmSamplingSetConfig, util_configure, append)                   \
	X(cuptiPmSamplingStart, util_object, object)                          \
	X(cuptiPmSamplingStop, util_object, object)                           \
	X(cuptiPmSamplingGetCounterDataSize, util_image_size, bytes)          \
	X(cuptiPmSamplingCounterDataImageInitialize, util_image_begin, image) \
	X(cuptiPmSamplingDecodeData, util_decode, overflow)                   \
	X(cuptiPmSamplingGetCounterDataInfo, util_image_info, completed)      \
	X(cuptiPmSamplingCounterDataGetSampleInfo, util_sample_info, end)

#endif
