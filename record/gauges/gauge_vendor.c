/* SPDX-License-Identifier: Apache-2.0 */
/* gauge_vendor.c - see gauge_vendor.h: all vendors' devices in one list. */
#include "record/gauges/gauge_vendor.h"

static const struct gauge_vendor *const all[] = {&gauge_nvml, &gauge_amd, &gauge_sysman};

bool gauge_device_is_due(const struct gauge_device_values *values, enum gauge_id gauge)
{
	return values->wanted >> gauge & 1 && (values->is_slow || !gauge_names[gauge].is_slow);
}

void gauge_device_put(struct gauge_device_values *values, enum gauge_id gauge, uint64_t value)
{
	if (!gauge_device_is_due(values, gauge) || values->count == GAUGE_DEVICE_VALUES)
		return;
	values->value[values->count].gauge = gauge;
	values->value[values->count++].value = value;
}

unsigned gauge_vendors_open(struct gauge_vendors *vendors, const char *root)
{
	vendors->count = 0;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		vendors->open[i].vendor = all[i];
		vendors->open[i].count = all[i]->open(&vendors->open[i].own, root,
			vendors->devices + vendors->count, GAUGE_DEVICES - vendors->count);
		for (unsigned d = 0; d < vendors->open[i].count; d++, vendors->count++)
			vendors->devices[vendors->count].number = vendors->count;
	}
	return vendors->count;
}

void gauge_vendors_read(struct gauge_vendors *vendors, unsigned device, struct gauge_device_values *values)
{
	values->count = 0;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (device < vendors->open[i].count) {
			vendors->open[i].vendor->read(vendors->open[i].own, device, values);
			return;
		}
		device -= vendors->open[i].count;
	}
}

void gauge_vendors_close(struct gauge_vendors *vendors)
{
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (vendors->open[i].vendor)
			vendors->open[i].vendor->close(vendors->open[i].own);
	*vendors = (struct gauge_vendors){.count = 0};
}
