/* SPDX-License-Identifier: Apache-2.0 */
/* detach.c - see detach.h. */
#include "record/base/detach.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/base/process_title.h"
#include "store/base/fd_limit.h"

#define SLICE_NS 100000u
#define TIMER_SLACK_NS 1000000ul

/* Leaves the program's CPUs to the program, if there are others. */
static void cpus_leave(void)
{
	cpu_set_t ours, all;

	if (sched_getaffinity(0, sizeof(ours), &ours))
		return;
	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all) || sched_getaffinity(0, sizeof(all), &all))
		return;
	CPU_XOR(&all, &all, &ours);
	if (!CPU_COUNT(&all) || sched_setaffinity(0, sizeof(all), &all))
		sched_setaffinity(0, sizeof(ours), &ours);
}

/* The kernel's struct sched_attr, which the C library's headers lack. */
struct schedule {
	uint32_t bytes, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t slice_ns, deadline_ns, period_ns;
};

/* Requests short but early time slices: rings fill while we wait for a processor. No effect before Linux
 * 6.12. */
static void slice_shorten(int nice)
{
	struct schedule schedule = {
		.bytes = sizeof(schedule), .policy = SCHED_OTHER, .nice = nice, .slice_ns = SLICE_NS};

	syscall(SYS_sched_setattr, 0, &schedule, 0);
}

/* Leaves real-time scheduling, and keeps at least the niceness of hpct-record. */
static void priority_lower(int nice)
{
	struct sched_param none = {0};
	int now = getpriority(PRIO_PROCESS, 0);

	nice = now > nice ? now : nice;
	sched_setscheduler(0, SCHED_OTHER, &none);
	setpriority(PRIO_PROCESS, 0, nice);
	slice_shorten(nice);
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
}

/* The program's limits (`ulimit`) must not apply to the store's map, its file and the pidfds. */
static void limits_widen(void)
{
	static const int limits[] = {RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_CPU, RLIMIT_NOFILE};
	struct rlimit limit = {0, 0};

	setrlimit(RLIMIT_CORE, &limit);
	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (getrlimit(limits[i], &limit))
			continue;
		limit.rlim_cur = limit.rlim_max;
		setrlimit(limits[i], &limit);
	}
}

/* Batch systems signal all processes of a job, to end it or to make a checkpoint: the collector must end
 * after the program. */
static void signals_reset(void)
{
	static const int plain[] = {SIGCHLD, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	for (unsigned i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		signal(plain[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void descriptors_close(int listener, int abstract_listener)
{
	/* out of the way of the places that they are to have */
	int high =
		abstract_listener < 0 ? -1 : fcntl(abstract_listener, F_DUPFD_CLOEXEC, DETACH_ABSTRACT + 1);
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < DETACH_LISTENER; i++)
		dup2(null, i);
	if (listener != DETACH_LISTENER)
		dup3(listener, DETACH_LISTENER, O_CLOEXEC);
	close(DETACH_ABSTRACT);
	if (high >= 0)
		dup3(high, DETACH_ABSTRACT, O_CLOEXEC);
	fd_close_from(DETACH_ABSTRACT + 1u);
}

void detach(int listener, int abstract_listener)
{
	setsid();
	signals_reset();
	descriptors_close(listener, abstract_listener);
	umask(077);
	if (chdir("/"))
		_exit(1);
	prctl(PR_SET_NAME, "hpct-collector");
	process_title_set("hpct-collector");
	limits_widen();
}

void detach_thread(int nice)
{
	priority_lower(nice);
	cpus_leave();
}
