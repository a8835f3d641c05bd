/* SPDX-License-Identifier: Apache-2.0 */
/* extent_at.c - a stream's timeline at one moment, from short walks that begin further and further before
 * it. */
#include "timeline/scan/extent_internal.h"

/* The piece that holds time_ns in a walk from *begin_ns on, or from the sample that is in force there. */
static int find_from(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t time_ns,
	struct extent *extent, struct error *error)
{
	struct extent_walk *walk;
	long count;
	int code = extent_open(&walk, run, stream, begin_ns, UINT64_MAX, error);

	if (code)
		return code;
	/* What the sweep knows from before the window may be shown, too. */
	walk->begin_ns = walk->sweep.now_ns;
	do
		count = extent_next(walk, extent, 1, error);
	while (count > 0 && extent->end_ns <= time_ns);
	extent_close(walk);
	return count < 0 ? (int)count : 0;
}

int extent_at(struct run *run, uint32_t stream, uint64_t time_ns, struct extent *extent, struct error *error)
{
	uint64_t back_ns = 0;

	*extent = (struct extent){.begin_ns = time_ns, .end_ns = time_ns, .state = EXTENT_ABSENT};
	/* Farther and farther back, until the piece is seen to begin. */
	for (;;) {
		uint64_t begin_ns = back_ns < time_ns ? time_ns - back_ns : 0;
		int code = find_from(run, stream, begin_ns, time_ns, extent, error);

		if (code || extent->is_record_begin || extent->begin_ns > begin_ns || !begin_ns)
			return code;
		back_ns = back_ns > UINT64_MAX / 64 ? UINT64_MAX : back_ns ? back_ns * 64 : 4096;
	}
}

int extent_in_force(
	struct run *run, uint32_t stream, uint64_t time_ns, bool *is_in_force, struct error *error)
{
	struct extent_walk *walk;
	struct extent extent;
	long count;
	int code = extent_open(&walk, run, stream, time_ns, time_ns + 1, error);

	*is_in_force = false;
	if (code)
		return code;
	do
		count = extent_next(walk, &extent, 1, error);
	while (count > 0 && extent.end_ns <= time_ns);
	*is_in_force = walk->sweep.force.holds && time_ns < walk->sweep.force.end_ns;
	extent_close(walk);
	return count < 0 ? (int)count : 0;
}
