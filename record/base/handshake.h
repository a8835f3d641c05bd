/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handshake.h - reads the first message on a connection to the collector (store/ring/ring.h). The message is
 * untrusted; reading never blocks.
 */
#ifndef RECORD_HANDSHAKE_H
#define RECORD_HANDSHAKE_H

#include <stdbool.h>

#include "store/ring/handshake.h"

enum handshake_result {
	HANDSHAKE_LATER,
	HANDSHAKE_BAD,
	HANDSHAKE_CUT, /* its descriptors are missing: the collector is at its descriptor limit */
	HANDSHAKE_PROCESS,
	HANDSHAKE_SWITCHES,
	HANDSHAKE_KEEP,
	HANDSHAKE_GPU_MODULE,
	HANDSHAKE_LAUNCHER,
	HANDSHAKE_CONTROL
};

/* A received message. The caller owns the descriptors of HANDSHAKE_PROCESS, HANDSHAKE_SWITCHES and
 * HANDSHAKE_KEEP. */
struct handshake {
	uint32_t pid, tid; /* in the sender's pid namespace, which may not be ours */
	uint32_t host_pid; /* in our pid namespace, from the kernel; 0: not visible there */
	uint32_t switch_bytes;
	uint64_t word;	   /* HANDSHAKE_GPU_MODULE: hash of the content; HANDSHAKE_CONTROL: enum
			      event_control; else the time from which all events count */
	int memory, pidfd; /* HANDSHAKE_PROCESS; HANDSHAKE_GPU_MODULE sends memory alone */
	int events[EVENT_SWITCHES_MAX];
	unsigned event_count;  /* HANDSHAKE_SWITCHES, HANDSHAKE_KEEP: 1 */
	bool is_of_switches;   /* HANDSHAKE_CUT: only the switch ring of one thread is lost */
	bool is_outside;       /* HANDSHAKE_PROCESS: measured from outside; pidfd is not one, but becomes
				  readable at its end, too */
	bool is_injected;      /* HANDSHAKE_PROCESS: its agent came later, and may leave; pidfd as above */
	bool is_without_rings; /* HANDSHAKE_PROCESS: some switch rings could not be opened, so none is used */
};

/* True if the peer runs as the collector's user or as root. */
bool handshake_peer_is_us(int connection);
/* Reads the message. HANDSHAKE_LATER: nothing has arrived yet. */
enum handshake_result handshake_read(int connection, struct handshake *handshake);
/* Closes all descriptors of the message. */
void handshake_refuse(enum handshake_result result, struct handshake *handshake);

#endif
