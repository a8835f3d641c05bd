/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge_sysman.c - figures of Level Zero's GPUs, from its system management (sysman), if the loader and its
 * driver offer it. Parts on sub-devices are left out where the whole device has them.
 */
#include "record/gauges/gauge_vendor.h"

#include <stdlib.h>

#if __has_include(<level_zero/zes_api.h>)
#include <dlfcn.h>
#include <level_zero/zes_api.h>
#include <stdio.h>
#include <string.h>

#define DRIVERS 8u
#define DEVICES 32u
#define PARTS 8u /* of one kind, of one device */

/* clang-format off */
#define FUNCTIONS(X) \
	X(zeInit) \
	X(zeDriverGet) \
	X(zeDeviceGet) \
	X(zesDeviceGetProperties) \
	X(zesDeviceEnumEngineGroups) \
	X(zesEngineGetProperties) \
	X(zesEngineGetActivity) \
	X(zesDeviceEnumMemoryModules) \
	X(zesMemoryGetProperties) \
	X(zesMemoryGetState) \
	X(zesDeviceEnumPowerDomains) \
	X(zesPowerGetProperties) \
	X(zesPowerGetEnergyCounter) \
	X(zesDeviceEnumFrequencyDomains) \
	X(zesFrequencyGetProperties) \
	X(zesFrequencyGetState) \
	X(zesDeviceEnumTemperatureSensors) \
	X(zesTemperatureGetProperties) \
	X(zesTemperatureGetState) \
	X(zesDevicePciGetStats)
/* clang-format on */

struct sysman_device {
	zes_device_handle_t handle;
	zes_engine_handle_t engine; /* NULL: none */
	zes_engine_stats_t engine_last;
	zes_mem_handle_t memory[PARTS];
	uint32_t memory_count;
	zes_pwr_handle_t power;
	zes_power_energy_counter_t power_last;
	zes_freq_handle_t clock, memory_clock;
	zes_temp_handle_t temperature;
	zes_pci_stats_t pci_last;
};

struct sysman {
	void *library;
#define X(name) __typeof__(&(name)) name;
	FUNCTIONS(X)
#undef X
	struct sysman_device device[DEVICES];
	unsigned count;
};

/* ---- finding ---- */

static bool functions_find(struct sysman *sysman)
{
	static const struct {
		size_t offset;
		const char *name;
	} functions[] = {
#define X(name) {offsetof(struct sysman, name), #name},
		FUNCTIONS(X)
#undef X
	};

	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *at = dlsym(sysman->library, functions[i].name);

		if (!at)
			return false;
		memcpy((char *)sysman + functions[i].offset, &at, sizeof at);
	}
	return true;
}

static void engine_find(const struct sysman *sysman, struct sysman_device *device)
{
	zes_engine_handle_t list[PARTS];
	uint32_t count = PARTS;

	if (sysman->zesDeviceEnumEngineGroups(device->handle, &count, list))
		return;
	for (uint32_t i = 0; i < count && i < PARTS; i++) {
		zes_engine_properties_t is = {.stype = ZES_STRUCTURE_TYPE_ENGINE_PROPERTIES};

		if (!sysman->zesEngineGetProperties(list[i], &is) && is.type == ZES_ENGINE_GROUP_ALL &&
			!(device->engine && is.onSubdevice))
			device->engine = list[i];
	}
}

static void memory_find(const struct sysman *sysman, struct sysman_device *device)
{
	uint32_t count = PARTS;

	if (!sysman->zesDeviceEnumMemoryModules(device->handle, &count, device->memory))
		device->memory_count = count < PARTS ? count : PARTS;
}

static void power_find(const struct sysman *sysman, struct sysman_device *device)
{
	zes_pwr_handle_t list[PARTS];
	uint32_t count = PARTS;

	if (sysman->zesDeviceEnumPowerDomains(device->handle, &count, list))
		return;
	for (uint32_t i = 0; i < count && i < PARTS; i++) {
		zes_power_properties_t is = {.stype = ZES_STRUCTURE_TYPE_POWER_PROPERTIES};

		if (!sysman->zesPowerGetProperties(list[i], &is) && !(device->power && is.onSubdevice))
			device->power = list[i];
	}
}

static void clocks_find(const struct sysman *sysman, struct sysman_device *device)
{
	zes_freq_handle_t list[PARTS];
	uint32_t count = PARTS;

	if (sysman->zesDeviceEnumFrequencyDomains(device->handle, &count, list))
		return;
	for (uint32_t i = 0; i < count && i < PARTS; i++) {
		zes_freq_properties_t is = {.stype = ZES_STRUCTURE_TYPE_FREQ_PROPERTIES};
		zes_freq_handle_t *to;

		if (sysman->zesFrequencyGetProperties(list[i], &is))
			continue;
		to = is.type == ZES_FREQ_DOMAIN_GPU ? &device->clock : &device->memory_clock;
		if (!(*to && is.onSubdevice) && is.type <= ZES_FREQ_DOMAIN_MEMORY)
			*to = list[i];
	}
}

static void temperature_find(const struct sysman *sysman, struct sysman_device *device)
{
	zes_temp_handle_t list[PARTS];
	uint32_t count = PARTS;

	if (sysman->zesDeviceEnumTemperatureSensors(device->handle, &count, list))
		return;
	for (uint32_t i = 0; i < count && i < PARTS; i++) {
		zes_temp_properties_t is = {.stype = ZES_STRUCTURE_TYPE_TEMP_PROPERTIES};

		if (!sysman->zesTemperatureGetProperties(list[i], &is) && is.type <= ZES_TEMP_SENSORS_GPU &&
			!(device->temperature && is.onSubdevice))
			device->temperature = list[i];
	}
}

/* As the agent writes it (record/agent/gpu/level0/gpu_level0_device.c). */
static void uuid_write(char *to, size_t room, const uint8_t *id)
{
	for (size_t i = 0, used = 0; i < 16 && used < room; i++)
		used += (size_t)snprintf(to + used, room - used, "%02x%s", id[i],
			i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
}

static bool device_add(struct sysman *sysman, ze_device_handle_t handle, struct gauge_device *described)
{
	struct sysman_device *device = &sysman->device[sysman->count];
	zes_device_properties_t is = {.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES};

	*device = (struct sysman_device){.handle = (zes_device_handle_t)handle};
	is.core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
	if (sysman->zesDeviceGetProperties(device->handle, &is) || is.core.type != ZE_DEVICE_TYPE_GPU)
		return false;
	is.core.name[sizeof is.core.name - 1] = '\0';
	snprintf(described->name, sizeof described->name, "%.90s", is.core.name);
	uuid_write(described->uuid, sizeof described->uuid, is.core.uuid.id);
	engine_find(sysman, device);
	memory_find(sysman, device);
	power_find(sysman, device);
	clocks_find(sysman, device);
	temperature_find(sysman, device);
	sysman->count++;
	return true;
}

static unsigned sysman_open(void **own, const char *root, struct gauge_device *devices, unsigned room)
{
	struct sysman *sysman = calloc(1, sizeof *sysman);
	ze_driver_handle_t drivers[DRIVERS];
	uint32_t driver_count = DRIVERS;

	(void)root;
	*own = sysman;
	if (!sysman)
		return 0;
	setenv("ZES_ENABLE_SYSMAN", "1", 1); /* this process is ours */
	sysman->library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!sysman->library || !functions_find(sysman) || sysman->zeInit(0) ||
		sysman->zeDriverGet(&driver_count, drivers))
		return 0;
	for (uint32_t i = 0; i < driver_count && i < DRIVERS; i++) {
		ze_device_handle_t list[DEVICES];
		uint32_t count = DEVICES;

		if (sysman->zeDeviceGet(drivers[i], &count, list))
			continue;
		for (uint32_t d = 0; d < count && sysman->count < DEVICES && sysman->count < room; d++)
			device_add(sysman, list[d], &devices[sysman->count]);
	}
	return sysman->count;
}

/* ---- one device ---- */

/* A counter of time beside a clock: the share since the last pass. */
static void read_busy(
	const struct sysman *sysman, struct sysman_device *device, struct gauge_device_values *values)
{
	const zes_engine_stats_t last = device->engine_last;
	zes_engine_stats_t now;

	if (!device->engine || !gauge_device_is_due(values, GAUGE_GPU_BUSY) ||
		sysman->zesEngineGetActivity(device->engine, &now))
		return;
	device->engine_last = now;
	if (last.timestamp && now.timestamp > last.timestamp && now.activeTime >= last.activeTime) {
		uint64_t percent =
			(now.activeTime - last.activeTime) * 100 / (now.timestamp - last.timestamp);

		gauge_device_put(values, GAUGE_GPU_BUSY, percent < 100 ? percent : 100);
	}
}

static void read_memory(
	const struct sysman *sysman, struct sysman_device *device, struct gauge_device_values *values)
{
	uint64_t used = 0, total = 0;

	if (!gauge_device_is_due(values, GAUGE_GPU_MEMORY_USED) &&
		!gauge_device_is_due(values, GAUGE_GPU_MEMORY_TOTAL))
		return;
	for (uint32_t i = 0; i < device->memory_count; i++) {
		zes_mem_state_t state = {.stype = ZES_STRUCTURE_TYPE_MEM_STATE};

		if (sysman->zesMemoryGetState(device->memory[i], &state) || state.free > state.size)
			continue;
		used += state.size - state.free;
		total += state.size;
	}
	if (!total)
		return;
	gauge_device_put(values, GAUGE_GPU_MEMORY_USED, used);
	gauge_device_put(values, GAUGE_GPU_MEMORY_TOTAL, total);
}

/* uJ in us are W. */
static void read_power(
	const struct sysman *sysman, struct sysman_device *device, struct gauge_device_values *values)
{
	const zes_power_energy_counter_t last = device->power_last;
	zes_power_energy_counter_t now;

	if (!device->power ||
		(!gauge_device_is_due(values, GAUGE_GPU_POWER) &&
			!gauge_device_is_due(values, GAUGE_GPU_ENERGY)) ||
		sysman->zesPowerGetEnergyCounter(device->power, &now))
		return;
	device->power_last = now;
	gauge_device_put(values, GAUGE_GPU_ENERGY, now.energy / 1000);
	if (last.timestamp && now.timestamp > last.timestamp && now.energy >= last.energy)
		gauge_device_put(values, GAUGE_GPU_POWER,
			(now.energy - last.energy) * 1000 / (now.timestamp - last.timestamp));
}

static bool clock_read(const struct sysman *sysman, zes_freq_handle_t handle, zes_freq_state_t *state)
{
	*state = (zes_freq_state_t){.stype = ZES_STRUCTURE_TYPE_FREQ_STATE};
	return handle && !sysman->zesFrequencyGetState(handle, state);
}

static void put_clock(struct gauge_device_values *values, enum gauge_id gauge, const zes_freq_state_t *state)
{
	if (state->actual >= 0 && state->actual < 1e6)
		gauge_device_put(values, gauge, (uint64_t)(state->actual * 1e6));
}

static void read_clocks(
	const struct sysman *sysman, struct sysman_device *device, struct gauge_device_values *values)
{
	const zes_freq_throttle_reason_flags_t power = ZES_FREQ_THROTTLE_REASON_FLAG_AVE_PWR_CAP |
						       ZES_FREQ_THROTTLE_REASON_FLAG_BURST_PWR_CAP |
						       ZES_FREQ_THROTTLE_REASON_FLAG_CURRENT_LIMIT |
						       ZES_FREQ_THROTTLE_REASON_FLAG_PSU_ALERT,
					       heat = ZES_FREQ_THROTTLE_REASON_FLAG_THERMAL_LIMIT;
	zes_freq_state_t state;

	if (clock_read(sysman, device->clock, &state)) {
		put_clock(values, GAUGE_GPU_CLOCK, &state);
		gauge_device_put(values, GAUGE_GPU_CAPPED_POWER, state.throttleReasons & power ? 100 : 0);
		gauge_device_put(values, GAUGE_GPU_CAPPED_HEAT, state.throttleReasons & heat ? 100 : 0);
		gauge_device_put(
			values, GAUGE_GPU_CAPPED_OTHER, state.throttleReasons & ~(power | heat) ? 100 : 0);
	}
	if (gauge_device_is_due(values, GAUGE_GPU_MEMORY_CLOCK) &&
		clock_read(sysman, device->memory_clock, &state))
		put_clock(values, GAUGE_GPU_MEMORY_CLOCK, &state);
}

static void read_temperature(
	const struct sysman *sysman, struct sysman_device *device, struct gauge_device_values *values)
{
	double degrees;

	if (device->temperature && gauge_device_is_due(values, GAUGE_GPU_TEMPERATURE) &&
		!sysman->zesTemperatureGetState(device->temperature, &degrees) && degrees > 0 &&
		degrees < 1000)
		gauge_device_put(values, GAUGE_GPU_TEMPERATURE, (uint64_t)(degrees * 1000));
}

/* Bytes in us. */
static void read_pcie(
	const struct sysman *sysman, struct sysman_device *device, struct gauge_device_values *values)
{
	const zes_pci_stats_t last = device->pci_last;
	zes_pci_stats_t now;

	if ((!gauge_device_is_due(values, GAUGE_GPU_PCIE_RECEIVED) &&
		    !gauge_device_is_due(values, GAUGE_GPU_PCIE_SENT)) ||
		sysman->zesDevicePciGetStats(device->handle, &now) || !(now.rxCounter | now.txCounter))
		return;
	device->pci_last = now;
	if (!last.timestamp || now.timestamp <= last.timestamp || now.rxCounter < last.rxCounter ||
		now.txCounter < last.txCounter)
		return;
	gauge_device_put(values, GAUGE_GPU_PCIE_RECEIVED,
		(now.rxCounter - last.rxCounter) * 1000000 / (now.timestamp - last.timestamp));
	gauge_device_put(values, GAUGE_GPU_PCIE_SENT,
		(now.txCounter - last.txCounter) * 1000000 / (now.timestamp - last.timestamp));
}

static void sysman_read(void *own, unsigned number, struct gauge_device_values *values)
{
	struct sysman *sysman = own;
	struct sysman_device *device = &sysman->device[number];

	read_busy(sysman, device, values);
	read_memory(sysman, device, values);
	read_power(sysman, device, values);
	read_clocks(sysman, device, values);
	read_temperature(sysman, device, values);
	read_pcie(sysman, device, values);
}

static void sysman_close(void *own)
{
	struct sysman *sysman = own;

	if (sysman && sysman->library)
		dlclose(sysman->library);
	free(sysman);
}

#else

static unsigned sysman_open(void **own, const char *root, struct gauge_device *devices, unsigned room)
{
	*own = NULL;
	(void)root, (void)devices, (void)room;
	return 0;
}

static void sysman_read(void *own, unsigned number, struct gauge_device_values *values)
{
	(void)own, (void)number, (void)values;
}

static void sysman_close(void *own)
{
	free(own);
}

#endif

const struct gauge_vendor gauge_sysman = {
	.name = "Level Zero",
	.open = sysman_open,
	.read = sysman_read,
	.close = sysman_close,
};
