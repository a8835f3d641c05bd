/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_sums.c - see mpi_sums.h. */
#include "record/agent/mpi/mpi_sums.h"

#include <string.h>

#include "record/agent/base/arch.h"
#include "record/agent/base/ticks.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/environment.h"
#include "record/agent/sample/callpath.h"
#include "record/agent/sample/callpath_cache.h"
#include "record/agent/sample/tally.h"
#include "record/agent/sample/trace.h"

#define SPANS_A_SECOND 20000u /* of a thread; more become sums. A span takes about 0.5 us */
#define SPANS_AT_ONCE 20000u  /* before that */
#define DENSE_NS 5000u	      /* or so many without a pause of this length between their ends: there a */
#define DENSE_SPANS 2000u     /* span takes longer than the call, and nothing else is done */
#define WINDOW_NS 1000000000u /* so long a thread must have called less, to have spans again */
#define SLOTS 64u	      /* of call paths, by node: a power of two */
#define SUM_NS 60u	      /* that it costs to sum a call (measured), for the summary */
#define COUNTED 4096u	      /* calls whose cost is counted at once */
#define SPAN_IDS (UINT64_C(1) << 39) /* of open spans, below those of the program */
#define METRICS (TALLY_MPI_LONGER - TALLY_MPI_CALLS + 1)

/* The sums of one path. */
struct slot {
	uint32_t node; /* 0: free */
	int type_bytes;
	uint64_t type;
	_Atomic uint64_t *total[METRICS]; /* by metric - TALLY_MPI_CALLS; NULL: not asked for */
};

struct sums {
	uint64_t epoch; /* of the thread's claim, to which all below belongs */
	bool is_on;
	uint64_t window_ns; /* its end */
	uint32_t calls;	    /* in the window */
	uint32_t counted;   /* of them, in the thread's overhead */
	uint32_t spans;	    /* that may come yet */
	uint32_t dense;	    /* that came without a pause */
	uint64_t span_ns;   /* the end of the last one */
	uint64_t filled_ns; /* when that was computed */
	uint64_t span_id;
	struct slot slots[SLOTS];
};
_Static_assert(sizeof(struct sums) <= sizeof(((struct thread *)NULL)->mpi_sums), "enlarge THREAD_MPI_WORDS");

/* In the thread's block: thread-local memory would come off every thread's stack. */
static struct sums *sums_of(struct thread *t)
{
	return (struct sums *)(void *)t->mpi_sums;
}

static void window_begin(struct sums *own)
{
	own->window_ns = process_now_ns() + WINDOW_NS;
	own->calls = own->counted = 0;
	ticks_measure();
}

/* ---- summing or not ---- */

/* Tells readers that there are calls without spans, from now on or up to now. */
static void tell(struct sums *own, uint8_t type)
{
	char text[48] = "bound_ns=";
	struct event_span span = {.link = own->span_id};
	struct trace_masked masked;
	struct thread *t = trace_begin_masked(&masked);

	if (!t)
		return;
	environment_decimal(text + strlen(text), process.settings.mpi_bound_ns);
	span.h.node = t->root;
	span.begin_ns = own->filled_ns;
	span.end_ns = type == EVENT_CLOSE ? process_now_ns() : 0;
	span.operation = EVENT_TEXT_BIT | trace_text(t, "mpi-summed");
	span.attributes = trace_text(t, text);
	trace_span(t, type, &span);
	trace_end_masked(t, &masked);
}

static void switch_on(struct sums *own)
{
	own->is_on = true;
	own->dense = 0;
	own->span_id++;
	own->filled_ns = process_now_ns();
	window_begin(own);
	tell(own, EVENT_OPEN);
}

/* A thread that has called less for a while gets its spans back. */
static void window_end(struct sums *own)
{
	bool is_busy = own->calls >= SPANS_A_SECOND / 2;

	window_begin(own);
	if (is_busy || process.settings.sums_all_mpi)
		return;
	tell(own, EVENT_CLOSE);
	own->is_on = false;
	own->spans = SPANS_AT_ONCE;
	own->filled_ns = process_now_ns();
}

static void overhead_count(struct sums *own, struct thread *t)
{
	ring_count(&t->ring.shared->handler_ns, (uint64_t)(own->calls - own->counted) * SUM_NS);
	own->counted = own->calls;
}

void mpi_sums_close(struct thread *t)
{
	struct sums *own = sums_of(t);

	if (!own->is_on || own->epoch != t->epoch)
		return;
	overhead_count(own, t);
	tell(own, EVENT_CLOSE);
	own->is_on = false;
}

/* The first call of this claim of a ring. */
static void begin_anew(struct sums *own, const struct thread *t)
{
	memset(own, 0, sizeof(*own));
	own->epoch = t->epoch;
	own->span_id = SPAN_IDS;
	own->spans = SPANS_AT_ONCE;
	own->filled_ns = process_now_ns();
	if (process.settings.sums_mpi && process.settings.sums_all_mpi)
		switch_on(own);
}

/* Counts one that ends. */
static bool is_dense(struct sums *own, uint64_t end_ns)
{
	own->dense = end_ns - own->span_ns < DENSE_NS ? own->dense + 1 : 0;
	own->span_ns = end_ns;
	return own->dense >= DENSE_SPANS;
}

void mpi_sums_span(struct thread *t, uint64_t begin_ns, uint64_t end_ns)
{
	struct sums *own = sums_of(t);
	uint64_t more;

	if (!process.settings.sums_mpi || own->is_on || own->epoch != t->epoch ||
		end_ns - begin_ns >= process.settings.mpi_bound_ns)
		return;
	if (t->ring.at - atomic_load_explicit(&t->ring.shared->tail, memory_order_relaxed) >
		t->ring.bytes / 2) {
		switch_on(own); /* faster than the collector drains: they would be lost */
		return;
	}
	if (is_dense(own, end_ns)) {
		switch_on(own);
		return;
	}
	if (own->spans && --own->spans)
		return;
	more = (end_ns - own->filled_ns) / (1000000000u / SPANS_A_SECOND);
	own->filled_ns = end_ns;
	own->spans = more < SPANS_AT_ONCE ? (uint32_t)more : SPANS_AT_ONCE;
	if (own->spans < SPANS_AT_ONCE / 2)
		switch_on(own);
}

/* ---- calls ---- */

static __attribute__((noinline)) uint32_t node_walk(const struct arch_registers *start, uint64_t function)
{
	struct trace_masked masked;
	struct thread *t = trace_begin_masked(&masked);
	uint32_t node = 0;

	if (t) {
		node = trace_callpath_from(t, start, function);
		trace_end_masked(t, &masked);
	}
	return node;
}

/* 0: not now. */
static __attribute__((noinline)) uint32_t node_find(struct thread *t, const void *function)
{
	struct arch_registers start;
	uint32_t node;

	arch_registers_here(&start);
	node = callpath_cache_find(
		t, &(struct callpath_begin){&start, (uintptr_t)function, callpath_beside(t)});
	return node ? node : node_walk(&start, (uintptr_t)function);
}

bool mpi_sums_begin(struct mpi_sum *sum, struct thread *t, bool waits, const void *function)
{
	struct sums *own = sums_of(t);

	if (own->epoch != t->epoch)
		begin_anew(own, t);
	if (!own->is_on)
		return false;
	sum->thread = t;
	sum->node = waits ? node_find(t, function) : 0;
	sum->ticks_scale = atomic_load_explicit(&ticks_scale, memory_order_relaxed);
	sum->begin = sum->ticks_scale ? ticks_now() : process_now_ns();
	return true;
}

uint64_t mpi_sums_end(const struct mpi_sum *sum)
{
	return sum->ticks_scale ? ticks_ns(sum->begin, ticks_now(), sum->ticks_scale)
				: process_now_ns() - sum->begin;
}

bool mpi_sums_is_short(uint64_t duration_ns)
{
	return duration_ns < process.settings.mpi_bound_ns;
}

/* The slot of a path that is met for the first time, or after another one took its place. */
static bool slot_fill(struct slot *slot, uint32_t node)
{
	struct trace_masked masked;
	struct thread *t = trace_begin_masked(&masked);
	bool is_whole = t != NULL;

	slot->node = 0;
	slot->type = 0;
	slot->type_bytes = 0;
	for (unsigned i = 0; t && i < METRICS; i++) {
		bool is_asked =
			i + TALLY_MPI_CALLS != TALLY_MPI_LONGER || process.settings.mpi_bound_ns > 10000;
		const struct tally *tally =
			is_asked ? tally_at(t, node, (enum tally_metric)(TALLY_MPI_CALLS + i)) : NULL;

		slot->total[i] = tally ? tally->total : NULL;
		is_whole = is_whole && (tally || !is_asked);
	}
	if (t)
		trace_end_masked(t, &masked);
	if (is_whole)
		slot->node = node;
	return is_whole;
}

static inline void add(struct slot *slot, enum tally_metric metric, uint64_t more)
{
	ring_count(slot->total[metric - TALLY_MPI_CALLS], more);
}

static uint64_t bytes_of(struct slot *slot, const struct mpi_sum_call *call)
{
	if (call->count <= 0 || !call->type_size)
		return 0;
	if (slot->type != call->type) {
		if (call->type_size(call->type, &slot->type_bytes) || slot->type_bytes < 0)
			slot->type_bytes = 0;
		slot->type = call->type;
	}
	return (uint64_t)call->count * (uint64_t)slot->type_bytes;
}

static enum tally_metric class_of(uint64_t duration_ns)
{
	return duration_ns < 1000    ? TALLY_MPI_BELOW_1US
	       : duration_ns < 10000 ? TALLY_MPI_BELOW_10US
				     : TALLY_MPI_LONGER;
}

bool mpi_sums_add(struct mpi_sum *sum, uint64_t duration_ns, const struct mpi_sum_call *call)
{
	struct sums *own = sums_of(sum->thread);
	uint32_t node = sum->node ? sum->node : node_find(sum->thread, call->function);
	struct slot *slot;

	if (!node)
		return false;
	slot = &own->slots[node & (SLOTS - 1)];
	if (slot->node != node && !slot_fill(slot, node))
		return false;
	add(slot, TALLY_MPI_CALLS, 1);
	add(slot, TALLY_MPI_BYTES, bytes_of(slot, call));
	add(slot, TALLY_MPI_TIME, duration_ns);
	add(slot, class_of(duration_ns), 1);
	if (++own->calls % COUNTED == 0) {
		overhead_count(own, sum->thread);
		if (process_now_ns() >= own->window_ns)
			window_end(own);
	}
	return true;
}
