/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_ring.c - the activity ring: operations, properties of devices and queues, and sending of GPU binaries.
 * Any thread of the program may write, under our own lock; signal handlers may only count losses.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/lock.h"
#include "record/agent/base/ring.h"
#include "record/agent/gpu/gpu_ring.h"
#include "record/agent/gpu/gpu_text.h"
#include "record/agent/process/process.h"

#define NAME_BYTES_MAX 3500u /* of a kernel: a record holds 4096 */
#define TEXTS 4096u	     /* cached, a power of two */
#define TEXTS_MAX (1u << 22) /* the collector stores a number for each */
#define MODULES 256u

struct known_text {
	uint64_t hash; /* 0: none */
	uint32_t id;
};

static struct {
	struct lock lock;
	_Atomic bool is_used, has_faulted;
	struct ring ring; /* shared NULL: not used yet, or none */
	uint32_t text_count;
	struct known_text texts[TEXTS];
	uint64_t modules[MODULES]; /* hashes of those already sent */
} gpu;

void gpu_ring_child(void)
{
	atomic_store(&gpu.lock.state, 0);
	atomic_store(&gpu.is_used, false);
	atomic_store(&gpu.has_faulted, false);
	gpu.ring = (struct ring){0};
	gpu.text_count = 0;
	memset(gpu.texts, 0, sizeof(gpu.texts));
	memset(gpu.modules, 0, sizeof(gpu.modules));
}

/* ---- into the activity ring; all with the lock held ---- */

/* The first record claims the ring, so that programs without a GPU do not touch its memory. */
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
	lock_take(&gpu.lock);
	if (process_is_live() && ring_there())
		return true;
	lock_give(&gpu.lock);
	return false;
}

/* Opens a batch with one record; NULL: dropped and counted. */
static void *record_begin(uint8_t type, uint32_t node, uint64_t bytes)
{
	uint64_t now_ns = process_now_ns();

	if (ring_begin(&gpu.ring, bytes + 8, bytes + 8, now_ns))
		return ring_put(&gpu.ring, type, 0, node, bytes);
	ring_lose_kind(&gpu.ring, RING_LOST_FULL, EVENT_LOST_SPAN, 0, now_ns);
	return NULL;
}

/* Eight bytes at a time, as kernel names are long and GPU binaries large. */
static uint64_t bytes_hash(const void *data, uint64_t bytes, uint64_t hash)
{
	const char *at = data;
	uint64_t word;

	hash ^= bytes;
	for (; bytes >= sizeof(word); bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, at, bytes);
	hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
	hash ^= hash >> 32;
	return hash ? hash : 1;
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

/* The fields that attributes are made of, without padding: each combination is formatted once. */
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
	else if (a->operation == STORE_OP_ALLOC || a->operation == STORE_OP_FREE)
		key->number[0] = (uint32_t)a->memory, key->module = a->address;
	else
		key->number[0] = a->graph; /* or memory, or sync: each is a single number */
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
	if (activity->uses)
		hash = bytes_hash(activity->uses, strlen(activity->uses), hash);
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
	lock_give(&gpu.lock);
}

void gpu_sample(const struct gpu_sample *sample)
{
	uint32_t function, metric;
	struct event_gpu_sample *record;

	if (!enter())
		return;
	function = text_id(sample->function);
	metric = text_id(sample->metric);
	record = record_begin(EVENT_GPU_SAMPLE, 0, sizeof(*record));
	if (record) {
		const struct event_header h = record->h;

		*record = (struct event_gpu_sample){.h = h,
			.time_ns = sample->time_ns,
			.module = sample->module,
			.weight = sample->weight,
			.device = sample->device,
			.context = sample->context,
			.function = function,
			.symbol = sample->symbol,
			.offset = sample->offset,
			.metric = metric};
		ring_commit(&gpu.ring);
	}
	lock_give(&gpu.lock);
}

void gpu_unsampled(uint32_t device, uint32_t context, const char *why, uint64_t count, bool is_end)
{
	struct event_gpu_unsampled *record;
	uint32_t reason;

	if (!enter())
		return;
	reason = text_id(why);
	record = record_begin(EVENT_GPU_UNSAMPLED, 0, sizeof(*record));
	if (record) {
		record->time_ns = process_now_ns();
		record->count = count;
		record->device = device;
		record->context = context;
		record->reason = reason;
		record->is_end = is_end;
		ring_commit(&gpu.ring);
	}
	lock_give(&gpu.lock);
}

void gpu_values(const struct gpu_values *values)
{
	struct event_gpu_values *record;

	if (!values->count || !enter())
		return;
	record =
		record_begin(EVENT_GPU_VALUES, 0, sizeof(*record) + values->count * sizeof(record->value[0]));
	if (record) {
		record->time_ns = values->time_ns;
		record->device = values->device;
		record->figures = values->figures;
		memcpy(record->value, values->value, values->count * sizeof(record->value[0]));
		ring_commit(&gpu.ring);
	}
	lock_give(&gpu.lock);
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
	lock_give(&gpu.lock);
}

void gpu_queue_publish(const struct gpu_queue *queue, const char *name, const char *attributes)
{
	struct event_gpu_queue *record;
	uint32_t name_id, attributes_id;

	if (!enter())
		return;
	name_id = text_id(name);
	attributes_id = text_id(attributes);
	record = record_begin(EVENT_GPU_QUEUE, 0, sizeof(*record));
	if (record) {
		record->device = queue->device;
		record->context = queue->context;
		record->queue = queue->queue;
		record->name = name_id;
		record->attributes = attributes_id;
		record->_pad = 0;
		ring_commit(&gpu.ring);
	}
	lock_give(&gpu.lock);
}

void gpu_queue_name(const struct gpu_queue *queue, const char *name)
{
	gpu_queue_publish(queue, name, NULL);
}

void gpu_used(uint64_t since_ns)
{
	struct event_gpu_used *record;

	if (atomic_exchange_explicit(&gpu.is_used, true, memory_order_relaxed) || !enter())
		return;
	record = record_begin(EVENT_GPU_USED, 0, sizeof(*record));
	if (record) {
		record->time_ns = since_ns;
		ring_commit(&gpu.ring);
	}
	lock_give(&gpu.lock);
}

void gpu_fault(const char *error, uint64_t since_ns)
{
	struct event_gpu_fault *record;
	uint32_t text;

	if (atomic_exchange_explicit(&gpu.has_faulted, true, memory_order_relaxed) || !enter())
		return;
	text = text_id(error);
	record = record_begin(EVENT_GPU_FAULT, 0, sizeof(*record));
	if (record) {
		record->time_ns = process_now_ns();
		record->since_ns = since_ns;
		record->error = text;
		record->_pad = 0;
		ring_commit(&gpu.ring);
	}
	lock_give(&gpu.lock);
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
	lock_give(&gpu.lock);
}

/* Only a counter, without the lock, so that gpu_flush may count operations it leaves behind. */
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
	uint64_t hash = bytes_hash(image, bytes, HASH_TEXT);
	bool is_known;
	int error = errno;

	if (!enter())
		return hash;
	is_known = gpu.modules[hash % MODULES] == hash;
	gpu.modules[hash % MODULES] = hash;
	lock_give(&gpu.lock);
	if (!is_known)
		image_send(image, bytes, hash);
	errno = error;
	return hash;
}
