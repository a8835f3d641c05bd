/* SPDX-License-Identifier: Apache-2.0 */
/* stall.c - see stall.h; NVIDIA's names are those of CUPTI's smsp__pcsamp_warps_issue_stalled_*. */
#include "blame/advise/stall.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "GINST:STL_"
#define LATENCY "/not_issued"

static const struct {
	const char *vendor;
	enum stall stall;
} vendors[] = {{"selected", STALL_NONE}, {"no_instructions", STALL_IFET}, {"branch_resolving", STALL_IFET},
	{"wait", STALL_IDEP}, {"short_scoreboard", STALL_IDEP}, {"warpgroup_arrive", STALL_IDEP},
	{"gmma", STALL_IDEP}, {"long_scoreboard", STALL_GMEM}, {"tex_throttle", STALL_TMEM},
	{"barrier", STALL_SYNC}, {"membar", STALL_SYNC}, {"imc_miss", STALL_CMEM},
	{"math_pipe_throttle", STALL_PIPE}, {"dispatch_stall", STALL_PIPE}, {"lg_throttle", STALL_MTHR},
	{"mio_throttle", STALL_MTHR}, {"drain", STALL_MTHR}, {"not_selected", STALL_NSEL},
	{"misc", STALL_OTH}, {"sleeping", STALL_SLP}};

static const struct {
	const char *name, *about;
} stalls[STALL_COUNT] = {
#define X(name, text) {#name, text},
	STALLS(X)
#undef X
};

const char *stall_name(enum stall stall)
{
	return stalls[stall].name;
}

const char *stall_about(enum stall stall)
{
	return stalls[stall].about;
}

enum stall stall_of_vendor(const char *vendor, size_t size)
{
	for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
		if (strlen(vendors[i].vendor) == size && memcmp(vendors[i].vendor, vendor, size) == 0)
			return vendors[i].stall;
	return STALL_OTH;
}

bool stall_metric_parse(const char *name, struct stall_metric *metric)
{
	size_t size, used;
	unsigned i;

	*metric = (struct stall_metric){.vendor = ""};
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	name += strlen(PREFIX);
	size = strlen(name);
	if (size > strlen(LATENCY) && strcmp(name + size - strlen(LATENCY), LATENCY) == 0) {
		metric->is_latency = true;
		size -= strlen(LATENCY);
	}
	used = memchr(name, '/', size) ? (size_t)((const char *)memchr(name, '/', size) - name) : size;
	for (i = 0; i < STALL_COUNT; i++)
		if (strlen(stalls[i].name) == used && memcmp(stalls[i].name, name, used) == 0)
			break;
	if (i == STALL_COUNT)
		return false;
	metric->stall = (enum stall)i;
	if (used < size) {
		metric->vendor = name + used + 1;
		metric->vendor_bytes = size - used - 1;
	}
	return true;
}

void stall_metric_name(char *text, size_t size, const char *vendor, bool is_latency)
{
	snprintf(text, size, PREFIX "%s/%s%s", stall_name(stall_of_vendor(vendor, strlen(vendor))), vendor,
		is_latency ? LATENCY : "");
}
