/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_backward.c - what a backward pass does on a GPU stands below the code whose operator it belongs to.
 *
 *   forward thread    main  step  Linear.forward   aten::linear  makes 6, 7  launch: they are
 * Linear.forward's autograd's        Engine::thread_main          AddmmBackward0 (7)  launch reads main  step
 * Linear.forward  <backward>  AddmmBackward0::apply  ...
 *
 * Autograd numbers the backward functions that operators make, by thread, and makes them before the
 * operator's kernels are launched: the first launch with a new number tells where its operator was called, as
 * its path is unwound anyway. Views launch nothing, so theirs is another operator's: they are told apart by
 * name. Where several threads run forward passes numbers are ambiguous, and nothing is told; what runs in the
 * forward thread itself stays where it is.
 *
 * Where a RecordFunction keeps its number is not part of its interface: it is the word that equals autograd's
 * own count in one operator after the other. For that PyTorch tells of operators, from the process's first
 * launch on, until it is found.
 */
#include <errno.h>
#include <string.h>

#include "record/agent/gpu/gpu.h"
#include "record/agent/sample/trace.h"
#include "record/agent/torch/torch.h"

#define FORWARDS 16384u /* functions of one pass: a power of two */
#define MADE_MAX 16u	/* functions that one operator makes */
#define PLACES 64u	/* words of a RecordFunction that may be the number */
#define PLACE_MATCHES 32u
#define PLACE_TRIALS 4096u

/* Where the operator with that number was called. */
struct forward {
	_Atomic uint64_t number; /* + 1; 0: none */
	struct openmp_origin origin;
};

static struct forward forwards[FORWARDS];
static _Atomic uint64_t forward_thread; /* the epoch of the only thread with forward passes; 0: none yet */
static _Atomic bool is_ambiguous;
static uint64_t (*add_callback)(struct torch_callback callback);
static bool (*remove_callback)(uint64_t handle);
static uint64_t (*peek)(void); /* the number of the function that this thread makes next */
static const char *(*name_of)(const void *function);
static uint64_t operators_handle;

/* ---- where the number is ---- */

static _Atomic unsigned number_place; /* in words; 0: not known */
static atomic_flag is_searching = ATOMIC_FLAG_INIT;
static struct {
	uint64_t last;
	unsigned trials, matches[PLACES];
} search;

/* Whether a RecordFunction lies on the calling thread's stack, with so many words. */
static bool is_on_stack(const void *function, unsigned words)
{
	uint64_t at = (uintptr_t)function;

	return at >= thread_place.stack_low && at + words * sizeof(uint64_t) <= thread_place.stack_high;
}

/* Copies of it may lie in the caller's frame, behind the object. */
static void place_decide(void)
{
	for (unsigned i = 1; i < PLACES; i++)
		if (search.matches[i] >= PLACE_MATCHES) {
			atomic_store_explicit(&number_place, i, memory_order_release);
			return;
		}
}

/* Small numbers, and one that was seen, may be anything. */
static void place_search(const void *function)
{
	const uint64_t *words = function;
	uint64_t number = peek();

	if (number < 64 || !is_on_stack(function, PLACES) || atomic_flag_test_and_set(&is_searching))
		return;
	if (number != search.last && search.trials < PLACE_TRIALS) {
		bool is_found = false;

		search.trials++;
		for (unsigned i = 1; i < PLACES; i++)
			is_found |= words[i] == number && ++search.matches[i] >= PLACE_MATCHES;
		search.last = number;
		if (is_found)
			place_decide();
	}
	atomic_flag_clear(&is_searching);
}

/* UINT64_MAX: it has none, or it is not known where. */
static uint64_t number_of(const void *function)
{
	unsigned place = atomic_load_explicit(&number_place, memory_order_acquire);

	return place && is_on_stack(function, place + 1) ? ((const uint64_t *)function)[place] : UINT64_MAX;
}

/* ---- forward ---- */

__attribute__((used)) static void operator_begin(const void *function)
{
	if (thread_self() && !atomic_load_explicit(&number_place, memory_order_relaxed))
		place_search(function);
}

TORCH_START(operator_start, operator_begin)

/* The innermost Python frame of a path; 0: it has none. */
static uint32_t python_node(const struct thread *t, uint32_t node)
{
	uint32_t python = module_slots_python();

	while (node >= EVENT_NODE_FIRST && node - EVENT_NODE_FIRST < t->tree.count) {
		const struct context_node *at = &t->tree.nodes[node - EVENT_NODE_FIRST];

		if (at->slot == python)
			return node;
		node = at->parent;
	}
	return 0;
}

static void forward_put(uint64_t number, const struct openmp_origin *origin)
{
	struct forward *forward = &forwards[number % FORWARDS];

	atomic_store_explicit(&forward->number, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	forward->origin = *origin;
	atomic_store_explicit(&forward->number, number + 1, memory_order_release);
}

/* This thread is the only one so far. */
static bool is_forward_thread(const struct thread *t)
{
	uint64_t none = 0;

	if (!atomic_compare_exchange_strong(&forward_thread, &none, t->epoch) && none != t->epoch)
		atomic_store(&is_ambiguous, true);
	return !atomic_load(&is_ambiguous);
}

static void callbacks_add(void);

static void launched(struct thread *t, uint32_t node)
{
	struct openmp_origin origin = {.tree = &t->tree, .epoch_at = &t->epoch, .epoch = t->epoch};
	uint64_t next = peek(), from;

	callbacks_add();
	if (t->torch_epoch != t->epoch) {
		t->torch_epoch = t->epoch;
		t->torch_made = next; /* those before: by launches of which nothing is known */
	}
	if (next <= t->torch_made || !is_forward_thread(t))
		return;
	origin.node = python_node(t, node);
	from = next - t->torch_made > MADE_MAX ? next - MADE_MAX : t->torch_made;
	for (; origin.node && from < next; from++)
		forward_put(from, &origin);
	t->torch_made = next;
}

/* ---- backward ---- */

static bool forward_find(struct openmp_origin *origin, uint64_t number)
{
	struct forward *forward = &forwards[number % FORWARDS];

	if (atomic_load_explicit(&forward->number, memory_order_acquire) != number + 1)
		return false;
	*origin = forward->origin;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&forward->number, memory_order_relaxed) == number + 1;
}

/* Whether the operator of a backward function only looks at memory in another way, by the function's name. */
static bool is_view(const char *name)
{
	static const char *const views[] = {"Alias", "AsStrided", "Broadcast", "Chunk", "Detach", "Diagonal",
		"Expand", "Flatten", "Imag", "Indices", "Lift", "Movedim", "Narrow", "Permute", "Real",
		"Reshape", "Select", "Slice", "Split", "Squeeze", "Swap", "T", "Transpose", "Unbind",
		"Unflatten", "Unfold", "UnsafeChunk", "UnsafeSplit", "UnsafeView", "Unsqueeze", "Values",
		"View", NULL};

	for (unsigned i = 0; views[i]; i++) {
		size_t size = strlen(views[i]);

		if (strncmp(name, views[i], size) == 0 &&
			((name[size] >= 'A' && name[size] <= 'Z') || !name[size]))
			return true;
	}
	return false;
}

/* The record on top, if it is of a backward function. */
static struct openmp_record *backward_top(struct openmp_thread *o)
{
	uint32_t depth = atomic_load_explicit(&o->depth, memory_order_relaxed);

	return depth && o->records[depth - 1].kind == OPENMP_BACKWARD ? &o->records[depth - 1] : NULL;
}

/* The RecordFunction lies in the frame of the function that it tells of. */
__attribute__((used)) static void backward_begin(const void *function)
{
	struct openmp_record record = {.address = (uintptr_t)function, .kind = OPENMP_BACKWARD};
	struct thread *t = thread_self();
	uint64_t number = t ? number_of(function) : UINT64_MAX;
	struct openmp_record *stale;

	if (number >= UINT64_MAX >> 1 || atomic_load(&is_ambiguous) ||
		t->epoch == atomic_load(&forward_thread) || !forward_find(&record.origin, number) ||
		is_view(name_of(function)))
		return;
	if (!t->uses_openmp) {
		openmp_thread_init(&t->openmp);
		t->uses_openmp = true;
	}
	while ((stale = backward_top(&t->openmp)) && stale->address <= record.address)
		openmp_pop(&t->openmp);
	openmp_push(&t->openmp, &record);
}

TORCH_START(backward_start, backward_begin)

static void backward_end(const void *function, void *context)
{
	struct thread *t = thread_self();
	struct openmp_record *top = t && t->uses_openmp ? backward_top(&t->openmp) : NULL;

	(void)context;
	if (top && top->address == (uintptr_t)function)
		openmp_pop(&t->openmp);
}

/* Once a number's place is known, operators need not be told any longer. */
static void operators_done(void)
{
	static atomic_flag is_done = ATOMIC_FLAG_INIT;

	if (atomic_load_explicit(&number_place, memory_order_relaxed) && !atomic_flag_test_and_set(&is_done))
		remove_callback(operators_handle);
}

static void callbacks_add(void)
{
	static atomic_flag is_added = ATOMIC_FLAG_INIT;
	static _Atomic bool is_ready;
	struct torch_callback callback = {
		.start = (void *)operator_start, .probability = 1, .scopes = {[TORCH_SCOPE_FUNCTION] = 1}};
	int error = errno;

	if (is_ready)
		operators_done();
	if (is_ready || atomic_flag_test_and_set(&is_added)) {
		errno = error;
		return;
	}
	operators_handle = add_callback(callback);
	callback.start = (void *)backward_start;
	callback.end = (void *)backward_end;
	callback.scopes[TORCH_SCOPE_FUNCTION] = 0;
	callback.scopes[TORCH_SCOPE_BACKWARD] = 1;
	add_callback(callback);
	is_ready = true;
	errno = error;
}

void torch_backward_open(const struct torch_library *torch)
{
	if (!torch->peek || !torch->remove)
		return;
	add_callback = torch->add;
	remove_callback = torch->remove;
	peek = torch->peek;
	name_of = torch->name;
	gpu_launch_watch = launched;
}

/* The paths are the parent's threads', whose memory is not there. */
void torch_child(void)
{
	for (unsigned i = 0; i < FORWARDS && atomic_load(&forward_thread); i++)
		atomic_store_explicit(&forwards[i].number, 0, memory_order_relaxed);
	atomic_store(&forward_thread, 0);
	atomic_store(&is_ambiguous, false);
	atomic_flag_clear(&is_searching);
}
