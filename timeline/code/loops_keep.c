/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops_keep.c - extracts from a function's graph what loops.c keeps: the loop of each piece of code, and
 * for each loop the addresses whose lines tell where it is in the source.
 */
#include <stdlib.h>

#include "timeline/code/loops_internal.h"

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

int loops_keep(struct loops_kept *function, const struct cfg *cfg, struct parse_budget *budget)
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
