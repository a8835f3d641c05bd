/* SPDX-License-Identifier: Apache-2.0 */
/* openmp_join.c - see openmp.h. */
#include <string.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/openmp/openmp.h"
#include "record/agent/unwind/module_slots.h"
#include "store/ring/ring.h"

static HOT_DATA _Atomic uint32_t runtimes[OPENMP_RUNTIMES]; /* slot << 16 | its twin's; 0: none */

void openmp_init(void)
{
	for (unsigned i = 0; i < OPENMP_RUNTIMES; i++)
		atomic_store(&runtimes[i], 0);
}

void openmp_thread_init(struct openmp_thread *o)
{
	atomic_store(&o->depth, 0);
	atomic_store(&o->is_worker, false);
	o->team_count = 0;
	o->opened = 0;
	o->is_idle = o->owes = false;
	o->clock = (struct ticks_clock){0};
	o->idle_node = 0;
	o->omits = o->knows_runtime = false;
	o->wait_count = 0;
	memset(o->slots, 0, sizeof(o->slots));
	memset(o->frames, 0, sizeof(o->frames));
	for (unsigned i = 0; i < OPENMP_TEAMS; i++) /* an ended thread's regions are over */
		atomic_store(&o->teams[i].generation, (atomic_load(&o->teams[i].generation) + 1) & ~1u);
}

void openmp_runtime_add(void *modules, uint64_t address)
{
	const struct cfi_module *module = module_find(modules, address);
	uint32_t slot = module ? module->slot : UNWIND_NO_SLOT, twin;

	for (unsigned i = 0; slot != UNWIND_NO_SLOT && i < OPENMP_RUNTIMES; i++) {
		uint32_t known = atomic_load(&runtimes[i]);

		if (known && known >> 16 == slot)
			return;
		if (known)
			continue;
		twin = module_slots_twin(slot);
		if (twin != UNWIND_NO_SLOT)
			atomic_compare_exchange_strong(&runtimes[i], &known, slot << 16 | twin);
		return;
	}
}

/* The slot under which readers hide its frames; 0: it is none of a runtime's. */
HOT static uint16_t twin_of(uint16_t slot)
{
	for (unsigned i = 0; i < OPENMP_RUNTIMES; i++) {
		uint32_t known = atomic_load_explicit(&runtimes[i], memory_order_relaxed);

		if (!known)
			break;
		if (known >> 16 == slot || (known & 0xffff) == slot)
			return (uint16_t)known;
	}
	return 0;
}

HOT static void hide(struct unwind_frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint16_t twin = twin_of(frames[i].slot);

		if (twin)
			frames[i].slot = twin;
		hot_loop();
	}
}

static struct unwind_frame construct(uint64_t frame)
{
	return (struct unwind_frame){.address = frame, .slot = UNWIND_RESERVED_SLOT, .exact = 1};
}

static bool is_gone(const struct openmp_origin *origin)
{
	return !origin->tree || __atomic_load_n(origin->epoch_at, __ATOMIC_ACQUIRE) != origin->epoch;
}

HOT unsigned openmp_path(struct unwind_frame *frames, unsigned most, const struct openmp_origin *origin,
	const uint64_t *constructs, unsigned count, uint32_t *root)
{
	uint32_t node = origin->node;
	unsigned at = 0;

	if (count >= most || is_gone(origin))
		return 0;
	for (; at < count; at++) {
		frames[at] = construct(constructs[at]);
		hot_loop();
	}
	while (node >= EVENT_NODE_FIRST && at < most && node - EVENT_NODE_FIRST < origin->tree->count) {
		const struct context_node *from = &origin->tree->nodes[node - EVENT_NODE_FIRST];

		frames[at++] = (struct unwind_frame){.address = from->offset + module_slots_bias(from->slot),
			.slot = (uint16_t)from->slot,
			.exact = 1};
		node = from->parent;
	}
	if (node >= EVENT_NODE_FIRST || is_gone(origin))
		return 0;
	*root = node;
	return at;
}

/* The first frame from `at` on that is outside the record; `count`: none is. */
HOT static unsigned outside(
	const struct unwind_frame *frames, unsigned count, unsigned at, const struct openmp_record *record)
{
	while (at < count && frames[at].sp <= record->address)
		at++;
	return at;
}

/* What a record adds to a path, innermost first; their number. */
HOT static unsigned constructs_of(const struct openmp_record *record, uint64_t to[2])
{
	switch (record->kind) {
	case OPENMP_BARRIER:
		to[0] = EVENT_FRAME_OMP_BARRIER;
		return 1;
	case OPENMP_TASKWAIT:
		to[0] = EVENT_FRAME_OMP_TASKWAIT;
		return 1;
	case OPENMP_LOCK:
		to[0] = EVENT_FRAME_OMP_LOCK;
		return 1;
	case OPENMP_TASK:
		to[0] = EVENT_FRAME_OMP_TASK;
		return 1;
	case OPENMP_BACKWARD:
		to[0] = EVENT_FRAME_BACKWARD;
		return 1;
	case OPENMP_JOIN:
		to[0] = EVENT_FRAME_OMP_BARRIER;
		to[1] = EVENT_FRAME_OMP_REGION;
		return 2;
	default:
		to[0] = EVENT_FRAME_OMP_REGION;
		return 1;
	}
}

static bool has_origin(const struct openmp_record *record)
{
	return record->kind <= OPENMP_TASK;
}

static unsigned insert(
	struct unwind_frame *frames, unsigned count, unsigned most, unsigned at, uint64_t frame)
{
	if (count == most)
		return count;
	for (unsigned i = count; i > at; i--) {
		frames[i] = frames[i - 1];
		hot_loop();
	}
	frames[at] = construct(frame);
	return count + 1;
}

static unsigned idle_put(struct unwind_frame *frames, unsigned count, unsigned most, bool *is_whole)
{
	if (count == most)
		return count;
	frames[count] = construct(EVENT_FRAME_OMP_IDLE);
	*is_whole = true;
	return count + 1;
}

/* A worker between its regions: of its frames those of the runtime and what it called are left. */
HOT static unsigned idle_join(const struct openmp_thread *o, struct unwind_frame *frames, unsigned count,
	unsigned most, uint32_t *root, bool *is_whole)
{
	const uint64_t constructs[] = {EVENT_FRAME_OMP_BARRIER, EVENT_FRAME_OMP_REGION};
	unsigned inner = count, added;

	while (inner && !twin_of(frames[inner - 1].slot))
		inner--;
	if (!inner || inner == most)
		return count;
	hide(frames, inner);
	added = o->is_idle && !openmp_team_is_over(o->done, o->done_ns)
			? openmp_path(frames + inner, most - inner, &o->done_origin, constructs, 2, root)
			: 0;
	if (added) {
		*is_whole = true;
		return inner + added;
	}
	return idle_put(frames, inner, most, is_whole);
}

/* LLVM's runtime tells a worker's end of a region when the next one begins. */
static bool is_over(const struct openmp_thread *o, uint32_t depth)
{
	const struct openmp_record *record;

	while (depth && o->records[depth - 1].kind > OPENMP_TASK)
		depth--;
	record = depth ? &o->records[depth - 1] : NULL;
	return record && record->kind == OPENMP_REGION && openmp_team_is_over(record->team, record->begin_ns);
}

/* A worker's outermost frame is the runtime's. */
HOT unsigned openmp_outside(struct unwind_frame *frames, unsigned count, unsigned most)
{
	if (!count || !atomic_load_explicit(&runtimes[0], memory_order_relaxed))
		return count;
	if (count < most && twin_of(frames[count - 1].slot)) {
		frames[count] = construct(EVENT_FRAME_OMP_IDLE);
		count++;
	}
	hide(frames, count);
	return count;
}

/* A path that ends where the runtime was called: without the inner frames that are its own. */
static unsigned omit(struct unwind_frame *frames, unsigned count)
{
	unsigned own = 0;

	while (own < count && twin_of(frames[own].slot))
		own++;
	for (unsigned i = own; i < count; i++) {
		frames[i - own] = frames[i];
		hot_loop();
	}
	return count - own;
}

HOT unsigned openmp_join(const struct openmp_thread *o, struct unwind_frame *frames, unsigned count,
	unsigned most, uint32_t *root, bool *is_whole)
{
	uint32_t depth = atomic_load_explicit(&o->depth, memory_order_relaxed);
	unsigned at = 0;

	if (o->omits)
		count = omit(frames, count);
	if (!openmp_is_used(o)) {
		hide(frames, count);
		return count;
	}
	if (!depth || is_over(o, depth))
		return idle_join(o, frames, count, most, root, is_whole);
	for (; depth; depth--) {
		const struct openmp_record *record = &o->records[depth - 1];
		unsigned next = outside(frames, count, at, record), constructs, added;
		uint64_t to[2];

		if (count && next == count && *is_whole)
			continue; /* the program switched to a stack of its own */
		constructs = constructs_of(record, to);
		if (has_origin(record)) {
			added = openmp_path(
				frames + next, most - next, &record->origin, to, constructs, root);
			if (added) {
				hide(frames, next);
				*is_whole = true;
				return next + added;
			}
		}
		count = insert(frames, count, most, next, to[0]);
		at = next + 1;
	}
	hide(frames, count);
	return count;
}

uint64_t openmp_hash(const struct openmp_thread *o)
{
	uint32_t depth = atomic_load_explicit(&o->depth, memory_order_relaxed);
	uint64_t hash = depth + atomic_load_explicit(&o->is_worker, memory_order_relaxed);

	if (!hash)
		return 0;
	for (; depth; depth--) {
		const struct openmp_record *record = &o->records[depth - 1];

		hash = (hash ^ record->kind) * UINT64_C(0x9e3779b97f4a7c15);
		if (!has_origin(record))
			continue;
		hash ^= record->origin.epoch << 32 ^ record->origin.node;
		return hash * UINT64_C(0xbf58476d1ce4e5b9);
	}
	return hash;
}
