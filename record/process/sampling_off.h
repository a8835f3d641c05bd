/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling_off.h - intervals in which a program had switched sampling off (hpct_stop, -ds), as `unmonitored`
 * spans of each of its threads:
 *
 *   process    stop ........ start        stop ..... (lasts)
 *   thread A   [unmonitored]              [unmonitored, open
 *   thread B        born [un.]   ended
 */
#ifndef RECORD_SAMPLING_OFF_H
#define RECORD_SAMPLING_OFF_H

#include "store/ring/ring.h"
#include "store/write/writer.h"

#define SAMPLING_OFF_SPAN_HANDLE UINT64_MAX /* of store_writer_span_open */

/* The intervals of a process; zero-initialized. */
struct sampling_off {
	uint64_t *times_ns; /* ascending: off, on, off, ... */
	uint32_t count, capacity;
};

/* How much of it one thread's stream already has; zeroed for each claim. */
struct sampling_off_stream {
	uint32_t published;
	bool is_open;
	uint64_t begin_ns;
};

/* Reads new entries of the log. Ignores times later than now_ns. */
void sampling_off_take(struct sampling_off *sampling_off, struct event_process *shared, uint64_t now_ns);
void sampling_off_fini(struct sampling_off *sampling_off);

/* Writes the intervals to the stream of a thread that lives in [begin_ns, end_ns); end_ns UINT64_MAX:
 * still running. */
void sampling_off_publish(const struct sampling_off *sampling_off, struct sampling_off_stream *line,
	struct store_writer *writer, uint32_t stream, uint64_t begin_ns, uint64_t end_ns);

#endif
