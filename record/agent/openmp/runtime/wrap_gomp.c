/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_gomp.c - the wrappers of GNU's OpenMP runtime, which has no interface for tools: regions, whose body
 * is called through a function of ours, and calls that wait. The end of a region is no call: it is the return
 * of the body. Tasks are in wrap_gomp_task.c. Arguments are passed as machine words.
 */
#include "record/agent/base/wrap.h"
#include "record/agent/openmp/runtime/gomp.h"
#include "record/agent/openmp/runtime/region.h"

static void body(void *argument)
{
	const struct openmp_call *call = argument;
	void (*function)(void *) = call->function;
	void *data = call->data;
	struct region_body own;

	region_begin(&own, call->team, call->threads ? (uint32_t)call->threads() : 0,
		(uintptr_t)__builtin_frame_address(0));
	function(data);
	region_end(&own);
	STAY;
}

/* The call for the team; `own`, in the opener's frame, if the region is not measured. */
static struct openmp_call *call_open(struct openmp_call *own, void *caller, uint64_t address, uint64_t code)
{
	struct gomp_real threads = gomp_find(GOMP_INDEX_omp_get_num_threads, caller);
	struct openmp_call *call;

	own->threads = (int (*)(void))threads.function;
	own->team = region_open(address, false, code);
	if (!own->team)
		return own;
	call = &own->team->calls[((uintptr_t)own->function >> 4 ^ (uintptr_t)own->data >> 4) % OPENMP_CALLS];
	if (call->function != own->function || call->data != own->data || call->first != own->first ||
		call->threads != own->threads || call->team != own->team)
		*call = *own;
	return call;
}

/* ---- regions ---- */

#define WORDS long a, long b, long c, long d, long e, long f
#define REGION_CALL(type, result, name)                                                                    \
	struct gomp_real found = gomp_find(GOMP_INDEX_##name, __builtin_return_address(0));                \
	struct openmp_call own = {.first = FIRST(data), .function = function, .data = data}, *call;        \
                                                                                                           \
	if (!found.function)                                                                               \
		function(data);                                                                            \
	if (found.function && found.is_silent)                                                             \
		result((type(*)(void (*)(void *), void *, WORDS))found.function)(                          \
			function, data, a, b, c, d, e, f);                                                 \
	if (found.function && !found.is_silent) {                                                          \
		call = call_open(&own, __builtin_return_address(0), (uintptr_t)__builtin_frame_address(0), \
			(uintptr_t)found.function);                                                        \
		result((type(*)(void (*)(void *), void *, WORDS))found.function)(                          \
			body, call, a, b, c, d, e, f);                                                     \
		if (own.team)                                                                              \
			region_close(own.team);                                                            \
	}                                                                                                  \
	STAY;
#define FIRST(data) NULL
#define OPENS(name)                                                    \
	void name(void (*function)(void *), void *data, WORDS);        \
	WRAPPER void name(void (*function)(void *), void *data, WORDS) \
	{                                                              \
		REGION_CALL(void, , name)                              \
	}

OPENS(GOMP_parallel)
OPENS(GOMP_parallel_sections)
OPENS(GOMP_parallel_loop_static)
OPENS(GOMP_parallel_loop_dynamic)
OPENS(GOMP_parallel_loop_guided)
OPENS(GOMP_parallel_loop_nonmonotonic_dynamic)
OPENS(GOMP_parallel_loop_nonmonotonic_guided)
OPENS(GOMP_parallel_loop_runtime)
OPENS(GOMP_parallel_loop_nonmonotonic_runtime)
OPENS(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

#undef FIRST
#define FIRST(data) (data ? *(void **)data : NULL)
unsigned GOMP_parallel_reductions(void (*function)(void *), void *data, WORDS);
WRAPPER unsigned GOMP_parallel_reductions(void (*function)(void *), void *data, WORDS)
{
	unsigned threads = 1;

	REGION_CALL(unsigned, threads =, GOMP_parallel_reductions)
	return threads;
}

/* ---- calls that wait ---- */

#define WAIT_CALL(type, result, name, kind, parameters, arguments)                          \
	struct gomp_real found = gomp_find(GOMP_INDEX_##name, __builtin_return_address(0)); \
	struct region_wait wait = {.thread = NULL};                                         \
                                                                                            \
	if (found.function && !found.is_silent)                                             \
		region_wait_begin(&wait, kind, (uintptr_t)__builtin_frame_address(0));      \
	if (found.function)                                                                 \
		result((type(*) parameters)found.function) arguments;                       \
	if (wait.thread)                                                                    \
		region_wait_end(&wait, false);                                              \
	STAY;
#define WAITER(name, kind, parameters, arguments)                    \
	void name parameters;                                        \
	WRAPPER void name parameters                                 \
	{                                                            \
		WAIT_CALL(void, , name, kind, parameters, arguments) \
	}
#define WAITER_BOOL(name, kind)                                   \
	bool name(void);                                          \
	WRAPPER bool name(void)                                   \
	{                                                         \
		bool result = false;                              \
		WAIT_CALL(bool, result =, name, kind, (void), ()) \
		return result;                                    \
	}

WAITER(GOMP_barrier, OPENMP_BARRIER, (void), ())
WAITER(GOMP_loop_end, OPENMP_BARRIER, (void), ())
WAITER(GOMP_sections_end, OPENMP_BARRIER, (void), ())
WAITER_BOOL(GOMP_barrier_cancel, OPENMP_BARRIER)
WAITER_BOOL(GOMP_loop_end_cancel, OPENMP_BARRIER)
WAITER_BOOL(GOMP_sections_end_cancel, OPENMP_BARRIER)
WAITER(GOMP_taskwait, OPENMP_TASKWAIT, (void), ())
WAITER(GOMP_taskgroup_end, OPENMP_TASKWAIT, (void), ())
WAITER(GOMP_critical_start, OPENMP_LOCK, (void), ())
WAITER(GOMP_critical_name_start, OPENMP_LOCK, (void **name), (name))
WAITER(GOMP_atomic_start, OPENMP_LOCK, (void), ())
WAITER(GOMP_ordered_start, OPENMP_LOCK, (void), ())
WAITER(omp_set_lock, OPENMP_LOCK, (void *lock), (lock))
WAITER(omp_set_lock_, OPENMP_LOCK, (void *lock), (lock))
WAITER(omp_set_nest_lock, OPENMP_LOCK, (void *lock), (lock))
WAITER(omp_set_nest_lock_, OPENMP_LOCK, (void *lock), (lock))
