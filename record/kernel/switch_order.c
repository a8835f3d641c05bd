/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_order.c - see switch_order.h. Distributes events to heaps by the low bits of the thread id, which
 * differ for neighbours in a process, then merges run by run: several threads in one heap only make more
 * runs.
 */
#include "record/kernel/switch_order.h"

#include <string.h>

#define HEAPS 1024u /* a power of two */

static bool is_behind(const struct switch_event *a, const struct switch_event *b)
{
	return a->tid != b->tid ? a->tid > b->tid : a->time_ns > b->time_ns;
}

/* End of the run that begins at `at`. */
static size_t run_end(const struct switch_event *events, size_t at, size_t count)
{
	if (at < count)
		at++;
	while (at < count && !is_behind(&events[at - 1], &events[at]))
		at++;
	return at;
}

/* Merges two adjacent runs, [0, middle) and [middle, end). */
static void runs_merge(struct switch_event *to, const struct switch_event *events, size_t middle, size_t end)
{
	size_t a = 0, b = middle;

	while (a < middle && b < end)
		*to++ = is_behind(&events[a], &events[b]) ? events[b++] : events[a++];
	memcpy(to, events + a, (middle - a) * sizeof(*to));
	memcpy(to + (middle - a), events + b, (end - b) * sizeof(*to));
}

/* Merges each run of `from` with the next. Returns the new number of runs. */
static size_t runs_halve(struct switch_event *to, const struct switch_event *from, size_t count)
{
	size_t runs = 0;

	for (size_t at = 0; at < count; runs++) {
		size_t middle = run_end(from, at, count), end = run_end(from, middle, count);

		runs_merge(to + at, from + at, middle - at, end - at);
		at = end;
	}
	return runs;
}

/* Sorts `from` into `to`; overwrites both. */
static void heap_order(struct switch_event *to, struct switch_event *from, size_t count)
{
	struct switch_event *target = to;

	while (runs_halve(to, from, count) > 1) {
		struct switch_event *was = from;

		from = to;
		to = was;
	}
	if (to != target)
		memcpy(target, to, count * sizeof(*to));
}

bool switch_events_order(struct switch_events *events, struct switch_events *scratch)
{
	size_t ends[HEAPS] = {0}, at = 0;

	scratch->count = 0;
	if (!switch_events_reserve(scratch, events->count))
		return false;
	for (size_t i = 0; i < events->count; i++)
		ends[events->events[i].tid % HEAPS]++;
	for (uint32_t i = 0; i < HEAPS; i++) {
		size_t count = ends[i];

		ends[i] = at;
		at += count;
	}
	for (size_t i = 0; i < events->count; i++)
		scratch->events[ends[events->events[i].tid % HEAPS]++] = events->events[i];
	for (uint32_t i = 0; i < HEAPS; i++) {
		size_t begin = i ? ends[i - 1] : 0;

		if (ends[i] > begin)
			heap_order(events->events + begin, scratch->events + begin, ends[i] - begin);
	}
	return true;
}
