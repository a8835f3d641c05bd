/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_level0.c - Level Zero: the loader fills its tables through exported functions, zeGet*ProcAddrTable,
 * which it looks up by name; ours come first and put wrappers into the tables. This covers programs that are
 * linked with the loader, open it, or ask it for addresses; programs without Level Zero never get here.
 * Nothing of Level Zero is linked: the agent calls the functions that were in the tables.
 */
#include <dlfcn.h>
#include <errno.h>
#include <time.h>

#include "record/agent/base/arch.h"
#include "record/agent/base/lock.h"
#include "record/agent/base/real.h"
#include "record/agent/base/wrap.h"
#include "record/agent/gpu/level0/gpu_level0.h"

#define LOADER "libze_loader.so.1"
#define NEAR 16	       /* running operations checked per look: most end in order */
#define FAR_LOOK 64    /* one look in this many checks all */
#define LAST_LOOKS 100 /* at the end, for operations that still run */
#define LAST_PAUSE_NS 200000

__asm__(".symver dlopen,dlopen@" ARCH_GLIBC_BASE);
#pragma weak dlopen
__asm__(".symver dlsym,dlsym@" ARCH_GLIBC_BASE);
#pragma weak dlsym

ze_dditable_t level0_real;

static struct lock lock;
static _Atomic bool is_on;    /* level0_real is complete */
static _Atomic bool is_given; /* given up, in a fork child: the devices are its parent's */
/* ---- whether it is traced ---- */

bool level0_is_on(void)
{
	return atomic_load_explicit(&is_on, memory_order_acquire);
}

bool level0_enter(void)
{
	if (!level0_is_on())
		return false;
	lock_take(&lock);
	return true;
}

void level0_leave(void)
{
	lock_give(&lock);
}

void level0_look(void)
{
	static uint32_t looks;
	int error = errno;

	if (level0_is_on() && lock_try(&lock)) {
		level0_harvest(++looks % FAR_LOOK ? NEAR : LEVEL0_ALL);
		lock_give(&lock);
	}
	errno = error;
}

/* Checks for the functions that the agent calls. A driver that lacks one is not traced. */
static bool is_complete(void)
{
	const ze_dditable_t *r = &level0_real;

	return r->Driver.pfnGet && r->Device.pfnGet && r->Device.pfnGetProperties &&
	       r->Device.pfnGetCommandQueueGroupProperties && r->Device.pfnGetGlobalTimestamps &&
	       r->EventPool.pfnCreate && r->EventPool.pfnDestroy && r->Event.pfnCreate &&
	       r->Event.pfnDestroy && r->Event.pfnQueryStatus && r->Event.pfnHostReset &&
	       r->Event.pfnQueryKernelTimestamp && r->Mem.pfnGetAllocProperties;
}

void level0_start(void)
{
	static _Atomic bool is_started;

	if (atomic_exchange(&is_started, true) || atomic_load(&is_given))
		return;
	if (is_complete()) {
		gpu_exit_watch();
		atomic_store_explicit(&is_on, true, memory_order_release);
	} else {
		gpu_unmonitored("the Level Zero driver lacks functions that hpct needs");
	}
}

/* ---- the loader's tables ---- */

static void wrap_event(ze_event_dditable_t *to)
{
	level0_wrap_event_wait(to);
	level0_wrap_event(to);
}

static void wrap_nothing(void *to)
{
	(void)to;
}

/* The loader's own function, which comes after ours in the lookup order or, if the program opened the
 * loader by itself, is in a library outside the global scope. The library stays loaded from here on: our
 * tables point into it. */
static void *loader_symbol(const char *name)
{
	void *(*volatile open)(const char *, int) = dlopen;
	void *(*volatile lookup)(void *, const char *) = dlsym;
	void *address = real_symbol(name);
	void *loader = open ? open(LOADER, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) : NULL;

	return address || !loader || !lookup ? address : lookup(loader, name);
}

/* True if tables of this version should be wrapped. */
static bool is_wanted(ze_api_version_t version)
{
	if (!gpu_is_wanted(&gpu_level0) || atomic_load(&is_given))
		return false;
	if (version >= ZE_API_VERSION_1_4 && ZE_MAJOR_VERSION(version) == 1)
		return true;
	gpu_unmonitored("hpct does not know this version of the Level Zero loader");
	return false;
}

#define TABLE(group, type, wrap)                                                                       \
	WRAPPER ze_result_t ZE_APICALL zeGet##group##ProcAddrTable(ze_api_version_t version, type *to) \
	{                                                                                              \
		__typeof__(&zeGet##group##ProcAddrTable) get =                                         \
			loader_symbol("zeGet" #group "ProcAddrTable");                                 \
		ze_result_t result = get ? get(version, to) : ZE_RESULT_ERROR_UNINITIALIZED;           \
                                                                                                       \
		if (!result && to && is_wanted(version)) {                                             \
			level0_real.group = *to;                                                       \
			wrap(to);                                                                      \
		}                                                                                      \
		return result;                                                                         \
	}

TABLE(Driver, ze_driver_dditable_t, wrap_nothing)
TABLE(Device, ze_device_dditable_t, wrap_nothing)
TABLE(Context, ze_context_dditable_t, level0_wrap_context)
TABLE(CommandQueue, ze_command_queue_dditable_t, level0_wrap_command_queue)
TABLE(CommandList, ze_command_list_dditable_t, level0_wrap_command_list)
TABLE(Fence, ze_fence_dditable_t, level0_wrap_fence)
TABLE(EventPool, ze_event_pool_dditable_t, level0_wrap_event_pool)
TABLE(Event, ze_event_dditable_t, wrap_event)
TABLE(Module, ze_module_dditable_t, level0_wrap_module)
TABLE(Kernel, ze_kernel_dditable_t, level0_wrap_kernel)
TABLE(Mem, ze_mem_dditable_t, level0_wrap_memory)

/* ---- the vendor ---- */

/* Looks repeatedly for a moment. In a signal handler the interrupted code may hold the lock. */
static void level0_flush(void)
{
	const struct timespec pause = {0, LAST_PAUSE_NS};

	if (!atomic_load(&is_on) || !lock_try(&lock))
		return;
	for (unsigned i = 0; i < LAST_LOOKS; i++) {
		level0_harvest(LEVEL0_ALL);
		if (!level0_running())
			break;
		nanosleep(&pause, NULL);
	}
	level0_give_up(NULL);
	lock_give(&lock);
}

static void level0_child(void)
{
	atomic_store(&is_given, atomic_load(&is_on));
	atomic_store(&is_on, false);
	atomic_store(&lock.state, 0);
}

const struct gpu_vendor gpu_level0 = {.name = "level0", .flush = level0_flush, .child = level0_child};
