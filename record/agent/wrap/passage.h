/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passage.h - a call of the program that goes through a wrapper of an agent which was loaded into the running
 * process (record/agent/inject/). The measurement may end while the call waits, and another one may have
 * begun when it returns: its memory is touched at the end alone, where the measurement is asked to stay
 * meanwhile.
 *
 *   passage_begin(&passage);            the clock, and which measurement it is: no memory of the measurement
 *   result = real(...);                 may end it, unmap its memory, or leave by longjmp or cancellation
 *   passage_end(&passage, real, &call)  if it is still that one: a span, with all signals blocked
 */
#ifndef RECORD_AGENT_PASSAGE_H
#define RECORD_AGENT_PASSAGE_H

#include "record/agent/sample/adopt.h"
#include "record/agent/wrap/wait.h"

struct passage {
	uint64_t begin_ns; /* 0: not measured */
	uint32_t measurement;
};

/* From any code of the program: libc may not know the thread, or this is a fork or vfork child. */
static inline void passage_begin(struct passage *passage)
{
	passage->measurement = adopt_measurement();
	passage->begin_ns = process_is_live() ? process_now_ns() : 0;
}

/* Publishes the call of the real `function`. Keeps errno. */
void passage_end(const struct passage *passage, const void *function, const struct wait_call *call);

#endif
