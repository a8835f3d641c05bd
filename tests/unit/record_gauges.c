/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures over time from a /proc and /sys of our own: what each file says is what the store holds, counters
 * of energy go on where they wrap, a pid given to another process ends the first one's figures, --gauges
 * means what it says, passes that cost too much get rarer.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/gauges/gauge_uncore.h"
#include "record/gauges/gauge_vendor.h"
#include "record/gauges/gauges.h"
#include "store/read/reader.h"
#include "store/rollup/series_read.h"
#include "tests/unit/seed.h"

#define TICK_NS UINT64_C(10000000)
#define PASS_NS UINT64_C(100000000)

static char root[64], store[96];

static void put_file(const char *path, const char *text)
{
	char whole[256];
	FILE *file;

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(whole, sizeof whole, "%s%.*s", root, (int)(at - path), path);
		mkdir(whole, 0700);
	}
	snprintf(whole, sizeof whole, "%s%s", root, path);
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void put_process(unsigned user, unsigned system, unsigned pages, unsigned started)
{
	char text[512];

	snprintf(text, sizeof text,
		"77 (a) b (c) S 1 77 77 0 -1 4194304 500 0 7 0 %u %u 0 0 20 0 3 0 %u 1000 %u 1844 1 1 0 0 "
		"0\n",
		user, system, started, pages);
	put_file("/proc/77/stat", text);
	snprintf(text, sizeof text, "9000 %u 100 1 0 800 0\n", pages);
	put_file("/proc/77/statm", text);
	put_file("/proc/77/io",
		"rchar: 1000\nwchar: 200\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 0\n");
}

static void put_host(unsigned busy, unsigned long energy)
{
	char text[512];

	snprintf(text, sizeof text,
		"cpu  %u 10 30 1000 5 2 3 40 0 0\ncpu0 %u 0 30 500 5 2 3 40 0 0\ncpu1 7 10 0 500 0 0 0 0 0 "
		"0\nintr 1 0\n"
		"procs_running 4\nprocs_blocked 0\n",
		busy, busy);
	put_file("/proc/stat", text);
	put_file("/proc/meminfo", "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable: 400 kB\nSwapTotal: 50 "
				  "kB\nSwapFree: 20 kB\n");
	put_file("/proc/loadavg", "1.25 0.5 0.1 1/100 4242\n");
	put_file("/proc/net/dev",
		"Inter-| Receive\n face |bytes packets\n    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n"
		"  eth0: 3000 1 0 0 0 0 0 0 70 1 0 0 0 0 0 0\n wlan0:5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n");
	put_file("/proc/diskstats",
		"   7 0 loop0 1 0 900 0 1 0 900 0 0 0 0\n 259 0 nvme0n1 1 0 10 0 1 0 4 0 0 0 0\n"
		" 259 1 nvme0n1p1 1 0 10 0 1 0 4 0 0 0 0\n");
	put_file("/sys/block/nvme0n1/size", "1\n");
	put_file("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345\nfull total=1\n");
	snprintf(text, sizeof text, "%lu\n", energy);
	put_file("/sys/class/powercap/intel-rapl:0/energy_uj", text);
	put_file("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000000\n");
	put_file("/sys/class/thermal/thermal_zone0/temp", "41000\n");
	put_file("/sys/class/thermal/thermal_zone1/temp", "52000\n");
	put_file("/proc/self/cgroup", "4:memory:/old\n0::/job/1\n");
	put_file("/sys/fs/cgroup/job/1/cpu.stat", "usage_usec 5\nnr_throttled 1\nthrottled_usec 77\n");
	put_file("/sys/fs/cgroup/job/1/cpu.max", "150000 100000\n");
	put_file("/sys/fs/cgroup/job/1/memory.max", "max\n");
	put_file("/sys/fs/cgroup/job/1/memory.current", "8192\n");
}

static struct store_writer *create(void)
{
	struct store_writer *writer;
	struct error error;

	unlink(store);
	assert_int_equal(store_writer_create(&writer, store, &error), 0);
	return writer;
}

static struct gauges_target target = {.proc_pid = 77, .pid = 7, .rank = 3};

static void pass(
	struct gauges *gauges, struct gauges_process **process, struct store_writer *writer, uint64_t at_ns)
{
	gauges_take(gauges, writer, 0, at_ns);
	gauges_process_take(gauges, process, &target, writer, 0);
	gauges_taken(gauges, writer);
}

/* The series of a figure, of all gauge streams of that kind. */
static struct store_series series_of(const char *name, bool is_process)
{
	struct store_series found = {.count = 0};
	const struct store_metric *metrics;
	struct store_reader *reader;
	struct error error;
	uint32_t count;

	assert_int_equal(store_reader_open(&reader, store, &error), 0);
	metrics = store_reader_metrics(reader, &count);
	for (uint32_t s = 0; s < store_reader_stream_count(reader); s++) {
		const struct store_stream *stream = store_reader_stream(reader, s);

		assert_int_equal(stream->kind, STORE_STREAM_GAUGES);
		for (uint32_t m = 0; m < count && (stream->pid != UINT32_MAX) == is_process; m++)
			if (!strcmp(store_reader_text(reader, metrics[m].name, NULL), name))
				assert_int_equal(
					store_series_of(reader, s, m, 0, STORE_OPEN_NS, &found, &error), 0);
	}
	store_reader_close(reader);
	return found;
}

static void test_figures(void **unused)
{
	struct gauges_asked asked = {.interval_ns = PASS_NS, .wanted = UINT64_MAX, .is_exact = true};
	struct gauges *gauges = gauges_new(&asked, root, 0);
	struct gauges_process *process = NULL;
	struct store_writer *writer = create();
	struct store_series series;
	struct error error;
	double load;

	(void)unused;
	put_host(100, 999990);
	put_process(20, 5, 600, 4711);
	assert_int_equal(gauges_due_ns(gauges), PASS_NS);
	pass(gauges, &process, writer, PASS_NS + 1000); /* in time: it has the plan's */
	assert_int_equal(gauges_due_ns(gauges), 2 * PASS_NS);
	put_host(150, 30); /* its energy has wrapped at 1000000 */
	put_process(30, 5, 500, 4711);
	pass(gauges, &process, writer, 2 * PASS_NS + 50000000); /* late: it has its own */
	put_process(1, 0, 10, 9999);				/* another process has its pid */
	pass(gauges, &process, writer, 3 * PASS_NS);
	gauges_process_end(gauges, process, writer, 4 * PASS_NS);
	gauges_rest(gauges, writer, 4 * PASS_NS);
	gauges_free(gauges);
	assert_int_equal(store_writer_close(writer, &error), 0);

	series = series_of("cpu_user", true);
	assert_int_equal(series.count, 2);
	assert_int_equal(series.first, 20 * TICK_NS);
	assert_int_equal(series.last, 30 * TICK_NS);
	assert_int_equal(series.first_ns, PASS_NS);
	assert_int_equal(series.last_ns, 2 * PASS_NS + 50000000);
	assert_true(series.grown == 10.0 * TICK_NS);
	assert_int_equal(series_of("cpu_system", true).last, 5 * TICK_NS);
	assert_int_equal(series_of("resident", true).most, 600 * (uint64_t)sysconf(_SC_PAGESIZE));
	assert_int_equal(series_of("private", true).last, 400 * (uint64_t)sysconf(_SC_PAGESIZE));
	assert_int_equal(series_of("faults", true).last, 500);
	assert_int_equal(series_of("major_faults", true).last, 7);
	assert_int_equal(series_of("threads", true).last, 3);
	assert_int_equal(series_of("read", true).last, 1000);
	assert_int_equal(series_of("storage_read", true).last, 4096);

	series = series_of("cpu_busy", false);
	assert_int_equal(series.count, 3);
	assert_int_equal(series.first, (100 + 10 + 30 + 2 + 3) * TICK_NS);
	assert_int_equal(series_of("core0_busy", false).last, (150 + 30 + 2 + 3) * TICK_NS);
	assert_int_equal(series_of("cpu_stolen", false).last, 40 * TICK_NS);
	assert_int_equal(series_of("memory_used", false).last, 600 * 1024);
	assert_int_equal(series_of("swap_used", false).last, 30 * 1024);
	assert_int_equal(series_of("net_received", false).last, 3005);
	assert_int_equal(series_of("net_sent", false).last, 76);
	assert_int_equal(series_of("disk_read", false).last, 10 * 512);
	assert_int_equal(series_of("disk_written", false).last, 4 * 512);
	assert_int_equal(series_of("pressure_cpu", false).last, 12345000);
	assert_int_equal(series_of("pressure_io", false).count, 0); /* there is no such file */
	assert_int_equal(series_of("temperature", false).last, 52000);
	assert_true(series_of("energy", false).grown == 40);
	assert_int_equal(series_of("runnable", false).last, 4);
	assert_int_equal(series_of("cgroup_memory", false).last, 8192);
	assert_int_equal(series_of("cgroup_memory_limit", false).count, 0);
	assert_int_equal(series_of("cgroup_cpu_limit", false).last, 150);
	assert_int_equal(series_of("cgroup_throttled", false).last, 77000);
	series = series_of("load", false);
	memcpy(&load, &series.last, sizeof load);
	assert_true(load == 1.25);
}

/* ---- bytes ---- */

#define MINUTES 10u
#define COMMIT_PASSES 10u /* the collector commits about once a second */

static void put_noisy(unsigned pass, uint64_t *seed)
{
	static uint64_t busy, user, faults, received, pages = 50000;
	char text[512];

	busy += seed_next(seed) % 20;
	user += seed_next(seed) % 11;
	faults += seed_next(seed) % 300;
	received += seed_next(seed) % 100000;
	pages += seed_next(seed) % 64;
	pages = pages > 100000 ? 50000 : pages;
	snprintf(text, sizeof text,
		"cpu  %llu 10 %u 1000 %u 2 3 40 0 0\ncpu0 1 0 30 500 5 2 3 40 0 0\nprocs_running %u\n",
		(unsigned long long)busy, pass / 3, pass / 11, (unsigned)(1 + seed_next(seed) % 4));
	put_file("/proc/stat", text);
	snprintf(text, sizeof text, "MemTotal: 16000000 kB\nMemAvailable: %u kB\n",
		(unsigned)(8000000 - pass * 4 + seed_next(seed) % 512));
	put_file("/proc/meminfo", text);
	snprintf(text, sizeof text, "eth0: %llu 1 0 0 0 0 0 0 %u 1 0 0 0 0 0 0\n",
		(unsigned long long)received, pass * 60);
	put_file("/proc/net/dev", text);
	snprintf(text, sizeof text,
		"77 (a) S 1 77 77 0 -1 4194304 %llu 0 7 0 %llu %u 0 0 20 0 %u 0 4711 1000 %llu 1844 1 1 0 "
		"0\n",
		(unsigned long long)faults, (unsigned long long)user, pass / 7, 3 + pass / 1000,
		(unsigned long long)pages);
	put_file("/proc/77/stat", text);
	snprintf(text, sizeof text, "90000 %llu 100 1 0 800 0\n", (unsigned long long)pages);
	put_file("/proc/77/statm", text);
}

/* An hour of twenty figures, ten times a second, is to take at most 2 MB: ten minutes of them, of noisy
 * numbers, a sixth of that, the store's own pages included. */
static void test_bytes(void **unused)
{
	static const char names[] = "10Hz,cpu_user,cpu_system,resident,private,faults,major_faults,threads,"
				    "read,written,storage_read,"
				    "storage_written,cpu_busy,cpu_iowait,cpu_stolen,memory_used,memory_total,"
				    "runnable,net_received,"
				    "net_sent,load";
	struct gauges_process *process = NULL;
	struct store_writer *writer = create();
	struct gauges_asked asked;
	struct gauges *gauges;
	uint64_t seed = seed_take("unit.record.gauges", 7);
	struct error error;
	struct stat status;

	(void)unused;
	put_host(100, 5);
	put_process(20, 5, 600, 4711);
	target.begin_ns = 0;
	assert_int_equal(gauges_parse(&asked, names, &error), 0);
	gauges = gauges_new(&asked, root, 0);
	for (unsigned i = 1; i <= MINUTES * 600; i++) {
		put_noisy(i, &seed);
		pass(gauges, &process, writer, i * PASS_NS);
		if (i % COMMIT_PASSES == 0)
			assert_int_equal(store_writer_commit(writer, &error), 0);
	}
	gauges_process_end(gauges, process, writer, MINUTES * 600 * PASS_NS);
	gauges_rest(gauges, writer, MINUTES * 600 * PASS_NS);
	gauges_free(gauges);
	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_int_equal(series_of("resident", true).count, MINUTES * 600);
	assert_int_equal(series_of("net_received", false).count, MINUTES * 600);
	assert_int_equal(stat(store, &status), 0);
	printf("%u minutes of 20 figures: %lu bytes, %.2f a value\n", MINUTES,
		(unsigned long)status.st_blocks * 512, (double)status.st_blocks * 512 / (MINUTES * 600 * 20));
	assert_true((uint64_t)status.st_blocks * 512 <= 2000000 / 6);
}

/* ---- how often ---- */

#define CHEAP_NS 10000u

/* What a pass takes, as the clock of CPU time says. Never the clock's own word: what a pass costs under a
 * sanitizer would decide how many there are. */
static uint64_t pass_cost_ns = CHEAP_NS;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	static uint64_t now_ns;

	if (clock != CLOCK_THREAD_CPUTIME_ID)
		return __real_clock_gettime(clock, time);
	now_ns += pass_cost_ns; /* it is asked at a pass's begin and end */
	time->tv_sec = (time_t)(now_ns / 1000000000);
	time->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

/* The interval that so many passes of that cost lead to. */
static uint64_t settled_ns(struct gauges *gauges, struct store_writer *writer, uint64_t cost_ns)
{
	uint64_t at_ns = 0;

	pass_cost_ns = cost_ns;
	for (unsigned i = 0; i < 60; i++) {
		at_ns = gauges_due_ns(gauges);
		gauges_take(gauges, writer, 0, at_ns);
		gauges_taken(gauges, writer);
	}
	pass_cost_ns = CHEAP_NS;
	return gauges_due_ns(gauges) - at_ns;
}

/* Whatever a pass costs, with a thousand processes or on a slow machine, passes take a thousandth of a core
 * at most; when they get cheap, they come as often as before. A rate that the user gave stays. */
static void test_fall(void **unused)
{
	struct gauges_asked asked = gauges_default();
	struct store_writer *writer = create();
	struct gauges *gauges = gauges_new(&asked, root, 0);
	struct error error;

	(void)unused;
	put_host(100, 5);
	assert_int_equal(settled_ns(gauges, writer, 20000), PASS_NS);
	assert_int_equal(settled_ns(gauges, writer, 1000000), 16 * PASS_NS); /* 1 ms a pass, 1.6 s apart */
	assert_true(settled_ns(gauges, writer, 20000000) >= 20000000000);
	assert_int_equal(settled_ns(gauges, writer, 5000), PASS_NS);
	gauges_rest(gauges, writer, gauges_due_ns(gauges));
	gauges_free(gauges);
	assert_int_equal(gauges_parse(&asked, "10Hz", &error), 0);
	gauges = gauges_new(&asked, root, 0);
	assert_int_equal(settled_ns(gauges, writer, 20000000), PASS_NS);
	gauges_rest(gauges, writer, gauges_due_ns(gauges));
	gauges_free(gauges);
	assert_int_equal(store_writer_close(writer, &error), 0);
}

/* By default most are read once a second, a young process not at all; a list leaves out the others. */
static void test_choice(void **unused)
{
	struct gauges_asked asked;
	struct gauges_process *process = NULL;
	struct store_writer *writer = create();
	struct gauges *gauges;
	struct error error;

	(void)unused;
	put_host(100, 5);
	put_process(20, 5, 600, 4711);
	target.begin_ns = 1000;
	assert_int_equal(gauges_parse(&asked, "resident,net_*,cpu_user", &error), 0);
	gauges = gauges_new(&asked, root, 0);
	pass(gauges, &process, writer, PASS_NS); /* its 100 ms are not over */
	assert_null(process);
	for (unsigned i = 2; i <= 25; i++)
		pass(gauges, &process, writer, i * PASS_NS);
	gauges_process_end(gauges, process, writer, 26 * PASS_NS);
	gauges_rest(gauges, writer, 26 * PASS_NS);
	gauges_free(gauges);
	assert_int_equal(store_writer_close(writer, &error), 0);
	assert_int_equal(series_of("resident", true).count, 24);
	assert_int_equal(series_of("net_sent", false).count, 3);
	assert_int_equal(series_of("private", true).count, 0);
	assert_int_equal(series_of("cpu_busy", false).count, 0);
}

static uint64_t count_alone(const char *name, bool is_process)
{
	struct gauges_process *process = NULL;
	struct store_writer *writer = create();
	struct gauges_asked asked;
	struct gauges *gauges;
	struct error error;

	assert_int_equal(gauges_parse(&asked, name, &error), 0);
	gauges = gauges_new(&asked, root, 0);
	pass(gauges, &process, writer, PASS_NS);
	gauges_process_end(gauges, process, writer, 2 * PASS_NS);
	gauges_rest(gauges, writer, 2 * PASS_NS);
	gauges_free(gauges);
	assert_int_equal(store_writer_close(writer, &error), 0);
	return series_of(strcmp(name, "cores") ? name : "core1_busy", is_process).count;
}

/* ---- counters outside the cores ---- */

#define DEVICES "/sys/bus/event_source/devices"

static void put_event(
	const char *pmu, const char *event, const char *terms, const char *scale, const char *unit)
{
	static const char *const ends[] = {"", ".scale", ".unit"};
	const char *const texts[] = {terms, scale, unit};
	char path[160], text[64];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof path, DEVICES "/%s/events/%s%s", pmu, event, ends[i]);
		snprintf(text, sizeof text, "%s\n", texts[i]);
		put_file(path, text);
	}
}

/* PMUs whose numbers are the kernel's own events, since no others are sure to be here: what they count is
 * page faults on core 0. */
static void put_pmu(const char *pmu)
{
	char path[160];

	snprintf(path, sizeof path, DEVICES "/%s/type", pmu);
	put_file(path, "1\n");
	snprintf(path, sizeof path, DEVICES "/%s/cpumask", pmu);
	put_file(path, "0\n");
	snprintf(path, sizeof path, DEVICES "/%s/format/event", pmu);
	put_file(path, "config:0-7\n");
	snprintf(path, sizeof path, DEVICES "/%s/format/umask", pmu);
	put_file(path, "config:8-15\n");
}

static void put_pmus(void)
{
	put_pmu("power");
	put_event("power", "energy-pkg", "event=0x02", "0.5", "Joules");
	put_event("power", "energy-ram", "event=0x02", "0.25", "Joules");
	put_pmu("uncore_imc_0");
	put_event("uncore_imc_0", "cas_count_read", "event=0x02,umask=0x00", "6.103515625e-5", "MiB");
	put_event("uncore_imc_0", "cas_count_write", "event=0x02", "1", "GiB"); /* of no known unit */
	put_pmu("uncore_imc_1");
	put_event("uncore_imc_1", "cas_count_read", "event=0x02", "6.103515625e-5", "MiB");
	/* The same bytes once more, by counters of another name: they do not count twice. */
	put_pmu("uncore_imc_free_running_0");
	put_event("uncore_imc_free_running_0", "data_read", "event=0x02", "1", "MiB");
	put_event("uncore_imc_free_running_0", "data_write", "event=0x02", "1", "MiB");
	/* None for us: other names, and an event that its files do not describe. */
	put_pmu("cpu");
	put_event("cpu", "cas_count_read", "event=0x02", "1", "MiB");
	put_pmu("uncore_cbox_0");
	put_event("uncore_cbox_0", "cas_count_read", "event=0x02,thresh=1", "1", "MiB");
}

static void touch_pages(unsigned count)
{
	char *pages = mmap(NULL, count * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	madvise(pages, count * 4096ul, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < count; i++)
		((volatile char *)pages)[i * 4096ul] = 1;
	munmap(pages, count * 4096ul);
}

static bool pin_to_core_0(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return !sched_setaffinity(0, sizeof set, &set);
}

#define PAGES 3000u

/* What a file says is what is opened; each page that is touched counts, scaled, on each PMU that has the
 * event. */
static void test_uncore(void **unused)
{
	struct gauge_uncore uncore = {.count = 0};
	uint64_t energy, memory, read, written;

	(void)unused;
	put_pmus();
	if (!gauge_uncore_has(&uncore, root, GAUGE_ENERGY) || !pin_to_core_0()) {
		gauge_uncore_fini(&uncore);
		puts("no system-wide events here (perf_event_paranoid): not tested");
		skip();
	}
	assert_true(gauge_uncore_has(&uncore, root, GAUGE_ENERGY_MEMORY));
	assert_true(gauge_uncore_has(&uncore, root, GAUGE_MEMORY_READ));
	assert_true(gauge_uncore_has(&uncore, root, GAUGE_MEMORY_WRITTEN));
	assert_false(gauge_uncore_has(&uncore, root, GAUGE_CPU_BUSY));
	assert_int_equal(uncore.count, 5);
	energy = gauge_uncore_read(&uncore, GAUGE_ENERGY);
	memory = gauge_uncore_read(&uncore, GAUGE_ENERGY_MEMORY);
	read = gauge_uncore_read(&uncore, GAUGE_MEMORY_READ);
	written = gauge_uncore_read(&uncore, GAUGE_MEMORY_WRITTEN);
	touch_pages(PAGES);
	energy = gauge_uncore_read(&uncore, GAUGE_ENERGY) - energy;
	memory = gauge_uncore_read(&uncore, GAUGE_ENERGY_MEMORY) - memory;
	read = gauge_uncore_read(&uncore, GAUGE_MEMORY_READ) - read;
	written = gauge_uncore_read(&uncore, GAUGE_MEMORY_WRITTEN) - written;
	assert_true(energy >= PAGES * 500000ul && energy % 500000 == 0); /* half a joule, in uJ */
	assert_true(memory >= PAGES * 250000ul);
	assert_true(read >= 2 * PAGES * 64ul); /* two controllers, 64 bytes each */
	assert_true(written >= PAGES * 1048576ul);
	gauge_uncore_fini(&uncore);
	assert_int_equal(uncore.count, 0);
}

/* Terms by the format's files: lists of bits, other words, what is not described. */
static void test_uncore_terms(void **unused)
{
	char directory[128];
	uint64_t config[3];

	(void)unused;
	put_file(DEVICES "/uncore_x/format/event", "config:0-7,21\n");
	put_file(DEVICES "/uncore_x/format/filter", "config1:4-11\n");
	put_file(DEVICES "/uncore_x/format/edge", "config:18\n");
	put_file(DEVICES "/uncore_x/format/bad", "config:70\n");
	snprintf(directory, sizeof directory, "%s" DEVICES "/uncore_x", root);
	assert_true(gauge_uncore_encode(config, directory, "event=0x1ff"));
	assert_int_equal(config[0], 0x2000ff);
	assert_true(gauge_uncore_encode(config, directory, "event=3,edge,filter=0x81"));
	assert_int_equal(config[0], 0x40003);
	assert_int_equal(config[1], 0x810);
	assert_false(gauge_uncore_encode(config, directory, "event=0x200")); /* more than its bits */
	assert_false(gauge_uncore_encode(config, directory, "event=1,thresh=2"));
	assert_false(gauge_uncore_encode(config, directory, "event=x"));
	assert_false(gauge_uncore_encode(config, directory, "bad=1"));
	assert_false(gauge_uncore_encode(config, directory, "../type=1"));
}

/* Each name that is offered is read where the system has it, also if nothing else is asked for. */
static bool is_uncore(unsigned gauge)
{
	return gauge == GAUGE_ENERGY_MEMORY || gauge == GAUGE_MEMORY_READ || gauge == GAUGE_MEMORY_WRITTEN;
}

static void test_each(void **unused)
{
	struct gauge_uncore uncore = {.count = 0};
	bool has_uncore;

	(void)unused;
	put_pmus();
	put_host(100, 5);
	put_process(20, 5, 600, 4711);
	put_file("/proc/77/fd/0", "");
	put_file("/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
	put_file("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
	put_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
	put_file("/sys/fs/cgroup/job/1/memory.max", "16384\n");
	target.begin_ns = 0;
	has_uncore = gauge_uncore_has(&uncore, root, GAUGE_ENERGY);
	gauge_uncore_fini(&uncore);
	for (unsigned i = 0; i < GAUGE_COUNT; i++)
		if (gauge_names[i].scope != GAUGE_DEVICE && (has_uncore || !is_uncore(i)) &&
			count_alone(gauge_names[i].name, gauge_names[i].scope == GAUGE_PROCESS) != 1)
			fail_msg("%s is offered, but not read", gauge_names[i].name);
	assert_int_equal(count_alone("cores", false), 1);
}

static void put_card(unsigned number, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof path, "/sys/class/drm/card%u/device/%s", number, file);
	put_file(path, text);
}

/* The value that was read; UINT64_MAX: none. */
static uint64_t value_of(const struct gauge_device_values *values, enum gauge_id gauge)
{
	for (uint32_t i = 0; i < values->count; i++)
		if (values->value[i].gauge == gauge)
			return values->value[i].value;
	return UINT64_MAX;
}

static void put_cards(void)
{
	put_card(0, "vendor", "0x8086\n"); /* another's */
	put_card(1, "vendor", "0x1002\n");
	put_card(1, "device", "0x740f\n");
	put_card(1, "unique_id", "18f30be4ea4c0ea3\n");
	put_card(1, "gpu_busy_percent", "63\n");
	put_card(1, "mem_busy_percent", "12\n");
	put_card(1, "mem_info_vram_used", "1073741824\n");
	put_card(1, "mem_info_vram_total", "68702699520\n");
	put_card(1, "hwmon/hwmon3/power1_average", "91500000\n");
	put_card(1, "hwmon/hwmon3/freq1_input", "1700000000\n");
	put_card(1, "hwmon/hwmon3/freq2_input", "1600000000\n");
	put_card(1, "hwmon/hwmon3/temp1_input", "47000\n");
	put_card(1, "ras/umc_err_count", "ue: 2\nce: 5\n");
	put_card(3, "vendor", "0x1002\n");
	put_card(3, "product_name", "Instinct MI300X\n");
	put_card(3, "hwmon/hwmon9/power1_input", "140000000\n"); /* what newer boards have */
	put_card(3, "gpu_busy_percent", "99\n");
}

/* AMD's figures are what the files of the kernel's driver say; a sleeping device is not woken. */
static void test_amd(void **unused)
{
	struct gauge_device devices[GAUGE_DEVICES];
	struct gauge_device_values values = {.wanted = UINT64_MAX, .is_slow = true};
	void *own;

	(void)unused;
	put_cards();
	assert_int_equal(gauge_amd.open(&own, root, devices, GAUGE_DEVICES), 2);
	assert_string_equal(devices[0].name, "AMD GPU 0x740f");
	assert_string_equal(devices[0].uuid, "GPU-18f30be4ea4c0ea3");
	assert_string_equal(devices[1].name, "Instinct MI300X");
	gauge_amd.read(own, 0, &values);
	assert_int_equal(values.count, 10);
	assert_int_equal(value_of(&values, GAUGE_GPU_BUSY), 63);
	assert_int_equal(value_of(&values, GAUGE_GPU_MEMORY_BUSY), 12);
	assert_int_equal(value_of(&values, GAUGE_GPU_MEMORY_USED), UINT64_C(1) << 30);
	assert_int_equal(value_of(&values, GAUGE_GPU_POWER), 91500);
	assert_int_equal(value_of(&values, GAUGE_GPU_CLOCK), 1700000000);
	assert_int_equal(value_of(&values, GAUGE_GPU_MEMORY_CLOCK), 1600000000);
	assert_int_equal(value_of(&values, GAUGE_GPU_TEMPERATURE), 47000);
	assert_int_equal(value_of(&values, GAUGE_GPU_ECC_CORRECTED), 5);
	assert_int_equal(value_of(&values, GAUGE_GPU_ECC_UNCORRECTED), 2);
	values.count = 0;
	values.is_slow = false;
	gauge_amd.read(own, 1, &values);
	assert_int_equal(values.count, 2);
	assert_int_equal(value_of(&values, GAUGE_GPU_POWER), 140000);
	put_card(3, "power/runtime_status", "suspended\n");
	values.count = 0;
	gauge_amd.read(own, 1, &values);
	assert_int_equal(values.count, 0);
	gauge_amd.close(own);
}

static void test_words(void **unused)
{
	struct gauges_asked asked;
	struct error error;

	(void)unused;
	assert_int_equal(gauges_parse(&asked, "off", &error), 0);
	assert_int_equal(asked.interval_ns, 0);
	assert_int_equal(gauges_parse(&asked, "1kHz", &error), 0);
	assert_int_equal(asked.interval_ns, 1000000);
	assert_true(asked.is_exact);
	assert_int_equal(gauges_parse(&asked, "250ms,threads", &error), 0);
	assert_int_equal(asked.interval_ns, 250000000);
	assert_int_equal(asked.wanted, UINT64_C(1) << GAUGE_THREADS);
	assert_int_equal(gauges_parse(&asked, "cores", &error), 0);
	assert_int_equal(asked.wanted, UINT64_C(1) << GAUGE_CORE_BIT);
	assert_int_equal(gauges_parse(&asked, "10kHz", &error), -ERROR_USAGE);
	assert_int_equal(gauges_parse(&asked, "resident,nonsense", &error), -ERROR_USAGE);
	assert_non_null(strstr(error.text, "nonsense"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_figures),
		cmocka_unit_test(test_bytes), cmocka_unit_test(test_fall), cmocka_unit_test(test_choice),
		cmocka_unit_test(test_each), cmocka_unit_test(test_uncore),
		cmocka_unit_test(test_uncore_terms), cmocka_unit_test(test_amd)};
	char command[96];
	int result;

	snprintf(root, sizeof root, "/tmp/hpct-gauges-%d", (int)getpid());
	snprintf(store, sizeof store, "%s/store.mdb", root);
	mkdir(root, 0700);
	result = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof command, "rm -r %s", root);
	return system(command) ? 1 : result;
}
