/* SPDX-License-Identifier: Apache-2.0 */
/* outside_find.c - see outside_find.h. */
#include "record/outside/outside_find.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/base/proc_read.h"
#include "store/base/utf8.h"

#define PIDS_MAX 1024u
#define CGROUP_DEPTH_MAX 32u
#define KERNEL_THREAD 0x00200000u /* of the flags in /proc/PID/stat */

/* ---- one process ---- */

struct process {
	char name[64], state;
	unsigned flags;
	uint32_t group; /* its process id: another number than a thread's own */
	unsigned long long begin;
};

static uint32_t group_of(uint32_t pid)
{
	char text[2048];
	const char *line;
	unsigned group = 0;

	proc_read(pid, "status", text, sizeof(text));
	line = strstr(text, "\nTgid:");
	return line && sscanf(line, "\nTgid: %u", &group) == 1 ? group : 0;
}

static bool process_read(uint32_t pid, struct process *process)
{
	char text[1024], *name, *end;

	if (!proc_read(pid, "stat", text, sizeof(text)))
		return false;
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name)
		return false;
	*end = '\0';
	snprintf(process->name, sizeof(process->name), "%s", name + 1);
	store_utf8_clean(process->name);
	process->group = group_of(pid);
	return sscanf(end + 2,
		       "%c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		       &process->state, &process->flags, &process->begin) == 3;
}

static bool is_of_other_bits(uint32_t pid)
{
	unsigned char head[EI_NIDENT] = {0};
	char path[40];
	int fd;
	bool is_other;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	is_other = read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) && !memcmp(head, ELFMAG, SELFMAG) &&
		   head[EI_CLASS] == ELFCLASS32;
	close(fd);
	return is_other;
}

/* 0, or why its memory may not be read. */
static int access_try(uint32_t pid)
{
	char path[40], byte;
	int fd, reason;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	reason = fd < 0 ? errno : 0;
	if (!reason && read(fd, &byte, 1) < 0)
		reason = errno;
	if (fd >= 0)
		close(fd);
	return reason;
}

static int access_check(uint32_t pid, uint32_t living, const char *name, struct error *error)
{
	struct stat status = {0};
	char path[40];
	int reason = access_try(living);

	if (!reason)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (reason == ESRCH || reason == ENOENT || stat(path, &status))
		return error_set(error, ERROR_USAGE, "process %u has ended", pid);
	if (status.st_uid != geteuid())
		return error_set(error, ERROR_USAGE,
			"process %u (%s) belongs to user %u; measure it as that user or as root", pid, name,
			(unsigned)status.st_uid);
	return error_set(error, ERROR_USAGE,
		"process %u (%s) may not be looked into (%s): it changed its user, or a security policy "
		"forbids it; %s",
		pid, name, strerror(reason), geteuid() ? "measure it as root" : "start it with hpct-record");
}

int outside_find_check(uint32_t pid, struct error *error)
{
	struct process process;
	uint32_t living;

	if (!process_read(pid, &process))
		return error_set(error, ERROR_USAGE, "there is no process %u here; see ps", pid);
	if (process.group != pid)
		return error_set(error, ERROR_USAGE, "%u is a thread of process %u; give that number", pid,
			process.group);
	if (pid == (uint32_t)getpid())
		return error_set(error, ERROR_USAGE, "process %u is this hpct-record itself", pid);
	living = proc_read_living(pid);
	if (!living)
		return error_set(error, ERROR_USAGE,
			"process %u (%s) has ended, and only waits for its parent (a zombie)", pid,
			process.name);
	if (process.flags & KERNEL_THREAD)
		return error_set(error, ERROR_USAGE,
			"process %u (%s) is a thread of the kernel, not a program", pid, process.name);
	if (access_check(pid, living, process.name, error))
		return -ERROR_USAGE;
	if (is_of_other_bits(living))
		return error_set(error, ERROR_USAGE,
			"process %u (%s) is a 32-bit program, whose stacks cannot be walked", pid,
			process.name);
	return 0;
}

/* ---- all that are asked for ---- */

static int pid_add(struct outside_found *found, uint32_t pid, struct error *error)
{
	uint32_t *grown;

	for (unsigned i = 0; i < found->count; i++)
		if (found->pids[i] == pid)
			return 0;
	if (found->count == PIDS_MAX)
		return error_set(error, ERROR_USAGE, "more than %u processes", PIDS_MAX);
	grown = realloc(found->pids, (found->count + 1) * sizeof(*grown));
	if (!grown)
		return error_memory(error);
	found->pids = grown;
	grown[found->count++] = pid;
	return 0;
}

static int pids_take(struct outside_found *found, const char *text, struct error *error)
{
	const char *at = text;

	do {
		char *end;
		unsigned long pid = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;

		if (!pid || pid > INT32_MAX || (*end && *end != ','))
			return error_set(error, ERROR_USAGE,
				"-p %s: give the numbers of processes, such as 1234 or 1234,1240", text);
		if (outside_find_check((uint32_t)pid, error) || pid_add(found, (uint32_t)pid, error))
			return -error->code;
		at = *end ? end + 1 : end;
	} while (*at || at[-1] == ',');
	return 0;
}

static bool is_called(uint32_t pid, const char *name, const char *pattern)
{
	char link[40], path[4096];
	const char *base;
	ssize_t length;

	if (!fnmatch(pattern, name, 0))
		return true;
	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	length = readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	base = strrchr(path, '/');
	return base && !fnmatch(pattern, base + 1, 0);
}

static int names_take(struct outside_found *found, const struct outside_asked *asked, struct error *error)
{
	DIR *list = opendir("/proc");
	struct dirent *entry;
	unsigned long long newest = 0;
	struct error why = {.text = ""};
	int result = 0;

	while (list && !result && (entry = readdir(list))) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		struct process process;

		if (!pid || pid == (uint32_t)getpid() || !process_read(pid, &process) ||
			!is_called(pid, process.name, asked->comm) || outside_find_check(pid, &why))
			continue;
		if (asked->is_newest && found->count && process.begin < newest)
			continue;
		if (asked->is_newest)
			found->count = 0;
		newest = process.begin;
		result = pid_add(found, pid, error);
	}
	if (list)
		closedir(list);
	if (result || found->count)
		return result;
	return why.text[0] ? error_set(error, ERROR_USAGE, "--comm %s: none can be measured: %s", asked->comm,
				     why.text)
			   : error_set(error, ERROR_USAGE, "--comm %s: no process is called that; see ps",
				     asked->comm);
}

void outside_find_all(struct outside_found *found, const char *cgroup)
{
	const char *slash = cgroup ? strrchr(cgroup, '/') : NULL;
	int used;

	*found = (struct outside_found){.name = "machine"};
	used = snprintf(found->words, sizeof(found->words) - 2, "hpct-record%c%s%c%.4000s", '\0',
		cgroup ? "--cgroup" : "-a", '\0', cgroup ? cgroup : "");
	found->words[used + 1] = '\0';
	if (!cgroup)
		return;
	snprintf(found->name, sizeof(found->name), "%.60s", slash ? slash + 1 : cgroup);
	store_utf8_clean(found->name);
}

/* ---- control groups ---- */

static bool is_cgroup(const char *path)
{
	char list[4352];

	snprintf(list, sizeof(list), "%.4000s/cgroup.procs", path);
	return !access(list, R_OK);
}

int outside_find_cgroup(char *path, size_t room, const char *given, struct error *error)
{
	static const char *const mounts[] = {
		"", "/sys/fs/cgroup/", "/sys/fs/cgroup/unified/", "/sys/fs/cgroup/perf_event/"};

	for (unsigned i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		size_t length = (size_t)snprintf(path, room, "%s%s", mounts[i], given);

		while (length > 1 && length < room && path[length - 1] == '/')
			path[--length] = '\0';
		if (length < room && is_cgroup(path))
			return 0;
	}
	return error_set(error, ERROR_USAGE,
		"--cgroup %.200s: there is no such control group; name its directory, or its path below "
		"/sys/fs/cgroup",
		given);
}

/* Of one directory; those that cannot be measured are left out. */
static int members_take(struct outside_found *found, const char *path, struct error *error)
{
	char list[4352];
	unsigned pid;
	FILE *file;
	int result = 0;

	snprintf(list, sizeof(list), "%.4000s/cgroup.procs", path);
	file = fopen(list, "re");
	while (file && !result && fscanf(file, "%u", &pid) == 1) {
		struct error why;

		if (pid && pid != (uint32_t)getpid() && !outside_find_check(pid, &why))
			result = pid_add(found, pid, error);
	}
	if (file)
		fclose(file);
	return result;
}

static int group_take(struct outside_found *found, const char *path, unsigned depth, struct error *error)
{
	int result = members_take(found, path, error);
	DIR *list = result || depth > CGROUP_DEPTH_MAX ? NULL : opendir(path);
	struct dirent *entry;

	while (list && !result && (entry = readdir(list))) {
		char below[4352];

		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		if ((size_t)snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) < 4000)
			result = group_take(found, below, depth + 1, error);
	}
	if (list)
		closedir(list);
	return result;
}

static int cgroup_take(struct outside_found *found, const char *path, struct error *error)
{
	int result = group_take(found, path, 0, error);

	if (result || found->count)
		return result;
	return error_set(error, ERROR_USAGE, "--cgroup %.200s: it has no process that you may measure", path);
}

int outside_find(struct outside_found *found, const struct outside_asked *asked, struct error *error)
{
	struct process process = {.name = ""};
	int result;

	*found = (struct outside_found){.count = 0};
	result = asked->pids	 ? pids_take(found, asked->pids, error)
		 : asked->cgroup ? cgroup_take(found, asked->cgroup, error)
				 : names_take(found, asked, error);
	if (result) {
		free(found->pids);
		found->pids = NULL;
		return result;
	}
	if (!process_read(found->pids[0], &process) || !process.name[0]) /* it has just ended */
		snprintf(process.name, sizeof(process.name), "%u", found->pids[0]);
	snprintf(found->name, sizeof(found->name), "%s", process.name);
	proc_read(found->pids[0], "cmdline", found->words, sizeof(found->words) - 1);
	if (!found->words[0]) { /* none, or the first word is empty */
		memset(found->words, 0, sizeof(found->words));
		snprintf(found->words, sizeof(found->words) - 1, "%s", process.name);
	}
	return 0;
}
