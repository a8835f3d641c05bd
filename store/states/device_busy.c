/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_busy.c - merges the spans of a device's queues, as far as all of them are swept, into stretches in
 * which some queue is busy, and sums these in growing buckets.
 */
#include "store/states/device_busy.h"

#include <stdlib.h>

#include "store/base/array.h"
#include "store/base/hash.h"
#include "store/base/heap.h"
#include "store/base/id_table.h"
#include "store/read/reader_internal.h"
#include "store/rollup/pending_rollups.h"

#define DEVICE_BUSY_QUEUES_MAX 128u /* of one device */

#define TOP (STORE_DEVICE_BUSY_SIZES - 1u)
#define WAIT_MAX (1u << 20) /* spans of a queue that wait for another one's watermark */
#define SPANS_FIRST 64u
#define CHANGES_LEAST 1024u	     /* a bucket of fewer is not worth its entry in the file */
#define TIME_MAX (UINT64_C(1) << 62) /* builders sweep no further */

static unsigned shift_of(unsigned size)
{
	return STORE_DEVICE_BUSY_FIRST + STORE_DEVICE_BUSY_STEP * size;
}

static void let_go(struct store_device_busy *busy)
{
	for (uint32_t i = 0; i < busy->count; i++)
		free(busy->queues[i].spans);
	free(busy->queues);
	busy->queues = NULL;
	busy->count = busy->capacity = 0;
	store_bytes_fini(&busy->value);
	busy->is_over = true;
}

void store_devices_busy_fini(struct store_devices_busy *devices)
{
	for (uint32_t i = 0; i < devices->count; i++) {
		let_go(devices->devices[i]);
		store_bytes_fini(&devices->devices[i]->made);
		free(devices->devices[i]);
	}
	free(devices->devices);
	free(devices->index.slots);
	*devices = (struct store_devices_busy){0};
}

/* ---- which device ---- */

static uint64_t key_hash(uint32_t host, uint32_t pid, uint32_t generation, uint32_t device)
{
	const uint32_t key[] = {host, pid, generation, device};

	return store_hash64(key, sizeof key, 0);
}

static uint64_t device_hash(const void *devices, uint32_t number)
{
	const struct store_device_busy *of = ((const struct store_devices_busy *)devices)->devices[number];

	return key_hash(of->host, of->pid, of->generation, of->device);
}

static bool device_equal(const void *devices, uint32_t number, const void *key)
{
	const struct store_device_busy *of = ((const struct store_devices_busy *)devices)->devices[number];
	const struct store_stream *properties = key;

	return of->host == properties->host && of->pid == properties->pid &&
	       of->generation == properties->generation && of->device == properties->device;
}

static struct store_device_busy *device_new(
	struct store_devices_busy *devices, uint32_t stream, const struct store_stream *properties)
{
	struct store_device_busy *busy = calloc(1, sizeof *busy), **to;

	if (!busy)
		return NULL;
	*busy = (struct store_device_busy){.stream = stream,
		.host = properties->host,
		.pid = properties->pid,
		.generation = properties->generation,
		.device = properties->device,
		.torn_ns = UINT64_MAX};
	to = store_id_table_add(
		&devices->devices, &devices->count, &devices->capacity, sizeof *devices->devices);
	if (!to) {
		free(busy);
		return NULL;
	}
	*to = busy;
	return busy;
}

/* A device's first queue alone is not merged: from where is the union known when the second one comes? */
static void begin(struct store_device_busy *busy)
{
	busy->merged_ns = busy->queues[0].known_ns;
	if (busy->doubt_ns < busy->merged_ns)
		busy->doubt_ns = busy->merged_ns;
	for (unsigned size = 0; size <= TOP; size++)
		busy->sizes[size].begin_ns = store_bucket_of(busy->merged_ns, shift_of(size));
}

static bool queue_add(struct store_device_busy *busy, uint32_t *queue)
{
	struct store_device_busy_queue *to =
		store_id_table_add(&busy->queues, &busy->count, &busy->capacity, sizeof *busy->queues);

	if (!to)
		return false;
	*queue = busy->count - 1;
	if (*queue == 1)
		begin(busy);
	return true;
}

struct store_device_busy *store_device_busy_join(struct store_devices_busy *devices, uint32_t stream,
	const struct store_stream *properties, uint32_t *queue)
{
	struct store_device_busy *busy;
	uint32_t *slot;

	if (!hash_index_reserve(&devices->index, devices->count, device_hash, devices))
		return NULL;
	slot = hash_index_slot(&devices->index,
		key_hash(properties->host, properties->pid, properties->generation, properties->device),
		device_equal, devices, properties);
	busy = *slot ? devices->devices[*slot - 1] : device_new(devices, stream, properties);
	if (!busy)
		return NULL;
	if (!*slot)
		*slot = devices->count;
	*queue = 0;
	/* Readers look for it below the first of its queues. */
	if (stream < busy->stream || busy->count == DEVICE_BUSY_QUEUES_MAX)
		store_device_busy_spoil(busy, 0, UINT64_MAX);
	return busy->is_over || queue_add(busy, queue) ? busy : NULL;
}

/* ---- what queues do ---- */

static bool spans_widen(struct store_device_busy_queue *queue)
{
	uint32_t capacity = queue->capacity ? 2 * queue->capacity : SPANS_FIRST;

	if (queue->count >= WAIT_MAX || !array_resize(&queue->spans, capacity, sizeof *queue->spans))
		return false;
	queue->capacity = capacity;
	return true;
}

void store_device_busy_add(struct store_device_busy *busy, uint32_t queue, uint64_t begin_ns, uint64_t end_ns)
{
	struct store_device_busy_queue *to;

	if (!store_device_busy_is_fed(busy))
		return;
	if (begin_ns < busy->merged_ns) { /* the queue is new, but began long ago */
		store_device_busy_spoil(busy, begin_ns, busy->merged_ns);
		begin_ns = busy->merged_ns;
	}
	if (begin_ns >= end_ns)
		return;
	to = &busy->queues[queue];
	if (to->count > to->head && to->spans[to->count - 1].end_ns == begin_ns) {
		to->spans[to->count - 1].end_ns = end_ns;
		return;
	}
	if (to->count < to->capacity || spans_widen(to))
		to->spans[to->count++] = (struct store_device_busy_span){begin_ns, end_ns};
	else
		store_device_busy_spoil(busy, busy->merged_ns, UINT64_MAX);
}

void store_device_busy_spoil(struct store_device_busy *busy, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns < busy->merged_ns) {
		busy->torn_ns = begin_ns < busy->torn_ns ? begin_ns : busy->torn_ns;
		store_pending_rollups_tear(&busy->made, begin_ns);
	}
	busy->doubt_ns = end_ns > busy->doubt_ns ? end_ns : busy->doubt_ns;
	if (end_ns == UINT64_MAX && !busy->is_over)
		let_go(busy);
}

void store_device_busy_know(struct store_device_busy *busy, uint32_t queue, uint64_t until_ns, bool is_end)
{
	if (busy->is_over)
		return;
	busy->queues[queue].known_ns = until_ns;
	busy->queues[queue].has_ended = is_end;
}

/* ---- buckets ---- */

static void make(struct store_device_busy *busy, unsigned size)
{
	const struct store_device_busy_size *from = &busy->sizes[size];
	const struct store_key_rollup key = {.begin_ns = from->begin_ns,
		.stream = busy->stream,
		.kind = STORE_ROLLUP_DEVICE_BUSY,
		.shift = (uint8_t)shift_of(size)};

	if (from->changes < CHANGES_LEAST || from->begin_ns < busy->doubt_ns)
		return;
	store_bytes_begin_sealed(&busy->value);
	store_bytes_put_varint(&busy->value, from->busy_ns);
	store_pending_rollups_add(&busy->made, &key, &busy->value);
}

/* Time has come to `at_ns`: buckets that end before it become part of larger ones. */
static void pass(struct store_device_busy *busy, uint64_t at_ns)
{
	for (unsigned size = 0; size <= TOP; size++) {
		struct store_device_busy_size *from = &busy->sizes[size];
		uint64_t begin_ns = store_bucket_of(at_ns, shift_of(size));

		if (begin_ns == from->begin_ns)
			break;
		make(busy, size);
		if (size < TOP) {
			from[1].busy_ns += from->busy_ns;
			from[1].changes += from->changes;
		}
		*from = (struct store_device_busy_size){.begin_ns = begin_ns};
	}
}

/* The largest size whose bucket begins there and ends by `end_ns`. */
static unsigned largest(uint64_t begin_ns, uint64_t end_ns)
{
	unsigned size = 0;

	while (size < TOP && store_bucket_of(begin_ns, shift_of(size + 1)) == begin_ns &&
		end_ns - begin_ns >= (uint64_t)1 << shift_of(size + 1))
		size++;
	return size;
}

/* Where it fills buckets they are not worth making: their time goes to a larger one. */
static void device_busy_fill(struct store_device_busy *busy, uint64_t begin_ns, uint64_t end_ns)
{
	pass(busy, begin_ns);
	busy->sizes[0].changes += 2;
	if (begin_ns >> STORE_DEVICE_BUSY_FIRST == (end_ns - 1) >> STORE_DEVICE_BUSY_FIRST) { /* as a rule */
		busy->sizes[0].busy_ns += end_ns - begin_ns;
		return;
	}
	while (begin_ns < end_ns) {
		struct store_device_busy_size *least = busy->sizes;
		uint64_t length_ns = (uint64_t)1 << STORE_DEVICE_BUSY_FIRST;

		if (begin_ns == store_bucket_of(begin_ns, STORE_DEVICE_BUSY_FIRST) &&
			end_ns - begin_ns >= length_ns) {
			unsigned size = largest(begin_ns, end_ns);

			pass(busy, begin_ns);
			length_ns = (uint64_t)1 << shift_of(size);
			if (size < TOP)
				busy->sizes[size + 1].busy_ns += length_ns;
		} else {
			pass(busy, begin_ns);
			length_ns = least->begin_ns + length_ns - begin_ns;
			length_ns = length_ns < end_ns - begin_ns ? length_ns : end_ns - begin_ns;
			least->busy_ns += length_ns;
		}
		begin_ns += length_ns;
	}
}

/* ---- the union of queues ---- */

/* Queues by when their next spans begin, a heap: the first is at its top. */
struct turns {
	uint32_t count;
	struct turn {
		uint64_t begin_ns;
		struct store_device_busy_queue *queue;
	} list[DEVICE_BUSY_QUEUES_MAX];
};

static bool is_before(const void *a, const void *b)
{
	return ((const struct turn *)a)->begin_ns < ((const struct turn *)b)->begin_ns;
}

static void turn_sink(struct turns *turns, uint32_t at)
{
	heap_sink(turns->list, turns->count, at, sizeof *turns->list, is_before);
}

static bool has_turn(const struct store_device_busy_queue *queue, uint64_t until_ns)
{
	return queue->head < queue->count && queue->spans[queue->head].begin_ns < until_ns;
}

static void turns_begin(struct turns *turns, const struct store_device_busy *busy, uint64_t until_ns)
{
	turns->count = 0;
	for (uint32_t i = 0; i < busy->count; i++) {
		struct store_device_busy_queue *queue = &busy->queues[i];

		if (has_turn(queue, until_ns))
			turns->list[turns->count++] =
				(struct turn){queue->spans[queue->head].begin_ns, queue};
	}
	for (uint32_t i = turns->count / 2; i-- > 0;)
		turn_sink(turns, i);
}

/* The first queue has had its turn. */
static void turns_next(struct turns *turns, uint64_t until_ns)
{
	struct turn *first = &turns->list[0];

	if (has_turn(first->queue, until_ns))
		first->begin_ns = first->queue->spans[first->queue->head].begin_ns;
	else
		*first = turns->list[--turns->count];
	turn_sink(turns, 0);
}

static void shrink(struct store_device_busy_queue *queue)
{
	if (!queue->head)
		return;
	memmove(queue->spans, queue->spans + queue->head,
		(queue->count - queue->head) * sizeof *queue->spans);
	queue->count -= queue->head;
	queue->head = 0;
}

/* The part of the queue's next span before `until_ns`. */
static struct store_device_busy_span span_take(struct store_device_busy_queue *queue, uint64_t until_ns)
{
	struct store_device_busy_span *span = &queue->spans[queue->head], part = *span;

	if (span->end_ns > until_ns) {
		part.end_ns = until_ns;
		span->begin_ns = until_ns;
	} else {
		queue->head++;
	}
	return part;
}

/* What begins until the union ends lengthens it, in whatever order queues have turns: while most do, that is
 * quicker than to find whose is the first. */
static void lengthen(struct store_device_busy *busy, struct store_device_busy_span *all, uint64_t until_ns)
{
	uint32_t taken;

	do {
		taken = 0;
		for (uint32_t i = 0; i < busy->count; i++) {
			struct store_device_busy_queue *queue = &busy->queues[i];

			while (has_turn(queue, until_ns) &&
				queue->spans[queue->head].begin_ns <= all->end_ns) {
				const uint64_t end_ns = span_take(queue, until_ns).end_ns;

				all->end_ns = end_ns > all->end_ns ? end_ns : all->end_ns;
				taken++;
			}
		}
	} while (taken > busy->count / 2);
}

/* Merges the queues' spans before `until_ns`; later ones stay queued. */
static void device_busy_merge(struct store_device_busy *busy, uint64_t until_ns)
{
	struct store_device_busy_span all = {0};
	struct turns turns;
	uint32_t beside = 0; /* turns since the union had a gap */

	turns_begin(&turns, busy, until_ns);
	while (turns.count) {
		const struct store_device_busy_span part = span_take(turns.list[0].queue, until_ns);

		turns_next(&turns, until_ns);
		beside++;
		if (part.begin_ns > all.end_ns) {
			if (all.end_ns)
				device_busy_fill(busy, all.begin_ns, all.end_ns);
			all = part;
			beside = 0;
		}
		all.end_ns = part.end_ns > all.end_ns ? part.end_ns : all.end_ns;
		if (beside > busy->count) {
			lengthen(busy, &all, until_ns);
			turns_begin(&turns, busy, until_ns);
			beside = 0;
		}
	}
	if (all.end_ns)
		device_busy_fill(busy, all.begin_ns, all.end_ns);
	for (uint32_t i = 0; i < busy->count; i++)
		shrink(&busy->queues[i]);
}

/* ---- how far ---- */

/* How far all queues are known; the end of the last one, where all have ended. */
static uint64_t known_until(const struct store_device_busy *busy)
{
	uint64_t least_ns = UINT64_MAX, last_ns = 0;

	for (uint32_t i = 0; i < busy->count; i++) {
		const struct store_device_busy_queue *queue = &busy->queues[i];

		if (!queue->has_ended && queue->known_ns < least_ns)
			least_ns = queue->known_ns;
		last_ns = queue->known_ns > last_ns ? queue->known_ns : last_ns;
	}
	return least_ns < last_ns ? least_ns : last_ns;
}

static void advance(struct store_device_busy *busy, bool is_end)
{
	uint64_t until_ns = known_until(busy);

	if (busy->is_over || busy->count < 2)
		return;
	if (until_ns > busy->merged_ns) {
		device_busy_merge(busy, until_ns);
		pass(busy, until_ns);
		busy->merged_ns = until_ns;
	}
	for (uint32_t i = 0; i < busy->count && is_end; i++)
		if (!busy->queues[i].has_ended) {
			store_device_busy_spoil(busy, busy->queues[i].known_ns, UINT64_MAX);
			return;
		}
	if (is_end)
		pass(busy, TIME_MAX);
	if (busy->made.failed) {
		store_bytes_fini(&busy->made);
		store_device_busy_spoil(busy, 0, UINT64_MAX);
	}
}

void store_devices_busy_merge(struct store_devices_busy *devices, bool is_end)
{
	for (uint32_t i = 0; i < devices->count; i++)
		advance(devices->devices[i], is_end);
}

/* ---- reading ---- */

int store_device_busy_find(struct store_reader *reader, uint32_t stream, uint64_t from_ns, unsigned shift,
	struct store_device_busy_bucket *bucket, struct error *error)
{
	struct store_key_rollup key = {.begin_ns = from_ns,
		.stream = stream,
		.kind = STORE_ROLLUP_DEVICE_BUSY,
		.shift = (uint8_t)shift};
	struct store_tree_cursor cursor;
	struct store_input input;
	uint8_t bytes[STORE_KEY_ROLL_BYTES];
	int rc;

	store_key_rollup_put(bytes, &key);
	store_tree_cursor_init(&cursor, &reader->snapshot.pages, &reader->snapshot.trees[STORE_TREE_ROLL]);
	rc = store_tree_seek(&cursor, bytes, sizeof bytes, error);
	if (rc != 1)
		return rc;
	if (!store_key_rollup_get(&key, cursor.key.bytes, cursor.key.size))
		return store_reader_damaged(reader, "a rollup's key", error);
	if (key.stream != stream || key.kind != STORE_ROLLUP_DEVICE_BUSY)
		return 0;
	input = store_input_sealed(cursor.value, cursor.key.bytes, cursor.key.size);
	*bucket = (struct store_device_busy_bucket){
		.begin_ns = key.begin_ns, .busy_ns = store_input_varint(&input), .shift = key.shift};
	if (input.bad || key.shift > shift_of(TOP) || key.begin_ns >= TIME_MAX ||
		bucket->busy_ns > (uint64_t)1 << key.shift)
		return store_reader_damaged(reader, "the busy time of a device", error);
	return 1;
}
