/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0_object.c - wraps calls outside command lists: memory, modules, kernels, and the program's
 * events.
 */
#include <stdlib.h>
#include <string.h>

#include "record/agent/gpu/level0/gpu_level0.h"

#define KIND_BITS 3 /* of enum gpu_memory_kind, in the low bits of an allocation's size */
#define BINARY_BYTES_MAX (UINT64_C(1) << 30)

static struct gpu_map allocations; /* address to size and kind */
static struct gpu_map modules;	   /* to the hash of the module's binary */
static struct gpu_map kernels;
static struct gpu_map untimed_pools, untimed_events;

struct kernel {
	const char *name;
	uint64_t module;
	struct gpu_kernel shape;
};

/* ---- memory ---- */

static_assert(GPU_MEMORY_MANAGED < 1 << KIND_BITS, "kinds in a word");

static ze_result_t allocated(
	ze_result_t result, uint64_t begin_ns, size_t bytes, enum gpu_memory_kind kind, void *const *address)
{
	if (result || !level0_enter())
		return result;
	gpu_map_put(&allocations, *address, (void *)((uintptr_t)bytes << KIND_BITS | kind));
	level0_leave();
	gpu_call(STORE_OP_ALLOC, begin_ns, bytes, kind, *address);
	return result;
}

static ze_result_t ZE_APICALL memory_shared(ze_context_handle_t context,
	const ze_device_mem_alloc_desc_t *desc, const ze_host_mem_alloc_desc_t *host, size_t bytes,
	size_t alignment, ze_device_handle_t device, void **to)
{
	uint64_t begin_ns = gpu_now_ns();

	return allocated(level0_real.Mem.pfnAllocShared(context, desc, host, bytes, alignment, device, to),
		begin_ns, bytes, GPU_MEMORY_MANAGED, to);
}

static ze_result_t ZE_APICALL memory_device(ze_context_handle_t context,
	const ze_device_mem_alloc_desc_t *desc, size_t bytes, size_t alignment, ze_device_handle_t device,
	void **to)
{
	uint64_t begin_ns = gpu_now_ns();

	return allocated(level0_real.Mem.pfnAllocDevice(context, desc, bytes, alignment, device, to),
		begin_ns, bytes, GPU_MEMORY_DEVICE, to);
}

static ze_result_t ZE_APICALL memory_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
	size_t bytes, size_t alignment, void **to)
{
	uint64_t begin_ns = gpu_now_ns();

	return allocated(level0_real.Mem.pfnAllocHost(context, desc, bytes, alignment, to), begin_ns, bytes,
		GPU_MEMORY_PINNED, to);
}

/* Called before the free: afterwards another thread may get the same address. */
static uintptr_t free_begin(void *address)
{
	uintptr_t known = 0;

	if (address && level0_enter()) {
		known = (uintptr_t)gpu_map_take(&allocations, address);
		level0_leave();
	}
	return known;
}

static ze_result_t free_end(ze_result_t result, uint64_t begin_ns, void *address, uintptr_t known)
{
	if (result && known && level0_enter()) {
		gpu_map_put(&allocations, address, (void *)known);
		level0_leave();
	} else if (!result && known) {
		gpu_call(STORE_OP_FREE, begin_ns, known >> KIND_BITS,
			(enum gpu_memory_kind)(known & ((1 << KIND_BITS) - 1)), address);
	}
	return result;
}

static ze_result_t ZE_APICALL memory_free(ze_context_handle_t context, void *address)
{
	uint64_t begin_ns = gpu_now_ns();
	uintptr_t known = free_begin(address);

	return free_end(level0_real.Mem.pfnFree(context, address), begin_ns, address, known);
}

static ze_result_t ZE_APICALL memory_free_ext(
	ze_context_handle_t context, const ze_memory_free_ext_desc_t *desc, void *address)
{
	uint64_t begin_ns = gpu_now_ns();
	uintptr_t known = free_begin(address);

	return free_end(level0_real.Mem.pfnFreeExt(context, desc, address), begin_ns, address, known);
}

/* ---- modules and kernels ---- */

static uint64_t binary_keep(ze_module_handle_t module)
{
	size_t bytes = 0;
	uint64_t hash = 0;
	uint8_t *binary;

	if (!level0_real.Module.pfnGetNativeBinary ||
		level0_real.Module.pfnGetNativeBinary(module, &bytes, NULL) || !bytes ||
		bytes > BINARY_BYTES_MAX)
		return 0;
	binary = malloc(bytes);
	if (binary && !level0_real.Module.pfnGetNativeBinary(module, &bytes, binary))
		hash = gpu_module(binary, bytes);
	free(binary);
	return hash;
}

static ze_result_t ZE_APICALL module_create(ze_context_handle_t context, ze_device_handle_t device,
	const ze_module_desc_t *desc, ze_module_handle_t *to, ze_module_build_log_handle_t *log)
{
	uint64_t begin_ns = gpu_now_ns(), hash;
	ze_result_t result = level0_real.Module.pfnCreate(context, device, desc, to, log);

	if (!level0_enter())
		return result;
	level0_leave();
	gpu_call(STORE_OP_COMPILE, begin_ns, desc ? desc->inputSize : 0, GPU_MEMORY_UNKNOWN, NULL);
	hash = result ? 0 : binary_keep(*to);
	if (hash && level0_enter()) {
		gpu_map_put(&modules, *to, (void *)(uintptr_t)hash);
		level0_leave();
	}
	return result;
}

static ze_result_t ZE_APICALL module_destroy(ze_module_handle_t module)
{
	if (level0_enter()) {
		gpu_map_take(&modules, module);
		level0_leave();
	}
	return level0_real.Module.pfnDestroy(module);
}

static void kernel_add(ze_module_handle_t module, const char *name, ze_kernel_handle_t handle)
{
	ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	if (!kernel || gpu_map_put(&kernels, handle, kernel)) {
		free(kernel);
		return;
	}
	kernel->name = level0_name(name);
	kernel->module = (uintptr_t)gpu_map_get(&modules, module);
	if (!level0_real.Kernel.pfnGetProperties || level0_real.Kernel.pfnGetProperties(handle, &properties))
		return;
	kernel->shape.static_shared_bytes = properties.localMemSize;
	kernel->shape.local_bytes = properties.privateMemSize + properties.spillMemSize;
	kernel->shape.block[0] = properties.requiredGroupSizeX;
	kernel->shape.block[1] = properties.requiredGroupSizeY;
	kernel->shape.block[2] = properties.requiredGroupSizeZ;
}

static ze_result_t ZE_APICALL kernel_create(
	ze_module_handle_t module, const ze_kernel_desc_t *desc, ze_kernel_handle_t *to)
{
	ze_result_t result = level0_real.Kernel.pfnCreate(module, desc, to);

	if (!result && level0_enter()) {
		kernel_add(module, desc->pKernelName ? desc->pKernelName : "", *to);
		level0_leave();
	}
	return result;
}

static ze_result_t ZE_APICALL kernel_destroy(ze_kernel_handle_t kernel)
{
	if (level0_enter()) {
		free(gpu_map_take(&kernels, kernel));
		level0_leave();
	}
	return level0_real.Kernel.pfnDestroy(kernel);
}

static ze_result_t ZE_APICALL kernel_group_size(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z)
{
	ze_result_t result = level0_real.Kernel.pfnSetGroupSize(handle, x, y, z);
	struct kernel *kernel;

	if (result || !level0_enter())
		return result;
	kernel = gpu_map_get(&kernels, handle);
	if (kernel) {
		kernel->shape.block[0] = x;
		kernel->shape.block[1] = y;
		kernel->shape.block[2] = z;
	}
	level0_leave();
	return result;
}

void level0_kernel(struct gpu_activity *activity, ze_kernel_handle_t handle)
{
	const struct kernel *kernel = gpu_map_get(&kernels, handle);

	if (!kernel)
		return;
	activity->name = kernel->name;
	activity->module = kernel->module;
	activity->kernel = kernel->shape;
}

/* ---- the program's events: give all of them timestamps ---- */

/* Except pools shared with other processes, whose events must not change. */
static ze_result_t ZE_APICALL pool_create(ze_context_handle_t context, const ze_event_pool_desc_t *desc,
	uint32_t count, ze_device_handle_t *devices, ze_event_pool_handle_t *to)
{
	ze_event_pool_desc_t timed = desc ? *desc : (ze_event_pool_desc_t){0};
	ze_result_t result;

	if (!desc || desc->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP || !level0_enter())
		return level0_real.EventPool.pfnCreate(context, desc, count, devices, to);
	level0_leave();
	timed.flags |= ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
	if (!(desc->flags & ZE_EVENT_POOL_FLAG_IPC) &&
		!level0_real.EventPool.pfnCreate(context, &timed, count, devices, to))
		return ZE_RESULT_SUCCESS;
	result = level0_real.EventPool.pfnCreate(context, desc, count, devices, to);
	if (!result && level0_enter()) {
		gpu_map_put(&untimed_pools, *to, *to);
		level0_leave();
	}
	return result;
}

static ze_result_t ZE_APICALL pool_open(
	ze_context_handle_t context, ze_ipc_event_pool_handle_t shared, ze_event_pool_handle_t *to)
{
	ze_result_t result = level0_real.EventPool.pfnOpenIpcHandle(context, shared, to);

	if (!result && level0_enter()) {
		gpu_map_put(&untimed_pools, *to, *to);
		level0_leave();
	}
	return result;
}

static void pool_forget(ze_event_pool_handle_t pool)
{
	if (level0_enter()) {
		gpu_map_take(&untimed_pools, pool);
		level0_leave();
	}
}

static ze_result_t ZE_APICALL pool_destroy(ze_event_pool_handle_t pool)
{
	pool_forget(pool);
	return level0_real.EventPool.pfnDestroy(pool);
}

static ze_result_t ZE_APICALL pool_close(ze_event_pool_handle_t pool)
{
	pool_forget(pool);
	return level0_real.EventPool.pfnCloseIpcHandle(pool);
}

static ze_result_t ZE_APICALL event_create(
	ze_event_pool_handle_t pool, const ze_event_desc_t *desc, ze_event_handle_t *to)
{
	ze_result_t result = level0_real.Event.pfnCreate(pool, desc, to);

	if (!result && level0_enter()) {
		if (gpu_map_get(&untimed_pools, pool))
			gpu_map_put(&untimed_events, *to, *to);
		level0_leave();
	}
	return result;
}

static ze_result_t ZE_APICALL event_destroy(ze_event_handle_t event)
{
	if (level0_enter()) {
		level0_event_forget(event, true);
		gpu_map_take(&untimed_events, event);
		level0_leave();
	}
	return level0_real.Event.pfnDestroy(event);
}

static ze_result_t ZE_APICALL event_reset(ze_event_handle_t event)
{
	if (level0_enter()) {
		level0_event_forget(event, false);
		level0_leave();
	}
	return level0_real.Event.pfnHostReset(event);
}

bool level0_event_has_times(ze_event_handle_t event)
{
	return !gpu_map_get(&untimed_events, event);
}

/* ---- the tables ---- */

void level0_wrap_memory(ze_mem_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnAllocShared, memory_shared);
	LEVEL0_WRAP(to, pfnAllocDevice, memory_device);
	LEVEL0_WRAP(to, pfnAllocHost, memory_host);
	LEVEL0_WRAP(to, pfnFree, memory_free);
	LEVEL0_WRAP(to, pfnFreeExt, memory_free_ext);
}

void level0_wrap_module(ze_module_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnCreate, module_create);
	LEVEL0_WRAP(to, pfnDestroy, module_destroy);
}

void level0_wrap_kernel(ze_kernel_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnCreate, kernel_create);
	LEVEL0_WRAP(to, pfnDestroy, kernel_destroy);
	LEVEL0_WRAP(to, pfnSetGroupSize, kernel_group_size);
}

void level0_wrap_event(ze_event_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnCreate, event_create);
	LEVEL0_WRAP(to, pfnDestroy, event_destroy);
	LEVEL0_WRAP(to, pfnHostReset, event_reset);
}

void level0_wrap_event_pool(ze_event_pool_dditable_t *to)
{
	LEVEL0_WRAP(to, pfnCreate, pool_create);
	LEVEL0_WRAP(to, pfnDestroy, pool_destroy);
	LEVEL0_WRAP(to, pfnOpenIpcHandle, pool_open);
	LEVEL0_WRAP(to, pfnCloseIpcHandle, pool_close);
}
