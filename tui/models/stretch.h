/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch.h - stretches of one stream: neighbouring extents to which a question gives the same key, such as
 * gaps. find_next.c moves the cursor to them.
 */
#ifndef TUI_STRETCH_H
#define TUI_STRETCH_H

#include "timeline/scan/extent.h"
#include "tui/session/session.h"

/* The key of an extent; neighbours with equal keys join. 0: the question does not ask for it. */
typedef uint64_t stretch_key(struct session *session, const struct extent *extent, const void *data);

stretch_key stretch_span;  /* one function in one state */
stretch_key stretch_gap;   /* no work: idle, blocked, sync */
stretch_key stretch_work;  /* kernels, copies, sets, CPU code */
stretch_key stretch_blind; /* lost or unmonitored */
stretch_key stretch_known; /* neither absent nor blind */

struct stretch {
	uint64_t begin_ns, end_ns, key;
};

/* All stretches of a window in order; all-zero is empty, the caller frees `items`. */
struct stretches {
	struct stretch *items;
	size_t count, capacity;
};
int stretch_list(struct session *session, struct stretches *list, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, stretch_key *key, const void *data, struct error *error);
/* The next stretch with a key that begins after from_ns, or the last one that begins before it. */
bool stretch_next(struct session *session, uint32_t stream, uint64_t from_ns, bool is_back, stretch_key *key,
	const void *data, struct stretch *found);
/* Time of the stream's nearest records before or after the window. */
bool stretch_nearest_records(struct session *session, uint32_t stream, bool is_back, uint64_t *time_ns);

#endif
