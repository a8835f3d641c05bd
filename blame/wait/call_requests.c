/* SPDX-License-Identifier: Apache-2.0 */
/* call_requests.c - see call_requests.h: begins and ends in order of time, handle by handle. */
#include "blame/wait/call_requests.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

struct call_request_event {
	uint64_t time_ns, handle; /* handle 0: an end of all */
	uint32_t process;
	uint32_t window; /* that it begins, or in which it ends */
	bool is_end;
};

/* One that is under way. */
struct request_key {
	uint64_t handle;
	uint64_t process;
};

static bool put_event(struct call_requests *requests, const struct call_request_event *event)
{
	if (!array_widen(&requests->events, &requests->event_capacity, requests->event_count,
		    sizeof(*requests->events)))
		return false;
	requests->events[requests->event_count++] = *event;
	return true;
}

static uint32_t put_window(struct call_requests *requests, const struct call_window *window)
{
	if (!array_widen(&requests->windows, &requests->window_capacity, requests->window_count,
		    sizeof(*requests->windows)))
		return CALL_WINDOW_NONE;
	requests->windows[requests->window_count] = *window;
	return (uint32_t)requests->window_count++;
}

uint32_t call_requests_begin(
	struct call_requests *requests, uint32_t process, uint64_t handle, uint64_t time_ns)
{
	struct call_request_event event = {time_ns, handle, process, 0, false};

	event.window = put_window(requests, &(struct call_window){.begin_ns = time_ns});
	if (event.window == CALL_WINDOW_NONE || !put_event(requests, &event))
		return CALL_WINDOW_NONE;
	return event.window;
}

bool call_requests_end(struct call_requests *requests, uint32_t process, const char *handles,
	const struct call_window *window)
{
	struct call_request_event event = {window->begin_ns, 0, process, 0, true};
	char *end;

	event.window = put_window(requests, window);
	if (event.window == CALL_WINDOW_NONE)
		return false;
	if (!handles)
		return put_event(requests, &event);
	for (; *handles; handles = *end ? end + 1 : end) {
		event.handle = strtoull(handles, &end, 16);
		if (end == handles)
			break;
		if (event.handle && !put_event(requests, &event))
			return false;
	}
	return true;
}

bool call_requests_is_summed(const struct call_requests *requests, uint32_t process)
{
	return process < requests->summed_room && requests->summed[process];
}

bool call_requests_sums(struct call_requests *requests, uint32_t process)
{
	size_t room = (size_t)process + 1;

	if (room > requests->summed_room) {
		if (!array_resize_zero(&requests->summed, requests->summed_room, room, 1))
			return false;
		requests->summed_room = room;
	}
	requests->summed_count += !requests->summed[process];
	requests->summed[process] = 1;
	return true;
}

static int event_compare(const void *left, const void *right)
{
	const struct call_request_event *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->is_end != b->is_end)
		return a->is_end ? 1 : -1;
	return a->window < b->window ? -1 : a->window > b->window;
}

static void end_window(struct call_requests *requests, uint32_t *begun, uint32_t end)
{
	struct call_window *window = &requests->windows[*begun], *wait = &requests->windows[end];

	if (!wait->is_for_some)
		*begun = CALL_WINDOW_NONE;
	window->begin_ns = wait->is_polled ? window->begin_ns : wait->begin_ns;
	window->end_ns = wait->end_ns;
	window->stream = wait->stream;
	window->is_polled = wait->is_polled;
}

bool call_requests_match(struct call_requests *requests)
{
	struct key_ids keys;
	uint32_t *begun = NULL; /* windows under way, by key */
	size_t capacity = 0;
	bool is_kept = true;

	key_ids_init(&keys, sizeof(struct request_key));
	if (requests->event_count)
		qsort(requests->events, requests->event_count, sizeof(*requests->events), event_compare);
	for (size_t i = 0; i < requests->event_count && is_kept; i++) {
		const struct call_request_event *event = &requests->events[i];
		struct request_key key = {event->handle, event->process};
		uint32_t at;

		if (i && event->process != event[-1].process)
			key_ids_clear(&keys);
		if (call_requests_is_summed(requests, event->process))
			continue; /* its handles may be of requests that nobody saw */
		if (event->is_end && !event->handle) {
			for (at = 0; begun && at < keys.count; at++)
				if (begun[at] != CALL_WINDOW_NONE)
					end_window(requests, &begun[at], event->window);
			continue;
		}
		at = event->is_end ? key_ids_find(&keys, &key) : key_ids_put(&keys, &key, NULL);
		if (event->is_end) {
			if (at != KEY_IDS_NONE && begun && begun[at] != CALL_WINDOW_NONE)
				end_window(requests, &begun[at], event->window);
			continue;
		}
		is_kept = at != KEY_IDS_NONE && array_widen(&begun, &capacity, at, sizeof(*begun));
		if (is_kept)
			begun[at] = event->window;
	}
	key_ids_fini(&keys);
	free(begun);
	return is_kept;
}

void call_requests_fini(struct call_requests *requests)
{
	free(requests->windows);
	free(requests->events);
	free(requests->summed);
	*requests = (struct call_requests){0};
}
