/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_gomp_task.c - tasks of GNU's OpenMP runtime. It copies a task's argument; ours is copied instead, with
 * the program's behind it, so that whoever runs the task knows where it was created:
 *
 *   | start | end | reductions | function, data, origin, ... | padding | the program's argument |
 *      the runtime writes the first two of a taskloop, and reads the third       aligned as it asked
 */
#include <stddef.h>
#include <string.h>

#include "record/agent/base/wrap.h"
#include "record/agent/openmp/runtime/gomp.h"
#include "record/agent/openmp/runtime/region.h"

#define TASK_DETACHES (1u << 13) /* of `flags`: its event is written into the argument */
#define LOOP_WORDS 3

struct gomp_task {
	long words[LOOP_WORDS];
	void (*function)(void *);
	void *data;
	void (*copy)(void *, void *);
	long bytes;
	size_t offset; /* of the program's argument in a copy */
	bool is_loop;
	struct openmp_origin origin;
};

/* The runtime runs a task that it does not defer on our original, if there is nothing to be copied. */
static void body(void *argument)
{
	struct gomp_task *task = argument;
	struct region_body own;

	if (task->is_loop)
		memcpy(task->data, task->words, 2 * sizeof(long));
	region_task_begin(&own, &task->origin, (uintptr_t)__builtin_frame_address(0));
	task->function(task->data);
	region_task_end(&own);
	STAY;
}

static void copy(void *to, void *from)
{
	struct gomp_task *copied = to;
	const struct gomp_task *task = from;

	*copied = *task;
	copied->data = (char *)to + task->offset;
	if (task->copy)
		task->copy(copied->data, task->data);
	else
		memcpy(copied->data, task->data, (size_t)task->bytes);
	STAY;
}

/* *align: grows to what our copy needs. Returns the bytes of one. */
static long task_make(struct gomp_task *task, long *align)
{
	const long least = _Alignof(struct gomp_task);

	*align = *align > least ? *align : least;
	task->offset = (sizeof(*task) + (size_t)*align - 1) / (size_t)*align * (size_t)*align;
	if (task->is_loop && task->data && task->bytes >= (long)sizeof(task->words))
		memcpy(task->words, task->data, sizeof(task->words));
	task->origin = region_origin(NULL);
	/* Copies may stand side by side. */
	return (long)((task->offset + (size_t)task->bytes + (size_t)*align - 1) / (size_t)*align *
		      (size_t)*align);
}

#define TASK_PARAMETERS \
	void (*function)(void *), void *data, void (*copier)(void *, void *), long bytes, long align

void GOMP_task(TASK_PARAMETERS, bool is_deferred, unsigned flags, void **depend, int priority, void *event);
WRAPPER void GOMP_task(
	TASK_PARAMETERS, bool is_deferred, unsigned flags, void **depend, int priority, void *event)
{
	struct gomp_real found = gomp_find(GOMP_INDEX_GOMP_task, __builtin_return_address(0));
	void (*go)(void (*)(void *), void *, void (*)(void *, void *), long, long, bool, unsigned, void **,
		int, void *) = NULL;
	struct gomp_task task = {.function = function, .data = data, .copy = copier, .bytes = bytes};

	memcpy(&go, &found.function, sizeof(go));
	if (!go) {
		function(data);
	} else if (found.is_silent || flags & TASK_DETACHES || bytes < 0) {
		go(function, data, copier, bytes, align, is_deferred, flags, depend, priority, event);
	} else {
		bytes = task_make(&task, &align);
		go(body, &task, copy, bytes, align, is_deferred, flags, depend, priority, event);
	}
	STAY;
}

#define TASKLOOP(name, word)                                                                                \
	void name(TASK_PARAMETERS, unsigned flags, unsigned long tasks, int priority, word start, word end, \
		word step);                                                                                 \
	WRAPPER void name(TASK_PARAMETERS, unsigned flags, unsigned long tasks, int priority, word start,   \
		word end, word step)                                                                        \
	{                                                                                                   \
		struct gomp_real found = gomp_find(GOMP_INDEX_##name, __builtin_return_address(0));         \
		void (*go)(void (*)(void *), void *, void (*)(void *, void *), long, long, unsigned,        \
			unsigned long, int, word, word, word) = NULL;                                       \
		struct gomp_task task = {.function = function,                                              \
			.data = data,                                                                       \
			.copy = copier,                                                                     \
			.bytes = bytes,                                                                     \
			.is_loop = true};                                                                   \
                                                                                                            \
		memcpy(&go, &found.function, sizeof(go));                                                   \
		if (go && (found.is_silent || bytes < (long)(2 * sizeof(long)))) {                          \
			go(function, data, copier, bytes, align, flags, tasks, priority, start, end, step); \
		} else if (go) {                                                                            \
			bytes = task_make(&task, &align);                                                   \
			go(body, &task, copy, bytes, align, flags, tasks, priority, start, end, step);      \
		}                                                                                           \
		STAY;                                                                                       \
	}
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
