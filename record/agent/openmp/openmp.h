/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmp.h - where a thread is in its OpenMP program: the constructs that are open on its stack. A call path
 * begins where its region was opened, by whichever thread, and leaves out the runtime's own frames.
 *
 *   main thread   main  solve  [GOMP_parallel  libgomp]  body  work
 *   worker        [start_thread  libgomp]                body  work
 *   both read     main  solve  <omp region>              body  work        [ ] hidden or dropped
 *
 * Constructs are records in the thread's block, innermost last, each with an address in the stack: frames
 * whose memory begins above it are outside. The path to where a region was opened, or a task created, is a
 * node of the context tree of the thread that did it (openmp_origin): its nodes never change.
 *
 * Records are written by the runtimes' wrappers (runtime/) and read in the sampling handler of the same
 * thread: no allocation, no lock.
 */
#ifndef RECORD_AGENT_OPENMP_H
#define RECORD_AGENT_OPENMP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/agent/base/ticks.h"
#include "record/agent/unwind/context_tree.h"
#include "record/agent/unwind/unwind.h"

#define OPENMP_RECORDS 24u /* open constructs of a thread; those inside are the runtime's own business */
#define OPENMP_TEAMS 8u	   /* nested regions that one thread has open */
#define OPENMP_SLOTS 32u   /* regions whose sums a thread finds at once: a power of two */
#define OPENMP_SUMS 6u	   /* TALLY_OMP_* */
#define OPENMP_FRAMES 8u
#define OPENMP_WAIT_WORDS 40u
#define OPENMP_RUNTIMES 4u /* libraries, in one process */

/* A path of any thread of this process. */
struct openmp_origin {
	const struct context_tree *tree; /* NULL: not known */
	const uint64_t *epoch_at;	 /* the tree is another claim's if this changes */
	uint64_t epoch;
	uint32_t node; /* enum event_node, or in the tree */
};

/* What a wrapper of GNU's runtime hands to each thread of the team instead of the program's data. A region
 * that the program opens again has it unchanged, so that its members find it in their caches. */
struct openmp_call {
	_Alignas(64) void *first; /* of the program's data: GOMP_parallel_reductions reads it */
	void (*function)(void *);
	void *data;
	int (*threads)(void);
	struct openmp_team *team; /* NULL: it is not measured */
};
#define OPENMP_CALLS 8u /* regions that one after the other opens: a power of two */

/* A region that is open, in the block of the thread that opened it; used again by its next region. By who
 * writes: each line goes from one processor to another as seldom as can be. In the steady state that is one
 * line, once to each member, when it arrives at the end. */
struct openmp_team {
	/* The opener, rarely. */
	struct openmp_origin origin;
	uint32_t threads; /* members, as each of them says; 0: not known yet */
	/* All members. */
	_Alignas(64) _Atomic uint64_t arrivals; /* number, and sum of times */
	_Atomic uint64_t last_ns;		/* when the last one arrived last, */
	_Atomic uint64_t before_ns;		/* and the time before; of an earlier region, perhaps */
	/* The opener. */
	_Alignas(64) _Atomic uint64_t begin_ns;
	_Atomic uint32_t generation; /* odd: open */
	uint64_t joined_ns;	     /* when it waits for the others; 0: it was last */
	uint64_t counted_ns;	     /* up to then the threads' time is summed; before begin_ns: from there */
	bool tells_wait;	     /* its event_ring.wait_begin_ns is that wait's */
	/* The opener, where it opens another region. */
	struct openmp_call calls[OPENMP_CALLS];
};
#define OPENMP_THREADS_MAX 4095u /* in the lowest bits */
#define OPENMP_TIMES_SHIFT 12u
#define OPENMP_TIMES (UINT64_MAX >> OPENMP_TIMES_SHIFT) /* above them, modulo */

/* Whether the region of a team that a member was in at since_ns has ended. Clocks of two processors may
 * differ a little, and no region is over in so short a time. */
#define OPENMP_SKEW_NS 100u
static inline bool openmp_team_is_over(const struct openmp_team *team, uint64_t since_ns)
{
	return !(atomic_load_explicit(&team->generation, memory_order_acquire) & 1) ||
	       atomic_load_explicit(&team->begin_ns, memory_order_relaxed) > since_ns + OPENMP_SKEW_NS;
}

enum openmp_kind {
	OPENMP_OPEN,	 /* in the call that opens a region, outside its body */
	OPENMP_JOIN,	 /* the same, after its body */
	OPENMP_REGION,	 /* in its body */
	OPENMP_BACKWARD, /* no construct of OpenMP: see torch_backward.c */
	OPENMP_TASK,
	OPENMP_BARRIER,
	OPENMP_TASKWAIT,
	OPENMP_LOCK
};

struct openmp_record {
	uint64_t address;
	struct openmp_origin origin; /* OPEN, JOIN, REGION, TASK */
	struct openmp_team *team;    /* OPEN, JOIN, REGION */
	uint64_t begin_ns;	     /* REGION: when the thread entered it */
	enum openmp_kind kind;
};

/* The sums of one region. */
struct openmp_slot {
	uint64_t epoch; /* of the origin */
	uint32_t node;	/* its, 0: free */
	uint32_t own;	/* the region's node in this thread's tree */
	_Atomic uint64_t *total[OPENMP_SUMS];
};

/* Where the frame is that called the runtime, by the path and the place of the call. */
struct openmp_frame {
	uint64_t start, address;
	uint32_t node; /* 0: free */
};

struct openmp_thread {
	_Atomic uint32_t depth; /* of records */
	uint32_t team_count;
	uint64_t opened; /* the regions that OMPT says the thread has open: a bit for each, the innermost is
			    the lowest: whether it is among the teams */
	_Atomic bool is_worker; /* it has been in regions of others */
	bool is_idle;		/* between its regions */
	bool owes; /* its wait for the last arrival there is not summed yet: the thread learns when that
		      was at its next arrival, where it has the team's line */
	struct openmp_team *done; /* where it arrived last at the end of a region, and when */
	struct openmp_origin done_origin;
	uint64_t done_ns;
	uint64_t left_ns; /* when it learnt that the region before has ended; 0: it has done more since */
	struct ticks_clock clock;
	uint32_t regions; /* so far */
	uint32_t wait_count;
	uint64_t waits[OPENMP_WAIT_WORDS]; /* see ompt.c */
	uint32_t idle_node;		   /* of <omp idle>; 0: not made yet */
	uint64_t undeferred;		   /* address in the frame that runs such a task; 0: none */
	bool knows_runtime;
	bool omits; /* the path that is being made ends where the runtime was called */
	struct openmp_frame frames[OPENMP_FRAMES];
	struct openmp_record records[OPENMP_RECORDS];
	struct openmp_slot slots[OPENMP_SLOTS];
	_Alignas(64) struct openmp_team teams[OPENMP_TEAMS];
};

/* Once per process, again in a fork child. */
void openmp_init(void);
/* A new claim. */
void openmp_thread_init(struct openmp_thread *o);

/* Frames of the module that holds `address` are the runtime's from now on. Not from a handler: `modules` is
 * the calling thread's module_cache. */
void openmp_runtime_add(void *modules, uint64_t address);

/* Whether paths of this thread may need openmp_join. */
static inline bool openmp_is_used(const struct openmp_thread *o)
{
	return atomic_load_explicit(&o->depth, memory_order_relaxed) ||
	       atomic_load_explicit(&o->is_worker, memory_order_relaxed);
}

/* Makes the path of `count` frames, innermost first, in a buffer for `most`, with frames of the slot
 * UNWIND_RESERVED_SLOT for constructs. *root: set where the path begins at another root. The new number of
 * frames. *is_whole: set if the path's outer end is known now. */
unsigned openmp_join(const struct openmp_thread *o, struct unwind_frame *frames, unsigned count,
	unsigned most, uint32_t *root, bool *is_whole);
/* The same for a thread without records, which may be a worker before its first region. */
unsigned openmp_outside(struct unwind_frame *frames, unsigned count, unsigned most);

/* The path of `origin` with `count` frames of constructs (enum event_frame, innermost first) at its inner
 * end. Returns the number of frames; *root as above. 0: it is gone, or does not fit. */
unsigned openmp_path(struct unwind_frame *frames, unsigned most, const struct openmp_origin *origin,
	const uint64_t *constructs, unsigned count, uint32_t *root);

/* Identifies what openmp_join does beside the frames. 0: nothing. */
uint64_t openmp_hash(const struct openmp_thread *o);

/* Opens a record with an address in the caller's frame, and closes it. NULL: too many. It is whole before it
 * is open: a sample may come at once. */
static inline struct openmp_record *openmp_push(struct openmp_thread *o, const struct openmp_record *record)
{
	uint32_t depth = atomic_load_explicit(&o->depth, memory_order_relaxed);

	if (depth == OPENMP_RECORDS)
		return NULL;
	o->records[depth] = *record;
	atomic_signal_fence(memory_order_release);
	atomic_store_explicit(&o->depth, depth + 1, memory_order_relaxed);
	return &o->records[depth];
}

static inline void openmp_pop(struct openmp_thread *o)
{
	atomic_store_explicit(
		&o->depth, atomic_load_explicit(&o->depth, memory_order_relaxed) - 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

#endif
