/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_kernel.c - checks perf events: opens and closes one of each kind. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record/doctor/doctor.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define MOUNT_PROC "mount -t proc proc /proc"
#define MLOCK "/proc/sys/kernel/perf_event_mlock_kb"

/* For headers of old systems. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#define ATTR_FLAGS_AT 40
#define ATTR_INHERIT_THREAD (UINT64_C(1) << 35)
#define ATTR_REMOVE_ON_EXEC (UINT64_C(1) << 36)
#define ATTR_SIGTRAP (UINT64_C(1) << 37)

/* Returns 0, or the kernel's errno. `data`: pages of a ring to map, 0: none; ENOMEM: mmap failed. */
static int event_try(struct perf_event_attr attr, uint64_t flags, unsigned data)
{
	uint64_t *word = (uint64_t *)((char *)&attr + ATTR_FLAGS_AT);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int event, error = 0;
	void *map;

	attr.size = sizeof(attr);
	attr.disabled = 1;
	*word |= flags;
	event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return errno;
	if (data) {
		map = mmap(NULL, (1 + data) * page, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
		error = map == MAP_FAILED ? ENOMEM : 0;
		if (!error)
			munmap(map, (1 + data) * page);
	}
	close(event);
	return error;
}

/* True if perf_event_paranoid does not apply: not for every root, and not for root only. */
static bool is_privileged(void)
{
	return doctor_has(CAP_PERFMON) || doctor_has(CAP_SYS_ADMIN);
}

/* Remedy for an errno of perf_event_open, given the paranoid level. */
static void refusal_say(struct doctor_row *row, int error, int paranoid, const char *without)
{
	char remedy[DOCTOR_TEXT];

	snprintf(remedy, sizeof(remedy), "sysctl kernel.perf_event_paranoid=%d", paranoid);
	if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP)
		doctor_say(row, DOCTOR_NONE, NULL, "this processor, or its virtual machine, has none");
	else if (error == ENOSYS)
		doctor_say(row, DOCTOR_NO, "allow perf_event_open in the seccomp filter, or another kernel",
			"perf_event_open is missing: %s", without);
	else if (error == EACCES && access("/proc/self", F_OK))
		doctor_say(row, DOCTOR_NO, MOUNT_PROC, "not allowed; mount /proc to see why: %s", without);
	else if (error == EACCES && doctor_number(PARANOID, -1) > paranoid && !is_privileged())
		doctor_say(row, DOCTOR_NO, remedy, "perf_event_paranoid is %ld: %s",
			doctor_number(PARANOID, -1), without);
	else if (error == EINVAL || error == E2BIG)
		doctor_say(
			row, DOCTOR_NO, "Linux 5.18 or newer", "this kernel does not know it: %s", without);
	else if (error == ENOMEM)
		doctor_say(row, DOCTOR_NO, "sysctl kernel.perf_event_mlock_kb=516, or raise ulimit -l",
			"too little memory may be pinned: %s", without);
	else
		doctor_say(row, DOCTOR_NO,
			prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2
				? "allow perf_event_open in the container's seccomp filter"
				: "allow perf_event_open in the security policy (lockdown, SELinux)",
			"%s: %s", strerror(error), without);
}

static bool is_older(const char *release, int major, int minor)
{
	int got_major = 0, got_minor = 0;

	sscanf(release, "%d.%d", &got_major, &got_minor);
	return got_major < major || (got_major == major && got_minor < minor);
}

static void kernel_look(struct doctor_row *row)
{
	struct utsname name;

	uname(&name);
	if (is_older(name.release, 5, 13))
		doctor_say(row, DOCTOR_PARTLY, "Linux 5.18 or newer",
			"%.64s: switch records of one thread at a time, no synchronous samples",
			name.release);
	else if (is_older(name.release, 5, 18))
		doctor_say(row, DOCTOR_PARTLY, "Linux 5.18 or newer", "%.64s: no synchronous samples",
			name.release);
	else
		doctor_say(row, DOCTOR_YES, NULL, "%.64s", name.release);
}

/* Mainline levels end at 2; some distributions add one that refuses everything to users, with various
 * numbers. */
static bool is_all_refused(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1};

	return event_try(attr, 0, 0) == EACCES;
}

static void paranoid_look(struct doctor_row *row)
{
	long paranoid = doctor_number(PARANOID, 99);

	if (paranoid == 99 && access("/proc/self", F_OK))
		doctor_say(row, DOCTOR_PARTLY, MOUNT_PROC, "not known: /proc is not mounted");
	else if (paranoid == 99)
		doctor_say(row, DOCTOR_NO, "a kernel with perf events", "there is no %s", PARANOID);
	else if (paranoid <= 1 || is_privileged())
		doctor_say(row, DOCTOR_YES, NULL, "%ld%s", paranoid,
			paranoid <= 1 ? "" : ", which does not apply to this process");
	else if (paranoid > 2 && is_all_refused())
		doctor_say(row, DOCTOR_NO, "sysctl kernel.perf_event_paranoid=2, better 1",
			"%ld: no perf events without the capability PERFMON", paranoid);
	else
		doctor_say(row, DOCTOR_PARTLY, "sysctl kernel.perf_event_paranoid=1",
			"%ld: no samples inside the kernel, no kernel call paths of waits", paranoid);
}

static void switches_look(struct doctor_row *row)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.context_switch = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	int error = event_try(attr, 0, 8);

	if (error)
		refusal_say(row, error, 2, "blocked time is unknown");
	else
		doctor_say(row, DOCTOR_YES, NULL, "blocked and runnable time is exact");
}

static void sigtrap_look(struct doctor_row *row)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000000,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	int error = event_try(attr, ATTR_INHERIT_THREAD | ATTR_REMOVE_ON_EXEC | ATTR_SIGTRAP, 0);
	struct utsname name;

	uname(&name);
	if (error)
		refusal_say(row, error, 2, "no sampling rates above the CPU timer's");
	else if (is_older(name.release, 5, 18)) /* see record/agent/sample/source_trap_allowed.c */
		doctor_say(row, DOCTOR_PARTLY, "Linux 5.18 or newer",
			"a SIGTRAP that a thread blocks would end the program: each sample is a signal "
			"instead");
	else
		doctor_say(row, DOCTOR_YES, NULL, "any rate, up to kernel.perf_event_max_sample_rate (%ld)",
			doctor_number("/proc/sys/kernel/perf_event_max_sample_rate", 0));
}

/* By the addresses in /proc/kallsyms. */
static bool are_names_hidden(void)
{
	long hides = doctor_number("/proc/sys/kernel/kptr_restrict", 0);

	if (hides <= 0 && doctor_number(PARANOID, 2) <= 1)
		return false;
	return hides > 1 || !doctor_has(CAP_SYSLOG);
}

static void frames_look(struct doctor_row *row)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = 1000000000};
	int error = event_try(attr, 0, 0);

	if (error)
		refusal_say(row, error, 1, "time inside system calls has no kernel frames");
	else
		doctor_say(row, DOCTOR_YES, NULL, "%s",
			are_names_hidden()
				? "as one frame, [kernel]: kernel.kptr_restrict, or a lack of the capability "
				  "SYSLOG, hides the names"
				: "in samples of perf events (task-clock, or above the CPU timer's rate)");
}

static void wait_paths_look(struct doctor_row *row)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_period = 1,
		.inherit = 1};
	int error = event_try(attr, ATTR_INHERIT_THREAD | ATTR_REMOVE_ON_EXEC | ATTR_SIGTRAP, 0);

	if (error)
		refusal_say(row, error, 1,
			"only waits that wrappers see, and with -e BLOCKTIME those for pages, have a path of "
			"their own");
	else
		doctor_say(row, DOCTOR_YES, NULL, "with -e BLOCKTIME, the kernel's part too");
}

static void counters_look(struct doctor_row *row)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	int error = event_try(attr, 0, 0);

	if (error)
		refusal_say(row, error, 2, "no cycles, no cache misses");
	else
		doctor_say(row, DOCTOR_YES, NULL, "cycles and other hardware events");
}

static void rings_look(struct doctor_row *row)
{
	bool is_unbound = doctor_has(CAP_IPC_LOCK);
	long each_kb = doctor_number(MLOCK, 0);
	struct rlimit limit = {0, 0};

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur == RLIM_INFINITY || is_unbound)
		doctor_say(row, DOCTOR_YES, NULL, "perf_event_mlock_kb %ld for each processor, ulimit -l %s",
			each_kb, is_unbound ? "does not apply to this process" : "unlimited");
	else if (each_kb < 516)
		doctor_say(row, DOCTOR_PARTLY, "sysctl kernel.perf_event_mlock_kb=516",
			"perf_event_mlock_kb %ld: switch records may be lost", each_kb);
	else
		doctor_say(row, DOCTOR_YES, NULL,
			"perf_event_mlock_kb %ld for each processor and user, ulimit -l %lu KiB", each_kb,
			(unsigned long)(limit.rlim_cur / 1024));
}

const struct doctor_check doctor_kernel[] = {
	{"kernel", kernel_look, false},
	{"perf_event_paranoid", paranoid_look, false},
	{"switch records", switches_look, false},
	{"high rates (sigtrap)", sigtrap_look, false},
	{"kernel frames", frames_look, false},
	{"paths of all waits", wait_paths_look, false},
	{"hardware counters", counters_look, false},
	{"perf ring memory", rings_look, false},
	{NULL, NULL, false},
};
