/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.c - a program on several GPUs with its own "driver" and "NCCL", for e2e.gpu.nccl: one process a rank,
 * as torchrun starts them. Like the real one, NCCL loads the library that NCCL_PROFILER_PLUGIN names, and
 * tells it the calls of a kernel right after its launch, by version VERSION (2, 3, 4) of its interface.
 *
 *   nccl CUPTI RANKS VERSION steps       each rank: AllReduce, two Broadcasts in one kernel, AllGather on a
 *                                        communicator of the even ranks, a message from rank 0 to rank 1
 *   nccl CUPTI RANKS VERSION hang RANK   all but RANK come to a second AllReduce, whose kernels never end;
 *                                        prints a line once all others are in it, and waits to be killed
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/fake.h"

#define APART __attribute__((noinline, noclone))
#define HASH UINT64_C(0x98066c5c7eb7905a)

static fake_cupti_call *cupti_call;
static int rank, ranks, version;

/* ---- the driver ---- */

static void *symbol(const char *variable, const char *name)
{
	const char *path = getenv(variable);
	void *tool = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	return tool ? dlsym(tool, name) : NULL;
}

static void driver_start(const char *cupti)
{
	void *start = symbol("CUDA_INJECTION64_PATH", "InitializeInjection"), *library, *call;
	int (*function)(void);

	memcpy(&function, &start, sizeof(function));
	if (start)
		function();
	library = dlopen(cupti, RTLD_NOW | RTLD_NOLOAD);
	call = library ? dlsym(library, "fake_call") : NULL;
	memcpy(&cupti_call, &call, sizeof(cupti_call));
}

static void launch(const char *kernel)
{
	if (cupti_call)
		cupti_call("cuLaunchKernel", kernel);
}

/* ---- NCCL: its plug-in interface, version 4, and 2 and 3 where they differ ---- */

struct event {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			uint64_t number;
			const char *function;
			const void *from;
			void *to;
			size_t count;
			int root;
			const char *type;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} v4;
		struct {
			const char *name;
			uint64_t hash, number;
			const char *function;
			const void *from;
			void *to;
			size_t count;
			int root;
			const char *type;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} v3;
		struct {
			const char *name;
			uint64_t hash, number;
			const char *function;
			const void *from;
			void *to;
			size_t count;
			int root;
			const char *type;
			size_t bytes;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} v2;
		struct {
			const char *function;
			void *buffer;
			const char *type;
			size_t count;
			int peer;
			uint8_t channels;
		} message_v4;
		struct {
			const char *name;
			uint64_t hash;
			const char *function;
			void *buffer;
			const char *type;
			size_t count;
			int peer;
		} message_v3;
	};
};

struct plugin {
	const char *name;
	union {
		int (*old)(void **context, int *mask);
		int (*v4)(void **context, int *mask, const char *name, uint64_t hash, int nodes, int ranks,
			int rank, void *log);
	} init;
	int (*start)(void *context, void **handle, struct event *event);
	int (*stop)(void *handle);
	int (*state)(void *handle, int state, void *more);
	int (*fini)(void *context);
};

static const struct plugin *plugin;

struct communicator {
	void *context;
	const char *name;
	uint64_t hash, number;
	int mask, rank, ranks;
};

static void plugin_load(void)
{
	char name[] = "ncclProfiler_v?";

	name[sizeof(name) - 2] = (char)('0' + version);
	plugin = symbol("NCCL_PROFILER_PLUGIN", name);
}

static struct communicator communicator_new(const char *name, uint64_t hash, int own, int all)
{
	struct communicator made = {.name = name, .hash = hash, .rank = own, .ranks = all};

	if (plugin && version < 4)
		plugin->init.old(&made.context, &made.mask);
	else if (plugin)
		plugin->init.v4(&made.context, &made.mask, name, hash, 1, all, own, NULL);
	return made;
}

struct call {
	const char *function, *type;
	size_t count;
	int other; /* the root; of a message the peer */
};

static struct event collective_of(struct communicator *at, const struct call *call)
{
	struct event event = {.type = 2, .rank = at->rank};

	if (version == 4) {
		event.v4.function = call->function;
		event.v4.type = call->type;
		event.v4.count = call->count;
		event.v4.root = call->other;
		event.v4.channels = 24;
		event.v4.algorithm = "RING";
		event.v4.protocol = "SIMPLE";
	} else {
		event.v3.name = at->name;
		event.v3.hash = at->hash;
		event.v3.function = call->function;
		event.v3.type = call->type;
		event.v3.count = call->count;
		event.v3.root = call->other;
		*(version == 3 ? &event.v3.channels : &event.v2.channels) = 24;
		*(version == 3 ? &event.v3.algorithm : &event.v2.algorithm) = "RING";
		*(version == 3 ? &event.v3.protocol : &event.v2.protocol) = "SIMPLE";
	}
	return event;
}

static struct event message_of(struct communicator *at, const struct call *call)
{
	struct event event = {.type = 4, .rank = at->rank};

	if (version == 4) {
		event.message_v4.function = call->function;
		event.message_v4.type = call->type;
		event.message_v4.count = call->count;
		event.message_v4.peer = call->other;
		event.message_v4.channels = 2;
	} else {
		event.message_v3.name = at->name;
		event.message_v3.hash = at->hash;
		event.message_v3.function = call->function;
		event.message_v3.type = call->type;
		event.message_v3.count = call->count;
		event.message_v3.peer = call->other;
	}
	return event;
}

/* One kernel for all calls of a group, as NCCL's hostStreamPlanTask tells them. */
APART static void group(struct communicator *at, const char *kernel, const struct call *calls, int count)
{
	struct event event = {.type = 1, .rank = at->rank};
	void *handles[4] = {0}, *outer = NULL;

	launch(kernel);
	if (!plugin || !at->mask)
		return;
	plugin->start(at->context, &outer, &event);
	for (int i = 0; i < count; i++) {
		event = strcmp(calls[i].function, "Send") && strcmp(calls[i].function, "Recv")
				? collective_of(at, &calls[i])
				: message_of(at, &calls[i]);
		event.parent = outer;
		plugin->start(at->context, &handles[i], &event);
	}
	for (int i = 0; i < count; i++)
		plugin->stop(handles[i]);
	plugin->stop(outer);
	__asm__ volatile("" ::: "memory");
}

APART static void ncclAllReduce(struct communicator *at)
{
	const struct call call = {"AllReduce", "ncclFloat32", 1000, 0};

	group(at, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", &call, 1);
	__asm__ volatile("" ::: "memory");
}

APART static void steps(struct communicator *world)
{
	const struct call broadcasts[] = {
		{"Broadcast", "ncclInt8", 100, 1}, {"Broadcast", "ncclInt8", 50, 1}};
	const struct call gather = {"AllGather", "ncclBfloat16", 8, 0};
	const struct call message = {rank ? "Recv" : "Send", "ncclFloat64", 4, !rank};
	struct communicator even = communicator_new("even,ranks", HASH + 1, rank / 2, (ranks + 1) / 2);

	ncclAllReduce(world);
	launch("axpy");
	group(world, "ncclDevKernel_Broadcast_RING_LL", broadcasts, 2);
	if (rank % 2 == 0)
		group(&even, "ncclDevKernel_AllGather_RING_LL", &gather, 1);
	if (rank < 2)
		group(world, "ncclDevKernel_SendRecv", &message, 1);
	if (plugin)
		plugin->fini(even.context);
	__asm__ volatile("" ::: "memory");
}

APART static void straggle(void)
{
	for (;;)
		pause();
}

/* `ready`: to tell that this rank is as far as it gets. */
APART static void hang(struct communicator *world, int late, int ready)
{
	ncclAllReduce(world);
	if (rank != late) {
		setenv("FAKE_CUPTI", "never=1", 1);
		ncclAllReduce(world);
	}
	if (write(ready, "x", 1) != 1)
		exit(1);
	straggle();
	__asm__ volatile("" ::: "memory");
}

static void rank_run(char **argv, int ready)
{
	struct communicator world;
	char text[16];

	driver_start(argv[1]);
	plugin_load();
	world = communicator_new(NULL, HASH, rank, ranks);
	if (!strcmp(argv[4], "steps"))
		steps(&world);
	else
		hang(&world, atoi(argv[5]), ready);
	if (plugin)
		plugin->fini(world.context);
	snprintf(text, sizeof(text), "rank %d\n", rank);
	if (write(1, text, strlen(text)) < 0)
		exit(1);
	exit(0);
}

/* Each rank is a program of its own: this one again, in the environment that torchrun gives. */
static void rank_start(char **argv, int number, int ready)
{
	char text[16];

	if (fork())
		return;
	snprintf(text, sizeof(text), "%d", number);
	setenv("RANK", text, 1);
	setenv("WORLD_SIZE", argv[2], 1);
	setenv("MASTER_ADDR", "localhost", 1);
	snprintf(text, sizeof(text), "%d", ready);
	setenv("NCCL_TEST_READY", text, 1);
	execv("/proc/self/exe", argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	int ready[2], status, failed = 0;
	char byte;

	if (argc < 5 || pipe(ready))
		return 2;
	ranks = atoi(argv[2]);
	version = atoi(argv[3]);
	if (getenv("NCCL_TEST_READY")) {
		rank = atoi(getenv("RANK"));
		rank_run(argv, atoi(getenv("NCCL_TEST_READY")));
	}
	for (int i = 0; i < ranks; i++)
		rank_start(argv, i, ready[1]);
	if (!strcmp(argv[4], "hang")) {
		for (int i = 0; i < ranks; i++)
			failed |= read(ready[0], &byte, 1) != 1;
		printf("hangs\n");
		fflush(stdout);
	}
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}
