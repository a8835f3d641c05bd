/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_sums.h - short calls of MPI, where they come in such numbers that a span for each would cost more than
 * the call: summed by call path, as metrics MPI:calls, MPI:bytes, MPI:time and the calls by duration
 * (tally.h). Longer calls stay spans. While a thread sums, a span `mpi-summed` is open on its line: whoever
 * reads the spans knows that there were other calls.
 *
 *   calls a second   |        ####################            spans below the line, sums above it: a thread
 *   .................|..######....................####....    begins after a burst and ends when it calls
 *                    |###                             ####    less for a second
 *
 * It also begins where calls come without a pause, or the ring fills faster than the collector drains it, so
 * that no call is lost.
 *
 * With -e MPI@BOUND all calls shorter than that are sums; with MPI@0 none is. Collective calls always are
 * spans: who came late is told by them.
 */
#ifndef RECORD_AGENT_MPI_SUMS_H
#define RECORD_AGENT_MPI_SUMS_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* One call in progress. */
struct mpi_sum {
	struct thread *thread;
	uint64_t begin;	      /* ticks, if there is a scale, or ns */
	uint64_t ticks_scale; /* see ticks.h */
	uint32_t node;	      /* its path; 0: not looked up yet */
};

/* What a sum needs of a call that has ended. */
struct mpi_sum_call {
	const void *function;
	uint64_t type; /* of the data, a handle; its size is looked up once */
	int count;     /* negative: no data */
	int (*type_size)(uint64_t type, int *bytes);
};

/* Around the library's function, innermost; `t`: the calling thread's. False: this call is a span. `waits`:
 * for another process, so that time before the call costs nothing. Not signal safe, as all here. */
bool mpi_sums_begin(struct mpi_sum *sum, struct thread *t, bool waits, const void *function);
/* How long the call took. */
uint64_t mpi_sums_end(const struct mpi_sum *sum);
bool mpi_sums_is_short(uint64_t duration_ns);
/* Adds it. False: there is no room for another path: it is a span. */
bool mpi_sums_add(struct mpi_sum *sum, uint64_t duration_ns, const struct mpi_sum_call *call);

/* The last call of MPI comes: the thread sums no more. */
void mpi_sums_close(struct thread *thread);

/* A call that became a span; begins to sum where there are too many. */
void mpi_sums_span(struct thread *thread, uint64_t begin_ns, uint64_t end_ns);

#endif
