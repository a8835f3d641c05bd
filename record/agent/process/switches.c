/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.c - see switches.h. One event per processor, inherited by future threads, costs nothing at a
 * thread's start and least at a switch: the kernel swaps the contexts of threads that have the same events.
 */
#include "record/agent/process/switches.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/base/perf.h"
#include "record/agent/process/process.h"

#define RINGS_BYTES (4u << 20)	   /* of all rings of a process, if there are many processors */
#define RING_BYTES_MOST (1u << 20) /* a fifth of a second in a burst of 200 000 switches a second */
#define RING_BYTES_LEAST (8u * 1024u)
#define THREAD_RING_BYTES (16u * 1024u)
#define WAKE_BYTES (48u * 1024u) /* 2048 records; the waits they belong to fill a ring less than half */

static struct {
	void *maps[EVENT_SWITCHES_MAX];
	unsigned count;
	uint32_t bytes;
	_Atomic bool per_thread;
	bool traps;
	bool counts_no_losses; /* an older kernel */
	uint64_t trap_config, trap_period, trap_data;
} held;

void switches_init(void)
{
	held.count = 0; /* a fork child does not inherit the mappings */
	held.per_thread = false;
	held.traps = false;
}

void switches_trap_with(uint64_t config, uint64_t period, uint64_t data)
{
	held.traps = true;
	held.trap_config = config;
	held.trap_period = period;
	held.trap_data = data;
}

bool switches_trap(void)
{
	return held.traps && held.count;
}

static size_t mapped_bytes(uint32_t bytes)
{
	return (size_t)sysconf(_SC_PAGESIZE) + bytes;
}

/* A dummy event that writes a record when its thread is switched out or in. cpu -1: for the calling thread
 * alone, on any processor. */
static int event_open(int cpu, uint32_t bytes)
{
	union perf_attributes all = {
		.attr = {.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(all.attr),
			.config = PERF_COUNT_SW_DUMMY,
			.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			.read_format = held.counts_no_losses ? 0 : PERF_COUNTS_LOST,
			.sample_id_all = 1,
			.context_switch = 1,
			.exclude_kernel = 1, /* required for ordinary users */
			.exclude_hv = 1,
			.use_clockid = 1,
			.clockid = CLOCK_MONOTONIC,
			.watermark = 1,
			/* Wake the collector early, as it may be slow. */
			.wakeup_watermark = bytes / 8 < WAKE_BYTES ? bytes / 8 : WAKE_BYTES,
			.inherit = cpu >= 0}};
	int event;

	if (cpu >= 0 && held.traps) {
		all.attr.size = PERF_ATTR_WORDS * sizeof(uint64_t);
		all.attr.config = held.trap_config;
		all.attr.sample_period = held.trap_period;
		all.attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		all.attr.exclude_callchain_user = 1;
		all.attr.exclude_kernel = 0;
		all.words[PERF_SIG_DATA_WORD] = held.trap_data;
		all.words[PERF_FLAGS_WORD] |= PERF_SIGTRAP;
	}
	if (cpu >= 0)
		all.words[PERF_FLAGS_WORD] |= PERF_INHERIT_THREAD | PERF_REMOVE_ON_EXEC;
	event = (int)syscall(SYS_perf_event_open, &all, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (event >= 0 || errno != EINVAL || held.counts_no_losses)
		return event;
	held.counts_no_losses = true;
	all.attr.read_format = 0;
	return (int)syscall(SYS_perf_event_open, &all, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void *ring_map(int event, uint32_t bytes)
{
	void *map = mmap(NULL, mapped_bytes(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);

	return map == MAP_FAILED ? NULL : map;
}

static void refused(int error)
{
	atomic_fetch_add(&process.shared->switches_refused, 1);
	atomic_store(&process.shared->switches_error, error);
}

static void descriptors_close(struct switches *switches)
{
	while (switches->count)
		close(switches->events[--switches->count]);
}

void switches_close(void)
{
	while (held.count)
		munmap(held.maps[--held.count], mapped_bytes(held.bytes));
}

void switches_end(void)
{
	struct event_process *shared = process.shared;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), stride = mapped_bytes(held.bytes);
	char *to = (char *)shared + shared->switches_at;

	if (!held.count || atomic_load(&shared->switches_taken) || held.count * stride > EVENT_SWITCHES_BYTES)
		return;
	for (unsigned i = 0; i < held.count; i++, to += stride) {
		struct perf_event_mmap_page *from = held.maps[i];
		uint64_t head = __atomic_load_n(&from->data_head, __ATOMIC_ACQUIRE);

		memcpy(to + page, (char *)from + page, head < held.bytes ? head : held.bytes);
		((struct perf_event_mmap_page *)to)->data_head = head;
	}
	atomic_store(&shared->switches_copied, 1);
}

/* Opens and maps the event of one processor. 0, or an errno; ENODEV: the processor is offline. */
static int add(struct switches *switches, int cpu)
{
	int event = event_open(cpu, held.bytes), error = errno;
	void *map;

	if (event < 0)
		return error;
	map = ring_map(event, held.bytes);
	error = errno;
	if (!map) {
		close(event);
		return error;
	}
	held.maps[held.count++] = map;
	switches->events[switches->count++] = event;
	return 0;
}

/* "0-3,8" as /sys says it: how many. Not by sysconf: before glibc 2.34 it uses tables of the C library's that
 * are not there yet when the agent, the first of all libraries, begins. 0: nobody says. */
static long online_count(void)
{
	char text[1024] = "";
	long count = 0, first = 0, number = 0;
	int file = (int)syscall(SYS_openat, AT_FDCWD, "/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return 0;
	if (syscall(SYS_read, file, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	syscall(SYS_close, file);
	for (const char *at = text; *at; at++) {
		if (*at >= '0' && *at <= '9') {
			number = (number * 10 + *at - '0') % 1000000;
			continue;
		}
		if (*at == '-')
			first = number + 1; /* counted when the range ends */
		else
			count += first ? number - first + 2 : 1;
		first = *at == '-' ? first : 0;
		number = 0;
	}
	return count;
}

/* The processors on which the process may ever run: all, or if those are too many or unknown, those it may
 * use now. 0: still too many. */
static int cpus_find(cpu_set_t *cpus)
{
	long online = online_count();

	CPU_ZERO(cpus);
	if (online > 0 && online <= (long)EVENT_SWITCHES_MAX) {
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, cpus);
		return (int)online;
	}
	if (sched_getaffinity(0, sizeof(*cpus), cpus) || CPU_COUNT(cpus) > (int)EVENT_SWITCHES_MAX)
		return 0;
	return CPU_COUNT(cpus);
}

/* Opens one ring per processor, all of one size. 0, or an errno. */
static int rings_try(struct switches *switches, const cpu_set_t *cpus, int online)
{
	int error = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && (int)switches->count < online; cpu++) {
		error = CPU_ISSET(cpu, cpus) ? add(switches, cpu) : 0;
		if (error == ENODEV)
			error = 0;
		if (error)
			break;
	}
	if (!error && !switches->count)
		error = ENODEV;
	if (error) {
		switches_close();
		descriptors_close(switches);
	}
	return error;
}

/* Ordinary users may pin little memory: tries smaller rings. */
static int rings_open(struct switches *switches, const cpu_set_t *cpus, int online)
{
	uint32_t most = RING_BYTES_MOST;
	int error;

	while (most > RING_BYTES_LEAST && most * (uint64_t)online > RINGS_BYTES)
		most /= 2;
	held.bytes = most;
	do
		error = rings_try(switches, cpus, online);
	while ((error == EPERM || error == ENOMEM) && (held.bytes /= 4) >= RING_BYTES_LEAST);
	return error;
}

int switches_open(struct switches *switches)
{
	cpu_set_t cpus;
	int online = cpus_find(&cpus), error = EINVAL;

	if (online)
		error = rings_open(switches, &cpus, online);
	if (error && held.traps) {
		held.traps = false;
		error = online ? rings_open(switches, &cpus, online) : EINVAL;
	}
	if (error == EINVAL || error == EMFILE) {
		held.bytes = THREAD_RING_BYTES;
		error = add(switches, -1);
		held.per_thread = !error;
	}
	if (error) {
		refused(error);
		return -1;
	}
	process.shared->switches_trap = !held.traps				       ? EVENT_TRAP_NONE
					: held.trap_config == PERF_COUNT_SW_TASK_CLOCK ? EVENT_TRAP_SAMPLES
										       : EVENT_TRAP_WAITS;
	switches->bytes = held.bytes;
	return 0;
}

void switches_hand_over(struct switches *switches, int result)
{
	descriptors_close(switches);
	if (!result)
		return;
	switches_close();
	held.per_thread = false;
	refused(EMFILE);
}

void switches_begin_late(void)
{
	if (!held.count && process.settings.switches)
		held.per_thread = true;
}

void *switches_thread_open(void)
{
	int event, error;
	void *map;

	if (!held.per_thread)
		return NULL;
	event = event_open(-1, THREAD_RING_BYTES);
	error = errno;
	map = event < 0 ? NULL : ring_map(event, THREAD_RING_BYTES);
	if (event >= 0 && !map)
		error = errno;
	if (map && process_send_switches(event, THREAD_RING_BYTES)) {
		error = EAGAIN;
		switches_thread_close(map);
		map = NULL;
	}
	if (event >= 0)
		close(event);
	if (!map)
		refused(error);
	return map;
}

void switches_thread_close(void *ring)
{
	if (ring)
		munmap(ring, mapped_bytes(THREAD_RING_BYTES));
}
