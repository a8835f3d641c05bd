/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_callers.c - who connects to the collector: each waits its turn until it has said hello, then
 * becomes a process, a launcher, or something that a process sends. Nobody is waited for: who says nothing
 * for five seconds is sent away.
 */
#include "record/collect_state.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/clock.h"
#include "record/hello.h"

#define HELLO_NS UINT64_C(5000000000)

/* False: it has said all it has to say here, or never will. */
static bool caller_serve(struct collector *collector, const struct caller *caller)
{
	struct hello hello;

	switch (hello_read(caller->connection, &hello)) {
	case HELLO_LATER:
		if (clock_now_ns() - caller->since_ns < HELLO_NS)
			return true;
		break;
	case HELLO_LAUNCHER:
		collect_launcher_take(collector, caller->connection);
		return false;
	case HELLO_PROCESS:
		collect_process_take(collector, &hello);
		break;
	case HELLO_SWITCHES:
		collect_switches_take(collector, &hello);
		break;
	case HELLO_GPU_MODULE:
		collect_gpu_module_take(collector, &hello);
		break;
	case HELLO_KEEP:
		collect_kept_take(collector, &hello);
		break;
	case HELLO_BAD:
		break;
	}
	close(caller->connection);
	return false;
}

static void callers_serve(struct collector *collector)
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
}

void collect_callers_serve(struct collector *collector)
{
	struct caller **last = &collector->callers;

	/* First come, first served: the generations of a process follow each other. */
	while (*last)
		last = &(*last)->next;
	for (;;) {
		int connection = accept4(collector->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct caller *caller;

		if (connection < 0)
			break;
		caller = hello_peer_is_us(connection) ? malloc(sizeof(*caller)) : NULL;
		if (!caller) {
			close(connection);
			continue;
		}
		*caller = (struct caller){NULL, connection, clock_now_ns()};
		*last = caller;
		last = &caller->next;
	}
	callers_serve(collector);
}
