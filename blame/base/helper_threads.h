/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_threads.h - threads that MPI's libraries begin for themselves: they wait nearly always, and no code
 * of the program runs on them. Counted with the program's threads they would be most of its waiting, and make
 * its work look uneven.
 *
 *   <thread root>;libpmix.so.2+0xa98b0;libevent_core-2.1.so.7+0x1d224;epoll_wait       a helper
 *   <thread root>;worker;solve                                                         not
 */
#ifndef BLAME_HELPER_THREADS_H
#define BLAME_HELPER_THREADS_H

#include "store/base/arena.h"
#include "timeline/run/run.h"

/* Puts the streams that are no such threads into *kept, in their order, in `arena`. *left_out: how many were
 * left out; where all are such threads, none is: they were asked for. */
int helper_threads_leave_out(struct run *run, const uint32_t **kept, uint32_t *kept_count, uint32_t *left_out,
	const uint32_t *streams, uint32_t count, struct arena *arena, struct error *error);

#endif
