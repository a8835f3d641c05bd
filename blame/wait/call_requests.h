/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_requests.h - where a process waited for what it had begun: MPI's nonblocking calls hand out a request,
 * by whose handle a later Wait or Test says what it waits for.
 *
 *   |Irecv 0x1f| ==work== |~~Wait 0x1f~~~|         the window of the Irecv is the Wait
 *   |Ibarrier 0x2e| ==work== T ==work== T          tests alone: from the call to the test that found it over,
 *                                                  polled: work may lie in between
 *   |~Waitany 0x1f+0x2e~| |~~Waitany 0x1f~~|       the last that names it before its handle begins anew
 */
#ifndef BLAME_CALL_REQUESTS_H
#define BLAME_CALL_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/base/key_ids.h"

#define CALL_WINDOW_NONE UINT32_MAX

struct call_window {
	uint64_t begin_ns, end_ns; /* end_ns 0: nobody waited for it */
	uint32_t stream;	   /* that waited */
	bool is_polled;
	bool is_for_some; /* ends one or some of what it names */
};

struct call_request_event;

/* All-zero is empty. Events of the processes in any order; then requests_match(), once. */
struct call_requests {
	struct call_window *windows;
	size_t window_count, window_capacity;
	struct call_request_event *events;
	size_t event_count, event_capacity;
	uint8_t *summed; /* [process] has calls that are no spans: which request was whose is not known */
	size_t summed_room, summed_count;
};

/* A call that began something and was over at `time_ns`. Its window's number, CALL_WINDOW_NONE: no memory. */
uint32_t call_requests_begin(
	struct call_requests *requests, uint32_t process, uint64_t handle, uint64_t time_ns);
/* A call that waited in [begin, end) for these, as the recorder writes them: "0x1f+0x2e"; NULL: for all there
 * were. False: no memory. */
bool call_requests_end(struct call_requests *requests, uint32_t process, const char *handles,
	const struct call_window *window);
/* A process of which not all calls are spans. False: no memory. */
bool call_requests_sums(struct call_requests *requests, uint32_t process);
bool call_requests_is_summed(const struct call_requests *requests, uint32_t process);
/* False: no memory. */
bool call_requests_match(struct call_requests *requests);
void call_requests_fini(struct call_requests *requests);

#endif
