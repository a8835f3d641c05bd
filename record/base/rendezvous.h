/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rendezvous.h - the socket and lock through which hpct-record, the agents and the collector of one launch on
 * one host find each other.
 *
 *   $XDG_RUNTIME_DIR/hpct or /tmp/hpct-UID      0700, owner and mode checked; if /tmp is not usable,
 *                                               /var/tmp or /dev/shm
 *     agent-HASH.so                             link to the agent, where its own path has spaces or colons,
 *                                               or is long: a program with another /tmp does not find it
 *     agent-HASH-mpi.so                         link to MPI's names for it
 *     HASH/                                     one per launch id and run
 *       s                                       the collector's socket
 *
 * The first hpct-record of a launch that locks HASH/ starts the collector; the others connect to its socket.
 */
#ifndef RECORD_RENDEZVOUS_H
#define RECORD_RENDEZVOUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/base/error.h"

/* The socket in a place that agents loaded into running processes connect to (record/inject/). A recorder
 * that is killed meanwhile leaves it there. */
#define RENDEZVOUS_INJECT "i"

#define RENDEZVOUS_PATH_MAX 100 /* sun_path holds 108 bytes */
#define RENDEZVOUS_BACKLOG 4096 /* length of the listener's queue */

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

/* Messages between hpct-record and the collector, both ways, after the event_handshake. */
enum rendezvous_message_type {
	RENDEZVOUS_READY,    /* collector: the store exists */
	RENDEZVOUS_FAILED,   /* collector: nothing is recorded; `text` says why */
	RENDEZVOUS_STARTED,  /* launcher: `number` is the program's pid */
	RENDEZVOUS_ENDED,    /* launcher: the program ended with `status` (a wait status) */
	RENDEZVOUS_PROGRESS, /* collector: frames still to symbolize */
	RENDEZVOUS_DONE,     /* collector: everything is committed; `text` is the summary */
	RENDEZVOUS_STATE     /* collector, to record/launch/control.h: see there */
};

#define RENDEZVOUS_NO_STATUS (-1)

enum rendezvous_start {
	RENDEZVOUS_START_EXPECTED, /* its agent will register */
	RENDEZVOUS_START_LEFT_OUT, /* excluded by record/agent/process/process_filter.h */
	RENDEZVOUS_START_WITHOUT   /* known to take no agent */
};

struct rendezvous_message {
	uint32_t type;
	int32_t status; /* RENDEZVOUS_ENDED: its wait status, RENDEZVOUS_NO_STATUS: nobody waited;
			   RENDEZVOUS_STARTED: enum rendezvous_start; RENDEZVOUS_DONE: 1 if no agent of a
			   program that should be measured registered */
	uint64_t number;
	uint64_t begin_ns;	     /* RENDEZVOUS_STARTED: a time before the program began */
	uint64_t user_ns, system_ns; /* RENDEZVOUS_ENDED: CPU time of the program and its children */
	char text[1024];
	char problem[512]; /* RENDEZVOUS_DONE: why data is missing; "": all is recorded */
};

/* Checks the kernel version, makes the private directory and the link to the agent, takes this launch's
 * lock, then binds the socket or connects to it. */
int rendezvous_open(struct rendezvous *rendezvous, const char *launch, const char *run, const char *agent,
	struct error *error);
/* Connects to the bound listener and releases the lock. */
int rendezvous_connect(struct rendezvous *rendezvous, struct error *error);
void rendezvous_leave(struct rendezvous *rendezvous);
/* Like rendezvous_leave, for a collector that was not started: also removes the directory. */
void rendezvous_give_up(struct rendezvous *rendezvous);

/* Removes the directory of a collector that was killed, unless a new collector uses it. */
void rendezvous_clear(const struct rendezvous *rendezvous);
/* Removes our other stale directories, left when both a collector and its hpct-record were killed. */
void rendezvous_sweep(const struct rendezvous *rendezvous);

/* For the collector's end: true when nobody waits at the socket and the meeting place is gone. */
bool rendezvous_close(const char *place, const char *socket, int listener, int abstract_listener);
/* The next who waits at either listener, its connection with `flags` (SOCK_*); -1 and errno: none. An
 * abstract name has no owner, so whose it is must be asked: handshake_peer_is_us. */
int rendezvous_accept(int listener, int abstract_listener, int flags);

/* Calls take() with the socket of each collector of this user on this host, until it returns false. A socket
 * may be of a collector that was killed. */
void rendezvous_each(bool (*take)(void *context, const char *socket), void *context);
/* Connects to a collector's socket and says what for: an enum event_handshake_kind. Returns the connection;
 * -1: nobody is there; ETIMEDOUT: or takes it within two seconds. */
int rendezvous_call(const char *socket, uint32_t kind, uint64_t word);

/* Returns 0 or a negative code. */
int rendezvous_send(int connection, const struct rendezvous_message *message);

#endif
