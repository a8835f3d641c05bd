/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals.h - the collective calls that go on at one moment, and which ranks of their communicators have not
 * come to them: where a program hangs, the others wait for these.
 *
 *   rank 0   |~~Allreduce 41 of world~~~~~~~~      T: rank 0 and 1 are in call 41 of world; rank 2 has not
 *   rank 1        |~~Allreduce 41 of world~~~      come: its last one was 40
 *   rank 2   |~40~|==== work ================
 *                          T
 *
 * Calls of MPI are spans, also such as have not returned (record/process/drain_call.c); calls of NCCL are
 * kernels, and spans `nccl` where the kernel has not finished. A communicator's members are known by what
 * they called on it since 64 s before the call; those of MPI's `world` are all processes with a rank.
 */
#ifndef TIMELINE_ARRIVALS_H
#define TIMELINE_ARRIVALS_H

#include "store/base/arena.h"
#include "timeline/run/run.h"

#define ARRIVALS_CALL_BYTES 40
#define ARRIVALS_COMMUNICATOR_BYTES 64

/* A rank of the communicator. */
struct arrivals_rank {
	uint32_t stream;      /* its process's first one */
	int64_t rank;	      /* -1: not known */
	uint64_t since_ns;    /* it is in the call; 0: it has not come */
	uint64_t last_number; /* of one that has not come: its last call on the communicator; 0: none */
	char last[ARRIVALS_CALL_BYTES];
};

struct arrivals_call {
	char call[ARRIVALS_CALL_BYTES], communicator[ARRIVALS_COMMUNICATOR_BYTES];
	uint64_t number, since_ns;  /* when the first came */
	uint32_t ranks;		    /* that the communicator has; 0: not told */
	struct arrivals_rank *list; /* in the order of the streams; those that came and left are not in it */
	uint32_t count, in;
	uint32_t unknown; /* ranks of whom the run has nothing */
};

/* Only calls to which somebody has not come; by time. */
struct arrivals {
	struct arrivals_call *calls;
	uint32_t count;
};

/* In `arena`. Reads the spans of that moment and, where a call goes on, those before it. */
int arrivals_find(struct arrivals *arrivals, struct run *run, uint64_t time_ns, struct arena *arena,
	struct error *error);

#endif
