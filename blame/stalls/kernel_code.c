/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_code.c - see kernel_code.h. */
#include "blame/stalls/kernel_code.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/code/cfg.h"

#define STEPS_MAX (UINT64_C(1) << 24)

static const uint8_t *image_of(void *context, uint64_t address, size_t size)
{
	return gpu_code_image(context, address, size);
}

static bool target_of(void *context, uint64_t jump, uint32_t i, uint64_t *target)
{
	return gpu_code_target(context, jump, i, target);
}

static int flow_read(struct cfg *cfg, struct gpu_code *binary, const struct gpu_function *function,
	struct decoder *decoder, struct parse_budget *budget)
{
	struct cfg_code code = {
		.entry = function->start, .image = image_of, .target = target_of, .context = binary};
	uint64_t ranges[CFG_RANGES_MAX][2];

	code.range_count = gpu_code_extent(binary, function, ranges, CFG_RANGES_MAX);
	for (unsigned i = 0; i < code.range_count; i++)
		code.ranges[i] = (struct cfg_range){ranges[i][0], ranges[i][1]};
	return cfg_build(cfg, &code, decoder, budget);
}

static const uint8_t *code_of(const struct kernel_code *code, uint32_t i)
{
	return gpu_code_image(code->binary, code->addresses[i], code->sizes[i]);
}

void kernel_code_arithmetic(const struct kernel_code *code, uint32_t i, struct gpu_arithmetic *arithmetic)
{
	const uint8_t *bytes = code->isa->arithmetic ? code_of(code, i) : NULL;

	*arithmetic = (struct gpu_arithmetic){.operation = GPU_OTHER};
	if (bytes)
		code->isa->arithmetic(bytes, code->sizes[i], arithmetic);
}

static uint64_t call_of(const struct kernel_code *code, const struct instruction *in)
{
	uint64_t linked = gpu_code_linked(code->binary, in->address);

	return linked ? linked : in->target ? in->target : KERNEL_CODE_POINTER;
}

/* Whole instructions of a block; `put`: the code takes them. Returns how many. */
static uint32_t block_read(
	struct kernel_code *code, const struct cfg *cfg, uint32_t b, struct decoder *decoder, bool put)
{
	const struct cfg_block *block = &cfg->blocks[b];
	size_t size = (size_t)(block->end - block->begin);
	const uint8_t *bytes = gpu_code_image(code->binary, block->begin, size);
	struct instruction in = {0};
	uint32_t count = 0;

	for (size_t at = 0; bytes && at < size; at += in.size) {
		decoder_next(decoder, bytes + at, size - at, block->begin + at, &in);
		if (in.is_bad || !in.size)
			break;
		count++;
		if (!put)
			continue;
		code->opaque +=
			!code->isa->instruction(bytes + at, in.size, &code->instructions[code->count]);
		code->loop_of[code->count] = code->loops.of_node[b];
		code->sizes[code->count] = in.size;
		if (in.flow == FLOW_CALL)
			code->calls[code->count] = call_of(code, &in);
		code->addresses[code->count++] = block->begin + at;
	}
	return count;
}

static bool instructions_read(struct kernel_code *code, const struct cfg *cfg, struct decoder *decoder)
{
	size_t room = 1;

	for (uint32_t b = 0; b < cfg->block_count; b++)
		room += block_read(code, cfg, b, decoder, false);
	code->addresses = calloc(room, sizeof *code->addresses);
	code->sizes = calloc(room, sizeof *code->sizes);
	code->instructions = calloc(room, sizeof *code->instructions);
	code->loop_of = calloc(room, sizeof *code->loop_of);
	code->calls = calloc(room, sizeof *code->calls);
	if (!code->addresses || !code->sizes || !code->instructions || !code->loop_of || !code->calls)
		return false;
	for (uint32_t b = 0; b < cfg->block_count; b++)
		block_read(code, cfg, b, decoder, true);
	for (uint32_t i = 0; i < code->count; i++)
		for (uint32_t loop = code->loop_of[i];
			code->instructions[i].kind == GPU_KIND_BARRIER && loop != LOOP_NONE;
			loop = code->loops.loops[loop].parent)
			code->has_barrier[loop] = true;
	return true;
}

/* ---- edges between instructions ---- */

static void edge_take(struct kernel_code *code, uint32_t from, uint32_t to, bool is_counting)
{
	if (from == UINT32_MAX || to == UINT32_MAX)
		return;
	if (is_counting) {
		code->first_to[from + 1]++;
		code->first_from[to + 1]++;
		return;
	}
	code->to[code->first_to[from]++] = to;
	code->from[code->first_from[to]++] = from;
}

static void edges_take(struct kernel_code *code, const struct cfg *cfg, bool is_counting)
{
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		uint32_t first = kernel_code_find(code, block->begin);
		uint32_t last = kernel_code_find(code, block->last);

		for (uint32_t i = first; i != UINT32_MAX && last != UINT32_MAX && i < last; i++)
			edge_take(code, i, i + 1, is_counting);
		for (uint32_t e = 0; e < block->edges; e++)
			edge_take(code, last,
				kernel_code_find(code, cfg->blocks[cfg->edges[block->edge + e]].begin),
				is_counting);
	}
}

static bool edges_make(struct kernel_code *code, const struct cfg *cfg)
{
	size_t room = (size_t)code->count + 2, edges = 1;

	for (uint32_t b = 0; b < cfg->block_count; b++)
		edges += cfg->blocks[b].edges;
	code->first_from = calloc(room, sizeof *code->first_from);
	code->first_to = calloc(room, sizeof *code->first_to);
	code->from = calloc(room + edges, sizeof *code->from);
	code->to = calloc(room + edges, sizeof *code->to);
	if (!code->first_from || !code->first_to || !code->from || !code->to)
		return false;
	edges_take(code, cfg, true);
	for (uint32_t i = 0; i < code->count; i++) {
		code->first_from[i + 1] += code->first_from[i];
		code->first_to[i + 1] += code->first_to[i];
	}
	edges_take(code, cfg, false);
	/* Each first has moved on to the next one's. */
	for (uint32_t i = code->count; i > 0; i--) {
		code->first_from[i] = code->first_from[i - 1];
		code->first_to[i] = code->first_to[i - 1];
	}
	code->first_from[0] = code->first_to[0] = 0;
	code->flow = (struct dependency_code){
		code->instructions, code->count, code->first_from, code->from, code->first_to, code->to};
	return true;
}

/* ---- the whole ---- */

static int loops_read(struct kernel_code *code, const struct cfg *cfg, struct parse_budget *budget)
{
	struct loop_graph graph = {.edges = cfg->edges, .count = cfg->block_count, .entry = cfg->entry};
	uint32_t *first = malloc(((size_t)cfg->block_count + 1) * sizeof *first);
	const char *file;
	int rc;

	if (!first)
		return -1;
	for (uint32_t i = 0; i < cfg->block_count; i++)
		first[i] = cfg->blocks[i].edge;
	first[cfg->block_count] = cfg->edge_count;
	graph.first = first;
	rc = loop_forest_build(&code->loops, &graph, budget);
	free(first);
	code->loop_line = calloc((size_t)code->loops.count + 1, sizeof *code->loop_line);
	code->has_barrier = calloc((size_t)code->loops.count + 1, sizeof *code->has_barrier);
	if (rc || !code->loop_line || !code->has_barrier)
		return -1;
	for (uint32_t i = 0; i < code->loops.count; i++)
		gpu_code_line(code->binary, cfg->blocks[code->loops.loops[i].header].begin, &file,
			&code->loop_line[i]);
	return 0;
}

int kernel_code_read(struct kernel_code *code, struct gpu_code *binary, const struct gpu_function *function,
	struct error *error)
{
	struct parse_budget budget;
	struct cfg cfg = {.entry = CFG_NONE};
	struct decoder *decoder = NULL;
	int rc;

	*code = (struct kernel_code){.name = function->name,
		.start = function->start,
		.binary = binary,
		.isa = gpu_isa_of(gpu_code_machine(binary)),
		.generation = gpu_code_generation(binary)};
	if (!code->isa)
		return 1;
	parse_budget_allow(&budget, STEPS_MAX, 0);
	rc = decoder_open(&decoder, code->isa->machine);
	if (!rc)
		rc = flow_read(&cfg, binary, function, decoder, &budget);
	if (!rc && cfg.entry == CFG_NONE)
		rc = 1;
	if (!rc && (loops_read(code, &cfg, &budget) || !instructions_read(code, &cfg, decoder) ||
			   !edges_make(code, &cfg) || !kernel_code_find_math(code)))
		rc = -1;
	cfg_fini(&cfg);
	decoder_close(decoder);
	return rc < 0 ? error_memory(error) : rc;
}

void kernel_code_fini(struct kernel_code *code)
{
	free(code->addresses);
	free(code->sizes);
	free(code->instructions);
	free(code->loop_of);
	free(code->loop_line);
	free(code->has_barrier);
	free(code->calls);
	free(code->is_math);
	free(code->first_from);
	free(code->from);
	free(code->first_to);
	free(code->to);
	loop_forest_fini(&code->loops);
	*code = (struct kernel_code){0};
}

uint32_t kernel_code_find(const struct kernel_code *code, uint64_t address)
{
	uint32_t low = 0, high = code->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (code->addresses[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - code->addresses[low - 1] < code->sizes[low - 1] ? low - 1 : UINT32_MAX;
}

uint32_t kernel_code_common_loop(const struct kernel_code *code, uint32_t a, uint32_t b)
{
	uint32_t loop = code->loop_of[a];

	while (loop != LOOP_NONE && !loop_is_in(&code->loops, code->loop_of[b], loop))
		loop = code->loops.loops[loop].parent;
	return loop;
}
