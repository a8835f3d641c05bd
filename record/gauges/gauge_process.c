/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_process.c - see gauge_process.h. */
#include "record/gauges/gauge_process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES 2048u
#define DESCRIPTORS_MOST 4096u /* counted one by one, on kernels before 6.2 */

/* Fields of /proc/PID/stat behind the command, from the parent's pid on. */
enum {
	FIELD_MINOR = 6,
	FIELD_MAJOR = 8,
	FIELD_USER = 10,
	FIELD_SYSTEM,
	FIELD_THREADS = 16,
	FIELD_START = 18,
	FIELDS
};

struct reading {
	struct gauge_process *process;
	const char *root;
	struct gauge_metrics *metrics;
	struct gauge_values *values;
	struct store_writer *writer;
	bool keeps;
	char text[TEXT_BYTES];
};

static void put(struct reading *reading, unsigned gauge, uint64_t value)
{
	gauge_put(reading->metrics, reading->values, reading->writer, gauge, value);
}

static bool is_due(const struct reading *reading, unsigned gauge)
{
	return gauge_is_due(reading->metrics, reading->values, gauge);
}

static bool file_read(struct reading *reading, struct proc_file *file, const char *name)
{
	char path[64];
	bool is_read;

	snprintf(path, sizeof path, "/proc/%u/%s", reading->process->proc_pid, name);
	is_read = proc_file_read(file, reading->root, path, reading->text, TEXT_BYTES);
	if (!reading->keeps)
		proc_file_close(file);
	return is_read;
}

/* Numbers may be negative (the terminal, the priority): those are not ours. */
static bool fields_read(const char *text, uint64_t field[FIELDS])
{
	const char *at = strrchr(text, ')');

	if (!at)
		return false;
	for (unsigned i = 0; i < FIELDS; i++)
		if (!proc_text_next(&at, &field[i]))
			return false;
	return true;
}

static bool read_stat(struct reading *reading)
{
	struct gauge_process *process = reading->process;
	const uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t field[FIELDS];

	if (!file_read(reading, &process->stat, "stat") || !fields_read(reading->text, field))
		return false;
	if (process->started && process->started != field[FIELD_START])
		return false;
	process->started = field[FIELD_START];
	put(reading, GAUGE_CPU_USER, field[FIELD_USER] * tick_ns);
	put(reading, GAUGE_CPU_SYSTEM, field[FIELD_SYSTEM] * tick_ns);
	put(reading, GAUGE_FAULTS, field[FIELD_MINOR]);
	put(reading, GAUGE_MAJOR_FAULTS, field[FIELD_MAJOR]);
	put(reading, GAUGE_THREADS, field[FIELD_THREADS]);
	return true;
}

/* | size resident shared ... | in pages */
static void read_memory(struct reading *reading)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t pages[3];
	const char *at = reading->text;

	if (!is_due(reading, GAUGE_RESIDENT) && !is_due(reading, GAUGE_PRIVATE))
		return;
	if (!file_read(reading, &reading->process->memory, "statm"))
		return;
	for (unsigned i = 0; i < 3; i++)
		if (!proc_text_next(&at, &pages[i]))
			return;
	if (!pages[1]) /* it is ending */
		return;
	put(reading, GAUGE_RESIDENT, pages[1] * page_bytes);
	put(reading, GAUGE_PRIVATE, (pages[1] > pages[2] ? pages[1] - pages[2] : 0) * page_bytes);
}

static void read_io(struct reading *reading)
{
	static const struct {
		const char *label;
		unsigned gauge;
	} lines[] = {{"rchar:", GAUGE_READ}, {"wchar:", GAUGE_WRITTEN}, {"read_bytes:", GAUGE_DISK_READ_BY},
		{"write_bytes:", GAUGE_DISK_WRITTEN_BY}};
	bool any = false;
	uint64_t number;

	for (unsigned i = 0; i < 4; i++)
		any |= is_due(reading, lines[i].gauge);
	if (!any || !file_read(reading, &reading->process->io, "io"))
		return;
	for (unsigned i = 0; i < 4; i++)
		if (proc_text_number(reading->text, lines[i].label, &number))
			put(reading, lines[i].gauge, number);
}

/* Since Linux 6.2 the directory's size is their number. */
static void read_descriptors(struct reading *reading)
{
	char path[PROC_TEXT_PATH];
	struct stat stat;
	uint64_t count = 0;
	DIR *directory;

	if (!is_due(reading, GAUGE_DESCRIPTORS))
		return;
	snprintf(path, sizeof path, "%s/proc/%u/fd", reading->root, reading->process->proc_pid);
	if (!*reading->root && lstat(path, &stat) == 0 && stat.st_size > 0) {
		put(reading, GAUGE_DESCRIPTORS, (uint64_t)stat.st_size);
		return;
	}
	directory = opendir(path);
	if (!directory)
		return;
	for (struct dirent *entry; count < DESCRIPTORS_MOST && (entry = readdir(directory));)
		count += entry->d_name[0] != '.';
	closedir(directory);
	put(reading, GAUGE_DESCRIPTORS, count);
}

bool gauge_process_read(struct gauge_process *process, const char *root, struct gauge_metrics *metrics,
	struct gauge_values *values, struct store_writer *writer, bool keeps)
{
	struct reading reading;

	reading.process = process;
	reading.root = root;
	reading.metrics = metrics;
	reading.values = values;
	reading.writer = writer;
	reading.keeps = keeps;
	if (process->is_lost || !read_stat(&reading)) {
		process->is_lost = true;
		return false;
	}
	read_memory(&reading);
	read_io(&reading);
	read_descriptors(&reading);
	return true;
}

void gauge_process_fini(struct gauge_process *process)
{
	proc_file_close(&process->stat);
	proc_file_close(&process->memory);
	proc_file_close(&process->io);
}
