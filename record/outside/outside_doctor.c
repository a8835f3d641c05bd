/* SPDX-License-Identifier: Apache-2.0 */
/* outside_doctor.c - see outside_doctor.h. The checks open an event that never counts, and read one word. */
#include "record/outside/outside_doctor.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/modules/remote_unwind_modules.h"
#include "record/outside/outside.h"
#include "record/outside/outside_find.h"

static uint32_t pid;

void outside_doctor_choose(uint32_t chosen)
{
	pid = chosen;
}

/* "what is so; what to do" */
static void error_say(struct doctor_row *row, const struct error *error)
{
	const char *remedy = strchr(error->text, ';');

	doctor_say(row, DOCTOR_NO, remedy ? remedy + 2 : "choose another process", "%.*s",
		(int)(remedy ? remedy - error->text : (long)strlen(error->text)), error->text);
}

static bool is_there(void)
{
	struct error error;

	return !outside_find_check(pid, &error);
}

static void process_look(struct doctor_row *row)
{
	struct outside_found found;
	char number[16];
	struct error error;

	snprintf(number, sizeof(number), "%u", pid);
	if (outside_find(&found, &(struct outside_asked){.pids = number}, &error)) {
		error_say(row, &error);
		return;
	}
	free(found.pids);
	doctor_say(row, DOCTOR_YES, NULL, "process %u (%s) runs, and may be looked into", pid, found.name);
}

/* An errno: its memory cannot be read. */
static int memory_read(unsigned *count)
{
	struct remote_unwind_modules modules = {.pid = pid};
	bool is_new;
	uint64_t word;
	int reason = remote_unwind_modules_read(&modules, &is_new);

	if (!reason && modules.count)
		reason = -remote_unwind_read(pid, modules.list[0].cfi.begin, &word, sizeof(word));
	*count = modules.count;
	remote_unwind_modules_fini(&modules);
	return reason || *count ? reason : EACCES;
}

static void events_look(struct doctor_row *row)
{
	struct outside_plan plan = {.pids = &pid, .pid_count = 1, .period_ns = 5000000};
	struct outside_totals totals = {0};
	unsigned modules;
	struct error error;

	if (!is_there())
		doctor_say(row, DOCTOR_NONE, NULL, "not tried");
	else if (outside_try(&plan, &totals, &error) && (!totals.looks || memory_read(&modules)))
		error_say(row, &error);
	else if (totals.looks)
		doctor_say(row, DOCTOR_PARTLY,
			"a lower kernel.perf_event_paranoid, or a seccomp filter that lets perf_event_open "
			"through",
			"perf events are refused (%s): its threads are looked at 50 times a second, by "
			"ptrace where that is permitted",
			strerror(totals.looks));
	else if (totals.without_kernel)
		doctor_say(row, DOCTOR_PARTLY, "root, CAP_PERFMON or sysctl kernel.perf_event_paranoid=1",
			"samples outside the kernel only: time in system calls counts for the path that "
			"follows");
	else
		doctor_say(row, DOCTOR_YES, NULL, "samples with stacks, in the kernel, too, and switches");
}

static void memory_look(struct doctor_row *row)
{
	unsigned modules;
	int reason;

	if (!is_there()) {
		doctor_say(row, DOCTOR_NONE, NULL, "not tried");
		return;
	}
	reason = memory_read(&modules);
	if (reason)
		doctor_say(row, DOCTOR_PARTLY, "sysctl kernel.yama.ptrace_scope=0, root, or CAP_SYS_PTRACE",
			"its unwind tables cannot be read (%s): paths end after their first frames",
			strerror(reason));
	else
		doctor_say(row, DOCTOR_YES, NULL, "unwind tables of %u modules can be read", modules);
}

static unsigned threads_count(void)
{
	char path[40];
	struct dirent *entry;
	unsigned count = 0;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	list = opendir(path);
	while (list && (entry = readdir(list)))
		count += entry->d_name[0] != '.';
	if (list)
		closedir(list);
	return count;
}

static void threads_look(struct doctor_row *row)
{
	unsigned long threads = threads_count(), wanted;
	struct rlimit limit = {0};

	wanted = (threads + 1) * (unsigned long)sysconf(_SC_NPROCESSORS_ONLN);
	getrlimit(RLIMIT_NOFILE, &limit);
	if (wanted + 64 > limit.rlim_max)
		doctor_say(row, DOCTOR_PARTLY, "ulimit -Hn, as root",
			"%lu threads need %lu descriptors, and %lu are allowed", threads, wanted,
			(unsigned long)limit.rlim_max);
	else
		doctor_say(row, DOCTOR_YES, NULL, "%lu threads need %lu descriptors of %lu", threads, wanted,
			(unsigned long)limit.rlim_max);
}

/* True if a line of its maps has that name. */
static bool has_mapped(const char *name)
{
	char path[40], line[4400];
	bool is_found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	while (maps && !is_found && fgets(line, sizeof(line), maps))
		is_found = strstr(line, name) != NULL;
	if (maps)
		fclose(maps);
	return is_found;
}

static void languages_look(struct doctor_row *row)
{
	if (has_mapped("/hpct-agent"))
		doctor_say(row, DOCTOR_YES, NULL,
			"an agent is inside already: another recording measures it, with all that this one "
			"does not see");
	else if (has_mapped("/libpython") || has_mapped("/python3"))
		doctor_say(row, DOCTOR_YES, NULL,
			"Python: its frames are read 100 times a second (CPython 3.8 to 3.15)");
	else
		doctor_say(row, DOCTOR_YES, NULL, "native code");
}

const struct doctor_check outside_doctor[] = {
	{"process", process_look, true},
	{"samples from outside", events_look, true},
	{"unwind tables", memory_look, false},
	{"its threads", threads_look, false},
	{"its code", languages_look, false},
	{NULL, NULL, false},
};
