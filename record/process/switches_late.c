/* SPDX-License-Identifier: Apache-2.0 */
/* switches_late.c - see switches_late.h. */
#include "record/process/switches_late.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/perf.h"
#include "record/base/clock.h"
#include "record/base/proc_read.h"
#include "record/process/switches.h"

#define RING_BYTES (16u * 1024u)

/* A dummy event that writes a record when its thread is switched out or in, as the agent's switches.c has it.
 */
static int event_open(uint32_t tid)
{
	struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.read_format = PERF_COUNTS_LOST,
		.sample_id_all = 1,
		.context_switch = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = RING_BYTES / 8};
	int event = (int)syscall(
		SYS_perf_event_open, &attributes, (pid_t)tid, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);

	if (event >= 0 || errno != EINVAL)
		return event;
	attributes.read_format = 0; /* an older kernel */
	return (int)syscall(
		SYS_perf_event_open, &attributes, (pid_t)tid, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

/* How often a thread that sleeps has begun to, plus 1; 0: it does not sleep, or that is not known. */
static unsigned long sleeps(uint32_t pid, uint32_t tid)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char name[48], text[4096];
	const char *line;

	snprintf(name, sizeof(name), "task/%u/status", tid);
	if (proc_read_state(pid, tid) != 'S' || !proc_read(pid, name, text, sizeof(text)))
		return 0;
	line = strstr(text, key);
	return line ? strtoul(line + strlen(key), NULL, 10) + 1 : 0;
}

static void thread_open(struct measured_process *process, uint32_t tid)
{
	unsigned long asleep = sleeps(process->pid, tid);
	uint64_t now_ns = clock_now_ns();
	int event = event_open(tid);

	if (event < 0 && errno == ESRCH)
		return;
	if (event < 0 || switches_add(&process->switches, event, RING_BYTES, tid)) {
		process->switches_refused++;
		return;
	}
	if (asleep && asleep == sleeps(process->pid, tid))
		switches_asleep(process->switches, tid, now_ns);
	switches_begin(process->switches, tid, clock_now_ns());
}

void switches_late_open(struct measured_process *process)
{
	uint32_t claimed = atomic_load(&process->shared->ring_claimed);

	if (measured_process_proc_pid(process) != process->pid) { /* their numbers are of another namespace */
		process->switches_refused++;
		return;
	}
	for (uint32_t i = 0; i < claimed && i < process->ring_count; i++) {
		const struct event_ring *ring =
			(const struct event_ring *)((const char *)process->shared + process->rings_at +
						    (size_t)i * EVENT_RING_STRIDE);
		uint32_t tid = ring->tid;

		if (atomic_load(&ring->state) == EVENT_RING_CLAIMED && tid &&
			!switches_cover(process->switches, tid))
			thread_open(process, tid);
	}
}
