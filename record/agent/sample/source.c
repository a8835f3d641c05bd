/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - chooses a process's sample source: the CPU timer if the kernel ticks as often as requested, else
 * the first perf source that the kernel permits, else the timer. Reports the source and the reason to the
 * collector.
 */
#include "record/agent/sample/source.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/process/process.h"
#include "record/agent/sample/counter.h"

static const struct source *chosen = &source_timer;

uint64_t source_tick_ns(void)
{
	struct timespec tick = {0};

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return (uint64_t)tick.tv_nsec;
}

static const struct source *source_try(const struct source *source, int *reason)
{
	int result = source->open ? source->open() : 0;

	if (result && !*reason)
		*reason = result;
	return result ? NULL : source;
}

/* Go and debuggers are disturbed by any signal: use as few as possible. */
static bool is_wanted(const struct source *source, int reason)
{
	const char *name = process.settings.sampler;

	if (reason == EVENT_SAMPLER_GO || reason == EVENT_SAMPLER_TRACED || process.settings.dormant ||
		process.settings.injected)
		return false;
	if (!name[0])
		return process.settings.period_ns < source_tick_ns();
	return !strcmp(name, source->name) || !strcmp(name, "perf");
}

void source_choose(void)
{
	static const struct source *const order[] = {&source_trap, &source_overflow};
	const struct source *found = NULL;
	int reason = 0;

	source_timers_none();
	for (unsigned i = 0; !found && i < sizeof(order) / sizeof(*order); i++)
		if (is_wanted(order[i], reason))
			found = source_try(order[i], &reason);
	chosen = found ? found : &source_timer;
	strncpy(process.shared->sampler, chosen->name, sizeof(process.shared->sampler) - 1);
	atomic_store(&process.shared->sampler_reason, reason);
}

const struct source *source_chosen(void)
{
	return chosen;
}

static bool has_events(void)
{
	return chosen != &source_timer || source_waits_trap() || counter_count() || source_standby_is_used();
}

/* Needs no descriptors: prctl stops all events that the thread has opened. */
void source_exec_begin(void)
{
	if (process_is_own() && has_events())
		syscall(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0);
}

void source_exec_failed(void)
{
	if (process_is_own() && has_events())
		syscall(SYS_prctl, PR_TASK_PERF_EVENTS_ENABLE, 0, 0, 0, 0);
}
