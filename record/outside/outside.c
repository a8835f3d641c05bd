/* SPDX-License-Identifier: Apache-2.0 */
/* outside.c - see outside.h: begin, loop and end of a measurement from outside. */
#include "record/outside/outside_internal.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/base/clock.h"
#include "store/base/fd_limit.h"

#define BUSY_MS 20 /* between two passes while records come; the collector waits 50 ms for late ones */
#define IDLE_MS 35
#define ROUNDS_MAX 20	/* of looking for threads that began meanwhile */
#define FORK_NS 2000000 /* between a thread's appearance in /proc and its record */
#define GONE_NS UINT64_C(1000000000)
#define CUT_LEAST 2u	 /* partial paths with a copy that was too small, before it grows */
#define CUT_SHARE 400u	 /* one part in 400 may be so */
#define CUT_WINDOW 1024u /* samples in which they are counted */
#define CUT_GROWTH 2u
#define FIRST_SAMPLES 64u /* with as much as a record holds: they tell how much is needed */
#define FIRST_NS UINT64_C(1000000000)
#define FIRST_THREADS 64u /* of more, events would take long to be opened twice */
#define STACK_STEP 4096u

/* ---- begin ---- */

/* Takes the threads that nobody knows yet. Returns how many; *reason: of the first refusal. */
static unsigned threads_watch(struct outside *outside, struct outside_target *target, int *reason)
{
	char path[40];
	DIR *list;
	struct dirent *entry;
	unsigned found = 0;

	snprintf(path, sizeof(path), "/proc/%u/task", target->pid);
	list = opendir(path);
	if (!list) {
		*reason = *reason ? *reason : errno == ENOENT ? ESRCH : errno;
		return 0;
	}
	while ((entry = readdir(list))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		int refused;

		if (!tid || outside_thread_find(outside, tid))
			continue;
		refused = outside_thread_watch(outside, tid, false);
		if (refused == ESRCH)
			continue;
		if (refused) {
			*reason = *reason ? *reason : refused;
			outside->totals.threads_refused++;
			atomic_fetch_add(&target->shared->threads_unmonitored, 1);
			continue;
		}
		found += outside_thread_new(outside, target, tid, 0, false) != NULL;
	}
	closedir(list);
	return found;
}

/* A thread that began meanwhile has its creator's events, if that had some; then its fork is in the rings. */
static int target_attach(struct outside *outside, uint32_t pid)
{
	const struct timespec moment = {0, FORK_NS};
	struct outside_target *target =
		outside_target_new(outside, &(struct outside_birth){.pid = pid, .begin_ns = clock_now_ns()});
	int reason = 0;

	if (!target)
		return EIO;
	for (int round = 0; round < ROUNDS_MAX && threads_watch(outside, target, &reason) && !reason;
		round++) {
		nanosleep(&moment, NULL);
		outside_records_take(outside, clock_now_ns());
	}
	return target->threads ? 0 : reason ? reason : ESRCH;
}

static int all_attach(struct outside *outside, struct error *error)
{
	const struct outside_plan *plan = &outside->plan;
	char what[40];
	int reason;

	if (plan->is_all) {
		reason = outside_all_watch(outside);
		return reason ? outside_refusal(error, reason, OUTSIDE_ALL) : 0;
	}
	if (plan->parent) {
		reason = outside_thread_watch(outside, (uint32_t)plan->parent, true);
		return reason ? outside_refusal(error, reason, "it") : 0;
	}
	for (unsigned i = 0; i < plan->pid_count; i++) {
		reason = target_attach(outside, plan->pids[i]);
		snprintf(what, sizeof(what), "process %u", plan->pids[i]);
		if (reason == EIO)
			return error_set(error, ERROR_IO,
				"%s cannot be measured: there is no memory for it, or the "
				"collector does not answer",
				what);
		if (reason)
			return outside_refusal(error, reason, what);
	}
	return 0;
}

static bool is_refused(int reason)
{
	return reason == EACCES || reason == EPERM || reason == ENOSYS;
}

int outside_try(const struct outside_plan *plan, struct outside_totals *totals, struct error *error)
{
	struct outside outside = {.plan = *plan, .stack_bytes = OUTSIDE_STACK_LEAST};
	int result = outside_rings_open(&outside, error), reason;
	uint32_t tid = plan->pid_count ? plan->pids[0] : (uint32_t)syscall(SYS_gettid);
	char what[40] = "it";

	if (plan->pid_count)
		snprintf(what, sizeof(what), "process %u", tid);
	reason = result ? 0 : outside_thread_watch(&outside, tid, true);
	totals->without_kernel = outside.without_kernel;
	totals->looks = plan->pid_count && is_refused(outside.refused) ? outside.refused : 0;
	outside_events_close(&outside);
	return reason ? outside_refusal(error, reason, what) : result;
}

/* Perf events are refused to everybody here; `error` then still has the sentence that says so. */
static bool looks_instead(struct outside *outside)
{
	if (!is_refused(outside->refused) || !outside->plan.pid_count || outside->targets)
		return false;
	outside->totals.looks = outside->refused;
	return !outside_looks_begin(outside);
}

static uint32_t threads_count(const struct outside_plan *plan)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < plan->pid_count; i++) {
		char path[40];
		struct stat status;

		snprintf(path, sizeof(path), "/proc/%u/task", plan->pids[i]);
		count += stat(path, &status) || status.st_nlink < 2 ? 0 : (uint32_t)status.st_nlink - 2;
	}
	return count;
}

static uint32_t stack_first(const struct outside_plan *plan)
{
	return plan->stack_bytes				     ? plan->stack_bytes
	       : plan->is_all || threads_count(plan) > FIRST_THREADS ? OUTSIDE_STACK_LEAST
								     : OUTSIDE_STACK_MOST;
}

int outside_open(struct outside **out, const struct outside_plan *plan, struct error *error)
{
	struct outside *outside = calloc(1, sizeof(*outside));
	struct outside_totals totals;
	int result;

	if (!outside)
		return error_memory(error);
	outside->plan = *plan;
	outside->stack_bytes = stack_first(plan);
	outside->is_settled = outside->stack_bytes == OUTSIDE_STACK_LEAST;
	outside->begin_ns = clock_now_ns();
	outside->agent = plan->agent ? realpath(plan->agent, NULL) : NULL;
	if (!outside->agent)
		outside->plan.agent = NULL;
	outside->frames =
		calloc(plan->keeps_recursion ? UNWIND_WALK_MAX : UNWIND_FRAMES_MAX, sizeof(*outside->frames));
	result = outside->frames ? outside_rings_open(outside, error) : error_memory(error);
	if (!result)
		result = all_attach(outside, error);
	if (result && outside->frames && looks_instead(outside))
		result = 0;
	if (result) {
		outside_close(outside, &totals);
		return result;
	}
	*out = outside;
	return 0;
}

/* ---- loop ---- */

/* True if `stop` asks for the end. */
static bool wait_for_records(const struct outside *outside, int stop, int timeout_ms)
{
	struct pollfd polled[64];
	unsigned count = 0;

	polled[count++] = (struct pollfd){stop, POLLIN, 0};
	for (unsigned i = 0; i < outside->cpu_count && count < 64; i++)
		polled[count++] = (struct pollfd){outside->cpus[i].anchor, POLLIN, 0};
	poll(polled, count, timeout_ms);
	return polled[0].revents != 0;
}

/* Half as much again as the first samples have needed. */
static void stack_settle(struct outside *outside, uint64_t now_ns)
{
	uint32_t bytes = outside->need_bytes + outside->need_bytes / 2;

	if (outside->window_samples < FIRST_SAMPLES && now_ns < outside->begin_ns + FIRST_NS)
		return;
	outside->is_settled = true;
	bytes = (bytes + STACK_STEP - 1) / STACK_STEP * STACK_STEP;
	if (bytes >= outside->stack_bytes || outside->plan.stack_bytes)
		return;
	outside->stack_bytes = bytes > OUTSIDE_STACK_LEAST ? bytes : OUTSIDE_STACK_LEAST;
	outside_events_renew(outside);
	outside->window_samples = outside->window_cut = 0;
}

static void stack_judge(struct outside *outside, uint64_t now_ns)
{
	if (!outside->is_settled)
		stack_settle(outside, now_ns);
	if (outside->is_settled && !outside->plan.stack_bytes && outside->stack_bytes < OUTSIDE_STACK_MOST &&
		outside->window_cut >= CUT_LEAST &&
		outside->window_cut * CUT_SHARE > outside->window_samples) {
		outside->stack_bytes *= CUT_GROWTH;
		if (outside->stack_bytes > OUTSIDE_STACK_MOST)
			outside->stack_bytes = OUTSIDE_STACK_MOST;
		outside_events_renew(outside);
		outside->window_samples = outside->window_cut = 0;
	}
	if (outside->window_samples >= CUT_WINDOW)
		outside->window_samples = outside->window_cut = 0;
}

static bool is_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Ends whose records the kernel had no room for. */
static void gone_end(struct outside *outside, uint64_t now_ns)
{
	if (now_ns < outside->gone_ns)
		return;
	outside->gone_ns = now_ns + GONE_NS;
	for (size_t i = outside->child_count; i-- > 0;)
		if (is_gone(outside->children[i].pid))
			outside->children[i] = outside->children[--outside->child_count];
	for (struct outside_target *at = outside->targets; at; at = at->next)
		if (!at->end_ns && is_gone(at->pid))
			outside_target_end(outside, at, EVENT_END_EXIT, now_ns);
}

/* Processes whose threads have all ended. True: none is left. */
static bool targets_sweep(struct outside *outside, uint64_t now_ns)
{
	struct outside_target *next;
	bool is_any = outside->child_count > 0;

	for (struct outside_target *at = outside->targets; at; at = next) {
		bool lives = false, is_named = false;

		next = at->next;
		for (const struct outside_thread *thread = at->threads; thread; thread = thread->next)
			lives |= !thread->has_ended;
		for (size_t i = 0; i < outside->record_count; i++)
			is_named |= outside->records[i].thread->target == at;
		if (!lives && !at->end_ns)
			outside_target_end(outside, at, EVENT_END_EXIT, now_ns);
		if (at->end_ns && !is_named)
			outside_target_free(outside, at);
		else
			is_any = true;
	}
	return !is_any;
}

bool outside_run(struct outside *outside, int stop, uint64_t until_ns)
{
	bool is_over = false, is_asked = false, has_begun = !outside->plan.parent;
	int timeout_ms = 0;

	while (!is_over && !is_asked) {
		uint64_t now_ns;

		is_asked = wait_for_records(outside, stop, timeout_ms);
		now_ns = clock_now_ns();
		if (outside->by_looks)
			outside_looks_take(outside, now_ns);
		timeout_ms = outside->by_looks || outside_records_take(outside, now_ns) ? BUSY_MS : IDLE_MS;
		if (!has_begun && outside->targets) {
			has_begun = true;
			fd_limit_raise(UINT64_MAX); /* the program has its own by now */
		}
		outside_targets_obey(outside, now_ns);
		gone_end(outside, now_ns);
		is_over = targets_sweep(outside, now_ns) && has_begun && !outside->plan.is_all;
		if (!outside->by_looks) {
			outside_threads_look(outside, now_ns);
			stack_judge(outside, now_ns);
		}
		if (until_ns && now_ns >= until_ns)
			break;
		if (until_ns && until_ns - now_ns < (uint64_t)timeout_ms * 1000000u)
			timeout_ms = (int)((until_ns - now_ns) / 1000000u) + 1;
	}
	return is_over;
}

/* ---- end ---- */

void outside_close(struct outside *outside, struct outside_totals *totals)
{
	uint64_t end_ns = clock_now_ns();

	if (!outside)
		return;
	if (outside->by_looks)
		outside_looks_take(outside, end_ns);
	else if (outside->targets)
		outside_records_take(outside, UINT64_MAX);
	outside_events_close(outside);
	while (outside->targets) {
		outside_target_end(outside, outside->targets, EVENT_END_EXIT, end_ns);
		outside_target_free(outside, outside->targets);
	}
	outside->totals.stack_bytes = outside->stack_bytes;
	outside->totals.without_kernel = outside->without_kernel;
	outside->totals.is_blind = outside->is_blind;
	*totals = outside->totals;
	mapped_files_fini(&outside->files);
	free(outside->children);
	free(outside->records);
	free(outside->execs);
	free(outside->agents);
	free(outside->agent);
	free(outside->frames);
	free(outside);
}
