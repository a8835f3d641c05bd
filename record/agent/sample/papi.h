/* SPDX-License-Identifier: Apache-2.0 */
/*
 * papi.h - counts of PAPI's presets and components, read at each sample of the time source: what they have
 * come by since the sample before is the path's (proxy sampling, S4 5.3.2; a period of their own they have
 * not).
 *
 * PAPI is not linked: who has asked for it gets hpct-agent-papi.so (papi_library.c), loaded into a link
 * namespace of its own with a C library of its own, so that the program's PAPI, malloc and signals are not
 * touched, and what PAPI does inside a sample finds no lock held by the thread that it interrupts.
 */
#ifndef RECORD_AGENT_PAPI_H
#define RECORD_AGENT_PAPI_H

#include <stdint.h>

#include "store/ring/ring.h"

#define PAPI_PLUGIN_FILE "hpct-agent-papi.so"
#define PAPI_PLUGIN_SYMBOL "hpct_papi"

/* What the plug-in exports: a const struct of this name. Errors are PAPI's, negative. */
struct papi_plugin {
	/* Once per process, before any other. */
	int (*open)(void);
	const char *(*error_text)(int error);
	/* 0: an event of that name can be counted by itself, and is a count; else why not. */
	int (*check)(const char *name);
	/* Counts for the calling thread from here on; what is refused has its reason in `errors`. NULL:
	 * nothing is counted. Not from a handler, nor the next but one. */
	void *(*begin)(const char *const *names, unsigned count, int *errors);
	/* Of all events since begin, those that are not counted 0. By the thread itself, also in a handler. 0
	 * or negative. */
	int (*read)(void *set, uint64_t *values);
	void (*end)(void *set);
	/* Tells of presets, components and their events; reason NULL: it can be had. */
	void (*list)(void (*tell)(const char *name, const char *text, const char *reason));
};

struct thread;

/* Takes the names of HPCT_EVENTS; once per process, after counter_open. */
void papi_open(void);
/* Loads the plug-in if there are names, and begins with the calling thread, the first. Ahead of main. */
void papi_load(void);
/* A child of fork: what the parent's PAPI held is not the child's. */
void papi_forked(void);

/* The calling thread begins, and ends. */
void papi_arm(struct thread *thread);
void papi_disarm(struct thread *thread);
/* Publishes what has come by, at the node of the last sample. The ring is entered. Signal safe. */
void papi_take(struct thread *thread, uint64_t now_ns);

#endif
