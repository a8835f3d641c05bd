/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge_nvml.c - figures of NVIDIA's GPUs, from the driver's library NVML, which is loaded when it is there.
 * Its functions and structures are declared here as the library has them since driver 450, since its header
 * comes with the toolkit alone. On an H200 utilization takes 190 us of CPU time, energy 4 ms, the other calls
 * together 50 us; PCIe's throughput waits for 20 ms, and is asked for where there are no counters.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/gauges/gauge_vendor.h"

#define NVML_DEVICES 16u
#define NVML_ALL_LINKS UINT32_MAX
#define ENERGY_NS UINT64_C(5000000000) /* the call takes 4 ms of CPU time on an H200 */
#define PCIE_LOOK_NS UINT64_C(10000000)

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { PCIE_SENT = 0, PCIE_RECEIVED = 1 };
enum { ECC_CORRECTED = 0, ECC_UNCORRECTED = 1 };
enum {
	FIELD_NVLINK_SENT = 138, /* KiB, of all links */
	FIELD_NVLINK_RECEIVED = 139,
	FIELD_POWER_NOW = 186, /* mW */
	FIELD_PCIE_SENT = 197, /* bytes, wraps at 32 bits where its type is so narrow */
	FIELD_PCIE_RECEIVED = 198
};
enum { TYPE_DOUBLE, TYPE_UINT, TYPE_ULONG, TYPE_ULONG_LONG, TYPE_LONG_LONG, TYPE_INT };

/* Why clocks are held down: the bits of the driver's mask. */
#define CAPPED_POWER (UINT64_C(0x4) | UINT64_C(0x80)) /* the limit of power; the supply's brake */
#define CAPPED_HEAT (UINT64_C(0x20) | UINT64_C(0x40))
#define CAPPED_OTHER (UINT64_C(0x2) | UINT64_C(0x8) | UINT64_C(0x10) | UINT64_C(0x100))
#define SLOWED UINT64_C(0x8) /* stands beside power's and heat's own bits, and alone for others */

typedef void *nvml_device;
struct nvml_utilization {
	unsigned gpu, memory;
};
struct nvml_memory {
	unsigned long long total, free, used;
};
struct nvml_memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};
struct nvml_field {
	unsigned id, scope;
	long long timestamp, latency_us;
	int type, result;
	union {
		double real;
		unsigned narrow;
		unsigned long long wide;
	} value;
};
_Static_assert(sizeof(struct nvml_field) == 40 && sizeof(struct nvml_memory_v2) == 40, "as NVML's");
#define MEMORY_VERSION (sizeof(struct nvml_memory_v2) | 2u << 24)

/* name in the table, the library's names for it: the newer one, and an older one or the same again. */
#define FUNCTIONS(X)                                                                                         \
	X(init, "nvmlInit_v2", "nvmlInit", (void))                                                           \
	X(shutdown, "nvmlShutdown", "nvmlShutdown", (void))                                                  \
	X(count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", (unsigned *))                                \
	X(handle, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex", (unsigned, nvml_device *))  \
	X(name, "nvmlDeviceGetName", "nvmlDeviceGetName", (nvml_device, char *, unsigned))                   \
	X(uuid, "nvmlDeviceGetUUID", "nvmlDeviceGetUUID", (nvml_device, char *, unsigned))                   \
	X(utilization, "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetUtilizationRates",                     \
		(nvml_device, struct nvml_utilization *))                                                    \
	X(memory, "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo", (nvml_device, struct nvml_memory *)) \
	X(memory_v2, "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMemoryInfo_v2",                             \
		(nvml_device, struct nvml_memory_v2 *))                                                      \
	X(power, "nvmlDeviceGetPowerUsage", "nvmlDeviceGetPowerUsage", (nvml_device, unsigned *))            \
	X(energy, "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetTotalEnergyConsumption",              \
		(nvml_device, unsigned long long *))                                                         \
	X(clock, "nvmlDeviceGetClockInfo", "nvmlDeviceGetClockInfo", (nvml_device, int, unsigned *))         \
	X(temperature, "nvmlDeviceGetTemperature", "nvmlDeviceGetTemperature",                               \
		(nvml_device, int, unsigned *))                                                              \
	X(reasons, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",    \
		(nvml_device, unsigned long long *))                                                         \
	X(pcie, "nvmlDeviceGetPcieThroughput", "nvmlDeviceGetPcieThroughput",                                \
		(nvml_device, int, unsigned *))                                                              \
	X(fields, "nvmlDeviceGetFieldValues", "nvmlDeviceGetFieldValues",                                    \
		(nvml_device, int, struct nvml_field *))                                                     \
	X(ecc, "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetTotalEccErrors",                                 \
		(nvml_device, int, int, unsigned long long *))

/* A counter of the driver's that may be narrower than ours. */
struct nvml_counter {
	uint64_t last, total;
	bool is_there;
};

struct nvml_state {
	nvml_device handle;
	uint64_t refused; /* bit per enum gauge_id: the device has it not, and is not asked again */
	bool has_no_power_now, has_no_pcie_counter;
	uint64_t energy_ns; /* when it may be asked for again */
	struct nvml_counter counter[GAUGE_COUNT];
};

struct nvml {
	void *library;
	bool is_begun;
#define X(name, symbol, older, arguments) int(*name) arguments;
	FUNCTIONS(X)
#undef X
	struct nvml_state device[NVML_DEVICES];
	unsigned device_count;
};

static void functions_find(struct nvml *nvml)
{
	static const struct {
		size_t offset;
		const char *symbol, *older;
	} functions[] = {
#define X(name, symbol, older, arguments) {offsetof(struct nvml, name), symbol, older},
		FUNCTIONS(X)
#undef X
	};

	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *at = dlsym(nvml->library, functions[i].symbol);

		at = at ? at : dlsym(nvml->library, functions[i].older);
		memcpy((char *)nvml + functions[i].offset, &at, sizeof at);
	}
}

static bool library_open(struct nvml *nvml)
{
	nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!nvml->library)
		return false;
	functions_find(nvml);
	if (!nvml->init || !nvml->shutdown || !nvml->count || !nvml->handle || nvml->init())
		return false;
	nvml->is_begun = true;
	return true;
}

static void device_describe(const struct nvml *nvml, nvml_device handle, struct gauge_device *device)
{
	if (!nvml->name || nvml->name(handle, device->name, sizeof device->name))
		device->name[0] = '\0';
	if (!nvml->uuid || nvml->uuid(handle, device->uuid, sizeof device->uuid))
		device->uuid[0] = '\0';
	device->name[sizeof device->name - 1] = device->uuid[sizeof device->uuid - 1] = '\0';
}

static unsigned nvml_open(void **own, const char *root, struct gauge_device *devices, unsigned room)
{
	struct nvml *nvml = calloc(1, sizeof *nvml);
	unsigned count = 0;

	(void)root;
	*own = nvml;
	if (!nvml || !library_open(nvml) || nvml->count(&count))
		return 0;
	for (unsigned i = 0; i < count && nvml->device_count < NVML_DEVICES && nvml->device_count < room;
		i++) {
		struct nvml_state *state = &nvml->device[nvml->device_count];

		/* One that has fallen off the bus is left out. */
		if (nvml->handle(i, &state->handle))
			continue;
		device_describe(nvml, state->handle, &devices[nvml->device_count++]);
	}
	return nvml->device_count;
}

/* ---- one device ---- */

struct reading {
	const struct nvml *nvml;
	struct nvml_state *state;
	struct gauge_device_values *values;
};

static bool is_due(const struct reading *reading, enum gauge_id gauge)
{
	return gauge_device_is_due(reading->values, gauge) && !(reading->state->refused >> gauge & 1);
}

/* What the device refuses once, it is not asked for again. */
static bool is_answered(const struct reading *reading, enum gauge_id gauge, int result)
{
	if (result)
		reading->state->refused |= UINT64_C(1) << gauge;
	return !result;
}

static void put(const struct reading *reading, enum gauge_id gauge, uint64_t value)
{
	gauge_device_put(reading->values, gauge, value);
}

static void read_utilization(const struct reading *reading)
{
	struct nvml_utilization busy;

	if (!reading->nvml->utilization ||
		(!is_due(reading, GAUGE_GPU_BUSY) && !is_due(reading, GAUGE_GPU_MEMORY_BUSY)) ||
		!is_answered(
			reading, GAUGE_GPU_BUSY, reading->nvml->utilization(reading->state->handle, &busy)))
		return;
	put(reading, GAUGE_GPU_BUSY, busy.gpu);
	put(reading, GAUGE_GPU_MEMORY_BUSY, busy.memory);
}

/* The newer call counts what the driver itself keeps apart, as nvidia-smi does. */
static void read_memory(const struct reading *reading)
{
	struct nvml_memory_v2 apart = {.version = MEMORY_VERSION};
	struct nvml_memory memory;

	if (!is_due(reading, GAUGE_GPU_MEMORY_USED) && !is_due(reading, GAUGE_GPU_MEMORY_TOTAL))
		return;
	if (reading->nvml->memory_v2 && !reading->nvml->memory_v2(reading->state->handle, &apart)) {
		put(reading, GAUGE_GPU_MEMORY_USED, apart.used);
		put(reading, GAUGE_GPU_MEMORY_TOTAL, apart.total);
	} else if (reading->nvml->memory && is_answered(reading, GAUGE_GPU_MEMORY_USED,
						    reading->nvml->memory(reading->state->handle, &memory))) {
		put(reading, GAUGE_GPU_MEMORY_USED, memory.used);
		put(reading, GAUGE_GPU_MEMORY_TOTAL, memory.total);
	}
}

static bool field_read(const struct reading *reading, unsigned id, struct nvml_field *field)
{
	*field = (struct nvml_field){.id = id, .scope = id < FIELD_POWER_NOW ? NVML_ALL_LINKS : 0};
	return reading->nvml->fields && !reading->nvml->fields(reading->state->handle, 1, field) &&
	       !field->result && field->type != TYPE_DOUBLE;
}

static bool is_narrow(const struct nvml_field *field)
{
	return field->type == TYPE_UINT || field->type == TYPE_INT;
}

static uint64_t field_value(const struct nvml_field *field)
{
	return is_narrow(field) ? field->value.narrow : field->value.wide;
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void read_power(const struct reading *reading)
{
	struct nvml_state *state = reading->state;
	unsigned long long energy_mj;
	struct nvml_field field;
	unsigned mw;

	if (is_due(reading, GAUGE_GPU_POWER)) {
		state->has_no_power_now |=
			!state->has_no_power_now && !field_read(reading, FIELD_POWER_NOW, &field);
		if (!state->has_no_power_now)
			put(reading, GAUGE_GPU_POWER, field_value(&field));
		else if (reading->nvml->power &&
			 is_answered(reading, GAUGE_GPU_POWER, reading->nvml->power(state->handle, &mw)))
			put(reading, GAUGE_GPU_POWER, mw);
	}
	if (is_due(reading, GAUGE_GPU_ENERGY) && now_ns() >= state->energy_ns && reading->nvml->energy &&
		is_answered(reading, GAUGE_GPU_ENERGY, reading->nvml->energy(state->handle, &energy_mj)))
		put(reading, GAUGE_GPU_ENERGY, energy_mj);
	state->energy_ns = now_ns() >= state->energy_ns ? now_ns() + ENERGY_NS : state->energy_ns;
}

static void read_clock(const struct reading *reading, enum gauge_id gauge, int which)
{
	unsigned mhz;

	if (reading->nvml->clock && is_due(reading, gauge) &&
		is_answered(reading, gauge, reading->nvml->clock(reading->state->handle, which, &mhz)))
		put(reading, gauge, mhz * UINT64_C(1000000));
}

static void read_reasons(const struct reading *reading)
{
	unsigned long long why;

	if (!reading->nvml->reasons ||
		(!is_due(reading, GAUGE_GPU_CAPPED_POWER) && !is_due(reading, GAUGE_GPU_CAPPED_HEAT) &&
			!is_due(reading, GAUGE_GPU_CAPPED_OTHER)) ||
		!is_answered(reading, GAUGE_GPU_CAPPED_POWER,
			reading->nvml->reasons(reading->state->handle, &why)))
		return;
	if (why & (CAPPED_POWER | CAPPED_HEAT))
		why &= ~SLOWED;
	put(reading, GAUGE_GPU_CAPPED_POWER, why & CAPPED_POWER ? 100 : 0);
	put(reading, GAUGE_GPU_CAPPED_HEAT, why & CAPPED_HEAT ? 100 : 0);
	put(reading, GAUGE_GPU_CAPPED_OTHER, why & CAPPED_OTHER ? 100 : 0);
}

static void read_temperature(const struct reading *reading)
{
	unsigned degrees;

	if (reading->nvml->temperature && is_due(reading, GAUGE_GPU_TEMPERATURE) &&
		is_answered(reading, GAUGE_GPU_TEMPERATURE,
			reading->nvml->temperature(reading->state->handle, 0, &degrees)))
		put(reading, GAUGE_GPU_TEMPERATURE, degrees * UINT64_C(1000));
}

/* ---- PCIe ---- */

/* The driver's counters of 32 bits wrap within 80 ms on a fast bus: they are read twice, with the other
 * figures between, and give a rate. */
struct pcie_look {
	uint64_t received, sent, time_ns;
	bool is_there, is_narrow;
};

static void pcie_look(const struct reading *reading, struct pcie_look *look)
{
	struct nvml_state *state = reading->state;
	struct nvml_field received, sent;

	*look = (struct pcie_look){.is_there = false};
	if (state->has_no_pcie_counter ||
		(!is_due(reading, GAUGE_GPU_PCIE_RECEIVED) && !is_due(reading, GAUGE_GPU_PCIE_SENT)))
		return;
	look->is_there = field_read(reading, FIELD_PCIE_RECEIVED, &received) &&
			 field_read(reading, FIELD_PCIE_SENT, &sent);
	state->has_no_pcie_counter = !look->is_there;
	if (!look->is_there)
		return;
	look->is_narrow = is_narrow(&received);
	look->received = field_value(&received);
	look->sent = field_value(&sent);
	look->time_ns = now_ns();
}

static uint64_t pcie_rate(const struct pcie_look *from, const struct pcie_look *to, uint64_t grown)
{
	if (from->is_narrow)
		grown = (uint32_t)grown;
	return (uint64_t)((double)grown * 1e9 / (double)(to->time_ns - from->time_ns));
}

static void put_throughput(const struct reading *reading, enum gauge_id gauge, int which)
{
	unsigned kb;

	if (reading->nvml->pcie && is_due(reading, gauge) &&
		is_answered(reading, gauge, reading->nvml->pcie(reading->state->handle, which, &kb)))
		put(reading, gauge, kb * UINT64_C(1000));
}

/* Without counters: the driver looks on for 20 ms. */
static void read_pcie(const struct reading *reading, const struct pcie_look *first)
{
	struct pcie_look second;
	uint64_t passed_ns;

	if (!first->is_there) {
		put_throughput(reading, GAUGE_GPU_PCIE_RECEIVED, PCIE_RECEIVED);
		put_throughput(reading, GAUGE_GPU_PCIE_SENT, PCIE_SENT);
		return;
	}
	passed_ns = now_ns() - first->time_ns;
	if (passed_ns < PCIE_LOOK_NS)
		nanosleep(&(struct timespec){.tv_nsec = (long)(PCIE_LOOK_NS - passed_ns)}, NULL);
	pcie_look(reading, &second);
	if (!second.is_there)
		return;
	put(reading, GAUGE_GPU_PCIE_RECEIVED, pcie_rate(first, &second, second.received - first->received));
	put(reading, GAUGE_GPU_PCIE_SENT, pcie_rate(first, &second, second.sent - first->sent));
}

/* A counter goes on where the device was reset. */
static void put_counter(
	const struct reading *reading, enum gauge_id gauge, const struct nvml_field *field, uint64_t factor)
{
	struct nvml_counter *counter = &reading->state->counter[gauge];
	uint64_t value = field_value(field);

	if (!counter->is_there)
		counter->total = value;
	else if (is_narrow(field))
		counter->total += (uint32_t)(value - counter->last);
	else
		counter->total += value >= counter->last ? value - counter->last : value;
	counter->is_there = true;
	counter->last = value;
	put(reading, gauge, counter->total * factor);
}

static void read_nvlink(const struct reading *reading)
{
	static const struct {
		enum gauge_id gauge;
		unsigned field;
	} ways[] = {{GAUGE_GPU_NVLINK_RECEIVED, FIELD_NVLINK_RECEIVED},
		{GAUGE_GPU_NVLINK_SENT, FIELD_NVLINK_SENT}};
	struct nvml_field field;

	for (unsigned i = 0; i < 2; i++)
		if (is_due(reading, ways[i].gauge) &&
			is_answered(reading, ways[i].gauge, !field_read(reading, ways[i].field, &field)))
			put_counter(reading, ways[i].gauge, &field, 1024);
}

static void read_ecc(const struct reading *reading, enum gauge_id gauge, int which)
{
	unsigned long long errors;

	if (reading->nvml->ecc && is_due(reading, gauge) &&
		is_answered(reading, gauge, reading->nvml->ecc(reading->state->handle, which, 0, &errors)))
		put(reading, gauge, errors);
}

static void nvml_read(void *own, unsigned device, struct gauge_device_values *values)
{
	struct nvml *nvml = own;
	const struct reading reading = {nvml, &nvml->device[device], values};
	struct pcie_look look;

	pcie_look(&reading, &look);
	read_utilization(&reading);
	read_memory(&reading);
	read_power(&reading);
	read_clock(&reading, GAUGE_GPU_CLOCK, CLOCK_SM);
	read_clock(&reading, GAUGE_GPU_MEMORY_CLOCK, CLOCK_MEMORY);
	read_reasons(&reading);
	read_temperature(&reading);
	read_nvlink(&reading);
	read_ecc(&reading, GAUGE_GPU_ECC_CORRECTED, ECC_CORRECTED);
	read_ecc(&reading, GAUGE_GPU_ECC_UNCORRECTED, ECC_UNCORRECTED);
	read_pcie(&reading, &look);
}

static void nvml_close(void *own)
{
	struct nvml *nvml = own;

	if (!nvml)
		return;
	if (nvml->is_begun)
		nvml->shutdown();
	if (nvml->library)
		dlclose(nvml->library);
	free(nvml);
}

const struct gauge_vendor gauge_nvml = {
	.name = "NVML",
	.open = nvml_open,
	.read = nvml_read,
	.close = nvml_close,
};
