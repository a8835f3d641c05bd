/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_map.h - names of code that a program has made itself, from the map that it writes for perf:
 * /tmp/perf-PID.map, lines of `start size name` in hexadecimal. What stands there when the process is seen to
 * end, or when a recording settles, names the frames of its anonymous module; later lines win.
 */
#ifndef RECORD_PERF_MAP_H
#define RECORD_PERF_MAP_H

#include <stdbool.h>

#include "store/write/writer.h"

struct perf_map_entry {
	uint64_t begin, end;
	uint32_t name;	/* store text */
	uint32_t order; /* of lines */
};

struct perf_map {
	uint32_t module; /* of the store; 0: no such frame was met */
	int file;	 /* descriptor + 1; 0: not found so far */
	uint64_t read_bytes;
	bool is_skipping_line; /* a line too long to be one: its rest is none, either */
	uint32_t context_seen;
	struct perf_map_entry *entries; /* ascending by begin, then order */
	uint32_t entry_count, entry_capacity;
	uint64_t *waiting; /* offsets without a name */
	uint32_t waiting_count, waiting_capacity;
	bool is_full;
};

/* Looks for the map, as the process `pid` that began at begin_ns sees it, and reads what is new; names what
 * can be named. */
void perf_map_name(struct perf_map *map, struct store_writer *writer, uint32_t pid, uint64_t begin_ns);
void perf_map_fini(struct perf_map *map);

#endif
