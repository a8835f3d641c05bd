/* SPDX-License-Identifier: Apache-2.0 */
/*
 * related.h - the streams that a question about some of them needs: a selector filters what is reported,
 * never who may be blamed. GPUs are idle by their threads, threads wait for queues and for each other, ranks
 * for ranks; so each question is answered with all streams of the processes concerned, or of all processes.
 *
 * Streams of instruction samples have no time: no question needs them.
 * A process below one with a GPU counts to it (process_owners()).
 *
 *   chosen      related, of one process                reported
 *   GPU queues  its threads and all of its queues      the chosen queues; all of its threads
 *   threads     its threads and all of its queues      the chosen threads; all of its queues
 */
#ifndef BLAME_RELATED_H
#define BLAME_RELATED_H

#include "store/base/arena.h"
#include "timeline/run/run.h"

/* Bits of a stream. */
enum {
	RELATED_REPORTED = 1, /* it is chosen, or no stream of its kind is */
	RELATED_PROCESS = 2   /* a stream of its process is chosen */
};

struct related {
	const uint32_t *streams; /* of the run, in its order */
	uint32_t count;
	const uint8_t *bits; /* by stream of the run; NULL: all are chosen */
};

static inline bool related_is_reported(const uint8_t *bits, uint32_t stream)
{
	return !bits || bits[stream] & RELATED_REPORTED;
}
static inline bool related_is_process(const uint8_t *bits, uint32_t stream)
{
	return !bits || bits[stream] & RELATED_PROCESS;
}

/* Of the chosen streams; with `all` every process of the run is concerned. In `arena`. Threads of processes
 * of which no stream is chosen are reported where no thread is chosen at all, their queues never. */
int related_find(struct related *related, struct run *run, const uint32_t *chosen, uint32_t count, bool all,
	struct arena *arena, struct error *error);

#endif
