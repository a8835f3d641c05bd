/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children.h - processes that a measured parent told of: until their own agent registers nobody knows
 * whether it will. One that ends without becomes a stream that is unmonitored from its birth to its end.
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
	struct registration *registered; /* open addressing by pid */
	uint32_t registered_count, registered_capacity;
	uint64_t unmonitored;	 /* that ended so */
	uint64_t unmonitored_ns; /* their CPU time, as far as /proc told */
	const char *left_out;	 /* why some are not to be measured, NULL: all are */
};

void children_fini(struct children *children);
/* Takes what the process's drained records told. */
void children_announce(struct children *children, struct measured_process *process,
	struct store_writer *writer, uint32_t host);
/* hpct-record has started a program, which may be left out; `is_in_other_pid_namespace`: in another pid
 * namespace. */
void children_started(
	struct children *children, uint32_t pid, uint64_t begin_ns, bool is_in_other_pid_namespace);
/* Has the one that was started then registered? */
bool children_know(const struct children *children, uint32_t pid, uint64_t begin_ns);
void children_registered(struct children *children, uint32_t pid, uint64_t begin_ns);
/* Is one there that was born a moment ago, whose agent may still register? */
bool children_may_register(const struct children *children);
/* Finds who has ended by now: every hello that is waiting then must be heard ahead of the sweep. */
void children_look(struct children *children);
/* Settles those that had ended when looked at, all of them if `is_end`. */
void children_sweep(struct children *children, struct store_writer *writer, uint32_t host, bool is_end);

#endif
