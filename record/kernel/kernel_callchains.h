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

#define KERNEL_CALLCHAIN_DEPTH_MAX 48u /* of deeper ones the innermost frames are kept */

struct kernel_callchain {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t tid;
	uint32_t depth;
	const uint64_t *address; /* innermost first: the pc, then return addresses */
};

/* All-zero is an empty queue. */
struct kernel_callchains {
	struct kernel_callchain_slot {
		uint64_t time_ns;
		uint32_t tid;
		uint32_t depth;
		uint32_t at; /* in `address` */
	} * list;	     /* [first, end) by time */
	uint32_t first, end, capacity;
	uint64_t *address; /* in the order in which they came */
	uint32_t address_count, address_capacity;
};

void kernel_callchains_fini(struct kernel_callchains *callchains);
/* Forgets all but the memory. */
void kernel_callchains_clear(struct kernel_callchains *callchains);
/* In its place by time, its chain copied. False: no memory, or too many; it is left out. */
bool kernel_callchains_add(struct kernel_callchains *callchains, const struct kernel_callchain *callchain);
uint32_t kernel_callchains_count(const struct kernel_callchains *callchains);
/* One of them, 0 is the oldest. Its chain is good until the next kernel_callchains_add. */
struct kernel_callchain kernel_callchains_at(const struct kernel_callchains *callchains, uint32_t index);
/* How many there are until then, it included. */
uint32_t kernel_callchains_until(const struct kernel_callchains *callchains, uint64_t time_ns);
/* Takes the first `count` away. */
void kernel_callchains_drop(struct kernel_callchains *callchains, uint32_t count);

#endif
