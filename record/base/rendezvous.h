/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous.h - one collector per host and launch: where hpct-record, the agents and the collector meet.
 *
 *   $XDG_RUNTIME_DIR/hpct or /tmp/hpct-UID      0700, checked for owner and mode; for want of /tmp in
 *                                               /var/tmp or /dev/shm
 *     agent-HASH.so                             link to the agent, where its own path has spaces or colons,
 * or is long: a program with a /tmp of its own does not find it agent-HASH-mpi.so link to MPI's names for it
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

#define RENDEZVOUS_PATH_MAX 100 /* sun_path holds 108 bytes */
#define RENDEZVOUS_BACKLOG 4096 /* so many may wait at the listener */

struct rendezvous {
	char base[RENDEZVOUS_PATH_MAX];
	char place[RENDEZVOUS_PATH_MAX];  /* HASH/ */
	char socket[RENDEZVOUS_PATH_MAX]; /* HASH/s */
	char agent[RENDEZVOUS_PATH_MAX];  /* as it is installed, or agent-HASH.so */
	int lock;			  /* descriptor of HASH/, locked; -1: not held */
	int listener;			  /* bound by us: we start the collector; -1: there is one */
	/* The same without a file, for programs with another /tmp: its abstract name is a zero byte and the
	 * socket's path. -1: there is one, or it was not to be had */
	int abstract_listener;
	int connection; /* to the collector */
};

/* Between hpct-record and the collector, both ways, after the event_handshake. */
enum rendezvous_message_type {
	RENDEZVOUS_READY,    /* collector: the store is there */
	RENDEZVOUS_FAILED,   /* collector: nothing is recorded; `text` says why */
	RENDEZVOUS_STARTED,  /* launcher: `number` is the program's pid */
	RENDEZVOUS_ENDED,    /* launcher: its program has ended with `status` (as wait gives it) */
	RENDEZVOUS_PROGRESS, /* collector: so many frames still to name */
	RENDEZVOUS_DONE	     /* collector: all is committed; `text` is the summary */
};

enum rendezvous_start {
	RENDEZVOUS_START_EXPECTED, /* its agent is to register */
	RENDEZVOUS_START_LEFT_OUT, /* selection.h */
	RENDEZVOUS_START_WITHOUT   /* it takes no agent, which is known already */
};

struct rendezvous_message {
	uint32_t type;
	int32_t status; /* RENDEZVOUS_ENDED: its wait status; RENDEZVOUS_STARTED: enum rendezvous_start;
			   RENDEZVOUS_DONE: 1 when the program was to be measured, but no agent of it
			   registered */
	uint64_t number;
	uint64_t begin_ns;	     /* RENDEZVOUS_STARTED: ahead of its begin */
	uint64_t user_ns, system_ns; /* RENDEZVOUS_ENDED: CPU time of the program and its children */
	char text[1024];
	char problem[512]; /* RENDEZVOUS_DONE: why not all is recorded, "": it is */
};

/* Whether the kernel is new enough; makes the private directory and the agent's link, takes the lock of this
 * launch, connects or binds. */
int rendezvous_open(struct rendezvous *rendezvous, const char *launch, const char *run, const char *agent,
	struct error *error);
/* Connects to the listener that was bound, and gives up the lock. */
int rendezvous_connect(struct rendezvous *rendezvous, struct error *error);
void rendezvous_leave(struct rendezvous *rendezvous);
/* The same, when no collector was started: the meeting place goes, too. */
void rendezvous_give_up(struct rendezvous *rendezvous);

/* The collector was killed: its meeting place goes, unless another one is there by now. */
void rendezvous_clear(const struct rendezvous *rendezvous);
/* The same for all other meeting places of ours: of a collector and an hpct-record that were both killed,
 * nobody was left to do it. */
void rendezvous_sweep(const struct rendezvous *rendezvous);

/* For the collector's end: true when nobody waits at the socket and the meeting place is gone. */
bool rendezvous_close(const char *place, const char *socket, int listener, int abstract_listener);
/* The next who waits at either listener, its connection with `flags` (SOCK_*); -1 and errno: none. Whoever
 * comes to the abstract one must be of our user. */
int rendezvous_accept(int listener, int abstract_listener, int flags);

/* 0 or negative. */
int rendezvous_send(int connection, const struct rendezvous_message *message);

#endif
