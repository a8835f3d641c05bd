/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h - drains one ring to the store's writer. A thread claims a ring for its life; each claim is one
 * stream, so the next claim of the same ring is another stream.
 */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include "record/base/ring_records.h"
#include "record/kernel/switch_spans.h"
#include "record/process/process.h"
#include "record/process/tally_deltas.h"

struct ring {
	uint32_t claim;
	uint32_t tid;
	uint32_t stream;	  /* UINT32_MAX: no claim is open */
	struct ring_ids contexts; /* store context by node id - EVENT_NODE_FIRST */
	struct ring_ids texts;	  /* store text by id - 1 */
	uint64_t begin_ns, last_ns;
	uint64_t taken_bytes;
	uint64_t cpu_begin_ns;
	uint64_t weight_ns;    /* sum over its samples so far */
	uint64_t sampled_ns;   /* when the sampler last gave one; 0: never */
	uint32_t last_context; /* of the last sample */
	uint64_t call_ns;      /* begin of the collective call that is an open span; 0: none is */
	uint64_t lost;	       /* reported by records so far */
	/* as last read: */
	uint64_t signals, overruns, samples, partial, unwind_faults, handler_ns, counts, values_enabled_ns,
		values_running_ns;
	bool is_broken;	 /* an invalid record was read: the rest is skipped */
	bool is_dying;	 /* killed in a wait: its remaining switch records show its death */
	bool has_ended;	 /* fully drained: ring_release may close the stream */
	uint64_t end_ns; /* when the thread's measurement ends; 0: not known yet */
	struct switch_spans switch_spans;
	struct wait_paths waits;
	struct kernel_callchains callchains; /* not yet matched to a sample or switch */
	struct sampling_off_stream sampling_off;
	uint64_t unsampled_ns; /* no sampler since then, and an `unmonitored` span is open; 0: it has one */
	struct tally_deltas tally_deltas;
};

struct event_ring *ring_at(const struct measured_process *process, uint32_t index);

/* Drains the ring; opens the stream of a new claim. Returns the number of records. */
size_t ring_drain(
	struct measured_process *process, uint32_t index, struct store_writer *writer, uint32_t host);
/* Writes the intervals without sampling to its stream. */
void ring_sampling_off(struct measured_process *process, uint32_t index, struct store_writer *writer);
/* Tells its stream since when the thread has no sampler. */
void ring_unsampled(struct measured_process *process, uint32_t index, struct store_writer *writer);
/* Closes the stream of a thread whose ring was drained to its end, and gives the ring back. */
void ring_release(struct measured_process *process, uint32_t index, struct store_writer *writer);
/* Closes the stream of a thread that ended, or that died with its process at `end_ns`. */
void ring_close(
	struct measured_process *process, uint32_t index, struct store_writer *writer, uint64_t end_ns);

#endif
