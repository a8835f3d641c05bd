/* SPDX-License-Identifier: Apache-2.0 */
/* python_gil.c - see python_gil.h. */
#include "record/agent/python/python_gil.h"

#include <stdatomic.h>
#include <string.h>

#include "record/agent/base/safe_read.h"
#include "record/agent/python/python_runtime.h"

/* The one asked for last: mostly the only one. */
static _Atomic uint64_t known_gil;

/* 0: unreadable. */
static uint64_t word_at(uint64_t address)
{
	uint64_t word;

	return safe_read(&word, (const void *)(uintptr_t)address, sizeof(word)) ? word : 0;
}

/* From 3.12 on each interpreter may have its own. */
static uint64_t own_gil(const struct python_runtime *runtime)
{
	const struct python_layout *layout = runtime->layout;
	uint64_t state = (uintptr_t)runtime->state_get(), interpreter;

	if (!state || runtime->is_finalizing())
		return 0;
	interpreter = word_at(state + layout->state_interpreter);
	return interpreter ? word_at(interpreter + layout->interpreter_gil) : 0;
}

uint64_t python_gil_of(const void *condition)
{
	const struct python_runtime *runtime = python_runtime();
	uint64_t gil = (uintptr_t)condition - PYTHON_GIL_CONDITION;

	if (!runtime || !runtime->layout->state_thread)
		return 0;
	if (runtime->layout->runtime_gil)
		return gil == runtime->base + runtime->layout->runtime_gil ? gil : 0;
	if (gil == atomic_load_explicit(&known_gil, memory_order_relaxed))
		return gil;
	if (gil != own_gil(runtime))
		return 0;
	atomic_store_explicit(&known_gil, gil, memory_order_relaxed);
	return gil;
}

bool python_gil_is_taken(uint64_t gil)
{
	uint32_t taken;

	memcpy(&taken, (const void *)(uintptr_t)(gil + PYTHON_GIL_TAKEN), sizeof(taken));
	return taken == 1;
}

uint64_t python_gil_holder(uint64_t gil)
{
	const struct python_runtime *runtime = python_runtime();
	uint64_t state;

	if (!runtime || !python_gil_is_taken(gil))
		return 0;
	memcpy(&state, (const void *)(uintptr_t)(gil + PYTHON_GIL_HOLDER), sizeof(state));
	return state ? word_at(state + runtime->layout->state_thread) : 0;
}
