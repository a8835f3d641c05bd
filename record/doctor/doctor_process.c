/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_process.c - checks what any recording needs of the system: a timer on the CPU clock, shared memory,
 * descriptors, and reading the memory of its child processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/agent/process/process.h"
#include "record/doctor/doctor.h"

static void glibc_look(struct doctor_row *row)
{
	const char *version = gnu_get_libc_version();
	int major = 0, minor = 0;

	sscanf(version, "%d.%d", &major, &minor);
	if (major < 2 || (major == 2 && minor < 28))
		doctor_say(row, DOCTOR_NO, "record on a system with glibc 2.28 or newer",
			"glibc %s; the agent needs 2.28", version);
	else
		doctor_say(row, DOCTOR_YES, NULL, "glibc %s%s", version,
			major == 2 && minor < 35 ? "; modules come from hpct's own list" : "");
}

static void timer_look(struct doctor_row *row)
{
	struct sigevent event = {.sigev_notify = SIGEV_NONE};
	struct timespec tick = {0};
	int timer; /* of the kernel, as the agent has it: libc's functions moved between libraries */

	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer)) {
		doctor_say(row, DOCTOR_NO, errno == EAGAIN ? "raise ulimit -i (pending signals)" : "",
			"timer_create on the thread's CPU clock: %s", strerror(errno));
		return;
	}
	syscall(SYS_timer_delete, timer);
	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	doctor_say(row, DOCTOR_YES, NULL, "the kernel checks it every %.1f ms: up to %.0f samples a second",
		(double)tick.tv_nsec / 1e6, tick.tv_nsec ? 1e9 / (double)tick.tv_nsec : 0);
}

static void signals_look(struct doctor_row *row)
{
	struct rlimit limit = {0, 0};

	getrlimit(RLIMIT_SIGPENDING, &limit);
	if (limit.rlim_cur < 4096)
		doctor_say(row, DOCTOR_PARTLY, "raise ulimit -i to 4096 or more",
			"%lu: each sampled thread takes one", (unsigned long)limit.rlim_cur);
	else
		doctor_say(row, DOCTOR_YES, NULL, "%lu; each sampled thread takes one",
			(unsigned long)limit.rlim_cur);
}

static void memory_look(struct doctor_row *row)
{
	int memory = (int)syscall(SYS_memfd_create, "hpct-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (memory < 0)
		doctor_say(row, DOCTOR_NO, "allow memfd_create in the container's seccomp filter",
			"memfd_create: %s", strerror(errno));
	else if (ftruncate(memory, 1 << 20) || fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK))
		doctor_say(row, DOCTOR_NO, "raise ulimit -f", "memory cannot be created and sealed: %s",
			strerror(errno));
	else
		doctor_say(row, DOCTOR_YES, NULL, "sealed memory for the rings");
	if (memory >= 0)
		close(memory);
}

static void handshake_look(struct doctor_row *row)
{
	int pidfd = (int)syscall(SYS_pidfd_open, process_number(), 0), pair[2];

	if (!process_is_permitted()) {
		doctor_say(row, DOCTOR_NO, "permit them in the seccomp filter",
			"getpid or rt_sigprocmask is refused");
		return;
	}
	if (pidfd < 0) {
		doctor_say(row, DOCTOR_NO, "Linux 5.3 or newer, and a seccomp filter that permits it",
			"pidfd_open: %s", strerror(errno));
		return;
	}
	close(pidfd);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		doctor_say(row, DOCTOR_NO, "allow Unix sockets", "socket: %s", strerror(errno));
		return;
	}
	close(pair[0]);
	close(pair[1]);
	doctor_say(row, DOCTOR_YES, NULL, "pidfd and Unix sockets");
}

static void limits_look(struct doctor_row *row)
{
	struct rlimit space = {0, 0}, file = {0, 0};

	getrlimit(RLIMIT_AS, &space);
	getrlimit(RLIMIT_FSIZE, &file);
	if (space.rlim_cur == RLIM_INFINITY && file.rlim_cur == RLIM_INFINITY)
		doctor_say(row, DOCTOR_YES, NULL, "no limit on address space and file size");
	else
		doctor_say(row, DOCTOR_PARTLY, "ulimit -v unlimited; ulimit -f unlimited",
			"ulimit -v or -f is set: fewer threads can be recorded at once, and a run ends at "
			"the size of a file");
}

static void descriptors_look(struct doctor_row *row)
{
	struct rlimit limit = {0, 0};
	char remedy[DOCTOR_TEXT];

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < 1024) /* the collector itself raises the soft limit, as `ulimit -n` would */
		snprintf(remedy, sizeof(remedy), "a higher hard limit: nofile in /etc/security/limits.conf");
	else
		snprintf(remedy, sizeof(remedy), "ulimit -n %lu",
			(unsigned long)(limit.rlim_max < 4096 ? limit.rlim_max : 4096));
	if (limit.rlim_cur < 1024)
		doctor_say(row, DOCTOR_PARTLY, remedy,
			"%lu at most: many processes at once, and modules that are deleted, may go without",
			(unsigned long)limit.rlim_cur);
	else
		doctor_say(row, DOCTOR_YES, NULL, "%lu, %lu at most", (unsigned long)limit.rlim_cur,
			(unsigned long)limit.rlim_max);
}

/* The collector unwinds a blocked thread of a process that is no descendant of it. Exit code of a child
 * that tries this on us. */
static int peek_try(void)
{
	static char word[8] = "doctor", copy[8];
	struct iovec local = {copy, sizeof(copy)}, remote = {word, sizeof(word)};

	if (process_vm_readv(getppid(), &local, 1, &remote, 1, 0) == (ssize_t)sizeof(copy))
		return 0;
	return errno ? errno : EPERM;
}

static void peek_look(struct doctor_row *row)
{
	pid_t child = fork();
	int status = 0;

	if (!child)
		_exit(peek_try());
	if (child < 0 || waitpid(child, &status, 0) != child)
		status = EAGAIN << 8;
	if (!WEXITSTATUS(status))
		doctor_say(row, DOCTOR_YES, NULL, "memory of blocked programs can be read");
	else
		doctor_say(row, DOCTOR_NO,
			doctor_number("/proc/sys/kernel/yama/ptrace_scope", 0) > 0
				? "sysctl kernel.yama.ptrace_scope=0"
				: "run the container with the capability SYS_PTRACE, or another seccomp "
				  "filter",
			"process_vm_readv: %s: the path of a thread that hangs is the one it blocked with",
			strerror(WEXITSTATUS(status)));
}

static void seccomp_look(struct doctor_row *row)
{
	int mode = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);

	if (mode == 2)
		doctor_say(row, DOCTOR_PARTLY, "if rows say no: another profile for the container",
			"a filter is set; other rows show what it forbids");
	else
		doctor_say(row, DOCTOR_YES, NULL, "no filter");
}

static void shm_look(struct doctor_row *row)
{
	struct statvfs place;

	if (statvfs("/dev/shm", &place))
		doctor_say(row, DOCTOR_NONE, NULL, "missing; hpct does not need it, MPI libraries do");
	else
		doctor_say(row, DOCTOR_YES, NULL, "%.1f GiB free; hpct does not need it",
			(double)place.f_bavail * (double)place.f_frsize / 1073741824.0);
}

static void processors_look(struct doctor_row *row)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;
	int count;

	CPU_ZERO(&set);
	count = sched_getaffinity(0, sizeof(set), &set) ? (int)online : CPU_COUNT(&set);
	if (count < 2)
		doctor_say(row, DOCTOR_PARTLY, "allow a second processor (taskset, the batch system)",
			"one: the collector competes with the program");
	else
		doctor_say(row, DOCTOR_YES, NULL, "%d of %ld", count, online);
}

const struct doctor_check doctor_process[] = {
	{"C library", glibc_look, true},
	{"CPU timer", timer_look, true},
	{"shared memory", memory_look, true},
	{"handshake", handshake_look, true},
	{"pending signals", signals_look, false},
	{"memory limits", limits_look, false},
	{"descriptors", descriptors_look, false},
	{"reading hung threads", peek_look, false},
	{"seccomp", seccomp_look, false},
	{"/dev/shm", shm_look, false},
	{"processors", processors_look, false},
	{NULL, NULL, false},
};
