/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_thread.c - one thread of a process measured from outside: fills its ring as an agent in the thread
 * would. A sample's weight is the time that the thread ran since the last one, by its switches: so the
 * weights add up to its CPU time, however many samples the kernel dropped.
 */
#include "record/outside/outside_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/base/clock.h"
#include "record/base/proc_read.h"

#define NODES_MAX (1u << 19) /* call-path nodes of a thread */
#define BEGIN_BYTES 1024u    /* frames of the code that begins a program */
#define ARGUMENTS_MAX 65536u
#define STRINGS_BYTES (8u << 20) /* of arguments and environment, behind them */
#define DEAD_BYTES 4096u	 /* below a stack pointer: popped, and other values by now */
#define READING_NS 200000u	 /* between two readings of the time around one of a thread's clock */
#define READINGS 10

static unsigned hash_of(uint32_t tid)
{
	return (tid * 2654435761u) >> 22;
}
_Static_assert(OUTSIDE_THREADS_HASH == 1u << 10, "the hash has ten bits");

struct outside_thread *outside_thread_find(struct outside *outside, uint32_t tid)
{
	struct outside_thread *thread = outside->hash[hash_of(tid)];

	while (thread && (thread->tid != tid || thread->has_ended))
		thread = thread->same;
	return thread;
}

bool outside_thread_look(uint32_t pid, uint32_t tid, char *state, uint64_t *cpu_ns)
{
	char name[64], text[512], now = proc_read_state(pid, tid);
	unsigned long long ran;

	if (!now)
		return false;
	*state = now;
	snprintf(name, sizeof(name), "task/%u/schedstat", tid);
	*cpu_ns = proc_read(pid, name, text, sizeof(text)) && sscanf(text, "%llu", &ran) == 1 ? ran : 0;
	return true;
}

/* ---- begin ---- */

static struct event_ring *ring_claim(struct outside_target *target)
{
	struct event_process *shared = target->shared;

	for (uint32_t i = 0; i < shared->ring_count; i++) {
		struct event_ring *ring = (struct event_ring *)((char *)shared + shared->rings_at +
								(size_t)i * EVENT_RING_STRIDE);

		if (atomic_load_explicit(&ring->state, memory_order_acquire) != EVENT_RING_FREE)
			continue;
		atomic_store(&ring->state, EVENT_RING_CLAIMED);
		if (atomic_load(&shared->ring_claimed) < i + 1)
			atomic_store(&shared->ring_claimed, i + 1);
		return ring;
	}
	return NULL;
}

static void header_fill(struct outside_thread *thread, struct event_ring *ring, uint64_t cpu_ns)
{
	_Atomic uint64_t *counters[] = {&ring->signals, &ring->overruns, &ring->samples, &ring->partial,
		&ring->lost_full, &ring->lost_reentered, &ring->lost_memory, &ring->lost_weight,
		&ring->unwind_faults, &ring->counts, &ring->handler_ns, &ring->end_ns, &ring->cpu_end_ns,
		&ring->due_ns, &ring->saved_ns, &ring->wait_begin_ns, &ring->paused_cpu_ns};
	char name[64], comm[sizeof(ring->name) + 1] = "";

	for (unsigned i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		atomic_store_explicit(counters[i], 0, memory_order_relaxed);
	ring->claim++;
	ring->tid = thread->tid;
	ring->thread = thread->tid == thread->target->pid
			       ? 0
			       : atomic_fetch_add(&thread->target->shared->thread_count, 1);
	ring->begin_ns = thread->begin_ns;
	ring->cpu_begin_ns = cpu_ns;
	atomic_store(&ring->pause_cpu_ns, EVENT_NOT_PAUSED);
	ring->start_routine = thread->tid != thread->target->pid;
	atomic_store(&ring->tally_count, 0);
	atomic_store(&ring->unsampled, EVENT_SAMPLED);
	snprintf(name, sizeof(name), "task/%u/comm", thread->tid);
	if (!thread->target->modules.is_gone)
		proc_read(thread->target->pid, name, comm, sizeof(comm));
	comm[strcspn(comm, "\n")] = '\0';
	if (!comm[0])
		snprintf(comm, sizeof(comm), "%s", thread->target->name);
	memset(ring->name, 0, sizeof(ring->name));
	memcpy(ring->name, comm, strnlen(comm, sizeof(ring->name) - 1));
}

static bool sample_put(
	struct outside_thread *thread, uint32_t node, uint8_t flags, uint64_t weight, uint64_t time_ns)
{
	struct event_sample *sample;

	if (!ring_begin(&thread->ring, sizeof(*sample), sizeof(*sample), time_ns)) {
		ring_lose(&thread->ring, RING_LOST_FULL, weight, time_ns);
		return false;
	}
	sample = ring_put(&thread->ring, EVENT_SAMPLE, flags | EVENT_F_EXTENT, node, sizeof(*sample));
	sample->time_ns = time_ns;
	sample->weight = weight;
	sample->metric = 0;
	sample->_pad = 0;
	ring_count(&thread->ring.shared->samples, 1);
	ring_commit(&thread->ring);
	return true;
}

static uint64_t ran_at(const struct outside_thread *thread, uint64_t time_ns)
{
	return thread->ran_ns + (thread->in_ns && time_ns > thread->in_ns ? time_ns - thread->in_ns : 0);
}

/* True between a --stop and the next --start. */
static bool is_off(const struct outside_thread *thread)
{
	return thread->pauses % 2;
}

/* Records come in order of time: before one of time_ns is taken, the thread's clock at the switches off and
 * on ahead of it is known. What ran meanwhile is in no sample. */
static void pauses_pass(struct outside_thread *thread, uint64_t time_ns)
{
	struct event_process *shared = thread->target->shared;
	struct event_ring *ring = thread->ring.shared;
	uint32_t count = atomic_load(&shared->pause_count);

	if (count - thread->pauses > EVENT_PAUSES_MAX) /* a very long silence: nothing was recorded then */
		thread->pauses = count - EVENT_PAUSES_MAX;
	for (; thread->pauses != count; thread->pauses++) {
		uint64_t at_ns = atomic_load(&shared->pause_ns[thread->pauses % EVENT_PAUSES_MAX]), ran_ns;

		if (at_ns > time_ns)
			break;
		ran_ns = ran_at(thread, at_ns);
		if (!is_off(thread)) {
			thread->off_ran_ns = ran_ns;
			atomic_store(&ring->pause_cpu_ns, ring->cpu_begin_ns + ran_ns);
			continue;
		}
		ran_ns -= ran_ns < thread->off_ran_ns ? ran_ns : thread->off_ran_ns;
		thread->covered_ns += ran_ns;
		atomic_fetch_add(&ring->paused_cpu_ns, ran_ns);
		atomic_store(&ring->pause_cpu_ns, EVENT_NOT_PAUSED);
	}
}

/* Reads a thread's state and clock. Returns when: on a busy machine much can happen between two lines, and
 * weights are held against the clock. */
static uint64_t look_now(uint32_t pid, uint32_t tid, char *state, uint64_t *cpu_ns)
{
	uint64_t begin_ns, end_ns;
	unsigned readings = 0;

	do {
		begin_ns = clock_now_ns();
		outside_thread_look(pid, tid, state, cpu_ns);
		end_ns = clock_now_ns();
	} while (end_ns - begin_ns > READING_NS && ++readings < READINGS);
	return end_ns;
}

struct outside_thread *outside_thread_new(
	struct outside *outside, struct outside_target *target, uint32_t tid, uint64_t begin_ns, bool is_born)
{
	struct outside_thread *thread = calloc(1, sizeof(*thread)), **bucket = &outside->hash[hash_of(tid)];
	size_t bytes = NODES_MAX * CONTEXT_TREE_NODE_BYTES;
	struct event_ring *ring = thread ? ring_claim(target) : NULL;
	uint64_t cpu_ns = 0;
	char state = 'R';

	if (!ring) {
		free(thread);
		atomic_fetch_add(&target->shared->threads_unmonitored, 1);
		return NULL;
	}
	thread->tree_memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (thread->tree_memory == MAP_FAILED) {
		atomic_store(&ring->state, EVENT_RING_FREE);
		free(thread);
		return NULL;
	}
	context_tree_init(&thread->tree, thread->tree_memory, NODES_MAX);
	thread->target = target;
	thread->tid = tid;
	if (!begin_ns)
		begin_ns = look_now(target->pid, tid, &state, &cpu_ns);
	else if (!is_born)
		outside_thread_look(target->pid, tid, &state, &cpu_ns);
	thread->begin_ns = thread->last_ns = begin_ns;
	thread->root = tid == target->pid ? EVENT_NODE_PROGRAM_ROOT : EVENT_NODE_THREAD_ROOT;
	thread->partial_root = tid == target->pid ? EVENT_NODE_PARTIAL_PROGRAM : EVENT_NODE_PARTIAL_THREAD;
	thread->node = thread->root;
	thread->was_asleep = state != 'R';
	header_fill(thread, ring, cpu_ns);
	ring_init(&thread->ring, ring, EVENT_RING_DATA);
	thread->next = target->threads;
	target->threads = thread;
	thread->same = *bucket;
	*bucket = thread;
	sample_put(thread, thread->root, EVENT_F_FIRST, 0, begin_ns);
	pauses_pass(thread, begin_ns);
	return thread;
}

/* ---- call paths ---- */

static int memory_now(void *context, uint64_t address, void *to, size_t bytes)
{
	struct outside_target *target = context;

	return remote_unwind_modules_memory(&target->modules, address, to, bytes);
}

static int memory_read(void *context, uint64_t address, void *to, size_t bytes)
{
	struct outside_target *target = context;

	/* By now the stack is another one. */
	if (address >= target->sample_low && address < target->sample_high)
		return -1;
	return memory_now(context, address, to, bytes);
}

static const struct cfi_module *module_of(void *context, uint64_t pc)
{
	struct outside_target *target = context;
	struct remote_unwind_module *module = remote_unwind_modules_find(&target->modules, pc);

	if (!module)
		return NULL;
	remote_unwind_modules_tables(&target->modules, module, pc);
	return &module->cfi;
}

static struct unwind_space space_of(struct outside_target *target)
{
	return (struct unwind_space){.memory = {.read = memory_read, .context = target},
		.module_find = module_of,
		.context = target,
		.is_go = target->modules.is_go,
		.is_copy = true,
		.loader_begin = target->shared->loader_begin,
		.loader_end = target->shared->loader_end};
}

static bool unwinder_make(struct outside *outside, struct outside_target *target)
{
	struct unwinder *u = target->unwinder;

	if (u)
		return true;
	u = target->unwinder = calloc(1, sizeof(*u));
	if (!u)
		return false;
	u->frames = outside->frames;
	u->most = outside->plan.keeps_recursion ? UNWIND_WALK_MAX : UNWIND_FRAMES_MAX;
	u->folds = !outside->plan.keeps_recursion;
	u->space = space_of(target);
	return true;
}

void outside_thread_rules(struct outside_target *target, const struct outside_target *like)
{
	struct unwinder *u = like->unwinder ? malloc(sizeof(*u)) : NULL;

	if (!u)
		return;
	memcpy(u, like->unwinder, sizeof(*u));
	u->space = space_of(target);
	u->reuse.count = 0;
	target->unwinder = u;
}

/* The place of a frame as the ring names it. False: the table of modules is full. */
static bool frame_place(
	struct outside_target *target, const struct unwind_frame *frame, uint32_t *slot, uint64_t *offset)
{
	struct remote_unwind_module *module =
		frame->slot < target->modules.count ? &target->modules.list[frame->slot] : NULL;

	if (outside_python_frame(target, frame, slot, offset))
		return *slot != UNWIND_NO_SLOT;
	*slot = outside_target_slot(target, module);
	*offset = frame->address - (module ? module->bias : 0);
	return *slot != UNWIND_NO_SLOT;
}

static bool node_put(struct outside_thread *thread, uint32_t *parent, uint32_t slot, uint64_t offset)
{
	struct event_node_record *node;

	if (!context_tree_nodes_left(&thread->tree) ||
		!ring_begin(&thread->ring, sizeof(*node), sizeof(*node), thread->last_ns))
		return false;
	node = ring_put(&thread->ring, EVENT_NODE, 0,
		context_tree_child_add(&thread->tree, *parent, slot, offset), sizeof(*node));
	node->parent = *parent;
	node->module = slot;
	node->offset = offset;
	*parent = node->h.node;
	return true;
}

/* Enters the path that was just walked. 0: there is no room for it. */
static uint32_t nodes_put(
	struct outside_thread *thread, uint32_t root, const struct unwind_frame *frames, unsigned count)
{
	uint32_t parent = root;
	bool is_whole = true;

	for (unsigned i = count; i-- > 0 && is_whole;) {
		uint32_t slot, child;
		uint64_t offset;

		is_whole = frame_place(thread->target, &frames[i], &slot, &offset);
		child = is_whole ? context_tree_child_find(&thread->tree, parent, slot, offset) : 0;
		if (child)
			parent = child;
		else
			is_whole = is_whole && node_put(thread, &parent, slot, offset);
	}
	ring_commit(&thread->ring);
	return is_whole ? parent : 0;
}

/* The words there: a count of arguments, so many strings behind each other, a zero, and variables of the
 * environment behind them. */
static bool is_begin(const struct cfi_memory *memory, uint64_t at)
{
	uint64_t count, before = at, word;

	if (cfi_word_read(memory, at, &count) || !count || count > ARGUMENTS_MAX)
		return false;
	for (uint64_t i = 1; i <= count + 2; i++) {
		if (at + 8 * i + 8 > memory->high || cfi_word_read(memory, at + 8 * i, &word))
			return false;
		if (i == count + 1 ? word != 0
				   : (word <= before || word - at > STRINGS_BYTES) && (i <= count || word))
			return false;
		before = word ? word : before;
	}
	return true;
}

/* Where the kernel began the stack of a process that is gone. */
static void begin_seek(struct outside_target *target, uint64_t sp)
{
	const struct cfi_memory *memory = &target->unwinder->space.memory;

	for (uint64_t at = sp; at < sp + BEGIN_BYTES && !target->stack_begin; at += 8)
		if (is_begin(memory, at))
			target->stack_begin = at;
}

/* Static programs, musl's and others have no tables for the code that begins a stack. There is nothing
 * further out where the first thread's stack began, or, in another thread, where the frame pointer is still
 * the zero that clone's code left. */
static bool is_at_end(const struct outside_thread *thread, struct unwinder *u)
{
	const struct arch_registers *last = &u->registers;
	uint64_t sp = last->value[ARCH_SP], begin;
	const struct remote_unwind_modules *modules = &thread->target->modules;
	const struct unwind_frame *frame = &u->frames[u->count - 1];

	if (!u->count)
		return false;
	if (thread->tid == thread->target->pid && !thread->target->stack_begin)
		begin_seek(thread->target, sp);
	begin = thread->target->stack_begin;
	if (thread->tid == thread->target->pid)
		return sp <= begin && begin - sp < BEGIN_BYTES;
	return last->known >> ARCH_FP & 1 && !last->value[ARCH_FP] && frame->slot < modules->count &&
	       cfi_row_find(&modules->list[frame->slot].cfi, frame->address, &u->scratch) == CFI_NONE;
}

/* A stack that turned out deeper than a record can hold says nothing: it may be another one. */
static void need_note(struct outside *outside, const struct unwinder *u, uint64_t sp, bool is_partial)
{
	uint64_t bytes = u->registers.value[ARCH_SP] - sp;

	if (!is_partial && bytes <= OUTSIDE_STACK_MOST && bytes > outside->need_bytes)
		outside->need_bytes = (uint32_t)bytes;
}

uint32_t outside_thread_path(struct outside *outside, struct outside_thread *thread,
	const struct outside_copy *copy, bool with_python, bool *is_partial)
{
	const struct arch_registers *registers = copy->registers;
	struct outside_target *target = thread->target;
	uint64_t sp = registers->value[ARCH_SP];
	const struct unwind_frame *frames;
	struct unwinder *u;
	unsigned count;
	uint32_t node;

	*is_partial = true;
	if (!registers->known || !unwinder_make(outside, target))
		return thread->partial_root;
	u = target->unwinder;
	u->space.memory.low = sp;
	u->space.memory.high = sp + copy->bytes;
	u->space.memory.shift = (uintptr_t)copy->stack - sp;
	u->space.chain =
		(struct unwind_chain){copy->chain, copy->chain_count, registers->value[ARCH_FP], memory_now};
	target->sample_low = sp - DEAD_BYTES;
	target->sample_high = sp + (64u << 20);
	*is_partial = unwind_walk(u, registers) != UNWIND_FULL && !is_at_end(thread, u);
	need_note(outside, u, sp, *is_partial);
	frames = u->frames;
	count = u->count;
	if (with_python)
		frames = outside_python_join(target, !*is_partial, &count);
	node = nodes_put(thread, *is_partial ? thread->partial_root : thread->root, frames, count);
	*is_partial |= !node;
	return node ? node : thread->partial_root;
}

/* ---- records ---- */

static void switch_put(
	struct outside *outside, struct outside_thread *thread, uint32_t kind, uint64_t time_ns)
{
	struct event_switch *record;

	if (!outside->plan.has_switches)
		return;
	if (!ring_begin(&thread->ring, sizeof(*record), sizeof(*record), time_ns)) {
		ring_lose_kind(&thread->ring, RING_LOST_FULL, EVENT_LOST_SPAN, 0, time_ns);
		return;
	}
	record = ring_put(&thread->ring, EVENT_SWITCH, 0, 0, sizeof(*record));
	record->time_ns = time_ns;
	record->kind = kind;
	record->_pad = 0;
	ring_commit(&thread->ring);
}

/* What the first record tells of the time since the begin. */
static void first_take(struct outside *outside, struct outside_thread *thread, uint8_t kind)
{
	thread->has_switched = true;
	if (kind == OUTSIDE_IN)
		switch_put(outside, thread, thread->was_asleep ? EVENT_SWITCH_OUT : EVENT_SWITCH_PREEMPTED,
			thread->begin_ns);
	else
		thread->in_ns = thread->begin_ns;
}

static void sample_take(struct outside_thread *thread, const struct outside_record *record)
{
	uint64_t ran_ns, weight;

	if (!thread->in_ns) /* its switch-in was lost */
		thread->in_ns = thread->last_ns;
	if (is_off(thread))
		return;
	ran_ns = ran_at(thread, record->time_ns);
	weight = ran_ns > thread->covered_ns ? ran_ns - thread->covered_ns : 0;
	thread->covered_ns += weight;
	thread->node = record->node;
	thread->is_partial = record->is_partial;
	ring_count(&thread->ring.shared->signals, 1);
	if (sample_put(thread, record->node, 0, weight, record->time_ns))
		ring_count(&thread->ring.shared->partial, record->is_partial);
}

void outside_thread_looked(struct outside *outside, struct outside_thread *thread, uint64_t time_ns,
	uint64_t ran_ns, bool sleeps)
{
	pauses_pass(thread, time_ns);
	if (ran_ns > thread->ran_ns)
		thread->ran_ns = ran_ns;
	if (sleeps != thread->sleeps)
		switch_put(outside, thread, sleeps ? EVENT_SWITCH_OUT : EVENT_SWITCH_IN,
			thread->has_switched ? time_ns : thread->begin_ns);
	thread->has_switched = true;
	thread->sleeps = sleeps;
	thread->last_ns = time_ns;
}

void outside_thread_seen(struct outside_thread *thread, uint64_t time_ns, uint32_t node, bool is_partial)
{
	uint64_t weight = thread->ran_ns > thread->covered_ns ? thread->ran_ns - thread->covered_ns : 0;

	if (is_off(thread) || !weight)
		return;
	thread->covered_ns += weight;
	thread->node = node;
	thread->is_partial = is_partial;
	ring_count(&thread->ring.shared->signals, 1);
	if (sample_put(thread, node, 0, weight, time_ns))
		ring_count(&thread->ring.shared->partial, is_partial);
}

void outside_thread_take(struct outside *outside, const struct outside_record *record)
{
	struct outside_thread *thread = record->thread;

	if (thread->has_ended || record->time_ns < thread->last_ns)
		return;
	if (!thread->has_switched && record->kind != OUTSIDE_END)
		first_take(outside, thread, record->kind);
	pauses_pass(thread, record->time_ns);
	switch (record->kind) {
	case OUTSIDE_SAMPLE:
		sample_take(thread, record);
		break;
	case OUTSIDE_IN:
		thread->in_ns = record->time_ns;
		switch_put(outside, thread, EVENT_SWITCH_IN, record->time_ns);
		break;
	case OUTSIDE_OUT:
	case OUTSIDE_PREEMPTED:
		thread->ran_ns = ran_at(thread, record->time_ns);
		thread->in_ns = 0;
		switch_put(outside, thread,
			record->kind == OUTSIDE_OUT ? EVENT_SWITCH_OUT : EVENT_SWITCH_PREEMPTED,
			record->time_ns);
		break;
	default:
		outside_thread_end(outside, thread, record->time_ns);
		return;
	}
	thread->last_ns = record->time_ns;
}

void outside_thread_kernel(
	struct outside_thread *thread, uint64_t time_ns, const uint64_t *address, uint32_t count)
{
	uint64_t bytes = sizeof(struct event_kernel) + count * sizeof(*address);
	struct event_kernel *record;

	if (thread->has_ended || !ring_begin(&thread->ring, bytes, bytes, time_ns))
		return;
	record = ring_put(&thread->ring, EVENT_KERNEL, 0, count, bytes);
	record->time_ns = time_ns;
	memcpy(record->address, address, count * sizeof(*address));
	ring_commit(&thread->ring);
}

void outside_thread_name(struct outside_thread *thread, const char *name, uint64_t time_ns)
{
	size_t length = strnlen(name, sizeof(thread->ring.shared->name) - 1);
	uint64_t bytes = sizeof(struct event_text) + length;
	struct event_text *text;

	if (thread->has_ended || !ring_begin(&thread->ring, bytes + 8, bytes + 8, time_ns))
		return;
	text = ring_put(&thread->ring, EVENT_NAME, 0, (uint32_t)length, bytes);
	text->id = time_ns;
	memcpy(text->bytes, name, length);
	ring_commit(&thread->ring);
}

/* The clock of a thread that lives is the kernel's own, so that readers can hold the weights against it. */
void outside_thread_end(struct outside *outside, struct outside_thread *thread, uint64_t end_ns)
{
	struct event_ring *ring = thread->ring.shared;
	uint64_t ran_ns, cpu_ns = 0;
	char state;

	(void)outside;
	if (thread->has_ended)
		return;
	if (end_ns < thread->last_ns)
		end_ns = thread->last_ns;
	pauses_pass(thread, end_ns);
	ran_ns = is_off(thread) ? thread->off_ran_ns : ran_at(thread, end_ns);
	if (outside_thread_look(thread->target->pid, thread->tid, &state, &cpu_ns) && state != 'Z' &&
		state != 'X' && cpu_ns > ring->cpu_begin_ns)
		atomic_store(&ring->cpu_end_ns, cpu_ns);
	else
		atomic_store(&ring->cpu_end_ns, ring->cpu_begin_ns + ran_at(thread, end_ns));
	sample_put(thread, thread->node, EVENT_F_LAST,
		ran_ns > thread->covered_ns ? ran_ns - thread->covered_ns : 0, end_ns);
	ring_count(&ring->partial, thread->is_partial);
	thread->has_ended = true;
	atomic_store(&ring->end_ns, end_ns);
	atomic_store_explicit(&ring->state, EVENT_RING_ENDED, memory_order_release);
	munmap(thread->tree_memory, NODES_MAX * CONTEXT_TREE_NODE_BYTES);
	thread->tree_memory = NULL;
}

void outside_threads_forget(struct outside *outside)
{
	for (unsigned i = 0; i < OUTSIDE_THREADS_HASH; i++)
		for (struct outside_thread **link = &outside->hash[i]; *link;) {
			if ((*link)->has_ended)
				*link = (*link)->same;
			else
				link = &(*link)->same;
		}
	for (struct outside_target *at = outside->targets; at; at = at->next)
		for (struct outside_thread **link = &at->threads; *link;) {
			struct outside_thread *thread = *link;

			if (!thread->has_ended) {
				link = &thread->next;
				continue;
			}
			*link = thread->next;
			free(thread);
		}
}

#define SILENT_NS UINT64_C(30000000)

static void silent_look(struct outside *outside, struct outside_thread *thread)
{
	uint64_t cpu_ns;
	char state;

	thread->is_looked_at = true;
	if (!outside_thread_look(thread->target->pid, thread->tid, &state, &cpu_ns) || state == 'R')
		return;
	thread->has_switched = true;
	switch_put(outside, thread, EVENT_SWITCH_OUT, thread->begin_ns);
}

void outside_threads_look(struct outside *outside, uint64_t now_ns)
{
	for (struct outside_target *at = outside->targets; at; at = at->next)
		for (struct outside_thread *thread = at->threads; thread; thread = thread->next)
			if (!thread->has_switched && !thread->has_ended && !thread->is_looked_at &&
				now_ns > thread->begin_ns + SILENT_NS)
				silent_look(outside, thread);
}
