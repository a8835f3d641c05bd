/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_users.h - which streams a figure over time tells of: those of its process, of its host, or of its
 * device and the processes that use it. Devices are told by their UUIDs, since programs may number them in
 * their own way; without UUIDs by their numbers.
 */
#ifndef TIMELINE_FIGURE_USERS_H
#define TIMELINE_FIGURE_USERS_H

#include "store/base/arena.h"
#include "timeline/run/run.h"
#include "timeline/sum/figure.h"

struct figure_users {
	struct run *run;
	struct figure_user *users; /* a process and a device that it has queues on, in order */
	uint32_t count;
};

/* Reads the run's GPU queues; in `arena`. */
int figure_users_find(struct figure_users *users, struct run *run, struct arena *arena, struct error *error);

/* How near a figure is to a stream, the nearest last. From FIGURE_OF_HOST on it tells of the stream. */
enum figure_nearness {
	FIGURE_OF_OTHERS,   /* another process, another host */
	FIGURE_OF_A_DEVICE, /* a device of its host that its process does not use */
	FIGURE_OF_HOST,	    /* or a device of its host, if no process is known to use any */
	FIGURE_OF_DEVICE,
	FIGURE_OF_PROCESS,
	FIGURE_OF_STREAM
};
enum figure_nearness figure_nearness(
	const struct figure_users *users, uint32_t stream, const struct figure *figure);

/* Whether two UUIDs are one: "GPU-0a1b..." and "0A1B..." are, with dashes or without. */
bool figure_uuids_equal(const char *a, const char *b);

#endif
