/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_list.h - the figures that can be recorded over time: their names, units and kinds; --gauges. */
#ifndef RECORD_GAUGE_LIST_H
#define RECORD_GAUGE_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "store/base/error.h"
#include "store/store.h"

enum gauge_scope { GAUGE_HOST, GAUGE_PROCESS, GAUGE_DEVICE };

/* name, unit of its values, kind, scope, 1: read once a second by default, what it is. Readers show counters
 * as rates: ns/ns as %, B as B/s. */
#define GAUGES(X)                                                                                            \
	X(CPU_USER, "cpu_user", "ns", COUNTER, PROCESS, 0, "CPU time in user mode")                          \
	X(CPU_SYSTEM, "cpu_system", "ns", COUNTER, PROCESS, 0, "CPU time in the kernel")                     \
	X(RESIDENT, "resident", "B", GAUGE, PROCESS, 0, "resident memory")                                   \
	X(PRIVATE, "private", "B", GAUGE, PROCESS, 0, "resident memory that is not of files or shared")      \
	X(FAULTS, "faults", "", COUNTER, PROCESS, 0, "page faults")                                          \
	X(MAJOR_FAULTS, "major_faults", "", COUNTER, PROCESS, 0, "page faults that waited for a disk")       \
	X(THREADS, "threads", "", GAUGE, PROCESS, 0, "threads")                                              \
	X(DESCRIPTORS, "descriptors", "", GAUGE, PROCESS, 1, "open descriptors")                             \
	X(READ, "read", "B", COUNTER, PROCESS, 1, "bytes read by calls")                                     \
	X(WRITTEN, "written", "B", COUNTER, PROCESS, 1, "bytes written by calls")                            \
	X(DISK_READ_BY, "storage_read", "B", COUNTER, PROCESS, 1, "bytes fetched from storage")              \
	X(DISK_WRITTEN_BY, "storage_written", "B", COUNTER, PROCESS, 1, "bytes sent to storage")             \
	X(CPU_BUSY, "cpu_busy", "ns", COUNTER, HOST, 0, "CPU time of all cores, all programs")               \
	X(CPU_IOWAIT, "cpu_iowait", "ns", COUNTER, HOST, 0, "idle time of cores with I/O outstanding")       \
	X(CPU_STOLEN, "cpu_stolen", "ns", COUNTER, HOST, 0, "time that the hypervisor kept")                 \
	X(MEMORY_USED, "memory_used", "B", GAUGE, HOST, 0, "memory that is not available")                   \
	X(MEMORY_TOTAL, "memory_total", "B", GAUGE, HOST, 1, "memory of the machine")                        \
	X(SWAP_USED, "swap_used", "B", GAUGE, HOST, 1, "swap in use")                                        \
	X(LOAD, "load", "", REAL, HOST, 1, "load average of the last minute")                                \
	X(RUNNABLE, "runnable", "", GAUGE, HOST, 1, "threads that run or could")                             \
	X(NET_RECEIVED, "net_received", "B", COUNTER, HOST, 1, "bytes received, without the loopback")       \
	X(NET_SENT, "net_sent", "B", COUNTER, HOST, 1, "bytes sent, without the loopback")                   \
	X(DISK_READ, "disk_read", "B", COUNTER, HOST, 1, "bytes read from disks")                            \
	X(DISK_WRITTEN, "disk_written", "B", COUNTER, HOST, 1, "bytes written to disks")                     \
	X(PRESSURE_CPU, "pressure_cpu", "ns", COUNTER, HOST, 1, "time that some thread waited for a core")   \
	X(PRESSURE_MEMORY, "pressure_memory", "ns", COUNTER, HOST, 1,                                        \
		"time that some thread waited for memory")                                                   \
	X(PRESSURE_IO, "pressure_io", "ns", COUNTER, HOST, 1, "time that some thread waited for I/O")        \
	X(FREQUENCY, "frequency", "Hz", GAUGE, HOST, 1, "mean clock of the cores")                           \
	X(TEMPERATURE, "temperature", "mC", GAUGE, HOST, 1, "the hottest zone, in thousandths of a degree")  \
	X(ENERGY, "energy", "uJ", COUNTER, HOST, 1, "energy of all packages (RAPL)")                         \
	X(ENERGY_MEMORY, "energy_memory", "uJ", COUNTER, HOST, 1, "energy of memory (RAPL)")                 \
	X(MEMORY_READ, "memory_read", "B", COUNTER, HOST, 1, "bytes that memory controllers read (uncore)")  \
	X(MEMORY_WRITTEN, "memory_written", "B", COUNTER, HOST, 1,                                           \
		"bytes that memory controllers wrote (uncore)")                                              \
	X(CGROUP_MEMORY, "cgroup_memory", "B", GAUGE, HOST, 1, "memory of the run's control group")          \
	X(CGROUP_MEMORY_LIMIT, "cgroup_memory_limit", "B", GAUGE, HOST, 1, "its limit")                      \
	X(CGROUP_CPU_LIMIT, "cgroup_cpu_limit", "%", GAUGE, HOST, 1, "its limit of CPU time, 100: one core") \
	X(CGROUP_THROTTLED, "cgroup_throttled", "ns", COUNTER, HOST, 1,                                      \
		"time that it was kept from the cores")                                                      \
	X(GPU_BUSY, "gpu_busy", "%", GAUGE, DEVICE, 0, "time in which some kernel ran, by the driver")       \
	X(GPU_MEMORY_BUSY, "gpu_memory_busy", "%", GAUGE, DEVICE, 0,                                         \
		"time in which its memory was accessed")                                                     \
	X(GPU_MEMORY_USED, "gpu_memory_used", "B", GAUGE, DEVICE, 0, "memory in use, by all programs")       \
	X(GPU_MEMORY_TOTAL, "gpu_memory_total", "B", GAUGE, DEVICE, 1, "memory of the device")               \
	X(GPU_POWER, "gpu_power", "mW", GAUGE, DEVICE, 0, "power")                                           \
	X(GPU_ENERGY, "gpu_energy", "mJ", COUNTER, DEVICE, 1, "energy")                                      \
	X(GPU_CLOCK, "gpu_clock", "Hz", GAUGE, DEVICE, 0, "clock of its processors")                         \
	X(GPU_MEMORY_CLOCK, "gpu_memory_clock", "Hz", GAUGE, DEVICE, 1, "clock of its memory")               \
	X(GPU_CAPPED_POWER, "gpu_capped_power", "%", GAUGE, DEVICE, 0,                                       \
		"100 while clocks are held down for power")                                                  \
	X(GPU_CAPPED_HEAT, "gpu_capped_heat", "%", GAUGE, DEVICE, 0,                                         \
		"100 while clocks are held down for heat")                                                   \
	X(GPU_CAPPED_OTHER, "gpu_capped_other", "%", GAUGE, DEVICE, 0,                                       \
		"100 while clocks are held down by settings or the board")                                   \
	X(GPU_TEMPERATURE, "gpu_temperature", "mC", GAUGE, DEVICE, 1,                                        \
		"temperature, in thousandths of a degree")                                                   \
	X(GPU_PCIE_RECEIVED, "gpu_pcie_received", "B/s", GAUGE, DEVICE, 1, "over PCIe to the device")        \
	X(GPU_PCIE_SENT, "gpu_pcie_sent", "B/s", GAUGE, DEVICE, 1, "over PCIe from the device")              \
	X(GPU_NVLINK_RECEIVED, "gpu_nvlink_received", "B", COUNTER, DEVICE, 1, "bytes over NVLink to it")    \
	X(GPU_NVLINK_SENT, "gpu_nvlink_sent", "B", COUNTER, DEVICE, 1, "bytes over NVLink from it")          \
	X(GPU_ECC_CORRECTED, "gpu_ecc_corrected", "", COUNTER, DEVICE, 1,                                    \
		"errors of memory that ECC mended")                                                          \
	X(GPU_ECC_UNCORRECTED, "gpu_ecc_uncorrected", "", COUNTER, DEVICE, 1,                                \
		"errors of memory that it could not mend")

enum gauge_id {
#define X(id, name, unit, kind, scope, slow, text) GAUGE_##id,
	GAUGES(X)
#undef X
		GAUGE_COUNT
};
/* Beside those: core0_busy, core1_busy ... of the first cores (ns, counters). */
#define GAUGE_CORES 64u
_Static_assert(GAUGE_COUNT < 64, "a word has a bit for each, and one for the cores");
#define GAUGE_CORE_BIT 63u

struct gauge_name {
	const char *name, *unit, *text;
	enum store_metric_kind kind;
	bool is_real, is_slow;
	enum gauge_scope scope;
};
extern const struct gauge_name gauge_names[GAUGE_COUNT];

struct gauges_asked {
	uint64_t interval_ns; /* between two passes; 0: none are taken */
	uint64_t wanted;      /* bit per enum gauge_id, and GAUGE_CORE_BIT */
	bool is_exact;	      /* the user gave the rate: it does not fall, and all figures have it */
};
/* What is recorded without --gauges. */
struct gauges_asked gauges_default(void);
/* --gauges TEXT: off, or rates and names separated by commas: 10Hz, 1kHz, 100ms, resident, cpu_*, core*. */
int gauges_parse(struct gauges_asked *asked, const char *text, struct error *error);
/* For --list. */
void gauges_print(FILE *out);

#endif
