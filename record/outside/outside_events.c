/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside_events.c - the perf events of a measurement from outside. Each thread has one per processor, all of
 * which write into that processor's ring: so what the threads start inherits them, and 1000 threads need no
 * more memory than one.
 *
 * The size of the stack copies belongs to the event: if it turns out too small, all threads get new events,
 * which the kernel numbers upwards, and the old ones are closed. Between the two both write; the record's
 * event and time say which one counts.
 */
#include "record/outside/outside_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/base/clock.h"
#include "record/outside/outside_perf.h"
#include "store/base/array.h"
#include "store/base/fd_limit.h"

#define DATA_BYTES (512u * 1024u)		/* of a ring: what perf_event_mlock_kb allows each user */
#define DATA_BYTES_MOST (4096u * 1024u)		/* where more may be pinned: a busy machine lets us wait */
#define DATA_TOTAL (UINT64_C(32) * 1024 * 1024) /* of all rings, where there are many processors */
#define DATA_BYTES_LEAST (128u * 1024u)
#define DESCRIPTORS_KEPT 64u /* for memories, pipes and files */
#define CPUS_ABSENT 64u	     /* numbers in a row that are no processor: none comes behind them */

/* As soon as with the usual ring. */
static uint32_t wake_bytes(const struct outside *outside)
{
	return (outside->data_bytes < DATA_BYTES ? outside->data_bytes : DATA_BYTES) / 4;
}

static struct perf_event_attr attributes(const struct outside *outside)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(struct perf_event_attr),
		.sample_period = outside->plan.period_ns,
		.sample_type = OUTSIDE_SAMPLE_TYPE,
		.sample_regs_user = OUTSIDE_REGISTERS,
		.sample_stack_user = outside->stack_bytes,
		.exclude_kernel = outside->without_kernel,
		.exclude_hv = 1,
		.exclude_callchain_user = !OUTSIDE_CHAINS_SWITCH,
		.exclude_callchain_kernel = outside->without_kernel,
		.inherit = !outside->plan.is_all,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.context_switch = 1,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.mmap = 1,
		.mmap2 = 1,
		.sample_id_all = 1,
		/* Frames of Python are read when a sample has been taken, before they are others. */
		.watermark = !outside->has_python,
		.wakeup_watermark = outside->has_python ? 1 : wake_bytes(outside)};
}

static int event_open(struct perf_event_attr *attribute, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attribute, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ---- rings ---- */

/* "0-3,8": calls `take` for each number. */
static void online_walk(struct outside *outside, const char *text, void (*take)(struct outside *, unsigned))
{
	while (*text >= '0' && *text <= '9') {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && last < 65536; first++)
			take(outside, (unsigned)first);
		text = *end == ',' ? end + 1 : end;
	}
}

static void cpu_add(struct outside *outside, unsigned number)
{
	struct outside_cpu *grown = realloc(outside->cpus, (outside->cpu_count + 1) * sizeof(*grown));

	if (!grown)
		return;
	outside->cpus = grown;
	grown[outside->cpu_count++] = (struct outside_cpu){.anchor = -1, .number = number};
}

static struct perf_event_attr anchor_attributes(const struct outside *outside)
{
	struct perf_event_attr attribute = attributes(outside);

	attribute.config = PERF_COUNT_SW_DUMMY;
	attribute.sample_period = 0;
	attribute.inherit = attribute.context_switch = attribute.task = attribute.comm = attribute.mmap = 0;
	attribute.comm_exec = attribute.mmap2 = 0;
	attribute.exclude_kernel = 1;
	attribute.disabled = 1;
	return attribute;
}

/* Whether an event can be opened there. */
static bool cpu_is_there(const struct outside *outside, unsigned number)
{
	struct perf_event_attr attribute = anchor_attributes(outside);
	int event = event_open(&attribute, 0, (int)number);

	if (event >= 0)
		close(event);
	return event >= 0;
}

/* Where there is no /sys (a bare root file system) each number is tried, until many in a row are none. */
static void cpus_find(struct outside *outside)
{
	char text[1024] = "";
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");

	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	online_walk(outside, text, cpu_add);
	if (outside->cpu_count)
		return;
	for (unsigned number = 0, absent = 0; absent < CPUS_ABSENT; number++) {
		bool is_there = cpu_is_there(outside, number);

		absent = is_there ? 0 : absent + 1;
		if (is_there)
			cpu_add(outside, number);
	}
	if (!outside->cpu_count)
		cpu_add(outside, 0); /* ring_open says what is wrong */
}

/* An event of our own that never counts, but owns the ring. 0 or an errno. */
static int ring_open(struct outside *outside, struct outside_cpu *cpu)
{
	struct perf_event_attr attribute = anchor_attributes(outside);

	cpu->anchor = event_open(&attribute, 0, (int)cpu->number);
	if (cpu->anchor < 0)
		return errno;
	cpu->memory = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + outside->data_bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED, cpu->anchor, 0);
	if (cpu->memory != MAP_FAILED)
		return 0;
	cpu->memory = NULL;
	return errno == EPERM ? ENOMEM : errno;
}

static void rings_close(struct outside *outside)
{
	for (unsigned i = 0; i < outside->cpu_count; i++) {
		struct outside_cpu *cpu = &outside->cpus[i];

		if (cpu->memory)
			munmap(cpu->memory, (size_t)sysconf(_SC_PAGESIZE) + outside->data_bytes);
		if (cpu->anchor >= 0)
			close(cpu->anchor);
		cpu->memory = NULL;
		cpu->anchor = -1;
	}
}

static int rings_try(struct outside *outside)
{
	int reason = 0;

	for (unsigned i = 0; i < outside->cpu_count && !reason; i++)
		reason = ring_open(outside, &outside->cpus[i]);
	if (reason)
		rings_close(outside);
	return reason;
}

static long paranoid_level(void)
{
	long level = -2;
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (file && fscanf(file, "%ld", &level) != 1)
		level = -2;
	if (file)
		fclose(file);
	return level;
}

bool outside_may_all(void)
{
	struct perf_event_attr attribute = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attribute),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1};
	int event = event_open(&attribute, -1, 0);

	if (event >= 0)
		close(event);
	return event >= 0;
}

int outside_refusal(struct error *error, int reason, const char *what)
{
	bool is_all = !strcmp(what, OUTSIDE_ALL);

	switch (reason) {
	case EACCES:
		if (is_all)
			return error_set(error, ERROR_IO,
				"%s may be measured by root, with CAP_PERFMON, or where "
				"kernel.perf_event_paranoid is 0 (it is %ld); as another user, name your own "
				"processes by -p or --comm",
				what, paranoid_level());
		if (paranoid_level() > 2)
			return error_set(error, ERROR_IO,
				"%s cannot be measured from outside: kernel.perf_event_paranoid is %ld; set "
				"it "
				"to 2 (sysctl kernel.perf_event_paranoid=2), or load an agent by --inject, "
				"which needs no perf events",
				what, paranoid_level());
		return error_set(error, ERROR_IO,
			"%s may not be measured by this user: it belongs to another one, or changed its "
			"user; "
			"measure it as that user or as root",
			what);
	case EPERM:
	case ENOSYS:
		return error_set(error, ERROR_IO,
			"%s cannot be measured from outside: perf_event_open is forbidden here (%s), as by a "
			"container's seccomp filter; allow it, or load an agent by --inject, which needs no "
			"perf "
			"events",
			what, strerror(reason));
	case ENOMEM:
		return error_set(error, ERROR_IO,
			"%s cannot be measured from outside: no more memory may be pinned for perf events; "
			"end other perf sessions, or raise kernel.perf_event_mlock_kb or ulimit -l",
			what);
	case EMFILE:
	case ENFILE:
		return error_set(error, ERROR_IO,
			"%s has more threads than descriptors are left: one a thread and processor; raise "
			"ulimit -Hn",
			what);
	case ESRCH:
		return error_set(error, ERROR_USAGE, "%s has ended", what);
	case ENOENT:
		if (is_all) /* of a controller of the first version that is not perf's */
			return error_set(error, ERROR_USAGE,
				"the kernel counts no events of that control group; name one of cgroup2 "
				"(often "
				"below /sys/fs/cgroup/unified) or of the controller perf_event, or its "
				"processes "
				"by -p");
		/* fall through */
	default:
		return error_set(
			error, ERROR_IO, "%s cannot be measured from outside: %s", what, strerror(reason));
	}
}

/* Whether the kernel's part may be sampled, too: then system calls have samples of their own. */
static void privilege_find(struct outside *outside)
{
	struct perf_event_attr attribute = attributes(outside);
	int event;

	attribute.disabled = 1;
	attribute.exclude_kernel = 0;
	event = event_open(&attribute, 0, -1);
	outside->without_kernel = event < 0;
	if (event >= 0)
		close(event);
}

int outside_rings_open(struct outside *outside, struct error *error)
{
	int reason;

	if (!outside->plan.parent) /* what we start would inherit it: outside_run raises it then */
		fd_limit_raise(UINT64_MAX);
	cpus_find(outside);
	outside->scratch = malloc(65536);
	if (!outside->cpu_count || !outside->scratch)
		return error_memory(error);
	outside->data_bytes = DATA_BYTES_MOST;
	while (outside->data_bytes > DATA_BYTES &&
		outside->cpu_count * (uint64_t)outside->data_bytes > DATA_TOTAL)
		outside->data_bytes /= 2;
	privilege_find(outside);
	while ((reason = rings_try(outside)) == ENOMEM && outside->data_bytes > DATA_BYTES_LEAST)
		outside->data_bytes /= 2;
	outside->refused = reason;
	return reason ? outside_refusal(error, reason, outside->plan.parent ? "it" : "a process") : 0;
}

/* ---- events ---- */

static bool may_open(const struct outside *outside)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ||
	       outside->event_count + outside->cpu_count + DESCRIPTORS_KEPT < limit.rlim_cur;
}

/* `flags`: of perf_event_open. */
static int watch(struct outside *outside, pid_t who, bool is_start, unsigned long flags)
{
	struct perf_event_attr attribute = attributes(outside);
	size_t before = outside->event_count;
	int reason = may_open(outside) ? 0 : EMFILE;

	attribute.disabled = attribute.enable_on_exec = is_start;
	for (unsigned i = 0; i < outside->cpu_count && !reason; i++) {
		int event = -1;

		if (!array_widen((void **)&outside->events, &outside->event_capacity, outside->event_count,
			    sizeof *outside->events))
			return ENOMEM;
		event = (int)syscall(SYS_perf_event_open, &attribute, who, (int)outside->cpus[i].number, -1,
			flags | PERF_FLAG_FD_CLOEXEC);
		reason = event < 0 ? errno : 0;
		if (event < 0)
			break;
		outside->events[outside->event_count++] = event;
		if (ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, outside->cpus[i].anchor))
			reason = errno;
	}
	while (reason && outside->event_count > before)
		close(outside->events[--outside->event_count]);
	return reason;
}

int outside_thread_watch(struct outside *outside, uint32_t tid, bool is_start)
{
	return watch(outside, (pid_t)tid, is_start, 0);
}

int outside_all_watch(struct outside *outside)
{
	int group, reason;

	if (!outside->plan.cgroup)
		return watch(outside, -1, false, 0); /* whoever runs there */
	group = open(outside->plan.cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (group < 0)
		return errno;
	reason = watch(outside, group, false, PERF_FLAG_PID_CGROUP);
	close(group);
	return reason;
}

static uint64_t newest_id(const struct outside *outside)
{
	uint64_t id = 0;

	if (outside->event_count)
		ioctl(outside->events[outside->event_count - 1], PERF_EVENT_IOC_ID, &id);
	return id;
}

/* Threads that cannot get new events keep the old ones' children only until those are closed: so all or none.
 */
void outside_events_renew(struct outside *outside)
{
	size_t old = outside->event_count;
	uint64_t newest = newest_id(outside);
	int reason = 0;

	if (outside->plan.is_all)
		reason = outside_all_watch(outside);
	for (struct outside_target *at = outside->targets; at && !reason && !outside->plan.is_all;
		at = at->next)
		for (struct outside_thread *thread = at->threads; thread && !reason; thread = thread->next) {
			reason = thread->has_ended ? 0 : outside_thread_watch(outside, thread->tid, false);
			reason = reason == ESRCH ? 0 : reason;
		}
	for (size_t i = 0; i < outside->child_count && !reason && !outside->plan.is_all; i++) {
		reason = outside_thread_watch(outside, outside->children[i].pid, false);
		reason = reason == ESRCH ? 0 : reason;
	}
	if (reason) {
		while (outside->event_count > old)
			close(outside->events[--outside->event_count]);
		return;
	}
	outside->cut_ns = clock_now_ns();
	outside->first_id = newest + 1;
	for (size_t i = 0; i < old; i++)
		close(outside->events[i]);
	memmove(outside->events, outside->events + old,
		(outside->event_count - old) * sizeof(*outside->events));
	outside->event_count -= old;
}

void outside_events_close(struct outside *outside)
{
	for (size_t i = 0; i < outside->event_count; i++)
		close(outside->events[i]);
	free(outside->events);
	outside->events = NULL;
	outside->event_count = outside->event_capacity = 0;
	rings_close(outside);
	free(outside->cpus);
	free(outside->scratch);
	outside->cpus = NULL;
	outside->scratch = NULL;
	outside->cpu_count = 0;
}
