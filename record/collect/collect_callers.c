/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_callers.c - new connections to the collector: each stays in a queue until its handshake arrives,
 * then becomes a process, a launcher, or data of a process. Reading never blocks; a connection without a
 * handshake for five seconds is closed.
 */
#include "record/collect/collect_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/base/clock.h"
#include "record/base/handshake.h"

#define HANDSHAKE_NS UINT64_C(5000000000)

/* False: its handshake was handled, or will never come. */
static bool caller_serve(struct collector *collector, const struct caller *caller)
{
	struct handshake handshake;

	switch (handshake_read(caller->connection, &handshake)) {
	case HANDSHAKE_LATER:
		if (clock_now_ns() - caller->since_ns < HANDSHAKE_NS)
			return true;
		break;
	case HANDSHAKE_LAUNCHER:
		collect_launcher_take(collector, caller->connection, &handshake);
		return false;
	case HANDSHAKE_PROCESS:
		collect_process_take(collector, &handshake);
		break;
	case HANDSHAKE_SWITCHES:
		collect_switches_take(collector, &handshake);
		break;
	case HANDSHAKE_GPU_MODULE:
		collect_gpu_module_take(collector, &handshake);
		break;
	case HANDSHAKE_KEEP:
		collect_kept_take(collector, &handshake);
		break;
	case HANDSHAKE_CONTROL:
		collect_control_serve(collector, caller->connection, &handshake);
		break;
	case HANDSHAKE_CUT:
		collect_cut_count(collector, &handshake);
		break;
	case HANDSHAKE_BAD:
		break;
	}
	close(caller->connection);
	return false;
}

/* Returns the end of the list of callers that have more to send. */
static struct caller **callers_serve(struct collector *collector)
{
	struct caller **link = &collector->callers;

	while (*link) {
		struct caller *at = *link;

		if (caller_serve(collector, at)) {
			link = &at->next;
			continue;
		}
		*link = at->next;
		free(at);
	}
	return link;
}

/* Appends a caller that has more to send to `last`. Without memory it is dropped. */
static void caller_take(struct collector *collector, int connection, struct caller **last)
{
	struct caller caller = {NULL, connection, clock_now_ns()};

	if (!handshake_peer_is_us(connection)) {
		close(connection);
		return;
	}
	if (!caller_serve(collector, &caller))
		return;
	*last = malloc(sizeof(**last));
	if (*last)
		**last = caller;
	else
		close(connection);
}

void collect_callers_serve(struct collector *collector)
{
	collector->is_full = false;
	/* In order of arrival: the generations of a process follow each other, so earlier connections are
	 * read before the next is accepted. One at a time, as each brings descriptors. No more than can
	 * have waited, because rings fill meanwhile. */
	for (unsigned i = 0; i <= RENDEZVOUS_BACKLOG; i++) {
		int connection =
			rendezvous_accept(collector->listener, collector->abstract_listener, SOCK_NONBLOCK);
		struct caller **last;

		collector->is_full = connection < 0 && (errno == EMFILE || errno == ENFILE);
		last = callers_serve(collector);
		if (connection < 0)
			break;
		caller_take(collector, connection, last);
	}
}
