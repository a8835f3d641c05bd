/* SPDX-License-Identifier: Apache-2.0 */
/* source_perf.c - see source_perf.h. */
#include "record/agent/sample/source_perf.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/base/perf.h"

#define SAFETY_NS UINT64_C(10000000) /* of the timer beside an event that counts kernel hits */
#define TICKS_PATIENT 6

HOT_DATA struct source_perf source_perf;

/* A tick in user code leaves the rest to the next one inside the kernel, unless that should long have
 * come: page faults do not look like system calls. */
HOT void source_perf_tick(struct thread *t, const ucontext_t *context, uint64_t periods)
{
	int64_t period_ns = (int64_t)process.settings.period_ns, owed = source_perf_owed_ns(t);
	int64_t tick_ns = (int64_t)source_perf.tick_ns, least = TICKS_PATIENT * tick_ns;

	(void)periods;
	if (source_perf.kernel)
		least = tick_ns / 2 > 2 * period_ns ? tick_ns / 2 : 2 * period_ns;
	else if (arch_in_system_call(context))
		least = period_ns;
	if (owed < least)
		return;
	t->hit_ns = 0;
	sample_take(t, context, (uint64_t)(owed / period_ns), process_handler_now_ns());
}

int source_perf_open(uint64_t flags)
{
	union perf_attributes all = {.attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = PERF_ATTR_WORDS * sizeof(uint64_t),
					     .config = PERF_COUNT_SW_TASK_CLOCK,
					     .sample_period = process.settings.period_ns,
					     .exclude_kernel = !source_perf.kernel,
					     .exclude_hv = 1,
					     .wakeup_events = 1}};

	if (flags & PERF_SIGTRAP) {
		all.attr.inherit = 1;
		all.words[PERF_SIG_DATA_WORD] = source_trap_data(0);
	} else {
		all.attr.size = PERF_ATTR_SIZE_VER1;
	}
	all.words[PERF_FLAGS_WORD] |= flags;
	return (int)syscall(SYS_perf_event_open, &all, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int source_perf_open_best(uint64_t flags)
{
	int event;

	/* A signal from inside the kernel would interrupt a wait that just began; a trap is delivered when
	 * the call is over. */
	source_perf.kernel = flags & PERF_SIGTRAP;
	event = source_perf_open(flags);
	if (event < 0 && source_perf.kernel && (errno == EACCES || errno == EPERM)) {
		source_perf.kernel = false;
		event = source_perf_open(flags);
	}
	source_perf.tick_ns = source_perf.kernel ? SAFETY_NS : source_tick_ns();
	return event < 0 ? -errno : event;
}
