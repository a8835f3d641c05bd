/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.c - see gpu.h: which vendors are wanted, launches and waits into the calling
 * thread's ring, operations into the activity ring. That ring is written under a
 * lock of our own; no signal handler comes here but through gpu_flush.
 */
#include "record/agent/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/gpu_text.h"
#include "record/agent/process.h"
#include "record/agent/ring.h"
#include "record/agent/trace.h"

#define NAME_BYTES_MAX 3500u /* of a kernel: a record holds 4096 */
#define TEXTS 4096u	     /* remembered, a power of two */
#define TEXTS_MAX (1u << 22) /* the collector keeps a number for each */
#define MODULES 256u
#define OWN_CORRELATIONS (UINT64_C(1) << 32)

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

/* Those whose file is not built in are NULL. */
#pragma weak gpu_nvidia
#pragma weak gpu_opencl
#pragma weak gpu_level0
static const struct gpu_vendor *const vendors[] = {&gpu_nvidia, &gpu_opencl, &gpu_level0};

struct known_text {
	uint64_t hash; /* 0: none */
	uint32_t id;
};

static struct {
	_Atomic uint32_t lock; /* 0 free, 1 held, 2 held and waited for */
	_Atomic uint64_t correlation;
	_Atomic uint32_t exit_watched;
	struct ring ring; /* shared NULL: not used yet, or there is none */
	uint32_t text_count;
	struct known_text texts[TEXTS];
	uint64_t modules[MODULES]; /* sent already */
} gpu;

/* ---- the lock: pthread's may be the program's own ---- */

static void lock(void)
{
	uint32_t free = 0;

	if (atomic_compare_exchange_strong(&gpu.lock, &free, 1))
		return;
	while (atomic_exchange(&gpu.lock, 2))
		syscall(SYS_futex, &gpu.lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void unlock(void)
{
	if (atomic_exchange(&gpu.lock, 0) == 2)
		syscall(SYS_futex, &gpu.lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- vendors ---- */

bool gpu_is_wanted(const struct gpu_vendor *vendor)
{
	const char *wanted = process.settings.gpu;

	return process_is_live() && (!strcmp(wanted, "auto") || !strcmp(wanted, vendor->name));
}

#define EACH_WANTED(vendor)                                                                          \
	for (unsigned i_ = 0; i_ < sizeof(vendors) / sizeof(*vendors); i_++)                         \
		for (const struct gpu_vendor *vendor = vendors[i_]; vendor && gpu_is_wanted(vendor); \
			vendor = NULL)

void gpu_open(void)
{
	EACH_WANTED(vendor)
	if (vendor->open)
		vendor->open();
}

void gpu_flush(void)
{
	EACH_WANTED(vendor)
	if (vendor->flush)
		vendor->flush();
}

void gpu_child(void)
{
	atomic_store(&gpu.lock, 0);
	gpu.ring = (struct ring){0};
	gpu.text_count = 0;
	memset(gpu.texts, 0, sizeof(gpu.texts));
	memset(gpu.modules, 0, sizeof(gpu.modules));
	EACH_WANTED(vendor)
	if (vendor->child)
		vendor->child();
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

/* ---- into the calling thread's ring ---- */

uint64_t gpu_now_ns(void)
{
	return process_now_ns();
}

uint64_t gpu_correlation(void)
{
	return OWN_CORRELATIONS + atomic_fetch_add(&gpu.correlation, 1);
}

static void launch_put(uint64_t correlation, uint64_t begin_ns, uint64_t end_ns)
{
	int error = errno;
	struct thread *t = trace_begin();

	if (t) {
		trace_launch(t, trace_path(t), correlation, begin_ns, end_ns);
		trace_end(t);
	}
	errno = error;
}

void gpu_launch(uint64_t correlation)
{
	uint64_t now_ns = process_now_ns();

	launch_put(correlation, now_ns, now_ns);
}

void gpu_launched(uint64_t correlation, uint64_t begin_ns)
{
	launch_put(correlation, begin_ns, process_now_ns());
}

static void span_put(uint32_t operation, uint64_t begin_ns, uint64_t bytes, const char *attributes)
{
	int error = errno;
	struct thread *t = begin_ns ? trace_begin() : NULL;
	struct event_span span = {
		.begin_ns = begin_ns, .end_ns = process_now_ns(), .bytes = bytes, .operation = operation};

	if (t) {
		span.h.node = trace_path(t);
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

void gpu_call(uint32_t operation, uint64_t begin_ns, uint64_t bytes, enum gpu_memory_kind kind)
{
	char text[GPU_TEXT_BYTES] = "";

	if (operation != STORE_OP_COMPILE)
		gpu_text_memory(text, kind);
	span_put(operation, begin_ns, bytes, text);
}

void gpu_thread_hide(void)
{
	struct thread *t = thread_own();

	if (t && !t->ring.busy)
		thread_end(t);
}

/* ---- into the activity ring; all with the lock held ---- */

/* The ring is taken up by its first record: a program without a GPU does not touch its memory. */
static bool ring_there(void)
{
	struct event_process *shared = process.shared;
	struct event_ring *ring;

	if (gpu.ring.shared)
		return true;
	if (!shared->activity_at)
		return false;
	ring = (struct event_ring *)((char *)shared + shared->activity_at);
	ring_init(&gpu.ring, ring, EVENT_ACTIVITY_DATA);
	ring->begin_ns = shared->begin_ns;
	atomic_store_explicit(&ring->state, EVENT_RING_CLAIMED, memory_order_release);
	return true;
}

static bool enter(void)
{
	if (!process_is_live())
		return false;
	lock();
	if (process_is_live() && ring_there())
		return true;
	unlock();
	return false;
}

/* Place for a record of its own batch; NULL: it was dropped and counted. */
static void *record_begin(uint8_t type, uint32_t node, uint64_t bytes)
{
	uint64_t now_ns = process_now_ns();

	if (ring_begin(&gpu.ring, bytes + 8, bytes + 8, now_ns))
		return ring_put(&gpu.ring, type, 0, node, bytes);
	ring_lose(&gpu.ring, RING_LOST_FULL, 0, now_ns);
	return NULL;
}

static uint64_t bytes_hash(const void *data, size_t size, uint64_t hash)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#define HASH_TEXT UINT64_C(0xcbf29ce484222325)
#define HASH_ATTRIBUTES UINT64_C(0x84222325cbf29ce4)

static uint32_t text_put(const char *text, size_t length)
{
	struct event_text *record;

	if (!length || gpu.text_count == TEXTS_MAX)
		return 0;
	record = record_begin(EVENT_TEXT, (uint32_t)length, sizeof(*record) + length);
	if (!record)
		return 0;
	record->id = ++gpu.text_count;
	memcpy(record->bytes, text, length);
	ring_commit(&gpu.ring);
	return gpu.text_count;
}

static uint32_t text_id(const char *text)
{
	size_t length = text ? strnlen(text, NAME_BYTES_MAX) : 0;
	uint64_t hash = bytes_hash(text, length, HASH_TEXT);
	struct known_text *known = &gpu.texts[hash & (TEXTS - 1)];

	if (known->hash != hash || !known->id)
		*known = (struct known_text){hash, text_put(text, length)};
	return known->id;
}

/* What the attributes are made of, without padding, so that they are written out only once. */
struct attribute_key {
	uint32_t operation, node;
	uint64_t module;
	uint32_t number[12];
};

static void key_fill(struct attribute_key *key, const struct gpu_activity *a)
{
	const struct gpu_kernel *k = &a->kernel;

	memset(key, 0, sizeof(*key));
	key->operation = a->operation;
	key->node = a->graph_node;
	key->module = a->module;
	if (a->operation == STORE_OP_KERNEL)
		memcpy(key->number, k, sizeof(*k));
	else if (a->operation == STORE_OP_COPY)
		key->number[0] = (uint32_t)a->copy.kind, key->number[1] = a->copy.is_async;
	else
		key->number[0] = a->graph; /* or memory, or sync: all of them are one number */
}

static_assert(
	sizeof(struct gpu_kernel) <= sizeof(((struct attribute_key *)0)->number), "attributes of a kernel");
static_assert(sizeof(enum gpu_memory_kind) == 4 && sizeof(enum gpu_sync_kind) == 4, "one number each");

static uint32_t attributes_id(const struct gpu_activity *activity)
{
	struct attribute_key key;
	struct known_text *known;
	char text[GPU_TEXT_BYTES];
	uint64_t hash;

	key_fill(&key, activity);
	hash = bytes_hash(&key, sizeof(key), HASH_ATTRIBUTES);
	known = &gpu.texts[hash & (TEXTS - 1)];
	if (known->hash != hash || !known->id) {
		size_t length = gpu_text_attributes(text, activity);

		*known = (struct known_text){hash, text_put(text, length)};
	}
	return known->id;
}

void gpu_activity(const struct gpu_activity *activity)
{
	uint32_t name, attributes;
	struct event_gpu *record;

	if (!enter())
		return;
	name = text_id(activity->name);
	attributes = attributes_id(activity);
	record = record_begin(EVENT_GPU, 0, sizeof(*record));
	if (record) {
		const struct event_header h = record->h;

		*record = (struct event_gpu){.h = h,
			.begin_ns = activity->begin_ns,
			.end_ns = activity->end_ns,
			.bytes = activity->bytes,
			.correlation = activity->correlation,
			.operation = activity->operation,
			.device = activity->queue.device,
			.context = activity->queue.context,
			.queue = activity->queue.queue,
			.name = name,
			.attributes = attributes};
		ring_commit(&gpu.ring);
	}
	unlock();
}

void gpu_device(uint32_t device, const char *uuid, const char *name)
{
	struct event_gpu_device *record;
	uint32_t name_id, uuid_id;

	if (!enter())
		return;
	name_id = text_id(name);
	uuid_id = text_id(uuid);
	record = record_begin(EVENT_GPU_DEVICE, 0, sizeof(*record));
	if (record) {
		record->device = device;
		record->name = name_id;
		record->uuid = uuid_id;
		record->_pad = 0;
		ring_commit(&gpu.ring);
	}
	unlock();
}

void gpu_queue_name(const struct gpu_queue *queue, const char *name)
{
	struct event_gpu_queue *record;
	uint32_t name_id;

	if (!enter())
		return;
	name_id = text_id(name);
	record = record_begin(EVENT_GPU_QUEUE, 0, sizeof(*record));
	if (record) {
		record->device = queue->device;
		record->context = queue->context;
		record->queue = queue->queue;
		record->name = name_id;
		ring_commit(&gpu.ring);
	}
	unlock();
}

void gpu_unmonitored(const char *why)
{
	struct event_gpu_unmonitored *record;
	uint32_t reason;

	if (!enter())
		return;
	reason = text_id(why);
	record = record_begin(EVENT_GPU_UNMONITORED, 0, sizeof(*record));
	if (record) {
		record->time_ns = process_now_ns();
		record->reason = reason;
		record->_pad = 0;
		ring_commit(&gpu.ring);
	}
	unlock();
}

/* A counter, not a record: no lock, so that gpu_flush may count what it leaves behind. */
void gpu_lost(uint64_t count)
{
	struct event_process *shared = process_is_live() ? process.shared : NULL;
	struct event_ring *ring;

	if (!count || !shared || !shared->activity_at)
		return;
	ring = (struct event_ring *)((char *)shared + shared->activity_at);
	atomic_fetch_add_explicit(&ring->lost_full, count, memory_order_relaxed);
}

/* ---- GPU binaries ---- */

/* Eight bytes at a time: they may be large. */
static uint64_t image_hash(const void *image, uint64_t bytes)
{
	uint64_t hash = HASH_TEXT ^ bytes, word;
	const char *at = image;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
		hash ^= hash >> 32;
	}
	hash = bytes_hash(at, bytes, hash);
	return hash ? hash : 1;
}

static void image_send(const void *image, uint64_t bytes, uint64_t hash)
{
	int memory = (int)syscall(SYS_memfd_create, "hpct-gpu", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	uint64_t written = 0;

	if (memory < 0)
		return;
	while (written < bytes) {
		ssize_t more = write(memory, (const char *)image + written, bytes - written);

		if (more <= 0)
			break;
		written += (uint64_t)more;
	}
	if (written == bytes &&
		!fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		process_send_gpu_module(memory, hash);
	close(memory);
}

uint64_t gpu_module(const void *image, uint64_t bytes)
{
	uint64_t hash = image_hash(image, bytes);
	bool is_known;
	int error = errno;

	if (!enter())
		return hash;
	is_known = gpu.modules[hash % MODULES] == hash;
	gpu.modules[hash % MODULES] = hash;
	unlock();
	if (!is_known)
		image_send(image, bytes, hash);
	errno = error;
	return hash;
}
