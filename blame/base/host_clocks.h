/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_clocks.h - how far the clocks of hosts lie apart, by what must have happened before what: each call of
 * a barrier begins, on every rank, before it ends on any; a message is sent before it is received. Each such
 * pair bounds the difference of two clocks (difference constraints; closed by shortest paths). The wall-clock
 * anchors of the stores bound it too, where the records do not contradict them.
 *
 *   host A   |~~barrier~~~~~|            begin on A <= end on B:   A - B <= end - begin
 *   host B            |~~~~~|            begin on B <= end on A:   B - A <= end - begin
 *
 * A shift is added to a clock's times; the first clock's is 0, another's the middle of what is possible.
 */
#ifndef BLAME_HOST_CLOCKS_H
#define BLAME_HOST_CLOCKS_H

#include "blame/base/process.h"

/* Of no bound is known. */
#define HOST_CLOCK_UNKNOWN UINT64_MAX

struct host_clocks {
	uint32_t count; /* of clocks */
	uint32_t *of;	/* clock of each process */
	/* -- its own -- */
	int64_t *most; /* count x count: what is added to [row]'s times less what is added to [column]'s is at
			  most this */
	int64_t *wall; /* the same by wall-clock anchors alone */
	int64_t *kept; /* scratch */
	int64_t *shift_ns;
	const char **host;
};

/* The clocks of these processes, in order of first use; closed, by the wall-clock anchors alone. In `arena`.
 */
int host_clocks_make(struct host_clocks *clocks, const struct run *run, const struct process *processes,
	uint32_t count, struct arena *arena, struct error *error);

/* Forgets what the records bound. */
void host_clocks_clear(struct host_clocks *clocks);
/* What happened on one clock happened before what happened on the other. */
void host_clocks_order(
	struct host_clocks *clocks, uint32_t before, uint64_t before_ns, uint32_t after, uint64_t after_ns);
/* Before the next three are asked, once all bounds are there. False: they contradict each other, as they do
 * where a clock runs faster than another for long; then nothing is known. */
bool host_clocks_close(struct host_clocks *clocks);

/* The time on the first clock; of the first clock itself unchanged. */
uint64_t host_clocks_time(const struct host_clocks *clocks, uint32_t clock, uint64_t time_ns);
/* Whether the one moment was before the other, or with it, by all shifts that are possible. Both as
 * host_clocks_time() gave them. */
bool host_clocks_is_surely(const struct host_clocks *clocks, uint32_t before, uint64_t before_ns,
	uint32_t after, uint64_t after_ns);
/* So far the shift may be off, against the first clock; HOST_CLOCK_UNKNOWN: any. */
uint64_t host_clocks_error(const struct host_clocks *clocks, uint32_t clock);

#endif
