/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - the switch records of one measured process: out of its perf rings, sorted by thread
 * and time, into the streams of its threads as `blocked` and `runnable` spans.
 *
 * A thread moves between processors, and their rings are read one after the other: what is younger
 * than the begin of a pass waits for the next one, so that no span is made from half of its records.
 */
#ifndef RECORD_SWITCHES_H
#define RECORD_SWITCHES_H

#include <poll.h>

#include "record/process/process.h"

/* Maps the rings of a new process, one perf event each, which are taken, whatever comes of it; those that its
 * end has emptied before are replaced by their copies. Negative: not all can be had. */
int switches_take_up(struct measured_process *process, const int *events, unsigned count, uint32_t bytes);
/* Maps the ring of one more event, that of a thread. *switches is made with the first. */
int switches_add(struct switches **switches, int event, uint32_t bytes, uint32_t tid);
/* All rings of a thread (0: of a process) were there at `since_ns`. A thread that had begun before is in none
 * of them until then, or in one and not in the other: a record that is missing there was never made. NULL:
 * nothing. */
void switches_begin(struct switches *switches, uint32_t tid, uint64_t since_ns);
void switches_free(struct switches *switches);

/* Do the records of this thread come in? NULL: no. */
bool switches_cover(const struct switches *switches, uint32_t tid);

/* Reads the rings and puts spans into the streams of `process`; `now_ns` was read before the call,
 * UINT64_MAX: take everything. Returns the number of records. */
size_t switches_drain(struct measured_process *process, struct store_writer *writer, uint64_t now_ns);
/* What the kernel did until then is in the hits of the threads' rings. */
void switches_read_until(struct measured_process *process, uint64_t time_ns);
/* The thread has ended: a ring of its own is closed. */
void switches_thread_end(struct switches *switches, uint32_t tid);

/* For the reader (switch_reader.h), with its lock held.
 * Fills in what to wait for, at most `room`: a ring wakes it long before it is full. Returns how many. */
unsigned switches_poll(const struct switches *switches, struct pollfd *polled, unsigned room);
/* After the wait, with what all processes filled in: what is there is read; with may_close, rings that no
 * thread writes any more are not waited for again. */
void switches_polled(struct switches *switches, const struct pollfd *polled, unsigned count, bool may_close);

#endif
