/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling_off.h - when a program had switched sampling off (hpct_stop, -ds), as `unmonitored` spans of each
 * of its threads:
 *
 *   process    stop ........ start        stop ..... (lasts)
 *   thread A   [unmonitored]              [unmonitored, open
 *   thread B        born [un.]   ended
 */
#ifndef RECORD_SAMPLING_OFF_H
#define RECORD_SAMPLING_OFF_H

#include "store/ring/ring.h"
#include "store/write/writer.h"

#define PAUSE_SPAN_HANDLE UINT64_MAX /* of store_writer_span_open */

/* All that a process has said so far; zeroed at first. */
struct pauses {
	uint64_t *times_ns; /* ascending: off, on, off, ... */
	uint32_t count, room;
};

/* How much of it one thread's stream has been told; zeroed with its claim. */
struct pause_line {
	uint32_t told;
	bool is_open;
	uint64_t begin_ns;
};

/* Takes what is new in the log. Times later than now_ns are not believed. */
void pauses_take(struct pauses *pauses, struct event_process *shared, uint64_t now_ns);
void pauses_fini(struct pauses *pauses);

/* Tells the stream of a thread that lives in [begin_ns, end_ns); end_ns UINT64_MAX: it goes on. */
void pauses_tell(const struct pauses *pauses, struct pause_line *line, struct store_writer *writer,
	uint32_t stream, uint64_t begin_ns, uint64_t end_ns);

#endif
