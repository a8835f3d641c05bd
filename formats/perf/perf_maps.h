/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_maps.h - what lay where in the memory of each process, and when: addresses of samples to places in
 * files. All maps are told before the first question, since perf's records are not in order of time.
 */
#ifndef FORMATS_PERF_MAPS_H
#define FORMATS_PERF_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/perf/perf_kernel.h"
#include "store/write/writer.h"

struct perf_maps;

struct perf_map {
	uint64_t begin, end, file_offset, time_ns;
	uint32_t pid;
	const char *path;
	const uint8_t *build_id; /* 20 bytes at most */
	uint8_t build_id_bytes;	 /* 0: not known */
};

/* NULL: no memory. The writer gets a module for each file. */
struct perf_maps *perf_maps_new(struct store_writer *writer);
void perf_maps_free(struct perf_maps *maps);
/* The build id of a path, for maps that tell none; before them. False: no memory. */
bool perf_maps_build_id(struct perf_maps *maps, const char *path, const uint8_t *bytes, uint8_t size);
/* False: no memory. */
bool perf_maps_add(struct perf_maps *maps, const struct perf_map *map);
/* From then on the process has new memory (exec), or that of its parent at that time (fork). */
bool perf_maps_exec(struct perf_maps *maps, uint32_t pid, uint64_t time_ns);
bool perf_maps_fork(struct perf_maps *maps, uint32_t pid, uint32_t parent, uint64_t time_ns);
/* No more maps. */
void perf_maps_sort(struct perf_maps *maps);

#define PERF_MAPS_KERNEL UINT32_MAX /* the pid of the kernel's own maps */

/* Module and offset of an address of the process at that time; false: nothing is known to lie there. */
bool perf_maps_find(struct perf_maps *maps, uint32_t pid, uint64_t time_ns, uint64_t address,
	uint32_t *module, uint64_t *offset);
/* A map of the process and the file that lies there, for perf_unwind.c. */
struct perf_place {
	uint64_t begin, end, file_offset;
	uint32_t file;
};
bool perf_maps_place(const struct perf_maps *maps, uint32_t pid, uint64_t time_ns, uint64_t address,
	struct perf_place *place);
/* How often the process had mapped something by then: while it is the same, so are its places. */
uint64_t perf_maps_age(const struct perf_maps *maps, uint32_t pid, uint64_t time_ns);
/* The file's name; NULL: it is not here, is another one than that which ran, or is none. "[vdso]" is told if
 * it is this kernel's. */
const char *perf_maps_path(const struct perf_maps *maps, uint32_t file);

/* What the file says of its kernel; it lives as long as the maps. */
const struct perf_kernel_anchor *perf_maps_kernel(const struct perf_maps *maps);

/* Files that are not there, or are others than those that ran: places in them have no names. */
uint64_t perf_maps_missing(const struct perf_maps *maps);

#endif
