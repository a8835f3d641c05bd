/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_bench.c - what a collector spends on each record, from the rings of a process to its store: the
 * records that an agent would write are put into memory as an agent's is, then the collector's own functions
 * take them (measured.h), set watermarks and commit, as its loop does.
 *
 *   ring of each thread --measured_process_drain--> join, writer --measured_process_complete, commit when
 * laden--> store activity ring ------------------------>
 *
 * Prints TSV: what, threads, records, ns per record (CPU time of the collector's part alone, the kernel's
 * share of commits included; 20 ns are 50 M records/s per core). A GPU operation is two records: its launch
 * in the thread's ring, and itself in the activity ring, which comes a round later. With a directory as
 * argument (`-`: none) the stores stay there, to be held against those of another build; `samples` or `gpu`
 * behind it chooses, a number behind that says how many threads at most. LMDB's map is larger than valgrind
 * takes: `(ulimit -v 60000000; valgrind --tool=callgrind build/bench/collect_bench - gpu 1)`.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/process/process.h"
#include "store/read/reader.h"

#define THREADS_MAX 32u
#define ROUND 2000u /* records of each thread: a quarter of its ring, after which a collector looks */
#define RECORDS 4000000u
#define NODES 5000u
#define HOT 64u
#define KERNELS 40u
#define LAUNCHES_PER_SAMPLE 200u
#define COMMIT_BYTES (4u << 20)	       /* as a collector */
#define BEGIN_NS UINT64_C(40000000000) /* a join's watermark begins at 30 s */
#define LATE_NS UINT64_C(50000000)
#define AHEAD_SECONDS 86400

#define RINGS_AT (EVENT_MODULES_AT + EVENT_MODULE_MAX * sizeof(struct event_module))
#define ACTIVITY_AT (RINGS_AT + (uint64_t)THREADS_MAX * EVENT_RING_STRIDE)
#define MEMORY_BYTES (ACTIVITY_AT + EVENT_RING_HEADER + EVENT_ACTIVITY_DATA)
static_assert(RINGS_AT % 4096 == 0 && ACTIVITY_AT % 4096 == 0, "rings begin at pages");

struct source {
	struct event_process *shared;
	struct measured_process *process;
	struct store_writer *writer;
	uint32_t threads, host;
	bool is_gpu;
	uint64_t now_ns[THREADS_MAX], busy_ns[THREADS_MAX]; /* of each thread, and of its queue */
	uint64_t correlation;
	struct event_gpu late[THREADS_MAX * ROUND]; /* of the round before */
	uint32_t late_count;
	uint64_t records;
	double seconds;
};

/* The clock that the collector reads (the linker's --wrap): the records' times, an hour and more, lie behind
 * it. On a machine that has just started they would not, and a collector has no record in the future. */
int __wrap_vdso_clock_gettime(clockid_t clock, struct timespec *now);
int __real_vdso_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_vdso_clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = __real_vdso_clock_gettime(clock, now);

	now->tv_sec += AHEAD_SECONDS;
	return rc;
}

static uint64_t chance;

static uint64_t draw(void)
{
	uint64_t z = chance += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void die(const char *what)
{
	fprintf(stderr, "collect_bench: cannot %s\n", what);
	exit(5);
}

/* ---- the agent's part ---- */

static void *put(
	struct event_ring *ring, uint64_t ring_bytes, enum event_type type, uint32_t node, size_t bytes)
{
	uint8_t *data = (uint8_t *)ring + EVENT_RING_HEADER;
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint64_t room = ring_bytes - head % ring_bytes;
	struct event_header *h = (void *)(data + head % ring_bytes);

	bytes = (bytes + 7) / 8 * 8;
	if (bytes > room) {
		*h = (struct event_header){.type = EVENT_PAD, .words = (uint16_t)(room / 8)};
		head += room;
		h = (void *)data;
	}
	*h = (struct event_header){.type = (uint8_t)type, .words = (uint16_t)(bytes / 8), .node = node};
	atomic_store_explicit(&ring->head, head + bytes, memory_order_release);
	return h;
}

static struct event_ring *thread_ring(const struct source *source, uint32_t thread)
{
	return (struct event_ring *)((char *)source->shared + RINGS_AT + (size_t)thread * EVENT_RING_STRIDE);
}

static struct event_ring *activity_ring(const struct source *source)
{
	return (struct event_ring *)((char *)source->shared + ACTIVITY_AT);
}

static void put_text(struct event_ring *ring, uint64_t id, const char *bytes)
{
	size_t size = strlen(bytes);
	struct event_text *text =
		put(ring, EVENT_ACTIVITY_DATA, EVENT_TEXT, (uint32_t)size, sizeof(*text) + size);

	text->id = id;
	memcpy(text->bytes, bytes, size);
}

/* Kernels' names, ids from 1, and what is said of their launches. */
static void put_texts(const struct source *source)
{
	char text[128];

	for (unsigned kernel = 0; kernel < KERNELS; kernel++) {
		snprintf(text, sizeof(text), "void solve<%u>(double *, double const *, int)", kernel);
		put_text(activity_ring(source), 1 + kernel, text);
	}
	for (unsigned kernel = 0; kernel < KERNELS; kernel++) {
		snprintf(text, sizeof(text), "grid=%ux1x1,block=256x1x1,registers=%u,kind=host-to-device",
			64 * kernel, 32 + kernel);
		put_text(activity_ring(source), 1 + KERNELS + kernel, text);
	}
}

/* A tree of paths: each node below one of half its number. */
static void put_nodes(struct event_ring *ring, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		struct event_node_record *node =
			put(ring, EVENT_RING_DATA, EVENT_NODE, EVENT_NODE_FIRST + i, sizeof(*node));

		node->parent = i ? EVENT_NODE_FIRST + i / 2 : EVENT_NODE_PROGRAM_ROOT;
		node->module = 0;
		node->offset = 0x100 + 16 * i;
	}
}

static void put_sample(struct source *source, uint32_t thread, uint64_t weight)
{
	uint64_t now_ns = source->now_ns[thread];
	uint32_t phase = (uint32_t)(now_ns / 2000000000);
	uint32_t hot = (phase * 977 + (uint32_t)(draw() % HOT >> draw() % 6) * 61) % NODES;
	uint32_t node = draw() % 100 < 3 ? (uint32_t)(draw() % NODES) : hot;
	struct event_sample *sample = put(thread_ring(source, thread), EVENT_RING_DATA, EVENT_SAMPLE,
		EVENT_NODE_FIRST + node, sizeof(*sample));

	sample->h.flags = EVENT_F_EXTENT;
	sample->time_ns = now_ns;
	sample->weight = weight;
	sample->metric = 0;
	source->records++;
}

/* The launch, and what its operation will be: kernels in sequences that repeat, each tenth a copy. */
static void put_launch(struct source *source, uint32_t thread, uint32_t number)
{
	uint32_t kernel = number % KERNELS;
	bool is_copy = kernel % 10 == 9;
	uint64_t begin_ns = source->now_ns[thread], *busy_ns = &source->busy_ns[thread];
	struct event_launch *launch = put(thread_ring(source, thread), EVENT_RING_DATA, EVENT_LAUNCH,
		EVENT_NODE_FIRST + 900 + kernel, sizeof(*launch));
	struct event_gpu *gpu = &source->late[number * source->threads + thread];

	source->correlation += 1 + draw() % 3; /* other calls have some, too */
	launch->correlation = source->correlation;
	launch->begin_ns = begin_ns;
	launch->end_ns = begin_ns + 2000 + draw() % 500;
	source->now_ns[thread] = launch->end_ns + 20000 + draw() % 10000;
	*busy_ns = *busy_ns > launch->end_ns + 5000 ? *busy_ns + 600 : launch->end_ns + 5000;
	*gpu = (struct event_gpu){.begin_ns = *busy_ns,
		.end_ns = *busy_ns + 5000 + kernel * 900 + draw() % 200,
		.bytes = is_copy ? UINT64_C(65536) << kernel / 10 : 0,
		.correlation = launch->correlation,
		.operation = is_copy ? STORE_OP_COPY : STORE_OP_KERNEL,
		.context = 1,
		.queue = 7 + thread,
		.name = is_copy ? 0 : 1 + kernel,
		.attributes = 1 + KERNELS + kernel};
	*busy_ns = gpu->end_ns;
	source->records++;
}

/* A thread that launches is sampled as well, at the default rate. */
static void put_one(struct source *source, uint32_t thread, uint32_t number)
{
	if (!source->is_gpu) {
		source->now_ns[thread] += 980000 + draw() % 40000;
		put_sample(source, thread, 1000000);
		return;
	}
	if (number % LAUNCHES_PER_SAMPLE == 0)
		put_sample(source, thread, 5000000);
	put_launch(source, thread, number);
}

static void put_operations(struct source *source)
{
	for (uint32_t i = 0; i < source->late_count; i++) {
		struct event_gpu *gpu =
			put(activity_ring(source), EVENT_ACTIVITY_DATA, EVENT_GPU, 0, sizeof(*gpu));
		struct event_header h = gpu->h;

		*gpu = source->late[i];
		gpu->h = h;
	}
	source->records += source->late_count;
	source->late_count = 0;
}

static void round_make(struct source *source)
{
	put_operations(source);
	for (uint32_t number = 0; number < ROUND; number++)
		for (uint32_t thread = 0; thread < source->threads; thread++)
			put_one(source, thread, number);
	source->late_count = source->is_gpu ? ROUND * source->threads : 0;
}

static void thread_begin(const struct source *source, uint32_t thread)
{
	struct event_ring *ring = thread_ring(source, thread);

	ring->claim = 1;
	ring->tid = 1000 + thread;
	ring->thread = thread;
	ring->begin_ns = BEGIN_NS;
	snprintf(ring->name, sizeof(ring->name), "worker%u", thread);
	atomic_store(&ring->state, EVENT_RING_CLAIMED);
}

static int memory_make(struct source *source)
{
	int memory = (int)syscall(SYS_memfd_create, "bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct event_process *shared;
	struct event_module *module;

	if (memory < 0 || ftruncate(memory, (off_t)MEMORY_BYTES) ||
		fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		die("make memory");
	shared = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (shared == MAP_FAILED)
		die("map memory");
	source->shared = shared;
	shared->magic = EVENT_MAGIC;
	shared->version = EVENT_VERSION;
	shared->pid = 1;
	shared->rank = -1;
	shared->ring_count = THREADS_MAX;
	shared->memory_bytes = MEMORY_BYTES;
	shared->rings_at = RINGS_AT;
	shared->activity_at = ACTIVITY_AT;
	shared->begin_ns = BEGIN_NS;
	shared->period_ns = 1000000;
	strcpy(shared->metric, "CPUTIME");
	strcpy(shared->executable, "/nonexistent");
	module = (struct event_module *)((char *)shared + EVENT_MODULES_AT);
	module->end = 1 << 20;
	strcpy(module->path, "/nonexistent/program");
	atomic_store(&module->state, EVENT_MODULE_LIVE);
	shared->module_count = 1;
	return memory;
}

/* ---- the collector's part ---- */

static void collect(struct source *source, bool is_end)
{
	double begin = seconds();
	uint64_t least_ns = UINT64_MAX;
	struct error error = {0};

	measured_process_look(source->process);
	measured_process_drain(source->process, source->writer, source->host, 1);
	for (uint32_t thread = 0; thread < source->threads; thread++)
		least_ns = source->now_ns[thread] < least_ns ? source->now_ns[thread] : least_ns;
	if (is_end || store_writer_is_laden(source->writer, COMMIT_BYTES)) {
		measured_process_complete(source->process, source->writer, least_ns - LATE_NS);
		if (store_writer_commit(source->writer, &error))
			exit(error_report(&error, "collect_bench"));
	}
	source->seconds += seconds() - begin;
}

static void nodes_define(struct source *source)
{
	for (uint32_t first = 0; first < NODES; first += ROUND) {
		for (uint32_t thread = 0; thread < source->threads; thread++)
			put_nodes(thread_ring(source, thread), first,
				first + ROUND < NODES ? first + ROUND : NODES);
		collect(source, false);
	}
}

static void source_begin(struct source *source, const char *path)
{
	struct error error = {0};
	int memory = memory_make(source);

	unlink(path);
	if (store_writer_create(&source->writer, path, &error) ||
		measured_process_open(&source->process, source->writer, memory,
			(int)syscall(SYS_pidfd_open, getpid(), 0), &error))
		exit(error_report(&error, "collect_bench"));
	source->process->gpu.kernels.count = source->is_gpu; /* a binary is known, as with CUDA */
	source->host = store_writer_text(source->writer, "bench", 5);
	atomic_store(&source->shared->ring_claimed, source->threads);
	for (uint32_t thread = 0; thread < source->threads; thread++) {
		thread_begin(source, thread);
		source->now_ns[thread] = BEGIN_NS + 1000000 + 100 * thread;
	}
	if (source->is_gpu) {
		atomic_store(&activity_ring(source)->state, EVENT_RING_CLAIMED);
		put_texts(source);
	}
	nodes_define(source);
}

static void bench(const char *name, const char *directory, const char *file, bool is_gpu, uint32_t threads)
{
	struct source *source = calloc(1, sizeof(*source));
	char path[PATH_MAX], lock[PATH_MAX + 8];
	struct error error = {0};

	if (!source)
		die("get memory");
	chance = 1;
	snprintf(path, sizeof(path), "%s/hpct-%s-%u.mdb", directory ? directory : "/tmp", file, threads);
	snprintf(lock, sizeof(lock), "%s-lock", path);
	source->threads = threads;
	source->is_gpu = is_gpu;
	source_begin(source, path);
	source->seconds = 0;
	while (source->records < RECORDS) {
		round_make(source);
		collect(source, false);
	}
	put_operations(source);
	collect(source, true);
	printf("%s\t%u\t%llu\t%.1f\n", name, threads, (unsigned long long)source->records,
		source->seconds * 1e9 / (double)source->records);
	fflush(stdout);
	measured_process_finish(source->process, source->writer, source->host, source->now_ns[0]);
	measured_process_free(source->process);
	munmap(source->shared, MEMORY_BYTES);
	if (store_writer_close(source->writer, &error))
		exit(error_report(&error, "collect_bench"));
	free(source);
	if (!directory)
		unlink(path);
	unlink(lock);
}

int main(int argc, char **argv)
{
	const char *directory = argc > 1 && strcmp(argv[1], "-") ? argv[1] : NULL;
	const char *only = argc > 2 ? argv[2] : NULL;
	uint32_t most = argc > 3 ? (uint32_t)atoi(argv[3]) : THREADS_MAX;

	printf("what\tthreads\trecords\tns_per_record\n");
	for (uint32_t threads = 1; threads <= most && threads <= THREADS_MAX; threads *= THREADS_MAX) {
		if (!only || !strcmp(only, "samples"))
			bench("cpu samples", directory, "samples", false, threads);
		if (!only || !strcmp(only, "gpu"))
			bench("gpu launches and operations", directory, "gpu", true, threads);
	}
	return 0;
}
