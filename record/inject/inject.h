/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.h - measures running processes by an agent that is loaded into them: hpct-record -p PID --inject.
 *
 *   inject_open   one thread of each process, at a place where it holds no lock, is made to call dlopen, by
 *                 ptrace; no other stops. The agent (record/agent/inject/) then works by itself, and speaks
 * to the collector inject_run    waits inject_close  the agents undo what they did, and their threads end;
 * the library stays
 *
 * An agent whose connection to this process closes does the same: also when this process is killed.
 */
#ifndef RECORD_INJECT_H
#define RECORD_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "store/base/error.h"

struct inject_plan {
	const uint32_t *pids; /* in our pid namespace */
	unsigned pid_count;
	const char *place;  /* a directory of ours for a socket */
	const char *socket; /* the collector's */
	const char *agent;  /* path of the library */
	const char *events; /* as HPCT_EVENTS */
};

/* What became of one process. */
struct inject_began {
	uint32_t pid, tid; /* tid: the thread that was stopped */
	uint32_t threads;  /* that are measured */
	uint32_t slots;	   /* entries of its tables of calls that lead through the agent */
	uint64_t stood_ns; /* how long that thread stood still */
};

struct inject;

/* 0, or ERROR_USAGE with the reason why no agent can be loaded into the process, as far as that can be told
 * without touching it. */
int inject_check(uint32_t pid, const char *agent, struct error *error);

/* Loads the agents and begins. ERROR_USAGE: one of them could not be loaded, or would not begin; nothing is
 * left in any process then but the library. */
int inject_open(struct inject **inject, const struct inject_plan *plan, struct error *error);
/* Of the process at `index` of the plan. */
const struct inject_began *inject_began(const struct inject *inject, unsigned index);
/* Waits until all processes have ended, `stop` is readable or clock_now_ns() reaches until_ns (0: never).
 * True: all have ended. */
bool inject_run(struct inject *inject, int stop, uint64_t until_ns);
/* Ends the measurement, waits until the agents' threads have gone, frees all. Returns how many processes have
 * such a thread after two seconds. */
unsigned inject_close(struct inject *inject);

#endif
