/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - turns the words of -e into HPCT_EVENTS, which the agent reads (store/ring/ring.h): one time
 * source, and counters beside it.
 */
#ifndef RECORD_EVENTS_H
#define RECORD_EVENTS_H

#include <stdbool.h>

#include "store/base/error.h"
#include "store/ring/handshake.h"

/* The fields of struct perf_event_attr that select an event. */
struct events_code {
	uint32_t type;
	uint64_t config[3];
	bool user, kernel, hypervisor; /* none set: all levels that the kernel allows */
	unsigned precision;	       /* 0..3; EVENTS_PRECISION_MOST: the maximum available */
};

#define EVENTS_PRECISION_MOST 4u
#define EVENTS_ASKED_MAX 16u

struct events_asked {
	const char *event[EVENTS_ASKED_MAX]; /* as given to -e; the caller's strings */
	unsigned count;
	const char *rate;	  /* -c; NULL: each event's default */
	const char *counter_rate; /* HPCRUN_PERF_COUNT, of counters alone; NULL: rate */
	const char *sampler;	  /* --sampler; NULL: chosen by the period */
	const char *probability;  /* --memleak-prob; NULL: 1 */
	bool is_lenient;	  /* replace an invalid probability by 0.1 */
	bool is_forced;		  /* --force: count a second time source beside the first */
	bool has_switches;
};

/* Writes HPCT_EVENTS for the requested events to `to`, which holds EVENT_EVENTS_MAX bytes. ERROR_USAGE: an
 * invalid request. */
int events_write(char *to, const struct events_asked *asked, struct error *error);

/* Tries each counter of HPCT_EVENTS on this machine and removes those it refuses. Writes a sentence about
 * them to `why` of `room` bytes, or "". */
void events_try(char *events, char *why, unsigned room);
/* Writes what level of exact addresses events with :P have here, of those in HPCT_EVENTS, to `text` of `room`
 * bytes, or "". */
void events_precision_say(const char *events, char *text, unsigned room);

/* Prints the list of -L. */
void events_list(void);

/* True for a counter that PAPI reads (record/agent/sample/papi.h). */
bool events_is_papi(const char *name);
/* Why it cannot be counted, as text; NULL: it can. */
const char *events_papi_refusal(const char *name);
void events_list_papi(void);

/* What -e gpu= asks for. */
struct events_gpu {
	const char *vendor; /* the value that follows "gpu=", static; NULL: nothing was asked for */
	unsigned pc_period; /* "nvidia,pc@65536": samples of instructions each 2^N cycles; 0: none */
	uint64_t util_ns;   /* "nvidia,util@1ms": counters of the device each so long; 0: none */
};
/* Takes the words behind "gpu="; *found holds what words before asked for. Negative: unknown words, or such
 * as exclude those before. */
int events_gpu_find(struct events_gpu *found, const char *name, struct error *error);
void events_list_gpus(void);

/* Encodes an event of libpfm4: `name` is [pmu::]event[:mask][:modifier]. Negative: unknown event. */
int events_encode(struct events_code *code, const char *name, struct error *error);
/* Lists all performance monitoring units and, for usable ones, their events. `refusal` returns why an
 * event cannot be used, NULL: it can. */
void events_list_units(const char *(*refusal)(const struct events_code *code));

#endif
