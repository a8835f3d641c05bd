/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_python.c - frames of Python in the samples of a process measured from outside: they are not in the
 * stack that the kernel copies, and are read from the interpreter's memory as soon as a sample is there, 100
 * times a second at most. Samples in between, and those whose frames cannot be known any more, leave their
 * weight to the next one.
 */
#include "record/outside/outside_internal.h"

#include <string.h>

#include "record/base/clock.h"
#include "record/base/proc_read.h"
#include "record/process/remote_python.h"

#define INTERVAL_NS UINT64_C(10000000)
#define FRESH_NS UINT64_C(1000000) /* what ran then still runs */
#define STALE_NS UINT64_C(20000000)
#define NATIVE_NS \
	UINT64_C(500000000) /* after so long without a frame of Python a sample has the interpreter's */

void outside_python_look(struct outside *outside, struct outside_target *target)
{
	unsigned minor;

	if (target->is_python_sought)
		return;
	target->is_python_sought = true;
	target->python = remote_python_open(&target->modules, &minor);
	if (!target->python && minor)
		atomic_store(&target->shared->python_unknown, minor);
	outside->has_python |= target->python != NULL;
}

/* True if the thread still runs, so that what it runs now may stand for the sample. */
static bool is_running(const struct outside_thread *thread)
{
	return proc_read_state(thread->target->pid, thread->tid) == 'R';
}

enum outside_python_taken outside_python_take(
	struct outside *outside, struct outside_thread *thread, uint64_t sampled_ns)
{
	struct outside_target *target = thread->target;
	uint64_t now_ns = clock_now_ns();

	if (!target->end_ns)
		outside_python_look(outside, target);
	if (!target->python || target->end_ns)
		return OUTSIDE_PYTHON_NONE;
	if (now_ns < target->python_next_ns)
		return OUTSIDE_PYTHON_DROP;
	if (now_ns > sampled_ns + STALE_NS || (now_ns > sampled_ns + FRESH_NS && !is_running(thread)))
		return sampled_ns > thread->python_ns + NATIVE_NS ? OUTSIDE_PYTHON_NONE : OUTSIDE_PYTHON_DROP;
	target->python_next_ns = now_ns + INTERVAL_NS;
	if (!remote_python_read(target->python, thread->tid, false))
		return OUTSIDE_PYTHON_NONE;
	thread->python_ns = sampled_ns;
	return OUTSIDE_PYTHON_READ;
}

/* ---- names ---- */

/* The number of the function's entry in the memory that the collector reads; 0: no memory for more. */
static uint32_t number_of(struct outside_target *target, struct remote_python_name *name)
{
	struct event_process *shared = target->shared;
	uint64_t size = (sizeof(struct event_name) + name->bytes + 7) & ~UINT64_C(7);
	uint64_t at = 8 + atomic_load(&shared->names_used);
	struct event_name *entry = (struct event_name *)((char *)shared + shared->names_at + at);

	if (name->number)
		return name->number;
	if (at + size > EVENT_NAMES_DATA) {
		atomic_fetch_add(&shared->names_refused, 1);
		return 0;
	}
	entry->bytes = name->bytes;
	entry->line = name->first_line;
	memcpy(entry->text, name->text, name->bytes);
	atomic_store(&shared->names_used, at - 8 + size);
	name->number = (uint32_t)(at / 8);
	return name->number;
}

/* ---- modules ---- */

static struct event_module *slot_take(struct outside_target *target, uint32_t *slot)
{
	*slot = atomic_load(&target->shared->module_count);
	if (*slot == EVENT_MODULE_MAX) {
		atomic_fetch_add(&target->shared->modules_unlisted, 1);
		return NULL;
	}
	return (struct event_module *)((char *)target->shared + EVENT_MODULES_AT) + *slot;
}

static uint32_t slot_give(struct outside_target *target, uint32_t slot, uint32_t *known)
{
	struct event_module *table = (struct event_module *)((char *)target->shared + EVENT_MODULES_AT);

	atomic_store_explicit(&table[slot].state, EVENT_MODULE_LIVE, memory_order_release);
	atomic_store_explicit(&target->shared->module_count, slot + 1, memory_order_release);
	*known = slot + 1;
	return slot;
}

static uint32_t python_slot(struct outside_target *target)
{
	struct event_module *module;
	uint32_t slot;

	if (target->python_slot)
		return target->python_slot - 1;
	module = slot_take(target, &slot);
	if (!module)
		return UNWIND_NO_SLOT;
	module->language = EVENT_LANGUAGE_PYTHON;
	module->end = UINT64_MAX;
	module->loaded_ns = clock_now_ns();
	return slot_give(target, slot, &target->python_slot);
}

/* The interpreter's file once more. */
static uint32_t hidden_slot(struct outside_target *target, struct remote_unwind_module *interpreter)
{
	struct event_module *table = (struct event_module *)((char *)target->shared + EVENT_MODULES_AT),
			    *module;
	uint32_t slot, of;

	if (target->python_hidden_slot)
		return target->python_hidden_slot - 1;
	of = outside_target_slot(target, interpreter);
	module = of == UNWIND_NO_SLOT ? NULL : slot_take(target, &slot);
	if (!module)
		return UNWIND_NO_SLOT;
	memcpy(module, &table[of], sizeof(*module));
	atomic_store(&module->state, EVENT_MODULE_WRITING);
	module->language = EVENT_LANGUAGE_INTERPRETER;
	return slot_give(target, slot, &target->python_hidden_slot);
}

bool outside_python_frame(
	struct outside_target *target, const struct unwind_frame *frame, uint32_t *slot, uint64_t *offset)
{
	const struct remote_python_frame *python;
	struct remote_unwind_module *module;

	if (!target->python)
		return false;
	python = frame->slot == REMOTE_PYTHON_SLOT ? remote_python_frame(target->python, frame->address)
						   : NULL;
	if (python) {
		*slot = python_slot(target);
		*offset = (uint64_t)number_of(target, python->name) << EVENT_PYTHON_LINE_BITS | python->line;
		return true;
	}
	if (frame->slot != REMOTE_PYTHON_HIDDEN)
		return false;
	module = remote_unwind_modules_find(&target->modules, frame->address);
	if (!module)
		return false;
	*slot = hidden_slot(target, module);
	*offset = frame->address - module->bias;
	return true;
}

const struct unwind_frame *outside_python_join(struct outside_target *target, bool is_whole, unsigned *count)
{
	return remote_python_join(
		target->python, &target->modules, target->unwinder->frames, count, is_whole);
}

void outside_python_free(struct outside_target *target)
{
	remote_python_free(target->python);
	target->python = NULL;
}
