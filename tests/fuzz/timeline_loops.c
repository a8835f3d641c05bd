// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz timeline_loops - hostile code: graph, jump tables, landing pads and loops of any bytes, for all
 * machines. The first byte picks the machine and the number of landing pads; the tables lie in the code
 * itself. A run may take a bounded number of steps; every edge must lead to a block, every block to a loop
 * that is there.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/code/cfg.h"
#include "timeline/code/loop_forest.h"

#define CODE_AT 0x1000u

struct input {
	const uint8_t *bytes;
	size_t size;
};

static const uint8_t *input_image(void *context, uint64_t address, size_t size)
{
	const struct input *input = context;

	if (address < CODE_AT || address - CODE_AT > input->size || size > input->size - (address - CODE_AT))
		return NULL;
	return input->bytes + (address - CODE_AT);
}

static void check(const struct cfg *cfg, struct parse_budget *budget)
{
	uint32_t *first = malloc(((size_t)cfg->block_count + 1) * sizeof *first);
	struct loop_graph graph = {first, cfg->edges, cfg->block_count, cfg->entry};
	struct loop_forest forest;

	for (uint32_t i = 0; first && i < cfg->block_count; i++) {
		first[i] = cfg->blocks[i].edge;
		if (first[i] > cfg->edge_count || (i && first[i] < first[i - 1]))
			abort();
	}
	if (!first)
		return;
	first[cfg->block_count] = cfg->edge_count;
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		if (cfg->edges[i] >= cfg->block_count)
			abort();
	if (!loop_forest_build(&forest, &graph, budget))
		for (uint32_t i = 0; i < cfg->block_count; i++)
			if (forest.of_node[i] != LOOP_NONE && forest.of_node[i] >= forest.count)
				abort();
	loop_forest_fini(&forest);
	free(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned machine_of(uint8_t byte)
{
	switch (byte >> 4) {
	case 15:
		return decode_sass_machine(75);
	case 14:
		return decode_sass_machine(90);
	case 13:
		return decode_amd_machine(0x2f);
	case 12:
		return decode_amd_machine(0x36);
	case 11:
		return decode_intel_machine(12, 0);
	case 10:
		return decode_intel_machine(18, 0);
	default:
		return byte & 1 ? EM_AARCH64 : EM_X86_64;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data + 1, size ? size - 1 : 0};
	struct cfg_code code = {.range_count = 1, .entry = CODE_AT, .image = input_image, .context = &input};
	struct parse_budget budget = {.steps_left = 200000};
	struct cfg_pad pads[8];
	struct decoder *decoder;
	struct cfg cfg;

	if (size < 2 || decoder_open(&decoder, machine_of(data[0])))
		return 0;
	for (unsigned i = 0; i < sizeof pads / sizeof *pads; i++)
		pads[i] = (struct cfg_pad){CODE_AT + i * 4, CODE_AT + i * 9, CODE_AT + data[i % size]};
	code.pads = pads;
	code.pad_count = data[0] >> 1 & 7;
	code.ranges[0] = (struct cfg_range){CODE_AT, CODE_AT + input.size};
	if (!cfg_build(&cfg, &code, decoder, &budget))
		check(&cfg, &budget);
	cfg_fini(&cfg);
	decoder_close(decoder);
	return 0;
}
