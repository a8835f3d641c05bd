/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.c - from a signal to records in the ring: unwind, find the path in the
 * thread's context tree, publish the new nodes and the sample together. The path of
 * the sample before is kept: most samples share its outer frames, and those need
 * no look into the tree.
 */
#include "record/agent/sample.h"

#include <errno.h>

#include "record/agent/process.h"
#include "record/agent/wrap.h"

/* A path with more new nodes than this sends them ahead in batches: a whole ring might not hold them. What is
 * then known stays known, even when the sample itself has to be dropped. */
#define NODES_AT_ONCE 2048

static void sample_put(struct thread *t, uint32_t node, uint8_t flags, uint64_t weight, uint64_t now_ns)
{
	struct event_sample *sample = ring_put(&t->ring, EVENT_SAMPLE, flags, node, sizeof(*sample));

	sample->time_ns = now_ns;
	sample->weight = weight;
	sample->metric = t->metric;
	sample->_pad = 0;
	t->node = node;
	atomic_store_explicit(&t->ring.shared->samples,
		atomic_load_explicit(&t->ring.shared->samples, memory_order_relaxed) + 1,
		memory_order_relaxed);
}

bool sample_publish(struct thread *t, uint32_t node, uint8_t flags, uint64_t weight, uint64_t now_ns)
{
	if (!ring_begin(&t->ring, sizeof(struct event_sample), sizeof(struct event_sample), now_ns)) {
		ring_lose(&t->ring, RING_LOST_FULL, weight, now_ns);
		return false;
	}
	sample_put(t, node, flags | EVENT_F_EXTENT, weight, now_ns);
	ring_commit(&t->ring);
	return true;
}

static uint64_t frame_offset(const struct unwind_frame *frame)
{
	return frame->address - module_bias(frame->slot);
}

/* Code outside all modules gets the process's slot for that; false: there is none. */
static bool frames_place(struct unwind_frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (frames[i].slot == UNWIND_NO_SLOT) {
			frames[i].slot = module_anonymous_slot();
			if (frames[i].slot == UNWIND_NO_SLOT)
				return false;
		}
	return true;
}

/* How many outer frames the new path shares with the last one. */
static unsigned path_shared(
	const struct thread *t, const struct unwind_frame *frames, unsigned count, uint32_t root)
{
	unsigned most = count < t->path_count ? count : t->path_count, depth = 0;

	if (root != t->path_root)
		return 0;
	while (depth < most &&
		frames[count - 1 - depth].address == t->path[t->path_count - 1 - depth].address &&
		frames[count - 1 - depth].slot == t->path[t->path_count - 1 - depth].slot)
		depth++;
	return depth;
}

static void node_put(struct thread *t, uint32_t parent, const struct unwind_frame *frame, uint32_t *id)
{
	uint64_t offset = frame_offset(frame);
	struct event_node_record *node;

	*id = context_child_add(&t->tree, parent, frame->slot, offset);
	node = ring_put(&t->ring, EVENT_NODE, 0, *id, sizeof(*node));
	node->parent = parent;
	node->module = frame->slot;
	node->offset = offset;
}

/* Nodes of frames depth .. end - 1; their ids go to path_nodes. */
static void nodes_put(struct thread *t, const struct unwind_frame *frames, unsigned count, uint32_t root,
	unsigned depth, unsigned end)
{
	for (; depth < end; depth++)
		node_put(t, depth ? t->path_nodes[depth - 1] : root, &frames[count - 1 - depth],
			&t->path_nodes[depth]);
}

static bool batch_begin(struct thread *t, unsigned nodes, uint64_t now_ns)
{
	return ring_begin(&t->ring, nodes * sizeof(struct event_node_record) + sizeof(struct event_sample),
		sizeof(struct event_sample), now_ns);
}

/* The first frame, from the root, whose node is not in the tree yet; path_nodes holds those before it. */
static unsigned path_find(struct thread *t, const struct unwind_frame *frames, unsigned count, uint32_t root)
{
	unsigned depth = path_shared(t, frames, count, root);
	uint32_t parent = depth ? t->path_nodes[depth - 1] : root;

	for (; depth < count; depth++) {
		const struct unwind_frame *frame = &frames[count - 1 - depth];

		parent = context_child_find(&t->tree, parent, frame->slot, frame_offset(frame));
		if (!parent)
			break;
		t->path_nodes[depth] = parent;
	}
	return depth;
}

/* Publishes a sample on the path frames[0..count), innermost first, which is t's other frame buffer. */
static void path_publish(struct thread *t, struct unwind_frame *frames, unsigned count, uint32_t root,
	uint8_t flags, uint64_t weight, uint64_t now_ns)
{
	unsigned depth = path_find(t, frames, count, root);

	t->path_count = 0; /* path_nodes no longer tell of it */
	if (count - depth > context_room(&t->tree)) {
		ring_lose(&t->ring, RING_LOST_MEMORY, weight, now_ns);
		return;
	}
	for (;;) {
		unsigned end = count - depth > NODES_AT_ONCE ? depth + NODES_AT_ONCE : count;

		if (!batch_begin(t, end - depth, now_ns)) {
			ring_lose(&t->ring, RING_LOST_FULL, weight, now_ns);
			return;
		}
		nodes_put(t, frames, count, root, depth, end);
		depth = end;
		if (depth == count)
			break;
		ring_commit(&t->ring);
	}
	sample_put(t, count ? t->path_nodes[count - 1] : root, flags, weight, now_ns);
	ring_commit(&t->ring);
	t->path = frames;
	t->path_count = count;
	t->path_root = root;
}

static struct unwind_frame *other_frames(struct thread *t)
{
	return t->path == t->frames[0] ? t->frames[1] : t->frames[0];
}

void sample_publish_first(struct thread *t, uint64_t start_routine, uint64_t now_ns)
{
	struct unwind_frame *frames = other_frames(t);
	const struct cfi_module *module = start_routine ? module_find(&t->modules, start_routine) : NULL;

	frames[0] = (struct unwind_frame){
		.address = start_routine, .slot = module ? module->slot : UNWIND_NO_SLOT, .exact = 1};
	if (start_routine && frames_place(frames, 1))
		path_publish(t, frames, 1, t->root, EVENT_F_FIRST | EVENT_F_EXTENT, 0, now_ns);
	else
		sample_publish(t, t->root, EVENT_F_FIRST, 0, now_ns);
}

static void count_add(_Atomic uint64_t *counter, uint64_t more)
{
	if (more)
		atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
			memory_order_relaxed);
}

static inline __attribute__((always_inline)) void path_take(
	struct thread *t, const ucontext_t *context, uint8_t flags, uint64_t weight, uint64_t now_ns)
{
	struct unwinder *u = &t->unwinder;
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint32_t generation = module_generation();
	enum unwind_result result;

	if (t->generation != generation) {
		unwind_cache_clear(u);
		t->modules.count = t->modules.next = 0;
		t->generation = generation;
	}
	arch_registers_read(context, start.value);
	u->frames = other_frames(t);
	u->space.memory.low = thread_place.stack_low;
	u->space.memory.high = thread_place.stack_high;
	if (start.value[ARCH_SP] < thread_place.stack_low || start.value[ARCH_SP] >= thread_place.stack_high)
		u->space.memory.high = u->space.memory.low;
	else
		u->space.memory.low = start.value[ARCH_SP] - ARCH_RED_ZONE;
	result = unwind_walk(u, &start);
	if (!frames_place(u->frames, u->count))
		u->count = 0, result = UNWIND_PARTIAL;
	count_add(&t->ring.shared->errant, u->unreadable);
	count_add(&t->ring.shared->partial, result == UNWIND_PARTIAL);
	path_publish(t, u->frames, u->count,
		result == UNWIND_FULL ? t->root : t->root + EVENT_NODE_PARTIAL_PROGRAM, flags, weight,
		now_ns);
}

static_assert(EVENT_NODE_PARTIAL_PROGRAM == EVENT_NODE_PROGRAM_ROOT + EVENT_NODE_PARTIAL_PROGRAM &&
		      EVENT_NODE_PARTIAL_THREAD == EVENT_NODE_THREAD_ROOT + EVENT_NODE_PARTIAL_PROGRAM,
	"a partial root lies one constant above its root");

/* metric 0: of the time source, for so many periods. */
static inline __attribute__((always_inline)) void take(
	struct thread *t, const ucontext_t *context, uint64_t periods, uint64_t weight, uint32_t metric)
{
	uint64_t now_ns = process_now_ns();

	count_add(&t->ring.shared->signals, 1);
	count_add(metric ? &t->ring.shared->counts : &t->ring.shared->overruns, metric ? 1 : periods - 1);
	if (!metric)
		t->covered_ns += weight;
	if (!ring_enter(&t->ring)) {
		ring_lose(&t->ring, RING_LOST_NESTED, metric ? 0 : weight, now_ns);
		return;
	}
	t->metric = metric;
	path_take(t, context, metric ? 0 : EVENT_F_EXTENT, weight, now_ns);
	ring_leave(&t->ring);
}

void sample_take(struct thread *t, const ucontext_t *context, uint64_t periods)
{
	take(t, context, periods, periods * process.settings.period_ns, 0);
}

/* All that is not the CPU timer's: one copy more of the path's code, so that the timer pays for none of it.
 */
static __attribute__((noinline)) void take_any(
	struct thread *t, const ucontext_t *context, uint64_t periods, uint64_t weight, uint32_t metric)
{
	take(t, context, periods, weight, metric);
}

void sample_take_ns(struct thread *t, const ucontext_t *context, uint64_t periods, uint64_t weight)
{
	take_any(t, context, periods, weight, 0);
}

void sample_take_counter(struct thread *t, const ucontext_t *context, unsigned counter, uint64_t value)
{
	take_any(t, context, 0, value, counter + 1);
	t->metric = 0; /* what the thread publishes outside handlers is of the time source */
}

void sample_handle(int signal, siginfo_t *info, void *context)
{
	struct thread *t = thread_self();
	int error = errno;
	uint64_t periods;

	if (source_timer_periods(info, &periods)) {
		if (t)
			t->source->tick(t, context, periods);
	} else if (!t || !t->source->take || !t->source->take(t, info, context)) {
		wrap_signal_forward(signal, info, context);
	}
	errno = error;
}
