/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_prefetch.c - finds the neighbours of requested addresses for other runs, which sample other
 * addresses of the same functions: opening the debug information of libc for one address takes 7 ms, as long
 * as answers for all of a dozen functions once it is open (50 ms the first time, to decompress it:
 * debug_cache.h).
 */
#include <time.h>

#include "timeline/names/names_internal.h"

void names_module_missed(struct names_module *module, uint64_t offset)
{
	if (module->missed_count < NAMES_MISSED_MAX)
		module->missed[module->missed_count++] = offset;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* False: time is up. */
static bool range_find(struct names_module *module, uint64_t begin, uint64_t end, uint64_t until_ns)
{
	static struct symbol_answer answer; /* the worker has one thread */

	while (begin < end) {
		if (cpu_ns() >= until_ns || names_find(module, begin, &answer, NULL))
			return false;
		begin = answer.stretch.end > begin ? answer.stretch.end : begin + 1;
	}
	return true;
}

static bool module_find(struct names_module *module, uint64_t until_ns)
{
	uint64_t ranges[CFG_RANGES_MAX][2], entries[NAMES_MISSED_MAX] = {0}, entry = 0;
	unsigned entry_count = 0, missed = module->missed_count, at;

	module->missed_count = NAMES_MISSED_MAX; /* these do not count */
	for (unsigned i = 0; i < missed; i++) {
		unsigned count = dwarf_module_function(
			module->dwarf, module->missed[i], ranges, CFG_RANGES_MAX, &entry);

		for (at = 0; at < entry_count && entries[at] != entry; at++)
			;
		if (at < entry_count)
			continue;
		entries[entry_count++] = entry;
		for (unsigned range = 0; range < count; range++)
			if (!range_find(module, ranges[range][0], ranges[range][1], until_ns))
				return false;
	}
	return true;
}

void names_prefetch_modules(struct names_module *modules, uint64_t budget_ns)
{
	uint64_t until_ns = cpu_ns() + budget_ns;

	for (struct names_module *module = modules; module; module = module->next)
		if (module->dwarf && module->shared && !module_find(module, until_ns))
			break;
}
