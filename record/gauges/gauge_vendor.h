/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge_vendor.h - the figures of GPUs: an operations table per vendor, used by one process alone (see
 * gauge_devices.h), so that a driver that hangs or crashes harms no recording.
 */
#ifndef RECORD_GAUGE_VENDOR_H
#define RECORD_GAUGE_VENDOR_H

#include "record/gauges/gauge_list.h"

#define GAUGE_DEVICES 64u	/* of all vendors together */
#define GAUGE_DEVICE_VALUES 24u /* of one device in one pass */
#define GAUGE_DEVICE_TEXT 96u

/* What a device is known by; its number counts the host's devices from 0. */
struct gauge_device {
	uint32_t number;
	char name[GAUGE_DEVICE_TEXT];
	char uuid[GAUGE_DEVICE_TEXT]; /* as the agent reports it; "": none */
};

/* One device in one pass. */
struct gauge_device_values {
	uint64_t wanted; /* bit per enum gauge_id */
	bool is_slow;	 /* the pass reads the rarer ones, too */
	uint64_t time_ns;
	uint32_t count;
	struct {
		uint32_t gauge; /* enum gauge_id */
		uint32_t _pad;
		uint64_t value;
	} value[GAUGE_DEVICE_VALUES];
};

struct gauge_vendor {
	const char *name;
	/* Finds at most `room` devices and describes them; returns how many, 0: none, or no driver. *own is
	 * the vendor's, for the calls below; close frees it, whatever open returned. `root` stands before
	 * /sys. */
	unsigned (*open)(void **own, const char *root, struct gauge_device *devices, unsigned room);
	/* Adds a device's values; `device` counts from 0 in the order of open. */
	void (*read)(void *own, unsigned device, struct gauge_device_values *values);
	void (*close)(void *own);
};

extern const struct gauge_vendor gauge_nvml, gauge_amd, gauge_sysman;

/* True when the pass reads it. */
bool gauge_device_is_due(const struct gauge_device_values *values, enum gauge_id gauge);
/* Adds a value that is due. */
void gauge_device_put(struct gauge_device_values *values, enum gauge_id gauge, uint64_t value);

/* Devices of all vendors. All-zero is closed. */
struct gauge_vendors {
	struct {
		const struct gauge_vendor *vendor;
		void *own;
		unsigned count;
	} open[4];
	struct gauge_device devices[GAUGE_DEVICES];
	unsigned count;
};
/* How many devices there are. */
unsigned gauge_vendors_open(struct gauge_vendors *vendors, const char *root);
/* Reads one, by its place in `devices`. */
void gauge_vendors_read(struct gauge_vendors *vendors, unsigned device, struct gauge_device_values *values);
void gauge_vendors_close(struct gauge_vendors *vendors);

#endif
