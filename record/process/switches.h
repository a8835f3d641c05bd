/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.h - turns the switch records of one measured process into `blocked` and `runnable` spans of its
 * threads' streams, sorted by thread and time.
 *
 * A thread moves between processors, whose rings are read one after the other. Records younger than the begin
 * of a pass wait for the next pass, so that no span misses one of its ends.
 */
#ifndef RECORD_SWITCHES_H
#define RECORD_SWITCHES_H

#include <poll.h>

#include "record/kernel/perf_ring.h"
#include "record/process/process.h"

/* Maps the rings of a new process, one per perf event. Owns the descriptors, also on failure. If the process
 * has ended, its rings are empty and the copies it left replace them. Negative: a ring could not be mapped.
 */
int switches_take_up(struct measured_process *process, const int *events, unsigned count, uint32_t bytes);
/* Maps one more ring, of a thread. Allocates *switches at the first call. */
int switches_add(struct switches **switches, int event, uint32_t bytes, uint32_t tid);
/* For a process measured from outside: its threads' switches come as records of their rings (EVENT_SWITCH),
 * through switches_put. 0 or negative: no memory. */
int switches_stream(struct switches **switches);
void switches_put(struct switches *switches, const struct switch_event *event);
/* The thread slept when its ring was opened, at since_ns: no record of its switch-out will come. */
void switches_asleep(struct switches *switches, uint32_t tid, uint64_t since_ns);
/* All rings of a thread (0: of a process) existed at `since_ns`. Before that, records of an older thread
 * may be missing in one ring or both: they were never made and do not count as lost. NULL: does nothing. */
void switches_begin(struct switches *switches, uint32_t tid, uint64_t since_ns);
void switches_free(struct switches *switches);

/* True if this thread's switches are recorded. NULL: no. */
bool switches_cover(const struct switches *switches, uint32_t tid);

/* Reads the rings and writes spans to the streams of `process`. `now_ns` was read before the call;
 * UINT64_MAX: takes everything. Returns the number of records. */
size_t switches_drain(struct measured_process *process, struct store_writer *writer, uint64_t now_ns);
/* Reads the rings, so that the kernel call chains up to `time_ns` are in the threads' queues. */
void switches_read_until(struct measured_process *process, uint64_t time_ns);
/* The thread has ended: closes its own ring. */
void switches_thread_end(struct switches *switches, uint32_t tid);

/* For switch_reader.h, with its lock held. Fills `polled` with at most `room` descriptors, which become
 * readable long before a ring is full. Returns their number. */
unsigned switches_poll(const struct switches *switches, struct pollfd *polled, unsigned room);
/* After the poll, with the results of all processes: reads the readable rings. may_close: stops polling
 * rings that no thread writes any more. */
void switches_polled(struct switches *switches, const struct pollfd *polled, unsigned count, bool may_close);

#endif
