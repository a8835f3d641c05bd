/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge_amd.c - figures of AMD's GPUs, from the files that the kernel's driver has in /sys. A device that
 * sleeps is left alone: reading would wake it.
 *
 *   /sys/class/drm/cardN/device/ vendor gpu_busy_percent mem_info_vram_used ... hwmon/hwmonM/ power1_average
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/gauges/gauge_vendor.h"
#include "record/gauges/proc_text.h"

#define CARDS 64u
#define VENDOR "0x1002"
#define MODEL_TEXT 64u

struct amd_card {
	char device[96];   /* "/sys/class/drm/card0/device" */
	char sensors[192]; /* its hwmon's directory; "": none */
};

struct amd {
	const char *root;
	unsigned count;
	struct amd_card card[];
};

/* One line, without its end. */
static bool line_read(const struct amd *amd, const char *directory, const char *file, char *text, size_t room)
{
	char path[PROC_TEXT_PATH];

	snprintf(path, sizeof path, "%s/%s", directory, file);
	if (!*directory || !proc_text_read(amd->root, path, text, room))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

static bool number_read(const struct amd *amd, const char *directory, const char *file, uint64_t *number)
{
	char text[64];
	const char *at = text;

	return line_read(amd, directory, file, text, sizeof text) && proc_text_next(&at, number);
}

static void sensors_find(const struct amd *amd, struct amd_card *card)
{
	char path[PROC_TEXT_PATH];
	DIR *directory;

	snprintf(path, sizeof path, "%s%s/hwmon", amd->root, card->device);
	directory = opendir(path);
	for (struct dirent *entry; directory && (entry = readdir(directory));)
		if (!strncmp(entry->d_name, "hwmon", 5))
			snprintf(card->sensors, sizeof card->sensors, "%s/hwmon/%.32s", card->device,
				entry->d_name);
	if (directory)
		closedir(directory);
}

static void card_describe(const struct amd *amd, const struct amd_card *card, struct gauge_device *device)
{
	char id[MODEL_TEXT] = "";

	device->uuid[0] = '\0';
	if (line_read(amd, card->device, "unique_id", id, sizeof id))
		snprintf(device->uuid, sizeof device->uuid, "GPU-%.32s", id);
	if (line_read(amd, card->device, "product_name", device->name, sizeof device->name) &&
		device->name[0])
		return;
	if (!line_read(amd, card->device, "device", id, sizeof id))
		id[0] = '\0';
	snprintf(device->name, sizeof device->name, "AMD GPU %.16s", id);
}

static unsigned amd_open(void **own, const char *root, struct gauge_device *devices, unsigned room)
{
	struct amd *amd = calloc(1, sizeof *amd + CARDS * sizeof amd->card[0]);

	*own = amd;
	if (!amd)
		return 0;
	amd->root = root;
	for (unsigned number = 0; number < CARDS && amd->count < room; number++) {
		struct amd_card *card = &amd->card[amd->count];
		char vendor[16];

		snprintf(card->device, sizeof card->device, "/sys/class/drm/card%u/device", number);
		if (!line_read(amd, card->device, "vendor", vendor, sizeof vendor) ||
			strcmp(vendor, VENDOR) != 0)
			continue;
		sensors_find(amd, card);
		card_describe(amd, card, &devices[amd->count++]);
	}
	return amd->count;
}

/* ---- one device ---- */

static void put_number(const struct amd *amd, struct gauge_device_values *values, enum gauge_id gauge,
	const char *directory, const char *file, uint64_t factor, uint64_t part)
{
	uint64_t number;

	if (gauge_device_is_due(values, gauge) && number_read(amd, directory, file, &number))
		gauge_device_put(values, gauge, number * factor / part);
}

static bool is_asleep(const struct amd *amd, const struct amd_card *card)
{
	char state[32];

	return line_read(amd, card->device, "power/runtime_status", state, sizeof state) &&
	       !strncmp(state, "suspend", 7);
}

/* Newer boards have the momentary power alone. */
static void read_power(const struct amd *amd, const struct amd_card *card, struct gauge_device_values *values)
{
	const unsigned before = values->count;

	put_number(amd, values, GAUGE_GPU_POWER, card->sensors, "power1_average", 1, 1000);
	if (values->count == before)
		put_number(amd, values, GAUGE_GPU_POWER, card->sensors, "power1_input", 1, 1000);
}

/* | ue: 0 | ce: 5 | */
static void read_ecc(const struct amd *amd, const struct amd_card *card, struct gauge_device_values *values)
{
	char path[PROC_TEXT_PATH], text[128];
	uint64_t number;

	if (!gauge_device_is_due(values, GAUGE_GPU_ECC_CORRECTED) &&
		!gauge_device_is_due(values, GAUGE_GPU_ECC_UNCORRECTED))
		return;
	snprintf(path, sizeof path, "%s/ras/umc_err_count", card->device);
	if (!proc_text_read(amd->root, path, text, sizeof text))
		return;
	if (proc_text_number(text, "ce:", &number))
		gauge_device_put(values, GAUGE_GPU_ECC_CORRECTED, number);
	if (proc_text_number(text, "ue:", &number))
		gauge_device_put(values, GAUGE_GPU_ECC_UNCORRECTED, number);
}

static void amd_read(void *own, unsigned device, struct gauge_device_values *values)
{
	const struct amd *amd = own;
	const struct amd_card *card = &amd->card[device];

	if (is_asleep(amd, card))
		return;
	put_number(amd, values, GAUGE_GPU_BUSY, card->device, "gpu_busy_percent", 1, 1);
	put_number(amd, values, GAUGE_GPU_MEMORY_BUSY, card->device, "mem_busy_percent", 1, 1);
	put_number(amd, values, GAUGE_GPU_MEMORY_USED, card->device, "mem_info_vram_used", 1, 1);
	put_number(amd, values, GAUGE_GPU_MEMORY_TOTAL, card->device, "mem_info_vram_total", 1, 1);
	read_power(amd, card, values);
	put_number(amd, values, GAUGE_GPU_CLOCK, card->sensors, "freq1_input", 1, 1);
	put_number(amd, values, GAUGE_GPU_MEMORY_CLOCK, card->sensors, "freq2_input", 1, 1);
	put_number(amd, values, GAUGE_GPU_TEMPERATURE, card->sensors, "temp1_input", 1, 1);
	read_ecc(amd, card, values);
}

static void amd_close(void *own)
{
	free(own);
}

const struct gauge_vendor gauge_amd = {
	.name = "amdgpu",
	.open = amd_open,
	.read = amd_read,
	.close = amd_close,
};
