// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz timeline_elf - hostile programs, without their debug information: symbols, PLT and unwind entries,
 * landing pads, functions that do not return, relocated tables and loops, at places that the file itself
 * names.
 */
#include <stdlib.h>
#include <string.h>

#include "timeline/code/landing_pad.h"
#include "timeline/code/loops.h"
#include "timeline/debug/debug_files.h"
#include "timeline/debug/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_for_loops(Elf *elf, uint64_t begin, uint64_t end)
{
	struct loops_function function = {
		.ranges = {{begin, end}}, .range_count = begin < end, .entry = begin};
	struct loops_one nest[LOOP_DEPTH_MAX];
	struct loops *loops;

	if (begin >= end || loops_open(&loops, elf))
		return;
	loops_allow(loops, 100000000);
	for (uint64_t at = begin; at < end && at < begin + 256; at += 7) {
		struct symbol_stretch stretch = {0, UINT64_MAX};

		for (int i = loops_find(loops, &function, at, nest, &stretch); i-- > 0;)
			if (nest[i].body_count > LOOPS_BODY_MAX || nest[i].place_count > LOOPS_PLACES_MAX)
				abort();
		if (at < stretch.begin || at >= stretch.end)
			abort();
	}
	loops_close(loops);
}

static void look_at(Elf *elf, struct symbol_table *symbols, uint64_t address)
{
	struct symbol_stretch stretch = {0, UINT64_MAX};
	const struct symbol *symbol = symbol_table_find(symbols, address, &stretch);
	struct cfg_pad *pads = NULL;
	struct cfg_range range;
	uint64_t begin, end;

	if (symbol && (address < symbol->start || address >= symbol->end || !symbol->name[0]))
		abort();
	if (address != UINT64_MAX && (address < stretch.begin || address >= stretch.end))
		abort();
	symbol_table_at(symbols, address);
	plt_entry_find(elf, address, &begin);
	if (!unwind_entry_find(elf, address, &begin, &end))
		return;
	if (address < begin || address >= end)
		abort();
	range = (struct cfg_range){begin, end};
	landing_pads_find(elf, &range, 1, &pads);
	free(pads);
	look_for_loops(elf, begin, end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + 1);
	struct symbol_table symbols = {0};
	uint8_t id[NAMES_BUILD_ID_MAX];
	struct module_elf mini = {.fd = -1};
	Elf *elf;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, size);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		module_elf_build_id(elf, id);
		module_elf_has_debug(elf);
		module_elf_open_mini(&mini, elf);
		if (symbol_table_add(&symbols, elf))
			abort();
		for (size_t i = 0; i < symbols.count && i < 16; i++)
			look_at(elf, &symbols, symbols.symbols[i].start);
		for (uint64_t at = 0x1000; at < 0x1400; at += 37)
			look_at(elf, &symbols, at);
	}
	symbol_table_fini(&symbols);
	module_elf_close(&mini);
	elf_end(elf);
	free(copy);
	return 0;
}
