/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_host.c - see gauge_host.h. */
#include "record/gauges/gauge_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 16384u
#define SECTOR_BYTES 512u
#define ZONES 16u
#define CLOCK_CORES 16u

struct reading {
	const char *root;
	struct gauge_metrics *metrics;
	struct gauge_values *values;
	struct store_writer *writer;
	char text[TEXT_BYTES];
};

static bool is_due(const struct reading *reading, unsigned gauge)
{
	return gauge_is_due(reading->metrics, reading->values, gauge);
}

static void put(struct reading *reading, unsigned gauge, uint64_t value)
{
	gauge_put(reading->metrics, reading->values, reading->writer, gauge, value);
}

/* ---- cores ---- */

/* Ticks of a line of /proc/stat: user nice system idle iowait irq softirq steal. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TICKS };

static bool ticks_read(const char *line, uint64_t ticks[TICKS])
{
	for (unsigned i = 0; i < TICKS; i++)
		if (!proc_text_next(&line, &ticks[i]))
			return i > IDLE; /* an old kernel has fewer */
	return true;
}

static uint64_t tick_ns(void)
{
	static uint64_t ns;

	if (!ns)
		ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
	return ns;
}

static uint64_t busy_ns(const uint64_t ticks[TICKS])
{
	return (ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ]) * tick_ns();
}

static void read_cores(struct reading *reading)
{
	const char *line = reading->text;

	while ((line = strstr(line, "\ncpu"))) {
		uint64_t ticks[TICKS] = {0};
		char *end;
		unsigned long core = strtoul(line += 4, &end, 10);

		if (end != line && core < GAUGE_CORES && ticks_read(end, ticks))
			put(reading, GAUGE_COUNT + (unsigned)core, busy_ns(ticks));
	}
}

static void read_cpu(struct gauge_host *host, struct reading *reading)
{
	uint64_t ticks[TICKS] = {0}, runnable;

	if (!is_due(reading, GAUGE_CPU_BUSY) && !is_due(reading, GAUGE_CPU_IOWAIT) &&
		!is_due(reading, GAUGE_CPU_STOLEN) && !is_due(reading, GAUGE_RUNNABLE) &&
		!is_due(reading, GAUGE_COUNT))
		return;
	if (!proc_file_read(&host->stat, reading->root, "/proc/stat", reading->text, TEXT_BYTES) ||
		strncmp(reading->text, "cpu ", 4) != 0 || !ticks_read(reading->text + 4, ticks))
		return;
	put(reading, GAUGE_CPU_BUSY, busy_ns(ticks));
	put(reading, GAUGE_CPU_IOWAIT, ticks[IOWAIT] * tick_ns());
	put(reading, GAUGE_CPU_STOLEN, ticks[STEAL] * tick_ns());
	if (proc_text_number(reading->text, "procs_running", &runnable))
		put(reading, GAUGE_RUNNABLE, runnable);
	if (is_due(reading, GAUGE_COUNT))
		read_cores(reading);
}

static void read_clocks(struct reading *reading)
{
	uint64_t sum_khz = 0, cores = 0, khz;

	for (unsigned core = 0; core < CLOCK_CORES && is_due(reading, GAUGE_FREQUENCY); core++) {
		char path[96];

		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", core);
		if (!proc_number_read(reading->root, path, &khz))
			break;
		sum_khz += khz;
		cores++;
	}
	if (cores)
		put(reading, GAUGE_FREQUENCY, sum_khz / cores * 1000);
}

/* ---- memory, load ---- */

static void read_memory(struct gauge_host *host, struct reading *reading)
{
	uint64_t total, available, swap, free_swap;

	if (!is_due(reading, GAUGE_MEMORY_USED) && !is_due(reading, GAUGE_SWAP_USED) &&
		!is_due(reading, GAUGE_MEMORY_TOTAL))
		return;
	if (!proc_file_read(&host->memory, reading->root, "/proc/meminfo", reading->text, TEXT_BYTES))
		return;
	if (proc_text_number(reading->text, "MemTotal:", &total) &&
		proc_text_number(reading->text, "MemAvailable:", &available)) {
		put(reading, GAUGE_MEMORY_USED, total > available ? (total - available) * 1024 : 0);
		put(reading, GAUGE_MEMORY_TOTAL, total * 1024);
	}
	if (proc_text_number(reading->text, "SwapTotal:", &swap) &&
		proc_text_number(reading->text, "SwapFree:", &free_swap))
		put(reading, GAUGE_SWAP_USED, swap > free_swap ? (swap - free_swap) * 1024 : 0);
}

static void read_load(struct gauge_host *host, struct reading *reading)
{
	uint64_t bits;
	double load;

	if (!is_due(reading, GAUGE_LOAD) ||
		!proc_file_read(&host->load, reading->root, "/proc/loadavg", reading->text, TEXT_BYTES))
		return;
	load = strtod(reading->text, NULL);
	memcpy(&bits, &load, sizeof bits);
	put(reading, GAUGE_LOAD, bits);
}

/* ---- network, disks ---- */

/* | face: received bytes, 7 others, sent bytes ... | */
static void read_network(struct gauge_host *host, struct reading *reading)
{
	uint64_t received = 0, sent = 0;

	if (!is_due(reading, GAUGE_NET_RECEIVED) && !is_due(reading, GAUGE_NET_SENT))
		return;
	if (!proc_file_read(&host->network, reading->root, "/proc/net/dev", reading->text, TEXT_BYTES))
		return;
	for (const char *line = reading->text, *at; (at = strchr(line, ':')); line = at) {
		uint64_t number[9];
		const char *name = at;
		unsigned count = 0;

		while (name > line && name[-1] != ' ' && name[-1] != '\n')
			name--;
		for (at++; count < 9 && proc_text_next(&at, &number[count]);)
			count++;
		if (count == 9 && strncmp(name, "lo:", 3) != 0) {
			received += number[0];
			sent += number[8];
		}
		at += strcspn(at, "\n");
	}
	put(reading, GAUGE_NET_RECEIVED, received);
	put(reading, GAUGE_NET_SENT, sent);
}

/* Partitions count in their disk; what is made of other disks (loop, dm-, md) would count twice. */
static bool is_disk(const char *root, const char *name, size_t size)
{
	static const char *const others[] = {"loop", "ram", "dm-", "md", "zram", "sr", "fd"};
	char path[PROC_TEXT_PATH];

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strncmp(name, others[i], strlen(others[i])))
			return false;
	snprintf(path, sizeof path, "%s/sys/block/%.*s", root, (int)size, name);
	return access(path, F_OK) == 0;
}

/* | major minor name reads merged sectors ms writes merged sectors ... | */
static void read_disks(struct gauge_host *host, struct reading *reading)
{
	uint64_t sectors[2] = {0};

	if (!is_due(reading, GAUGE_DISK_READ) && !is_due(reading, GAUGE_DISK_WRITTEN))
		return;
	if (!proc_file_read(&host->disks, reading->root, "/proc/diskstats", reading->text, TEXT_BYTES))
		return;
	for (const char *line = reading->text; line && *line; line = strchr(line + 1, '\n')) {
		uint64_t number[8];
		const char *at = line + (*line == '\n'), *name;
		unsigned count = 0;

		if (!proc_text_next(&at, number)) /* major */
			continue;
		if (!proc_text_next(&at, number)) /* minor */
			continue;
		name = at += strspn(at, " ");
		at += strcspn(at, " \n");
		if (!is_disk(reading->root, name, (size_t)(at - name)))
			continue;
		for (; count < 8 && proc_text_next(&at, &number[count]);)
			count++;
		sectors[0] += count == 8 ? number[2] : 0;
		sectors[1] += count == 8 ? number[6] : 0;
	}
	put(reading, GAUGE_DISK_READ, sectors[0] * SECTOR_BYTES);
	put(reading, GAUGE_DISK_WRITTEN, sectors[1] * SECTOR_BYTES);
}

/* ---- pressure, heat, energy ---- */

/* | some avg10=.. avg60=.. avg300=.. total=MICROSECONDS | */
static void read_pressure(struct gauge_host *host, struct reading *reading)
{
	static const char *const paths[] = {
		"/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io"};

	for (unsigned i = 0; i < 3; i++) {
		const char *total;
		uint64_t us;

		if (!is_due(reading, GAUGE_PRESSURE_CPU + i) ||
			!proc_file_read(
				&host->pressure[i], reading->root, paths[i], reading->text, TEXT_BYTES))
			continue;
		total = strstr(reading->text, "total=");
		if (total && proc_text_next(&total, &us))
			put(reading, GAUGE_PRESSURE_CPU + i, us * 1000);
	}
}

static void read_heat(struct reading *reading)
{
	uint64_t most = 0, milli;

	for (unsigned zone = 0; zone < ZONES && is_due(reading, GAUGE_TEMPERATURE); zone++) {
		char path[64];

		snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%u/temp", zone);
		if (!proc_number_read(reading->root, path, &milli))
			break;
		most = milli > most && milli < 200000 ? milli : most;
	}
	if (most)
		put(reading, GAUGE_TEMPERATURE, most);
}

static bool package_read(struct gauge_energy *package, const struct reading *reading, unsigned number)
{
	char path[96];
	uint64_t uj;

	snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%u/energy_uj", number);
	if (!proc_number_read(reading->root, path, &uj))
		return false;
	if (!package->is_there) {
		snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%u/max_energy_range_uj", number);
		if (!proc_number_read(reading->root, path, &package->range))
			package->range = 0;
		package->total = uj;
	} else {
		/* It wraps within an hour at some 100 W. */
		package->total +=
			uj >= package->last ? uj - package->last : uj + package->range - package->last;
	}
	package->is_there = true;
	package->last = uj;
	return true;
}

static void read_energy(struct gauge_host *host, struct reading *reading)
{
	uint64_t total = 0;
	unsigned count = 0;

	if (!is_due(reading, GAUGE_ENERGY))
		return;
	while (count < GAUGE_PACKAGES && package_read(&host->packages[count], reading, count))
		total += host->packages[count++].total;
	if (count)
		put(reading, GAUGE_ENERGY, total);
	else if (gauge_uncore_has(&host->uncore, reading->root, GAUGE_ENERGY))
		put(reading, GAUGE_ENERGY, gauge_uncore_read(&host->uncore, GAUGE_ENERGY));
}

static void read_uncore(struct gauge_host *host, struct reading *reading)
{
	static const unsigned gauges[] = {GAUGE_ENERGY_MEMORY, GAUGE_MEMORY_READ, GAUGE_MEMORY_WRITTEN};

	for (unsigned i = 0; i < sizeof(gauges) / sizeof(*gauges); i++)
		if (is_due(reading, gauges[i]) && gauge_uncore_has(&host->uncore, reading->root, gauges[i]))
			put(reading, gauges[i], gauge_uncore_read(&host->uncore, gauges[i]));
}

/* ---- the run's control group (v2) ---- */

static void find_cgroup(struct gauge_host *host, struct reading *reading)
{
	static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	char *group, path[PROC_TEXT_PATH];

	host->is_looked_for = true;
	if (!proc_text_read(reading->root, "/proc/self/cgroup", reading->text, TEXT_BYTES))
		return;
	group = strstr(reading->text, "0::/");
	if (!group)
		return;
	group += 3;
	group[strcspn(group, "\n")] = '\0';
	for (unsigned i = 0; i < 2 && !*host->cgroup; i++) {
		snprintf(path, sizeof path, "%s%s%.300s/cpu.stat", reading->root, mounts[i], group);
		if (access(path, R_OK) == 0)
			snprintf(host->cgroup, sizeof host->cgroup, "%s%.300s", mounts[i], group);
	}
}

static bool cgroup_read(struct gauge_host *host, struct reading *reading, const char *file)
{
	char path[PROC_TEXT_PATH + 32];

	snprintf(path, sizeof path, "%s/%s", host->cgroup, file);
	return proc_text_read(reading->root, path, reading->text, TEXT_BYTES);
}

static void read_cgroup(struct gauge_host *host, struct reading *reading)
{
	uint64_t number, period;
	const char *at = reading->text;

	if (!is_due(reading, GAUGE_CGROUP_MEMORY) && !is_due(reading, GAUGE_CGROUP_MEMORY_LIMIT) &&
		!is_due(reading, GAUGE_CGROUP_CPU_LIMIT) && !is_due(reading, GAUGE_CGROUP_THROTTLED))
		return;
	if (!host->is_looked_for)
		find_cgroup(host, reading);
	if (!*host->cgroup)
		return;
	if (cgroup_read(host, reading, "memory.current") && proc_text_next(&at, &number))
		put(reading, GAUGE_CGROUP_MEMORY, number);
	at = reading->text;
	if (cgroup_read(host, reading, "memory.max") && proc_text_next(&at, &number))
		put(reading, GAUGE_CGROUP_MEMORY_LIMIT, number);
	at = reading->text;
	if (cgroup_read(host, reading, "cpu.max") && reading->text[0] != 'm' &&
		proc_text_next(&at, &number) && proc_text_next(&at, &period) && period)
		put(reading, GAUGE_CGROUP_CPU_LIMIT, number * 100 / period);
	if (cgroup_read(host, reading, "cpu.stat") &&
		proc_text_number(reading->text, "throttled_usec ", &number))
		put(reading, GAUGE_CGROUP_THROTTLED, number * 1000);
}

void gauge_host_read(struct gauge_host *host, const char *root, struct gauge_metrics *metrics,
	struct gauge_values *values, struct store_writer *writer)
{
	struct reading reading;

	reading.root = root;
	reading.metrics = metrics;
	reading.values = values;
	reading.writer = writer;
	read_cpu(host, &reading);
	read_memory(host, &reading);
	read_load(host, &reading);
	read_network(host, &reading);
	read_disks(host, &reading);
	read_pressure(host, &reading);
	read_clocks(&reading);
	read_heat(&reading);
	read_energy(host, &reading);
	read_uncore(host, &reading);
	read_cgroup(host, &reading);
}

void gauge_host_fini(struct gauge_host *host)
{
	gauge_uncore_fini(&host->uncore);
	proc_file_close(&host->stat);
	proc_file_close(&host->memory);
	proc_file_close(&host->load);
	proc_file_close(&host->network);
	proc_file_close(&host->disks);
	for (unsigned i = 0; i < 3; i++)
		proc_file_close(&host->pressure[i]);
}
