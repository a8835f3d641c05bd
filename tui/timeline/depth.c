/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depth.c - descends the paths of each column by time.
 */
#include "tui/timeline/depth.h"

#include <stdlib.h>
#include <string.h>

/* An entry of the column and the scopes from depth 1 on. */
struct thread_path {
	uint32_t *scopes;
	uint32_t depth; /* of the leaf; 0: no path */
	enum extent_state state;
	uint64_t time_ns;
	bool is_below; /* still below the frame chosen last */
};

struct descent {
	const struct run *run;
	struct thread_path *paths;
	size_t count, capacity;
	uint32_t *scopes; /* of all paths of the column */
	size_t scope_count, scope_capacity;
};

void depth_fini(struct depth_picture *picture)
{
	free(picture->cells);
	*picture = (struct depth_picture){0};
}

static uint32_t leaf_scope(const struct frame *frame, const struct tile_entry *entry)
{
	if (entry->context == 0 || entry->context >= frame->context_count)
		return UINT32_MAX;
	return run_context(frame->run, entry->context)->scope;
}

static uint32_t deepest(const struct frame *frame, const struct frame_line *line)
{
	uint32_t depth = 1;

	for (uint32_t e = 0; e < line->first[frame->columns.count]; e++) {
		uint32_t scope = leaf_scope(frame, &line->entries[e]);
		if (scope != UINT32_MAX && run_scope(frame->run, scope)->depth > depth)
			depth = run_scope(frame->run, scope)->depth;
	}
	return depth < DEPTH_LEVELS_MAX ? depth : DEPTH_LEVELS_MAX;
}

/* ---- the paths of a column ---- */

static bool reserve(struct descent *d, size_t paths, size_t scopes)
{
	if (paths > d->capacity) {
		struct thread_path *grown = realloc(d->paths, paths * 2 * sizeof(*grown));
		if (!grown)
			return false;
		d->paths = grown;
		d->capacity = paths * 2;
	}
	if (scopes > d->scope_capacity) {
		uint32_t *grown = realloc(d->scopes, scopes * 2 * sizeof(*grown));
		if (!grown)
			return false;
		d->scopes = grown;
		d->scope_capacity = scopes * 2;
	}
	return true;
}

static uint32_t path_depth(const struct descent *d, uint32_t scope)
{
	uint32_t depth = scope == UINT32_MAX ? 0 : run_scope(d->run, scope)->depth;

	return depth < DEPTH_LEVELS_MAX ? depth : DEPTH_LEVELS_MAX;
}

static bool take_paths(
	struct descent *d, const struct frame *frame, const struct frame_line *line, uint32_t column)
{
	uint32_t first = line->first[column], end = line->first[column + 1];
	size_t scopes = 0;

	for (uint32_t e = first; e < end; e++)
		scopes += path_depth(d, leaf_scope(frame, &line->entries[e]));
	if (!reserve(d, end - first + 1, scopes + 1))
		return false;
	d->count = 0;
	scopes = 0;
	for (uint32_t e = first; e < end; e++) {
		const struct tile_entry *entry = &line->entries[e];
		uint32_t scope = leaf_scope(frame, entry), depth = path_depth(d, scope);

		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): reserved above */
		d->paths[d->count++] = (struct thread_path){.scopes = d->scopes + scopes,
			.depth = depth,
			.state = entry->state,
			.time_ns = entry->time_ns,
			.is_below = true};
		while (depth && run_scope(d->run, scope)->depth > depth)
			scope = run_scope(d->run, scope)->parent;
		for (uint32_t i = depth; i > 0; i--, scope = run_scope(d->run, scope)->parent)
			d->scopes[scopes + i - 1] = scope;
		scopes += depth;
	}
	return true;
}

/* ---- the descent ---- */

static uint64_t child_time(const struct descent *d, uint32_t level, uint32_t scope)
{
	uint64_t time_ns = 0;

	for (size_t i = 0; i < d->count; i++)
		if (d->paths[i].is_below && d->paths[i].depth > level && d->paths[i].scopes[level] == scope)
			time_ns += d->paths[i].time_ns;
	return time_ns;
}

/* The child with most time at the level, and the time of the paths that end above it. */
static uint32_t choose_child(const struct descent *d, uint32_t level, uint64_t *best_ns, uint64_t *ends_ns)
{
	uint32_t best = UINT32_MAX, last = UINT32_MAX;

	*best_ns = *ends_ns = 0;
	for (size_t i = 0; i < d->count; i++) {
		const struct thread_path *path = &d->paths[i];
		uint64_t time_ns;

		if (!path->is_below)
			continue;
		if (path->depth <= level) {
			*ends_ns += path->time_ns;
			continue;
		}
		if (path->scopes[level] == best || path->scopes[level] == last)
			continue;
		last = path->scopes[level];
		time_ns = child_time(d, level, last);
		if (time_ns > *best_ns)
			best = last, *best_ns = time_ns;
	}
	return best;
}

/* The state without a path that has most time: the first level shows it where there is no work. */
static struct cell pathless_cell(const struct descent *d)
{
	struct cell cell = {.kind = CELL_STATE, .state = EXTENT_ABSENT, .function = UINT32_MAX};

	for (size_t i = 0; i < d->count; i++) {
		if (d->paths[i].depth || d->paths[i].time_ns <= cell.time_ns)
			continue;
		cell.state = (uint8_t)d->paths[i].state;
		cell.time_ns = d->paths[i].time_ns;
	}
	return cell;
}

/* The frame as a block; where most of its time is a wait that it is itself the leaf of, as that state. */
static struct cell frame_cell_of(
	const struct descent *d, uint32_t level, uint32_t scope, uint64_t time_ns, uint64_t column_ns)
{
	const struct run_scope *s = run_scope(d->run, scope);
	struct cell cell = {.kind = CELL_BLOCK,
		.state = EXTENT_WORK,
		.function = s->function,
		.hash = run_function(d->run, s->function)->hash,
		.time_ns = time_ns};
	uint64_t waiting_ns[EXTENT_STATE_COUNT] = {0}, most_ns = 0;

	for (size_t i = 0; i < d->count; i++) {
		const struct thread_path *path = &d->paths[i];
		if (!path->is_below)
			continue;
		if (extent_state_is_busy(path->state)) {
			if (path->time_ns > most_ns)
				most_ns = path->time_ns, cell.state = (uint8_t)path->state;
		} else if (path->depth == level + 1) {
			waiting_ns[path->state] += path->time_ns;
		}
	}
	for (int state = 0; state < EXTENT_STATE_COUNT; state++) {
		if (waiting_ns[state] * 2 <= time_ns)
			continue;
		cell.kind = CELL_STATE;
		cell.state = (uint8_t)state;
		return cell;
	}
	if (time_ns * 8 < column_ns * CELL_DOMINANT_EIGHTHS) {
		cell.kind = CELL_SOME;
		cell.eighths = (uint8_t)(column_ns ? time_ns * 8 / column_ns : 0);
		cell.eighths = cell.eighths ? cell.eighths : 1;
	}
	return cell;
}

static void keep_work(struct descent *d)
{
	for (size_t i = 0; i < d->count; i++)
		d->paths[i].is_below = d->paths[i].is_below && extent_state_is_busy(d->paths[i].state);
}

static void descend(struct descent *d, struct depth_picture *picture, uint32_t column, uint64_t column_ns)
{
	for (uint32_t level = 0; level < picture->levels; level++) {
		struct cell *cell = &picture->cells[(size_t)level * picture->columns + column];
		uint64_t best_ns, ends_ns;
		uint32_t scope = choose_child(d, level, &best_ns, &ends_ns);

		if (level == 0 && best_ns < ends_ns) { /* work shorter than a cell never vanishes */
			keep_work(d);
			scope = choose_child(d, level, &best_ns, &ends_ns);
		}
		if (scope == UINT32_MAX || best_ns < ends_ns) {
			if (level == 0)
				*cell = pathless_cell(d);
			return;
		}
		for (size_t i = 0; i < d->count; i++)
			d->paths[i].is_below = d->paths[i].is_below && d->paths[i].depth > level &&
					       d->paths[i].scopes[level] == scope;
		*cell = frame_cell_of(d, level, scope, best_ns, column_ns);
	}
}

int depth_compute(struct depth_picture *picture, struct frame *frame, const struct frame_line *line)
{
	struct descent d = {.run = frame->run};
	int result = 0;

	*picture = (struct depth_picture){.levels = deepest(frame, line), .columns = frame->columns.count};
	picture->cells = calloc((size_t)picture->levels * picture->columns + 1, sizeof(*picture->cells));
	if (!picture->cells)
		return -1;
	for (size_t i = 0; i < (size_t)picture->levels * picture->columns; i++)
		picture->cells[i] =
			(struct cell){.kind = CELL_STATE, .state = EXTENT_ABSENT, .function = UINT32_MAX};
	for (uint32_t column = 0; column < picture->columns && !result; column++) {
		if (take_paths(&d, frame, line, column))
			descend(&d, picture, column, frame_column_length(frame, column));
		else
			result = -1;
	}
	free(d.paths);
	free(d.scopes);
	if (result)
		depth_fini(picture);
	return result;
}

/* ---- sums at the depth ---- */

static struct depth_sum *sum_of(
	struct depth_sum **sums, size_t *count, size_t *capacity, uint32_t function, enum extent_state state)
{
	for (size_t i = 0; i < *count; i++)
		if ((*sums)[i].function == function && (*sums)[i].state == state)
			return &(*sums)[i];
	if (*count == *capacity) {
		struct depth_sum *grown = realloc(*sums, (*capacity ? *capacity * 2 : 64) * sizeof(*grown));
		if (!grown)
			return NULL;
		*sums = grown;
		*capacity = *capacity ? *capacity * 2 : 64;
	}
	(*sums)[*count] = (struct depth_sum){.function = function, .state = state, .last_column = UINT32_MAX};
	return &(*sums)[(*count)++];
}

static void add_entry(
	struct depth_sum *sum, const struct frame *frame, const struct tile_entry *entry, uint32_t column)
{
	uint32_t scope = leaf_scope(frame, entry);

	sum->inclusive_ns += entry->time_ns;
	if (scope != UINT32_MAX &&
		run_scope(frame->run, scope)->depth <= run_depth_of(frame->run, scope, frame->depth))
		sum->exclusive_ns += entry->time_ns;
	if (sum->last_column == UINT32_MAX || column > sum->last_column + 1) {
		sum->runs++;
		sum->run_ns = 0;
	}
	sum->last_column = column;
	sum->run_ns += entry->time_ns;
	if (sum->run_ns > sum->longest_ns)
		sum->longest_ns = sum->run_ns;
}

static int compare_sums(const void *a, const void *b)
{
	const struct depth_sum *x = a, *y = b;

	if (x->inclusive_ns != y->inclusive_ns)
		return x->inclusive_ns > y->inclusive_ns ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

int depth_add_up(struct depth_sum **sums, size_t *count, struct frame *frame, const struct frame_line *line)
{
	size_t capacity = 0;

	*sums = NULL;
	*count = 0;
	for (uint32_t column = 0; column < frame->columns.count; column++) {
		for (uint32_t e = line->first[column]; e < line->first[column + 1]; e++) {
			struct cell_share share = frame_share(frame, &line->entries[e]);
			struct depth_sum *sum = sum_of(sums, count, &capacity, share.function, share.state);
			if (!sum) {
				free(*sums);
				*sums = NULL;
				return -1;
			}
			add_entry(sum, frame, &line->entries[e], column);
		}
	}
	if (*count)
		qsort(*sums, *count, sizeof(**sums), compare_sums);
	return 0;
}
