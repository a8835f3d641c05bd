/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sysman.c - the fake driver's system management, for e2e.gauges.gpu: each kind of part is there twice, on
 * the whole device and on a sub-device, whose figures are others. Engines are busy for a quarter of the time,
 * the power is 75 W.
 */
#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <stdio.h>
#include <time.h>

#include "tests/level0/driver.h"

#define PARTS 2u
#define GIB (1ull << 30)

/* Of no device in particular: part 0 is on a sub-device. */
static char parts[PARTS];

static ze_bool_t is_sub(const void *part)
{
	return part == &parts[0];
}

static uint64_t now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static ze_result_t parts_list(uint32_t *count, void **list)
{
	for (uint32_t i = 0; list && i < PARTS && i < *count; i++)
		list[i] = &parts[i];
	*count = PARTS;
	return ZE_RESULT_SUCCESS;
}

#define LIST(name, handle)                                                                        \
	static ze_result_t name##_list(zes_device_handle_t device, uint32_t *count, handle *list) \
	{                                                                                         \
		(void)device;                                                                     \
		return parts_list(count, (void **)list);                                          \
	}
LIST(engine, zes_engine_handle_t)
LIST(memory, zes_mem_handle_t)
LIST(power, zes_pwr_handle_t)
LIST(clock, zes_freq_handle_t)
LIST(temperature, zes_temp_handle_t)

static ze_result_t device_properties(zes_device_handle_t device, zes_device_properties_t *to)
{
	to->core.type = ZE_DEVICE_TYPE_GPU;
	snprintf(to->core.name, sizeof to->core.name, "Test Xe %u", ((ze_device_handle_t)device)->number);
	memset(to->core.uuid.id, 0xab, sizeof to->core.uuid.id);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t pci_stats(zes_device_handle_t device, zes_pci_stats_t *to)
{
	(void)device;
	*to = (zes_pci_stats_t){.timestamp = now_us()};
	to->rxCounter = to->timestamp * 8;
	to->txCounter = to->timestamp * 3;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t engine_properties(zes_engine_handle_t engine, zes_engine_properties_t *to)
{
	to->type = ZES_ENGINE_GROUP_ALL;
	to->onSubdevice = is_sub(engine);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t engine_activity(zes_engine_handle_t engine, zes_engine_stats_t *to)
{
	to->timestamp = now_us() / 4 * 4;
	to->activeTime = is_sub(engine) ? to->timestamp : to->timestamp / 4;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t memory_properties(zes_mem_handle_t memory, zes_mem_properties_t *to)
{
	to->onSubdevice = is_sub(memory);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t memory_state(zes_mem_handle_t memory, zes_mem_state_t *to)
{
	(void)memory;
	to->size = 8 * GIB;
	to->free = 7 * GIB;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t power_properties(zes_pwr_handle_t power, zes_power_properties_t *to)
{
	to->onSubdevice = is_sub(power);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t power_energy(zes_pwr_handle_t power, zes_power_energy_counter_t *to)
{
	to->timestamp = now_us();
	to->energy = to->timestamp * (is_sub(power) ? 10 : 75);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t clock_properties(zes_freq_handle_t clock, zes_freq_properties_t *to)
{
	to->type = ZES_FREQ_DOMAIN_GPU;
	to->onSubdevice = is_sub(clock);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t clock_state(zes_freq_handle_t clock, zes_freq_state_t *to)
{
	to->actual = is_sub(clock) ? 300 : 1550.5;
	to->throttleReasons = ZES_FREQ_THROTTLE_REASON_FLAG_BURST_PWR_CAP;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t temperature_properties(zes_temp_handle_t temperature, zes_temp_properties_t *to)
{
	to->type = ZES_TEMP_SENSORS_GLOBAL;
	to->onSubdevice = is_sub(temperature);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t temperature_state(zes_temp_handle_t temperature, double *degrees)
{
	*degrees = is_sub(temperature) ? 30 : 62.5;
	return ZE_RESULT_SUCCESS;
}

TABLE(zes, Device, zes_device_dditable)
{
	to->pfnGetProperties = device_properties;
	to->pfnPciGetStats = pci_stats;
	to->pfnEnumEngineGroups = engine_list;
	to->pfnEnumMemoryModules = memory_list;
	to->pfnEnumPowerDomains = power_list;
	to->pfnEnumFrequencyDomains = clock_list;
	to->pfnEnumTemperatureSensors = temperature_list;
}

TABLE(zes, Engine, zes_engine_dditable)
{
	to->pfnGetProperties = engine_properties;
	to->pfnGetActivity = engine_activity;
}

TABLE(zes, Memory, zes_memory_dditable)
{
	to->pfnGetProperties = memory_properties;
	to->pfnGetState = memory_state;
}

TABLE(zes, Power, zes_power_dditable)
{
	to->pfnGetProperties = power_properties;
	to->pfnGetEnergyCounter = power_energy;
}

TABLE(zes, Frequency, zes_frequency_dditable)
{
	to->pfnGetProperties = clock_properties;
	to->pfnGetState = clock_state;
}

TABLE(zes, Temperature, zes_temperature_dditable)
{
	to->pfnGetProperties = temperature_properties;
	to->pfnGetState = temperature_state;
}
