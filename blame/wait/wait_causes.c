/* SPDX-License-Identifier: Apache-2.0 */
/* wait_causes.c - see wait_causes.h: puts all causes of waits in order, without overlaps. */
#include "blame/wait/wait_causes.h"

#include <stdlib.h>
#include <string.h>

#include "blame/base/mpi_name.h"
#include "blame/wait/call_waits.h"
#include "blame/wait/lock.h"
#include "blame/wait/wait_causes_internal.h"
#include "store/base/array.h"
#include "store/base/merge_sort.h"

const char *const wait_cause_names[CAUSE_COUNT] = {[CAUSE_UNKNOWN] = "unknown",
	[CAUSE_LOCK] = "lock",
	[CAUSE_GIL] = "gil",
	[CAUSE_CONDITION] = "condition",
	[CAUSE_SEMAPHORE] = "semaphore",
	[CAUSE_BARRIER] = "barrier",
	[CAUSE_JOIN] = "join",
	[CAUSE_CHILD] = "child",
	[CAUSE_PIPE] = "pipe",
	[CAUSE_SOCKET] = "socket",
	[CAUSE_EVENTFD] = "eventfd",
	[CAUSE_SIGNAL] = "signal",
	[CAUSE_TIMER] = "timer",
	[CAUSE_DISK] = "disk",
	[CAUSE_FAULT] = "page-fault",
	[CAUSE_CPU] = "cpu",
	[CAUSE_GPU] = "gpu",
	[CAUSE_LAUNCH] = "launch",
	[CAUSE_MESSAGE] = "message",
	[CAUSE_COLLECTIVE] = "collective"};

bool wait_causes_put(struct wait_causes *causes, const struct wait_cause *cause)
{
	bool is_core = cause->kind == CAUSE_CPU;
	struct wait_cause **list = is_core ? &causes->cores : &causes->list;
	size_t *count = is_core ? &causes->core_count : &causes->count;

	if (!array_widen(list, is_core ? &causes->core_capacity : &causes->capacity, *count, sizeof(**list)))
		return false;
	(*list)[(*count)++] = *cause;
	return true;
}

void wait_causes_fini(struct wait_causes *causes)
{
	free(causes->list);
	free(causes->cores);
	*causes = (struct wait_causes){0};
}

/* The first of a waiter above `stream`, or of that one. */
static size_t bound(const struct wait_cause *list, size_t count, uint32_t stream, bool is_above)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (list[middle].waiter < stream || (is_above && list[middle].waiter == stream))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct wait_cause *wait_causes_of(
	const struct wait_cause *list, size_t list_count, uint32_t stream, size_t *count)
{
	size_t first = bound(list, list_count, stream, false);

	*count = bound(list, list_count, stream, true) - first;
	return list + first;
}

/* ---- calls and locks ---- */

static enum wait_cause_kind kind_of(enum call_wait_state state)
{
	if (state == CALL_WAIT_THREADS)
		return CAUSE_BARRIER;
	return state == CALL_WAIT_LATE_SENDER || state == CALL_WAIT_LATE_RECEIVER ? CAUSE_MESSAGE
										  : CAUSE_COLLECTIVE;
}

/* Who has been let go on and sleeps still waits. */
static uint64_t end_of(struct cause_search *search, const struct call_wait *wait)
{
	uint64_t end_ns = cause_asleep_until(search, wait->waiter, wait->end_ns);

	return end_ns < search->question->end_ns ? end_ns : search->question->end_ns;
}

static int take_calls(struct cause_search *search, struct error *error)
{
	struct call_waits waits;
	int result = call_waits_find(&waits, search->run, search->question, search->arena, error);

	for (size_t i = 0; i < waits.count && !result; i++) {
		const struct call_wait *wait = &waits.list[i];
		struct wait_cause cause = {.begin_ns = wait->begin_ns,
			.end_ns = end_of(search, wait),
			.from_ns = wait->other == CALL_WAIT_UNTOLD ? 0 : wait->from_ns,
			.waiter = wait->waiter,
			.party = wait->other == CALL_WAIT_UNTOLD ? CAUSE_NOBODY : wait->other,
			.context = wait->context,
			.kind = kind_of(wait->state)};

		if (!wait_causes_put(search->causes, &cause))
			result = error_memory(error);
	}
	call_waits_fini(&waits);
	return result;
}

static int take_locks(struct cause_search *search, struct error *error)
{
	struct lock_part *parts;
	size_t count;
	int result = lock_parts(&parts, &count, search->run, search->question, search->arena, error);

	for (size_t i = 0; i < count && !result; i++) {
		bool is_known = parts[i].holder != LOCK_HOLDER_UNKNOWN;
		struct wait_cause cause = {.begin_ns = parts[i].begin_ns,
			.end_ns = parts[i].end_ns,
			.from_ns = is_known ? parts[i].end_ns : 0,
			.waiter = parts[i].waiter,
			.party = is_known ? parts[i].holder : CAUSE_NOBODY,
			.context = parts[i].context,
			.kind = parts[i].is_gil ? CAUSE_GIL : CAUSE_LOCK};

		if (!wait_causes_put(search->causes, &cause))
			result = error_memory(error);
	}
	return result;
}

/* ---- order ---- */

static bool is_mpi(enum wait_cause_kind kind)
{
	return kind == CAUSE_MESSAGE || kind == CAUSE_COLLECTIVE;
}

/* Of two that begin at once the more telling first. */
static int cause_compare(const void *left, const void *right)
{
	const struct wait_cause *a = left, *b = right;

	if (a->waiter != b->waiter)
		return a->waiter < b->waiter ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (is_mpi(a->kind) != is_mpi(b->kind))
		return is_mpi(a->kind) ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->party < b->party ? -1 : a->party > b->party;
}

/* What lies in another, as the poll in a receive of MPI, is its means. Returns how many are left. */
static size_t order(struct wait_cause *list, size_t count)
{
	size_t kept = 0;

	merge_sort(list, count, sizeof(*list), cause_compare);
	for (size_t i = 0; i < count; i++) {
		struct wait_cause cause = list[i];
		const struct wait_cause *last = kept ? &list[kept - 1] : NULL;

		if (last && last->waiter == cause.waiter && cause.begin_ns < last->end_ns)
			cause.begin_ns = last->end_ns;
		if (cause.begin_ns < cause.end_ns)
			list[kept++] = cause;
	}
	return kept;
}

/* ---- what is left ---- */

static bool put_unknown(struct wait_causes *causes, const struct cause_search *search, uint32_t stream,
	uint64_t begin_ns, uint64_t end_ns)
{
	const struct idle_question *question = search->question;
	struct wait_cause cause = {.begin_ns = begin_ns > question->begin_ns ? begin_ns : question->begin_ns,
		.end_ns = end_ns < question->end_ns ? end_ns : question->end_ns,
		.waiter = stream,
		.party = CAUSE_NOBODY};

	return cause.begin_ns >= cause.end_ns || wait_causes_put(causes, &cause);
}

/* The parts of one switch-out in no cause; the first `count` causes are in order. *at: the first of them that
 * may reach into it. */
static bool take_rest(struct wait_causes *causes, const struct cause_search *search,
	const struct cause_switch *blocked, size_t count, size_t *at)
{
	uint64_t now_ns = blocked->out_ns;

	while (*at < count &&
		(causes->list[*at].waiter < blocked->stream ||
			(causes->list[*at].waiter == blocked->stream && causes->list[*at].end_ns <= now_ns)))
		(*at)++;
	for (size_t i = *at; i < count && causes->list[i].waiter == blocked->stream &&
			     causes->list[i].begin_ns < blocked->in_ns;
		i++) {
		uint64_t begin_ns = causes->list[i].begin_ns, end_ns = causes->list[i].end_ns;

		if (begin_ns > now_ns && !put_unknown(causes, search, blocked->stream, now_ns, begin_ns))
			return false;
		now_ns = end_ns > now_ns ? end_ns : now_ns;
	}
	return now_ns >= blocked->in_ns ||
	       put_unknown(causes, search, blocked->stream, now_ns, blocked->in_ns);
}

/* Threads that were switched out, nobody knows why. */
static int take_unknown(struct cause_search *search, struct error *error)
{
	struct wait_causes *causes = search->causes;
	size_t count = causes->count, at = 0;

	for (size_t i = 0; i < search->switch_count; i++)
		if (!search->switches[i].is_runnable &&
			!take_rest(causes, search, &search->switches[i], count, &at))
			return error_memory(error);
	merge_sort(causes->list, causes->count, sizeof(*causes->list), cause_compare);
	return 0;
}

int wait_causes_find(struct wait_causes *causes, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error)
{
	struct cause_search search = {.run = run, .question = question, .causes = causes, .arena = arena};
	struct process *processes;
	int result = process_list(&processes, &search.process_count, run, question->streams,
		question->stream_count, arena, error);

	*causes = (struct wait_causes){0};
	search.processes = processes;
	if (!result)
		result = wait_causes_read(&search, error);
	if (!result)
		result = wait_causes_wakes(&search, error);
	if (!result)
		result = wait_causes_cpu(&search, error);
	if (!result)
		result = wait_causes_gpu(&search, error);
	if (!result && search.has_locks)
		result = take_locks(&search, error);
	if (!result && search.has_calls)
		result = take_calls(&search, error);
	causes->count = order(causes->list, causes->count);
	if (!result)
		result = take_unknown(&search, error);
	causes->core_count = order(causes->cores, causes->core_count);
	free(search.waits);
	free(search.wakes);
	free(search.switches);
	free(search.syncs);
	free(search.launches);
	free(search.parsed);
	key_ids_fini(&search.things);
	key_ids_fini(&search.texts);
	return result;
}

/* ---- without a cause ---- */

/* The kernel's functions tell why it waits. */
static const struct {
	const char *name;
	enum wait_cause_kind kind;
} functions[] = {{"nanosleep", CAUSE_TIMER}, {"clock_nanosleep", CAUSE_TIMER}, {"usleep", CAUSE_TIMER},
	{"sleep", CAUSE_TIMER}, {"thrd_sleep", CAUSE_TIMER}, {"do_nanosleep", CAUSE_TIMER},
	{"fsync", CAUSE_DISK}, {"fdatasync", CAUSE_DISK}, {"handle_mm_fault", CAUSE_FAULT},
	{"do_user_addr_fault", CAUSE_FAULT}, {"filemap_read", CAUSE_DISK}, {"vfs_fsync_range", CAUSE_DISK}};

static bool is_mpi_collective(const char *name)
{
	static const char *const parts[] = {
		"all", "All", "Barrier", "cast", "educe", "ather", "catter", "can"};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(name, parts[i]) && strncmp(name, "MPI_Wait", 8) && strncmp(name, "MPI_Test", 8))
			return true;
	return false;
}

/* libc's and the kernel's are meant; an imported trace has no modules. */
static bool is_system(const struct run_function *function)
{
	return !*function->module || *function->module == '[' || strstr(function->module, "/libc");
}

static enum wait_cause_kind kind_by_name(const struct run_function *function)
{
	const char *name = function->name;
	char plain[MPI_NAME_BYTES];

	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(name, functions[i].name) && is_system(function))
			return functions[i].kind;
	if (mpi_name(plain, name) && !strncmp(plain, "MPI_", 4))
		return is_mpi_collective(plain) ? CAUSE_COLLECTIVE : CAUSE_MESSAGE;
	return CAUSE_UNKNOWN;
}

enum wait_cause_kind wait_cause_by_function(
	struct run *run, struct wait_functions *waits, uint32_t context, enum extent_state state)
{
	static const enum wait_cause_kind targets[] = {[WAITS_FOR_NOTHING] = CAUSE_UNKNOWN,
		[WAITS_FOR_THREAD] = CAUSE_UNKNOWN,
		[WAITS_FOR_THREADS] = CAUSE_BARRIER,
		[WAITS_FOR_RANK] = CAUSE_MESSAGE,
		[WAITS_FOR_RANKS] = CAUSE_COLLECTIVE};
	uint32_t scope = context ? run_context(run, context)->scope : UINT32_MAX;
	enum wait_cause_kind kind = CAUSE_UNKNOWN;

	if (state == EXTENT_SYNC)
		return CAUSE_GPU;
	if (state == EXTENT_RUNNABLE)
		return CAUSE_CPU;
	for (; scope != UINT32_MAX && kind == CAUSE_UNKNOWN; scope = run_scope(run, scope)->parent)
		kind = kind_by_name(run_function(run, run_scope(run, scope)->function));
	return kind == CAUSE_UNKNOWN && context ? targets[wait_functions_target(waits, context)] : kind;
}
