/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_busy.h - when a GPU is busy: the union over its queues, never their sum, in buckets of 2^21, 2^24,
 * ... 2^60 ns. The queues of one process, generation and device number are a device.
 *
 *   queue 0   |###|   |##|      |#####       swept by its builder until its watermark
 *   queue 1     |####|       |#|
 *   device    |######||##|   |#||###|        merged until the earliest of them
 *   buckets   |  8       |  6       | ...    larger ones are made of those below
 *
 *   key       | the device's first queue | kind UNITED | begin | shift |     (key.h)
 *   value     sealed: | busy ns |
 *
 * A bucket of few changes is not worth its entry: readers unite the queues there. Neither is there one where
 * the device has one queue so far, nor where a record came behind the sweep of its queue: such a one deletes
 * those that reach beyond it, and they are not made again. Flight recordings have none.
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
	struct store_device_busy_span *spans; /* disjoint, in order; from `head` on they wait */
	uint32_t head, count, capacity;
	uint64_t known_ns; /* nothing comes before it any more */
	bool has_ended;	   /* nor behind it */
};

/* One device. */
struct store_device_busy {
	uint32_t stream; /* its first queue */
	uint32_t host, pid, generation, device;
	struct store_device_busy_queue *queues;
	uint32_t count, capacity;
	uint64_t merged_ns; /* sizes know the union until here */
	uint64_t doubt_ns;  /* no bucket that begins before it is to be made */
	uint64_t torn_ns;   /* buckets that reach beyond it are to be deleted; UINT64_MAX: none */
	struct store_device_busy_size {
		uint64_t begin_ns, busy_ns, changes;
	} sizes[STORE_DEVICE_BUSY_SIZES];
	struct store_bytes made; /* to be put */
	struct store_bytes value;
	bool is_over; /* no more buckets */
};

/* All-zero is none. */
struct store_devices_busy {
	struct store_device_busy **devices;
	uint32_t count, capacity;
	struct hash_index index;
};
void store_devices_busy_fini(struct store_devices_busy *devices);

/* A queue with a number within its device, which stays where it is; NULL: memory is out. */
struct store_device_busy *store_device_busy_join(struct store_devices_busy *devices, uint32_t stream,
	const struct store_stream *properties, uint32_t *queue);

/* The queue is busy from `begin_ns` to `end_ns`, which is before 2^62 and not before what was added last. */
void store_device_busy_add(
	struct store_device_busy *united, uint32_t queue, uint64_t begin_ns, uint64_t end_ns);
/* Does it want to know what its queues do? */
static inline bool store_device_busy_is_fed(const struct store_device_busy *united)
{
	return !united->is_over && united->count > 1;
}
/* What was added there is not what it did, or nobody knows. end_ns UINT64_MAX: for ever. */
void store_device_busy_spoil(struct store_device_busy *united, uint64_t begin_ns, uint64_t end_ns);
/* The queue is swept until then; with `is_end` nothing comes behind it. */
void store_device_busy_know(struct store_device_busy *united, uint32_t queue, uint64_t until_ns, bool is_end);

/* Merges what is known of all queues. With `is_end` nothing follows. */
void store_devices_busy_merge(struct store_devices_busy *devices, bool is_end);

/* ---- reading ---- */

struct store_device_busy_bucket {
	uint64_t begin_ns, busy_ns;
	unsigned shift;
};

/* The first bucket of the device whose key is not below (from_ns, shift): those that begin together come
 * largest first. 1; 0: none; negative. */
int store_device_busy_find(struct store_reader *reader, uint32_t stream, uint64_t from_ns, unsigned shift,
	struct store_device_busy_bucket *bucket, struct error *error);

#endif
