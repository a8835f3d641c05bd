/* SPDX-License-Identifier: Apache-2.0 */
/* inject_proc.c - see inject_proc.h. Only the agent's own thread calls it: buffers are static. */
#include "record/agent/inject/inject_proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/process/environment.h"
#include "record/agent/sample/adopt.h"

#define MAIN_STACK_MOST (UINT64_C(1) << 30)

static ssize_t bytes_read(int file, void *to, size_t bytes)
{
	return syscall(SYS_read, file, to, bytes);
}

size_t inject_proc_read(const char *path, char *text, size_t room)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	if (file < 0) {
		text[0] = '\0';
		return 0;
	}
	while (used + 1 < room && (got = bytes_read(file, text + used, room - 1 - used)) > 0)
		used += (size_t)got;
	close(file);
	text[used] = '\0';
	return used;
}

void inject_proc_words(char *text, size_t bytes, char **words, size_t most)
{
	size_t count = 0;

	for (size_t at = 0; at < bytes && count < most; at += strlen(text + at) + 1)
		words[count++] = text + at;
	words[count] = NULL;
}

uint32_t inject_proc_threads(void)
{
	struct stat status;

	/* libc's stat came with 2.33 */
	return syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &status, 0) || status.st_nlink < 2
		       ? 0
		       : (uint32_t)status.st_nlink - 2;
}

struct entry { /* of SYS_getdents64 */
	uint64_t inode, next;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

void inject_proc_threads_each(void (*take)(uint32_t tid))
{
	static _Alignas(8) char list[32768];
	int directory = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long got;

	if (directory < 0)
		return;
	while ((got = syscall(SYS_getdents64, directory, list, sizeof(list))) > 0)
		for (long at = 0; at < got;) {
			const struct entry *entry = (const struct entry *)(list + at);
			uint32_t tid = (uint32_t)strtoul(entry->name, NULL, 10);

			if (tid)
				take(tid);
			at += entry->bytes;
		}
	close(directory);
}

/* ---- stacks ---- */

static struct {
	struct adopt_range list[ADOPT_RANGES_MAX], first;
	uint32_t count;
} stacks;

/* "7f00-7f10 rw-p 0 00:00 0   [stack]" */
static void stacks_take(char *line)
{
	char *at;
	uint64_t low = strtoull(line, &at, 16), high = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
	struct rlimit limit;

	if (high <= low || strncmp(at, " rw", 3) != 0)
		return;
	if (strstr(at, "[stack]")) {
		uint64_t most = getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur > MAIN_STACK_MOST
					? MAIN_STACK_MOST
					: limit.rlim_cur;

		stacks.first = (struct adopt_range){high > most ? high - most : 0, high};
	} else if (stacks.count < ADOPT_RANGES_MAX) {
		stacks.list[stacks.count++] = (struct adopt_range){low, high};
	}
}

static void maps_read(void (*take)(char *line))
{
	static char text[65536];
	int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got;

	while (file >= 0 && (got = bytes_read(file, text + used, sizeof(text) - 1 - used)) > 0) {
		char *line = text, *end;

		used += (size_t)got;
		text[used] = '\0';
		while ((end = strchr(line, '\n'))) {
			*end = '\0';
			take(line);
			line = end + 1;
		}
		used -= (size_t)(line - text);
		if (used == sizeof(text) - 1) /* no line is that long */
			break;
		memmove(text, line, used);
	}
	if (file >= 0)
		close(file);
}

void inject_proc_stacks_read(void)
{
	stacks.count = 0;
	stacks.first = (struct adopt_range){0, 0};
	maps_read(stacks_take);
	adopt_ranges_set(stacks.list, stacks.count, stacks.first);
}

/* ---- protections ---- */

#define PROTECTIONS_MAX 16384u

static struct {
	struct protection {
		uint64_t low, high;
		int protection;
	} list[PROTECTIONS_MAX];
	uint32_t count;
} protections;

static void protections_take(char *line)
{
	char *at;
	uint64_t low = strtoull(line, &at, 16), high = *at == '-' ? strtoull(at + 1, &at, 16) : 0;

	if (high <= low || strnlen(at, 5) < 5 || at[4] != 'p' || protections.count == PROTECTIONS_MAX)
		return;
	protections.list[protections.count++] = (struct protection){low, high,
		(at[1] == 'r' ? PROT_READ : 0) | (at[2] == 'w' ? PROT_WRITE : 0) |
			(at[3] == 'x' ? PROT_EXEC : 0)};
}

void inject_proc_protections_read(void)
{
	protections.count = 0;
	maps_read(protections_take);
}

int inject_proc_protection(uint64_t address)
{
	uint32_t low = 0, high = protections.count;

	while (low < high) { /* /proc has them by address */
		uint32_t middle = (low + high) / 2;

		if (protections.list[middle].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < protections.count && protections.list[low].low <= address
		       ? protections.list[low].protection
		       : PROT_NONE;
}

static void thread_read(uint32_t tid, const char *name, char *text, size_t room)
{
	char path[64] = "/proc/self/task/";

	environment_decimal(path + strlen(path), tid);
	strcat(path, name);
	inject_proc_read(path, text, room);
}

bool inject_proc_is_called(uint32_t tid, const char *name)
{
	char text[32];

	thread_read(tid, "/comm", text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, name);
}

enum inject_mask inject_proc_mask(uint32_t tid, int signal, uint64_t *sleeps)
{
	char text[4096];
	const char *mask, *switches;
	bool is_blocked;

	thread_read(tid, "/status", text, sizeof(text));
	mask = strstr(text, "\nSigBlk:\t");
	switches = strstr(text, "\nvoluntary_ctxt_switches:\t");
	*sleeps = switches ? strtoull(switches + 26, NULL, 10) : 0;
	is_blocked = mask && strtoull(mask + 9, NULL, 16) >> (signal - 1) & 1;
	thread_read(tid, "/syscall", text, sizeof(text));
	if (text[0] == 'r') /* "running" */
		return is_blocked ? INJECT_RUNS_BLOCKED : INJECT_RUNS;
	return is_blocked || strtoul(text, NULL, 10) == SYS_rt_sigtimedwait ? INJECT_BLOCKED : INJECT_OPEN;
}
