/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_standby.c - `standby`: where the kernel has no timer for a thread (RLIMIT_SIGPENDING is used up), a
 * perf event of that thread alone traps. Its SIGTRAP is synchronous, and takes no place among the signals
 * that wait. A mapping keeps the event alive, as source_overflow.c has it.
 *
 * No timer stands beside it: a sample stands for all of the thread's clock that none stands for yet, system
 * calls included where the kernel's part may not be counted.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/perf.h"
#include "record/agent/sample/source_perf.h"

enum { UNTRIED, IN_HAND, READY, REFUSED };

static _Atomic uint32_t state; /* of what all threads share */
static _Atomic bool is_used;

bool source_standby_is_used(void)
{
	return atomic_load(&is_used);
}

/* The first thread that needs it prepares it; who meets that one at work goes without. */
static bool is_ready(void)
{
	uint32_t was = UNTRIED;

	if (atomic_compare_exchange_strong(&state, &was, IN_HAND)) {
		was = source_trap_prepare() ? REFUSED : READY;
		source_perf.kernel = true;
		source_perf.tick_ns = source_tick_ns();
		atomic_store(&state, was);
	}
	return was == READY;
}

static int event_open(bool kernel)
{
	union perf_attributes all = {.attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = PERF_ATTR_WORDS * sizeof(uint64_t),
					     .config = PERF_COUNT_SW_TASK_CLOCK,
					     .sample_period = process.settings.period_ns,
					     .exclude_kernel = !kernel,
					     .exclude_hv = 1}};

	all.words[PERF_SIG_DATA_WORD] = source_trap_data(0);
	all.words[PERF_FLAGS_WORD] |= PERF_SIGTRAP | PERF_REMOVE_ON_EXEC;
	return (int)syscall(SYS_perf_event_open, &all, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int event_start(struct source_handle *handle)
{
	int event = event_open(true);

	if (event < 0)
		event = event_open(false);
	if (event < 0)
		return -errno;
	handle->mapping = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, event, 0);
	if (handle->mapping == MAP_FAILED)
		handle->mapping = NULL;
	close(event);
	return handle->mapping ? 0 : -1;
}

static void standby_disarm(struct thread *t)
{
	source_trap_thread_remove();
	if (t->handle.mapping)
		munmap(t->handle.mapping, (size_t)sysconf(_SC_PAGESIZE));
	t->handle.mapping = NULL;
}

static int standby_arm(struct thread *t)
{
	if (source_chosen() != &source_timer || !strcmp(process.settings.sampler, source_timer.name) ||
		source_trap_refusal() || !is_ready())
		return -1;
	atomic_store(&is_used, true);
	if (!source_trap_thread_add(t) && !event_start(&t->handle))
		return 0;
	standby_disarm(t);
	return -1;
}

const struct source source_standby = {
	.name = "standby",
	.arm = standby_arm,
	.disarm = standby_disarm,
	.tick = source_perf_tick,
};
