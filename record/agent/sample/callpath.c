/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callpath.c - see callpath.h. Keeps the last path: most paths share its outer frames, which then need no
 * lookup in the tree.
 */
#include "record/agent/sample/callpath.h"

#include <string.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/java/java_blobs.h"
#include "record/agent/java/java_trace.h"
#include "record/agent/python/python_join.h"
/* If a path's new nodes take more than this, they are sent first, in separate batches, as a whole ring
 * might not hold them. They stay known even if the record itself is dropped. */
#define BATCH_BYTES (48u * 1024u)
#define RUN_ROUNDS 3u /* fewer rounds are sent frame by frame */

static uint32_t frame_module(const struct unwind_frame *frame)
{
	return frame->slot == UNWIND_RESERVED_SLOT ? EVENT_MODULE_RESERVED : frame->slot;
}

static uint64_t frame_offset(const struct unwind_frame *frame)
{
	return frame->address - module_slots_bias(frame->slot);
}

/* Code outside all modules gets the process's anonymous slot; false: none. */
static bool frames_place(struct unwind_frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (frames[i].slot == UNWIND_NO_SLOT) {
			frames[i].slot = module_slots_anonymous();
			if (frames[i].slot == UNWIND_NO_SLOT)
				return false;
		}
	return true;
}

static bool is_same_place(const struct unwind_frame *a, const struct unwind_frame *b)
{
	return a->address == b->address && a->slot == b->slot;
}

/* Number of outer frames that the new path shares with the last one. */
static unsigned callpath_shared(
	const struct thread *t, const struct unwind_frame *frames, unsigned count, uint32_t root)
{
	unsigned most = count < t->callpath_count ? count : t->callpath_count, depth = 0;

	if (root != t->callpath_root)
		return 0;
	while (depth < most &&
		is_same_place(&frames[count - 1 - depth], &t->callpath[t->callpath_count - 1 - depth]))
		depth++;
	return depth;
}

static void node_put(struct thread *t, uint32_t parent, const struct unwind_frame *frame, uint32_t *id)
{
	uint64_t offset = frame_offset(frame);
	struct event_node_record *node;

	*id = context_tree_child_add(&t->tree, parent, frame->slot, offset);
	node = ring_put(&t->ring, EVENT_NODE, 0, *id, sizeof(*node));
	node->parent = parent;
	node->module = frame_module(frame);
	node->offset = offset;
}

/* The frames of one record of nodes: a single frame, or a recursion, whose frames repeat in turn. */
struct run {
	unsigned count; /* of frames, from the outermost inwards */
	unsigned round; /* frames that repeat; 0: a single frame */
};

/* The run that begins at `depth`, counted from the root. */
static struct run run_at(const struct unwind_frame *frames, unsigned count, unsigned depth)
{
	const struct unwind_frame *first = &frames[count - 1 - depth];
	unsigned left = count - depth;

	for (unsigned round = 1; round <= EVENT_PLACES_MAX && RUN_ROUNDS * round <= left; round++) {
		unsigned length = round;

		while (length < left && is_same_place(first - length, first - length + round))
			length++;
		if (length >= RUN_ROUNDS * round)
			return (struct run){length, round};
	}
	return (struct run){1, 0};
}

static uint64_t run_bytes(struct run run)
{
	return run.round ? sizeof(struct event_nodes_record) + run.round * sizeof(struct event_place)
			 : sizeof(struct event_node_record);
}

#define RUN_BYTES_MAX (sizeof(struct event_nodes_record) + EVENT_PLACES_MAX * sizeof(struct event_place))

static void run_put(
	struct thread *t, uint32_t parent, const struct unwind_frame *first, struct run run, uint32_t *ids)
{
	struct event_nodes_record *nodes =
		ring_put(&t->ring, EVENT_NODES, 0, EVENT_NODE_FIRST + t->tree.count, run_bytes(run));

	nodes->parent = parent;
	nodes->count = run.count;
	nodes->place_count = run.round;
	nodes->_pad = 0;
	for (unsigned i = 0; i < run.round; i++)
		nodes->places[i] = (struct event_place){
			.offset = frame_offset(first - i), .module = frame_module(first - i)};
	for (unsigned i = 0; i < run.count; i++)
		parent = ids[i] =
			context_tree_child_add(&t->tree, parent, (first - i)->slot, frame_offset(first - i));
}

/* Writes the nodes of frames depth .. end - 1 and stores their ids in callpath_nodes. */
static void nodes_put(struct thread *t, const struct unwind_frame *frames, unsigned count, uint32_t root,
	unsigned depth, unsigned end)
{
	while (depth < end) {
		struct run run = run_at(frames, count, depth);
		uint32_t parent = depth ? t->callpath_nodes[depth - 1] : root;

		if (run.round)
			run_put(t, parent, &frames[count - 1 - depth], run, &t->callpath_nodes[depth]);
		else
			node_put(t, parent, &frames[count - 1 - depth], &t->callpath_nodes[depth]);
		depth += run.count;
	}
}

/* Opens a batch for records of nodes and a record of `bytes` after them. now_ns 0: reads the clock only
 * for new nodes, which are rare. */
static bool room_begin(struct thread *t, uint64_t nodes_bytes, uint64_t bytes, uint64_t now_ns)
{
	uint64_t longest = nodes_bytes && bytes < RUN_BYTES_MAX ? RUN_BYTES_MAX : bytes;

	return ring_begin(&t->ring, nodes_bytes + bytes, longest, now_ns ? now_ns : process_now_ns());
}

/* Opens a batch for the nodes from `depth` on, all or the first of them, and a record of `bytes` after
 * them; *end: end of those. Usually they fit one by one; then this does not search for runs, which take
 * less space. */
static bool batch_begin(struct thread *t, const struct unwind_frame *frames, unsigned count, unsigned depth,
	uint64_t bytes, uint64_t now_ns, unsigned *end)
{
	uint64_t most = (count - depth) * sizeof(struct event_node_record), nodes_bytes = 0;

	*end = count;
	if (most < BATCH_BYTES && room_begin(t, most, bytes, now_ns))
		return true;
	for (*end = depth; *end < count && nodes_bytes < BATCH_BYTES;) {
		struct run run = run_at(frames, count, *end);

		nodes_bytes += run_bytes(run);
		*end += run.count;
	}
	return room_begin(t, nodes_bytes, bytes, now_ns);
}

/* The first frame, from the root, whose node is not in the tree yet; callpath_nodes gets those before it. */
static unsigned callpath_find(
	struct thread *t, const struct unwind_frame *frames, unsigned count, uint32_t root)
{
	unsigned depth = callpath_shared(t, frames, count, root);
	uint32_t parent = depth ? t->callpath_nodes[depth - 1] : root;

	for (; depth < count; depth++) {
		const struct unwind_frame *frame = &frames[count - 1 - depth];

		parent = context_tree_child_find(&t->tree, parent, frame->slot, frame_offset(frame));
		if (!parent)
			break;
		t->callpath_nodes[depth] = parent;
	}
	return depth;
}

/* Opens the batch, or for 0 bytes publishes only the nodes, for the path frames[0..count), innermost
 * first, in t's other frame buffer. */
HOT static int frames_open(struct thread *t, struct unwind_frame *frames, unsigned count, uint32_t root,
	uint64_t bytes, uint64_t now_ns, uint32_t *node)
{
	unsigned depth = callpath_find(t, frames, count, root);

	t->callpath_count = 0; /* callpath_nodes becomes invalid */
	if (count - depth > context_tree_nodes_left(&t->tree))
		return RING_LOST_MEMORY;
	for (; bytes || depth < count;) {
		unsigned end;

		if (!batch_begin(t, frames, count, depth, bytes, now_ns, &end)) {
			t->published_depth = depth;
			return RING_LOST_FULL;
		}
		nodes_put(t, frames, count, root, depth, end);
		depth = end;
		if (depth == count && bytes)
			break;
		ring_commit(&t->ring);
	}
	*node = count ? t->callpath_nodes[count - 1] : root;
	t->callpath = frames;
	t->callpath_count = count;
	t->callpath_root = root;
	return CALLPATH_OPEN;
}

static struct unwind_frame *other_frames(struct thread *t)
{
	return t->callpath == t->frames[0] ? t->frames[1] : t->frames[0];
}

int callpath_open_known(struct thread *t, const struct unwind_frame *known, unsigned count, uint32_t root,
	uint64_t now_ns, uint32_t *node)
{
	struct unwind_frame *frames = other_frames(t);

	if (count > t->unwinder.most)
		return RING_LOST_MEMORY;
	memcpy(frames, known, count * sizeof(*frames));
	return frames_open(t, frames, count, root, 0, now_ns, node);
}

int callpath_open_first(
	struct thread *t, uint64_t start_routine, uint64_t bytes, uint64_t now_ns, uint32_t *node)
{
	struct unwind_frame *frames = other_frames(t);
	const struct cfi_module *module = start_routine ? module_find(&t->modules, start_routine) : NULL;
	bool is_placed;
	unsigned count;

	frames[0] = (struct unwind_frame){
		.address = start_routine, .slot = module ? module->slot : UNWIND_NO_SLOT, .exact = 1};
	is_placed = start_routine && frames_place(frames, 1);
	count = is_placed ? openmp_outside(frames, 1, t->unwinder.most) : 0;
	return frames_open(t, frames, count, t->root, bytes, now_ns, node);
}

/* After a library was unloaded, cached rules and modules may be wrong. */
static void caches_check(struct thread *t)
{
	uint32_t generation = module_slots_generation();

	if (t->generation == generation)
		return;
	unwind_cache_clear(&t->unwinder);
	t->modules.count = t->modules.next = 0;
	t->generation = generation;
}

static void frame_add(struct thread *t, struct unwinder *u, uint64_t function)
{
	const struct cfi_module *module = module_find(&t->modules, function);

	if (u->count == u->most)
		return;
	memmove(u->frames + 1, u->frames, u->count++ * sizeof(*u->frames));
	u->frames[0] = (struct unwind_frame){
		.address = function, .slot = module ? module->slot : UNWIND_NO_SLOT, .exact = 1};
}

/* For the path that was just unwound. If the tree has no space for it, the record goes to the unknown
 * path, so that its weight is not lost. */
HOT static int walked_open(struct thread *t, uint32_t root, uint64_t bytes, uint64_t now_ns, uint32_t *node)
{
	const struct unwinder *u = &t->unwinder;
	int result = frames_open(t, u->frames, u->count, root, bytes, now_ns, node);

	return result == RING_LOST_MEMORY
		       ? frames_open(t, u->frames, 0, thread_partial_root(t), bytes, now_ns, node)
		       : result;
}

HOT int callpath_open(
	struct thread *t, const struct arch_registers *start, uint64_t bytes, uint64_t now_ns, uint32_t *node)
{
	return callpath_open_into(t, start, 0, bytes, now_ns, node);
}

/* The Python stack as it is now, in t->python; NULL: there is none. */
HOT static const struct python_runtime *python_read(struct thread *t)
{
	const struct python_runtime *runtime = python_runtime();

	if (!runtime || t->unwinder.plugin || !python_stack_read(&t->python, runtime) || !t->python.count)
		return NULL;
	return runtime;
}

uint64_t callpath_beside(struct thread *t)
{
	return (python_read(t) ? python_stack_hash(&t->python) : 0) ^
	       (t->uses_openmp ? openmp_hash(&t->openmp) : 0);
}

/* Recursion is folded once both languages are there: a C frame of the interpreter is any function's. Only
 * where the C stack alone is too deep it is folded first. */
HOT static enum unwind_result python_walk(
	struct thread *t, const struct arch_registers *start, const struct python_runtime *runtime)
{
	struct unwinder *u = &t->unwinder;
	bool folds = u->folds, is_deep;
	enum unwind_result result;
	uint32_t evaluate;

	u->folds = false;
	result = unwind_walk(u, start);
	u->folds = folds;
	is_deep = folds && u->count == u->most;
	if (is_deep)
		result = unwind_walk(u, start);
	evaluate = runtime->layout->entry == PYTHON_ENTRY_EACH ? unwind_function(u, runtime->evaluate) : 0;
	u->count = python_join(&t->python, runtime, u->frames, u->count, u->most, evaluate,
		result == UNWIND_FULL && !is_deep);
	if (folds)
		u->count = unwind_fold(u->frames, u->count);
	return t->python.is_cut ? UNWIND_PARTIAL : result;
}

/* Of a walk that ended among Java's frames, or was guesswork there, the machine may know more. */
static enum unwind_result java_join(
	struct unwinder *u, const struct arch_registers *start, enum unwind_result result)
{
	bool is_whole = result == UNWIND_FULL;
	unsigned made = 0;

	while (made < u->count && u->frames[made].slot != UNWIND_NO_SLOT)
		made++;
	if (made == u->count)
		return result;
	java_trace_want();
	u->count = java_trace_join(start, u->frames, u->count, u->most, &is_whole);
	if (u->folds)
		u->count = unwind_fold(u->frames, u->count);
	return is_whole ? UNWIND_FULL : UNWIND_PARTIAL;
}

/* The path of both languages. The first path that meets the interpreter, or a Java machine, is walked twice.
 */
HOT static enum unwind_result languages_walk(struct thread *t, const struct arch_registers *start)
{
	const struct python_runtime *runtime = python_read(t);
	enum unwind_result result;

	if (runtime)
		result = python_walk(t, start, runtime);
	else
		result = unwind_walk(&t->unwinder, start);
	if (python_runtime_look() && (runtime = python_read(t)))
		result = python_walk(t, start, runtime);
	if (java_blobs_look())
		result = runtime ? python_walk(t, start, runtime) : unwind_walk(&t->unwinder, start);
	if (__builtin_expect(process.settings.java, 0) && !t->unwinder.plugin &&
		(result == UNWIND_PARTIAL || !java_blobs_is_known()))
		result = java_join(&t->unwinder, start, result);
	return result;
}

/* *root: where the path begins, if it is whole. */
HOT static enum unwind_result walk(struct thread *t, const struct arch_registers *start, uint32_t *root)
{
	enum unwind_result result = languages_walk(t, start);
	struct unwinder *u = &t->unwinder;
	bool is_whole = result == UNWIND_FULL;

	*root = t->root;
	if (u->plugin)
		return result;
	if (!t->uses_openmp || !(t->openmp.omits || openmp_is_used(&t->openmp))) {
		u->count = openmp_outside(u->frames, u->count, u->most);
		return result;
	}
	u->count = openmp_join(&t->openmp, u->frames, u->count, u->most, root, &is_whole);
	return is_whole ? UNWIND_FULL : UNWIND_PARTIAL;
}

HOT int callpath_open_into(struct thread *t, const struct arch_registers *start, uint64_t function,
	uint64_t bytes, uint64_t now_ns, uint32_t *node)
{
	struct unwinder *u = &t->unwinder;
	enum unwind_result result;
	uint32_t root;

	caches_check(t);
	u->frames = other_frames(t);
	t->far_reads = 0;
	u->space.memory.low = thread_place.stack_low;
	u->space.memory.high = thread_place.stack_high;
	if (start->value[ARCH_SP] < thread_place.stack_low ||
		start->value[ARCH_SP] >= thread_place.stack_high)
		u->space.memory.high = u->space.memory.low;
	else
		u->space.memory.low = start->value[ARCH_SP] - ARCH_RED_ZONE;
	result = walk(t, start, &root);
	if (function)
		frame_add(t, u, function);
	if (!frames_place(u->frames, u->count))
		u->count = 0, result = UNWIND_PARTIAL;
	ring_count(&t->ring.shared->unwind_faults, u->unreadable);
	return walked_open(t, result == UNWIND_FULL ? root : thread_partial_root(t), bytes, now_ns, node);
}

int callpath_open_origin(struct thread *t, const struct openmp_origin *origin, const uint64_t *constructs,
	unsigned count, uint64_t now_ns, uint32_t *node)
{
	struct unwind_frame *frames = other_frames(t);
	uint32_t root = t->root;
	unsigned frame_count = count;

	if (origin)
		frame_count = openmp_path(frames, t->unwinder.most, origin, constructs, count, &root);
	for (unsigned i = 0; !origin && i < count; i++)
		frames[i] = (struct unwind_frame){
			.address = constructs[i], .slot = UNWIND_RESERVED_SLOT, .exact = 1};
	return frame_count ? frames_open(t, frames, frame_count, root, 0, now_ns, node) : RING_LOST_MEMORY;
}

/* NOLINTNEXTLINE(misc-redundant-expression): they are equal by chance */
static_assert(UNWIND_WALK_MAX <= EVENT_NODES_MAX, "a path may be one recursion");
