/* SPDX-License-Identifier: Apache-2.0 */
/*
 * papi.h - counts PAPI's presets and components, read at each sample of the time source. The increase since
 * the last sample is charged to its call path (proxy sampling, S4 5.3.2); they have no period of their own.
 *
 * PAPI is not linked: if PAPI events are requested, hpct-agent-papi.so (papi_library.c) is loaded into a
 * separate link namespace with its own C library. So the program's PAPI, malloc and signals are untouched,
 * and PAPI calls within a sample meet no lock held by the interrupted thread.
 */
#ifndef RECORD_AGENT_PAPI_H
#define RECORD_AGENT_PAPI_H

#include <stdint.h>

#include "store/ring/ring.h"

#define PAPI_PLUGIN_FILE "hpct-agent-papi.so"
#define PAPI_PLUGIN_SYMBOL "hpct_papi"

/* The plug-in exports a const struct of this name. Errors are PAPI's, negative. */
struct papi_plugin {
	/* Once per process, first. */
	int (*open)(void);
	const char *(*error_text)(int error);
	/* 0: an event of that name can be counted and is a count; else why not. */
	int (*check)(const char *name);
	/* Starts counting for the calling thread; refused events have their reason in `errors`. NULL:
	 * nothing is counted. Neither this nor the next but one may be called in a handler. */
	void *(*begin)(const char *const *names, unsigned count, int *errors);
	/* Counts of all events since begin, 0 for those not counted. Called by the thread itself, also in
	 * a handler. 0 or negative. */
	int (*read)(void *set, uint64_t *values);
	void (*end)(void *set);
	/* Lists presets, components and their events; reason NULL: available. */
	void (*list)(void (*tell)(const char *name, const char *text, const char *reason));
};

struct thread;

/* Takes the names of HPCT_EVENTS; once per process, after counter_open. */
void papi_open(void);
/* If there are names: loads the plug-in and starts with the calling thread, the first. Before main. */
void papi_load(void);
/* Call in a fork child, which must not use the parent's PAPI state. */
void papi_forked(void);

/* Start and end counting in the calling thread. */
void papi_arm(struct thread *thread);
void papi_disarm(struct thread *thread);
/* Publishes the increase at the node of the last sample. The ring is entered. Signal safe. */
void papi_take(struct thread *thread, uint64_t now_ns);

#endif
