/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - what to sample, from the words of -e to those of HPCT_EVENTS that the agent
 * reads (store/ring/ring.h): one time source, and counters beside it.
 */
#ifndef RECORD_EVENTS_H
#define RECORD_EVENTS_H

#include <stdbool.h>

#include "store/base/error.h"
#include "store/ring/handshake.h"

/* The fields of struct perf_event_attr that name an event. */
struct events_code {
	uint32_t type;
	uint64_t config[3];
	bool user, kernel, hypervisor; /* none: all that are allowed */
	unsigned precision;	       /* 0..3; EVENTS_PRECISION_MOST: as much as there is */
};

#define EVENTS_PRECISION_MOST 4u
#define EVENTS_ASKED_MAX 16u

struct events_asked {
	const char *event[EVENTS_ASKED_MAX]; /* as -e has them, the caller's */
	unsigned count;
	const char *rate;	 /* -c; NULL: each event's own */
	const char *sampler;	 /* --sampler; NULL: by the period */
	const char *probability; /* --memleak-prob; NULL: 1 */
	bool is_lenient;	 /* a probability that makes no sense is 0.1 */
	bool is_forced;		 /* --force: a second time source is counted beside the first */
	bool has_switches;
};

/* The HPCT_EVENTS for what was asked; `to` holds EVENT_EVENTS_MAX bytes. ERROR_USAGE with a sentence. */
int events_write(char *to, const struct events_asked *asked, struct error *error);

/* Tries each counter of an HPCT_EVENTS on this machine and takes those out that it refuses; `why`, of `room`
 * bytes, gets one sentence about them, or "". */
void events_try(char *events, char *why, unsigned room);

/* What -L prints. */
void events_list(void);

/* By PAPI, as record/agent/sample/papi.h tells. */
bool events_is_papi(const char *name);
/* Why it cannot be counted, in words; NULL: it can. */
const char *events_papi_refusal(const char *name);
void events_list_papi(void);

/* What follows "gpu=", of that name, static. 0; or negative with a sentence: it is none. */
int events_gpu_find(const char **found, const char *name, struct error *error);
void events_list_gpus(void);

/* By libpfm4: `name` is [pmu::]event[:mask][:modifier]. 0; or negative with a sentence: it is not known. */
int events_encode(struct events_code *code, const char *name, struct error *error);
/* Tells of all performance monitoring units and, where any can be used, their events, with what `refusal` has
 * against one; NULL: nothing. */
void events_list_units(const char *(*refusal)(const struct events_code *code));

#endif
