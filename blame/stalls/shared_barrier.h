/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_barrier.h - which barrier in shared memory (mbarrier) an instruction is about, so that a wait is
 * joined to the copies and arrivals that end it, wherever in the function they stand:
 *
 *   one warp copies      UTMALDG [UR8], [UR4]     UR9 = 0x2000 + 8 * stage: the barrier
 *   the others wait      SYNCS P0, [R9]           R9 = 0x2000 + 8 * stage
 *
 * Its place is what the compiler knew of the address; an index into an array of barriers counts as none. So
 * barriers of one array are one, and of several arrays several.
 */
#ifndef BLAME_SHARED_BARRIER_H
#define BLAME_SHARED_BARRIER_H

#include "blame/stalls/kernel_code.h"

/* What the instruction at `at` of NVIDIA's code does with a barrier in shared memory. */
enum shared_barrier_use {
	SHARED_BARRIER_NONE,
	SHARED_BARRIER_WAITS,
	SHARED_BARRIER_ARRIVES,
	SHARED_BARRIER_COPIES
};
enum shared_barrier_use shared_barrier_use(const struct kernel_code *code, uint32_t at);

/* The place of its barrier; false: not known, as where it is an argument or the slice's budget is spent. The
 * slice is of this code. */
bool shared_barrier_place(
	const struct kernel_code *code, struct dependency_slice *slice, uint32_t at, int64_t *place);

#endif
