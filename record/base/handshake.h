/* SPDX-License-Identifier: Apache-2.0 */
/* handshake.h - the first message on a connection to the collector (store/ring/ring.h), read without trust
 * and without waiting. */
#ifndef RECORD_HANDSHAKE_H
#define RECORD_HANDSHAKE_H

#include <stdbool.h>

#include "store/ring/handshake.h"

enum hello_result {
	HELLO_LATER,
	HELLO_BAD,
	HELLO_CUT, /* without its descriptors: we hold as many as we may */
	HELLO_PROCESS,
	HELLO_SWITCHES,
	HELLO_KEEP,
	HELLO_GPU_MODULE,
	HELLO_LAUNCHER
};

/* What a caller said. The descriptors of HELLO_PROCESS, HELLO_SWITCHES and HELLO_KEEP are the reader's. */
struct hello {
	uint32_t pid, tid; /* as it has them; in a pid namespace of its own they are not ours */
	uint32_t host_pid; /* as we have it, by the kernel; 0: it is none of ours */
	uint32_t switch_bytes;
	uint64_t word;	   /* HELLO_GPU_MODULE: hash of memory's content; else since when all events count */
	int memory, pidfd; /* HELLO_PROCESS; HELLO_GPU_MODULE: memory alone */
	int events[EVENT_SWITCHES_MAX];
	unsigned event_count;  /* HELLO_SWITCHES, HELLO_KEEP: 1 */
	bool is_of_switches;   /* HELLO_CUT: it was one thread's ring of switches, no more */
	bool is_without_rings; /* HELLO_PROCESS: not all of them could be had, so none are taken */
};

/* Whether the other end runs as the collector's user or as root. */
bool hello_peer_is_us(int connection);
/* HELLO_LATER: nothing there yet. */
enum hello_result hello_read(int connection, struct hello *hello);
/* Closes all descriptors that came with it. */
void hello_refuse(enum hello_result result, struct hello *hello);

#endif
