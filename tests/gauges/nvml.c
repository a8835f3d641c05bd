/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml.c - NVIDIA's library of figures without a GPU, for e2e.gauges.gpu. What it says is known: the test
 * compares. FAKE_NVML scripts it, words separated by spaces:
 *
 *   devices=N   (2) device 1 and above have no energy, no NVLink and no ECC
 *   visible=N   device N is the one that the test's CUPTI calls 0 (tests/cuda)
 *   old         a driver without fields and without the second kind of memory's figures
 *   hang        the first reading never comes back
 *   crash       the fifth reading ends the process
 *   broken      it cannot be initialized
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define OK 0
#define NOT_SUPPORTED 3
#define MIB (1ull << 20)
#define DEVICES 16

static struct {
	unsigned reads, sent; /* of each call; the counter of 32 bits that wraps */
	unsigned long long received, energy;
} state[DEVICES];

static bool has(const char *word)
{
	const char *script = getenv("FAKE_NVML"), *at = script ? strstr(script, word) : NULL;

	return at && (at == script || at[-1] == ' ');
}

static unsigned number_of(const void *device)
{
	return (unsigned)((const char *)device - (const char *)state) / (unsigned)sizeof state[0];
}

EXPORT int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
	return has("broken") ? 9 : OK;
}

EXPORT int nvmlShutdown(void);
int nvmlShutdown(void)
{
	return OK;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count)
{
	const char *script = getenv("FAKE_NVML"), *at = script ? strstr(script, "devices=") : NULL;

	*count = at ? (unsigned)atoi(at + 8) : 2;
	return OK;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	*device = &state[index];
	state[index].sent = 0u - 2500u; /* wraps with the third reading */
	state[index].energy = 5000;
	return index < DEVICES ? OK : NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetName(void *device, char *name, unsigned room);
int nvmlDeviceGetName(void *device, char *name, unsigned room)
{
	(void)device;
	snprintf(name, room, "Test\tGPU");
	return OK;
}

EXPORT int nvmlDeviceGetUUID(void *device, char *uuid, unsigned room);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned room)
{
	const char *script = getenv("FAKE_NVML"), *at = script ? strstr(script, "visible=") : NULL;
	const unsigned number = number_of(device);

	if (at && (unsigned)atoi(at + 8) == number)
		snprintf(uuid, room, "GPU-01010101-0101-0101-0101-010101010101");
	else
		snprintf(uuid, room, "GPU-00000000-0000-0000-0000-00000000000%u", number);
	return OK;
}

EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned busy[2]);
int nvmlDeviceGetUtilizationRates(void *device, unsigned busy[2])
{
	const unsigned number = number_of(device), reads = state[number].reads++;

	while (has("hang"))
		pause();
	if (has("crash") && reads == 4)
		raise(SIGSEGV);
	busy[0] = reads % 2 ? 90 : 10 + number;
	busy[1] = 40;
	return OK;
}

EXPORT int nvmlDeviceGetMemoryInfo(void *device, unsigned long long memory[3]);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long memory[3])
{
	(void)device;
	memory[0] = 1000 * MIB;
	memory[1] = 600 * MIB;
	memory[2] = 400 * MIB; /* with what the driver keeps apart */
	return OK;
}

struct memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

EXPORT int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory);
int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory)
{
	(void)device;
	if (has("old") || memory->version != (sizeof *memory | 2u << 24))
		return NOT_SUPPORTED;
	*memory = (struct memory_v2){memory->version, 1000 * MIB, 100 * MIB, 600 * MIB, 300 * MIB};
	return OK;
}

EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
	(void)device;
	*mw = 111000;
	return OK;
}

EXPORT int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
	*mj = state[number_of(device)].energy += 250;
	return number_of(device) ? NOT_SUPPORTED : OK;
}

EXPORT int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
	(void)device;
	*mhz = type == 1 ? 1980 : type == 2 ? 3201 : 0;
	return OK;
}

EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees)
{
	(void)device, (void)sensor;
	*degrees = 41;
	return OK;
}

/* Too hot, on the board's word. */
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *why);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *why)
{
	*why = number_of(device) ? 1 : 0x48;
	return OK;
}

EXPORT int nvmlDeviceGetPcieThroughput(void *device, int way, unsigned *kb);
int nvmlDeviceGetPcieThroughput(void *device, int way, unsigned *kb)
{
	(void)device;
	*kb = way ? 2000 : 1000;
	return OK;
}

EXPORT int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *errors);
int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *errors)
{
	(void)counter;
	*errors = kind ? 0 : 7;
	return number_of(device) ? NOT_SUPPORTED : OK;
}

struct field {
	unsigned id, scope;
	long long timestamp, latency;
	int type, result;
	unsigned long long value;
};

EXPORT int nvmlDeviceGetFieldValues(void *device, int count, struct field *field);
int nvmlDeviceGetFieldValues(void *device, int count, struct field *field)
{
	const unsigned number = number_of(device);

	if (has("old"))
		return NOT_SUPPORTED;
	for (int i = 0; i < count; i++) {
		field[i].type = 3;
		field[i].result = OK;
		switch (field[i].id) {
		case 186:
			field[i].value = 222000 + number;
			field[i].type = 1;
			break;
		case 197: /* narrow, and what stands beside it is not part of it */
			field[i].value = 0xdeadull << 32 | (state[number].sent += 1000);
			field[i].type = 1;
			break;
		case 198:
			field[i].value = state[number].received += 4096;
			break;
		case 138:
		case 139:
			field[i].value = 3;
			field[i].result = number || field[i].scope != ~0u ? NOT_SUPPORTED : OK;
			break;
		default:
			field[i].result = NOT_SUPPORTED;
		}
	}
	return OK;
}
