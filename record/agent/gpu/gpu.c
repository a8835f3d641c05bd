/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.c - see gpu.h: selects the vendors, and writes the calling thread's launches, waits and calls into its
 * own ring. gpu_ring.c writes operations.
 */
#include "record/agent/gpu/gpu.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "record/agent/gpu/gpu_ring.h"
#include "record/agent/gpu/gpu_text.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/trace.h"
#include "record/agent/unwind/module_slots.h"

#define OWN_CORRELATIONS (UINT64_C(1) << 32)

static __thread uint64_t kernel_last __attribute__((tls_model("initial-exec"))); /* launched by this thread */

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static struct {
	const struct gpu_vendor *const *vendors; /* NULL-terminated; NULL before gpu_init() */
	_Atomic uint64_t correlation;
	_Atomic uint32_t exit_watched;
	bool is_forked;
} gpu;

/* ---- vendors ---- */

bool gpu_is_wanted(const struct gpu_vendor *vendor)
{
	const char *wanted = process.settings.gpu;

	return process_is_live() && (!strcmp(wanted, "auto") || !strcmp(wanted, vendor->name));
}

#define EACH_WANTED(vendor)                                                         \
	for (const struct gpu_vendor *const *at_ = gpu.vendors; at_ && *at_; at_++) \
		for (const struct gpu_vendor *vendor = *at_; vendor && gpu_is_wanted(vendor); vendor = NULL)

void gpu_init(const struct gpu_vendor *const *vendors)
{
	gpu.vendors = vendors;
}

void gpu_open(void)
{
	EACH_WANTED(vendor)
	if (vendor->open)
		vendor->open();
}

void gpu_come(void)
{
	gpu_ring_child(); /* what it knows is of a memory before this one */
	EACH_WANTED(vendor)
	if (vendor->come)
		vendor->come();
}

void gpu_leave(void)
{
	EACH_WANTED(vendor)
	if (vendor->leave)
		vendor->leave();
}

void gpu_flush(void)
{
	EACH_WANTED(vendor)
	if (vendor->flush)
		vendor->flush();
}

void gpu_save(void)
{
	if (!process_is_own())
		return;
	EACH_WANTED(vendor)
	if (vendor->save)
		vendor->save();
}

void gpu_look_back(void)
{
	EACH_WANTED(vendor)
	if (vendor->look_back)
		vendor->look_back();
}

void gpu_child(void)
{
	gpu.is_forked = true;
	gpu_ring_child();
	EACH_WANTED(vendor)
	if (vendor->child)
		vendor->child();
}

static int library_look(struct dl_phdr_info *info, size_t bytes, void *names)
{
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)bytes;
	for (const char *const *name = names; base && *name; name++)
		if (strncmp(base + 1, *name, strlen(*name)) == 0)
			return 1;
	return 0;
}

/* In a fork child a lost thread may hold the loader's locks, which would block for ever: so this checks
 * the modules that call paths have used. */
bool gpu_library_was_there(const char *const *names)
{
	return gpu.is_forked ? module_slots_is_met(names) : gpu_library_is_there(names);
}

bool gpu_library_is_there(const char *const *names)
{
	return dl_iterate_phdr(library_look, (void *)names) == 1;
}

static void at_exit(void *nothing)
{
	(void)nothing;
	if (process_is_own())
		gpu_flush();
}

void gpu_exit_watch(void)
{
	if (!atomic_exchange(&gpu.exit_watched, 1))
		__cxa_atexit(at_exit, NULL, NULL);
}

/* ---- devices ---- */

#define DEVICES_MAX 256u

/* By number: (vendor, its own number), 0: free. A place is taken for good, and every search goes through the
 * places in the same order: threads that number the same device at once come to the same place. */
static _Atomic uint64_t device_keys[DEVICES_MAX];

static uint64_t device_key(const struct gpu_vendor *vendor, uint32_t own)
{
	uint64_t place = 1;

	for (const struct gpu_vendor *const *at = gpu.vendors; at && *at && *at != vendor; at++)
		place++;
	return place << 32 | own;
}

static bool is_number_of(uint32_t number, uint64_t key)
{
	uint64_t taken = atomic_load(&device_keys[number]);

	return taken == key ||
	       (!taken &&
		       (atomic_compare_exchange_strong(&device_keys[number], &taken, key) || taken == key));
}

uint32_t gpu_device_number(const struct gpu_vendor *vendor, uint32_t own)
{
	uint64_t key = device_key(vendor, own);

	if (own >= DEVICES_MAX || is_number_of(own, key))
		return own;
	for (uint32_t number = 0; number < DEVICES_MAX; number++)
		if (is_number_of(number, key))
			return number;
	return own;
}

/* ---- into the calling thread's ring ---- */

uint64_t gpu_now_ns(void)
{
	return process_now_ns();
}

uint64_t gpu_correlation(void)
{
	return OWN_CORRELATIONS + atomic_fetch_add(&gpu.correlation, 1);
}

void (*gpu_launch_watch)(struct thread *t, uint32_t node);

static void launch_put(uint64_t correlation, uint64_t begin_ns, uint8_t flags)
{
	uint64_t end_ns = process_now_ns();
	int error = errno;
	struct thread *t = trace_begin();

	if (t) {
		uint32_t node = trace_callpath(t);

		trace_launch(t, node, correlation, begin_ns, end_ns, flags);
		trace_end(t);
		if (gpu_launch_watch)
			gpu_launch_watch(t, node);
	}
	errno = error;
}

void gpu_launched(uint64_t correlation, uint64_t begin_ns)
{
	launch_put(correlation, begin_ns, 0);
}

void gpu_kernel_launched(uint64_t correlation, uint64_t begin_ns)
{
	launch_put(correlation, begin_ns, EVENT_F_KERNEL);
	kernel_last = correlation;
}

void gpu_unqueued(uint64_t correlation, uint64_t begin_ns)
{
	launch_put(correlation, begin_ns, EVENT_F_UNQUEUED);
}

uint64_t gpu_kernel_last(void)
{
	uint64_t correlation = kernel_last;

	kernel_last = 0;
	return correlation;
}

static void span_put(uint32_t operation, uint64_t begin_ns, uint64_t bytes, const char *attributes)
{
	int error = errno;
	struct thread *t = begin_ns ? trace_begin() : NULL;
	struct event_span span = {
		.begin_ns = begin_ns, .end_ns = process_now_ns(), .bytes = bytes, .operation = operation};

	if (t) {
		span.h.node = trace_callpath(t);
		span.attributes = *attributes ? trace_text(t, attributes) : 0;
		trace_span(t, EVENT_SPAN, &span);
		trace_end(t);
	}
	errno = error;
}

uint64_t gpu_sync_begin(void)
{
	return process_is_live() ? process_now_ns() : 0;
}

void gpu_sync_end(uint64_t begin_ns, enum gpu_sync_kind kind, const struct gpu_queue *queue)
{
	char text[GPU_TEXT_BYTES];

	gpu_text_sync(text, kind, queue);
	span_put(STORE_OP_SYNC, begin_ns, 0, text);
}

void gpu_call(
	uint32_t operation, uint64_t begin_ns, uint64_t bytes, enum gpu_memory_kind kind, const void *address)
{
	char text[GPU_TEXT_BYTES] = "";

	if (operation != STORE_OP_COMPILE && operation != STORE_OP_LOAD)
		gpu_text_memory(text, kind, (uintptr_t)address);
	span_put(operation, begin_ns, bytes, text);
}

void gpu_thread_hide(void)
{
	struct thread *t = thread_own();

	if (t && !t->ring.busy)
		thread_end(t);
}
