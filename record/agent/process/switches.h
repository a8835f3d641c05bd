/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - asks the kernel to write down when threads are switched out and in:
 * perf events that count nothing (allowed to ordinary users), whose rings the
 * collector reads. The rings are mapped here too, so that records are kept from the
 * first moment on; the descriptors are closed before the program runs.
 */
#ifndef RECORD_AGENT_SWITCHES_H
#define RECORD_AGENT_SWITCHES_H

#include <stdbool.h>

#include "store/ring/ring.h"

struct switches {
	int events[EVENT_SWITCHES_MAX]; /* perf events, ours until switches_hand_over */
	unsigned count;
	uint32_t bytes; /* data of each ring */
};

/* Once per process, again in a fork child. */
void switches_init(void);

/* Before switches_open: the events are to trap as well, at each `period` of `config`, a software event, with
 * that sig_data, and tell what the kernel did then (PERF_SAMPLE_CALLCHAIN). What the kernel refuses is not
 * had. */
void switches_trap_with(uint64_t config, uint64_t period, uint64_t data);
/* They do, and were sent. */
bool switches_trap(void);

/* Opens and maps them for the calling thread, the only one, and all threads to come. 0; or negative, when
 * they are not to be had: counted, and nothing is left open. */
int switches_open(struct switches *switches);

/* Closes the descriptors, and if they were not sent (`result` not 0) unmaps the rings. */
void switches_hand_over(struct switches *switches, int result);

/* The process ends: the rings go with it, so what the collector has not mapped yet is copied for it. */
void switches_end(void);

/* Unmaps the rings of the process: nobody will read them. */
void switches_close(void);

/* Where every thread needs a ring of its own: opens and sends that of the calling thread, which is not the
 * first. Its mapping, or NULL. */
void *switches_thread_open(void);
void switches_thread_close(void *ring);

#endif
