/* SPDX-License-Identifier: Apache-2.0 */
/* stall.c - see stall.h. */
#include "blame/stalls/stall.h"

#include <string.h>

#define PREFIX "GINST:STL_"
#define LATENCY "/not_issued"

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
