/* SPDX-License-Identifier: Apache-2.0 */
/* handshake.h - the first message on a connection to the collector (store/ring/ring.h), read without trust
 * and without waiting. */
#ifndef RECORD_HANDSHAKE_H
#define RECORD_HANDSHAKE_H

#include <stdbool.h>

#include "store/ring/handshake.h"

enum handshake_result {
	HANDSHAKE_LATER,
	HANDSHAKE_BAD,
	HANDSHAKE_CUT, /* without its descriptors: we hold as many as we may */
	HANDSHAKE_PROCESS,
	HANDSHAKE_SWITCHES,
	HANDSHAKE_KEEP,
	HANDSHAKE_GPU_MODULE,
	HANDSHAKE_LAUNCHER
};

/* What a caller said. The descriptors of HANDSHAKE_PROCESS, HANDSHAKE_SWITCHES and HANDSHAKE_KEEP are the
 * reader's. */
struct handshake {
	uint32_t pid, tid; /* as it has them; in a pid namespace of its own they are not ours */
	uint32_t host_pid; /* as we have it, by the kernel; 0: it is none of ours */
	uint32_t switch_bytes;
	uint64_t word; /* HANDSHAKE_GPU_MODULE: hash of memory's content; else since when all events count */
	int memory, pidfd; /* HANDSHAKE_PROCESS; HANDSHAKE_GPU_MODULE: memory alone */
	int events[EVENT_SWITCHES_MAX];
	unsigned event_count;  /* HANDSHAKE_SWITCHES, HANDSHAKE_KEEP: 1 */
	bool is_of_switches;   /* HANDSHAKE_CUT: it was one thread's ring of switches, no more */
	bool is_without_rings; /* HANDSHAKE_PROCESS: not all of them could be had, so none are taken */
};

/* Whether the other end runs as the collector's user or as root. */
bool handshake_peer_is_us(int connection);
/* HANDSHAKE_LATER: nothing there yet. */
enum handshake_result handshake_read(int connection, struct handshake *handshake);
/* Closes all descriptors that came with it. */
void handshake_refuse(enum handshake_result result, struct handshake *handshake);

#endif
