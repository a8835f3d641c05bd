/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.c - see loops.h. Keeps the blocks of each requested function with their innermost loops and the
 * addresses of each loop whose lines tell where it is in the source; does not keep graphs.
 */
#include "timeline/code/loops.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/code/landing_pad.h"
#include "timeline/code/no_return.h"
#include "timeline/debug/relocation.h"
#include "timeline/debug/symbols.h"

#define FUNCTION_STEPS 8000000u /* about four seconds */
#define MODULE_STEPS 100000000u /* between two loops_allow() */
#define KEPT_MAX (64u << 20)	/* bytes; then all is forgotten */
#define BUCKETS 1024u
#define SPIN_INSTRUCTIONS 64u /* of a loop that waits; a longer one that pauses may do something */

struct loops_piece {
	uint64_t begin, end;
	uint32_t loop; /* innermost */
};

struct loops_kept_one {
	uint64_t header;
	uint32_t parent, place, place_count, back_count; /* place: index of the first in `places` */
	uint32_t body, body_count, level;		 /* body: index of the first in `bodies` */
	bool is_irreducible;
	uint32_t instructions; /* those of inner loops too, as are the next two */
	bool has_pause, has_call;
};

struct loops_kept {
	struct loops_kept *next;
	uint64_t entry;
	struct loops_piece *pieces; /* blocks within loops, by address */
	struct loops_kept_one *loops;
	uint64_t *places, *bodies;
	uint32_t piece_count, loop_count;
};

/* Is the block a branch back to the loop's entry, or one out of it? */
static void classify(const struct cfg *cfg, const struct loop_forest *forest, uint32_t block, uint32_t loop,
	bool *is_back, bool *is_out)
{
	const struct cfg_block *b = &cfg->blocks[block];

	*is_back = *is_out = false;
	for (uint32_t e = b->edge; e < b->edge + b->edges; e++) {
		uint32_t to = cfg->edges[e];

		*is_back |= to == forest->loops[loop].header;
		*is_out |= !loop_is_in(forest, forest->of_node[to], loop) && b->flow == FLOW_BRANCH;
	}
}

/* Which blocks each loop holds, itself and within inner loops, loop by loop would be quadratic: each block
 * tells the loops around it, of which there are LOOP_DEPTH_MAX at most. */
static void keep_places(
	struct loops_kept *function, const struct cfg *cfg, const struct loop_forest *forest, bool wants_back)
{
	for (uint32_t block = 0; block < cfg->block_count; block++) {
		uint32_t loop = forest->of_node[block];

		for (; loop != LOOP_NONE; loop = forest->loops[loop].parent) {
			struct loops_kept_one *kept = &function->loops[loop];
			bool is_back, is_out;

			classify(cfg, forest, block, loop, &is_back, &is_out);
			if ((wants_back ? !is_back : is_back || !is_out) ||
				kept->place_count == LOOPS_PLACES_MAX)
				continue;
			function->places[loop * LOOPS_PLACES_MAX + kept->place_count++] =
				cfg->blocks[block].last;
			kept->back_count += wants_back;
		}
	}
}

/* The code of the block, below the loops around it: its share of each loop's places. */
static void body_take(struct loops_kept *function, const struct cfg_block *block, uint32_t loop,
	const struct loop_forest *forest, const uint64_t *bytes, uint64_t *passed)
{
	uint64_t size = block->end - block->begin;

	for (; loop != LOOP_NONE; passed[loop] += size, loop = forest->loops[loop].parent) {
		struct loops_kept_one *kept = &function->loops[loop];

		while (kept->body_count < LOOPS_BODY_MAX) {
			uint64_t next = (2 * kept->body_count + 1) * bytes[loop] / (2 * LOOPS_BODY_MAX);

			if (next >= passed[loop] + size)
				break;
			function->bodies[kept->body + kept->body_count++] =
				block->begin + (next - passed[loop]);
		}
	}
}

/* One place in each sixteenth of a loop's bytes. */
static bool keep_bodies(struct loops_kept *function, const struct cfg *cfg, const struct loop_forest *forest)
{
	uint64_t *bytes = calloc((size_t)forest->count + 1, 2 * sizeof *bytes), *passed = bytes;

	if (!bytes)
		return false;
	passed += forest->count;
	for (uint32_t i = 0; i < cfg->block_count; i++)
		for (uint32_t loop = forest->of_node[i]; loop != LOOP_NONE; loop = forest->loops[loop].parent)
			bytes[loop] += cfg->blocks[i].end - cfg->blocks[i].begin;
	for (uint32_t i = 0; i < cfg->block_count; i++)
		body_take(function, &cfg->blocks[i], forest->of_node[i], forest, bytes, passed);
	free(bytes);
	return true;
}

static void keep_instructions(
	struct loops_kept *function, const struct cfg *cfg, const struct loop_forest *forest)
{
	for (uint32_t i = 0; i < cfg->block_count; i++)
		for (uint32_t loop = forest->of_node[i]; loop != LOOP_NONE;
			loop = forest->loops[loop].parent) {
			function->loops[loop].instructions += cfg->blocks[i].instructions;
			function->loops[loop].has_pause |= cfg->blocks[i].has_pause;
			function->loops[loop].has_call |= cfg->blocks[i].has_call;
		}
}

static bool keep_loops(struct loops_kept *function, const struct cfg *cfg, const struct loop_forest *forest)
{
	function->loop_count = forest->count;
	function->loops = calloc((size_t)forest->count + 1, sizeof *function->loops);
	function->places = calloc((size_t)forest->count + 1, LOOPS_PLACES_MAX * sizeof *function->places);
	function->bodies = calloc((size_t)forest->count + 1, LOOPS_BODY_MAX * sizeof *function->bodies);
	if (!function->loops || !function->places || !function->bodies)
		return false;
	for (uint32_t i = 0; i < forest->count; i++) {
		struct loops_kept_one *kept = &function->loops[i];

		kept->header = cfg->blocks[forest->loops[i].header].begin;
		kept->parent = forest->loops[i].parent;
		kept->is_irreducible = forest->loops[i].is_irreducible;
		kept->place = i * LOOPS_PLACES_MAX;
		kept->body = i * LOOPS_BODY_MAX;
		kept->place_count = 1;
		function->places[kept->place] = kept->header;
	}
	keep_places(function, cfg, forest, true);
	keep_places(function, cfg, forest, false);
	keep_instructions(function, cfg, forest);
	return keep_bodies(function, cfg, forest);
}

static bool keep_pieces(struct loops_kept *function, const struct cfg *cfg, const struct loop_forest *forest)
{
	function->pieces = calloc((size_t)cfg->block_count + 1, sizeof *function->pieces);
	if (!function->pieces)
		return false;
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct cfg_block *block = &cfg->blocks[i];
		struct loops_piece *last =
			function->piece_count ? &function->pieces[function->piece_count - 1] : NULL;

		if (forest->of_node[i] == LOOP_NONE)
			continue;
		if (last && last->end == block->begin && last->loop == forest->of_node[i])
			last->end = block->end;
		else
			function->pieces[function->piece_count++] =
				(struct loops_piece){block->begin, block->end, forest->of_node[i]};
	}
	return true;
}

/* Fills in a function that has only its entry; the caller frees its arrays. 0 or -1: no memory. */
static int loops_keep(struct loops_kept *function, const struct cfg *cfg, struct parse_budget *budget)
{
	struct loop_graph graph = {.edges = cfg->edges, .count = cfg->block_count, .entry = cfg->entry};
	struct loop_forest forest = {0};
	uint32_t *first = malloc(((size_t)cfg->block_count + 1) * sizeof *first);
	int rc = first ? 0 : -1;

	for (uint32_t i = 0; first && i < cfg->block_count; i++)
		first[i] = cfg->blocks[i].edge;
	if (first)
		first[cfg->block_count] = cfg->edge_count;
	graph.first = first;
	if (!rc)
		rc = loop_forest_build(&forest, &graph, budget);
	if (!rc && !(keep_loops(function, cfg, &forest) && keep_pieces(function, cfg, &forest)))
		rc = -1;
	loop_forest_fini(&forest);
	free(first);
	return rc;
}

struct loops {
	Elf *elf;	      /* NULL: code of a GPU */
	struct gpu_code *gpu; /* NULL: CPU code */
	struct decoder *decoder;
	struct no_return no_return;
	struct relocations relocations;
	uint64_t relocated; /* the one that image() gave last */
	struct parse_budget budget;
	struct loops_kept *buckets[BUCKETS];
	size_t kept_bytes;
	bool is_cut; /* a function took too long: what was kept of it is not all */
};

/* ---- the file ---- */

static unsigned machine_of(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) && header.e_ident[EI_CLASS] == ELFCLASS64 ? header.e_machine
										    : EM_NONE;
}

const char *loops_lacks(Elf *elf)
{
	return decoder_lacks(machine_of(elf));
}

bool loops_may_come(Elf *elf)
{
	return decoder_may_come(machine_of(elf));
}

const char *loops_lacks_gpu(const struct gpu_code *code)
{
	return decoder_lacks(gpu_code_machine(code));
}

static int open_machine(struct loops **out, Elf *elf, struct gpu_code *gpu, unsigned machine)
{
	struct loops *loops = calloc(1, sizeof *loops);
	int rc;

	*out = NULL;
	if (!loops)
		return -1;
	loops->elf = elf;
	loops->gpu = gpu;
	loops_allow(loops, 0);
	rc = decoder_open(&loops->decoder, machine);
	if (!rc && elf)
		rc = no_return_init(&loops->no_return, elf, machine);
	if (!rc)
		*out = loops;
	else
		loops_close(loops);
	return rc;
}

int loops_open(struct loops **out, Elf *elf)
{
	return open_machine(out, elf, NULL, machine_of(elf));
}

int loops_open_gpu(struct loops **out, struct gpu_code *code)
{
	return open_machine(out, NULL, code, gpu_code_machine(code));
}

static void forget(struct loops *loops)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		struct loops_kept *function = loops->buckets[i], *next;

		for (; function; function = next) {
			next = function->next;
			free(function->pieces);
			free(function->loops);
			free(function->places);
			free(function->bodies);
			free(function);
		}
		loops->buckets[i] = NULL;
	}
	loops->kept_bytes = 0;
}

void loops_close(struct loops *loops)
{
	if (!loops)
		return;
	forget(loops);
	no_return_fini(&loops->no_return);
	relocations_fini(&loops->relocations);
	decoder_close(loops->decoder);
	free(loops);
}

void loops_allow(struct loops *loops, uint64_t cpu_ns)
{
	parse_budget_allow(&loops->budget, MODULE_STEPS, cpu_ns);
}

bool loops_is_spent(const struct loops *loops)
{
	return loops->budget.spent || loops->is_cut;
}

static const uint8_t *image(void *context, uint64_t address, size_t size)
{
	struct loops *loops = context;

	if (loops->gpu)
		return gpu_code_image(loops->gpu, address, size);
	if (size == sizeof loops->relocated &&
		relocations_find(&loops->relocations, loops->elf, address, &loops->relocated))
		return (const uint8_t *)&loops->relocated;
	return elf_image(loops->elf, address, size);
}

static bool target_of_gpu(void *context, uint64_t jump, uint32_t i, uint64_t *target)
{
	const struct loops *loops = context;

	return gpu_code_target(loops->gpu, jump, i, target);
}

static bool returns(void *context, uint64_t target, uint64_t slot)
{
	const struct loops *loops = context;

	return no_return_comes_back(&loops->no_return, target, slot);
}

/* ---- one function ---- */

static int analyse(struct loops *loops, const struct loops_function *from, struct loops_kept *function)
{
	struct cfg_code code = {.range_count = from->range_count,
		.entry = from->entry,
		.image = image,
		.returns = loops->elf ? returns : NULL,
		.target = loops->gpu ? target_of_gpu : NULL,
		.context = loops};
	struct parse_budget budget = loops->budget;
	struct cfg_pad *pads = NULL;
	struct cfg cfg;
	int rc;

	if (budget.steps_left > FUNCTION_STEPS)
		budget.steps_left = FUNCTION_STEPS;
	memcpy(code.ranges, from->ranges, sizeof code.ranges);
	if (loops->elf)
		code.pad_count = landing_pads_find(loops->elf, from->ranges, from->range_count, &pads);
	code.pads = pads;
	rc = cfg_build(&cfg, &code, loops->decoder, &budget);
	if (!rc)
		rc = loops_keep(function, &cfg, &budget);
	loops->is_cut |= budget.spent;
	loops->budget.steps_left -=
		loops->budget.steps_left < cfg.instructions ? loops->budget.steps_left : cfg.instructions;
	parse_budget_step(&loops->budget);
	loops->kept_bytes += sizeof *function + function->piece_count * sizeof *function->pieces +
			     function->loop_count *
				     (sizeof *function->loops + LOOPS_PLACES_MAX * sizeof *function->places +
					     LOOPS_BODY_MAX * sizeof *function->bodies);
	cfg_fini(&cfg);
	free(pads);
	return rc;
}

static struct loops_kept *function_get(struct loops *loops, const struct loops_function *from)
{
	struct loops_kept **bucket = &loops->buckets[(from->entry >> 4 ^ from->entry >> 14) % BUCKETS];
	struct loops_kept *function = *bucket;

	while (function && function->entry != from->entry)
		function = function->next;
	if (function)
		return function;
	if (loops->kept_bytes > KEPT_MAX)
		forget(loops);
	function = calloc(1, sizeof *function);
	if (!function)
		return NULL;
	function->entry = from->entry;
	function->next = *bucket;
	*bucket = function;
	return analyse(loops, from, function) ? NULL : function;
}

static uint32_t loop_at(const struct loops_kept *function, uint64_t offset, struct symbol_stretch *stretch)
{
	uint32_t low = 0, high = function->piece_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (function->pieces[middle].begin <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	symbol_stretch_cut(
		stretch, 0, low < function->piece_count ? function->pieces[low].begin : UINT64_MAX);
	if (!low || offset >= function->pieces[low - 1].end) {
		symbol_stretch_cut(stretch, low ? function->pieces[low - 1].end : 0, UINT64_MAX);
		return LOOP_NONE;
	}
	symbol_stretch_cut(stretch, function->pieces[low - 1].begin, function->pieces[low - 1].end);
	return function->pieces[low - 1].loop;
}

int loops_find(struct loops *loops, const struct loops_function *from, uint64_t offset,
	struct loops_one nest[LOOP_DEPTH_MAX], struct symbol_stretch *stretch)
{
	struct loops_kept *function;
	uint32_t loop;
	int count = 0;

	if (loops->budget.spent)
		return 0;
	function = function_get(loops, from);
	if (!function)
		return -1;
	loop = loop_at(function, offset, stretch);
	for (uint32_t up = loop; up != LOOP_NONE && count < (int)LOOP_DEPTH_MAX;
		up = function->loops[up].parent)
		count++;
	for (int i = count; i-- > 0; loop = function->loops[loop].parent) {
		struct loops_kept_one *kept = &function->loops[loop];

		nest[i] = (struct loops_one){.header = kept->header,
			.places = function->places + kept->place,
			.place_count = kept->place_count,
			.back_count = kept->back_count,
			.body = function->bodies + kept->body,
			.body_count = kept->body_count,
			.level = &kept->level,
			.is_irreducible = kept->is_irreducible,
			.is_spin = kept->has_pause && !kept->has_call &&
				   kept->instructions <= SPIN_INSTRUCTIONS};
	}
	return count;
}
