/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_callchains.h - kernel call chains of one thread's perf samples and switches. They wait here for the
 * agent's record of the same moment, whose user call path they extend. A sample in user code has an empty
 * chain but is kept as well, to pair perf samples with agent samples. Most are empty, so the addresses are in
 * an array apart from the queue.
 */
#ifndef RECORD_KERNEL_CALLCHAINS_H
#define RECORD_KERNEL_CALLCHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_CALLCHAIN_DEPTH_MAX 48u /* deeper chains keep their innermost frames */

struct kernel_callchain {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t tid;
	uint32_t depth;
	const uint64_t *address; /* innermost first: the pc, then return addresses */
};

/* A queue ordered by time, empty when zeroed. */
struct kernel_callchains {
	struct kernel_callchain_slot {
		uint64_t time_ns;
		uint32_t tid;
		uint32_t depth;
		uint32_t at; /* index in `address` */
	} * list;	     /* [first, end), by time */
	uint32_t first, end, capacity;
	uint64_t *address; /* of all chains, in order of arrival */
	uint32_t address_count, address_capacity;
};

void kernel_callchains_fini(struct kernel_callchains *callchains);
/* Empties the queue, keeps its memory. */
void kernel_callchains_clear(struct kernel_callchains *callchains);
/* Inserts by time and copies the chain. False: dropped, because memory is out or the queue is full. */
bool kernel_callchains_add(struct kernel_callchains *callchains, const struct kernel_callchain *callchain);
uint32_t kernel_callchains_count(const struct kernel_callchains *callchains);
/* The index-th entry, 0 is the oldest. Its addresses are valid until the next kernel_callchains_add. */
struct kernel_callchain kernel_callchains_at(const struct kernel_callchains *callchains, uint32_t index);
/* Number of entries up to `time_ns`, inclusive. */
uint32_t kernel_callchains_until(const struct kernel_callchains *callchains, uint64_t time_ns);
/* Removes the `count` oldest entries. */
void kernel_callchains_drop(struct kernel_callchains *callchains, uint32_t count);

#endif
