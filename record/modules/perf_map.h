/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_map.h - names of JIT code, from what a program writes for perf: /tmp/perf-PID.map, lines of
 * `start size name` in hexadecimal, jit_dump.h, what it registers for a debugger (jit_objects.h), or what a
 * Java machine says (event_code). All are read before each commit, and name the frames of the process's
 * anonymous module. Later lines override earlier ones.
 */
#ifndef RECORD_PERF_MAP_H
#define RECORD_PERF_MAP_H

#include <stdbool.h>

#include "record/modules/jit_dump.h"
#include "record/modules/jit_objects.h"
#include "store/write/writer.h"

struct perf_map_entry {
	uint64_t begin, end;
	uint32_t name;	/* store text */
	uint32_t order; /* line number */
};

struct perf_map {
	uint32_t module; /* store module; 0: the process has no such frame */
	int file;	 /* descriptor + 1; 0: not found yet */
	struct jit_dump dump;
	struct jit_objects objects;
	const char *code;    /* EVENT_CODE_DATA bytes of event_code; NULL: none */
	uint64_t code_bytes; /* of them read */
	uint64_t read_bytes;
	bool is_skipping_line; /* skips the rest of a line that is too long */
	uint32_t context_seen;
	struct perf_map_entry *entries; /* the first sorted_count ascending by begin, then order */
	uint32_t entry_count, sorted_count, entry_capacity;
	uint64_t *waiting; /* offsets without a name yet */
	uint32_t waiting_count, waiting_capacity;
	bool is_full, has_looked;
};

/* The process `pid`, which lives, runs such code: finds and reads what is gone once it has ended. */
void perf_map_look(struct perf_map *map, struct store_writer *writer, uint32_t pid, uint64_t now_ns);
/* Finds the map, in the mount namespace of the process `pid` that began at begin_ns, reads new lines and
 * names frames. */
void perf_map_name(struct perf_map *map, struct store_writer *writer, uint32_t pid, uint64_t begin_ns);
void perf_map_fini(struct perf_map *map);

#endif
