/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread.h - the agent's data of a measured thread: its ring, its unwinder, its calling context tree. One
 * block of memory, reserved and touched as needed, taken from a pool of blocks of ended threads.
 *
 * Life: thread_new (by the creator) - thread_begin (on the thread itself) - samples - thread_end (on the
 * thread, after its own destructors).
 */
#ifndef RECORD_AGENT_THREAD_H
#define RECORD_AGENT_THREAD_H

#include "record/agent/base/ring.h"
#include "record/agent/openmp/openmp.h"
#include "record/agent/process/process.h"
#include "record/agent/python/python_stack.h"
#include "record/agent/sample/callpath_cache.h"
#include "record/agent/sample/counter_group.h"
#include "record/agent/sample/handler_stack.h"
#include "record/agent/sample/source.h"
#include "record/agent/unwind/context_tree.h"
#include "record/agent/unwind/module_slots.h"
#include "record/agent/unwind/unwind.h"

#define TRACE_TEXTS 4096 /* a power of two; a JAX step names a hundred ranges */
#define START_STOP_SPANS_MAX 64

/* A string that was written to the ring. */
struct trace_text {
	uint64_t hash; /* 0: none */
	uint32_t id;
};

#define THREAD_MPI_WORDS 544u
#define THREAD_NVTX_WORDS 192u
#define THREAD_TORCH_WORDS 368u

struct thread {
	_Alignas(4096) unsigned char handler_stack[HANDLER_STACK_BYTES]; /* see handler_stack.h */
	/* Used by each sample: shares a page with the stack's end. */
	struct ring ring;
	_Atomic bool stack_is_taken;
	int *error_place; /* address of the thread's errno, so that libc need not be called */
	const struct source *source;
	struct source_handle handle;
	void *counters[EVENT_COUNTERS_MAX];   /* rings of the thread's counters, mapped; NULL: refused */
	uint64_t counted[EVENT_COUNTERS_MAX]; /* their counts so far */
	void *papi;			      /* PAPI's state, see papi.h; NULL: none */
	uint64_t papi_seen[EVENT_COUNTERS_MAX];
	struct counter_group groups[COUNTER_GROUPS_MAX];
	void *switches;	      /* the thread's own switch ring, mapped; NULL: none */
	uint64_t covered_ns;  /* CPU time since cpu_begin_ns that weights and losses stand for */
	uint64_t ahead_ns;    /* the part of it for which timer signals are still due, see sample_catch_up */
	uint64_t catch_up_ns; /* the earliest time of the next catch-up, see sample_catch_up */
	uint64_t yield_ticks; /* when sched_yield last compared that, see wrap_wait.c */
	uint64_t hit_ns;      /* time of the last sample, if its hit was in time; else 0 */
	int64_t lead_ns;      /* how far samples were ahead of the thread's clock when it was last read */
	/* After a long walk no other begins for a while: weight of the samples in between. See
	 * thread_saved_publish. */
	uint64_t saved_ns;
	uint64_t handled_ns; /* when the last handler ended */
	unsigned crowded;    /* see sample_crowded_rest_ns */
	uint64_t rest_until_ns;
	/* If the ring took only a part of a path: the last node that it took and its depth. The saved weight
	 * belongs to that path; 0: no such path. unpublished_ns: saved weight that turned out to belong to
	 * other paths. */
	uint32_t pending_node, pending_depth;
	uint64_t unpublished_ns;
	unsigned published_depth; /* of the last path that could not be opened, as the ring was full */
	unsigned far_reads;	  /* system calls of the last walk */
	uint32_t pause_epoch;	  /* see start_stop.h */
	uint32_t believed;	  /* hits since the thread's clock was last read */
	uint32_t root;		  /* enum event_node */
	uint32_t node;		  /* context of the last sample */
	bool node_is_partial;	  /* its path has no known root */
	bool uses_openmp;	  /* `openmp` is valid */
	uint32_t generation;	  /* of the caches below, see module_slots_generation */
	/* The last published path, innermost first, and its nodes, root first: callpath_nodes. */
	uint32_t callpath_root;
	unsigned callpath_count;
	struct unwind_frame *callpath;	/* one of these, the other is for the next path */
	struct unwind_frame *frames[2]; /* unwinder.most each */
	struct context_tree tree;
	struct unwinder unwinder;
	struct module_cache modules;
	/* For the trampoline of a new thread. */
	void *(*routine)(void *);
	void *argument;
	uint32_t index;
	uint8_t program_masked; /* which of our signals the creator had blocked, see signal_guard.h */
	uint64_t stack_bytes;
	/* Records of wrappers, see trace.h. */
	uint64_t epoch;	 /* of this claim of a ring: another in no other thread, nor in a fork child */
	bool is_tracing; /* trace_begin has entered its ring */
	volatile uint64_t deferred_ns; /* weight of samples taken meanwhile */
	uint32_t text_count;
	struct trace_text texts[TRACE_TEXTS];
	struct callpath_cache_entry callpath_cache[CALLPATH_CACHE_ENTRIES];
	uint16_t callpath_cache_next;				 /* the next entry to replace */
	uint16_t callpath_cache_count;				 /* entries in use */
	uint16_t callpath_cache_last;				 /* 1 + the entry found last, 0: none */
	uint16_t callpath_cache_buckets[CALLPATH_CACHE_BUCKETS]; /* 1 + the first entry of the bucket, 0:
								    none */
	uint64_t random;					 /* see alloc_tally.c; 0: not seeded */
	struct tallied *tallied;				 /* see tally.h; NULL: none yet */
	uintptr_t wait_frame; /* of the outermost current wait, see wait.h */
	/* The last poll that ended with a descriptor, see cause.h; polled_end_ns 0: none, or it is told. */
	uint64_t polled_begin_ns, polled_end_ns;
	const char *polled_name;
	const void *woken; /* the object of the last wake with one waiter, and when that was, see cause.h */
	uint64_t woken_ns;
	/* The wait for Python's GIL that goes on, see gil.h; gil_begin_ns 0: none. */
	uint64_t gil_begin_ns;
	uint64_t gil;
	uint64_t gil_holder;
	/* See start_stop.h. */
	uint32_t open_count; /* those beyond START_STOP_SPANS_MAX are only counted */
	uint64_t open_serial;
	struct event_span open[START_STOP_SPANS_MAX];
	uint64_t nvtx_open[THREAD_NVTX_WORDS];	 /* see nvtx.c */
	uint64_t torch_open[THREAD_TORCH_WORDS]; /* see torch_ranges.c */
	uint64_t torch_epoch, torch_made;	 /* see torch_backward.c */
	uint64_t mpi_sums[THREAD_MPI_WORDS];	 /* see mpi_sums.c; touched only in threads that call MPI */
	struct python_thread python;		 /* its memory is touched only in threads that run Python */
	struct openmp_thread openmp;		 /* likewise, OpenMP: see uses_openmp */
	struct thread *next_free;
	size_t block_bytes;
	uint32_t callpath_nodes[]; /* unwinder.most; followed by frames[0], frames[1] and the tree's memory */
};

/* Whether a SIGTRAP of the program is pending that it believes blocked: the kernel then blocks SIGTRAP,
 * too. */
enum trap_waits {
	TRAP_WAITS_NOT,
	TRAP_WAITS_FOR_PROCESS,
	TRAP_WAITS_FOR_THREAD, /* sent to this thread: it is queued or a sample's SIGTRAP displaced it */
};

/* Thread-local data that outlives the block: a fork child loses the block, but not its stack. */
struct thread_place {
	struct thread *self; /* NULL: this thread is not measured */
	uint64_t stack_low;  /* [low, high): mapped from the stack pointer up */
	uint64_t stack_high;
	uint32_t adopted;			   /* measurement that `self` is of, see adopt.h */
	uint64_t start_routine;			   /* 0: main */
	struct exec_environment *exec_environment; /* see exec_environment.h */
	uint8_t program_masked; /* which of our signals the program believes blocked: bits by guard, see
				   signal_guard.h */
	uint8_t trap_waits;	/* enum trap_waits; trap_pid and trap_uid: its sender */
	uint8_t looks;		/* see sigaltstack.h; narrow_*: the alternate stack, if small */
	uint64_t narrow_low, narrow_high;
	bool samples_wait; /* AGENT_SIGNALs of the program are pending: the kernel blocks the signal
			      meanwhile */
	pid_t trap_pid;
	uid_t trap_uid;
};

extern __thread struct thread_place thread_place __attribute__((tls_model("initial-exec")));

/* Once per process, again in a fork child, which always uses our own unwinder: another thread may have
 * been inside the other one at the fork. */
void thread_init(void);
/* Loads another unwinder, if configured; before main. */
void thread_unwinder_load(void);

/* A block from the pool or a new one, NULL if memory is out. Not from a handler. */
struct thread *thread_new(void);
void thread_free(struct thread *thread);

/* A thread of ours has no sampler, since then: its line is unmonitored from there on. Signal safe. */
void thread_unsampled(struct event_ring *ring, enum event_unsampled reason, uint64_t since_ns);

/* Starts measuring the calling thread, thread_place filled; index counts by creation. On failure the
 * block is freed and the thread counted as unmonitored. */
void thread_begin(struct thread *thread, uint32_t index);

/* Stops sampling and publishes the CPU time that samples do not stand for: at most two periods and some
 * ticks, and that of signals still due. */
void thread_settle(struct thread *thread);

/* Continues after thread_settle, if the exec failed. */
void thread_resume(struct thread *thread);

/* Ends the calling thread's measurement and frees its block. */
void thread_end(struct thread *thread);

/* For a thread of this process that was there before the agent, or that began without its knowledge; from
 * another thread. thread_take_up claims its ring and writes its first record; negative: no ring is left, the
 * block is the caller's. thread_take_up_arm then starts its sampling: its first sample adopts the block
 * (adopt.h); thread_take_up_cover, ahead of it, gives that sample the CPU time since the thread was taken up.
 * thread_lost: it has ended, and no handler of it is at work; frees the block. */
int thread_take_up(struct thread *thread, uint32_t tid, uint32_t index);
void thread_take_up_cover(struct thread *thread);
void thread_take_up_arm(struct thread *thread);
void thread_lost(struct thread *thread);

/* Unmaps the pool's blocks. */
void thread_pool_drop(void);

/* Publishes the thread's new name. */
void thread_name_set(struct thread *thread, const char *name);

/* Publishes a record of a child process or an exec, child_pid 0 for the latter; time_ns is before either. */
void thread_fork_note(struct thread *thread, uint32_t kind, uint32_t child_pid, uint64_t time_ns);

/* The block of the calling thread, NULL: not measured. A vfork child gets its parent's: code that may run
 * in one calls thread_own, at the cost of a system call. */
static inline struct thread *thread_self(void)
{
	return process_is_live() ? thread_place.self : NULL;
}

static inline struct thread *thread_own(void)
{
	return process_is_own() ? thread_place.self : NULL;
}

/* As thread_own, where the caller may also be a thread unknown to libc that shares another's storage. Two
 * system calls. */
struct thread *thread_here(void);

/* Root of paths whose outer end is unknown: one constant above the thread's own root. */
static inline uint32_t thread_partial_root(const struct thread *thread)
{
	return thread->root + EVENT_NODE_PARTIAL_PROGRAM;
}
static_assert(EVENT_NODE_PARTIAL_PROGRAM == EVENT_NODE_PROGRAM_ROOT + EVENT_NODE_PARTIAL_PROGRAM &&
		      EVENT_NODE_PARTIAL_THREAD == EVENT_NODE_THREAD_ROOT + EVENT_NODE_PARTIAL_PROGRAM,
	"a partial root lies one constant above its root");

static inline bool thread_root_is_partial(uint32_t root)
{
	return root >= EVENT_NODE_PARTIAL_PROGRAM;
}

/* Publishes the saved weight, for a thread that lives to the end of its process or is killed with it: no
 * sample of its own will stand for it. If a record takes some of that weight, publish the record first. */
static inline void thread_saved_publish(struct thread *thread)
{
	_Atomic uint64_t *published = &thread->ring.shared->saved_ns;

	uint64_t saved_ns = thread->saved_ns + thread->unpublished_ns;

	if (thread->pending_node || thread->unpublished_ns)
		saved_ns |= EVENT_UNPUBLISHED;
	if (atomic_load_explicit(published, memory_order_relaxed) != saved_ns)
		atomic_store_explicit(published, saved_ns, memory_order_relaxed);
}

/* Enter and leave the stack of the thread's block in a handler. False: in use, which happens only in a
 * thread unknown to libc that shares this one's storage. */
static inline bool thread_stack_take(struct thread *thread)
{
	return !atomic_exchange_explicit(&thread->stack_is_taken, true, memory_order_acquire);
}

static inline void thread_stack_give(struct thread *thread)
{
	atomic_store_explicit(&thread->stack_is_taken, false, memory_order_release);
}

#endif
