/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_floor.c - the least that any CUPTI tool costs, to hold hpct against: kernel
 * records on CLOCK_MONOTONIC, counted and thrown away. The driver loads it through
 * CUDA_INJECTION64_PATH. CUDA_FLOOR_CALLS adds an empty callback per launch.
 */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BUFFER_BYTES (1u << 20)

static unsigned long records;
static volatile uint64_t calls;

static uint64_t CUPTIAPI now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void CUPTIAPI wanted(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(4096, BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*most = 0;
}

static void CUPTIAPI full(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)bytes;
	while (!cuptiActivityGetNextRecord(buffer, valid, &record))
		records++;
	free(buffer);
}

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)user;
	(void)domain;
	(void)id;
	(void)data;
	calls = calls + 1;
}

static void finish(void)
{
	cuptiActivityFlushAll(1);
	fprintf(stderr, "floor: %lu records\n", records);
}

int InitializeInjection(void);
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	CUpti_SubscriberHandle subscriber;

	if (cuptiSubscribe(&subscriber, called, NULL) || cuptiActivityRegisterTimestampCallback(now) ||
		cuptiActivityRegisterCallbacks(wanted, full) ||
		cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		return 0;
	if (getenv("CUDA_FLOOR_CALLS"))
		cuptiEnableCallback(
			1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	atexit(finish);
	return 1;
}
