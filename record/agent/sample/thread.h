/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - what the agent keeps per measured thread: its ring, its unwinder, its
 * calling context tree. One block of memory, reserved and touched as needed, taken
 * from a pool of blocks that ended threads have left.
 *
 * Life: thread_new (by the creator) - thread_begin (on the thread itself) -
 * samples - thread_end (on the thread, after its own destructors).
 */
#ifndef RECORD_AGENT_THREAD_H
#define RECORD_AGENT_THREAD_H

#include "record/agent/base/ring.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/callpath_cache.h"
#include "record/agent/sample/handler_stack.h"
#include "record/agent/sample/source.h"
#include "record/agent/unwind/context_tree.h"
#include "record/agent/unwind/module_slots.h"
#include "record/agent/unwind/unwind.h"

#define TRACE_TEXTS 4096 /* a power of two; a step of JAX names a hundred ranges */
#define START_STOP_SPANS_MAX 64

/* A string that is in the ring. */
struct trace_text {
	uint64_t hash; /* 0: none */
	uint32_t id;
};

struct thread {
	_Alignas(4096) unsigned char handler_stack[HANDLER_STACK_BYTES]; /* see handler_stack.h */
	/* What each sample needs: a page with the stack's end. */
	struct ring ring;
	_Atomic bool stack_is_taken;
	int *error_place; /* the thread's errno: libc is not asked for it */
	const struct source *source;
	struct source_handle handle;
	void *counters[EVENT_COUNTERS_MAX];   /* rings of the thread's counters, mapped; NULL: refused */
	uint64_t counted[EVENT_COUNTERS_MAX]; /* by them so far */
	void *papi;			      /* what PAPI counts of it, see papi.h; NULL: nothing */
	uint64_t papi_seen[EVENT_COUNTERS_MAX];
	void *switches;	      /* the thread's own switch ring, mapped; NULL: there is none */
	uint64_t covered_ns;  /* of the source's clock since cpu_begin_ns, by weights and losses */
	uint64_t ahead_ns;    /* of those, what the timer's signals still tell of, see sample_catch_up */
	uint64_t catch_up_ns; /* no earlier can it have run for so long, see sample_catch_up */
	uint64_t hit_ns;      /* of the last sample, if an event's hit in time made it; else 0 */
	int64_t lead_ns;      /* of the samples ahead of the thread's clock, when that was asked last */
	/* After a walk that took long no other is begun for a while: weight of the samples that came
	 * meanwhile. See thread_saved_publish. */
	uint64_t saved_ns;
	uint64_t rest_until_ns;
	/* Of a path the ring has taken a part, and had no room for more: the node and the depth that it has
	 * come to. The saved weight is that of samples there; 0: there is none. What then turned out to have
	 * been elsewhere is untold. */
	uint32_t pending_node, pending_depth;
	uint64_t unpublished_ns;
	unsigned published_depth; /* of the last path that could not be opened for a full ring */
	unsigned far_reads;	  /* of the last walk: system calls */
	uint32_t pause_epoch;	  /* see start_stop.h */
	uint32_t believed;	  /* hits since the thread's clock was read last */
	uint32_t root;		  /* enum event_node */
	uint32_t node;		  /* context of the last sample */
	bool node_is_partial;	  /* its path has no end */
	uint32_t generation;	  /* of the caches below, see module_slots_generation */
	/* The last path that was published, innermost first, and its nodes, root first: callpath_nodes. */
	uint32_t callpath_root;
	unsigned callpath_count;
	struct unwind_frame *callpath;	/* one of these, the other is for the next one */
	struct unwind_frame *frames[2]; /* unwinder.most each */
	struct context_tree tree;
	struct unwinder unwinder;
	struct module_cache modules;
	/* For the trampoline of a new thread. */
	void *(*routine)(void *);
	void *argument;
	uint32_t index;
	uint8_t program_masked; /* the creator's view of our signals, see signal_guard.h */
	uint64_t stack_bytes;
	/* Records of wrappers, see trace.h. */
	bool is_tracing;	       /* its ring is entered by trace_begin */
	volatile uint64_t deferred_ns; /* weight of samples that came meanwhile */
	uint32_t text_count;
	struct trace_text texts[TRACE_TEXTS];
	struct callpath_cache_entry callpath_cache[CALLPATH_CACHE_ENTRIES];
	uint16_t callpath_cache_next;				 /* the one to be taken */
	uint16_t callpath_cache_count;				 /* of those taken so far */
	uint16_t callpath_cache_last;				 /* 1 + the one found last, 0: none */
	uint16_t callpath_cache_buckets[CALLPATH_CACHE_BUCKETS]; /* 1 + the first of those that begin alike,
								    0: none */
	uint64_t random;					 /* see alloc_tally.c; 0: not begun */
	struct tallied *tallied;				 /* see tally.h; NULL: nothing was so far */
	uintptr_t wait_frame; /* of the outermost wait under way, see wait.h */
	/* See start_stop.h. */
	uint32_t open_count; /* beyond START_STOP_SPANS_MAX: counted alone */
	uint64_t open_serial;
	struct event_span open[START_STOP_SPANS_MAX];
	struct thread *next_free;
	size_t block_bytes;
	uint32_t callpath_nodes[]; /* unwinder.most; behind them frames[0], frames[1] and the tree's memory */
};

/* What outlives the block: a child of fork loses the block, but not its stack. */
/* A SIGTRAP of the program's that it believes blocked: the kernel blocks it, too, while one waits. */
enum trap_waits {
	TRAP_WAITS_NOT,
	TRAP_WAITS_FOR_PROCESS,
	TRAP_WAITS_FOR_THREAD, /* sent to this thread: in the queue it or, dropped for that, a sample's */
};

struct thread_place {
	struct thread *self; /* NULL: this thread is not measured */
	uint64_t stack_low;  /* [low, high): surely mapped from the stack pointer up */
	uint64_t stack_high;
	uint64_t start_routine;			   /* 0: main */
	struct exec_environment *exec_environment; /* see exec_environment.h */
	uint8_t program_masked; /* the program believes signals of ours blocked: bits by guard, see
				   signal_guard.h */
	uint8_t trap_waits;	/* enum trap_waits; who sent the thread's: */
	uint8_t looks;		/* see sigaltstack.h; the alternate stack, if it is not roomy: */
	uint64_t narrow_low, narrow_high;
	bool samples_wait; /* and AGENT_SIGNALs of the program's: the kernel blocks it meanwhile */
	pid_t trap_pid;
	uid_t trap_uid;
};

extern __thread struct thread_place thread_place __attribute__((tls_model("initial-exec")));

/* Once per process, again in a fork child, which walks stacks by our own unwinder: another thread may have
 * been in the other at the fork. */
void thread_init(void);
/* Loads another unwinder, if it was asked for; ahead of main. */
void thread_unwinder_load(void);

/* A block from the pool or fresh, NULL if there is no memory. Not from a handler. */
struct thread *thread_new(void);
void thread_free(struct thread *thread);

/* A thread of ours has no sampler, since then: its line is unmonitored from there on. Signal safe. */
void thread_unsampled(struct event_ring *ring, enum event_unsampled reason, uint64_t since_ns);

/* Starts measuring the calling thread, thread_place filled; index counts by creation. On failure the
 * block is freed and the thread counted as unmonitored. */
void thread_begin(struct thread *thread, uint32_t index);

/* Stops sampling and publishes what the CPU clock has beyond the samples: at most two periods and some
 * ticks, and what signals that are due would have told. */
void thread_settle(struct thread *thread);

/* Goes on after thread_settle, when the exec that it was for has failed. */
void thread_resume(struct thread *thread);

/* Ends the calling thread's measurement and frees its block. */
void thread_end(struct thread *thread);

/* The thread has a new name. */
void thread_name_set(struct thread *thread, const char *name);

/* Publishes a record of a child process or an exec, child_pid 0 for the latter; time_ns: ahead of either. */
void thread_fork_note(struct thread *thread, uint32_t kind, uint32_t child_pid, uint64_t time_ns);

/* The block of the calling thread, NULL: not measured. A vfork child gets its parent's: whoever may be one
 * asks thread_own instead, at the price of a system call. */
static inline struct thread *thread_self(void)
{
	return process_is_live() ? thread_place.self : NULL;
}

static inline struct thread *thread_own(void)
{
	return process_is_own() ? thread_place.self : NULL;
}

/* The same where the caller may also be a thread that libc does not know and that has another's storage. Two
 * system calls. */
struct thread *thread_here(void);

/* Of paths that are not known to their end: one constant above the thread's own root. */
static inline uint32_t thread_partial_root(const struct thread *thread)
{
	return thread->root + EVENT_NODE_PARTIAL_PROGRAM;
}
static_assert(EVENT_NODE_PARTIAL_PROGRAM == EVENT_NODE_PROGRAM_ROOT + EVENT_NODE_PARTIAL_PROGRAM &&
		      EVENT_NODE_PARTIAL_THREAD == EVENT_NODE_THREAD_ROOT + EVENT_NODE_PARTIAL_PROGRAM,
	"a partial root lies one constant above its root");

/* What saved_ns has come to, for a thread that lives on to the end of its process, or is killed with it: no
 * sample of its own will stand for that. Not before one that has it is published. */
static inline void thread_saved_publish(struct thread *thread)
{
	_Atomic uint64_t *published = &thread->ring.shared->saved_ns;

	uint64_t saved_ns = thread->saved_ns + thread->unpublished_ns;

	if (thread->pending_node || thread->unpublished_ns)
		saved_ns |= EVENT_UNPUBLISHED;
	if (atomic_load_explicit(published, memory_order_relaxed) != saved_ns)
		atomic_store_explicit(published, saved_ns, memory_order_relaxed);
}

/* Around a handler's stay on the stack of the thread's block. False: somebody is there, who can only be a
 * thread that libc does not know and that has this one's storage. */
static inline bool thread_stack_take(struct thread *thread)
{
	return !atomic_exchange_explicit(&thread->stack_is_taken, true, memory_order_acquire);
}

static inline void thread_stack_give(struct thread *thread)
{
	atomic_store_explicit(&thread->stack_is_taken, false, memory_order_release);
}

#endif
