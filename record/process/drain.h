/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.h - one ring to one stream: takes the records of a thread's claim, in order, and hands
 * them to the store's writer. A claim is a stream; the next claim of the same ring is another.
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
	uint32_t stream;	  /* UINT32_MAX: no claim is being read */
	struct ring_ids contexts; /* store context by node id - EVENT_NODE_FIRST */
	struct ring_ids texts;	  /* store text by id - 1 */
	uint64_t begin_ns, last_ns;
	uint64_t taken_bytes;
	uint64_t cpu_begin_ns;
	uint64_t weight_ns;    /* of its samples so far */
	uint32_t last_context; /* of the last one */
	uint64_t lost;	       /* told by records so far */
	/* as last read: */
	uint64_t signals, overruns, samples, partial, unwind_faults, handler_ns, counts;
	bool is_broken;	 /* its bytes made no sense: skipped from there on */
	bool is_dying;	 /* killed in a wait: what its switches tell from there on is its death */
	bool has_ended;	 /* drained to its end: ring_release may close the stream */
	uint64_t end_ns; /* of the thread's measurement; 0: not known yet */
	struct switch_spans switch_spans;
	struct wait_paths waits;
	struct kernel_callchains callchains; /* not yet taken by a sample, or a switch */
	struct sampling_off_stream sampling_off;
	uint64_t unsampled_ns; /* no sampler since then, and an `unmonitored` span is open; 0: it has one */
	struct tally_deltas tally_deltas;
};

struct event_ring *ring_at(const struct measured_process *process, uint32_t index);

/* Takes what is there; opens the stream of a new claim. Returns records taken. */
size_t ring_drain(
	struct measured_process *process, uint32_t index, struct store_writer *writer, uint32_t host);
/* Tells its stream when sampling was off. */
void ring_sampling_off(struct measured_process *process, uint32_t index, struct store_writer *writer);
/* Tells its stream since when the thread has no sampler. */
void ring_unsampled(struct measured_process *process, uint32_t index, struct store_writer *writer);
/* Closes the stream of a thread whose ring was drained to its end, and gives the ring back. */
void ring_release(struct measured_process *process, uint32_t index, struct store_writer *writer);
/* Closes the stream of a thread that has ended, or died with its process at `end_ns`. */
void ring_close(
	struct measured_process *process, uint32_t index, struct store_writer *writer, uint64_t end_ns);

#endif
