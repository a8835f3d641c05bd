/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_groups.h - the streams of a run by what they have in common: rank, process, program, host, device;
 * each thread or stream is a group of its own. Reports have a row of each, or spread a profile over them.
 *
 *   by process   node1/4711.0   "cc1plus foo.cc 4711"     by program   cc1plus     of all its processes
 */
#ifndef TIMELINE_STREAM_GROUPS_H
#define TIMELINE_STREAM_GROUPS_H

#include "store/base/arena.h"
#include "timeline/run/run.h"

enum stream_groups_by {
	STREAM_GROUPS_RANK,
	STREAM_GROUPS_THREAD,
	STREAM_GROUPS_PROCESS,
	STREAM_GROUPS_PROGRAM,
	STREAM_GROUPS_HOST,
	STREAM_GROUPS_DEVICE,
	STREAM_GROUPS_STREAM,
	STREAM_GROUPS_BY_COUNT
};
#define STREAM_GROUPS_NAMES "rank, thread, process, program, host, device or stream"
int stream_groups_find(const char *name); /* -1: none */
const char *stream_groups_name(enum stream_groups_by by);
/* Those that --by of tables names beside keys of code. */
#define STREAM_GROUPS_ROW_NAMES "process, program, host, rank"
bool stream_groups_is_row(enum stream_groups_by by);

#define STREAM_GROUPS_NONE UINT32_MAX

struct stream_group {
	const char *key;   /* the rank, HOST/PID.GENERATION, the program, the host, HOST/DEVICE, the stream */
	const char *label; /* with `has_labels`, for people: "rank 3", "cc1plus foo.cc 4711"; else the key */
	uint32_t first, count; /* of `streams` */
};

/* Everything is in the arena, or the run's until it is renewed. */
struct stream_groups {
	enum stream_groups_by by;
	struct stream_group *groups; /* by host, then number; programs by name */
	uint32_t count;
	uint32_t *streams;    /* those that are in a group, group by group, in the order of the run */
	const uint32_t *of;   /* by stream of the run: its group; STREAM_GROUPS_NONE: it has none, or was not
				 asked about */
	const char *no_group; /* key of streams that have none: "<no rank>" */
};

/* Of these streams. With `has_labels`, or by program, reads the first spans of each process. */
int stream_groups_make(struct stream_groups *groups, struct run *run, const uint32_t *streams, uint32_t count,
	enum stream_groups_by by, bool has_labels, struct arena *arena, struct error *error);

/* The label of a stream's group, `no_group` of STREAM_GROUPS_NONE. */
const char *stream_groups_text(const struct stream_groups *groups, uint32_t group);

#endif
