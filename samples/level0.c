/* SPDX-License-Identifier: Apache-2.0 */
/*
 * level0.c - uses Level Zero in the way that its first argument names: immediate regular replay burst devices
 * events threads hurry leave fork. Needs a driver whose kernels are called NAME_500us and take so long
 * (tests/level0).
 *
 * What the trace must show: every operation that the driver ran (its own log has their times), each once and
 * at its time, on a stream of its queue, below the call path of the function that started it: kernels of a
 * regular list below the one that executed it. Prints what was done, tab between, as
 *   op  kind or name  count  bytes
 * with sync, alloc, free and compile, which are on the calling thread's stream.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "samples/burn.h"
#include "samples/level0_calls.h"

#define BYTES 65536u
#define THREADS 4
#define MUST(call)                                                                       \
	do {                                                                             \
		ze_result_t result_ = (call);                                            \
		if (result_) {                                                           \
			fprintf(stderr, "level0: %s: 0x%x\n", #call, (unsigned)result_); \
			exit(1);                                                         \
		}                                                                        \
	} while (0)

/* ---- what was done ---- */

static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static struct done {
	const char *op, *name;
	unsigned count;
	unsigned long bytes;
} dones[32];

static void did(const char *op, const char *name, unsigned long bytes)
{
	unsigned i = 0;

	pthread_mutex_lock(&done_lock);
	while (dones[i].op && (strcmp(dones[i].op, op) != 0 || strcmp(dones[i].name, name) != 0))
		i++;
	dones[i].op = op;
	dones[i].name = name;
	dones[i].count++;
	dones[i].bytes += bytes;
	pthread_mutex_unlock(&done_lock);
}

/* ---- one device, ready for work ---- */

static ze_driver_handle_t driver;
static ze_device_handle_t devices[2];

struct work {
	ze_device_handle_t device;
	ze_context_handle_t context;
	ze_module_handle_t module;
	ze_kernel_handle_t axpy, reduce;
	void *host, *there, *shared;
	ze_event_pool_handle_t pool;
	ze_event_handle_t events[4];
};

static ze_kernel_handle_t kernel_of(struct work *w, const char *name)
{
	ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
	ze_kernel_handle_t kernel;

	MUST(ZE(zeKernelCreate)(w->module, &desc, &kernel));
	MUST(ZE(zeKernelSetGroupSize)(kernel, 64, 2, 1));
	return kernel;
}

APART static void work_open(struct work *w, unsigned device, unsigned pool_flags)
{
	static const uint8_t image[] = "axpy_300us reduce_200us";
	ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
		.format = ZE_MODULE_FORMAT_NATIVE,
		.inputSize = sizeof(image),
		.pInputModule = image};
	ze_device_mem_alloc_desc_t on_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	ze_event_pool_desc_t pool = {
		.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = pool_flags, .count = 4};

	w->device = devices[device];
	MUST(ZE(zeContextCreate)(driver, &context, &w->context));
	MUST(ZE(zeModuleCreate)(w->context, w->device, &module, &w->module, NULL));
	did("compile", "", sizeof(image));
	w->axpy = kernel_of(w, "axpy_300us");
	w->reduce = kernel_of(w, "reduce_200us");
	MUST(ZE(zeMemAllocHost)(w->context, &on_host, BYTES, 64, &w->host));
	did("alloc", "PIN", BYTES);
	MUST(ZE(zeMemAllocDevice)(w->context, &on_device, 2 * BYTES, 64, w->device, &w->there));
	did("alloc", "DEV", 2 * BYTES);
	MUST(ZE(zeMemAllocShared)(w->context, &on_device, &on_host, BYTES / 2, 64, w->device, &w->shared));
	did("alloc", "MAN", BYTES / 2);
	MUST(ZE(zeEventPoolCreate)(w->context, &pool, 1, &w->device, &w->pool));
	for (uint32_t i = 0; i < 4; i++) {
		ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};

		MUST(ZE(zeEventCreate)(w->pool, &event, &w->events[i]));
	}
	NO_TAIL_CALL();
}

APART static void work_close(struct work *w)
{
	for (unsigned i = 0; i < 4; i++)
		MUST(ZE(zeEventDestroy)(w->events[i]));
	MUST(ZE(zeEventPoolDestroy)(w->pool));
	MUST(ZE(zeMemFree)(w->context, w->host));
	did("free", "PIN", BYTES);
	MUST(ZE(zeMemFree)(w->context, w->there));
	did("free", "DEV", 2 * BYTES);
	MUST(ZE(zeMemFree)(w->context, w->shared));
	did("free", "MAN", BYTES / 2);
	MUST(ZE(zeKernelDestroy)(w->axpy));
	MUST(ZE(zeKernelDestroy)(w->reduce));
	MUST(ZE(zeModuleDestroy)(w->module));
	MUST(ZE(zeContextDestroy)(w->context));
	NO_TAIL_CALL();
}

static ze_command_list_handle_t list_new(struct work *w)
{
	ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
	ze_command_list_handle_t list;

	MUST(ZE(zeCommandListCreate)(w->context, w->device, &desc, &list));
	return list;
}

static ze_command_queue_desc_t queue_desc(ze_command_queue_mode_t mode)
{
	return (ze_command_queue_desc_t){.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .mode = mode};
}

static ze_command_list_handle_t immediate_new(struct work *w, ze_command_queue_mode_t mode)
{
	ze_command_queue_desc_t desc = queue_desc(mode);
	ze_command_list_handle_t list;

	MUST(ZE(zeCommandListCreateImmediate)(w->context, w->device, &desc, &list));
	return list;
}

static ze_command_queue_handle_t queue_new(struct work *w)
{
	ze_command_queue_desc_t desc = queue_desc(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_command_queue_handle_t queue;

	MUST(ZE(zeCommandQueueCreate)(w->context, w->device, &desc, &queue));
	return queue;
}

/* ---- operations ---- */

APART static void launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel, ze_event_handle_t signal)
{
	ze_group_count_t groups = {16, 4, 1};

	MUST(ZE(zeCommandListAppendLaunchKernel)(list, kernel, &groups, signal, 0, NULL));
	NO_TAIL_CALL();
}

APART static void copy(ze_command_list_handle_t list, void *to, const void *from, ze_event_handle_t signal)
{
	MUST(ZE(zeCommandListAppendMemoryCopy)(list, to, from, BYTES, signal, 0, NULL));
	NO_TAIL_CALL();
}

APART static void fill(ze_command_list_handle_t list, struct work *w, ze_event_handle_t signal)
{
	static const int zero;

	MUST(ZE(zeCommandListAppendMemoryFill)(list, w->there, &zero, sizeof(zero), BYTES, signal, 0, NULL));
	NO_TAIL_CALL();
}

APART static void wait_event(ze_event_handle_t event)
{
	MUST(ZE(zeEventHostSynchronize)(event, UINT64_MAX));
	did("sync", "EVT", 0);
	NO_TAIL_CALL();
}

APART static void wait_queue(ze_command_queue_handle_t queue)
{
	MUST(ZE(zeCommandQueueSynchronize)(queue, UINT64_MAX));
	did("sync", "STR", 0);
	NO_TAIL_CALL();
}

/* One of each; what did them says so. */
APART static void append_each(struct work *w, ze_command_list_handle_t list, ze_event_handle_t last)
{
	copy(list, w->there, w->host, NULL);
	launch(list, w->axpy, NULL);
	fill(list, w, NULL);
	launch(list, w->reduce, NULL);
	copy(list, w->host, w->there, last);
	NO_TAIL_CALL();
}

static void did_each(void)
{
	did("copy", "H2D", BYTES);
	did("kernel", "axpy_300us", 0);
	did("set", "DEV", BYTES);
	did("kernel", "reduce_200us", 0);
	did("copy", "D2H", BYTES);
}

/* ---- the ways ---- */

/* An asynchronous list, then one that returns when all is done. */
APART static void immediate(struct work *w)
{
	ze_command_list_handle_t list = immediate_new(w, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_command_list_handle_t slow = immediate_new(w, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);

	for (unsigned i = 0; i < 10; i++) {
		append_each(w, list, w->events[0]);
		did_each();
		wait_event(w->events[0]);
		MUST(ZE(zeEventHostReset)(w->events[0]));
	}
	launch(slow, w->axpy, NULL);
	did("kernel", "axpy_300us", 0);
	did("sync", "STR", 0);
	MUST(ZE(zeCommandListDestroy)(list));
	MUST(ZE(zeCommandListDestroy)(slow));
}

/* Filled, closed, executed with a fence; reset and filled anew. */
APART static void regular(struct work *w)
{
	ze_command_queue_handle_t queue = queue_new(w);
	ze_command_list_handle_t list = list_new(w);
	ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};

	for (unsigned i = 0; i < 5; i++) {
		ze_fence_handle_t fence;

		append_each(w, list, NULL);
		MUST(ZE(zeCommandListClose)(list));
		MUST(ZE(zeFenceCreate)(queue, &desc, &fence));
		MUST(ZE(zeCommandQueueExecuteCommandLists)(queue, 1, &list, fence));
		did_each();
		MUST(ZE(zeFenceHostSynchronize)(fence, UINT64_MAX));
		did("sync", "STR", 0);
		MUST(ZE(zeFenceDestroy)(fence));
		MUST(ZE(zeCommandListReset)(list));
	}
	MUST(ZE(zeCommandListDestroy)(list));
	MUST(ZE(zeCommandQueueDestroy)(queue));
}

/* The same list ten times; its last operation has an event that the list itself resets. `pause`: the program
 * waits between two times, or only at the end. */
APART static void replay(struct work *w, int pause)
{
	ze_command_queue_handle_t queue = queue_new(w);
	ze_command_list_handle_t list = list_new(w);

	MUST(ZE(zeCommandListAppendEventReset)(list, w->events[0]));
	append_each(w, list, w->events[0]);
	MUST(ZE(zeCommandListClose)(list));
	MUST(ZE(zeEventHostSignal)(w->events[3]));
	for (unsigned i = 0; i < 10; i++) {
		MUST(ZE(zeCommandQueueExecuteCommandLists)(queue, 1, &list, NULL));
		did_each();
		MUST(ZE(zeEventQueryStatus)(w->events[3])); /* of nothing: but a tracer may look about now */
		if (pause)
			wait_queue(queue);
	}
	wait_queue(queue);
	MUST(ZE(zeCommandListDestroy)(list));
	MUST(ZE(zeCommandQueueDestroy)(queue));
}

static void replay_waiting(struct work *w)
{
	replay(w, 1);
}

static void replay_burst(struct work *w)
{
	replay(w, 0);
}

/* Two devices at a time, and a copy from one to the other. */
APART static void two_devices(struct work *w)
{
	struct work other;
	ze_command_list_handle_t here, there;

	work_open(&other, 1, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
	here = immediate_new(w, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	there = immediate_new(&other, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	for (unsigned i = 0; i < 5; i++) {
		launch(here, w->axpy, NULL);
		did("kernel", "axpy_300us", 0);
		launch(there, other.reduce, NULL);
		did("kernel", "reduce_200us", 0);
	}
	copy(here, w->there, other.there, w->events[0]);
	did("copy", "P2P", BYTES);
	fill(there, &other, other.events[0]);
	did("set", "DEV", BYTES);
	wait_event(w->events[0]);
	wait_event(other.events[0]);
	MUST(ZE(zeCommandListDestroy)(here));
	MUST(ZE(zeCommandListDestroy)(there));
	work_close(&other);
}

/* Events of the program: with and without times, used again, waited for by the device, polled. */
APART static void events(struct work *w)
{
	ze_command_list_handle_t list = immediate_new(w, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_command_list_handle_t other = immediate_new(w, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

	for (unsigned i = 0; i < 10; i++) {
		launch(list, w->axpy, w->events[i % 2]);
		did("kernel", "axpy_300us", 0);
		MUST(ZE(zeCommandListAppendWaitOnEvents)(other, 1, &w->events[i % 2]));
		did("sync", "STRE", 0);
		launch(other, w->reduce, w->events[2]);
		did("kernel", "reduce_200us", 0);
		while (ZE(zeEventQueryStatus)(w->events[2]) == ZE_RESULT_NOT_READY)
			usleep(50);
		MUST(ZE(zeEventHostReset)(w->events[i % 2]));
		MUST(ZE(zeEventHostReset)(w->events[2]));
	}
	/* Reset by the device, behind what signals it. */
	for (unsigned i = 0; i < 5; i++) {
		launch(list, w->reduce, w->events[1]);
		did("kernel", "reduce_200us", 0);
		MUST(ZE(zeCommandListAppendEventReset)(list, w->events[1]));
	}
	/* Held back until the host says so. */
	MUST(ZE(zeCommandListAppendWaitOnEvents)(list, 1, &w->events[3]));
	did("sync", "STRE", 0);
	launch(list, w->axpy, w->events[0]);
	did("kernel", "axpy_300us", 0);
	usleep(2000);
	MUST(ZE(zeEventHostSignal)(w->events[3]));
	wait_event(w->events[0]);
	MUST(ZE(zeCommandListDestroy)(list));
	MUST(ZE(zeCommandListDestroy)(other));
}

static void *thread(void *argument)
{
	struct work *w = argument;
	ze_command_list_handle_t list = immediate_new(w, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
	ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
	ze_event_pool_handle_t pool;
	ze_event_handle_t event;

	MUST(ZE(zeEventPoolCreate)(w->context, &pool_desc, 1, &w->device, &pool));
	for (unsigned i = 0; i < 24; i++) {
		MUST(ZE(zeEventCreate)(pool, &desc, &event));
		launch(list, w->reduce, i % 2 ? NULL : event);
		launch(list, w->reduce, i % 2 ? event : NULL);
		did("kernel", "reduce_200us", 0);
		did("kernel", "reduce_200us", 0);
		wait_event(event);
		MUST(ZE(zeEventDestroy)(event));
	}
	MUST(ZE(zeCommandListDestroy)(list));
	MUST(ZE(zeEventPoolDestroy)(pool));
	return NULL;
}

APART static void threads(struct work *w)
{
	pthread_t list[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&list[i], NULL, thread, w))
			exit(1);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(list[i], NULL);
}

/* Ends with everything open; all but the last was done a while ago. */
APART static void hurry(struct work *w)
{
	ze_command_list_handle_t list = immediate_new(w, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);

	append_each(w, list, NULL);
	did_each();
	usleep(5000);
	launch(list, w->axpy, NULL);
	did("kernel", "axpy_300us", 0);
}

/* A child that leaves the devices alone, and one that ends by _exit; then work goes on. */
APART static void forks(struct work *w)
{
	ze_command_list_handle_t list = immediate_new(w, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	pid_t child;

	launch(list, w->axpy, NULL);
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	launch(list, w->reduce, w->events[0]);
	wait_event(w->events[0]);
	did("kernel", "axpy_300us", 0);
	did("kernel", "reduce_200us", 0);
	MUST(ZE(zeCommandListDestroy)(list));
}

static int start(void)
{
	uint32_t drivers = 1, count = 2;
	ze_result_t result;

	if (calls_open()) {
		fprintf(stderr, "level0: there is no Level Zero loader\n");
		return 1;
	}
	result = ZE(zeInit)(0);
	if (result) {
		printf("zeInit\t0x%x\n", (unsigned)result);
		return 1;
	}
	MUST(ZE(zeDriverGet)(&drivers, &driver));
	MUST(ZE(zeDeviceGet)(driver, &count, devices));
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*way)(struct work *);
		enum { CLOSES, STAYS, LEAVES } end; /* nothing is closed; nor is exit called */
	} ways[] = {{"immediate", immediate, CLOSES}, {"regular", regular, CLOSES},
		{"replay", replay_waiting, CLOSES}, {"burst", replay_burst, CLOSES},
		{"devices", two_devices, CLOSES}, {"events", events, CLOSES}, {"threads", threads, CLOSES},
		{"hurry", hurry, STAYS}, {"leave", hurry, LEAVES}, {"fork", forks, CLOSES}};
	struct work w;

	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (argc < 2 || strcmp(argv[1], ways[i].name) != 0)
			continue;
		if (start())
			return 1;
		work_open(
			&w, 0, i % 2 ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
		ways[i].way(&w);
		if (ways[i].end == CLOSES)
			work_close(&w);
		for (unsigned k = 0; dones[k].op; k++)
			printf("%s\t%s\t%u\t%lu\n", dones[k].op, dones[k].name, dones[k].count,
				dones[k].bytes);
		return 0;
	}
	return 2;
}
