/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous.h - one collector per host and launch: where hpct-record, the agents and the collector meet.
 *
 *   $XDG_RUNTIME_DIR/hpct or /tmp/hpct-UID      0700, checked for owner and mode; for want of /tmp in
 *                                               /var/tmp or /dev/shm
 *     agent-HASH.so                             link to the agent, without spaces or colons in its path
 *     agent-HASH-mpi.so                         link to MPI's names for it
 *     HASH/                                     one per launch id and run
 *       s                                       the collector's socket
 *
 * The first hpct-record of a launch that takes the lock of HASH/ starts the collector; the others find its
 * socket.
 */
#ifndef RECORD_RENDEZVOUS_H
#define RECORD_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/base/error.h"

#define HOST_PATH_MAX 100 /* sun_path holds 108 bytes */
#define HOST_BACKLOG 4096 /* so many may wait at the listener */

struct host {
	char base[HOST_PATH_MAX];
	char place[HOST_PATH_MAX];  /* HASH/ */
	char socket[HOST_PATH_MAX]; /* HASH/s */
	char agent[HOST_PATH_MAX];  /* agent-HASH.so */
	int lock;		    /* descriptor of HASH/, locked; -1: not held */
	int listener;		    /* bound by us: we start the collector; -1: there is one */
	int connection;		    /* to the collector */
};

/* Between hpct-record and the collector, both ways, after the event_hello. */
enum host_message_type {
	HOST_READY,    /* collector: the store is there */
	HOST_FAILED,   /* collector: nothing is recorded; `text` says why */
	HOST_STARTED,  /* launcher: `number` is the program's pid */
	HOST_ENDED,    /* launcher: its program has ended with `status` (as wait gives it) */
	HOST_PROGRESS, /* collector: so many frames still to name */
	HOST_DONE      /* collector: all is committed; `text` is the summary */
};

enum host_start {
	HOST_START_EXPECTED, /* its agent is to register */
	HOST_START_LEFT_OUT, /* selection.h */
	HOST_START_WITHOUT   /* it takes no agent, which is known already */
};

struct host_message {
	uint32_t type;
	int32_t status; /* HOST_ENDED: its wait status; HOST_STARTED: enum host_start; HOST_DONE: 1 when the
			   program was to be measured, but no agent of it registered */
	uint64_t number;
	uint64_t begin_ns;	     /* HOST_STARTED: ahead of its begin */
	uint64_t user_ns, system_ns; /* HOST_ENDED: CPU time of the program and its children */
	char text[1024];
	char problem[512]; /* HOST_DONE: why not all is recorded, "": it is */
};

/* Whether the kernel is new enough; makes the private directory and the agent's link, takes the lock of this
 * launch, connects or binds. */
int host_meet(struct host *host, const char *launch, const char *run, const char *agent, struct error *error);
/* Connects to the listener that was bound, and gives up the lock. */
int host_connect(struct host *host, struct error *error);
void host_leave(struct host *host);
/* The same, when no collector was started: the meeting place goes, too. */
void host_give_up(struct host *host);

/* The collector was killed: its meeting place goes, unless another one is there by now. */
void host_clear(const struct host *host);
/* The same for all other meeting places of ours: of a collector and an hpct-record that were both killed,
 * nobody was left to do it. */
void host_sweep(const struct host *host);

/* For the collector's end: true when nobody waits at the socket and the meeting place is gone. */
bool host_close(const char *place, const char *socket, int listener);

/* 0 or negative. */
int host_send(int connection, const struct host_message *message);

#endif
