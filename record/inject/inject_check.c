/* SPDX-License-Identifier: Apache-2.0 */
/* inject_check.c - what keeps an agent out of a running process, told before it is touched: see inject.h. */
#include "record/inject/inject.h"

#include <dirent.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "record/agent/inject/inject_order.h"
#include "record/agent/sample/source.h"
#include "record/base/proc_read.h"

#define LOOKS_MOST 6u
#define LOOK_MS 2
#define OUTSIDE "; leave out --inject to measure it from outside"

struct look {
	uint32_t pid;
	char name[32];
	char status[4096];
	bool has_agent; /* the library is in it, since an earlier recording */
	bool is_young;	/* its loader has not mapped the C library yet */
};

static unsigned long long status_number(const struct look *look, const char *key, int base)
{
	const char *line = strstr(look->status, key);

	return line ? strtoull(line + strlen(key), NULL, base) : 0;
}

static int refuse(const struct look *look, struct error *error, const char *why)
{
	return error_set(error, ERROR_USAGE, "no agent can be loaded into process %u (%s): %s", look->pid,
		look->name, why);
}

/* ---- its state ---- */

/* By the first version of cgroups a thread is frozen where it waits, and only its group tells. */
static bool is_group_frozen(uint32_t pid)
{
	char text[4096], path[4352], state[16] = "";
	const char *group = proc_read(pid, "cgroup", text, sizeof(text)) ? strstr(text, ":freezer:/") : NULL;
	FILE *file;

	if (!group)
		return false;
	group += strlen(":freezer:");
	snprintf(path, sizeof(path), "/sys/fs/cgroup/freezer%.*s/freezer.state", (int)strcspn(group, "\n"),
		group);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(state, sizeof(state), file))
		state[0] = '\0';
	fclose(file);
	return !strcmp(state, "FROZEN\n");
}

/* By the second version it goes to where it would be stopped, which it is not. */
static bool is_frozen(uint32_t pid)
{
	char place[64];

	return is_group_frozen(pid) ||
	       (proc_read(pid, "wchan", place, sizeof(place)) &&
		       (!strcmp(place, "do_freezer_trap") || !strcmp(place, "get_signal")));
}

static int state_check(const struct look *look, struct error *error)
{
	unsigned long long user = status_number(look, "\nUid:", 10);
	unsigned long long tracer = status_number(look, "\nTracerPid:", 10);
	char why[160], state = proc_read_state(look->pid, look->pid);

	if (user != geteuid()) { /* its agent could not reach our sockets */
		snprintf(why, sizeof(why), "it belongs to user %llu; load it as that user" OUTSIDE, user);
		return refuse(look, error, why);
	}
	if (tracer) {
		snprintf(why, sizeof(why), "process %llu traces it already (a debugger, strace)" OUTSIDE,
			tracer);
		return refuse(look, error, why);
	}
	if (state == 'Z' || state == 'X')
		return refuse(look, error, "its first thread has ended, and it goes on without" OUTSIDE);
	if (state == 'T' || state == 't')
		return refuse(
			look, error, "it is stopped; let it go on first (kill -CONT), or leave out --inject");
	if (is_frozen(look->pid))
		return refuse(look, error,
			"its cgroup is frozen (a container that is paused); let it go on first, or leave out "
			"--inject");
	if (status_number(look, "\nSeccomp:", 10))
		return refuse(look, error,
			"it is in a sandbox (seccomp) that may end it for the agent's calls" OUTSIDE);
	if (strstr(look->status, "shstk"))
		return refuse(
			look, error, "it has a shadow stack, on which calls from outside end it" OUTSIDE);
	return 0;
}

/* ---- what is mapped ---- */

static const struct {
	const char *name, *why;
} mapped_refusals[] = {
	{"/hpct-agent.so", "an agent is in it since its start: hpct-record started it, or what started it"},
	{"/hpct-agent-memleak.so",
		"an agent is in it since its start: hpct-record started it, or what started it"},
	{"/vgpreload_", "it runs under valgrind"},
	{"/libtsan.so", "it has the thread sanitizer in it, which takes no library later" OUTSIDE}};

static int line_check(struct look *look, const char *line, struct error *error)
{
	look->has_agent |= strstr(line, "/hpct-agent-inject.so") != NULL;
	for (size_t i = 0; i < sizeof(mapped_refusals) / sizeof(*mapped_refusals); i++)
		if (strstr(line, mapped_refusals[i].name))
			return refuse(look, error, mapped_refusals[i].why);
	return 0;
}

static int maps_check(struct look *look, struct error *error)
{
	char path[40], *line = NULL;
	size_t room = 0;
	bool has_loader = false, has_libc = false;
	FILE *maps;
	int result = 0;

	snprintf(path, sizeof(path), "/proc/%u/maps", look->pid);
	maps = fopen(path, "re");
	while (maps && !result && getline(&line, &room, maps) > 0) {
		has_loader |= strstr(line, "/ld-linux") || strstr(line, "/ld-2.");
		has_libc |= strstr(line, "/libc.so.6") || strstr(line, "/libc-2.");
		result = line_check(look, line, error);
	}
	if (maps)
		fclose(maps);
	free(line);
	if (result)
		return result;
	look->is_young = has_loader && !has_libc;
	return has_loader && has_libc
		       ? 0
		       : refuse(look, error, "it is static, or its C library is not GNU's" OUTSIDE);
}

/* In another mount namespace the path may lead to another file, or nowhere. */
static int agent_check(const struct look *look, const char *agent, struct error *error)
{
	char there[4352];
	struct stat here_file, there_file;

	snprintf(there, sizeof(there), "/proc/%u/root%.4000s", look->pid, agent);
	if (!stat(agent, &here_file) && !stat(there, &there_file) && here_file.st_ino == there_file.st_ino &&
		here_file.st_dev == there_file.st_dev)
		return 0;
	return refuse(look, error, "it does not see hpct's files (a container, chroot)" OUTSIDE);
}

/* ---- what it shares ---- */

/* A child of vfork or of clone(CLONE_VM): what is loaded into it is loaded into its parent, too. */
static int memory_check(const struct look *look, struct error *error)
{
	unsigned long long parent = status_number(look, "\nPPid:", 10);

	if (parent && !syscall(SYS_kcmp, (long)look->pid, (long)parent, KCMP_VM, 0, 0))
		return refuse(look, error, "it shares its memory with its parent (vfork)" OUTSIDE);
	return 0;
}

#define QUEUES_MAGIC 0x19800202 /* of the kernel's mqueue file system */

/* Where the kernel copies descriptors for the agent's thread, the end of a copy ends mq_notify. */
static int queues_check(const struct look *look, struct error *error)
{
	char path[40], name[300];
	struct dirent *entry;
	bool is_there = false;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%u/fd", look->pid);
	list = opendir(path);
	while (list && !is_there && (entry = readdir(list))) {
		struct statfs system;

		snprintf(name, sizeof(name), "%s/%.200s", path, entry->d_name);
		is_there = entry->d_name[0] != '.' && !statfs(name, &system) && system.f_type == QUEUES_MAGIC;
	}
	if (list)
		closedir(list);
	return is_there ? refuse(look, error,
				  "it has a POSIX message queue open, whose notification the agent's thread "
				  "may "
				  "end" OUTSIDE)
			: 0;
}

/* ---- another agent ---- */

static int signal_check(const struct look *look, struct error *error)
{
	/* With our library in it, the handler may be that of its parent's agent: the agent itself looks. */
	if (!look->has_agent && status_number(look, "\nSigCgt:", 16) >> (AGENT_SIGNAL - 1) & 1)
		return refuse(look, error, "it uses signal 61 itself, which hpct samples with" OUTSIDE);
	return 0;
}

static int thread_check(const struct look *look, struct error *error)
{
	char path[40], name[300], text[32];
	struct dirent *entry;
	bool is_there = false;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%u/task", look->pid);
	list = opendir(path);
	while (list && !is_there && (entry = readdir(list))) {
		snprintf(name, sizeof(name), "task/%s/comm", entry->d_name);
		is_there = entry->d_name[0] != '.' && proc_read(look->pid, name, text, sizeof(text)) &&
			   !strcmp(text, INJECT_THREAD "\n");
	}
	if (list)
		closedir(list);
	return is_there ? refuse(look, error,
				  "another hpct-record measures it by an agent; hpct-record --status lists "
				  "them")
			: 0;
}

static int look_check(struct look *look, const char *agent, struct error *error)
{
	int result;

	if (!proc_read(look->pid, "status", look->status, sizeof(look->status)))
		return error_set(error, ERROR_USAGE, "process %u has ended", look->pid);
	proc_read(look->pid, "comm", look->name, sizeof(look->name));
	look->name[strcspn(look->name, "\n")] = '\0';
	result = state_check(look, error);
	if (!result)
		result = maps_check(look, error);
	if (!result)
		result = agent_check(look, agent, error);
	if (!result)
		result = memory_check(look, error);
	if (!result)
		result = queues_check(look, error);
	if (!result)
		result = thread_check(look, error);
	return result ? result : signal_check(look, error);
}

/* A refusal holds for the program that was looked at, once that has all of its libraries. */
int inject_check(uint32_t pid, const char *agent, struct error *error)
{
	struct look look;
	bool is_same = true;
	int result = 0;

	for (unsigned i = 0; i < LOOKS_MOST; i++) {
		uint64_t program = proc_read_program(pid);

		look = (struct look){.pid = pid};
		result = look_check(&look, agent, error);
		if (!result)
			return 0;
		poll(NULL, 0, LOOK_MS << i); /* in exec it is still the program before */
		is_same = proc_read_program(pid) == program;
		if (is_same && !look.is_young)
			return result;
	}
	return is_same || !proc_read_state(pid, pid)
		       ? result
		       : refuse(&look, error, "it becomes another program again and again" OUTSIDE);
}
