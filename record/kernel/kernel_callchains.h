/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_callchains.h - what the kernel did at each sample (or switch) of one thread: call chains out of perf
 * records, kept until the agent's record of the same moment is there, whose user path they go on from. A hit
 * in user code has none, and is here all the same: it says which hit a sample belongs to. Nearly all are of
 * that kind, so the chains lie apart from the queue, which is taken from the front.
 */
#ifndef RECORD_KERNEL_CALLCHAINS_H
#define RECORD_KERNEL_CALLCHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HIT_DEPTH_MAX 48u /* of deeper ones the innermost frames are kept */

struct hit {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t tid;
	uint32_t depth;
	const uint64_t *address; /* innermost first: the pc, then return addresses */
};

/* All-zero is an empty queue. */
struct hits {
	struct hit_place {
		uint64_t time_ns;
		uint32_t tid;
		uint32_t depth;
		uint32_t at; /* in `address` */
	} * list;	     /* [first, end) by time */
	uint32_t first, end, room;
	uint64_t *address; /* in the order in which they came */
	uint32_t address_count, address_room;
};

void hits_fini(struct hits *hits);
/* Forgets all but the memory. */
void hits_clear(struct hits *hits);
/* In its place by time, its chain copied. False: no memory, or too many; it is left out. */
bool hits_add(struct hits *hits, const struct hit *hit);
uint32_t hits_count(const struct hits *hits);
/* One of them, 0 is the oldest. Its chain is good until the next hits_add. */
struct hit hits_at(const struct hits *hits, uint32_t index);
/* How many there are until then, it included. */
uint32_t hits_until(const struct hits *hits, uint64_t time_ns);
/* Takes the first `count` away. */
void hits_drop(struct hits *hits, uint32_t count);

#endif
