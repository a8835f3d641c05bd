/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_runtime_libraries.c - see gpu_runtime_libraries.h. Each entry is written first, then the count is
 * incremented.
 */
#include "record/agent/unwind/gpu_runtime_libraries.h"

#include <stdatomic.h>
#include <string.h>

#include "record/agent/unwind/module_map.h"

#define RUNTIMES_MAX 16u

static struct {
	uint64_t begin, end;
	bool hidden;
} runtimes[RUNTIMES_MAX];
static _Atomic unsigned claimed, count;

void gpu_runtime_libraries_add(uint64_t address, bool hidden)
{
	uint64_t begin, end;
	unsigned i;

	if (gpu_runtime_libraries_has(address) || module_map_range(address, &begin, &end))
		return;
	i = atomic_fetch_add(&claimed, 1);
	if (i >= RUNTIMES_MAX)
		return;
	runtimes[i].begin = begin;
	runtimes[i].end = end;
	runtimes[i].hidden = hidden;
	atomic_fetch_add(
		&count, 1); /* of two concurrent additions, the later may briefly be missing or empty */
}

static bool find(uint64_t pc, bool hidden)
{
	unsigned most = atomic_load_explicit(&count, memory_order_acquire);

	for (unsigned i = 0; i < most; i++)
		if (pc >= runtimes[i].begin && pc < runtimes[i].end)
			return runtimes[i].hidden || !hidden;
	return false;
}

bool gpu_runtime_libraries_has(uint64_t pc)
{
	return find(pc, false);
}

bool gpu_runtime_libraries_hides(uint64_t pc)
{
	return find(pc, true);
}

bool gpu_runtime_libraries_has_or_driver(uint64_t pc)
{
	static const char driver[] = "libcuda.so.";
	struct module_map_entry module;
	const char *base;

	if (gpu_runtime_libraries_has(pc))
		return true;
	module_map_refresh();
	if (!module_map_find(pc, &module) || !module.name)
		return false;
	base = strrchr(module.name, '/');
	base = base ? base + 1 : module.name;
	if (strncmp(base, driver, sizeof(driver) - 1))
		return false;
	gpu_runtime_libraries_add(pc, false);
	return true;
}
