/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - makes the kernel record the context switches of threads: perf events that count nothing
 * (allowed for ordinary users), whose rings the collector reads. They are mapped here, too, so that records
 * are kept from the start; the descriptors are closed before the program runs.
 */
#ifndef RECORD_AGENT_SWITCHES_H
#define RECORD_AGENT_SWITCHES_H

#include <stdbool.h>

#include "store/ring/ring.h"

struct switches {
	int events[EVENT_SWITCHES_MAX]; /* perf events, owned until switches_hand_over */
	unsigned count;
	uint32_t bytes; /* data size of each ring */
};

/* Once per process, again in a fork child. */
void switches_init(void);

/* Call before switches_open: makes the events also trap, at each `period` of `config`, a software event,
 * with that sig_data, and record kernel call chains (PERF_SAMPLE_CALLCHAIN). Drops what the kernel
 * refuses. */
void switches_trap_with(uint64_t config, uint64_t period, uint64_t data);
/* True if they trap and were sent. */
bool switches_trap(void);

/* Opens and maps them for the calling thread, the only one, and its future threads. Negative: refused and
 * counted; nothing is left open. */
int switches_open(struct switches *switches);

/* Closes the descriptors; if they were not sent (`result` not 0), also unmaps the rings. */
void switches_hand_over(struct switches *switches, int result);

/* Call when the process ends: copies the rings that the collector has not mapped yet, as they vanish with
 * the process. */
void switches_end(void);

/* Unmaps the process's rings, which the collector will not read. */
void switches_close(void);

/* Sampling begins in a process that was begun without switch records: the collector opens those of the
 * threads that are there, later threads have their own rings. Signal safe. */
void switches_begin_late(void);

/* If every thread needs its own ring: opens and sends that of the calling thread, which is not the first.
 * Returns its mapping, or NULL. */
void *switches_thread_open(void);
void switches_thread_close(void *ring);

#endif
