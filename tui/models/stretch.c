/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stretch.c - searches in windows that double, so that a near stretch is found soon and nothing beyond it is
 * read.
 */
#include "tui/models/stretch.h"

#include <stdlib.h>

#include "store/base/array.h"

#define STRETCH_BATCH 512
#define STRETCH_FIRST_NS 100000000u /* length of the first window */

uint64_t stretch_span(struct session *session, const struct extent *extent, const void *data)
{
	bool is_shorter;

	(void)data;
	if (extent->state == EXTENT_ABSENT)
		return 0;
	return ((uint64_t)extent->state + 1) << 32 |
	       (frame_function(&session->frame, extent->context, &is_shorter) + 1u);
}

uint64_t stretch_gap(struct session *session, const struct extent *extent, const void *data)
{
	(void)session;
	(void)data;
	switch (extent->state) {
	case EXTENT_IDLE:
	case EXTENT_BLOCKED:
	case EXTENT_SYNC:
	case EXTENT_UNKNOWN:
		return 1;
	default:
		return 0;
	}
}

uint64_t stretch_work(struct session *session, const struct extent *extent, const void *data)
{
	(void)session;
	(void)data;
	return extent_state_is_busy(extent->state);
}

uint64_t stretch_blind(struct session *session, const struct extent *extent, const void *data)
{
	(void)session;
	(void)data;
	return extent->state == EXTENT_LOST || extent->state == EXTENT_UNMONITORED;
}

uint64_t stretch_known(struct session *session, const struct extent *extent, const void *data)
{
	return extent->state != EXTENT_ABSENT && !stretch_blind(session, extent, data);
}

static int add(struct stretches *list, const struct extent *extent, uint64_t key, struct error *error)
{
	struct stretch *last = list->count ? &list->items[list->count - 1] : NULL;

	if (last && last->key == key && last->end_ns == extent->begin_ns) {
		last->end_ns = extent->end_ns;
		return 0;
	}
	if (!array_widen((void **)&list->items, &list->capacity, list->count, sizeof *list->items))
		return error_memory(error);
	list->items[list->count++] = (struct stretch){extent->begin_ns, extent->end_ns, key};
	return 0;
}

int stretch_list(struct session *session, struct stretches *list, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, stretch_key *key, const void *data, struct error *error)
{
	struct extent extents[STRETCH_BATCH];
	struct extent_walk *walk;
	long count;
	int result = extent_open(&walk, session->run, stream, begin_ns, end_ns, error);

	list->count = 0;
	if (result)
		return result;
	while ((count = extent_next(walk, extents, STRETCH_BATCH, error)) > 0)
		for (long i = 0; i < count && !result; i++)
			result = add(list, &extents[i], key(session, &extents[i], data), error);
	extent_close(walk);
	return count < 0 ? (int)count : result;
}

bool stretch_next(struct session *session, uint32_t stream, uint64_t from_ns, bool is_back, stretch_key *key,
	const void *data, struct stretch *found)
{
	struct view_state_limits limits = session_limits(session);
	struct stretches list = {0};
	struct error error;
	bool is_found = false;

	for (uint64_t span_ns = STRETCH_FIRST_NS; !is_found; span_ns *= 2) {
		uint64_t begin_ns = from_ns, end_ns = from_ns;
		if (is_back)
			begin_ns = from_ns - limits.begin_ns > span_ns ? from_ns - span_ns : limits.begin_ns;
		else
			end_ns = limits.end_ns - from_ns > span_ns ? from_ns + span_ns : limits.end_ns;
		if (begin_ns >= end_ns ||
			stretch_list(session, &list, stream, begin_ns, end_ns, key, data, &error))
			break;
		for (size_t i = 0; i < list.count; i++) {
			const struct stretch *s = &list.items[is_back ? list.count - 1 - i : i];
			/* one cut at the window's far end is longer than seen */
			bool is_cut = is_back ? s->begin_ns == begin_ns && begin_ns > limits.begin_ns
					      : s->begin_ns == begin_ns;
			if (!s->key || is_cut)
				continue;
			*found = *s;
			is_found = true;
			break;
		}
		if (begin_ns == limits.begin_ns && is_back)
			break;
		if (end_ns == limits.end_ns && !is_back)
			break;
	}
	free(list.items);
	return is_found;
}

bool stretch_nearest_records(struct session *session, uint32_t stream, bool is_back, uint64_t *time_ns)
{
	uint64_t from_ns = is_back ? session->frame.begin_ns : session->frame.end_ns - 1;
	struct stretch found;

	if (!stretch_next(session, stream, from_ns, is_back, stretch_known, NULL, &found))
		return false;
	*time_ns = is_back ? found.end_ns : found.begin_ns;
	return true;
}
