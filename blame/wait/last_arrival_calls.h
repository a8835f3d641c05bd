/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival_calls.h - between last_arrival_calls.c, which reads recorded calls, last_arrival_judge.c,
 * which says who was last, and last_arrival_work.c, which says what made it late; for them alone.
 */
#ifndef BLAME_LAST_ARRIVAL_CALLS_H
#define BLAME_LAST_ARRIVAL_CALLS_H

#include "blame/wait/call_messages.h"
#include "blame/wait/call_requests.h"
#include "blame/wait/call_waits.h"
#include "blame/wait/last_arrival_internal.h"

#define COMMUNICATOR_BYTES MESSAGE_COMMUNICATOR_BYTES

struct call_key {
	uint64_t number;  /* of MPI's call, else 0 */
	uint32_t process; /* plus 1; of MPI's calls 0 */
	uint32_t _pad;
	char communicator[COMMUNICATOR_BYTES];
};

/* What must be over in a call before it ends; nothing else is sure of what MPI leaves to the library. */
enum call_kind {
	CALL_LOOSE,  /* nothing, or not known */
	CALL_ALL,    /* all have come before any leaves */
	CALL_SPREAD, /* the root has come before any leaves */
	CALL_GATHER  /* all have come before the root leaves */
};

/* A stretch of a thread's time, by its own clock: from the end of its call before to this call. */
struct call_work {
	uint64_t since_ns, until_ns;
	uint32_t stream;
};

/* A party in a call. Of a nonblocking one it has come with the call, and waits in another. */
struct call_stay {
	uint32_t call; /* number of its key */
	uint32_t party;
	uint64_t begin_ns;		  /* it has come */
	uint64_t wait_begin_ns, end_ns;	  /* end_ns 0: nobody knows when it left */
	uint64_t raw_wait_ns, raw_end_ns; /* the same by its own clock */
	struct call_work work;
	uint32_t context, clock;
	uint32_t window;
	enum call_kind kind;
	enum call_wait_state state;
	bool is_root, is_polled;
};

/* What bounds clocks, and is judged on one clock: the stays of a call, or a message. */
struct call_meeting {
	size_t first, count; /* count 0: `first` is a message */
	uint64_t begin_ns;   /* by whatever clock: what is far apart in time keeps its order */
};

/* Of a party, where it held up longest: what it did before, and the first of those who waited. */
struct call_most {
	uint64_t held_ns;
	struct call_work late, early;
};

/* The last MPI_Probe() of the stream that is being read. */
struct call_probe {
	uint64_t begin_ns;
	uint32_t stream, context, rank, tag;
	char communicator[COMMUNICATOR_BYTES];
	bool is_there;
};

struct call_search {
	struct run *run;
	const struct idle_question *question;
	struct key_ids calls;
	struct key_ids parties; /* struct last_arrival_party, by stream and part */
	struct call_stay *stays;
	size_t count, capacity;
	struct call_requests requests;
	struct call_messages messages;
	struct call_probe probe;
	struct host_clocks *clocks;
	struct call_reach *reach; /* scratch, by clock */
	struct call_meeting *meetings;
	size_t meeting_count, meeting_capacity;
	struct call_most *most;		     /* by party */
	struct call_waits *told;	     /* receives each wait; NULL: not needed */
	uint32_t process;		     /* that is being read */
	uint32_t first;			     /* its first stream */
	uint64_t since_ns;		     /* end of the stream's call before */
	uint64_t begin_ns, end_ns, reach_ns; /* that begin there are taken; how far the longest reaches */
};

/* last_arrival_calls(), which tells each wait and what was sent, too. */
int last_arrival_told(struct last_arrival *late, struct call_waits *told, struct run *run,
	const struct idle_question *question, const struct process *processes, uint32_t count,
	struct host_clocks *clocks, struct arena *arena, struct error *error);
/* For search->reach; NULL: memory is out. */
struct call_reach *last_arrival_reach_new(const struct host_clocks *clocks, struct arena *arena);
/* The party of that stream, KEY_IDS_NONE: memory is out. */
uint32_t last_arrival_party(struct call_search *search, uint32_t stream, enum last_arrival_role role);
/* Fills late->parties, all kinds together, in the order of search->parties. */
int last_arrival_judge(
	struct last_arrival *late, struct call_search *search, struct arena *arena, struct error *error);
/* The context in which a party lost most against the first of those who waited, since their calls before;
 * `context` stays where nothing is known. */
int last_arrival_work(const struct call_search *search, const struct call_most *most, uint32_t *context,
	struct error *error);
/* Of a stretch of a thread's time, within the question's window, what it spent in functions that only wait. */
int last_arrival_polled(const struct call_search *search, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	uint64_t *polled_ns, struct error *error);

#endif
