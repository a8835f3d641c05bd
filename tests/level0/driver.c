/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - a Level Zero driver without a device (see device.h), which the real
 * loader takes by ZE_ENABLE_ALT_DRIVERS. What programs of the tests need is here,
 * everything else is said to be unsupported.
 */
#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/level0/driver.h"

#define DEVICES_MAX 8

static struct _ze_driver_handle_t driver;
static struct _ze_device_handle_t devices[DEVICES_MAX];

struct allocation {
	struct allocation *next;
	ze_memory_type_t type;
	ze_device_handle_t device;
	size_t bytes;
	char *at;
};

static pthread_mutex_t allocations_lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations;

static ze_result_t nothing(void)
{
	return ZE_RESULT_SUCCESS;
}

/* ---- driver and devices ---- */

static ze_result_t init(ze_init_flags_t flags)
{
	(void)flags;
	fake_open();
	for (uint32_t i = 0; i < DEVICES_MAX; i++)
		devices[i].number = i;
	return fake_script.fail_init ? ZE_RESULT_ERROR_UNINITIALIZED : ZE_RESULT_SUCCESS;
}

static ze_result_t driver_get(uint32_t *count, ze_driver_handle_t *to)
{
	if (*count && to)
		to[0] = &driver;
	*count = 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t driver_version(ze_driver_handle_t handle, ze_api_version_t *version)
{
	(void)handle;
	*version = ZE_API_VERSION_CURRENT;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t device_get(ze_driver_handle_t handle, uint32_t *count, ze_device_handle_t *to)
{
	uint32_t there = (uint32_t)fake_script.devices;

	(void)handle;
	if (!*count || *count > there)
		*count = there;
	for (uint32_t i = 0; to && i < *count; i++)
		to[i] = &devices[i];
	return ZE_RESULT_SUCCESS;
}

static ze_result_t device_properties(ze_device_handle_t device, ze_device_properties_t *to)
{
	to->type = ZE_DEVICE_TYPE_GPU;
	to->timerResolution = to->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
				      ? fake_script.frequency
				      : 1000000000u / fake_script.frequency;
	to->timestampValidBits = (uint32_t)fake_script.bits;
	to->kernelTimestampValidBits = (uint32_t)fake_script.kernel_bits;
	memset(&to->uuid, 0x10 + (int)device->number, sizeof(to->uuid));
	snprintf(to->name, sizeof(to->name), "Fake GPU %u", device->number);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t device_queue_groups(
	ze_device_handle_t device, uint32_t *count, ze_command_queue_group_properties_t *to)
{
	(void)device;
	if (!*count || *count > 2)
		*count = 2;
	for (uint32_t i = 0; to && i < *count; i++) {
		to[i].flags = i ? ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY
				: ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
					      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
		to[i].maxMemoryFillPatternSize = 16;
		to[i].numQueues = 4;
	}
	return ZE_RESULT_SUCCESS;
}

static ze_result_t device_timestamps(ze_device_handle_t device, uint64_t *host_ns, uint64_t *ticks)
{
	uint64_t now_ns = fake_now_ns();

	(void)device;
	*host_ns = now_ns + (uint64_t)fake_script.host_offset;
	*ticks = fake_device_ticks(now_ns);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t context_create(
	ze_driver_handle_t handle, const ze_context_desc_t *desc, ze_context_handle_t *to)
{
	(void)handle, (void)desc;
	*to = calloc(1, sizeof(**to));
	return ZE_RESULT_SUCCESS;
}

static ze_result_t context_destroy(ze_context_handle_t context)
{
	free(context);
	return ZE_RESULT_SUCCESS;
}

/* ---- memory ---- */

static ze_result_t allocate(ze_memory_type_t type, ze_device_handle_t device, size_t bytes, void **to)
{
	struct allocation *a = calloc(1, sizeof(*a));

	*a = (struct allocation){NULL, type, device, bytes, malloc(bytes)};
	if (!a->at) {
		free(a);
		return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
	}
	pthread_mutex_lock(&allocations_lock);
	a->next = allocations;
	allocations = a;
	pthread_mutex_unlock(&allocations_lock);
	*to = a->at;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t memory_shared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
	const ze_host_mem_alloc_desc_t *host, size_t bytes, size_t alignment, ze_device_handle_t device,
	void **to)
{
	(void)context, (void)desc, (void)host, (void)alignment;
	return allocate(ZE_MEMORY_TYPE_SHARED, device, bytes, to);
}

static ze_result_t memory_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
	size_t bytes, size_t alignment, ze_device_handle_t device, void **to)
{
	(void)context, (void)desc, (void)alignment;
	return allocate(ZE_MEMORY_TYPE_DEVICE, device, bytes, to);
}

static ze_result_t memory_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
	size_t bytes, size_t alignment, void **to)
{
	(void)context, (void)desc, (void)alignment;
	return allocate(ZE_MEMORY_TYPE_HOST, NULL, bytes, to);
}

static struct allocation **allocation_of(const void *pointer)
{
	struct allocation **at = &allocations;

	while (*at &&
		((const char *)pointer < (*at)->at || (const char *)pointer >= (*at)->at + (*at)->bytes))
		at = &(*at)->next;
	return at;
}

static ze_result_t memory_free(ze_context_handle_t context, void *pointer)
{
	struct allocation **at, *a;

	(void)context;
	pthread_mutex_lock(&allocations_lock);
	at = allocation_of(pointer);
	a = *at;
	if (a)
		*at = a->next;
	pthread_mutex_unlock(&allocations_lock);
	if (!a)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	free(a->at);
	free(a);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t memory_properties(ze_context_handle_t context, const void *pointer,
	ze_memory_allocation_properties_t *to, ze_device_handle_t *device)
{
	struct allocation *a;

	(void)context;
	pthread_mutex_lock(&allocations_lock);
	a = *allocation_of(pointer);
	to->type = a ? a->type : ZE_MEMORY_TYPE_UNKNOWN;
	if (device)
		*device = a ? a->device : NULL;
	pthread_mutex_unlock(&allocations_lock);
	return ZE_RESULT_SUCCESS;
}

/* ---- modules and kernels: an image is whatever bytes it is given ---- */

static ze_result_t module_create(ze_context_handle_t context, ze_device_handle_t device,
	const ze_module_desc_t *desc, ze_module_handle_t *to, ze_module_build_log_handle_t *log)
{
	(void)context, (void)device;
	if (log)
		*log = NULL;
	if (!desc->inputSize)
		return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
	*to = malloc(sizeof(**to) + desc->inputSize);
	(*to)->bytes = desc->inputSize;
	memcpy((*to)->image, desc->pInputModule, desc->inputSize);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t module_destroy(ze_module_handle_t module)
{
	free(module);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t module_binary(ze_module_handle_t module, size_t *bytes, uint8_t *to)
{
	if (to)
		memcpy(to, module->image, module->bytes < *bytes ? module->bytes : *bytes);
	*bytes = module->bytes;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_create(
	ze_module_handle_t module, const ze_kernel_desc_t *desc, ze_kernel_handle_t *to)
{
	(void)module;
	*to = calloc(1, sizeof(**to));
	snprintf((*to)->name, sizeof((*to)->name), "%s", desc->pKernelName);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_destroy(ze_kernel_handle_t kernel)
{
	free(kernel);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_group_size(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z)
{
	(void)kernel, (void)x, (void)y, (void)z;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_name(ze_kernel_handle_t kernel, size_t *bytes, char *to)
{
	if (to)
		snprintf(to, *bytes, "%s", kernel->name);
	else
		*bytes = strlen(kernel->name) + 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t kernel_properties(ze_kernel_handle_t kernel, ze_kernel_properties_t *to)
{
	(void)kernel;
	to->localMemSize = 1024;
	to->privateMemSize = 64;
	to->spillMemSize = 32;
	return ZE_RESULT_SUCCESS;
}

/* ---- the tables ---- */

TABLE(ze, Global, ze_global_dditable)
{
	to->pfnInit = init;
}

TABLE(ze, Driver, ze_driver_dditable)
{
	to->pfnGet = driver_get;
	to->pfnGetApiVersion = driver_version;
}

TABLE(ze, Device, ze_device_dditable)
{
	to->pfnGet = device_get;
	to->pfnGetProperties = device_properties;
	to->pfnGetCommandQueueGroupProperties = device_queue_groups;
	to->pfnGetGlobalTimestamps = device_timestamps;
}

TABLE(ze, Context, ze_context_dditable)
{
	to->pfnCreate = context_create;
	to->pfnDestroy = context_destroy;
}

TABLE(ze, Mem, ze_mem_dditable)
{
	to->pfnAllocShared = memory_shared;
	to->pfnAllocDevice = memory_device;
	to->pfnAllocHost = memory_host;
	to->pfnFree = memory_free;
	to->pfnGetAllocProperties = memory_properties;
}

TABLE(ze, Module, ze_module_dditable)
{
	to->pfnCreate = module_create;
	to->pfnDestroy = module_destroy;
	to->pfnGetNativeBinary = module_binary;
}

TABLE(ze, Kernel, ze_kernel_dditable)
{
	to->pfnCreate = kernel_create;
	to->pfnDestroy = kernel_destroy;
	to->pfnSetGroupSize = kernel_group_size;
	to->pfnGetName = kernel_name;
	to->pfnGetProperties = kernel_properties;
	to->pfnSetArgumentValue = (__typeof__(to->pfnSetArgumentValue))(void (*)(void))nothing;
}

EMPTY(ze, DeviceExp, ze_device_exp_dditable)
EMPTY(ze, EventExp, ze_event_exp_dditable)
EMPTY(ze, FabricEdgeExp, ze_fabric_edge_exp_dditable)
EMPTY(ze, FabricVertexExp, ze_fabric_vertex_exp_dditable)
EMPTY(ze, ImageExp, ze_image_exp_dditable)
EMPTY(ze, Image, ze_image_dditable)
EMPTY(ze, KernelExp, ze_kernel_exp_dditable)
EMPTY(ze, ModuleBuildLog, ze_module_build_log_dditable)
EMPTY(ze, PhysicalMem, ze_physical_mem_dditable)
EMPTY(ze, Sampler, ze_sampler_dditable)
EMPTY(ze, VirtualMem, ze_virtual_mem_dditable)
EMPTY(zes, Diagnostics, zes_diagnostics_dditable)
EMPTY(zes, Driver, zes_driver_dditable)
EMPTY(zes, FabricPort, zes_fabric_port_dditable)
EMPTY(zes, Fan, zes_fan_dditable)
EMPTY(zes, Firmware, zes_firmware_dditable)
EMPTY(zes, Led, zes_led_dditable)
EMPTY(zes, PerformanceFactor, zes_performance_factor_dditable)
EMPTY(zes, Psu, zes_psu_dditable)
EMPTY(zes, Ras, zes_ras_dditable)
EMPTY(zes, Scheduler, zes_scheduler_dditable)
EMPTY(zes, Standby, zes_standby_dditable)
EMPTY(zet, CommandList, zet_command_list_dditable)
EMPTY(zet, Context, zet_context_dditable)
EMPTY(zet, Debug, zet_debug_dditable)
EMPTY(zet, Device, zet_device_dditable)
EMPTY(zet, Kernel, zet_kernel_dditable)
EMPTY(zet, MetricGroupExp, zet_metric_group_exp_dditable)
EMPTY(zet, MetricGroup, zet_metric_group_dditable)
EMPTY(zet, Metric, zet_metric_dditable)
EMPTY(zet, MetricQueryPool, zet_metric_query_pool_dditable)
EMPTY(zet, MetricQuery, zet_metric_query_dditable)
EMPTY(zet, MetricStreamer, zet_metric_streamer_dditable)
EMPTY(zet, Module, zet_module_dditable)
EMPTY(zet, TracerExp, zet_tracer_exp_dditable)
