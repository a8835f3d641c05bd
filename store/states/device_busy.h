/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_busy.h - when a GPU is busy: the union over its queues, never their sum, in buckets of 2^21, 2^24,
 * ... 2^60 ns. A device is the queues of one process, generation and device number.
 *
 *   queue 0   |###|   |##|      |#####       swept by its builder until its watermark
 *   queue 1     |####|       |#|
 *   device    |######||##|   |#||###|        merged until the earliest of them
 *   buckets   |  8       |  6       | ...    larger ones are made of those below
 *
 *   key       | the device's first queue | kind DEVICE_BUSY | begin | shift |     (key.h)
 *   value     sealed: | busy ns |
 *
 * A bucket of few changes is not worth an entry: readers merge the queues there. A device with one queue so
 * far has no buckets. A late record deletes all buckets that end after it; they are not made again. Flight
 * recordings have none.
 */
#ifndef STORE_DEVICE_BUSY_H
#define STORE_DEVICE_BUSY_H

#include "store/base/bytes.h"
#include "store/base/hash_index.h"
#include "store/key.h"
#include "store/read/reader.h"

#define STORE_ROLLUP_DEVICE_BUSY 5u /* kind in the key */
#define STORE_DEVICE_BUSY_STEP 3u
#define STORE_DEVICE_BUSY_FIRST 21u /* shift of the smallest */
#define STORE_DEVICE_BUSY_SIZES 14u

/* ---- writing ---- */

struct store_device_busy_span {
	uint64_t begin_ns, end_ns;
};

struct store_device_busy_queue {
	struct store_device_busy_span *spans; /* disjoint, in order; those from `head` on are not merged
						 yet */
	uint32_t head, count, capacity;
	uint64_t known_ns; /* no earlier span will come */
	bool has_ended;	   /* ... and no later one */
};

/* One device. */
struct store_device_busy {
	uint32_t stream; /* its first queue */
	uint32_t host, pid, generation, device;
	struct store_device_busy_queue *queues;
	uint32_t count, capacity;
	uint64_t merged_ns; /* merged until here */
	uint64_t doubt_ns;  /* no bucket may begin before it */
	uint64_t torn_ns;   /* buckets that end after it must be deleted; UINT64_MAX: none */
	struct store_device_busy_size {
		uint64_t begin_ns, busy_ns, changes;
	} sizes[STORE_DEVICE_BUSY_SIZES];
	struct store_bytes made; /* rollups to be written */
	struct store_bytes value;
	bool is_over; /* no more buckets will be made */
};

/* All-zero is empty. */
struct store_devices_busy {
	struct store_device_busy **devices;
	uint32_t count, capacity;
	struct hash_index index;
};
void store_devices_busy_fini(struct store_devices_busy *devices);

/* Adds a queue and sets its number within the device; the device's address is stable. NULL: no memory. */
struct store_device_busy *store_device_busy_join(struct store_devices_busy *devices, uint32_t stream,
	const struct store_stream *properties, uint32_t *queue);

/* The queue is busy from `begin_ns` to `end_ns`, before 2^62 and not before the last span added. */
void store_device_busy_add(
	struct store_device_busy *busy, uint32_t queue, uint64_t begin_ns, uint64_t end_ns);
/* False when it needs no more spans. */
static inline bool store_device_busy_is_fed(const struct store_device_busy *busy)
{
	return !busy->is_over && busy->count > 1;
}
/* Marks a time range whose spans are wrong or unknown. end_ns UINT64_MAX: to the end. */
void store_device_busy_spoil(struct store_device_busy *busy, uint64_t begin_ns, uint64_t end_ns);
/* The queue is swept until then; with `is_end` no later span follows. */
void store_device_busy_know(struct store_device_busy *busy, uint32_t queue, uint64_t until_ns, bool is_end);

/* Merges the known part of all queues. With `is_end` nothing follows. */
void store_devices_busy_merge(struct store_devices_busy *devices, bool is_end);

/* ---- reading ---- */

struct store_device_busy_bucket {
	uint64_t begin_ns, busy_ns;
	unsigned shift;
};

/* The first bucket of the device whose key is not below (from_ns, shift), largest first where several begin
 * together. 1; 0: none; negative. */
int store_device_busy_find(struct store_reader *reader, uint32_t stream, uint64_t from_ns, unsigned shift,
	struct store_device_busy_bucket *bucket, struct error *error);

#endif
