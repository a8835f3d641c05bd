/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - what makes a thread's samples: one table of operations per source.
 * A source sends AGENT_SIGNAL to the thread whose time it measures; the handler
 * learns from the source how much one signal stands for.
 */
#ifndef RECORD_AGENT_SOURCE_H
#define RECORD_AGENT_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Real-time, hence never a number that programs get by default, and queued by the kernel per timer. */
#define AGENT_SIGNAL 61

/* A source's hold on one thread. */
struct source_handle {
	int id; /* -1: not armed */
};

struct source {
	const char *metric; /* as HPCT_EVENTS names it */
	/* Starts sampling the calling thread, every period_ns of what the source measures. 0 or negative. */
	int (*arm)(struct source_handle *handle, uint64_t period_ns);
	/* Ends it; no signal of this handle is taken afterwards. The calling thread's own handle. */
	void (*disarm)(struct source_handle *handle);
	/* Is this signal from the source? Then *periods >= 1 is what it stands for. Signal safe. */
	bool (*periods)(const siginfo_t *info, uint64_t *periods);
	/* What the source has measured of the calling thread so far, ns. */
	uint64_t (*clock_ns)(void);
};

extern const struct source source_timer;

/* The source for a metric; the CPU timer when nothing else is known by that name. */
const struct source *source_find(const char *metric);

#endif
