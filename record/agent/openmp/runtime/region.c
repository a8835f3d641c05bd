/* SPDX-License-Identifier: Apache-2.0 */
/* region.c - see region.h. */
#include "record/agent/openmp/runtime/region.h"

#include "record/agent/base/arch.h"
#include "record/agent/base/ticks.h"
#include "record/agent/base/wrap.h"
#include "record/agent/sample/callpath.h"
#include "record/agent/sample/tally.h"
#include "record/agent/sample/trace.h"

#define COUNTED 1024u /* regions whose cost is counted at once */
#define REGION_NS 80u /* of one thread, in a region or barrier (measured), for the summary */
_Static_assert(TALLY_OMP_WAITED - TALLY_OMP_REGIONS + 1 == OPENMP_SUMS, "a slot holds all");

/* ---- the thread ---- */

static inline struct thread *self_of(void)
{
	struct thread *t = thread_self();

	if (t && !t->uses_openmp) {
		openmp_thread_init(&t->openmp);
		t->uses_openmp = true;
	}
	return t;
}

/* False: a fork child, or the thread's ring was claimed anew. */
static bool is_same(const struct thread *t, uint64_t epoch)
{
	return t && t == thread_self() && t->epoch == epoch;
}

static inline uint64_t now_of(struct thread *t)
{
	return ticks_clock_now(&t->openmp.clock);
}

static inline bool is_opener(const struct openmp_thread *o, const struct openmp_team *team)
{
	return team >= o->teams && team < o->teams + OPENMP_TEAMS;
}

/* ---- paths ---- */

/* *address (may be NULL): right below the stack pointer of the path's innermost frame. */
static __attribute__((noinline)) uint32_t node_walk(const struct arch_registers *start, uint64_t *address)
{
	struct trace_masked masked;
	struct thread *t = trace_begin_masked(&masked);
	uint32_t node = 0;

	if (!t)
		return 0;
	node = trace_callpath_from(t, start, 0);
	if (address && t->callpath_count) {
		*address = t->callpath[0].sp - 1;
		t->openmp.frames[node % OPENMP_FRAMES] =
			(struct openmp_frame){start->value[ARCH_SP], *address, node};
	}
	trace_end_masked(t, &masked);
	return node;
}

/* The same for a path that the cache knows: as it was found last. */
static bool frame_known(
	const struct thread *t, const struct arch_registers *start, uint32_t node, uint64_t *address)
{
	const struct openmp_frame *frame = &t->openmp.frames[node % OPENMP_FRAMES];

	if (!node || frame->node != node || frame->start != start->value[ARCH_SP])
		return false;
	*address = frame->address;
	return true;
}

/* Frames of the agent do not appear, and those of a runtime that called it are left out. */
static __attribute__((noinline)) struct openmp_origin origin_of(struct thread *t, uint64_t *address)
{
	struct openmp_origin origin = {.tree = &t->tree, .epoch_at = &t->epoch, .epoch = t->epoch};
	struct arch_registers start;

	arch_registers_here(&start);
	t->openmp.omits = true;
	origin.node = callpath_cache_find(t, &(struct callpath_begin){&start, 0, callpath_beside(t)});
	if (address && origin.node && !frame_known(t, &start, origin.node, address)) {
		callpath_cache_clear(t); /* it knows the node, not the frame */
		origin.node = 0;
	}
	if (!origin.node)
		origin.node = node_walk(&start, address);
	t->openmp.omits = false;
	if (!origin.node)
		origin.node = thread_partial_root(t);
	return origin;
}

/* The node of constructs below an origin, or below the thread's root; 0: not now. */
static uint32_t node_of(const struct openmp_origin *origin, const uint64_t *constructs, unsigned count)
{
	struct trace_masked masked;
	struct thread *t = trace_begin_masked(&masked);
	uint32_t node = 0;

	if (!t)
		return 0;
	if (callpath_open_origin(t, origin, constructs, count, process_now_ns(), &node) != CALLPATH_OPEN)
		node = 0;
	trace_end_masked(t, &masked);
	return node;
}

/* ---- sums ---- */

static __attribute__((noinline)) bool slot_fill(struct openmp_slot *slot, const struct openmp_origin *origin)
{
	static const uint64_t region[] = {EVENT_FRAME_OMP_REGION};
	uint32_t own = node_of(origin, region, 1);
	struct trace_masked masked;
	struct thread *t = own ? trace_begin_masked(&masked) : NULL;

	slot->node = 0;
	for (unsigned i = 0; t && i < OPENMP_SUMS; i++) {
		const struct tally *tally = tally_at(t, own, (enum tally_metric)(TALLY_OMP_REGIONS + i));

		slot->total[i] = tally ? tally->total : NULL;
		own = tally ? own : 0;
	}
	if (!t)
		return false;
	trace_end_masked(t, &masked);
	slot->own = own;
	slot->epoch = origin->epoch;
	slot->node = own ? origin->node : 0;
	return own != 0;
}

/* The sums of a region; NULL: none are asked for, or there is no room. */
static struct openmp_slot *slot_of(struct thread *t, const struct openmp_origin *origin)
{
	struct openmp_slot *slot =
		&t->openmp.slots[(origin->node + (uint32_t)origin->epoch * 7u) & (OPENMP_SLOTS - 1)];

	if (slot->node == origin->node && slot->epoch == origin->epoch)
		return slot;
	return process.settings.openmp && slot_fill(slot, origin) ? slot : NULL;
}

static inline void add(struct openmp_slot *slot, enum tally_metric metric, uint64_t more)
{
	ring_count(slot->total[metric - TALLY_OMP_REGIONS], more);
}

static void waited(struct thread *t, const struct openmp_origin *origin, uint64_t since_ns, uint64_t last_ns)
{
	struct openmp_slot *slot = last_ns > since_ns ? slot_of(t, origin) : NULL;

	if (slot)
		add(slot, TALLY_OMP_WAITED, last_ns - since_ns);
}

/* ---- arrivals ---- */

/* When the last one arrived at the barrier or end where a member arrived then; since_ns: not known, for the
 * team had more of them since then, in which the member had no part. */
static uint64_t last_of(const struct openmp_team *team, uint64_t since_ns)
{
	uint64_t last_ns = atomic_load_explicit(&team->last_ns, memory_order_acquire);
	uint64_t before_ns = atomic_load_explicit(&team->before_ns, memory_order_relaxed);

	return last_ns < since_ns || before_ns >= since_ns ? since_ns : last_ns;
}

/* The thread owes its wait at the end of the region before. */
static void owed_pay(struct thread *t)
{
	struct openmp_thread *o = &t->openmp;

	o->owes = false;
	waited(t, &o->done_origin, o->done_ns, last_of(o->done, o->done_ns));
}

/* What the others waited, together: modulo the sums' range, as these are. Clocks of two processors may differ
 * a little. */
static uint64_t held_ns(uint64_t mine_ns, uint64_t others_ns)
{
	uint64_t held_ns = (mine_ns - others_ns) & OPENMP_TIMES;

	return held_ns <= OPENMP_TIMES / 2 ? held_ns : 0;
}

/* All have arrived, this thread as the last; the sum of when the others did: none of them passes before this
 * returns. */
static void occasion(struct thread *t, struct openmp_team *team, const struct openmp_origin *origin,
	uint64_t now_ns, uint64_t others_ns)
{
	uint64_t before_ns = atomic_load_explicit(&team->last_ns, memory_order_relaxed);
	struct openmp_slot *slot;

	atomic_store_explicit(&team->before_ns, before_ns, memory_order_relaxed);
	atomic_store_explicit(&team->last_ns, now_ns, memory_order_release);
	atomic_store_explicit(&team->arrivals, 0, memory_order_release);
	slot = t && team->threads > 1 ? slot_of(t, origin) : NULL;
	if (!slot)
		return;
	add(slot, TALLY_OMP_LAST, 1);
	add(slot, TALLY_OMP_HELD, held_ns(now_ns * (team->threads - 1), others_ns));
}

/* The thread has arrived at a barrier or the end; true: as the last one. The team's line comes once, to be
 * written. */
static bool arrive(
	struct thread *t, struct openmp_team *team, const struct openmp_origin *origin, uint64_t now_ns)
{
	uint32_t threads = team->threads;
	uint64_t before = 0;

	if (!threads || threads > OPENMP_THREADS_MAX)
		return false;
	if (threads > 1) {
		arch_prefetch_write(&team->arrivals);
		if (t && t->openmp.owes)
			owed_pay(t);
		before = atomic_fetch_add_explicit(
			&team->arrivals, now_ns << OPENMP_TIMES_SHIFT | 1, memory_order_acq_rel);
	}
	if ((before & OPENMP_THREADS_MAX) + 1 != threads)
		return false;
	occasion(t, team, origin, now_ns, before >> OPENMP_TIMES_SHIFT);
	return true;
}

/* The opener leaves a barrier or the region, where all had arrived at last_ns: sums their time. */
static void capacity_add(struct openmp_slot *slot, struct openmp_team *team, uint64_t last_ns)
{
	uint64_t begin_ns = atomic_load_explicit(&team->begin_ns, memory_order_relaxed);

	begin_ns = team->counted_ns > begin_ns ? team->counted_ns : begin_ns;
	if (last_ns <= begin_ns)
		return;
	team->counted_ns = last_ns;
	add(slot, TALLY_OMP_CAPACITY, (last_ns - begin_ns) * team->threads);
}

/* ---- a worker's wait between its regions ---- */

static void publish_wait(uint32_t node, uint64_t begin_ns, uint64_t end_ns)
{
	struct event_span span = {.begin_ns = begin_ns, .end_ns = end_ns, .operation = STORE_OP_BLOCKED};
	struct trace_masked masked;
	struct thread *t = node && end_ns > begin_ns ? trace_begin_masked(&masked) : NULL;

	if (!t)
		return;
	span.h.node = node;
	trace_span(t, EVENT_SPAN, &span);
	trace_end_masked(t, &masked);
}

/* 0: not now. */
static uint32_t idle_node(struct openmp_thread *o)
{
	static const uint64_t idle[] = {EVENT_FRAME_OMP_IDLE};

	if (!o->idle_node)
		o->idle_node = node_of(NULL, idle, 1);
	return o->idle_node;
}

/* The paths of the wait that ends now: for the last arrival, then for the next region. */
static __attribute__((noinline)) void idle_publish(struct thread *t, const struct openmp_origin *origin,
	uint64_t begin_ns, uint64_t join_ns, uint64_t now_ns)
{
	static const uint64_t barrier[] = {EVENT_FRAME_OMP_BARRIER, EVENT_FRAME_OMP_REGION};
	publish_wait(node_of(origin, barrier, 2), begin_ns, join_ns);
	if (now_ns > join_ns)
		publish_wait(idle_node(&t->openmp), join_ns, now_ns);
}

/* The wait for the last arrival since done_ns, and for the next region, is over. It has a record if it was
 * long. */
static void done_end(struct thread *t, uint64_t now_ns)
{
	struct openmp_thread *o = &t->openmp;
	uint64_t last_ns;

	if (now_ns <= o->done_ns + WAIT_LEAST_NS)
		return;
	last_ns = last_of(o->done, o->done_ns);
	last_ns = last_ns < now_ns ? last_ns : now_ns;
	if (o->owes)
		waited(t, &o->done_origin, o->done_ns, last_ns);
	o->owes = false;
	idle_publish(t, &o->done_origin, o->done_ns, last_ns, now_ns);
}

static void done_begin(struct openmp_thread *o, struct openmp_team *team, const struct openmp_origin *origin,
	uint64_t now_ns, bool is_last)
{
	o->done = team;
	o->done_origin = *origin;
	o->done_ns = now_ns;
	o->owes = !is_last;
}

static void idle_end(struct thread *t, uint64_t now_ns)
{
	struct openmp_thread *o = &t->openmp;

	done_end(t, now_ns);
	o->is_idle = false;
	atomic_store_explicit(&t->ring.shared->wait_node, 0, memory_order_relaxed);
	atomic_store_explicit(&t->ring.shared->wait_begin_ns, 0, memory_order_release);
}

static void idle_begin(struct thread *t, uint64_t now_ns)
{
	struct openmp_thread *o = &t->openmp;

	o->is_idle = true;
	atomic_store_explicit(&t->ring.shared->wait_node, idle_node(o), memory_order_relaxed);
	t->wait_frame = UINTPTR_MAX; /* further out than any wait of a signal's handler */
	atomic_store_explicit(&t->ring.shared->wait_begin_ns, now_ns, memory_order_release);
}

/* ---- regions ---- */

static void overhead_count(struct thread *t, struct openmp_thread *o)
{
	if (++o->regions % COUNTED == 0)
		ring_count(&t->ring.shared->handler_ns, (uint64_t)COUNTED * REGION_NS);
}

/* With signals blocked: samples use the same cache of modules. */
static __attribute__((noinline)) void runtime_note(struct openmp_thread *o, uint64_t code)
{
	struct trace_masked masked;
	struct thread *t = trace_begin_masked(&masked);

	if (!t)
		return;
	openmp_runtime_add(&t->modules, code);
	trace_end_masked(t, &masked);
	ticks_begin();
	o->knows_runtime = true;
}

/* Its line is written only where it changes. */
static void team_origin_set(struct openmp_team *team, const struct openmp_origin *origin)
{
	if (team->origin.node == origin->node && team->origin.epoch == origin->epoch)
		return;
	team->origin = *origin;
	team->threads = 0;
}

static void generation_next(struct openmp_team *team)
{
	uint32_t generation = atomic_load_explicit(&team->generation, memory_order_relaxed);

	atomic_store_explicit(&team->generation, generation + 1, memory_order_release);
}

struct openmp_team *region_open(uint64_t address, bool is_serial, uint64_t code)
{
	struct thread *t = self_of();
	struct openmp_thread *o = t ? &t->openmp : NULL;
	struct openmp_origin origin;
	struct openmp_team *team;

	if (!t || o->team_count == OPENMP_TEAMS || atomic_load(&o->depth) + 2 > OPENMP_RECORDS)
		return NULL;
	if (!o->knows_runtime)
		runtime_note(o, code);
	origin = origin_of(t, is_serial ? &address : NULL);
	team = &o->teams[o->team_count++];
	team_origin_set(team, &origin);
	team->joined_ns = o->left_ns = 0;
	team->tells_wait = false;
	/* The line of arrivals is the last one's, who may be on another processor: it is left there. */
	if (atomic_load_explicit(&team->arrivals, memory_order_relaxed))
		atomic_store_explicit(&team->arrivals, 0, memory_order_relaxed);
	atomic_store_explicit(&team->begin_ns, now_of(t), memory_order_relaxed);
	generation_next(team);
	openmp_push(o, &(struct openmp_record){
			       .address = address, .origin = origin, .team = team, .kind = OPENMP_OPEN});
	overhead_count(t, o);
	return team;
}

/* The opener waits for the others at the end. */
static void join_begin(struct thread *t, struct openmp_team *team, uint64_t now_ns)
{
	_Atomic uint64_t *begin_ns = &t->ring.shared->wait_begin_ns;

	team->joined_ns = now_ns;
	team->tells_wait = now_ns && !atomic_load_explicit(begin_ns, memory_order_relaxed);
	if (!team->tells_wait)
		return;
	t->wait_frame = UINTPTR_MAX;
	atomic_store_explicit(begin_ns, now_ns, memory_order_relaxed);
}

static void join_end(struct thread *t, struct openmp_team *team, uint64_t last_ns)
{
	if (team->joined_ns && last_ns > team->joined_ns + WAIT_LEAST_NS) {
		last_ns = now_of(t);
		idle_publish(t, &team->origin, team->joined_ns, last_ns, last_ns);
	}
	if (team->tells_wait)
		atomic_store_explicit(&t->ring.shared->wait_begin_ns, 0, memory_order_release);
	team->tells_wait = false;
}

void region_close(struct openmp_team *team)
{
	struct thread *t = thread_self();
	struct openmp_thread *o = t ? &t->openmp : NULL;
	struct openmp_slot *slot;
	uint64_t begin_ns, last_ns;

	if (!t || !t->uses_openmp || !is_opener(o, team))
		return; /* of a fork child's parent: its memory is not there */
	/* It comes from the last one, which takes as long as what is done before its use. */
	arch_prefetch_write(&team->arrivals);
	o->team_count = (uint32_t)(team - o->teams);
	for (bool is_open = true; is_open && atomic_load(&o->depth); openmp_pop(o)) {
		const struct openmp_record *record = &o->records[atomic_load(&o->depth) - 1];

		is_open = record->team != team || record->kind == OPENMP_REGION;
	}
	generation_next(team);
	slot = slot_of(t, &team->origin);
	last_ns = atomic_load_explicit(&team->last_ns, memory_order_relaxed);
	join_end(t, team, last_ns);
	if (!slot)
		return;
	begin_ns = atomic_load_explicit(&team->begin_ns, memory_order_relaxed);
	add(slot, TALLY_OMP_REGIONS, 1);
	if (last_ns > begin_ns)
		add(slot, TALLY_OMP_TIME, last_ns - begin_ns);
	capacity_add(slot, team, last_ns);
	if (team->joined_ns && last_ns > team->joined_ns)
		add(slot, TALLY_OMP_WAITED, last_ns - team->joined_ns);
}

/* The record of the team in the thread that opened it; NULL: another thread did. */
static struct openmp_record *opening(struct openmp_thread *o, const struct openmp_team *team)
{
	uint32_t depth = atomic_load_explicit(&o->depth, memory_order_relaxed);

	return depth && o->records[depth - 1].team == team && o->records[depth - 1].kind == OPENMP_OPEN
		       ? &o->records[depth - 1]
		       : NULL;
}

/* As a rule a worker of LLVM's learns that the region before has ended right ahead of the next one's begin,
 * and one reading serves both. After a region with tasks it learns that at once: long before. */
static uint64_t begin_of(struct thread *t, const struct openmp_team *team)
{
	uint64_t left_ns = t->openmp.left_ns;

	t->openmp.left_ns = 0;
	return left_ns > atomic_load_explicit(&team->begin_ns, memory_order_relaxed) ? left_ns : now_of(t);
}

void region_begin(struct region_body *body, struct openmp_team *team, uint32_t threads, uint64_t address)
{
	struct thread *t = self_of();
	struct openmp_record *open;
	uint64_t now_ns;

	body->thread = NULL;
	body->team = team;
	if (!team)
		return;
	if (__atomic_load_n(&team->threads, __ATOMIC_RELAXED) != threads)
		__atomic_store_n(&team->threads, threads, __ATOMIC_RELAXED); /* the same by each */
	if (!t)
		return;
	open = opening(&t->openmp, team);
	if (!open) /* the others arrive first, as a rule: their line comes while this one works */
		arch_prefetch_write(&team->arrivals);
	now_ns = open ? atomic_load_explicit(&team->begin_ns, memory_order_relaxed) : begin_of(t, team);
	if (t->openmp.is_idle)
		idle_end(t, now_ns);
	if (!is_opener(&t->openmp, team))
		atomic_store_explicit(&t->openmp.is_worker, true, memory_order_relaxed);
	if (!openmp_push(&t->openmp, &(struct openmp_record){.address = open ? open->address : address,
					     .origin = team->origin,
					     .team = team,
					     .begin_ns = now_ns,
					     .kind = OPENMP_REGION}))
		return;
	body->thread = t;
	body->epoch = t->epoch;
}

/* A thread that is not measured counts, too. */
static void end_unmeasured(struct openmp_team *team)
{
	if (!thread_self()) /* else this is a fork child, which has not the parent's memory */
		arrive(NULL, team, NULL, process_now_ns());
}

void region_end(const struct region_body *body)
{
	struct thread *t = body->thread;
	struct openmp_record *record, *open;
	uint64_t now_ns;
	bool is_last;

	if (!body->team)
		return;
	if (!is_same(t, body->epoch)) {
		if (!t)
			end_unmeasured(body->team);
		return;
	}
	now_ns = now_of(t);
	openmp_pop(&t->openmp);
	record = &t->openmp.records[atomic_load_explicit(&t->openmp.depth, memory_order_relaxed)];
	is_last = arrive(t, body->team, &record->origin, now_ns);
	open = opening(&t->openmp, body->team);
	if (open) {
		open->kind = OPENMP_JOIN;
		join_begin(t, body->team, is_last ? 0 : now_ns);
	} else if (!atomic_load_explicit(&t->openmp.depth, memory_order_relaxed)) {
		done_begin(&t->openmp, body->team, &record->origin, now_ns, is_last);
		idle_begin(t, now_ns);
		overhead_count(t, &t->openmp);
	}
}

void region_leave(void)
{
	struct thread *t = thread_self();
	uint32_t depth = t && t->uses_openmp ? atomic_load(&t->openmp.depth) : 0;
	struct openmp_record *record;

	while (depth && t->openmp.records[depth - 1].kind >= OPENMP_TASK) {
		openmp_pop(&t->openmp);
		depth--;
	}
	if (!depth || t->openmp.records[depth - 1].kind != OPENMP_REGION)
		return;
	record = &t->openmp.records[depth - 1];
	if (record->team->threads == 1) /* there was no barrier */
		arrive(t, record->team, &record->origin, now_of(t));
	openmp_pop(&t->openmp);
	depth--;
	if (depth && t->openmp.records[depth - 1].kind == OPENMP_OPEN)
		t->openmp.records[depth - 1].kind = OPENMP_JOIN;
}

/* ---- waits ---- */

/* The team whose member calls a barrier; NULL: a task, or none. */
static struct openmp_record *member(struct openmp_thread *o)
{
	uint32_t depth = atomic_load_explicit(&o->depth, memory_order_relaxed);

	return depth && o->records[depth - 1].kind == OPENMP_REGION ? &o->records[depth - 1] : NULL;
}

void region_wait_begin(struct region_wait *wait, enum openmp_kind kind, uint64_t address)
{
	struct thread *t = thread_self();
	struct openmp_record *of;

	wait->thread = NULL;
	if (!t || !t->uses_openmp)
		return;
	of = kind == OPENMP_BARRIER ? member(&t->openmp) : NULL;
	if (!openmp_push(&t->openmp, &(struct openmp_record){.address = address, .kind = kind}))
		return;
	t->openmp.left_ns = 0;
	wait->thread = t;
	wait->epoch = t->epoch;
	wait->team = of ? of->team : NULL;
	if (of)
		wait->origin = of->origin;
	wait->wait.begin_ns = now_of(t);
	if (wait_counts(&wait->wait))
		wait_begin_at(&wait->wait, wait->wait.begin_ns);
	wait->is_last = of && arrive(t, of->team, &of->origin, wait->wait.begin_ns);
}

/* The opener's wait at the region's end: region_close sums it, which comes at once. Until then the line of
 * arrivals is on its way. */
static void join_pass(const struct region_wait *wait)
{
	struct openmp_team *team = wait->team;

	arch_prefetch_write(&team->arrivals);
	team->joined_ns = wait->is_last ? 0 : wait->wait.begin_ns;
	team->tells_wait = wait->wait.thread && !wait->wait.outer_ns;
}

/* A worker's wait at the region's end, and for the next region, which begins now. */
static void join_over(struct thread *t, const struct region_wait *wait)
{
	arch_prefetch_write(&wait->team->arrivals); /* as a rule the next region is of the same team */
	t->openmp.left_ns = now_of(t);
	done_begin(&t->openmp, wait->team, &wait->origin, wait->wait.begin_ns, wait->is_last);
	done_end(t, t->openmp.left_ns);
	if (wait->wait.thread && !wait->wait.outer_ns)
		atomic_store_explicit(&t->ring.shared->wait_begin_ns, 0, memory_order_release);
}

/* All have arrived at a barrier. */
static void barrier_over(struct thread *t, const struct region_wait *wait)
{
	uint64_t begin_ns = wait->wait.begin_ns;
	uint64_t last_ns =
		wait->is_last ? begin_ns : atomic_load_explicit(&wait->team->last_ns, memory_order_relaxed);
	struct openmp_slot *slot;

	waited(t, &wait->origin, begin_ns, last_ns);
	slot = is_opener(&t->openmp, wait->team) ? slot_of(t, &wait->origin) : NULL;
	if (slot)
		capacity_add(slot, wait->team, last_ns);
}

void region_wait_end(struct region_wait *wait, bool is_join)
{
	struct thread *t = wait->thread;

	if (!is_same(t, wait->epoch))
		return;
	if (wait->team && is_join) {
		if (is_opener(&t->openmp, wait->team))
			join_pass(wait);
		else
			join_over(t, wait);
	} else {
		if (wait->team)
			barrier_over(t, wait);
		if (wait->wait.thread)
			wait_end_at(&wait->wait, now_of(t), NULL, NULL);
	}
	openmp_pop(&t->openmp);
}

/* ---- tasks ---- */

struct openmp_origin region_origin(uint64_t *address)
{
	struct thread *t = self_of();

	return t ? origin_of(t, address) : (struct openmp_origin){.tree = NULL};
}

void region_task_begin(struct region_body *body, const struct openmp_origin *origin, uint64_t address)
{
	struct thread *t = self_of();

	*body = (struct region_body){.thread = NULL};
	if (!t || !origin->tree)
		return;
	if (!openmp_push(&t->openmp,
		    &(struct openmp_record){.address = address, .origin = *origin, .kind = OPENMP_TASK}))
		return;
	body->thread = t;
	body->epoch = t->epoch;
}

void region_task_end(const struct region_body *body)
{
	if (is_same(body->thread, body->epoch))
		openmp_pop(&body->thread->openmp);
}
