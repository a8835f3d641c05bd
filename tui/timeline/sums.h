/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - the time on the screen by function, path, module, line, stream or operation: the numbers of the
 * statistics pane, apart from its drawing, so that a test can compare them with stats_compute().
 */
#ifndef TUI_SUMS_H
#define TUI_SUMS_H

#include "timeline/stats/stats.h"
#include "tui/timeline/frame.h"

/* One line. The time of all lines is streams x window. */
struct sums_line {
	uint64_t id;	/* of its key; UINT64_MAX: a state, or work without a context */
	uint32_t class; /* enum extent_state: work and waiting of one key are two lines */
	enum extent_state state;
	uint64_t time_ns, records;
	/* of the entry with most time */
	uint64_t best_ns;
	uint32_t context, function, stream, op;
};

/* Sums the lines that the frame has read of these streams, at the frame's depth. `*lines` is the caller's to
 * free. -1: memory is out. */
int sums_add_up(struct sums_line **lines, size_t *count, struct frame *frame, const uint32_t *streams,
	uint32_t stream_count, enum stats_by by);

/* The same by function, largest time first. */
int sums_largest(struct sums_line **lines, size_t *count, struct frame *frame, const uint32_t *streams,
	uint32_t stream_count);

/* Keys depend on more than the function at the depth, so that frame_leaves() is needed. */
bool sums_by_leaf(enum stats_by by);
/* A number that is equal where the key of two entries is; UINT64_MAX: no key. */
uint64_t sums_key(struct frame *frame, const struct tile_entry *entry, uint32_t stream, enum stats_by by);
/* Work, and waiting in a synchronization, go by key; the other states by themselves. */
bool sums_has_key(const struct tile_entry *entry);
/* File of the position in the context's frame at the frame's depth, "" when not known. */
const char *sums_position(struct frame *frame, uint32_t context, uint32_t *line);

#endif
