/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children.h - child processes that a measured parent announced. A child may or may not load the agent; until
 * its agent registers it waits here. A child that ends unregistered becomes a stream that is unmonitored from
 * its birth to its end.
 *
 *   fork record --children_announce--> waiting --children_registered--> measured
 *                                          \---its end, or the recording's--> unmonitored stream
 */
#ifndef RECORD_CHILDREN_H
#define RECORD_CHILDREN_H

#include "record/process/process.h"

struct children {
	struct child *waiting;
	uint32_t waiting_count, waiting_capacity;
	struct registration *registered; /* hash table by pid, open addressing */
	uint32_t registered_count, registered_capacity;
	uint64_t unmonitored;	 /* that ended so */
	uint64_t unmonitored_ns; /* their CPU time, as far as /proc told */
	const char *left_out;	 /* why some are not to be measured, NULL: all are */
};

void children_fini(struct children *children);
/* Takes the children from the process's drained records. */
void children_announce(struct children *children, struct measured_process *process,
	struct store_writer *writer, uint32_t host);
/* Adds a program that hpct-record started, which may be excluded. `is_in_other_pid_namespace`: its pid is
 * of another pid namespace. */
void children_started(
	struct children *children, uint32_t pid, uint64_t begin_ns, bool is_in_other_pid_namespace);
/* True if that child has registered. */
bool children_know(const struct children *children, uint32_t pid, uint64_t begin_ns);
/* Returns the pid of the parent that announced it; 0: none did so far. */
uint32_t children_registered(struct children *children, uint32_t pid, uint64_t begin_ns);
/* True if a child is so young that its agent may still register. */
bool children_may_register(const struct children *children);
/* Marks the children that have ended. Read all pending handshakes between this and children_sweep, so that
 * no child that registered counts as unmonitored. */
void children_look(struct children *children);
/* Closes children marked by children_look, all if `is_end`. */
void children_sweep(struct children *children, struct store_writer *writer, uint32_t host, bool is_end);

#endif
