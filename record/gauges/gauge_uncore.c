/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_uncore.c - see gauge_uncore.h. */
#include "record/gauges/gauge_uncore.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/gauges/proc_text.h"

#define DEVICES_PATH "/sys/bus/event_source/devices"
#define TEXT_BYTES 256u
#define PATH_BYTES 640u
#define PMUS 64u /* memory controllers of a host */
#define NAME_BYTES 64u
#define CORES 16u /* of a cpumask: packages */
#define MIB 1048576.0

/* What a gauge is made of: the first of an order's names that some PMU has, on all PMUs that have it, so that
 * no byte counts in two of them. */
static const struct {
	unsigned gauge;
	const char *pmu, *event, *unit; /* pmu: how its name begins */
	double factor;
} sources[] = {
	{GAUGE_ENERGY, "power", "energy-pkg", "Joules", 1e6},
	{GAUGE_ENERGY_MEMORY, "power", "energy-ram", "Joules", 1e6},
	{GAUGE_MEMORY_READ, "uncore_", "cas_count_read", "MiB", MIB},
	{GAUGE_MEMORY_READ, "uncore_", "data_reads", "MiB", MIB},
	{GAUGE_MEMORY_READ, "uncore_", "data_read", "MiB", MIB},
	{GAUGE_MEMORY_WRITTEN, "uncore_", "cas_count_write", "MiB", MIB},
	{GAUGE_MEMORY_WRITTEN, "uncore_", "data_writes", "MiB", MIB},
	{GAUGE_MEMORY_WRITTEN, "uncore_", "data_write", "MiB", MIB},
};
#define SOURCES (sizeof(sources) / sizeof(*sources))

/* ---- words of the PMU's files ---- */

/* A file below a directory, without its newline. */
static bool word_read(const char *directory, const char *name, char text[TEXT_BYTES])
{
	char path[PATH_BYTES];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path) ||
		!proc_text_read("", path, text, TEXT_BYTES))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return text[0] != '\0';
}

/* "config:0-7,32-35", "config1:0": the value's bits go there, the lowest first. */
static bool bits_put(uint64_t config[3], const char *format, uint64_t value)
{
	unsigned word = format[6] == '1' ? 1 : format[6] == '2' ? 2 : 0;
	const char *at = strchr(format, ':');

	if (strncmp(format, "config", 6) != 0 || !at)
		return false;
	while (at[0] == ':' || at[0] == ',') {
		char *end;
		unsigned long low = strtoul(at + 1, &end, 10), high = low;

		if (end == at + 1)
			return false;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > high || high > 63)
			return false;
		for (; low <= high; low++, value >>= 1)
			config[word] |= (value & 1) << low;
		at = end;
	}
	return !*at && !value;
}

bool gauge_uncore_encode(uint64_t config[3], const char *directory, const char *event)
{
	char term[NAME_BYTES], name[NAME_BYTES + 16], format[TEXT_BYTES];

	memset(config, 0, 3 * sizeof(*config));
	while (*event) {
		size_t size = strcspn(event, ",");
		char *equals, *end;
		uint64_t value = 1; /* a term without a value is set */

		if (!size || size >= sizeof(term))
			return false;
		memcpy(term, event, size);
		term[size] = '\0';
		equals = strchr(term, '=');
		if (equals) {
			*equals = '\0';
			value = strtoull(equals + 1, &end, 0);
			if (end == equals + 1 || *end)
				return false;
		}
		snprintf(name, sizeof(name), "format/%s", term);
		if (strchr(term, '/') || !word_read(directory, name, format) ||
			!bits_put(config, format, value))
			return false;
		event += size + (event[size] == ',');
	}
	return true;
}

/* "0,18", "0-3": the cores to count on; without a mask, core 0. */
static unsigned cores_read(unsigned cores[CORES], const char *directory)
{
	char text[TEXT_BYTES], *at = text;
	unsigned count = 0;

	cores[0] = 0;
	if (!word_read(directory, "cpumask", text))
		return 1;
	while (*at && count < CORES) {
		char *end;
		unsigned long low = strtoul(at, &end, 10), high = low;

		if (end == at)
			break;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		for (; low <= high && count < CORES; low++)
			cores[count++] = (unsigned)low;
		at = end + (*end == ',');
	}
	return count;
}

/* ---- opening ---- */

static int counter_open(uint32_t type, const uint64_t config[3], unsigned core)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = config[0];
	attr.config1 = config[1];
	attr.config2 = config[2];
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)core, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The event's files: its terms, and beside them its scale and its unit, which must be the one expected. */
static bool event_read(const char *directory, size_t source, uint64_t config[3], double *factor)
{
	char name[NAME_BYTES + 32], text[TEXT_BYTES];

	snprintf(name, sizeof(name), "events/%s.unit", sources[source].event);
	if (!word_read(directory, name, text) || strcmp(text, sources[source].unit) != 0)
		return false;
	snprintf(name, sizeof(name), "events/%s.scale", sources[source].event);
	*factor = word_read(directory, name, text) ? strtod(text, NULL) * sources[source].factor : 0;
	snprintf(name, sizeof(name), "events/%s", sources[source].event);
	return *factor > 0 && word_read(directory, name, text) &&
	       gauge_uncore_encode(config, directory, text);
}

static void source_open(struct gauge_uncore *uncore, const char *directory, size_t source)
{
	unsigned cores[CORES], count;
	uint64_t config[3], type;
	double factor;

	if (!proc_number_read(directory, "/type", &type) || type > UINT32_MAX ||
		!event_read(directory, source, config, &factor))
		return;
	count = cores_read(cores, directory);
	for (unsigned i = 0; i < count && uncore->count < GAUGE_UNCORE_COUNTERS; i++) {
		int fd = counter_open((uint32_t)type, config, cores[i]);

		if (fd < 0)
			continue;
		uncore->counters[uncore->count++] = (struct gauge_uncore_counter){
			.fd = fd, .gauge = sources[source].gauge, .factor = factor};
		uncore->found |= UINT64_C(1) << sources[source].gauge;
	}
}

static void pmus_find(struct gauge_uncore *uncore, const char *root)
{
	char directory[PATH_BYTES], pmus[PMUS][NAME_BYTES];
	struct dirent *entry;
	unsigned count = 0;
	DIR *all;

	snprintf(directory, sizeof(directory), "%s" DEVICES_PATH, root);
	all = opendir(directory);
	while (all && count < PMUS && (entry = readdir(all)))
		if ((!strcmp(entry->d_name, "power") || !strncmp(entry->d_name, "uncore_", 7)) &&
			strlen(entry->d_name) < NAME_BYTES)
			strcpy(pmus[count++], entry->d_name);
	if (all)
		closedir(all);
	for (size_t s = 0; s < SOURCES; s++) {
		if (uncore->found >> sources[s].gauge & 1)
			continue;
		for (unsigned i = 0; i < count; i++) {
			if (strncmp(pmus[i], sources[s].pmu, strlen(sources[s].pmu)) != 0)
				continue;
			if ((size_t)snprintf(directory, sizeof(directory), "%s" DEVICES_PATH "/%s", root,
				    pmus[i]) < sizeof(directory))
				source_open(uncore, directory, s);
		}
	}
}

bool gauge_uncore_has(struct gauge_uncore *uncore, const char *root, unsigned gauge)
{
	if (!uncore->is_looked_for)
		pmus_find(uncore, root);
	uncore->is_looked_for = true;
	return uncore->found >> gauge & 1;
}

/* ---- reading ---- */

/* One that takes turns with others is scaled by its share of the time. */
static void counter_read(struct gauge_uncore_counter *counter)
{
	struct {
		uint64_t value, enabled, running;
	} said;
	double value;

	if (read(counter->fd, &said, sizeof(said)) != (ssize_t)sizeof(said) || !said.running)
		return;
	value = (double)said.value * counter->factor;
	if (said.running < said.enabled)
		value *= (double)said.enabled / (double)said.running;
	counter->last = value > counter->last ? value : counter->last;
}

uint64_t gauge_uncore_read(struct gauge_uncore *uncore, unsigned gauge)
{
	double sum = 0;

	for (unsigned i = 0; i < uncore->count; i++) {
		if (uncore->counters[i].gauge != gauge)
			continue;
		counter_read(&uncore->counters[i]);
		sum += uncore->counters[i].last;
	}
	return (uint64_t)sum;
}

void gauge_uncore_fini(struct gauge_uncore *uncore)
{
	for (unsigned i = 0; i < uncore->count; i++)
		close(uncore->counters[i].fd);
	*uncore = (struct gauge_uncore){.count = 0};
}
