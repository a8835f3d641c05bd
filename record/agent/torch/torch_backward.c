/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_backward.c - what a backward pass does on a GPU stands below the code whose operator it belongs to.
 *
 *   forward thread    main  step  Linear.forward   aten::linear  makes 6, 7  launch: they are
 * Linear.forward's autograd's        Engine::thread_main          AddmmBackward0 (7)  launch reads main  step
 * Linear.forward  <backward>  AddmmBackward0::apply  ...
 *
 * Autograd numbers the backward functions that operators make, in each thread from 0 on, and makes them
 * before the operator's kernels are launched: the first launch with a new number tells where its operator was
 * called, as its path is unwound anyway. Views launch nothing, so theirs is another operator's: they are told
 * apart by name. What runs in the forward thread itself stays where it is.
 *
 * Where a RecordFunction keeps the number and the forward thread's is not part of its interface. The number
 * is the word that equals autograd's own count, or -1, in one operator after the other: for that PyTorch tells of
 * operators, from the process's first launch on, until it is found. The thread is a word behind it that is 0
 * in operators, and in backward functions, one after the other, that of a thread which made that number.
 * Nothing is told before both are known.
 */
#include <errno.h>
#include <string.h>

#include "record/agent/gpu/gpu.h"
#include "record/agent/sample/trace.h"
#include "record/agent/torch/torch.h"

#define FORWARDS 16384u /* functions of one pass: a power of two */
#define MADE_MAX 16u	/* functions that one operator makes */
#define PLACES 64u	/* words of a RecordFunction that may be the number */
#define PLACE_MATCHES 16u
#define NUMBER_LEAST 32u /* smaller ones may be anything */
#define PLACE_TRIALS 4096u		 /* different numbers */
#define OPERATORS_MAX (PLACE_TRIALS * 64) /* looked at */

/* A backward function as autograd identifies it: by the thread that made it, and the thread's count. */
struct identity {
	uint64_t thread, number;
};

/* Where the operator was called that made that function. */
struct forward {
	_Atomic uint64_t number; /* + 1; 0: none */
	_Atomic uint64_t thread;
	struct openmp_origin origin;
};

static struct forward forwards[FORWARDS];
static atomic_flag is_putting = ATOMIC_FLAG_INIT; /* never waited for */
static _Atomic bool has_forwards;
static uint64_t (*add_callback)(struct torch_callback callback);
static bool (*remove_callback)(uint64_t handle);
static uint64_t (*peek)(void);	     /* the number of the function that this thread makes next */
static uint64_t (*own_thread)(void); /* PyTorch's number of the calling thread, from 1 on, never used again */
static const char *(*name_of)(const void *function);
static uint64_t operators_handle;

/* ---- where operators were called ---- */

static struct forward *forward_at(struct identity of)
{
	return &forwards[(of.number + of.thread * UINT64_C(0x9e3779b97f4a7c15)) % FORWARDS];
}

/* Threads may meet at one place: one of them puts nothing then. */
static void forward_put(struct identity of, const struct openmp_origin *origin)
{
	struct forward *forward = forward_at(of);

	if (atomic_flag_test_and_set_explicit(&is_putting, memory_order_acquire))
		return;
	atomic_store_explicit(&forward->number, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&forward->thread, of.thread, memory_order_relaxed);
	forward->origin = *origin;
	atomic_store_explicit(&forward->number, of.number + 1, memory_order_release);
	atomic_flag_clear_explicit(&is_putting, memory_order_release);
}

static bool forward_find(struct openmp_origin *origin, struct identity of)
{
	struct forward *forward = forward_at(of);

	if (atomic_load_explicit(&forward->number, memory_order_acquire) != of.number + 1 ||
		atomic_load_explicit(&forward->thread, memory_order_relaxed) != of.thread)
		return false;
	*origin = forward->origin;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&forward->number, memory_order_relaxed) == of.number + 1 &&
	       atomic_load_explicit(&forward->thread, memory_order_relaxed) == of.thread;
}

/* ---- where the numbers are ---- */

static _Atomic unsigned number_place, maker_place; /* in words; 0: not known */
static _Atomic uint64_t zeros = ~UINT64_C(0); /* places of words that were 0 in all operators looked at */
static atomic_flag is_searching = ATOMIC_FLAG_INIT;
static struct {
	uint64_t last;
	unsigned trials, operators, matches[PLACES];
	uint64_t matched[PLACES]; /* the last number seen there: it counts once */
} search;
static unsigned maker_matches[PLACES];

_Static_assert(PLACES <= 64, "a bit for each");

/* How many words of a RecordFunction, and behind it, are the calling thread's stack, at most PLACES. */
static unsigned words_of(const void *function)
{
	uint64_t at = (uintptr_t)function, words = (thread_place.stack_high - at) / sizeof(uint64_t);

	if (at < thread_place.stack_low || at >= thread_place.stack_high)
		return 0;
	return words < PLACES ? (unsigned)words : PLACES;
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

/* Small numbers, and one that was seen, may be anything. Many operators have none, which is -1: of a compiled
 * graph only the call of it has one, ahead of all that it makes and does. */
static void place_search(const void *function)
{
	const uint64_t *words = function;
	uint64_t number = peek();

	if (number < NUMBER_LEAST || words_of(function) < PLACES || atomic_flag_test_and_set(&is_searching))
		return;
	search.trials += number != search.last;
	search.last = number;
	if (search.trials < PLACE_TRIALS && search.operators++ < OPERATORS_MAX) {
		bool is_found = false;

		for (unsigned i = 1; i < PLACES; i++) {
			if (words[i] == number && search.matched[i] != number) {
				search.matched[i] = number;
				is_found |= ++search.matches[i] >= PLACE_MATCHES;
			} else if (words[i] != number && words[i] != UINT64_MAX) {
				search.matches[i] = 0;
			}
			if (words[i])
				atomic_fetch_and_explicit(&zeros, ~(UINT64_C(1) << i), memory_order_relaxed);
		}
		if (is_found)
			place_decide();
	}
	atomic_flag_clear(&is_searching);
}

/* Of a backward function that another thread made. */
static void maker_search(const uint64_t *words, unsigned count, unsigned place)
{
	uint64_t candidates = atomic_load_explicit(&zeros, memory_order_relaxed), own = own_thread();

	if (atomic_flag_test_and_set(&is_searching))
		return;
	for (unsigned i = place + 1; i < count && !atomic_load(&maker_place); i++) {
		struct openmp_origin origin;

		if ((candidates >> i & 1) && words[i] && words[i] != own &&
			forward_find(&origin, (struct identity){words[i], words[place]}) &&
			++maker_matches[i] >= PLACE_MATCHES)
			atomic_store_explicit(&maker_place, i, memory_order_release);
	}
	atomic_flag_clear(&is_searching);
}

/* False: it has no number, or not all is known yet. */
static bool identity_of(const void *function, struct identity *of)
{
	const uint64_t *words = function;
	unsigned place = atomic_load_explicit(&number_place, memory_order_acquire), maker,
		 count = words_of(function);

	if (!place || place >= count || words[place] >= UINT64_MAX >> 1)
		return false;
	maker = atomic_load_explicit(&maker_place, memory_order_acquire);
	if (!maker)
		maker_search(words, count, place);
	if (!maker || maker >= count)
		return false;
	*of = (struct identity){words[maker], words[place]};
	return true;
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

static void callbacks_add(void);

static void launched(struct thread *t, uint32_t node)
{
	struct openmp_origin origin = {.tree = &t->tree, .epoch_at = &t->epoch, .epoch = t->epoch};
	struct identity of = {own_thread(), 0};
	uint64_t next = peek();

	callbacks_add();
	if (t->torch_epoch != t->epoch) {
		t->torch_epoch = t->epoch;
		t->torch_made = next; /* those before: by launches of which nothing is known */
	}
	if (next <= t->torch_made)
		return;
	origin.node = python_node(t, node);
	of.number = next - t->torch_made > MADE_MAX ? next - MADE_MAX : t->torch_made;
	for (; origin.node && of.number < next; of.number++)
		forward_put(of, &origin);
	atomic_store_explicit(&has_forwards, true, memory_order_relaxed);
	t->torch_made = next;
}

/* ---- backward ---- */

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
	struct openmp_record *stale;
	struct identity of;

	if (!t || !identity_of(function, &of) || of.thread == own_thread() ||
		!forward_find(&record.origin, of) || is_view(name_of(function)))
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
	if (!torch->peek || !torch->remove || !torch->thread)
		return;
	add_callback = torch->add;
	remove_callback = torch->remove;
	peek = torch->peek;
	own_thread = torch->thread;
	name_of = torch->name;
	gpu_launch_watch = launched;
}

/* The paths are the parent's threads', whose memory is not there. */
void torch_child(void)
{
	for (unsigned i = 0; i < FORWARDS && atomic_load(&has_forwards); i++)
		atomic_store_explicit(&forwards[i].number, 0, memory_order_relaxed);
	atomic_store(&has_forwards, false);
	atomic_flag_clear(&is_putting);
	atomic_flag_clear(&is_searching);
}
