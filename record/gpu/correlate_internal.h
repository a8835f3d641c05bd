/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate_internal.h - the correlator's launches, and its queues as streams. Only correlate*.c includes it.
 */
#ifndef RECORD_CORRELATE_INTERNAL_H
#define RECORD_CORRELATE_INTERNAL_H

#include "record/base/ring_records.h"
#include "record/base/u64_map.h"
#include "record/gpu/correlate.h"
#include "store/ring/ring_record.h"

struct correlate_launch {
	uint64_t correlation, link;
	uint64_t begin_ns, end_ns; /* of the call; once it is matched, end_ns is its operation's */
	uint64_t said_bytes;	   /* what a library said of its kernel: see correlate_said() */
	uint32_t said;		   /* text; 0: nothing */
	uint32_t context, stream;
	uint32_t older; /* number of the next older launch in its chain */
	bool is_matched;
	bool is_queued;	 /* it put work into a queue */
	bool is_kernel;	 /* one, for certain */
	bool is_untimed; /* its operation came without times */
	bool is_open;	 /* correlate_calls.c has a span of it open */
	uint32_t kernel; /* context of such an operation */
};

/*
 * The last CORRELATE_LAUNCHES_MAX launches, numbered from 0; number n is at list[n % capacity]. Each is in
 * the chain of its correlation id, newest first. A chain ends at the first number below `first`: numbers of
 * overwritten launches stay in the chains, so that overwriting costs nothing.
 *
 *   chains[c] --newest--> number 9041 --older--> number 702 --older--> number 17: before `first`, the end
 */
struct correlate_launches {
	struct correlate_launch *list;
	struct correlate_chain {
		uint32_t newest; /* low 32 bits of a launch's number, like `older` */
		uint32_t tag;	 /* low 32 bits of its correlation id, to skip most other chains */
	} * chains;		 /* [capacity] */
	uint32_t capacity;	 /* a power of two, or 0 */
	uint64_t page, mixed;	 /* the page of chains last looked up, and its hash */
	uint64_t seed;		 /* of the hash, see hash_seed.h */
	uint64_t first, next;
	uint64_t unmatched; /* number of the first launch that still waits for an operation */
};

/* Adds a launch; the caller fills in all but the chain's fields. NULL: no memory, the launch is dropped. */
struct correlate_launch *correlate_launches_add(struct correlate_launches *launches, uint64_t correlation);
/* NULL: unknown. Valid until the next add. */
struct correlate_launch *correlate_launches_find(struct correlate_launches *launches, uint64_t correlation);
/* Begin of the oldest unmatched launch of work that began at or after `since_ns`; UINT64_MAX: none. */
uint64_t correlate_launches_oldest(struct correlate_launches *launches, uint64_t since_ns);
/* Walks the kernels that never came, oldest first, those side by side as one: since the first one's launch
 * until the operation of the next launch ended, STORE_OPEN_NS: none followed. *number begins at 0. False: no
 * more. */
struct correlate_missing {
	uint64_t begin_ns, end_ns, count;
};
bool correlate_launches_missing(
	const struct correlate_launches *launches, uint64_t *number, struct correlate_missing *missing);
/* Kernels launched between the two times that have not shown to have finished: how many, *first the first. */
uint64_t correlate_launches_doubtful(const struct correlate_launches *launches, uint64_t begin_ns,
	uint64_t end_ns, const struct correlate_launch **first);
/* Walks the launches of which a library said something and whose operations have not come, newest first;
 * *number begins at UINT64_MAX. NULL: no more among the last `back` launches. Valid until the next add. */
struct correlate_launch *correlate_launches_said(
	const struct correlate_launches *launches, uint64_t *number, uint64_t back);
void correlate_launches_fini(struct correlate_launches *launches);

#define CORRELATE_RECENT 64u	    /* a power of two */
#define CORRELATE_BATCH 128u	    /* spans of a queue buffered for the writer */
#define CORRELATE_BATCHES_MAX 1024u /* queues per process with a buffer; others write at once */

/* A queue of a device: one stream. */
struct correlate_queue {
	uint32_t device, context, queue;
	uint32_t stream;
	uint32_t name, attributes; /* texts */
	uint64_t begin_ns, last_ns;
	/* The last operation with times, and the stretch since then whose operations have none. */
	uint64_t timed_link, timed_end_ns;
	uint64_t untimed_link, untimed_ns; /* untimed_ns 0: none */
	struct store_record *batch;	   /* [CORRELATE_BATCH]; NULL: not allocated */
	uint32_t batch_count;
};

struct correlate_device {
	uint32_t number;
	uint32_t name, uuid; /* texts */
};

/* An interval without GPU tracing. */
struct correlate_gap {
	uint64_t begin_ns, end_ns; /* STORE_OPEN_NS: still open */
	uint32_t attributes;
};

struct correlate_queues {
	uint64_t used_ns; /* the process's first use of a GPU; 0: not known */
	struct correlate_queue *list;
	uint32_t count, capacity;
	uint32_t recent[CORRELATE_RECENT]; /* cache of recent lookups, direct-mapped by ids */
	struct u64_map by_key;
	struct correlate_device *devices;
	uint32_t device_count;
	struct correlate_gap *gaps;
	uint32_t gap_count;
};

/* Finds or opens the queue's stream. NULL: no memory. Valid until the next new queue. */
struct correlate_queue *correlate_queue_find(struct correlate_queues *queues,
	const struct gpu_process *process, struct store_writer *writer, uint32_t host, uint32_t device,
	uint32_t context, uint32_t queue);

static inline uint32_t correlate_recent_slot(uint32_t device, uint32_t context, uint32_t queue)
{
	return (device * 5 + context * 11 + queue) & (CORRELATE_RECENT - 1);
}

/* Looks in the cache of recent lookups only; NULL: not there. */
static inline struct correlate_queue *correlate_queue_recent(
	struct correlate_queues *queues, uint32_t device, uint32_t context, uint32_t queue)
{
	uint32_t number = queues->recent[correlate_recent_slot(device, context, queue)];
	struct correlate_queue *known = number < queues->count ? &queues->list[number] : NULL;

	return known && known->queue == queue && known->context == context && known->device == device ? known
												      : NULL;
}

/* Appends a finished operation. It reaches the writer by correlate_queues_flush() at the latest. */
void correlate_queue_put(struct correlate_queues *queues, struct correlate_queue *queue,
	struct store_writer *writer, const struct store_record *span);
/* Begins a stretch of unknown time at an operation without times; it ends where the next one with times
 * begins. */
void correlate_queue_put_untimed(struct correlate_queue *queue, uint64_t link, uint64_t launched_ns);
/* Ends such a stretch, if `span`, an operation with times, was launched after it. */
void correlate_queue_put_timed(struct correlate_queues *queues, struct correlate_queue *queue,
	struct store_writer *writer, const struct store_record *span);
/* Writes all buffered spans. Call before any other write to the queues' streams and at the end of each
 * drain. */
void correlate_queues_flush(struct correlate_queues *queues, struct store_writer *writer);
/* Sets texts of the queue's stream; 0: unchanged. */
void correlate_queue_publish(struct correlate_queues *queues, const struct gpu_process *process,
	struct store_writer *writer, struct correlate_queue *queue, uint32_t name, uint32_t attributes);
void correlate_device_name(struct correlate_queues *queues, const struct gpu_process *process,
	struct store_writer *writer, const struct correlate_device *device);
/* Starts an interval without GPU tracing at `time_ns`, for `reason` (text). Reason 0 ends it. */
void correlate_queues_gap(
	struct correlate_queues *queues, struct store_writer *writer, uint64_t time_ns, uint32_t reason);
void correlate_queues_close(struct correlate_queues *queues, const struct gpu_process *process,
	struct store_writer *writer, uint64_t end_ns);
void correlate_queues_fini(struct correlate_queues *queues);

/* A kernel fault. */
struct correlate_fault {
	uint64_t time_ns; /* 0: none */
	uint64_t since_ns;
	uint32_t error; /* text */
};

/* An operation whose launch has not arrived yet. */
struct correlate_waiting {
	struct event_gpu operation;
	uint64_t since_ns;
};

/* Cached properties of operations with the same kernel, launch shape and launching path. */
struct correlate_kind {
	uint32_t operation;  /* STORE_OP_NONE: empty */
	uint32_t launched;   /* context of the launch */
	uint32_t name, said; /* text ids of the ring */
	uint32_t context, attributes;
};
#define CORRELATE_KIND_BITS 10u

struct correlate {
	uint64_t head; /* of the activity ring, as correlate_look found it */
	bool is_broken;
	struct ring_ids texts;
	struct u64_map
		attributes; /* of kernels, by name and launch attributes, as text ids; see attributes_of() */
	uint32_t attributes_since; /* number of binaries when `attributes` and `kinds` were filled */
	struct correlate_kind kinds[1u << CORRELATE_KIND_BITS]; /* direct-mapped cache */
	struct correlate_launches launches;
	struct correlate_queues queues;
	struct correlate_waiting *waiting;
	uint32_t waiting_count, waiting_capacity;
	uint64_t lost; /* of the ring, as already reported on a stream */
	struct correlate_fault fault;
	bool has_calls;	       /* a library said something of a launch */
	uint32_t calls_open;   /* launches that are: what is queued behind them does not come either */
	uint64_t calls_ns;     /* when these were last looked through */
	uint64_t kernels_late; /* kernels that arrived without a launch: theirs may be among the pending */
};

/* One drain of the activity ring. */
struct correlate_pass {
	struct correlate *correlate;
	struct gpu_process *process;
	struct store_writer *writer;
	uint32_t host;
	uint64_t now_ns;
	bool is_last; /* no more records will come */
	size_t records;
};

/* correlate_values.c: figures over time that a device's counters give. */
void correlate_values_take(struct correlate_pass *at, const struct event_gpu_values *said);

/* correlate_samples.c: samples of GPU instructions, and missing ones. */
void correlate_sample_take(struct correlate_pass *at, const struct event_gpu_sample *said);
void correlate_unsampled_take(struct correlate_pass *at, const struct event_gpu_unsampled *said);

/* correlate_calls.c: opens spans of calls that have not finished for long; the launch's operation has come.
 */
void correlate_calls_look(struct correlate_pass *at);
void correlate_call_over(
	struct correlate *correlate, struct store_writer *writer, struct correlate_launch *launch);

/* Drops cached kernel attributes if new binaries arrived that may change them. */
void correlate_kinds_check(const struct correlate_pass *at);
/* Matches an operation to its launch, or queues it until the launch arrives. */
void correlate_operation_take(struct correlate_pass *at, const struct event_gpu *gpu);
/* Retries waiting operations; gives up those that waited too long. */
void correlate_waiting_check(struct correlate_pass *at);

#endif
