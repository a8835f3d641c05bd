/* SPDX-License-Identifier: Apache-2.0 */
/* wait_causes_internal.h - between wait_causes.c, which puts causes together, wait_causes_wakes.c, which
 * joins waits with what ended them, wait_causes_cpu.c, which says who ran instead, and wait_causes_gpu.c. */
#ifndef BLAME_WAIT_CAUSES_INTERNAL_H
#define BLAME_WAIT_CAUSES_INTERNAL_H

#include <stdlib.h>

#include "blame/base/process.h"
#include "blame/wait/wait_causes.h"
#include "timeline/base/key_ids.h"

/* When a thread was not on a core. */
struct cause_switch {
	uint64_t out_ns, in_ns; /* in_ns STORE_OPEN_NS: not again */
	uint32_t stream;
	bool is_runnable;
};

/* A wait of known kind, before its party is known. There are millions, and first touching their memory is a
 * part of the cost of a question: this and the next are as small as can be. */
struct cause_wait {
	uint64_t begin_ns, end_ns;
	uint32_t number; /* of the child's process, or the joined thread; 0: not known */
	uint32_t thing;	 /* number of the thing, KEY_IDS_NONE: none */
	uint32_t stream, context;
	uint32_t process; /* of the search */
	uint8_t kind;	  /* enum wait_cause_kind */
	bool consumes;	  /* a wake that ended it ends no other */
	bool is_unix;	  /* a named socket: `number` is the process at its other end */
};
_Static_assert(sizeof(struct cause_wait) == 40, "no gaps");

struct cause_wake {
	uint64_t begin_ns, end_ns;
	uint32_t number; /* of the process at the other end, of a named socket */
	uint32_t thing, stream;
	bool is_for_all;
};
_Static_assert(sizeof(struct cause_wake) == 32, "no gaps");

/* A call that launched the operation of that link. */
struct cause_launch {
	uint64_t link, begin_ns;
	uint32_t stream, process;
};

/* The number of a text, kept by the store's number of it: most texts repeat. */
#define CAUSE_RECENT 256u
struct cause_recent {
	uint32_t process, text;
	uint32_t id; /* plus 1; 0: none is kept */
};

struct cause_search {
	struct run *run;
	const struct idle_question *question;
	const struct process *processes;
	uint32_t process_count;
	struct wait_causes *causes;
	struct arena *arena;
	struct key_ids things, texts;
	struct cause_text *parsed; /* by number of texts */
	size_t parsed_capacity;
	struct cause_recent recent[CAUSE_RECENT];
	uint32_t op_wait, op_wake, op_lock, op_gil, op_barrier;
	uint64_t begin_ns, end_ns; /* that are being read ... */
	bool is_behind;		   /* ... behind the window: wakes alone */
	uint64_t reach_ns;	   /* how far the longest wait reaches */
	struct cause_wait *waits;
	size_t wait_count, wait_capacity;
	struct cause_wake *wakes;
	size_t wake_count, wake_capacity;
	struct cause_switch *switches; /* by stream, time */
	size_t switch_count, switch_capacity;
	size_t switch_near;	  /* where the last one was found */
	struct cause_wait *syncs; /* synchronizations with GPUs */
	size_t sync_count, sync_capacity;
	bool has_locks, has_calls; /* spans of locks; of calls and barriers */
	struct cause_launch *launches;
	size_t launch_count, launch_capacity;
};

/* Reads the spans of all threads. */
int wait_causes_read(struct cause_search *search, struct error *error);
/* Each puts causes. The first sorts the switches by stream and time, which the others need. */
int wait_causes_wakes(struct cause_search *search, struct error *error);
/* When the thread, switched out at that time, ran again; the time itself if it was not. After
 * wait_causes_wakes(). */
uint64_t cause_asleep_until(struct cause_search *search, uint32_t stream, uint64_t time_ns);
int wait_causes_cpu(struct cause_search *search, struct error *error);
int wait_causes_gpu(struct cause_search *search, struct error *error);

/* The end of a stream's life by its record, STORE_OPEN_NS while it lives. */
static inline uint64_t cause_stream_end(const struct run *run, uint32_t stream)
{
	return run_stream(run, stream)->s.end_ns;
}

#endif
