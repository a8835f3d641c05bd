/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_causes_wakes.c - joins each wait with the wake that ended it: of each thing the waits by their ends
 * take the wakes by theirs.
 *
 *   waits    |~~~a~~~~~|     |~~~c~~|
 *                |~~~~~b~~~|
 *   wakes             |1|  |2|    |3|         a: 1, b: 2, c: 3
 *
 * A poll and a broadcast leave the wake to others. Threads and children end waits by their own end.
 */
#include <stdlib.h>

#include "blame/wait/wait_causes_internal.h"
#include "store/base/array.h"
#include "store/base/merge_sort.h"
#include "store/base/search_near.h"

static int wait_compare(const void *left, const void *right)
{
	const struct cause_wait *a = left, *b = right;

	if (a->thing != b->thing)
		return a->thing < b->thing ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static int wake_compare(const void *left, const void *right)
{
	const struct cause_wake *a = left, *b = right;

	if (a->thing != b->thing)
		return a->thing < b->thing ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static bool put(struct cause_search *search, const struct cause_wait *wait, uint32_t party, uint64_t from_ns)
{
	const struct idle_question *question = search->question;
	struct wait_cause cause = {
		.begin_ns = wait->begin_ns > question->begin_ns ? wait->begin_ns : question->begin_ns,
		.end_ns = wait->end_ns < question->end_ns ? wait->end_ns : question->end_ns,
		.waiter = wait->stream,
		.party = party,
		.from_ns = party == CAUSE_NOBODY ? 0 : from_ns,
		.context = wait->context,
		.kind = (enum wait_cause_kind)wait->kind};

	if (party != CAUSE_NOBODY && from_ns > wait->end_ns)
		cause.from_ns = wait->end_ns;
	return cause.begin_ns >= cause.end_ns || wait_causes_put(search->causes, &cause);
}

/* ---- things ---- */

/* The first of `wakes` from `at` on that has ended no wait; left[] jumps over those that have. */
static size_t next_left(size_t *left, size_t at)
{
	size_t to = at;

	while (left[to] != to)
		to = left[to];
	while (left[at] != to) {
		size_t next = left[at];

		left[at] = to;
		at = next;
	}
	return to;
}

struct wake_time {
	const struct cause_wake *wakes;
	uint64_t time_ns;
};

static bool wake_ended_until(const void *own, size_t number)
{
	const struct wake_time *time = own;

	return time->wakes[number].end_ns <= time->time_ns;
}

/* The first that ended after the time; `near`: where to look first. */
static size_t first_after(const struct cause_wake *wakes, size_t count, size_t near, uint64_t time_ns)
{
	const struct wake_time time = {wakes, time_ns};

	return search_near(0, count, near, wake_ended_until, &time);
}

static bool thing_match(struct cause_search *search, const struct cause_wait *waits, size_t wait_count,
	const struct cause_wake *wakes, size_t count, size_t *left)
{
	size_t near = 0;

	for (size_t i = 0; i <= count; i++)
		left[i] = i;
	for (size_t i = 0; i < wait_count; i++) {
		size_t at = near = first_after(wakes, count, near, waits[i].begin_ns);
		bool is_there;

		at = next_left(left, at);
		is_there = at < count && wakes[at].begin_ns < waits[i].end_ns;
		if (!put(search, &waits[i], is_there ? wakes[at].stream : CAUSE_NOBODY,
			    is_there ? wakes[at].begin_ns : 0))
			return false;
		if (is_there && waits[i].consumes && !wakes[at].is_for_all)
			left[at] = at + 1;
	}
	return true;
}

/* ---- named sockets ---- */

static uint64_t pid_of(const struct cause_search *search, uint32_t stream)
{
	return run_stream(search->run, stream)->s.pid;
}

/* Several connections may lead to one process: only where all that was written to it meanwhile is of one
 * thread, that one is told. */
static bool unix_match(struct cause_search *search, const struct cause_wait *wait,
	const struct cause_wake *wakes, size_t count)
{
	uint64_t own = pid_of(search, wait->stream), from_ns = 0;
	uint32_t party = CAUSE_NOBODY;

	for (size_t i = first_after(wakes, count, 0, wait->begin_ns);
		i < count && wakes[i].begin_ns < wait->end_ns; i++) {
		const struct cause_wake *wake = &wakes[i];
		bool is_for_us = wake->number == own || (wake->number == wait->number &&
								pid_of(search, wake->stream) == wait->number);

		if (!is_for_us || wake->stream == wait->stream)
			continue;
		if (party != CAUSE_NOBODY && party != wake->stream)
			return put(search, wait, CAUSE_NOBODY, 0);
		from_ns = party == CAUSE_NOBODY ? wake->begin_ns : from_ns;
		party = wake->stream;
	}
	return put(search, wait, party, from_ns);
}

/* ---- what ends ---- */

/* The thread of that number that ended last by then; of a child its first thread. */
static uint32_t ended_find(const struct cause_search *search, const struct cause_wait *wait)
{
	const struct run_stream *own = run_stream(search->run, wait->stream);
	uint32_t found = CAUSE_NOBODY;
	bool is_child = wait->kind == CAUSE_CHILD;

	for (uint32_t p = 0; p < search->process_count; p++) {
		if (!is_child && p != wait->process)
			continue;
		for (uint32_t i = 0; i < search->processes[p].stream_count; i++) {
			uint32_t stream = search->processes[p].streams[i];
			const struct store_stream *s = &run_stream(search->run, stream)->s;
			bool is_it =
				s->kind == STORE_STREAM_CPU && wait->number &&
				(is_child ? s->pid == wait->number && !s->thread : s->tid == wait->number) &&
				run_stream(search->run, stream)->store == own->store;

			if (is_it && s->begin_ns < wait->end_ns &&
				(found == CAUSE_NOBODY ||
					s->begin_ns > run_stream(search->run, found)->s.begin_ns))
				found = stream;
		}
	}
	return found;
}

static bool ended_match(struct cause_search *search, const struct cause_wait *wait)
{
	uint32_t party = ended_find(search, wait);

	return put(search, wait, party, party == CAUSE_NOBODY ? 0 : cause_stream_end(search->run, party));
}

/* ---- what really waited ---- */

static int switch_compare(const void *left, const void *right)
{
	const struct cause_switch *a = left, *b = right;

	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->out_ns < b->out_ns ? -1 : a->out_ns > b->out_ns;
}

struct switch_time {
	const struct cause_switch *switches;
	uint64_t time_ns;
	uint32_t stream;
};

static bool switch_ended_until(const void *own, size_t number)
{
	const struct switch_time *time = own;
	const struct cause_switch *here = &time->switches[number];

	return here->stream < time->stream || (here->stream == time->stream && here->in_ns <= time->time_ns);
}

/* The first switch of the stream, or of one above, that ends after the time. */
static size_t switch_after(struct cause_search *search, uint32_t stream, uint64_t time_ns)
{
	const struct switch_time time = {search->switches, time_ns, stream};

	return search->switch_near =
		       search_near(0, search->switch_count, search->switch_near, switch_ended_until, &time);
}

uint64_t cause_asleep_until(struct cause_search *search, uint32_t stream, uint64_t time_ns)
{
	size_t at = switch_after(search, stream, time_ns);
	const struct cause_switch *here = &search->switches[at];

	return at < search->switch_count && here->stream == stream && !here->is_runnable &&
			       here->out_ns < time_ns && here->in_ns != STORE_OPEN_NS
		       ? here->in_ns
		       : time_ns;
}

static bool has_switches(struct cause_search *search, uint32_t stream)
{
	size_t first = switch_after(search, stream, 0);

	return first < search->switch_count && search->switches[first].stream == stream;
}

/* From the first switch-out in the call to the last return: before and after that the call works. False: it
 * did not sleep at all. */
static bool trim(struct cause_search *search, struct cause_wait *wait)
{
	uint64_t begin_ns = STORE_OPEN_NS, end_ns = 0;

	for (size_t i = switch_after(search, wait->stream, wait->begin_ns);
		i < search->switch_count && search->switches[i].stream == wait->stream &&
		search->switches[i].out_ns < wait->end_ns;
		i++) {
		const struct cause_switch *here = &search->switches[i];

		if (here->is_runnable)
			continue;
		begin_ns = here->out_ns < begin_ns ? here->out_ns : begin_ns;
		end_ns = here->in_ns;
	}
	if (begin_ns > end_ns)
		return false;
	wait->begin_ns = begin_ns > wait->begin_ns ? begin_ns : wait->begin_ns;
	wait->end_ns = end_ns < wait->end_ns ? end_ns : wait->end_ns;
	return wait->begin_ns < wait->end_ns;
}

static void trim_all(struct cause_search *search)
{
	uint32_t stream = CAUSE_NOBODY;
	bool has_any = false;
	size_t kept = 0;

	merge_sort(search->switches, search->switch_count, sizeof(*search->switches), switch_compare);
	for (size_t i = 0; i < search->wait_count; i++) {
		struct cause_wait wait = search->waits[i];

		if (wait.stream != stream)
			has_any = has_switches(search, wait.stream);
		stream = wait.stream;
		if (!has_any || trim(search, &wait))
			search->waits[kept++] = wait;
	}
	search->wait_count = kept;
}

/* ---- all ---- */

/* Waits [0, wait_count) of one thing, with all its wakes. */
static bool group_match(struct cause_search *search, const struct cause_wait *waits, size_t wait_count,
	const struct cause_wake *wakes, size_t count, size_t *left)
{
	if (waits->thing != KEY_IDS_NONE && !waits->is_unix)
		return thing_match(search, waits, wait_count, wakes, count, left);
	for (size_t i = 0; i < wait_count; i++) {
		bool ends = waits[i].kind == CAUSE_JOIN || waits[i].kind == CAUSE_CHILD;
		bool is_put = waits[i].is_unix ? unix_match(search, &waits[i], wakes, count)
			      : ends	       ? ended_match(search, &waits[i])
					       : put(search, &waits[i], CAUSE_NOBODY, 0);

		if (!is_put)
			return false;
	}
	return true;
}

int wait_causes_wakes(struct cause_search *search, struct error *error)
{
	struct cause_wait *waits = search->waits;
	struct cause_wake *wakes = search->wakes;
	size_t *left = NULL;
	size_t first = 0, count;
	bool is_done = array_resize(&left, search->wake_count + 1, sizeof(*left));

	trim_all(search);
	merge_sort(waits, search->wait_count, sizeof(*waits), wait_compare);
	merge_sort(wakes, search->wake_count, sizeof(*wakes), wake_compare);
	for (size_t i = 0; i < search->wait_count && is_done; i += count) {
		size_t end;

		for (count = 1; i + count < search->wait_count && waits[i + count].thing == waits[i].thing;)
			count++;
		while (first < search->wake_count && wakes[first].thing < waits[i].thing)
			first++;
		for (end = first; end < search->wake_count && wakes[end].thing == waits[i].thing;)
			end++;
		is_done = group_match(search, &waits[i], count, &wakes[first], end - first, left);
		first = end;
	}
	free(left);
	return is_done ? 0 : error_memory(error);
}
