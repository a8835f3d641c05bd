/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colours.c - matches each function against the patterns once, when the run first names it.
 */
#include "tui/screen/colours.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "timeline/base/glob.h"
#include "tui/screen/palette.h"

void colours_fini(struct colours *colours)
{
	free(colours->matches);
	*colours = (struct colours){0};
}

/* A colour index gets a style of its own, shared by all patterns that name it; -2: no room. */
static int user_slot(struct colours *colours, int index)
{
	for (int i = 0; i < colours->user_count; i++)
		if (colours->user[i] == index)
			return GRID_CONTEXTS + i;
	if (colours->user_count == GRID_USERS)
		return -2;
	colours->user[colours->user_count] = index;
	return GRID_CONTEXTS + colours->user_count++;
}

bool colours_add(struct colours *colours, const char *glob, size_t glob_bytes, const char *what)
{
	struct colours_pattern *pattern = &colours->patterns[colours->count];
	bool is_context = strncmp(what, "context ", 8) == 0;
	char *end;
	long number = strtol(what + 8 * is_context, &end, 10);

	while (glob_bytes && glob[glob_bytes - 1] == ' ')
		glob_bytes--;
	if (!glob_bytes || glob_bytes >= COLOURS_GLOB || colours->count == COLOURS_PATTERNS)
		return false;
	if (strcmp(what, "none") == 0)
		pattern->slot = -1;
	else if (end == what || *end || number < 0 || number > (is_context ? GRID_CONTEXTS - 1 : 255))
		return false;
	else
		pattern->slot = is_context ? (int)number : user_slot(colours, (int)number);
	if (pattern->slot == -2)
		return false;
	memcpy(pattern->glob, glob, glob_bytes);
	pattern->glob[glob_bytes] = '\0';
	colours->count++;
	colours->match_count = colours->functions = 0;
	return true;
}

static void add_match(struct colours *colours, uint64_t hash, int slot)
{
	if (!array_widen((void **)&colours->matches, &colours->match_room, colours->match_count,
		    sizeof *colours->matches))
		return;
	colours->matches[colours->match_count++] = (struct colours_match){hash, slot};
}

static void look_at_functions(struct colours *colours, const struct run *run)
{
	for (; colours->functions < run_function_count(run); colours->functions++) {
		const struct run_function *function = run_function(run, colours->functions);
		for (size_t i = 0; i < colours->count; i++) {
			if (!glob_match(colours->patterns[i].glob, function->name))
				continue;
			add_match(colours, function->hash, colours->patterns[i].slot);
			break;
		}
	}
}

void colours_spread(struct colours *colours, const uint64_t *hashes, size_t count)
{
	bool is_taken[GRID_CONTEXTS] = {false};

	colours->spread_count = 0;
	for (size_t i = 0; i < count && i < GRID_CONTEXTS; i++) {
		unsigned slot = palette_slot(hashes[i]);
		while (is_taken[slot])
			slot = (slot + 1) % GRID_CONTEXTS;
		is_taken[slot] = true;
		colours->spread[colours->spread_count++] = (struct colours_match){hashes[i], (int)slot};
	}
}

void colours_follow(struct colours *colours, const struct colours *from)
{
	memcpy(colours->spread, from->spread, sizeof(colours->spread));
	colours->spread_count = from->spread_count;
	if (colours->count == from->count)
		return;
	memcpy(colours->patterns, from->patterns, sizeof(colours->patterns));
	memcpy(colours->user, from->user, sizeof(colours->user));
	colours->count = from->count;
	colours->user_count = from->user_count;
	colours->match_count = colours->functions = 0;
}

/* False: nothing was said of it. */
static bool find_slot(struct colours *colours, const struct run *run, uint64_t hash, int *slot)
{
	if (colours->count)
		look_at_functions(colours, run);
	for (size_t i = 0; i < colours->match_count; i++) {
		if (colours->matches[i].hash == hash) {
			*slot = colours->matches[i].slot;
			return true;
		}
	}
	for (size_t i = 0; i < colours->spread_count; i++) {
		if (colours->spread[i].hash == hash) {
			*slot = colours->spread[i].slot;
			return true;
		}
	}
	return false;
}

bool colours_find(
	struct colours *colours, const struct run *run, uint64_t hash, bool is_ink, enum grid_style *style)
{
	int slot;

	if (!find_slot(colours, run, hash, &slot))
		return false;
	if (slot < 0)
		*style = is_ink ? GRID_GREY : GRID_MIXED;
	else if (slot < GRID_CONTEXTS)
		*style = (enum grid_style)((is_ink ? GRID_INK : GRID_BLOCK) + slot);
	else
		*style = (enum grid_style)((is_ink ? GRID_USER_INK : GRID_USER) + slot - GRID_CONTEXTS);
	return true;
}
